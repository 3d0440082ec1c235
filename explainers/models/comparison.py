"""Our attention in a model against the model's own, number by number."""

import copy
from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor

from explainers.models.attention_hook import RecordedAttention, run_model
from explainers.models.unhooked_families import LAYER_FORWARDS

if TYPE_CHECKING:
    from transformers import PreTrainedModel

OUTPUT_FIELDS = {
    "self": ("attentions", "decoder_attentions"),
    "encoder": ("encoder_attentions",),
    "cross": ("cross_attentions",),
}
"""What transformers calls the weights of each kind of attention."""


class Difference(NamedTuple):
    """Of a layer's weights, or of the model's output, how far any number is from the model's own.

    `number` is the layer's, `size` the largest number there is, which says what rounding costs.
    """

    kind: str
    layer_index: int | None
    largest: float
    magnitude: float


class LayerWeights(NamedTuple):
    """Of one layer, the weights, and which rows are not padding."""

    kind: str
    layer_index: int
    weights: Tensor
    real_rows: Tensor


def measure_differences(
    model: "PreTrainedModel", *, decoded: int = 0, **inputs: Any
) -> list[Difference]:
    """Run a model that has our attention, and a twin that has its own ("eager"); 0 is equal.

    The last `decoded` tokens are read one at a time, from a KV cache. Rows of padding that see
    nothing, and that nobody reads, are left out.
    """
    twin = make_eager_twin(model)
    kept: list[dict[str, Any]] = [{}, {}]
    found = defaultdict(list)
    for tokens in split_passes(inputs, decoded):
        ours = run_model(model, read=record_weights, **tokens, **kept[0])
        with torch.no_grad():
            theirs = twin(**tokens, **kept[1], output_attentions=True)
        for kind, number, largest, size in compare_outputs(ours.output, ours.layers, theirs):
            found[kind, number].append((largest, size))
        if decoded:
            kept = [{"past_key_values": out.past_key_values} for out in (ours.output, theirs)]
    largest_of = {place: torch.tensor(pairs).amax(dim=0) for place, pairs in found.items()}
    return [Difference(*place, *pair.tolist()) for place, pair in largest_of.items()]


def make_eager_twin(model: "PreTrainedModel") -> Any:
    """A twin that shares every weight of the model and has its own attention back."""
    weights = [*model.parameters(), *model.buffers()]
    twin = copy.deepcopy(model, {id(weight): weight for weight in weights})
    for module in twin.modules():
        if type(module).__name__ in LAYER_FORWARDS:
            del module.forward
            twin.config._attn_implementation = "eager"
    twin.set_attn_implementation("eager")
    return twin


def split_passes(inputs: dict[str, Any], decoded: int) -> Iterator[dict[str, Any]]:
    """The inputs of every pass: all tokens but the last few, then these one by one."""
    side = "decoder_" if "decoder_input_ids" in inputs else ""
    ids, mask = f"{side}input_ids", f"{side}attention_mask"
    length, start = inputs[ids].shape[1], 0
    for stop in range(length - decoded, length + 1):
        part = inputs | {ids: inputs[ids][:, start:stop]} | ({"use_cache": True} if decoded else {})
        yield part | ({mask: inputs[mask][:, :stop]} if mask in inputs else {})
        start = stop


def record_weights(layer: RecordedAttention) -> LayerWeights:
    """A row of padding sees nothing, where padding is on the left."""
    return LayerWeights(layer.kind, layer.layer_index, layer.weights, layer.mask.any(dim=-1))


def compare_outputs(output: Any, layers: list[LayerWeights], theirs: Any) -> Iterator[Difference]:
    """Of one pass."""
    for kind, names in OUTPUT_FIELDS.items():
        mine = [layer for layer in layers if layer.kind == kind]
        weights = next((theirs[name] for name in names if theirs.get(name)), ())
        for layer, expected in zip(mine, weights, strict=True):
            yield Difference(
                kind,
                layer.layer_index,
                *compare_real_rows(layer.weights, expected, layer.real_rows),
            )
    name = "logits" if "logits" in output else "last_hidden_state"
    real = [layer.real_rows[:, 0] for layer in layers if layer.kind == "self"][-1]
    yield Difference(name, None, *compare_real_rows(output[name], theirs[name], real))


def compare_real_rows(ours: Tensor, theirs: Tensor, real: Tensor) -> tuple[float, float]:
    """In the rows that are real: the largest difference, and the largest number of theirs."""
    padding = ~real[..., None]
    pair = (ours - theirs).masked_fill(padding, 0.0), theirs.masked_fill(padding, 0.0)
    difference, size = (float(numbers.abs().max()) for numbers in pair)
    return difference, size
