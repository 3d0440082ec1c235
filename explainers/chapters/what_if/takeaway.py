"""To take away: the first layer that is changed, as it is and changed."""

from functools import partial
from typing import TYPE_CHECKING

from torch import Tensor

from explainers.attention.scaled_dot_product import attention
from explainers.chapters.common.real_head_takeaway import make_head_recipe, record_layer, to_cpu
from explainers.models.attention_hook import AttentionCall, Change, compute_attention
from explainers.models.changes import AblatedHeads
from explainers.takeaway.recipe import Recipe
from explainers.translations import _
from explainers.ui.takeaway_files import take

if TYPE_CHECKING:
    from explainers.models.load import RealModel


def compute_before_and_after(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor, number: int, changes: list[Change]
) -> dict[str, Tensor]:
    """All heads of one layer: what the model computes there, and what it computes changed."""
    call = AttentionCall(
        "self", number, None, attention, query[None], key[None], value[None], mask[None]
    )
    before = compute_attention(call)
    made = [change for change in changes if change.applies_to(call)]
    for change in made:
        call = change.change_inputs(call)
    after = compute_attention(call)
    for change in made:
        after = change.change_result(call, after)
    found = {"weights": before.weights, "weights, changed": after.weights}
    found |= {"output": before.output, "output, changed": after.output}
    return {name: numbers[0] for name, numbers in found.items()}


def take_outcome(loaded: "RealModel", written: str, changes: tuple[Change, ...]) -> None:
    """Up to the first changed layer both runs are the same, so its inputs are."""
    first = min(map(_find_first_layer, changes))
    title = _("Layer {layer}, as it is and changed", layer=first)
    take("outcome", partial(_make_outcome, loaded, written, changes, first, title))


def _find_first_layer(change: Change) -> int:
    """The first layer in which something is changed."""
    if isinstance(change, AblatedHeads):
        return min(layer for layer, _unused in change.heads)
    return 0 if change.layers is None else min(change.layers)


def _make_outcome(
    loaded: "RealModel", written: str, changes: tuple[Change, ...], first: int, title: str
) -> Recipe:
    from explainers.models.changes import MOST_TOKENS
    from explainers.models.token_text import tokenise_text

    ids, _unused = tokenise_text(loaded, written, MOST_TOKENS)
    before, after = record_layer(loaded, first, ids), record_layer(loaded, first, ids, changes)
    if before.function is not attention:  # what this model adds is in no change: a head as it is
        return make_head_recipe(title, before, 0)
    inputs = {name: to_cpu(getattr(before, name)[0]) for name in ("query", "key", "value")}
    shown = {"weights": before.weights, "weights, changed": after.weights}
    shown |= {"output": before.output, "output, changed": after.output}
    return Recipe(
        title,
        compute_before_and_after,
        {**inputs, "mask": to_cpu(before.mask[0]), "number": first, "changes": [*changes]},
        {name: to_cpu(numbers[0]) for name, numbers in shown.items()},
    )
