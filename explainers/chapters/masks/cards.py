"""What stands below the picture: a mask's leak, two steps, every mask, a batch, reach, one pass."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any

import streamlit as st
import torch
from torch import Tensor

from explainers import arithmetic
from explainers.arithmetic import Arithmetic
from explainers.attention import masks
from explainers.attention.receptive_field import cells, reach, window_reach
from explainers.attention.rules import Rule
from explainers.attention.single_head import Projections, project, single_head
from explainers.attention.steps import hide, masked_after, masked_before, softmax
from explainers.chapters.common import choose_layer, score_matrix
from explainers.chapters.common.score_matrix import Lab, write_word_count
from explainers.chapters.common.sentence_reading import Reading
from explainers.chapters.masks import hero
from explainers.chapters.masks.hero import compute_scores, mask_weights
from explainers.charts.matrix import Matrix, make_pair_matrix, share_domain
from explainers.charts.theme import FEATURE_AXIS, KEY_AXIS, LAYER_AXIS, TOKEN_AXIS
from explainers.messages import N_
from explainers.toys import examples
from explainers.toys.grammar import GRAMMARS, choose_other_ending, find_language
from explainers.toys.layers import Layer, Tokens
from explainers.translations import _
from explainers.ui import page
from explainers.ui.controls import controls
from explainers.ui.figure.linked_matrices import show_clickable_figure, show_figure
from explainers.ui.figure.panels import Cell, Figure, Panel, Slider, orient_panels
from explainers.ui.lecture.screens import is_lecture
from explainers.ui.page import Prose
from explainers.ui.prediction import ask_veiled, revealed
from explainers.ui.provenance import formula, random_weights
from explainers.ui.source import show_source
from explainers.ui.takeaway_files import hand_over, run_and_hand_over
from explainers.ui.text.language import fragment
from explainers.ui.text.numbers import bound_rounding
from explainers.ui.untrusted_text import verbatim

WAYS = {"0 after": masked_after, "−∞ before": masked_before}
ROUNDING = 1e-6
"""Of shares of 1: a sharp head's real changes are small, and its rounding is smaller still."""
ROWS = N_("in none of them"), N_("in one of them"), N_("in more than one")
"""What one may think that a word changes which is hidden."""


@fragment
def ask_leak(text: Prose, reading: Reading, readable: Lab, wide: Lab) -> None:
    """What is hidden too late, by zeros after the softmax: asked, then drawn in both ways."""
    small, lab = score_matrix.read_known_labs(reading, readable, wide)
    tokens, new = lab.tokens, choose_other_ending(lab.tokens)
    inputs = {"layer": lab.layer, "other": lab.layer.reading((*tokens[:-1], new))}
    shown = compute_leak(**inputs)
    changes = {way: shown[f"{way}: new − old"] for way in WAYS}  # in percent
    rows = [score_matrix.count_changed_rows(each, 100 * ROUNDING) for each in changes.values()]
    moves = changes["0 after"].abs().amax(dim=-1)  # where nothing should change (words − 1,)
    digits = (f"{moves.min().item():.{places}f}" for places in (2, 4))  # the picture shows 2
    head_dim = lab.layer.heads.head_dim
    named: dict[str, object] = {
        "last": verbatim(tokens[-1]),
        "new": verbatim(new),
        "earlier": len(tokens) - 1,
        "after": rows[0],
        "kept": rows[1],
        "least": verbatim(tokens[int(moves.argmin())]),
        "by": next((one for one in digits if float(one)), _("less than 0.0001")),
        "d_k": head_dim,
    }
    if not revealed(text, "leak", ROWS, ROWS[min(rows[0], 2)], **named):
        return
    hand_over("leak", _("−∞ before the softmax, or 0 after it"), compute_leak, **inputs)
    panels = draw_leak(lab, shown, rows)
    if is_lecture():  # a class reads the row that moves most
        panels = [replace(panel, followed=int(moves.argmax())) for panel in panels]
    alt = _("Causal weights made in two ways, and how each moves when the last word is new.")
    show_figure(Figure(lab.arranged(panels), alt), lab.origin, "leak")
    text("leak_seen", **named)
    if head_dim > small.layer.heads.head_dim:
        text("leak_larger", **named)
    show_source(*WAYS.values())


def compute_leak(layer: Layer, other: Layer) -> dict[str, Tensor]:
    """Causal weights made in the right and in the wrong order, and how a new last word moves them.

    The change is in percent.
    """
    causal = masks.build(masks.causal, *layer.mask.shape).to(layer.x.device)
    before, after = compute_scores(layer), compute_scores(other)
    weights = {name: way(before, causal) for name, way in WAYS.items()}
    moved = {name: way(after, causal) - weights[name] for name, way in WAYS.items()}
    return weights | {f"{name}: new − old": 100 * m[:-1, :-1] for name, m in moved.items()}


def draw_leak(lab: Lab, shown: dict[str, Tensor], rows: Sequence[int]) -> list[Panel]:
    """For each way the weights, and how they move, in percent: a change may be small."""
    mask, earlier = lab.mask(masks.causal), lab.tokens[:-1]  # the last word is not the same in both
    limit = max(shown[f"{name}: new − old"].abs().max().item() for name in WAYS)
    panels = []
    for name, way, count in zip(WAYS, (_("0 after"), _("−∞ before")), rows, strict=True):
        sums = _("the first row sums to {total:.2f}", total=shown[name][0].sum())
        made = score_matrix.make_weight_panel(way, sums, shown[name], mask, lab.tokens)
        change = make_pair_matrix(
            _("{way}: new − old", way=way),
            _(
                "in percent: {rows} of {earlier} earlier rows change",
                rows=count,
                earlier=len(earlier),
            ),
            score_matrix.keep_allowed(shown[f"{name}: new − old"], mask[:-1, :-1]),
            earlier,
        )
        panels += [
            replace(made, id=name, heading=_("{way} the softmax", way=way)),
            Panel(f"{name}: new − old", replace(change, limit=limit)),
        ]
    return panels


def show_all(text: Prose, lab: Lab) -> None:
    """The scores of a wider head, and its weights under every mask, each with its arithmetic."""
    choose_layer.describe_wide_layer(lab.layer, page.read_seed())
    text("masks_seen")
    numbers, words = hero.choose_numbers(), len(lab.tokens)
    if numbers["window"] > words:
        text("too_wide", width=numbers["window"], words=write_word_count(words))
    inputs: dict[str, Any] = {"layer": lab.layer, "numbers": numbers}
    shown = run_and_hand_over("all masks", _("One matrix, many masks"), mask_weights, **inputs)
    rules, scores = score_matrix.make_rules(numbers), lab.one_head.panel("scores")
    panels = [replace(scores, matrix=replace(scores.matrix, limit=None), small=True)]
    for name, rule in rules.items():
        mask = lab.mask(rule)
        left = _("{left} of {all} cells", left=cells(mask), all=mask.numel())
        panel = score_matrix.make_weight_panel(name, left, shown[name], mask, lab.tokens)
        panels.append(replace(panel, small=True))
    of_scores = lab.one_head.explain

    def explain(cell: Cell) -> Arithmetic:
        if cell.panel == "scores":
            return of_scores(cell)
        row = hide(lab.scores, lab.mask(rules[cell.panel]))[cell.row]
        weight = softmax(row)[cell.column].item()
        return arithmetic.explain_softmax(row.tolist(), cell.column, weight, lab.tokens)

    alt = _("The scores of the sentence, and its weights under every mask, side by side.")
    panels = orient_panels(panels, lab.queries_down)
    show_clickable_figure(panels, explain, lab.origin, "masks", alt)
    choose_layer.offer_training(lab.layer)


TOPIC = 2
"""Of the second sentence: sport."""
PAD = "[pad]"


def choose_second_sentence(tokens: Tokens) -> Tokens:
    """A second sentence of words that training knows, not as long as the reader's."""
    grammar = GRAMMARS[find_language(tokens)]
    who, verb, whom = (grammar.list_words(part, TOPIC) for part in ("many", "verb", "many"))
    other = who[1].capitalize(), verb[0], whom[0]
    return other[:-1] if len(tokens) == len(other) else other


def compute_batch_weights(layer: Layer, other: Layer, lengths: list[int]) -> dict[str, Tensor]:
    """Two sentences in one call, the filling of the shorter one hidden."""
    x = torch.stack([layer.x, other.x])[:, None]
    mask = masks.build(masks.padding(torch.tensor(lengths)), *layer.mask.shape).to(x.device)
    weights = single_head(x, layer.head(), mask).weights[:, 0]
    return {"sentence 1": weights[0], "sentence 2": weights[1]}


def measure_largest_change(weights: Tensor, alone: list[Tensor]) -> float:
    """The largest difference that the batch makes to a sentence's own weights."""
    own = zip(weights, alone, strict=True)
    return max((w[: len(a), : len(a)] - a).abs().max().item() for w, a in own)


def show_batch(text: Prose, lab: Lab) -> None:
    """Two sentences of different lengths in one call: nobody looks at the filling."""
    sentences = lab.tokens, choose_second_sentence(lab.tokens)
    lengths = [len(sentence) for sentence in sentences]
    most = max(lengths)
    filled = [tokens + (PAD,) * (most - len(tokens)) for tokens in sentences]
    first, second = map(lab.layer.reading, filled)
    inputs: dict[str, Any] = {"layer": first, "other": second, "lengths": lengths}
    title, weigh = _("Two sentences in one batch"), compute_batch_weights
    shown = run_and_hand_over("batch", title, weigh, **inputs)
    together = torch.stack([*shown.values()])
    alone = [single_head(*lab.layer.reading(one).single()).weights for one in sentences]
    moved = bound_rounding(measure_largest_change(together, alone))
    filling = verbatim(PAD)
    text("batch", length=most, moved=moved, filling=filling)
    if lab.layer.learned:
        text("unknown_filling", filling=filling)
    real = masks.build(masks.padding(torch.tensor(lengths)), most, most)
    panels = [
        score_matrix.make_weight_panel(
            _("sentence {number}", number=n + 1),
            f"{write_word_count(length)}, {most - length} × {PAD}",
            together[n],
            real[n, 0],
            filled[n],
        )
        for n, length in enumerate(lengths)
    ]
    alt = _("The weights of two sentences in one batch; the columns of the padding are 0.")
    show_figure(Figure(lab.arranged(panels), alt), lab.origin_with(PAD), "batch")


NEVER = N_("never")
ASKED = 1
"""The word of the question, from 0: the running sentence's subject."""


def compute_reach_by_layer(width: int, words: int, layers: int) -> Tensor:
    """Which words know of which after one layer of a window, two, … (layers, words, words)."""
    return reach(masks.build(masks.sliding_window(width), words, words), layers)


def compute_reach(width: int, words: int, layers: int, most: int) -> dict[str, Tensor]:
    """Which words know of which after some layers, and the way to what the last one knows of."""
    by_layer = compute_reach_by_layer(width, words, most)
    return {"pairs": by_layer[layers - 1].int(), "cone": trace_cone(by_layer, layers).int()}


def trace_cone(by_layer: Tensor, layers: int) -> Tensor:
    """Where what the last word knows of after `layers` has come from, the words in the last row.

    Each row is a layer, the highest first (most + 1, words): below the word itself stands what it
    reaches in one layer, in two, … Layers above hold nothing.
    """
    most, words, _keys = by_layer.shape
    cone = by_layer.new_zeros(most + 1, words)
    cone[most - layers, -1] = True
    cone[most - layers + 1 :] = by_layer[:layers, -1]
    return cone


def count_layers_needed(width: int, far: int) -> str:
    """After how many layers of a window the last of `far + 1` words knows of the first."""
    known = compute_reach_by_layer(width, far + 1, max(far, 1))[:, -1, 0].tolist()
    return str(known.index(True) + 1) if True in known else NEVER


def show_reach(text: Prose, lab: Lab) -> None:
    """How far windows reach when they are stacked in layers: on which ways, to which words."""
    text("reach")
    width, control, tokens = int(controls.reach_window()), controls.layers, lab.tokens
    last = len(tokens) - 1
    early = min(ASKED, max(last - 1, 0))
    answer = count_layers_needed(width, last - early)
    named = {
        "width": f"{width}",
        "last": verbatim(tokens[last]),
        "early": verbatim(tokens[early]),
        "apart": write_word_count(last - early),
    }
    ask_veiled(text, "reach", answer, ("1", "2", "3", NEVER), **named)
    text("reach_seen")
    steps, place = [int(step) for step in control.steps], control()
    sizes = {"width": width, "words": len(tokens), "layers": steps[place], "most": len(steps)}
    by_layer = compute_reach_by_layer(width, len(tokens), len(steps))
    hand_over("reach", _("Windows stacked in layers"), compute_reach, **sizes)
    cones = [trace_cone(by_layer, step).int().tolist() for step in steps]
    cone = Matrix(
        _("what “{word}” knows of", word=tokens[-1]),
        _("each dot sees a window of dots one layer below; the words are at the bottom"),
        cones[place],
        [f"{step}" for step in reversed((0, *steps))],
        tokens,
        LAYER_AXIS,
        KEY_AXIS,
        kind="cone",
        decimals=0,
    )
    sums = [f"{n}: {n} × ({width} − 1) + 1 = {window_reach(width, n)}" for n in steps]
    labels = [_("{sum} positions", sum=one) for one in sums]
    slider = Slider.of(control, labels, place)
    alt = _("A row of dots for each layer: lines fan out from the last word down to the words.")
    figure = Figure([Panel("cone", cone, frames=tuple(cones))], alt, slider=slider)
    show_figure(figure, formula(_("which words a mask lets through"), by_layer.device), "reach")
    show_source(reach, window_reach)


BOTH = {"full": masks.full, "causal": masks.causal}
ADDED = "evening"
D_MODEL, HEAD_DIM = 8, 4
ANOTHER = 100
"""Added to the seed for the second layer's weights."""


def run_second_layer(tokens: Tokens, rule: Rule, seed: int) -> Projections:
    """Q, K and V of a second layer, which reads what the first one gave each word."""
    x = examples.place_words(tokens, D_MODEL, seed)
    mask = masks.build(rule, len(tokens), len(tokens)).to(x.device)
    head = examples.random_head(D_MODEL, HEAD_DIM, D_MODEL, seed)
    first = single_head(x, head, mask).output
    return project(first, examples.random_head(D_MODEL, HEAD_DIM, HEAD_DIM, seed + ANOTHER))


def compute_added_word(tokens: Tokens, seed: int) -> dict[str, Tensor]:
    """What one more word changes in the second layer's K and V, under full and causal masks."""
    texts = tokens, (*tokens, ADDED)
    both = {n: [run_second_layer(one, rule, seed) for one in texts] for n, rule in BOTH.items()}
    return {
        f"{letter}, {name}": getattr(after, role)[:-1] - getattr(before, role)
        for letter, role in (("K", "key"), ("V", "value"))
        for name, (before, after) in both.items()
    }


def list_next_words(tokens: Tokens) -> str:
    """A line per row of a causal sentence: what it has read, and at its end the word to be said.

    Each word has a column of its own, so that what has been read is a triangle.
    """
    read = "".join(f"{token} " for token in tokens)
    ends = list(accumulate(len(token) + 1 for token in tokens))
    nexts = (*tokens[1:], "?")
    lines = [f"{read[:end]:{len(read)}}→ {word}" for end, word in zip(ends, nexts, strict=True)]
    return "\n".join(lines)


def show_one_pass(text: Prose, reading: Reading) -> None:
    """What a model gains that never looks ahead: one more word changes nothing that is stored."""
    tokens, seed = reading.known, page.read_seed()
    reading.explain_known()
    text("one_pass", count=len(tokens))
    st.code(list_next_words(tokens), language=None)
    title, inputs = _("One more word"), {"tokens": tokens, "seed": seed}
    found = run_and_hand_over("growing", title, compute_added_word, **inputs)
    rows = {name: score_matrix.count_changed_rows(change) for name, change in found.items()}
    full, guesses = f"{rows['K, full']}", ("0", "1", f"{len(tokens)}")
    added, last = verbatim(ADDED), verbatim(tokens[-1])
    named = {"causal": rows["K, causal"], "added": added, "last": last, "rows": len(tokens)}
    if not ask_veiled(text, "growing", full, guesses, **named):
        return
    roles = {"K": "key", "V": "value"}
    drawn = [
        Matrix(
            f"{letter}, {_(name)}",
            _(
                "new − old: {rows} of {all} rows change",
                rows=rows[f"{letter}, {name}"],
                all=len(tokens),
            ),
            found[f"{letter}, {name}"].tolist(),
            tokens,
            [str(n) for n in range(HEAD_DIM)],
            TOKEN_AXIS,
            FEATURE_AXIS,
            role=role,
        )
        for name in BOTH
        for letter, role in roles.items()
    ]
    panels = [
        Panel(matrix.name, matrix, operator="" if n % 2 else " ")
        for n, matrix in enumerate(share_domain(*drawn))
    ]
    alt = _("What one more word changes in K and V of the second layer, full and causal.")
    origin = random_weights(seed, found["K, full"].device)
    show_figure(Figure(score_matrix.shrink_panels(panels, len(tokens)), alt), origin, "growing")
