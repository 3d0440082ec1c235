"""How weights of cross-attention come about: queries of one sequence, keys of the other."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from explainers import arithmetic
from explainers.arithmetic import Arithmetic
from explainers.attention.encoder_block import normalise
from explainers.attention.scaled_dot_product import attention
from explainers.chapters.cross_attention.alignment_view import WEIGHTS, TranslationView
from explainers.charts.matrix import Matrix
from explainers.charts.theme import FEATURE_AXIS, SOURCE_AXIS, TARGET_AXIS
from explainers.messages import N_
from explainers.takeaway.recipe import Recipe
from explainers.translation import weights_file
from explainers.translations import _
from explainers.ui.controls.controls import MEAN
from explainers.ui.figure.clickable_figure import show_clickable_figure
from explainers.ui.figure.panels import Cell, Panel, orient_panels
from explainers.ui.takeaway_files import take

QUERIES, KEYS, SCORES, FIRST = "Q", "K", N_("scores"), N_("weights of head 0")


class WeightSteps:
    """Q, K, scores and weights of a head; of the mean, Q, K and weights of head 0, and the mean."""

    def __init__(self, view: TranslationView, syllable: int) -> None:
        self.view, self.followed = view, syllable
        self.head = 0 if view.head == MEAN else int(view.head)
        self.block = weights_file.load_translator().model.decoder[view.layer]
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
        features, pairs = (numbers, TARGET_AXIS, FEATURE_AXIS), (words, TARGET_AXIS, SOURCE_AXIS)
        query = self._make(
            QUERIES, N_("decoder · W_Q"), self._read_head(cross.query), syllables, *features
        )
        key = self._make(
            KEYS,
            N_("encoder · W_K"),
            cross.key[self.head],
            words,
            numbers,
            SOURCE_AXIS,
            FEATURE_AXIS,
        )
        scores = self._make(
            SCORES, N_("Q · Kᵀ ÷ √d_k"), self._read_head(cross.scores), syllables, *pairs
        )
        rule = _("{heads}; every row sums to 1", heads=view.head_label)
        weights = self._make(WEIGHTS, rule, view.weights, syllables, *pairs, kind=WEIGHTS)
        first = self._make(
            FIRST,
            N_("softmax(Q · Kᵀ ÷ √d_k)"),
            self._read_head(cross.weights),
            syllables,
            *pairs,
            kind=WEIGHTS,
        )
        followed = [
            replace(panel, small=True, followed=None if panel.id == KEYS else self.followed)
            for panel in (query, key, first if view.head == MEAN else scores, weights)
        ]
        return orient_panels(followed, view.queries_down)

    def _make(
        self,
        name: str,
        formula: str,
        numbers: Tensor,
        rows: Sequence[str],
        columns: Sequence[str],
        row_axis: str,
        column_axis: str,
        kind: str = "signed",
    ) -> Panel:
        role = {QUERIES: "query", KEYS: "key"}.get(name, "")
        matrix = Matrix(
            name, formula, numbers.tolist(), rows, columns, row_axis, column_axis, kind, role
        )
        return Panel(name, matrix)

    def explain(self, cell: Cell) -> Arithmetic:
        """How a number came to be."""
        find: dict[str, Callable[[int, int], Arithmetic]] = {
            QUERIES: self._explain_query,
            KEYS: self._explain_key,
            SCORES: self._explain_score,
            FIRST: self._explain_first,
            WEIGHTS: lambda row, column: self.view.explain_weight(Cell(WEIGHTS, row, column)),
        }
        return find[cell.panel](cell.row, cell.column)

    def _explain_query(self, row: int, column: int) -> Arithmetic:
        asking = normalise(self.decoded.after_own, self.block.norms[1])[self.rows][row]
        value = self._read_head(self.decoded.cross.query)[row, column]
        return self._explain_product(asking, self.block.cross.w_query, column, value, "Q", row)

    def _explain_key(self, row: int, column: int) -> Arithmetic:
        memory, value = self.view.translation.memory[row], self.decoded.cross.key[self.head]
        return self._explain_product(
            memory, self.block.cross.w_key, column, value[row, column], "K", row
        )

    def _explain_product(
        self, left: Tensor, matrix: Tensor, column: int, value: Tensor, name: str, row: int
    ) -> Arithmetic:
        right = matrix[:, self.head * self.block.cross.head_dim + column]
        label = f"{name}[{row}, {column}]"
        return arithmetic.explain_dot_product(left.tolist(), right.tolist(), value.item(), label)

    def _explain_score(self, row: int, column: int) -> Arithmetic:
        cross = self.decoded.cross
        query, key = self._read_head(cross.query)[row], cross.key[self.head, column]
        value, label = self._read_head(cross.scores)[row, column], f"scores[{row}, {column}]"
        numerator = (query * key).sum().item()
        return arithmetic.explain_division(numerator, len(query), value.item(), label)

    def _explain_first(self, row: int, column: int) -> Arithmetic:
        cross = self.decoded.cross
        scores, value = self._read_head(cross.scores)[row], self._read_head(cross.weights)
        return arithmetic.explain_softmax(
            scores.tolist(), column, value[row, column].item(), self.view.columns
        )


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
    shown_values = {"weights": view.weights, "every head": cross.weights}
    take(
        "weights",
        Recipe(_("Where each syllable looks"), compute_head_weights, inputs, shown_values),
    )
