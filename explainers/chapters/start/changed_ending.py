"""What changes for the other words when the sentence ends with another one."""

from explainers.attention import masks
from explainers.attention.scaled_dot_product import attention
from explainers.attention.single_head import project, single_head
from explainers.chapters.common import head_takeaway as taken
from explainers.chapters.common.choose_head import HeadChoices
from explainers.chapters.common.token_vectors import output, show_pair
from explainers.toys.examples import Toy, other_than
from explainers.translations import _
from explainers.ui.page import Prose
from explainers.ui.predict import revealed
from explainers.ui.source import show_source


def show_other_ending(text: Prose, choices: HeadChoices, toy: Toy, origin: str) -> None:
    """What the other words get when the last word is another one, under the causal mask."""
    causal = masks.build(masks.causal, *toy.mask.shape).to(toy.x.device)
    before = single_head(toy.x, toy.head, causal)
    others = (*choices.tokens[:-1], other_than(choices.tokens[-1]))
    new = choices.toy(others).x
    after = single_head(new, toy.head, causal)
    answer = f"{(before.output != after.output).any(dim=-1).sum()}"
    if revealed(text, "ending", ("0", "1", f"{len(choices.tokens)}"), answer):
        as_it_was = output(_("output"), choices.tokens, before.output)
        changed = output(_("new"), others, after.output)
        values = [project(x, toy.head).value.T for x in (toy.x, new)]
        factors = list(zip((before.weights, after.weights), values, strict=True))
        show_pair(as_it_was, changed, origin, "ending", factors=factors)
        show_source(single_head, attention)
        shown = {"output": before.output, "new": after.output}
        taken.another_ending(choices, toy, others, new, shown)
