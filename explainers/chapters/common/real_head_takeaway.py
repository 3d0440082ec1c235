"""To take away: heads of real models, from the queries, keys and values."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from explainers.attention.position_bias import biased_attention
from explainers.attention.scaled_dot_product import attention
from explainers.attention.sinks import attention_with_sinks
from explainers.attention.softcap import capped_attention
from explainers.models.attention_hook import RecordedAttention
from explainers.takeaway.recipe import Recipe

if TYPE_CHECKING:
    from explainers.models.load import RealModel

Computed = dict[str, Tensor]


def compute_head(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Computed:
    """One head of the model, from what its layer handed to attention."""
    return attention(query, key, value, mask)._asdict()


def compute_capped_head(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor, cap: float
) -> Computed:
    """The same where no score is beyond the cap."""
    return capped_attention(query, key, value, mask, cap)._asdict()


def compute_biased_head(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor, bias: Tensor
) -> Computed:
    """The same where a learned number is added for every distance."""
    return biased_attention(query, key, value, mask, bias)._asdict()


def compute_head_with_sink(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor, sink: Tensor
) -> Computed:
    """The same where the head may also look at nothing."""
    result = attention_with_sinks(query[None], key[None], value[None], mask, sink)
    return {name: numbers[0] for name, numbers in result._asdict().items()}


COMPUTATIONS: dict[Callable[..., Any], Callable[..., Computed]] = {
    attention: compute_head,
    capped_attention: compute_capped_head,
    biased_attention: compute_biased_head,
    attention_with_sinks: compute_head_with_sink,
}


def find_computation(layer: RecordedAttention) -> Callable[..., Computed]:
    """What is written into the file for what this model adds to attention."""
    function: Any = layer.function
    return COMPUTATIONS[getattr(function, "func", function)]


def collect_inputs(layer: RecordedAttention, head: int) -> dict[str, Any]:
    """What went into one head, with what the model adds for it."""
    shared = head // (layer.query.shape[1] // layer.key.shape[1])
    inputs: dict[str, Any] = {"query": layer.query[0, head], "key": layer.key[0, shared]}
    inputs |= {"value": layer.value[0, shared], "mask": layer.mask[0, 0]}
    function: Any = layer.function
    extra = {
        name: _select_head(item, layer, head)
        for name, item in getattr(function, "keywords", {}).items()
    }
    return {name: to_cpu(item) for name, item in (inputs | extra).items()}


def _select_head(extra: Any, layer: RecordedAttention, head: int) -> Any:
    """A head's part of what was learned for all of them: a sink, or a table of biases."""
    if not isinstance(extra, Tensor):
        return extra
    heads = layer.query.shape[1]
    if extra.dim() == 1:
        return extra[head : head + 1]
    table = extra.expand(*extra.shape[:-3], heads, *extra.shape[-2:])
    return table.reshape(-1, *table.shape[-2:])[head]


def to_cpu(item: Any) -> Any:
    """As the file holds numbers: exactly, in float32."""
    if not isinstance(item, Tensor):
        return item
    return item.cpu() if item.dtype == torch.bool else item.detach().float().cpu()


def collect_results(layer: RecordedAttention, head: int) -> dict[str, Any]:
    """What came out of one head."""
    scores, weights, output = layer.scores, layer.weights, layer.output
    result = {"scores": scores, "weights": weights, "output": output}
    return {name: to_cpu(item[0, head]) for name, item in result.items()}


def make_head_recipe(title: str, layer: RecordedAttention, head: int) -> Recipe:
    """One head of a layer that was recorded."""
    return Recipe(
        title, find_computation(layer), collect_inputs(layer, head), collect_results(layer, head)
    )


def record_layer(
    loaded: "RealModel", number: int, ids: Tensor, changes: tuple[Any, ...] = ()
) -> RecordedAttention:
    """One layer of a run of the model; the others are not kept."""
    from explainers.models.attention_hook import run_model

    take = partial(_read_layer, number)
    layers = run_model(
        loaded.model, record=take, changes=changes, input_ids=ids, use_cache=False
    ).layers
    return next(layer for layer in layers if layer is not None)


def _read_layer(number: int, layer: RecordedAttention) -> RecordedAttention | None:
    return layer if layer.layer_index == number and layer.kind == "self" else None
