"""A text that changes: what a word that is hidden leaks, and what one more word changes."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import accumulate
from typing import NamedTuple

from torch import Tensor

from explainers.attention import masks
from explainers.attention.rules import Rule
from explainers.attention.single_head import Projections, project, single_head
from explainers.attention.steps import masked_after, masked_before
from explainers.chapters.common.score_matrix import (
    Lab,
    count_changed_rows,
    keep_allowed,
    make_weight_panel,
    shrink_panels,
)
from explainers.chapters.masks.side_by_side import Computed, compute_scores
from explainers.charts.matrix import Matrix, make_pair_matrix, share_domain
from explainers.charts.theme import FEATURE_AXIS, TOKEN_AXIS
from explainers.messages import N_
from explainers.toys import examples
from explainers.toys.grammar import choose_other_ending
from explainers.toys.layers import Layer, Tokens
from explainers.translations import _
from explainers.ui.figure.panels import Figure, Panel
from explainers.ui.lecture.screens import is_lecture
from explainers.ui.provenance import random_weights
from explainers.ui.untrusted_text import verbatim

ROUNDING = 1e-6
"""Of shares of 1: a sharp head's real changes are small, and its rounding is smaller still."""
ROWS = NONE, ONE, MORE = N_("in none of them"), N_("in one of them"), N_("in more than one")
"""What one may think that a word changes which is hidden."""
ADDED = "evening"
D_MODEL, HEAD_DIM = 8, 4
ANOTHER = 100
"""Added to the seed for the second layer's weights."""
BOTH = {"full": masks.full, "causal": masks.causal}
WAYS = {"0 after": masked_after, "−∞ before": masked_before}


def compute_leak(layer: Layer, other: Layer) -> Computed:
    """Causal weights made in the right and in the wrong order, and how a new last word moves them.

    The change is in percent.
    """
    causal = masks.build(masks.causal, *layer.mask.shape).to(layer.x.device)
    before, after = compute_scores(layer), compute_scores(other)
    weights = {name: way(before, causal) for name, way in WAYS.items()}
    moved = {name: way(after, causal) - weights[name] for name, way in WAYS.items()}
    return weights | {f"{name}: new − old": 100 * m[:-1, :-1] for name, m in moved.items()}


def run_second_layer(tokens: Tokens, rule: Rule, seed: int) -> Projections:
    """Q, K and V of a second layer, which reads what the first one gave each word."""
    x = examples.place_words(tokens, D_MODEL, seed)
    mask = masks.build(rule, len(tokens), len(tokens)).to(x.device)
    head = examples.random_head(D_MODEL, HEAD_DIM, D_MODEL, seed)
    first = single_head(x, head, mask).output
    return project(first, examples.random_head(D_MODEL, HEAD_DIM, HEAD_DIM, seed + ANOTHER))


def measure_changes(tokens: Tokens, rule: Rule, seed: int) -> Projections:
    """What one more word changes in the second layer's Q, K and V of the words before it."""
    before, after = (
        run_second_layer(tokens, rule, seed),
        run_second_layer((*tokens, ADDED), rule, seed),
    )
    return Projections(*(new[:-1] - old for old, new in zip(before, after, strict=True)))


def measure_new_word(tokens: Tokens, seed: int) -> dict[str, Projections]:
    """The same under full and under causal attention."""
    return {name: measure_changes(tokens, rule, seed) for name, rule in BOTH.items()}


def compute_added_word(tokens: Tokens, seed: int) -> Computed:
    """What one more word changes in the second layer's K and V, under full and causal masks."""
    found = measure_new_word(tokens, seed)
    keys = {f"K, {name}": each.key for name, each in found.items()}
    return keys | {f"V, {name}": each.value for name, each in found.items()}


class Leak(NamedTuple):
    """Causal weights made in both ways, and by how many percent a new last word moves them."""

    new: str
    other: Layer
    shown: Computed

    def read_changes(self, way: str) -> Tensor:
        """Of the weights of earlier words for each other, in percent (words − 1, words − 1)."""
        return self.shown[f"{way}: new − old"]

    def count_moved_rows(self, way: str) -> int:
        """How many of the earlier rows the new word changes."""
        return count_changed_rows(self.read_changes(way), 100 * ROUNDING)

    def find_least_moved(self) -> tuple[int, str]:
        """The row that changes least where it should not change, and by how many percent."""
        moves = self.read_changes("0 after").abs().amax(dim=-1)
        return int(moves.argmin()), _write_percent(moves.min().item())

    def find_most_moved(self) -> int:
        """The row that changes most where none should change."""
        return int(self.read_changes("0 after").abs().amax(dim=-1).argmax())


def name_leak(lab: Lab, leak: Leak) -> tuple[str, dict[str, object]]:
    """In how many rows a word shows that is hidden by a 0, and what the question names."""
    row, by = leak.find_least_moved()
    after, before = (leak.count_moved_rows(way) for way in WAYS)
    return ROWS[min(after, 2)], {
        "last": verbatim(lab.tokens[-1]),
        "new": verbatim(leak.new),
        "earlier": len(lab.tokens) - 1,
        "after": after,
        "kept": before,
        "least": verbatim(lab.tokens[row]),
        "by": by,
        "d_k": lab.layer.head().w_query.shape[-1],
    }


def find_leak(lab: Lab) -> Leak:
    """Both ways on the sentence, and on the sentence with another last word."""
    tokens = lab.tokens
    new = choose_other_ending(tokens)
    other = lab.layer.reading((*tokens[:-1], new))
    return Leak(new, other, compute_leak(lab.layer, other))


def draw_leak(lab: Lab, leak: Leak) -> Figure:
    """For each way the weights, and how they move; a class reads one row."""
    followed = leak.find_most_moved() if is_lecture() else None
    mask = lab.mask(masks.causal)
    ways = {"0 after": _("0 after"), "−∞ before": _("−∞ before")}
    changes = share_domain(
        *(
            _make_leak_matrix(_("{way}: new − old", way=way), leak, name, lab)
            for name, way in ways.items()
        )
    )
    panels = []
    for name, change in zip(WAYS, changes, strict=True):
        shares = leak.shown[name]
        sums = _("the first row sums to {total:.2f}", total=shares[0].sum())
        made = make_weight_panel(name, sums, shares, mask, lab.tokens)
        heading = _("{way} the softmax", way=ways[name])
        matrix = replace(made.matrix, name=ways[name])
        panels += [
            replace(made, matrix=matrix, heading=heading, followed=followed),
            Panel(f"{name}: new − old", change, followed=followed),
        ]
    alt = _("Causal weights made in two ways, and how each moves when the last word is new.")
    return Figure(lab.arranged(panels), alt)


def _write_percent(percent: float) -> str:
    """As in the picture, or with more digits where the picture shows 0.00."""
    shown = (f"{percent:.{places}f}" for places in (2, 4))
    return next((digits for digits in shown if float(digits)), _("less than 0.0001"))


def _make_leak_matrix(name: str, leak: Leak, way: str, lab: Lab) -> Matrix:
    """In percent, because a change may be too small for two digits of a weight."""
    formula = _(
        "in percent: {rows} of {earlier} earlier rows change",
        rows=leak.count_moved_rows(way),
        earlier=len(lab.tokens) - 1,
    )
    earlier = lab.tokens[:-1]  # the last word is not the same in both
    allowed = lab.mask(masks.causal)[:-1, :-1]
    return make_pair_matrix(name, formula, keep_allowed(leak.read_changes(way), allowed), earlier)


def list_next_words(tokens: Tokens) -> str:
    """A line per row of a causal sentence: what it has read, and at its end the word to be said.

    Each word has a column of its own, so that what has been read is a triangle.
    """
    read = "".join(f"{token} " for token in tokens)
    ends = list(accumulate(len(token) + 1 for token in tokens))
    nexts = (*tokens[1:], "?")
    lines = [f"{read[:end]:{len(read)}}→ {word}" for end, word in zip(ends, nexts, strict=True)]
    return "\n".join(lines)


class Growth(NamedTuple):
    """What one more word changes in a second layer, under each mask."""

    tokens: Tokens
    seed: int
    found: dict[str, Projections]

    def count_rows(self) -> tuple[str, dict[str, object]]:
        """How many old keys change under the full mask, and what the question names."""
        full, causal = (count_changed_rows(change.key) for change in self.found.values())
        last, rows = verbatim(self.tokens[-1]), len(self.tokens)
        return f"{full}", {"causal": causal, "added": verbatim(ADDED), "last": last, "rows": rows}

    @property
    def origin(self) -> str:
        """The badge of the picture."""
        return random_weights(self.seed, self.found["full"].key.device)


def find_growth(tokens: Tokens, seed: int) -> Growth:
    """One more word, and two layers whose weights are drawn at random."""
    return Growth(tokens, seed, measure_new_word(tokens, seed))


def draw_growing(tokens: Tokens, found: Mapping[str, Projections]) -> Figure:
    """What one more word changes in K and V of a second layer, under each mask."""
    drawn = [
        _make_change_matrix(f"{letter}, {_(name)}", getattr(change, role), tokens, role)
        for name, change in found.items()
        for letter, role in (("K", "key"), ("V", "value"))
    ]
    panels = [
        Panel(matrix.name, matrix, operator="" if n % 2 else " ")
        for n, matrix in enumerate(share_domain(*drawn))
    ]
    alt = _("What one more word changes in K and V of the second layer, full and causal.")
    return Figure(shrink_panels(panels, len(tokens)), alt)


def _make_change_matrix(name: str, change: Tensor, tokens: Tokens, role: str) -> Matrix:
    rows, columns = count_changed_rows(change), [str(n) for n in range(change.shape[1])]
    formula = _("new − old: {rows} of {all} rows change", rows=rows, all=len(tokens))
    return Matrix(
        name, formula, change.tolist(), tokens, columns, TOKEN_AXIS, FEATURE_AXIS, role=role
    )
