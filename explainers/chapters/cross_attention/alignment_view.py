"""What the reader looks at in a translation: which layer and head, and what its rows are called."""

from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor

from explainers import arithmetic
from explainers.arithmetic import Arithmetic
from explainers.charts.matrix import Matrix, Values
from explainers.charts.theme import SOURCE_AXIS, TARGET_AXIS
from explainers.messages import N_
from explainers.translation import vocabulary
from explainers.translation.alignment import INPUT, PREDICTED, Link, read_links
from explainers.translation.corpus import SentencePair
from explainers.translation.model import NUM_LAYERS
from explainers.translation.translator import Translation
from explainers.translations import _
from explainers.ui.controls.controls import MEAN, PREDICTS
from explainers.ui.figure.panels import Cell, Panel
from explainers.ui.provenance import translator as origin_of

END = vocabulary.SPECIAL_TOKENS[vocabulary.END]
LINES, WEIGHTS = "lines", N_("weights")


@dataclass(frozen=True)
class View:
    """One translation with the reader's choices about its cross-attention."""

    found: Translation
    gold: SentencePair | None
    """Known, and translated as the corpus does."""
    queries_down: bool
    layer: int = NUM_LAYERS - 1
    head: str = MEAN
    rows: str = PREDICTS

    def at(self, layer: int, head: str, rows: str) -> "View":
        """The same translation looked at in another place."""
        return replace(self, layer=layer, head=head, rows=rows)

    @property
    def by(self) -> str:
        """Which syllable a row belongs to."""
        return PREDICTED if self.rows == PREDICTS else INPUT

    @property
    def syllables(self) -> int:
        return len(self.found.syllables)

    @property
    def columns(self) -> list[str]:
        """All that the decoder may look at."""
        return [*self.found.words, END]

    @cached_property
    def whole(self) -> Tensor:
        """Weights of the chosen heads (syllables + 1, words + 1)."""
        heads = self.found.cross[self.layer]
        return heads.mean(dim=0) if self.head == MEAN else heads[int(self.head)]

    @cached_property
    def weights(self) -> Tensor:
        """One row for each syllable that was written (syllables, words + 1)."""
        first = 0 if self.by == PREDICTED else 1
        return self.whole[first : first + self.syllables]

    def links(self, by: str) -> set[Link]:
        """The words that these heads would name, with rows read in either way."""
        return read_links(self.whole, len(self.found.words), self.syllables, by)

    @property
    def place(self) -> str:
        """The chosen heads in words."""
        if self.head == MEAN:
            return _("decoder layer {layer}, mean of all heads", layer=self.layer + 1)
        return _("decoder layer {layer}, head {head}", layer=self.layer + 1, head=self.head)

    @property
    def origin(self) -> str:
        return origin_of(self.weights.device)

    def panels(self, has_rings: bool) -> list[Panel]:
        """The same weights as lines and as a heat map, both growing by a row."""
        rings = sorted(self.gold.sure) if self.gold and has_rings else []
        values: Values = self.weights.tolist()
        axes = self.found.syllables, self.columns, TARGET_AXIS, SOURCE_AXIS
        rule = _("{heads}; every row sums to 1", heads=self.place)
        lines = Matrix(
            N_("who looks where"), self.place, values, *axes, kind="ties", ringed_cells=rings
        )
        cells = Matrix(WEIGHTS, rule, values, *axes, kind="weights", ringed_cells=rings)
        turned = not self.queries_down
        return [
            Panel(LINES, lines, grows=True),
            Panel(WEIGHTS, cells, grows=True, flipped=turned),
        ]

    def working(self, cell: Cell) -> Arithmetic:
        """How a weight came to be."""
        row = cell.row + (self.by == INPUT)
        cross, value = self.found.decoder[self.layer].cross, self.weights[cell.row, cell.column]
        if self.head != MEAN:
            scores = cross.scores[int(self.head), row].tolist()
            return arithmetic.explain_softmax(scores, cell.column, value.item(), self.columns)
        heads = cross.weights[:, row, cell.column].tolist()
        shares = [1 / len(heads)] * len(heads)
        name = f"weights[{cell.row}, {cell.column}]"
        return arithmetic.explain_dot_product(heads, shares, value.item(), name)


def off_diagonal(found: Translation, weights: Tensor) -> int:
    """The syllable whose word stands farthest from where it would stand word for word.

    Of several as far, one that turns back; of those, the one that is surest of its word.
    """
    words, syllables = len(found.words), len(found.syllables)
    largest, peaks = weights[:syllables, :words].max(dim=-1)
    straight = torch.arange(syllables) * words // syllables
    turns_back = peaks.diff(prepend=peaks[:1]) < 0
    return int((2 * (peaks - straight).abs() + turns_back + largest / 2).argmax())
