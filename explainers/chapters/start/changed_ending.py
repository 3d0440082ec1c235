"""What changes for the other words when the sentence ends with another one."""

from typing import NamedTuple

from torch import Tensor

from explainers.attention import masks
from explainers.attention.scaled_dot_product import Attention, attention
from explainers.attention.single_head import project, single_head
from explainers.chapters.common.token_vectors import make_output_matrix, show_matrix_pair
from explainers.takeaway.recipe import Recipe
from explainers.toys.grammar import choose_other_ending
from explainers.toys.layers import Layer
from explainers.translations import _
from explainers.ui.source import show_source
from explainers.ui.takeaway_files import take


def read_both(layer: Layer, other: Layer) -> tuple[Attention, Attention]:
    """What the words get, and what they get if the sentence ends otherwise; causal."""
    causal = masks.build(masks.causal, *layer.mask.shape).to(layer.x.device)
    head = layer.head()
    return single_head(layer.x, head, causal), single_head(other.x, head, causal)


def compute_both_endings(layer: Layer, other: Layer) -> dict[str, Tensor]:
    """The outputs of both readings."""
    before, after = read_both(layer, other)
    return {"output": before.output, "new": after.output}


class Endings(NamedTuple):
    """A sentence and the same with another last word, read by one head."""

    layer: Layer
    other: Layer

    def count_changed_rows(self) -> int:
        """How many rows of the output differ, under the causal mask."""
        before, after = read_both(*self)
        return int((before.output != after.output).any(dim=-1).sum())


def replace_ending(layer: Layer) -> Endings:
    """The same heads, and a sentence whose last word is another one."""
    tokens = layer.tokens
    return Endings(layer, layer.reading((*tokens[:-1], choose_other_ending(tokens))))


def draw_both_endings(endings: Endings, origin: str) -> None:
    """The outputs of both readings, side by side; a click shows how a number was made."""
    layer, other = endings
    before, after = read_both(layer, other)
    old_output = make_output_matrix(_("output"), layer.tokens, before.output)
    new_output = make_output_matrix(_("new"), other.tokens, after.output)
    values = [project(x, layer.head()).value.T for x in (layer.x, other.x)]
    factors = list(zip((before.weights, after.weights), values, strict=True))
    show_matrix_pair(old_output, new_output, origin, "ending", factors=factors)
    show_source(single_head, attention)
    inputs = endings._asdict()
    take(
        "ending",
        Recipe(_("Another ending"), compute_both_endings, inputs, compute_both_endings(**inputs)),
    )
