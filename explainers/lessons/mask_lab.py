"""One score matrix under every mask: what all sections of the page look at."""

from dataclasses import dataclass, replace
from functools import cached_property

from torch import Tensor

from explainers import examples, trained
from explainers.attention import masks
from explainers.attention.masks import Rule
from explainers.attention.reach import cells
from explainers.attention.single_head import Projections, project
from explainers.attention.steps import Steps, attention_steps, hide, softmax
from explainers.charts.matrix import Matrix, Values
from explainers.charts.theme import KEY_AXIS, QUERY_AXIS
from explainers.examples import Toy
from explainers.lessons.one_head import OneHead
from explainers.ui.panels import Panel, Source
from explainers.ui.provenance import random_weights, trained_weights

Tokens = tuple[str, ...]
FROM_SCORES = (Source("scores", row="row"),)
D_MODEL, D_K = 8, 4
"""The scores of the first page, as it opens."""
TRAINED_D_K = 16


@dataclass(frozen=True)
class Lab:
    """A sentence with the scores that all masks begin with."""

    tokens: Tokens
    is_trained: bool
    seed: int
    queries_down: bool

    def toy(self, tokens: Tokens) -> Toy:
        """A sentence, this one or another, and the one head that reads them all."""
        if self.is_trained:
            return trained.single_toy(tokens, *self._trained)
        return examples.toy(tokens, D_MODEL, D_K, "full", self.seed)

    @cached_property
    def views(self) -> Projections:
        """What each word looks for, can be found by, and hands over."""
        x, head, _ = self.toy(self.tokens)
        return project(x, head)

    @cached_property
    def run(self) -> Steps:
        """One head of attention, nothing hidden."""
        return attention_steps(*self.views, self.mask(masks.full))

    @property
    def one_head(self) -> OneHead:
        """Every matrix of the head as plain numbers."""
        x, head, _ = self.toy(self.tokens)
        return OneHead.of(self.tokens, x, head, self.views, self.run)

    @property
    def scores(self) -> Tensor:
        """How well each query matches each key, for every mask the same."""
        return self.run.scores

    def mask(self, rule: Rule) -> Tensor:
        """Who may look at whom among the words."""
        length = len(self.tokens)
        return masks.build(rule, length, length).to(self.views.query.device)

    def weights(self, rule: Rule) -> Tensor:
        """The shares that the scores give under a mask."""
        return softmax(hide(self.scores, self.mask(rule)))

    def drawn(self, name: str, rule: Rule) -> Panel:
        """The weights under a mask, with the number of cells that are left."""
        mask = self.mask(rule)
        return weight_panel(name, f"{counted(mask)} cells", self.weights(rule), mask, self.tokens)

    @property
    def unknown(self) -> Tokens:
        """Words that training never saw."""
        if not self.is_trained:
            return ()
        return trained.trained_toy(self.tokens, 1, 1, *self._trained).unknown

    @property
    def origin(self) -> str:
        """The badge of the pictures."""
        device = self.views.query.device
        if self.is_trained:
            return trained_weights(self._trained[-1], len(self.unknown), device)
        return random_weights(self.seed, device)

    @property
    def _trained(self) -> tuple[int, str, int]:
        return TRAINED_D_K, "full", self.seed % len(trained.SEEDS)


def rules_of(width: int, prefix: int) -> dict[str, Rule]:
    """The masks that stand side by side."""
    return {
        "full": masks.full,
        "causal": masks.causal,
        "window": masks.sliding_window(width),
        "prefix": masks.prefix(prefix),
    }


def counted(mask: Tensor) -> str:
    """How many pairs a mask leaves, of how many."""
    return f"{cells(mask)} of {mask.numel()}"


def visible(values: Tensor, mask: Tensor) -> Values:
    """The numbers of the pairs that the mask allows; the others are blank."""
    return [
        [value if allowed else None for value, allowed in zip(*lines, strict=True)]
        for lines in zip(values.tolist(), mask.tolist(), strict=True)
    ]


def pairs(name: str, formula: str, values: Values, tokens: Tokens) -> Matrix:
    """A number for every query and key, or none."""
    return Matrix(name, formula, values, tokens, tokens, QUERY_AXIS, KEY_AXIS)


def ticked(name: str, formula: str, mask: Tensor, tokens: Tokens) -> Matrix:
    """A 1 for every pair that is allowed."""
    matrix = pairs(name, formula, visible(mask.int(), mask), tokens)
    return replace(matrix, kind="weights", blank="·", places=0)


def weight_panel(name: str, formula: str, weights: Tensor, mask: Tensor, tokens: Tokens) -> Panel:
    """Weights with nothing where the mask forbids a pair."""
    matrix = pairs(name, formula, visible(weights, mask), tokens)
    return Panel(name, replace(matrix, kind="weights", blank="0"), sources=FROM_SCORES)
