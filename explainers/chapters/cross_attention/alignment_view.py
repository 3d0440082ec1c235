"""What the reader looks at in a translation, and how well its strongest weights align words."""

import functools
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import streamlit as st
import torch
from torch import Tensor

from explainers import arithmetic
from explainers.arithmetic import Arithmetic
from explainers.charts.matrix import Matrix
from explainers.messages import N_
from explainers.translation import corpus, translator
from explainers.translation.alignment import (
    INPUT,
    PREDICTED,
    AlignmentScore,
    Ibm1Model,
    Link,
    align_diagonally,
    compute_cross_weights,
    pool_links,
    read_links,
    score_alignment,
)
from explainers.translation.corpus import COUNTED, HELD_OUT, UNSEEN, SentencePair, read_sentences
from explainers.translation.model import NUM_HEADS, NUM_LAYERS
from explainers.translation.translator import Translation
from explainers.translations import _
from explainers.ui.controls.controls import MEAN, PREDICTS
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Cell, Figure, Panel
from explainers.ui.provenance import translator as origin_of

END = corpus.SPECIAL_TOKENS[corpus.END]
WEIGHTS = N_("weights")


@dataclass(frozen=True)
class TranslationView:
    """One translation with the reader's choices about its cross-attention."""

    translation: Translation
    gold: SentencePair | None
    """Known, and translated as the corpus does."""
    queries_down: bool
    layer: int = NUM_LAYERS - 1
    head: str = MEAN
    rows: str = PREDICTS

    def select(self, layer: int, head: str, rows: str) -> "TranslationView":
        """The same translation looked at in another place."""
        return replace(self, layer=layer, head=head, rows=rows)

    @property
    def row_side(self) -> str:
        """Which syllable a row belongs to."""
        return PREDICTED if self.rows == PREDICTS else INPUT

    @property
    def first_row(self) -> int:
        """The row that belongs to the first syllable."""
        return 0 if self.row_side == PREDICTED else 1

    @property
    def num_syllables(self) -> int:
        return len(self.translation.syllables)

    @property
    def columns(self) -> list[str]:
        """All that the decoder may look at."""
        return [*self.translation.words, END]

    @cached_property
    def head_weights(self) -> Tensor:
        """Weights of the chosen heads (syllables + 1, words + 1)."""
        heads = self.translation.cross[self.layer]
        return heads.mean(dim=0) if self.head == MEAN else heads[int(self.head)]

    @cached_property
    def weights(self) -> Tensor:
        """One row for each syllable that was written (syllables, words + 1)."""
        return self.head_weights[self.first_row : self.first_row + self.num_syllables]

    def read_links(self, row_side: str) -> set[Link]:
        """The words that these heads would name, with rows read in either way."""
        return read_links(
            self.head_weights, len(self.translation.words), self.num_syllables, row_side
        )

    @property
    def head_label(self) -> str:
        """The chosen heads in words."""
        if self.head == MEAN:
            return _("decoder layer {layer}, mean of all heads", layer=self.layer + 1)
        return _("decoder layer {layer}, head {head}", layer=self.layer + 1, head=self.head)

    @property
    def origin(self) -> str:
        return origin_of(self.weights.device)

    def explain_weight(self, cell: Cell) -> Arithmetic:
        """How a weight came to be."""
        row = cell.row + self.first_row
        cross = self.translation.decoder[self.layer].cross
        value = self.weights[cell.row, cell.column]
        if self.head != MEAN:
            scores = cross.scores[int(self.head), row].tolist()
            return arithmetic.explain_softmax(scores, cell.column, value.item(), self.columns)
        heads = cross.weights[:, row, cell.column].tolist()
        shares = [1 / len(heads)] * len(heads)
        name = f"weights[{cell.row}, {cell.column}]"
        return arithmetic.explain_dot_product(heads, shares, value.item(), name)


def find_reordered_syllable(
    translation: Translation, weights: Tensor, links: frozenset[Link] = frozenset()
) -> int:
    """The syllable whose word stands farthest from where it would stand word for word.

    Of several as far, one that turns back; of those, the one that is surest of its word. Where
    `links` are known, one whose word is right.
    """
    words, syllables = len(translation.words), len(translation.syllables)
    largest, peaks = weights[:syllables, :words].max(dim=-1)
    straight = torch.arange(syllables) * words // syllables
    turns_back = peaks.diff(prepend=peaks[:1]) < 0
    is_right = torch.tensor([link in links for link in enumerate(peaks.tolist())])
    distance = 2 * (peaks - straight).abs() + turns_back + largest / 2
    return int((distance + 2 * words * is_right).argmax())


HEADS = (MEAN, *map(str, range(NUM_HEADS)))
LAST_LAYER = NUM_LAYERS - 1


class LinkReading(NamedTuple):
    """One way to read links off the weights."""

    layer: int
    head: str
    row_side: str


def list_pairs() -> list[SentencePair]:
    """The held-out sentences that everything here is measured on."""
    return [*read_sentences(UNSEEN), *read_sentences(HELD_OUT)]


@functools.cache
def compute_weights() -> list[Tensor]:
    """The weights of each sentence (layers, heads, syllables + 1, words + 1)."""
    return list(compute_cross_weights(translator.load_translator().model, list_pairs()))


@st.cache_data(show_spinner=False, max_entries=40)
def read_all_links(reading: LinkReading) -> list[set[Link]]:
    """The links of each sentence, read in this way."""
    layer, head, row_side = reading
    return [
        read_links(
            sentence_weights[layer].mean(dim=0)
            if head == MEAN
            else sentence_weights[layer, int(head)],
            len(pair.source),
            len(pair.target),
            row_side,
        )
        for sentence_weights, pair in zip(compute_weights(), list_pairs(), strict=True)
    ]


@functools.cache
def score_side(row_side: str) -> dict[LinkReading, AlignmentScore]:
    """Every layer and head, with rows read in one way, which is half the work."""
    places = itertools.product(range(NUM_LAYERS), HEADS)
    readings = [LinkReading(layer, head, row_side) for layer, head in places]
    return {reading: score_links(read_all_links(reading), list_pairs()) for reading in readings}


def score_links(links: Sequence[set[Link]], gold: Sequence[SentencePair]) -> AlignmentScore:
    """The links of all sentences, scored together against gold."""
    sure, possible = (
        pool_links(getattr(pair, kind) for pair in gold) for kind in ("sure", "possible")
    )
    return score_alignment(pool_links(links), sure, possible)


@st.cache_data(show_spinner=False)
def learn_ibm1() -> Ibm1Model:
    """IBM Model 1, learned from sentences that are not among those it is tested on."""
    return Ibm1Model.learn([(pair.source, pair.target) for pair in read_sentences(COUNTED)])


@st.cache_data(show_spinner=False, max_entries=64)
def align_by_ibm1(words: tuple[str, ...], syllables: tuple[str, ...]) -> set[Link]:
    """The links of one sentence that IBM Model 1 finds."""
    return learn_ibm1().align(words, syllables)


@st.cache_data(show_spinner=False)
def score_baselines() -> dict[str, AlignmentScore]:
    """The scores of the aligners without a network, by name."""
    model = learn_ibm1()  # once: each call copies it
    links_by_name = {
        "diagonal": [align_diagonally(len(pair.source), len(pair.target)) for pair in list_pairs()],
        "ibm": [model.align(pair.source, pair.target) for pair in list_pairs()],
    }
    return {name: score_links(links, list_pairs()) for name, links in links_by_name.items()}


def show_scores(view: TranslationView) -> dict[str, object]:
    """The scores of the chosen heads and of two baselines, here and on held-out sentences.

    Returns, for a text, how many sentences they are of, and from how many pairs aligners counted.
    """
    baseline_scores = score_baselines()
    words, syllables = view.translation.words, view.translation.syllables
    side = view.row_side
    head_score = score_side(side)[LinkReading(view.layer, view.head, side)]
    tables = {N_("held out"): [head_score, baseline_scores["diagonal"], baseline_scores["ibm"]]}
    if view.gold:
        link_sets = (
            view.read_links(side),
            align_diagonally(len(words), len(syllables)),
            align_by_ibm1(words, syllables),
        )
        sentence_scores = [
            score_alignment(links, set(view.gold.sure), set(view.gold.possible))
            for links in link_sets
        ]
        tables = {N_("this sentence"): sentence_scores, **tables}
    panels = [Panel(name, _make_score_table(view, name, rows)) for name, rows in tables.items()]
    errors = [
        _("{table}: error {rate:.2f}", table=_(name), rate=rows[0].aer)
        for name, rows in tables.items()
    ]
    alt = _("Scores of {heads} and of two baselines.", heads=view.head_label)
    show_figure(Figure(panels, f"{alt} {'; '.join(errors)}"), view.origin, "scores")
    return {"sentences": len(list_pairs()), "pairs": f"{len(read_sentences(COUNTED)):,}"}


def name_head(layer: int, head: str) -> str:
    """A head beside its row of a table."""
    if head == MEAN:
        return _("L{layer} mean", layer=layer + 1)
    return f"L{layer + 1} {head}"


def _make_score_table(view: TranslationView, name: str, rows: list[AlignmentScore]) -> Matrix:
    """A line for each aligner; 0 is best for the error, 1 for the others."""
    names = [name_head(view.layer, view.head), _("diagonal"), "IBM 1"]
    values = [list(row) for row in rows]
    columns = ["AER", _("precision"), _("recall")]
    axes = N_("aligner"), N_("score")
    return Matrix(name, "", values, names, columns, *axes, kind="weights")
