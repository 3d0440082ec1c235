"""Scores and weights under masks: of one head under every mask, of every head of a layer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from torch import Tensor

from explainers.attention import masks
from explainers.attention.rules import Rule
from explainers.attention.single_head import Projections, project
from explainers.attention.steps import Steps, attention_steps, hide, softmax
from explainers.chapters.common.choose_layer import name_layer_origin, read_layers
from explainers.chapters.common.one_head import OneHead
from explainers.chapters.common.sentence_reading import Reading
from explainers.charts.matrix import Values, blank_forbidden, make_pair_matrix
from explainers.toys.layers import Layer, Tokens
from explainers.translations import _
from explainers.ui import page
from explainers.ui.figure.panels import Panel, Source, orient_panels

ROUNDING = 1e-5
"""Sums of float32 in another order differ by about 1e-7."""


def count_changed_rows(change: Tensor, rounding: float = ROUNDING) -> int:
    """How many rows have a number that changed by more than rounding."""
    return int((change.abs() > rounding).any(dim=-1).sum())


FROM_SCORES = (Source("scores", row="row"),)
FEWEST = 3
"""With fewer words there is nothing to be asked."""
MOST_READ = 12
"""Of more words no two tables with digits stand side by side."""


@dataclass(frozen=True)
class Lab:
    """One head of a sentence, whose scores all masks begin with."""

    layer: Layer
    queries_down: bool

    @property
    def tokens(self) -> Tokens:
        """The words that look and are looked at."""
        return self.layer.tokens

    @cached_property
    def views(self) -> Projections:
        """What each word looks for, can be found by, and hands over."""
        return project(self.layer.x, self.layer.head())

    @cached_property
    def run(self) -> Steps:
        """One head of attention, nothing hidden."""
        return attention_steps(*self.views, self.mask(masks.full))

    @property
    def one_head(self) -> OneHead:
        """Every matrix of the head as plain numbers."""
        return OneHead.of(self.layer, self.views, self.run)

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

    def arranged(self, panels: Sequence[Panel]) -> list[Panel]:
        """Turned as the reader wants the queries to run, and miniatures of a long text."""
        return shrink_panels(orient_panels(panels, self.queries_down), len(self.tokens))

    @property
    def origin(self) -> str:
        """The badge of the pictures."""
        return self.origin_with()

    def origin_with(self, *others: str) -> str:
        """The badge of a picture for which the head reads other words as well."""
        return name_layer_origin(self.layer.reading((*self.tokens, *others)))


def read_labs(reading: Reading) -> tuple[Lab, Lab]:
    """The head that draws a picture, and one that is wide enough for its cards."""
    first, wide = read_layers(reading)
    return Lab(first, page.has_queries_down()), Lab(wide, page.has_queries_down())


def read_known_labs(reading: Reading, first: Lab, wide: Lab) -> tuple[Lab, Lab]:
    """The same heads where words may be changed, reading those that the small head knows."""
    reading.explain_known()
    return (first, wide) if reading.is_free else read_labs(reading.of_known())


def make_rules(numbers: Mapping[str, int]) -> dict[str, Rule]:
    """Every mask of the table by its name, those that have a number with that of the reader."""
    return {mask.name: mask.of(numbers.get(mask.name, mask.usual)) for mask in masks.MASKS}


def shrink_panels(panels: Sequence[Panel], words: int) -> list[Panel]:
    """Small panels if there are so many words that large ones would stand one below the other."""
    return [replace(panel, small=words > MOST_READ) for panel in panels]


def write_word_count(number: int) -> str:
    """So many words, in words."""
    return _("1 word") if number == 1 else _("{number} words", number=number)


def keep_allowed(values: Tensor, mask: Tensor) -> Values:
    """The numbers of the pairs that the mask allows; the others are blank."""
    return blank_forbidden(values.tolist(), mask.tolist())


def make_weight_panel(
    name: str, formula: str, weights: Tensor, mask: Tensor, tokens: Tokens
) -> Panel:
    """Weights with nothing where the mask forbids a pair."""
    matrix = make_pair_matrix(name, formula, keep_allowed(weights, mask), tokens, "weights")
    return Panel(name, matrix, sources=FROM_SCORES)


def name_by_head(name: str, each: Tensor) -> dict[str, Tensor]:
    """A matrix per head."""
    return {f"{name} {head}": numbers for head, numbers in enumerate(each)}


def choose_pair(tokens: Sequence[str]) -> tuple[int, int]:
    """Which word asks and which is asked: in the running sentence, announced asks CEO."""
    return min(2, len(tokens) - 1), min(1, len(tokens) - 1)
