"""The hero of multi-head attention: a row of arcs per head, and what the heads' votes add up to."""

import functools
from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any

import streamlit as st
import torch
from torch import Tensor

from explainers.attention.multi_head import contributions, multi_head
from explainers.chapters.common.choose_layer import name_layer_origin
from explainers.chapters.common.sentence_reading import Reading
from explainers.chapters.many_heads.head_panels import name_panel
from explainers.chapters.many_heads.heads_at_equal_parameters import make_equal_heads
from explainers.toys.grammar import fold_word
from explainers.toys.layers import (
    D_MODEL,
    NUM_HEADS,
    SEEDS,
    Layer,
    Tokens,
    TrainedHeads,
    load_layer,
)
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.controls.control import describe_options
from explainers.ui.figure.hero import Experiment, Hero, HeroChoice, read_choice, round_numbers
from explainers.ui.page import Prose
from explainers.ui.page_parts.go_deeper import OpenCard, open_card
from explainers.ui.text.numbers import write_percent

MOST_NEEDED, MOST_OTHERS = 3, 2
"""Words of the sentence that get a column of votes, and other words that are named by name."""
SENTENCES = (
    *("hero_caption", "hero_apart", "hero_together", "hero_one_word", "hero_none"),
    *("hero_single", "hero_single_all"),
    *("hero_off_kept", "hero_off_lost", "hero_off_none", "hero_all_off"),
)
OTHER_SENTENCES = "other_caption", "hero_other", "hero_other_one", "hero_other_off"
"""Of heads that name nothing."""
TRAINING = "layer"
"""The card in which heads learn while the reader looks on."""


@functools.cache
def list_switches(count: int) -> tuple[str, ...]:
    """Which of so many heads are off, a hexadecimal digit for each: every choice that there is."""
    return tuple("".join(some) for some in product(*(("", f"{head:x}") for head in range(count))))


class TrainingCard(OpenCard):
    """The card in which heads learn, opened from the picture; "" closes it."""

    def put(self, value: str) -> None:
        super().put(value or None)


_training_card = TrainingCard(open_card.key, open_card.label, None)


def read_clicked_word(tokens: Tokens, shown: int) -> int:
    """The word of the row that was clicked below the picture, since the picture was drawn."""
    word: int = st.session_state.get(controls.followed_word.key, shown)
    return word if word in range(len(tokens)) else shown


def make_hero(text: Prose, reading: Reading) -> tuple[Hero, Layer, frozenset[int]]:
    """Where one word looks in each head, the layer of these heads, and which are off."""
    return (make_small_hero if reading.is_small else make_other_hero)(text, reading)


def make_small_hero(text: Prose, reading: Reading) -> tuple[Hero, Layer, frozenset[int]]:
    """Heads that also name words together."""
    tokens, word = reading.words, reading.choose_word()
    heads = read_choice(controls.num_heads, controls.num_heads.options)
    off = read_switched_off(range(int(heads)))
    asked = st.session_state.get(open_card.key, st.query_params.get(open_card.key))
    card = TRAINING if asked == TRAINING else ""
    choices = [
        word,
        HeroChoice(controls.num_heads, controls.num_heads.options, heads, labels=_label_heads()),
        HeroChoice(controls.switched_off_heads, list_switches(max(NUM_HEADS)), off),
        HeroChoice(_training_card, ("", TRAINING), card, is_elsewhere=True),
    ]
    alt = _("A sentence, and above it a row of arcs per head, from one word to those it looks at.")
    numbers = compute_numbers(tokens)
    experiments = list_experiments(text, tokens, word.value, numbers)
    layer = load_layer(tokens, make_equal_heads(int(heads)), SEEDS[0])
    hero = Hero(
        "heads",
        alt,
        numbers,
        choices,
        SENTENCES,
        experiments,
        name_layer_origin(layer),
        lambda: make_head_table(layer, word.value),
    )
    return hero, layer, frozenset(map(int, off))


def make_other_hero(text: Prose, reading: Reading) -> tuple[Hero, Layer, frozenset[int]]:
    """All heads of a layer of a real model, or untrained ones, which name nothing."""
    layer, word = reading.layer_of_heads(), reading.choose_word()
    controls.num_heads.read()  # of the small heads below; it says so where a link asks for others
    count = layer.heads.num_heads
    off = read_switched_off(range(count))
    choices = [
        word,
        HeroChoice(controls.num_heads, (str(count),), str(count)),
        HeroChoice(controls.switched_off_heads, list_switches(count), off),
    ]
    numbers, marks = describe_parts(layer), reading.own.own_positions if reading.own else ()
    lengths = torch.tensor(numbers["parts"][word.value])
    head = int(lengths.diagonal().argmax())
    change = (lengths[head, head] / lengths.sum()).sqrt().item()
    named = {"head": head, "word": reading.tokens[word.value], "change": write_percent(change)}
    hero = Hero(
        "heads",
        _("A sentence, and above it a row of arcs per head, from one word to those it looks at."),
        {
            "tokens": list(reading.tokens),
            "needed": [[] for _token in reading.tokens],
            "names": [],
            "layers": {str(count): numbers},
            "ownPositions": list(marks),
        },
        choices,
        OTHER_SENTENCES,
        [Experiment("off", text.fill("try_other_off", **named), {"off": f"{head:x}"})],
        name_layer_origin(layer),
        lambda: make_head_table(layer, word.value),
    )
    return hero, layer, frozenset(int(one, 16) for one in off)


def describe_parts(layer: Layer) -> dict[str, Any]:
    """Each head's weights, and how long what any of them add to a word's output is together.

    The length of a sum follows from the products of its parts (q_len, heads, heads).
    """
    run = multi_head(layer.x, layer.heads, layer.mask)
    parts = contributions(run.per_head, layer.heads.w_output)  # (heads, q_len, d_model)
    products = torch.einsum("hqd,kqd->qhk", parts, parts)
    return {"weights": round_numbers(run.weights, 6), "parts": round_numbers(products, 6)}


def _label_heads() -> list[str]:
    return [f"{heads}" for heads in NUM_HEADS]


def read_switched_off(numbers: Iterable[int]) -> str:
    """Which heads are off, a digit for each; a link repeats the name for each."""
    control, heads = controls.switched_off_heads, [f"{head:x}" for head in numbers]

    def join(names: Sequence[str]) -> str:
        return "".join(head for head in heads if head in names)

    request, off = control.read_link(join, "")
    off = join(off)
    wanted = None if request is None else ", ".join(filter(None, request))
    control.keep(off)
    is_disobeyed = wanted is not None and join(request) != "".join(sorted(filter(None, request)))
    shown = ", ".join(off) or _("none")
    control.report_bad_link(wanted if is_disobeyed else None, shown, describe_options(heads))
    control.write(off, "")
    return off


@functools.lru_cache(maxsize=32)
def compute_numbers(tokens: Tokens) -> dict[str, Any]:
    """All that the picture shows of a sentence, for every number of heads."""
    layers = {heads: load_layer(tokens, make_equal_heads(heads), SEEDS[0]) for heads in NUM_HEADS}
    votes = {heads: HeadVotes(layer) for heads, layer in layers.items()}
    needed = choose_needed(tokens, list(votes.values()))
    return {
        "tokens": list(tokens),
        "needed": needed,
        "names": list(next(iter(votes.values())).known.words),
        "layers": {str(heads): one.describe(needed) for heads, one in votes.items()},
    }


def make_head_table(layer: Layer, word: int) -> Any:
    """Where one word looks in each head, a row for each."""
    import pandas as pd  # the first paint needs no tables

    weights = multi_head(layer.x, layer.heads, layer.mask).weights[:, word]
    words = [f"{place} {token}" for place, token in enumerate(layer.tokens)]
    heads = [_(name_panel(head)) for head in range(len(weights))]
    return pd.DataFrame(weights.tolist(), heads, words).rename_axis(_("head")).reset_index()


class HeadVotes:
    """How a layer's heads vote for words, for every word of a sentence."""

    def __init__(self, layer: Layer) -> None:
        if not isinstance(layer.learned, TrainedHeads):
            raise TypeError("only trained heads name words")
        self.layer, self.known = layer, layer.learned
        self.run = multi_head(layer.x, layer.heads, layer.mask)
        self.parts = contributions(self.run.per_head, layer.heads.w_output)
        """(heads, q_len, d_model)"""

    @functools.cached_property
    def places(self) -> list[list[int]]:
        """Where each word of the sentence stands in what is named from each other one.

        -1 where training never saw the word, and for a word seen from itself.
        """
        size, known = len(self.known.words), self.known.places
        tokens = [*map(fold_word, self.layer.tokens)]
        return [
            [
                -1 if asker == seen or word not in known else known[word] + size * (seen > asker)
                for seen, word in enumerate(tokens)
            ]
            for asker in range(len(tokens))
        ]

    def score(self, choices: Tensor) -> Tensor:
        """What heads that are on (choices, heads) name (choices, q_len, 2 · words)."""
        outputs = torch.einsum("ch,hqd->cqd", choices.to(self.parts), self.parts)
        return self.known.score_words(outputs)

    @functools.cached_property
    def named(self) -> list[Any]:
        """For every choice of heads that are off: what each word names.

        The places in the sentence; some other words; how many these are. A choice has a bit for
        each head.
        """
        heads = self.layer.heads.num_heads
        off = torch.arange(2**heads)[:, None] >> torch.arange(heads) & 1
        scores = self.score(1 - off)
        return [
            [self._list_named(asker, row) for asker, row in enumerate(rows)]
            for rows in _list_largest(scores)
        ]

    def _list_named(self, asker: int, named: list[int]) -> list[Any]:
        own = {place: seen for seen, place in enumerate(self.places[asker]) if place >= 0}
        there = [seen for seen, place in enumerate(self.places[asker]) if place in named]
        others = [place % len(self.known.words) for place in named if place not in own]
        return [there, others[:MOST_OTHERS], len(others)]

    def describe(self, needed: Sequence[Sequence[int]]) -> dict[str, Any]:
        """The layer's weights and votes, as the browser reads them."""
        votes = self.known.score_words(self.parts) - self.known.bias
        columns = [[self.places[asker][seen] for seen in row] for asker, row in enumerate(needed)]
        return {
            "weights": round_numbers(self.run.weights, 6),
            "votes": [
                [round_numbers(row[column], 2) for row, column in zip(head, columns, strict=True)]
                for head in votes.cpu()
            ],
            "bias": [round_numbers(self.known.bias.cpu()[column], 2) for column in columns],
            "named": self.named,
        }


def _list_largest(scores: Tensor) -> list[list[list[int]]]:
    """The places above 0 of each row, the largest first."""
    values, places = scores.sort(dim=-1, descending=True)
    counts = (values > 0).sum(dim=-1).tolist()
    listed = places[..., : max(1, max(map(max, counts)))].tolist()
    return [
        [row[:count] for row, count in zip(rows, row_counts, strict=True)]
        for rows, row_counts in zip(listed, counts, strict=True)
    ]


def choose_needed(tokens: Tokens, votes: Sequence[HeadVotes]) -> list[list[int]]:
    """The words of the sentence that each word needs: those that some layer names from it."""
    needed = []
    for asker in range(len(tokens)):
        found = [one.named[0][asker][0] for one in votes]
        often = {seen: sum(seen in some for some in found) for some in found for seen in some}
        chosen = sorted(often, key=lambda seen: -often[seen])[:MOST_NEEDED]
        needed.append(sorted(chosen))
    return needed


def list_experiments(
    text: Prose, tokens: Tokens, word: int, numbers: dict[str, Any]
) -> list[Experiment]:
    """What a reader can try, each with the numbers that it will show."""
    four, eight = (numbers["layers"][heads] for heads in ("4", "8"))
    head = find_indispensable_head(four["named"], word)
    names = {"word": tokens[word]}
    lost, kept = _compare_named(four["named"], word, 1 << head, tokens)
    off = {**names, "head": head, "lost": lost, "kept": kept}
    switched = (
        text.fill("try_off" if kept else "try_off_all", **off)
        if lost
        else text.fill("try_off_none", **off)
    )
    spared = sum(
        set(eight["named"][1 << one][word][0]) >= set(eight["named"][0][word][0])
        for one in range(8)
    )
    small = text.fill("try_small", spared=spared, d_k=D_MODEL // 8, **names)
    return [
        Experiment("off", switched, {"heads": "4", "off": str(head)}),
        Experiment("small", small, {"heads": "8", "off": ""}),
        Experiment("train", text.fill("try_train"), {"deep": TRAINING}),
    ]


def find_indispensable_head(named: Sequence[Any], word: int) -> int:
    """The first head of four without which a word of the sentence is no longer named, else 0."""
    before = set(named[0][word][0])
    return next((head for head in range(4) if before - set(named[1 << head][word][0])), 0)


def _compare_named(named: Sequence[Any], word: int, off: int, tokens: Tokens) -> tuple[str, str]:
    """The words that are no longer named, and those that still are."""
    before, after = (named[which][word][0] for which in (0, off))
    lost = [tokens[seen] for seen in before if seen not in after]
    return ", ".join(lost), ", ".join(tokens[seen] for seen in before if seen in after)
