"""The cards: how weights come about, change what is written, and what block and source add."""

import difflib
import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random
from typing import Any

import streamlit as st
import torch
from torch import Tensor

from explainers.arithmetic import Arithmetic
from explainers.attention import masks
from explainers.attention.decoder_block import (
    Attend,
    cross_attention,
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
from explainers.chapters.cross_attention.hero import (
    END,
    LAST_LAYER,
    TranslationView,
    list_pairs,
    score_links,
    score_side,
)
from explainers.charts.matrix import Matrix, find_largest
from explainers.charts.theme import FEATURE_AXIS, SOURCE_AXIS, TARGET_AXIS
from explainers.messages import N_
from explainers.translation import translator
from explainers.translation.alignment import (
    AlignmentScore,
    Ibm1Model,
    align_diagonally,
    read_links,
    reestimate,
    score_alignment,
)
from explainers.translation.corpus import BEGIN, COUNTED, SPECIAL_TOKENS, read_sentences
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
from explainers.ui.page import Prose
from explainers.ui.page_parts.check_yourself import Recall
from explainers.ui.prediction import ask_veiled, revealed
from explainers.ui.source import run_and_show, show_source
from explainers.ui.takeaway_files import hand_over
from explainers.ui.untrusted_text import verbatim

QUERIES, KEYS, SCORES, FIRST = "Q", "K", N_("scores"), N_("weights of head 0")
WEIGHTS = N_("weights")


class WeightSteps:
    """Q, K, scores and weights of a head; of the mean, Q, K and weights of head 0, and the mean."""

    def __init__(self, view: TranslationView, syllable: int) -> None:
        self.view, self.followed = view, syllable
        self.head = 0 if view.head == MEAN else int(view.head)
        self.block = translator.load_translator().model.decoder[view.layer]
        self.decoded = view.translation.decoder[view.layer]
        first = view.first_row
        self.rows = slice(first, first + view.num_syllables)

    def show(self, text: Prose) -> None:
        """The matrices; a click on a number shows how it was computed."""
        text("how", rows=self.view.num_syllables, columns=len(self.view.columns))
        alt = _("Queries of the decoder, keys of the encoder, scores and weights.")
        cross, view = self.decoded.cross, self.view
        inputs: dict[str, Any] = {"query": cross.query, "key": cross.key, "value": cross.value}
        inputs |= {"head": int(view.head) if view.head.isdigit() else None}
        inputs |= {"first": view.first_row, "rows": view.num_syllables}
        hand_over("weights", _("Where each syllable looks"), compute_head_weights, **inputs)
        show_clickable_figure(self.draw(), self.explain, self.view.origin, "steps", alt)
        show_source(cross_attention)

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


def mark_changes(before: Sequence[str], after: Sequence[str]) -> str:
    """The new translation; what was not in the old one is bold."""
    unchanged = list_unchanged(before, after)
    marked_syllables = [
        verbatim(syllable) if n in unchanged else f"**{verbatim(syllable)}**"
        for n, syllable in enumerate(after)
    ]
    return " ".join(marked_syllables) or _("(nothing)")


def list_unchanged(before: Sequence[str], after: Sequence[str]) -> set[int]:
    """The places of the syllables that are still there, in the same order."""
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


def ask_explaining(text: Prose, view: TranslationView) -> None:
    """How much stays if the last layer looks at all words equally, asked; then each replacement:
    a line of a table for what is written, and what stays."""
    before = view.translation
    after = translate_changed(before.words, UNIFORM).syllables
    left = len(list_unchanged(before.syllables, after))
    share = left / max(view.num_syllables, 1)
    answer = UNCHANGED_SHARES[0 if share == 1 else 1 if share >= 0.5 else 2]
    new = mark_changes(before.syllables, after)
    told = {"left": left, "count": view.num_syllables, "new": new}
    if not revealed(text, "explaining", UNCHANGED_SHARES, answer, **told):
        return
    lines, panels = [], []
    rule = _("decoder layer {layer}, mean of heads; every row sums to 1", layer=LAST_LAYER + 1)
    for replacement in (LEARNED, UNIFORM, PEAK, PERMUTED):
        changed = translate_changed(before.words, replacement)
        left = len(list_unchanged(before.syllables, changed.syllables))
        new = mark_changes(before.syllables, changed.syllables)
        lines.append(f"| {_(replacement)} | {new} | {left} |")
        axes = changed.syllables, [*changed.words, END], TARGET_AXIS, SOURCE_AXIS
        weights = changed.cross[LAST_LAYER].mean(dim=0)[: len(changed.syllables)].tolist()
        matrix = Matrix(replacement, rule, weights, *axes, kind="weights")
        panels.append(Panel(replacement, matrix, small=True))
    alt = _("Weights of the last layer: as learned, and with three others instead.")
    figure = Figure(orient_panels(panels, view.queries_down), alt)
    show_figure(figure, view.origin, "replaced")
    text("explaining_more", rows="\n".join(lines), count=view.num_syllables)


BEGIN_TOKEN = SPECIAL_TOKENS[BEGIN]
PART_NAMES = N_("self-attention"), N_("cross-attention"), N_("the feed-forward part")


def show_block(text: Prose, view: TranslationView) -> None:
    """The last layer's input, and what each part of the block around cross-attention adds to it,
    computed again: their sum is the output."""
    text("block")
    ask_veiled(text, "block", PART_NAMES[1], PART_NAMES)
    translation = view.translation
    x = translation.decoder[-2].output
    block = translator.load_translator().model.decoder[-1]
    source = read_source(translation.memory, block.cross)
    own_mask = masks.build(masks.causal, len(x), len(x))
    source_mask = hide_padding(torch.tensor([len(translation.memory)]), len(translation.memory))[0]
    picture = st.container()
    decoded = run_and_show(decoder_block, x, source, block, own_mask, source_mask)
    added = decoded.own.output, decoded.cross.output, decoded.fed
    terms = {N_("in"): x, **dict(zip(PART_NAMES, added, strict=True))}
    limit = max(find_largest(tensor.tolist()) for tensor in terms.values())
    labels = [BEGIN_TOKEN, *translation.syllables], [str(n) for n in range(x.shape[-1])]
    panels: list[Panel] = []
    for name, tensor in terms.items():
        matrix = Matrix(name, "", tensor.tolist(), *labels, TARGET_AXIS, FEATURE_AXIS, limit=limit)
        panels.append(Panel(name, matrix, "+" if panels else "", small=True))
    with picture:
        alt = _("The decoder's block: its input, and what each of three parts adds to it.")
        figure = Figure(orient_panels(panels, view.queries_down), alt)
        show_figure(figure, view.origin, "block")
    gap = (decoded.output - translation.decoder[-1].output).abs().max().item()
    text("block_seen", rows=len(x), d_model=x.shape[-1], gap=f"{gap:g}")


@functools.cache
def learn_ibm1() -> Ibm1Model:
    """IBM Model 1, learned from sentences that are not among those it is tested on."""
    return Ibm1Model.learn([(pair.source, pair.target) for pair in read_sentences(COUNTED)])


@functools.cache
def score_baselines() -> list[AlignmentScore]:
    """The aligners without a network: a straight line, and IBM Model 1."""
    sides = [(pair.source, pair.target) for pair in list_pairs()]
    return [
        score_links(align_diagonally(*map(len, both)) for both in sides),
        score_links(learn_ibm1().align(*both) for both in sides),
    ]


def show_accuracy(text: Prose, view: TranslationView) -> None:
    """The strongest lines scored against the correct ones: those of the chosen heads and of two
    baselines, here and on held-out sentences."""
    text("accuracy")
    words, syllables, side = view.translation.words, view.translation.syllables, view.row_side
    tables = {N_("held out"): [score_side(side)[view.layer, view.head], *score_baselines()]}
    if view.gold:
        link_sets = (
            read_links(view.head_weights, len(words), len(syllables), side),
            align_diagonally(len(words), len(syllables)),
            learn_ibm1().align(words, syllables),
        )
        sentence_scores = [
            score_alignment(links, set(view.gold.sure), set(view.gold.possible))
            for links in link_sets
        ]
        tables = {N_("this sentence"): sentence_scores, **tables}
    own = f"L{view.layer + 1} {view.head}"
    if view.head == MEAN:
        own = _("L{layer} mean", layer=view.layer + 1)
    labels = [own, _("diagonal"), "IBM 1"], ["AER", _("precision"), _("recall")]
    axes = N_("aligner"), N_("score")
    panels = [
        Panel(name, Matrix(name, "", [list(row) for row in rows], *labels, *axes, kind="weights"))
        for name, rows in tables.items()
    ]
    errors = [
        _("{table}: error {rate:.2f}", table=_(name), rate=rows[0].aer)
        for name, rows in tables.items()
    ]
    alt = _("Scores of {heads} and of two baselines.", heads=view.head_label)
    show_figure(Figure(panels, f"{alt} {'; '.join(errors)}"), view.origin, "scores")
    counted = f"{len(read_sentences(COUNTED)):,}"
    text("accuracy_seen", sentences=len(list_pairs()), pairs=counted)
    if not view.gold:
        text("no_gold")
    show_source(score_alignment, read_links, reestimate)


LARGE = 1_500, 100
"""Tokens of a long document and of its summary, whose masks have millions of cells."""


@functools.lru_cache(maxsize=256)
def count_weights(source: int, target: int) -> dict[str, int]:
    """How many weights one head computes in one layer that holds each kind of attention.

    As many as the masks allow: the source sees itself, the target its past and the source.
    """
    encoder, decoder, joined = (
        int(masks.build(rule, length, length).sum())
        for rule, length in (
            (masks.full, source),
            (masks.causal, target),
            (masks.causal, source + target),
        )
    )
    cross = source * target
    counts = {"encoder": encoder, "decoder": decoder, "cross": cross, "joined": joined}
    return counts | {"apart": encoder + decoder + cross}


def show_two_ways(text: Prose, view: TranslationView) -> None:
    """Cross-attention, or both texts in one sequence."""
    text("cells")
    source, target = len(view.translation.words) + 1, view.num_syllables + 1
    large = {f"large_{name}": f"{count:,}" for name, count in count_weights(*LARGE).items()}
    named = {"source": source, "target": target, **count_weights(source, target)}
    text("cells_seen", **named, **large)


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
