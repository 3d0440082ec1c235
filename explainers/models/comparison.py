"""The outputs of a model with our attention compared with those of its own attention."""

import copy
import functools
import math
import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor, nn

from explainers.attention.scaled_dot_product import attention
from explainers.attention.sinks_and_gates import attention_with_sinks
from explainers.models.attention_hook import (
    AttentionCall,
    Change,
    RecordedAttention,
    compute_changed,
    install_hook,
    run_model,
)
from explainers.models.changes import NoScaling, compute_divergence, compute_losses
from explainers.models.replaced_methods import restore_methods

if TYPE_CHECKING:
    from transformers import PreTrainedModel

OUTPUT_FIELDS = {
    "self": ("attentions", "decoder_attentions"),
    "encoder": ("encoder_attentions",),
    "cross": ("cross_attentions",),
}
"""Fields of transformers' output that hold the weights of each kind of attention."""


class Difference(NamedTuple):
    """The largest difference in one layer's weights, or in the model's output.

    `magnitude` is the largest number there, to which rounding errors are proportional. The output
    has no layer index.
    """

    kind: str
    layer_index: int | None
    largest: float
    magnitude: float


def measure_differences(
    model: "PreTrainedModel", *, num_decoded: int = 0, **inputs: Any
) -> list[Difference]:
    """Run a model that has our attention and its twin with transformers' "eager" attention.

    The last `num_decoded` tokens are read one at a time, with a KV cache. Rows of padding are left
    out: they may attend to nothing, and are never read.
    """
    twin = make_eager_twin(model)
    caches: list[dict[str, Any]] = [{}, {}]
    found = defaultdict(list)
    for arguments in split_passes(inputs, num_decoded):
        ours = run_model(model, **arguments, **caches[0])
        with torch.no_grad():
            theirs = twin(**arguments, **caches[1], output_attentions=True)
        for kind, layer_index, *numbers in compare_outputs(ours.output, ours.layers, theirs):
            found[kind, layer_index].append(numbers)
        if num_decoded:
            caches = [{"past_key_values": out.past_key_values} for out in (ours.output, theirs)]
    maxima = {key: torch.tensor(rows).amax(dim=0) for key, rows in found.items()}
    return [Difference(*key, *maximum.tolist()) for key, maximum in maxima.items()]


def make_eager_twin(model: "PreTrainedModel") -> Any:
    """Copy a model with its own attention; all weights are shared."""
    weights = [*model.parameters(), *model.buffers()]
    twin = copy.deepcopy(model, {id(weight): weight for weight in weights})
    if restore_methods(twin):
        twin.config._attn_implementation = "eager"
    twin.set_attn_implementation("eager")
    return twin


def split_passes(inputs: dict[str, Any], num_decoded: int) -> Iterator[dict[str, Any]]:
    """The inputs of each pass: first all tokens but the last few, then these one by one."""
    prefix = "decoder_" if "decoder_input_ids" in inputs else ""
    ids, mask = f"{prefix}input_ids", f"{prefix}attention_mask"
    length, start = inputs[ids].shape[1], 0
    for stop in range(length - num_decoded, length + 1):
        part = inputs | {ids: inputs[ids][:, start:stop]}
        part |= {"use_cache": True} if num_decoded else {}
        yield part | ({mask: inputs[mask][:, :stop]} if mask in inputs else {})
        start = stop


def compare_outputs(
    output: Any, layers: list[RecordedAttention], theirs: Any
) -> Iterator[Difference]:
    """The differences of one pass, layer by layer, then those of the output.

    Rows are compared that may attend to anything: those of padding on the left may not.
    """
    for kind, fields in OUTPUT_FIELDS.items():
        layers_of_kind = [layer for layer in layers if layer.kind == kind]
        weights = next((theirs[name] for name in fields if theirs.get(name)), ())
        if [layer.weights.shape for layer in layers_of_kind] != [
            getattr(one, "shape", None) for one in weights
        ]:
            continue  # a model may tell them in another form; then its output is compared
        for layer, expected in zip(layers_of_kind, weights, strict=True):
            numbers = compare_real_rows(drop_sink(layer, expected), expected, layer.mask.any(-1))
            yield Difference(kind, layer.layer_index, *numbers)
    name = "logits" if "logits" in output else "last_hidden_state"
    real_rows = [layer.mask.any(-1)[:, 0] for layer in layers if layer.kind == "self"][-1]
    rows_per_text = len(output[name]) // len(real_rows)  # music has several
    num_tokens = output[name].shape[1]  # a prompt of the model's own stands in front of them
    real_rows = real_rows.repeat_interleave(rows_per_text, dim=0)[:, -num_tokens:]
    yield Difference(name, None, *compare_real_rows(output[name], theirs[name], real_rows))


def drop_sink(layer: RecordedAttention, expected: Tensor) -> Tensor:
    """Our weights; divided by their sum where a model tells its own without the sink's share."""
    has_sink = getattr(layer.function, "func", None) is attention_with_sinks
    sums = expected.sum(dim=-1)
    is_without = torch.allclose(sums[layer.mask.any(-1).expand_as(sums)], sums.new_ones(()))
    if not (has_sink and is_without):
        return layer.weights
    return layer.weights / layer.weights.sum(dim=-1, keepdim=True)


def compare_real_rows(ours: Tensor, theirs: Tensor, real_rows: Tensor) -> tuple[float, float]:
    """The largest difference in rows that are not padding, and the largest of their numbers."""
    padding = ~real_rows[..., None]
    difference = (ours - theirs).masked_fill(padding, 0.0).abs().max()
    return float(difference), float(theirs.masked_fill(padding, 0.0).abs().max())


def measure_difference(model: Any, inputs: dict[str, Any]) -> float:
    """The largest of any weight or output from the model's own, as a share of the largest there."""
    return max(one.largest / one.magnitude for one in measure_differences(model, **inputs))


def measure_effect(model: Any, inputs: dict[str, Any], change: Change) -> float:
    """How much a change moves the output, as a share of its largest number."""
    changed = run_model(model, changes=[change], **inputs).output.logits
    logits = run_model(model, **inputs).output.logits
    return float((changed - logits).abs().max() / logits.abs().max())


def draw_weights(model: Any, seed: int) -> None:
    """Random ones far from 0, so that attention is far from uniform."""
    generator = torch.Generator().manual_seed(seed)
    for name, weight in model.named_parameters():
        is_idle = not weight.any()  # a factor of 0 would hide everything behind it
        if weight.dim() > 1 or is_idle or "sinks" in name or "bias" in name:
            weight.data = torch.randn(weight.shape, generator=generator) * 0.3


def draw_texts() -> dict[str, Tensor]:
    """Two texts of seven tokens, the first of them filled up with two on the left."""
    ids = torch.randint(4, 50, (2, 7), generator=torch.Generator().manual_seed(1))
    mask = torch.ones_like(ids)
    mask[0, :2] = 0
    return {"input_ids": ids, "attention_mask": mask}


@functools.cache
def compare_scaling() -> tuple[float, float]:
    """How far a tiny GPT-2 is from its own with our attention, and with ours without √d_k."""
    from transformers import GPT2Config, GPT2LMHeadModel

    sizes: Any = {"vocab_size": 64, "n_positions": 64, "n_embd": 48, "n_layer": 3, "n_head": 6}
    config = GPT2Config(**sizes, bos_token_id=1, eos_token_id=2)
    model: Any = GPT2LMHeadModel(config).eval()  # type: ignore[no-untyped-call]
    draw_weights(model, seed=4)
    install_hook(model)
    inputs = draw_texts()
    return measure_difference(model, inputs), measure_effect(model, inputs, NoScaling())


def locate_model(name: str) -> str:
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
        _changed, result = compute_changed(call, changes)
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

    where = locate_model(model)
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
