"""To take away: the reader's text read by a model of transformers as it is, and changed."""

import math
import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from explainers.attention.scaled_dot_product import attention
from explainers.chapters.common.real_head_takeaway import make_head_recipe, record_layer
from explainers.models.attention_hook import AttentionCall, Change, compute_attention
from explainers.models.changes import AblatedHeads, compute_divergence, compute_losses
from explainers.models.replaced_methods import find_replacement
from explainers.takeaway.recipe import Recipe
from explainers.translations import _
from explainers.ui.takeaway_files import take
from explainers.ui.untrusted_text import verbatim

if TYPE_CHECKING:
    from explainers.models.load import RealModel


def find_model(name: str) -> str:
    """The folder in which the app keeps a model, if there is one; else its name on the hub."""
    store = os.environ.get("ATTENTION_MODELS") or "~/.cache/attention-step-by-step/models"
    folder = Path(store).expanduser() / name.replace("/", "--")
    return str(folder) if folder.is_dir() else name


def put_inside(model: Any, changes: Sequence[Change]) -> None:
    """Let a model of transformers call our attention, with changes, in the place of its own."""
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.masking_utils import sdpa_mask

    def attend(
        module: nn.Module,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attention_mask: Tensor,
        scaling: float,
        **_more: Any,
    ) -> tuple[Tensor, Tensor]:
        query = query * (scaling * math.sqrt(query.shape[-1]))  # ours divides by the root
        layer: Any = module.layer_idx
        call = AttentionCall("self", layer, None, attention, query, key, value, attention_mask)
        made = [change for change in changes if change.applies_to(call)]
        for change in made:
            call = change.change_inputs(call)
        result = compute_attention(call)
        for change in made:
            result = change.change_result(call, result)
        return result.output.transpose(1, 2).contiguous(), result.weights

    def make_mask(*arguments: Any, **options: Any) -> Any:
        options |= {"allow_is_causal_skip": False, "allow_is_bidirectional_skip": False}
        return sdpa_mask(*arguments, **options)

    AttentionInterface.register("changed", attend)
    AttentionMaskInterface.register("changed", make_mask)
    model.set_attn_implementation("changed")


def compare_runs(model: str, dtype: str, text: str, changes: list[Change]) -> dict[str, Any]:
    """Losses, divergences and the next token: by the model's own attention, then changed."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    where = find_model(model)
    tokenizer = AutoTokenizer.from_pretrained(where)
    own: Any = AutoModelForCausalLM.from_pretrained(
        where, dtype=getattr(torch, dtype), attn_implementation="eager"
    )
    own.eval()
    ids = tokenizer(text, return_tensors="pt").input_ids
    with torch.no_grad():
        before = own(ids, use_cache=False).logits.float().log_softmax(dim=-1)
        put_inside(own, changes)
        after = own(ids, use_cache=False).logits.float().log_softmax(dim=-1)
    found: dict[str, Any] = {"KL": compute_divergence(before, after)[0]}
    for end, run in (("", before), (", changed", after)):
        best = run[0, -1].max(dim=-1)
        found[f"next token{end}"] = tokenizer.decode([int(best.indices)])
        found[f"its probability{end}"] = best.values.exp()
        if ids.shape[1] > 1:  # of a single token nothing was predicted
            found[f"losses{end}"] = compute_losses(run, ids)[0]
            found[f"mean loss{end}"] = found[f"losses{end}"].mean()
    return found


def take_outcome(loaded: "RealModel", written: str, changes: tuple[Change, ...]) -> None:
    """All that the page says of these changes; of a model that transformers alone cannot change
    in this way, a head as it is."""
    title = _("Your text, as it is and changed")
    take("outcome", partial(_make_outcome, loaded, written, changes, title))


def _make_outcome(
    loaded: "RealModel", written: str, changes: tuple[Change, ...], title: str
) -> Recipe:
    from explainers.models.changes import MOST_TOKENS, measure_effect
    from explainers.models.token_text import tokenise_text

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
        shown |= {f"next token{end}": name, f"its probability{end}": shares[place]}
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
