"""Positions: the hands of a clock, E + P = X, and what a head makes of words in two orders."""

import math
from collections.abc import Sequence
from dataclasses import replace
from random import Random

import streamlit as st
import torch
from torch import Tensor

from explainers import arithmetic
from explainers.arithmetic import Arithmetic
from explainers.attention.positions import Reordered, reorder, sinusoidal
from explainers.chapters.common.score_matrix import ROUNDING
from explainers.chapters.tokens import hero
from explainers.chapters.tokens.hero import WIDTH
from explainers.charts.matrix import Matrix, Values, find_largest
from explainers.charts.theme import FEATURE_AXIS, POSITION_AXIS
from explainers.device import choose_device
from explainers.messages import N_
from explainers.toys import byte_pairs, examples
from explainers.toys.layers import build_mask
from explainers.toys.sentence import Sentence
from explainers.translations import _, translate_error
from explainers.ui import page, provenance
from explainers.ui.controls import controls
from explainers.ui.figure.chart import show_chart
from explainers.ui.figure.linked_matrices import show_clickable_figure, show_figure
from explainers.ui.figure.panels import Cell, Figure, Panel, Slider
from explainers.ui.page import Prose
from explainers.ui.page_parts.check_yourself import Recall
from explainers.ui.prediction import revealed
from explainers.ui.source import show_source
from explainers.ui.takeaway_files import hand_over, run_and_hand_over
from explainers.ui.text.language import fragment
from explainers.ui.text.numbers import bound_rounding
from explainers.ui.untrusted_text import verbatim

MOST_DRAWN = 16
"""Numbers of a position that are drawn as hands; more of them could not be told apart."""
ROWS = ("E", "+ P", "= X")


def add_positions(
    words: tuple[str, ...], d_model: int, longest: int, seed: int
) -> dict[str, Tensor]:
    """E + P = X."""
    x = examples.draw_embeddings(words, d_model, seed)
    positions = sinusoidal(len(words), d_model, longest).to(x.device)
    return {"E": x, "P": positions, "X": x + positions}


def add_position(
    words: tuple[str, ...], word: int, d_model: int, longest: int, seed: int
) -> dict[str, Tensor]:
    """The rows of E, P and X of one word."""
    all_words = add_positions(words, d_model, longest, seed)
    return {f"one row of {name}": all_words[name][word] for name in ("E", "P", "X")}


def make_strips(word: str, rows: Values, frames: Sequence[Values] = ()) -> Panel:
    """E + P = X of one word as three strips, written like a sum."""
    largest = max(map(find_largest, (rows, *frames)))
    matrix = Matrix(
        "E + P = X",
        _("“{word}”: embedding, position, and what attention reads", word=word),
        rows,
        ROWS,
        [str(n) for n in range(len(rows[0]))],
        "",
        FEATURE_AXIS,
        limit=largest,
    )
    return Panel("sum", matrix, frames=tuple(frames))


ANSWERS = (
    N_("the same outputs, only rearranged"),
    N_("a different output for every word"),
    N_("a different output only for the words that moved"),
)
HEAD_DIM, LONGEST = 4, int(examples.LONGEST)
DOG, SWAPPED = ("dog", "bites", "man"), (2, 1, 0)


@fragment
def show_one_sum(text: Prose, words: tuple[str, ...]) -> None:
    """Embedding + position = what attention reads, for one word: a sum of three strips."""
    text("steps")
    word, seed = controls.followed_word.choose_by_name(words), page.read_seed()
    sizes, title = {"d_model": WIDTH, "longest": LONGEST}, _("Embedding + position")
    made = run_and_hand_over(
        "one sum", title, add_position, words=words, word=word, **sizes, seed=seed
    )
    rows = [row.tolist() for row in made.values()]
    left, right, total = rows

    def explain(cell: Cell) -> Arithmetic:
        j, row = cell.column, "EPX"[cell.row]
        name = f"{row}[{word}, {j}]"
        if row == "X":
            return arithmetic.explain_addition(left[j], right[j], total[j], name)
        if row == "P":
            return arithmetic.explain_wave(word, j, len(left), LONGEST, right[j], name)
        return arithmetic.explain_input(left[j], name)

    show_clickable_figure(
        [make_strips(words[word], rows)],
        explain,
        provenance.random_weights(seed, choose_device()),
        "one sum",
        _("Embedding plus position is what attention reads: three rows of numbers of one word."),
    )
    show_source(sinusoidal)


def read_dog(seed: int) -> tuple[Reordered, Reordered]:
    """What each of three words gets in two orders, without positions and with them."""
    x = examples.draw_embeddings(DOG, WIDTH, seed)
    head = examples.random_head(WIDTH, HEAD_DIM, HEAD_DIM, seed)
    places = sinusoidal(len(DOG), WIDTH, examples.LONGEST).to(x.device)
    full, order = build_mask("full", x), torch.tensor(SWAPPED)
    without = reorder(x, torch.zeros_like(places), head, full, order)
    return without, reorder(x, places, head, full, order)


def measure_changes(outputs: Reordered) -> Tensor:
    """How far each number of each word is from the one in the other order."""
    return (outputs.after - outputs.before).abs()


def ask_order(text: Prose) -> None:
    """Does attention read in order?"""
    text("order")
    without, _placed = read_dog(page.read_seed())
    changed = measure_changes(without).amax(dim=-1) >= ROUNDING  # (words,)
    answer = ANSWERS[1 if changed.all() else 2 if changed.any() else 0]
    if revealed(text, "order", ANSWERS, answer):
        show_swapped_words(text)


@fragment
def show_swapped_words(text: Prose) -> None:
    """Two stacks of outputs, with positions or without, each word joined with itself."""
    from explainers.charts.curves import draw_two_orders, make_order_rows

    seed, has_positions = page.read_seed(), controls.positions_added()
    without, placed = read_dog(seed)
    shown = placed if has_positions else without
    before = shown.before[torch.tensor(SWAPPED).argsort()]  # in the order in which it was read
    rows = make_order_rows(DOG, list(SWAPPED), before.tolist(), shown.after.tolist())
    origin = provenance.random_weights(seed, before.device)
    alt = _("The outputs of three words, read in two orders, joined by lines.")
    show_chart(draw_two_orders, rows, alt, "swapped", origin, words=len(DOG))
    change = measure_changes(shown).max().item()
    moved = bound_rounding(change) if change < ROUNDING else f"{change:.1g}"
    text("order_with" if has_positions else "order_without", moved=moved)
    show_source(reorder)


LISTED = 9
"""Tokens of a text, in a line of the table."""


def show_ways(text: Prose, sentence: Sentence) -> None:
    """All ways to cut: the number of tokens of each, how many it knows, and the tokens."""
    from explainers.models.token_text import read_tokenizer

    models, errors = hero.read_models(sentence.text)
    learned = hero.learn_shipped_merges()
    pairs = byte_pairs.encode(sentence.text, learned)
    characters = [one.label for one in hero.cut_characters(sentence.text)]
    words, known = [one.label for one in hero.cut_words(sentence)], len(hero.count_vocabulary())
    ways = [
        (_("words"), f"{known:,}", words),
        (_("characters"), "–", characters),
        (
            _("byte pairs"),
            f"{byte_pairs.BYTES + len(learned):,}",
            [hero.label_bytes(token, learned) for token in pairs],
        ),
    ]
    for name, cut in models.items():
        known = read_tokenizer(hero.find_model_id(name)).get_vocab_size()
        ways.append((name, f"{known:,}", [one.label for one in cut]))
    rows = []
    for way, size, labels in ways:
        listed = " · ".join(verbatim(hero.mark_spaces(label)) for label in labels[:LISTED])
        more = " …" if len(labels) > LISTED else ""
        rows.append(f"| {way} | {len(labels)} | {size} | {listed}{more} |")
    text("ways", rows="\n".join(rows))
    if not models and not errors:
        text("no_tokenizer")
    for error in errors:
        st.error(verbatim(translate_error(error)), icon=":material/error:")
    show_source(byte_pairs.learn_merges, byte_pairs.merge_pair)


def show_waves(text: Prose, words: tuple[str, ...]) -> None:
    """A position as the hands of a clock, and added to a word that is there.

    One slider has the positions, the other the bases of the waves.
    """
    text("waves")
    d_model, seed = controls.d_model(), page.read_seed()
    x = examples.draw_embeddings(words, d_model, seed)
    followed, base, clock = controls.followed_word, controls.wave_base, controls.clock_position
    # the word whose sum is shown above the cards
    word = min(st.session_state.get(followed.key, followed.default), len(words) - 1)
    kept, place = x[word, :MOST_DRAWN], clock()

    def draw(turned: int) -> Figure:
        waves = sinusoidal(len(clock.steps), d_model, base.steps[turned]).to(x.device)
        positions = waves[:, :MOST_DRAWN]
        sums = [torch.stack([kept, row, kept + row]).tolist() for row in positions]
        strips = make_strips(words[word], sums[place], sums)
        return Figure([draw_hands(positions, place), strips], alt)

    alt = _("A dial for each pair of numbers of a position, and the sum of a word and a position.")
    labels = [f"{step:g}" for step in clock.steps]
    slider = Slider.of(clock, labels, place, plays=True)
    bases = Slider.of(base, [f"{step:,}" for step in base.steps], base(), name=base.key)
    views = dict(enumerate(map(draw, range(len(base.steps)))))
    figure = replace(views.pop(bases.index), slider=slider, view_slider=bases, views=views)
    show_figure(figure, provenance.random_weights(seed, x.device), "clock")
    sizes = {"d_model": d_model, "longest": int(base.steps[bases.index])}
    title = _("Embedding + position")
    hand_over("clock", title, add_positions, words=words, **sizes, seed=seed)


def draw_hands(positions: Tensor, place: int) -> Panel:
    """The hands at one of the positions; each turns at its own speed from one to the next."""
    steps: list[float] = torch.atan2(positions[1, 0::2], positions[1, 1::2]).tolist()
    turns = [_("one turn in {places:,.1f} positions", places=math.tau / step) for step in steps]
    matrix = Matrix(
        _("the position as clock hands"),
        _("each hand has turned by position × frequency: sine to the right, cosine upwards"),
        positions[place : place + 1].tolist(),
        [_("hand")],
        [turn for turn in turns for _unused in "xy"],
        POSITION_AXIS,
        FEATURE_AXIS,
        kind="arrows",
        limit=1.0,
    )
    return Panel("hands", matrix, frames=tuple([row] for row in positions.tolist()))


SENTENCES = (
    ("dog bites man", "man bites dog", "dog bites dog"),
    ("the judge praised the chef", "the chef praised the judge", "the judge praised the judge"),
    ("fans follow players", "players follow fans", "fans follow fans"),
)


def recall_order(draw: Random) -> Recall:
    """Without positions a head sees which words there are, not in which order."""
    first, shuffled, other = draw.choice(SENTENCES)
    return Recall(f"“{other}”", {"first": first}, (f"“{shuffled}”", f"“{other}”"))
