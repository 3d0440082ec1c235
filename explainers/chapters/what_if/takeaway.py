"""To take away: the reader's text read by a model of transformers as it is, and changed."""

from functools import partial
from typing import TYPE_CHECKING, Any

from explainers.attention.scaled_dot_product import attention
from explainers.chapters.common.real_head_takeaway import make_head_recipe, record_layer
from explainers.models.attention_hook import Change
from explainers.models.changes import AblatedHeads
from explainers.models.comparison import compare_runs
from explainers.models.replaced_methods import find_replacement
from explainers.takeaway.recipe import Recipe
from explainers.translations import _
from explainers.ui.takeaway_files import take
from explainers.ui.untrusted_text import verbatim

if TYPE_CHECKING:
    from explainers.models.load import RealModel


def take_outcome(loaded: "RealModel", written: str, changes: tuple[Change, ...]) -> None:
    """All that the page says of these changes; of a model that transformers alone cannot change
    in this way, a head as it is."""
    title = _("Your text, as it is and changed")
    take("outcome", partial(_make_outcome, loaded, written, changes, title))


def _make_outcome(
    loaded: "RealModel", written: str, changes: tuple[Change, ...], title: str
) -> Recipe:
    from explainers.models.changes import MOST_TOKENS, measure_effect
    from explainers.models.token_text import is_part_of_letter, tokenise_text

    ids, _unused = tokenise_text(loaded, written, MOST_TOKENS)
    first = record_layer(loaded, min(map(_find_first_layer, changes)), ids)
    own_way = any(find_replacement(module) for module in loaded.model.modules())
    if first.function is not attention or own_way:
        title = _("Layer {layer}, as it is", layer=first.layer_index)
        return make_head_recipe(title, first, 0)
    effect = measure_effect(loaded, written, changes)
    shown: dict[str, Any] = {"KL": effect.divergences}
    for place, end in enumerate(("", ", changed")):
        name, *shares = max(effect.next_tokens, key=lambda one: one[1 + place])
        shown[f"its probability{end}"] = shares[place]
        if not is_part_of_letter(name):  # a page writes its bytes, a file cannot
            shown[f"next token{end}"] = name
        if losses := effect.losses[place]:
            shown |= {f"losses{end}": losses, f"mean loss{end}": effect.mean_losses[place]}
    dtype = str(loaded.model.dtype).removeprefix("torch.")
    given = {"model": loaded.name, "dtype": dtype, "text": written, "changes": [*changes]}
    remark = _(
        "The model here: {model}. With other weights of this model the numbers are others.",
        model=verbatim(loaded.provenance),
    )
    return Recipe(title, compare_runs, given, shown, remark=remark, libraries=("transformers",))


def _find_first_layer(change: Change) -> int:
    """The first layer in which something is changed."""
    if isinstance(change, AblatedHeads):
        return min(layer for layer, _unused in change.heads)
    return 0 if change.layers is None else min(change.layers)
