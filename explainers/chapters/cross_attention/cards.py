"""The cards: how weights come about, change what is written, and what block and source add."""

import difflib
import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random
from typing import Any, NamedTuple

import streamlit as st
import torch
from torch import Tensor

from explainers.arithmetic import Arithmetic
from explainers.attention import masks
from explainers.attention.decoder_block import (
    Attend,
    Decoded,
    decoder_block,
    hide_padding,
    read_source,
)
from explainers.attention.encoder_block import normalise
from explainers.attention.scaled_dot_product import attention
from explainers.chapters.common.one_head import (
    MATCHED,
    SCALED,
    SHARED_OUT,
    TIMES,
    Node,
    make_explainer,
)
from explainers.chapters.cross_attention.alignment_view import (
    END,
    LAST_LAYER,
    WEIGHTS,
    TranslationView,
)
from explainers.charts.matrix import Matrix, find_largest
from explainers.charts.theme import FEATURE_AXIS, SOURCE_AXIS, TARGET_AXIS
from explainers.messages import N_
from explainers.takeaway.recipe import Recipe
from explainers.translation import translator
from explainers.translation.corpus import BEGIN, SPECIAL_TOKENS
from explainers.translation.model import (
    PLAIN_ATTENTION,
    peak_attention,
    permuted_attention,
    uniform_attention,
)
from explainers.translation.translator import Translation
from explainers.translations import _
from explainers.ui.controls.controls import MEAN
from explainers.ui.figure.linked_matrices import show_clickable_figure, show_figure
from explainers.ui.figure.panels import Cell, Figure, Panel, orient_panels
from explainers.ui.page_parts.check_yourself import Recall
from explainers.ui.source import run_and_show
from explainers.ui.takeaway_files import take
from explainers.ui.untrusted_text import verbatim

QUERIES, KEYS, SCORES, FIRST = "Q", "K", N_("scores"), N_("weights of head 0")


class WeightSteps:
    """Q, K, scores and weights of a head; of the mean, Q, K and weights of head 0, and the mean."""

    def __init__(self, view: TranslationView, syllable: int) -> None:
        self.view, self.followed = view, syllable
        self.head = 0 if view.head == MEAN else int(view.head)
        self.block = translator.load_translator().model.decoder[view.layer]
        self.decoded = view.translation.decoder[view.layer]
        first = view.first_row
        self.rows = slice(first, first + view.num_syllables)

    def show(self) -> None:
        """The matrices; a click on a number shows how it was computed."""
        alt = _("Queries of the decoder, keys of the encoder, scores and weights.")
        take_weights(self.view)
        show_clickable_figure(self.draw(), self.explain, self.view.origin, "steps", alt)

    def _read_head(self, numbers: Tensor) -> Tensor:
        return numbers[self.head, self.rows]

    def draw(self) -> list[Panel]:
        """The matrices in the order of the computation; the syllable's row stands in a box."""
        cross, view = self.decoded.cross, self.view
        syllables, words = view.translation.syllables, view.columns
        numbers = [f"{n}" for n in range(cross.query.shape[-1])]
        asking = syllables, numbers, TARGET_AXIS, FEATURE_AXIS
        asked = words, numbers, SOURCE_AXIS, FEATURE_AXIS
        pairs = syllables, words, TARGET_AXIS, SOURCE_AXIS

        def draw(name: str, formula: str, made: Tensor, *labels: Any, **look: Any) -> Panel:
            return Panel(name, Matrix(name, formula, made.tolist(), *labels, **look))

        read, softmax = self._read_head, N_("softmax(Q · Kᵀ ÷ √d_k)")
        query = draw(QUERIES, N_("decoder · W_Q"), read(cross.query), *asking, role="query")
        key = draw(KEYS, N_("encoder · W_K"), cross.key[self.head], *asked, role="key")
        scores = draw(SCORES, N_("Q · Kᵀ ÷ √d_k"), read(cross.scores), *pairs)
        first = draw(FIRST, softmax, read(cross.weights), *pairs, kind=WEIGHTS)
        rule = _("{heads}; every row sums to 1", heads=view.head_label)
        weights = draw(WEIGHTS, rule, view.weights, *pairs, kind=WEIGHTS)
        followed = [
            replace(panel, small=True, followed=None if panel.id == KEYS else self.followed)
            for panel in (query, key, first if view.head == MEAN else scores, weights)
        ]
        return orient_panels(followed, view.queries_down)

    def explain(self, cell: Cell) -> Arithmetic:
        """How a number came to be."""
        if cell.panel == WEIGHTS:
            return self.view.explain_weight(cell)
        return self.explain_node(cell)

    @functools.cached_property
    def explain_node(self) -> Callable[[Cell], Arithmetic]:
        """What to ask about the matrices of the picture, by those that each is made of."""
        cross, layer = self.decoded.cross, self.block.cross
        lanes = slice(self.head * layer.head_dim, (self.head + 1) * layer.head_dim)
        asking = normalise(self.decoded.after_own, self.block.norms[1])[self.rows]

        def project(name: str, x: Tensor, weight: Tensor, made: Tensor) -> Node:
            given = Node("x", x.tolist()), Node("W", weight[:, lanes].tolist())
            return Node(name, made.tolist(), TIMES, given)

        query = project(QUERIES, asking, layer.w_query, self._read_head(cross.query))
        memory = self.view.translation.memory
        key = project(KEYS, memory, layer.w_key, cross.key[self.head])
        matched = self._read_head(cross.query) @ cross.key[self.head].T
        products = Node("products", matched.tolist(), MATCHED, (query, key))
        scores = Node(SCORES, self._read_head(cross.scores).tolist(), SCALED, (products,))
        shares = self._read_head(cross.weights).tolist()
        first = Node(FIRST, shares, SHARED_OUT, (scores,), self.view.columns)
        return make_explainer([query, key, scores, first])


def compute_head_weights(
    query: Tensor, key: Tensor, value: Tensor, head: int | None, first: int, rows: int
) -> dict[str, Tensor]:
    """Where each syllable looks, in one head or in the mean of all; nothing is hidden."""
    mask = torch.ones(query.shape[-2], key.shape[-2], dtype=torch.bool)
    weights = attention(query, key, value, mask).weights
    head_weights = weights.mean(dim=0) if head is None else weights[head]
    return {"weights": head_weights[first : first + rows], "every head": weights}


def take_weights(view: TranslationView) -> None:
    """The picture of both sentences."""
    cross = view.translation.decoder[view.layer].cross
    head = int(view.head) if view.head.isdigit() else None
    inputs: dict[str, Any] = {"query": cross.query, "key": cross.key, "value": cross.value}
    inputs |= {"head": head, "first": view.first_row, "rows": view.num_syllables}
    title = _("Where each syllable looks")
    shown = {"weights": view.weights, "every head": cross.weights}
    take("weights", Recipe(title, compute_head_weights, inputs, shown))


def count_unchanged(before: Sequence[str], after: Sequence[str]) -> int:
    """How many syllables are still there, in the same order."""
    return len(_list_unchanged(before, after))


def mark_changes(before: Sequence[str], after: Sequence[str]) -> str:
    """The new translation; what was not in the old one is bold."""
    unchanged = _list_unchanged(before, after)
    marked_syllables = [
        verbatim(syllable) if n in unchanged else f"**{verbatim(syllable)}**"
        for n, syllable in enumerate(after)
    ]
    return " ".join(marked_syllables) or _("(nothing)")


def _list_unchanged(before: Sequence[str], after: Sequence[str]) -> set[int]:
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    return {n for block in matcher.get_matching_blocks() for n in range(block.b, sum(block[1:]))}


LEARNED, UNIFORM = N_("learned"), N_("uniform")
PERMUTED, PEAK = N_("permuted"), N_("only the peak")
UNCHANGED_SHARES = N_("all of them"), N_("half of them or more"), N_("fewer than half")
REPLACEMENTS: dict[str, Attend] = {
    LEARNED: attention,
    UNIFORM: uniform_attention,
    PERMUTED: permuted_attention,
    PEAK: peak_attention,
}
"""What is put in place of the last layer's attention."""


@st.cache_resource(show_spinner=False, max_entries=64)
def translate_changed(words: tuple[str, ...], replacement: str) -> Translation:
    """Translate again; once for each change, however often the page runs."""
    attend = *PLAIN_ATTENTION[:-1], REPLACEMENTS[replacement]
    return translator.load_translator().translate(words, attend=attend)


def answer_explaining(view: TranslationView) -> tuple[str, dict[str, Any]]:
    """How much stays if the last layer looks at all words equally, and what is written then."""
    before = view.translation
    after = translate_changed(before.words, UNIFORM).syllables
    left = count_unchanged(before.syllables, after)
    share = left / max(view.num_syllables, 1)
    answer = UNCHANGED_SHARES[0 if share == 1 else 1 if share >= 0.5 else 2]
    new = mark_changes(before.syllables, after)
    return answer, {"left": left, "count": view.num_syllables, "new": new}


def show_replacements(view: TranslationView) -> dict[str, object]:
    """Each replacement in the last layer; a line of a table for what is written, and what stays."""
    before, lines, panels = view.translation, [], []
    for replacement in (LEARNED, UNIFORM, PEAK, PERMUTED):
        changed = translate_changed(before.words, replacement)
        left = count_unchanged(before.syllables, changed.syllables)
        new = mark_changes(before.syllables, changed.syllables)
        lines.append(f"| {_(replacement)} | {new} | {left} |")
        panels.append(replace(_make_weight_panel(replacement, changed), small=True))
    alt = _("Weights of the last layer: as learned, and with three others instead.")
    figure = Figure(orient_panels(panels, view.queries_down), alt)
    show_figure(figure, view.origin, "replaced")
    return {"rows": "\n".join(lines), "count": view.num_syllables}


def _make_weight_panel(name: str, translation: Translation) -> Panel:
    weights = translation.cross[LAST_LAYER].mean(dim=0)[: len(translation.syllables)]
    columns = [*translation.words, END]
    axes = translation.syllables, columns, TARGET_AXIS, SOURCE_AXIS
    rule = _("decoder layer {layer}, mean of heads; every row sums to 1", layer=LAST_LAYER + 1)
    return Panel(name, Matrix(name, rule, weights.tolist(), *axes, kind="weights"))


BEGIN_TOKEN = SPECIAL_TOKENS[BEGIN]
PART_NAMES = N_("self-attention"), N_("cross-attention"), N_("the feed-forward part")


def show_block(view: TranslationView) -> dict[str, object]:
    """What is summed in the last layer, computed again; the numbers for the text."""
    translation = view.translation
    x = translation.decoder[-2].output
    block = translator.load_translator().model.decoder[-1]
    source = read_source(translation.memory, block.cross)
    own_mask = masks.build(masks.causal, len(x), len(x))
    source_mask = hide_padding(torch.tensor([len(translation.memory)]), len(translation.memory))[0]
    picture = st.container()
    decoded = run_and_show(decoder_block, x, source, block, own_mask, source_mask)
    gap = (decoded.output - translation.decoder[-1].output).abs().max().item()
    with picture:
        alt = _("The decoder's block: its input, and what each of three parts adds to it.")
        show_figure(Figure(make_panels(view, x, decoded), alt), view.origin, "block")
    return {"rows": len(x), "d_model": x.shape[-1], "gap": f"{gap:g}"}


def make_panels(view: TranslationView, x: Tensor, decoded: Decoded) -> list[Panel]:
    """The input, and what each part adds to it: their sum is the output."""
    rows, columns = [BEGIN_TOKEN, *view.translation.syllables], [str(n) for n in range(x.shape[-1])]
    added = decoded.own.output, decoded.cross.output, decoded.fed
    terms = [
        ("", N_("in"), x),
        *(("+", name, tensor) for name, tensor in zip(PART_NAMES, added, strict=True)),
    ]
    limit = max(find_largest(tensor.tolist()) for _sign, _name, tensor in terms)
    axes = rows, columns, TARGET_AXIS, FEATURE_AXIS
    panels = [
        Panel(name, Matrix(name, "", tensor.tolist(), *axes, limit=limit), sign, small=True)
        for sign, name, tensor in terms
    ]
    return orient_panels(panels, view.queries_down)


LARGE = 1_500, 100
"""Tokens of a long document and of its summary, whose masks have millions of cells."""


class WeightCounts(NamedTuple):
    """How many weights one head computes in one layer that holds each kind of attention."""

    encoder: int
    decoder: int
    cross: int
    joined: int

    @property
    def separate(self) -> int:
        return self.encoder + self.decoder + self.cross


@functools.lru_cache(maxsize=256)
def count_weights(source_length: int, target_length: int) -> WeightCounts:
    """As many as the masks allow: the source sees itself, the target its past and the source."""
    joined_length = source_length + target_length
    return WeightCounts(
        int(masks.build(masks.full, source_length, source_length).sum()),
        int(masks.build(masks.causal, target_length, target_length).sum()),
        source_length * target_length,
        int(masks.build(masks.causal, joined_length, joined_length).sum()),
    )


def show_weight_counts(view: TranslationView) -> dict[str, object]:
    """Both ways to see another sequence; the numbers for the text."""
    source_length, target_length = len(view.translation.words) + 1, view.num_syllables + 1
    counts, large_counts = count_weights(source_length, target_length), count_weights(*LARGE)
    return {
        "source": source_length,
        "target": target_length,
        "encoder": counts.encoder,
        "decoder": counts.decoder,
        "cross": counts.cross,
        "apart": counts.separate,
        "joined": counts.joined,
        "large_cross": f"{large_counts.cross:,}",
        "large_joined": f"{large_counts.joined:,}",
        "large_apart": f"{large_counts.separate:,}",
    }


def recall_weight_count(draw: Random) -> Recall:
    """A weight for each pair of a syllable and a token of the source."""
    syllables, words = draw.randint(4, 12), draw.randint(13, 25)
    given = {"syllables": f"{syllables}", "words": f"{words}"}
    return Recall(syllables * words, given)


def recall_mask(draw: Random) -> Recall:
    """Nothing of the source is in the future."""
    syllable, words = draw.randint(4, 12), draw.randint(13, 25)
    options = [f"{count}" for count in (syllable - 1, syllable, words)]
    return Recall(f"{words}", {"syllable": f"{syllable}", "words": f"{words}"}, options)
