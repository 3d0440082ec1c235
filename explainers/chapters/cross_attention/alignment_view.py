"""What the reader looks at in a translation: which layer and head, and what its rows are called."""

from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor

from explainers import arithmetic
from explainers.arithmetic import Arithmetic
from explainers.messages import N_
from explainers.translation import vocabulary
from explainers.translation.alignment import INPUT, PREDICTED, Link, read_links
from explainers.translation.corpus import SentencePair
from explainers.translation.model import NUM_LAYERS
from explainers.translation.translator import Translation
from explainers.translations import _
from explainers.ui.controls.controls import MEAN, PREDICTS
from explainers.ui.figure.panels import Cell
from explainers.ui.provenance import translator as origin_of

END = vocabulary.SPECIAL_TOKENS[vocabulary.END]
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
