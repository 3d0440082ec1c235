"""What changes for the other words when the sentence ends with another one."""

from torch import Tensor

from explainers.attention import masks
from explainers.attention.scaled_dot_product import Attention, attention
from explainers.attention.single_head import project, single_head
from explainers.chapters.common.token_vectors import make_output_matrix, show_matrix_pair
from explainers.takeaway.recipe import Recipe
from explainers.toys.examples import choose_other_word
from explainers.toys.layers import Layer
from explainers.translations import _
from explainers.ui.page import Prose
from explainers.ui.prediction import revealed
from explainers.ui.source import show_source
from explainers.ui.takeaway_files import take


def read_both(layer: Layer, other: Layer) -> tuple[Attention, Attention]:
    """What the words get, and what they get if the sentence ends otherwise; causal."""
    causal = masks.build(masks.causal, *layer.mask.shape).to(layer.x.device)
    head = layer.head()
    return single_head(layer.x, head, causal), single_head(other.x, head, causal)


def both_endings(layer: Layer, other: Layer) -> dict[str, Tensor]:
    """The outputs of both readings."""
    before, after = read_both(layer, other)
    return {"output": before.output, "new": after.output}


def show_other_ending(text: Prose, layer: Layer, origin: str) -> None:
    """What the other words get when the last word is another one, under the causal mask."""
    tokens = layer.tokens
    other = layer.reading((*tokens[:-1], choose_other_word(tokens[-1])))
    before, after = read_both(layer, other)
    answer = f"{(before.output != after.output).any(dim=-1).sum()}"
    if revealed(text, "ending", ("0", "1", f"{len(tokens)}"), answer):
        old_output = make_output_matrix(_("output"), tokens, before.output)
        new_output = make_output_matrix(_("new"), other.tokens, after.output)
        values = [project(x, layer.head()).value.T for x in (layer.x, other.x)]
        factors = list(zip((before.weights, after.weights), values, strict=True))
        show_matrix_pair(old_output, new_output, origin, "ending", factors=factors)
        show_source(single_head, attention)
        inputs = {"layer": layer, "other": other}
        take("ending", Recipe(_("Another ending"), both_endings, inputs, both_endings(**inputs)))
