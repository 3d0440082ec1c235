"""Whether our attention can be put inside one model, how far it is from its own, and its cost."""

import math
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import psutil
import torch

from explainers.device import choose_device
from explainers.messages import get_message
from explainers.models.attention_hook import find_linear_layers
from explainers.models.comparison import Difference, measure_differences
from explainers.models.hub import Report, fetch_model
from explainers.models.load import is_on_disk, load_model
from explainers.models.registry import READ_FOLDERS_VARIABLE, RefusedModelError, is_hub_id

if TYPE_CHECKING:
    from explainers.models.load import RealModel

CHECK_TEXT = "The CEO announced record earnings on Friday"
ROUNDINGS = 64
"""Of the largest number there: a larger difference is none of rounding."""


class HookCheck(NamedTuple):
    """What a check found out; `reason` says why our attention cannot be put in, else it is empty.

    Bytes: those of the weights, and by how much the process grew at most while it loaded the
    model and ran it twice, with our attention and with its own.
    """

    model: str
    provenance: str
    class_name: str
    dtype: str
    num_parameters: int
    num_tokens: int
    differences: list[Difference]
    linear_layers: list[int]
    reason: str
    weight_bytes: int
    peak_bytes: int

    @property
    def is_equal(self) -> bool:
        """Is every difference within rounding?"""
        eps = torch.finfo(getattr(torch, self.dtype)).eps
        return not self.reason and all(
            one.largest <= ROUNDINGS * eps * one.magnitude for one in self.differences
        )


def check_model(name: str, report: Report) -> HookCheck:
    """Fetch a model unless it is here, load it, and compare our attention in it with its own.

    Folders and the hub's cache are read: whoever starts a program owns its disk. Raises ModelError
    for what is no model; one that cannot have our attention is an answer.
    """
    is_folder = Path(name).expanduser().is_dir()
    if is_folder or is_hub_id(name):
        os.environ[READ_FOLDERS_VARIABLE] = "1"
    if is_folder:
        name = str(Path(name).expanduser().resolve())
    elif not is_on_disk(name):
        fetch_model(name, report)
    before = measure_used_bytes()
    try:
        real_model = load_model(name)
    except RefusedModelError as error:
        return refuse_model(name, str(get_message(error)))
    inputs = make_check_inputs(real_model)
    differences: list[Difference] = []
    reason = ""
    try:
        differences = measure_differences(real_model.model, **inputs)
    except ValueError as error:
        reason = str(get_message(error))
    model: Any = real_model.model
    return HookCheck(
        name,
        str(real_model.provenance),
        type(model).__name__,
        str(model.dtype).removeprefix("torch."),
        real_model.num_parameters,
        next(iter(inputs.values())).shape[-1],
        differences,
        sorted(find_linear_layers(model)),
        reason,
        sum(weight.nbytes for weight in model.parameters()),
        max(0, measure_peak_bytes() - before),
    )


def refuse_model(name: str, reason: str) -> HookCheck:
    """A model that was refused before it ran."""
    return HookCheck(name, "", "", "float32", 0, 0, [], [], reason, 0, 0)


def make_check_inputs(real_model: "RealModel") -> dict[str, Any]:
    """A sentence, or noise for a model that hears; and what a decoder has written so far."""
    model: Any = real_model.model
    ids = torch.tensor([real_model.tokenizer(CHECK_TEXT)["input_ids"]], device=model.device)
    ids = ids[:, : real_model.context_length]
    if not model.config.is_encoder_decoder:
        return {"input_ids": ids}
    start = torch.full_like(ids[:, :1], model.config.decoder_start_token_id)
    decoder_ids = torch.cat([start, ids[:, :3]], dim=1)
    if model.main_input_name != "input_features":
        return {"input_ids": ids, "decoder_input_ids": decoder_ids}
    frames = 2 * model.config.max_source_positions  # the encoder halves them
    generator = torch.Generator().manual_seed(0)
    sound = torch.randn(1, model.config.num_mel_bins, frames, generator=generator)
    sound = sound.to(model.device, model.dtype)
    return {"input_features": sound, "decoder_input_ids": decoder_ids}


def encode_check(check: HookCheck) -> dict[str, Any]:
    """The check as JSON has it."""
    rows = [
        {
            "kind": one.kind,
            "layer": one.layer_index,
            "largest": one.largest if math.isfinite(one.largest) else None,
            "magnitude": one.magnitude if math.isfinite(one.magnitude) else None,
        }
        for one in check.differences
    ]
    return check._asdict() | {"differences": rows, "is_equal": check.is_equal}


def describe_check(check: HookCheck) -> str:
    """The check as a page of plain text."""
    if not check.class_name:
        return f"{check.reason}"
    lines = [
        check.provenance,
        f"{check.class_name}, {check.num_parameters:,} parameters in {check.dtype}, "
        f"read {check.num_tokens} tokens",
    ]
    if check.reason:
        lines.append(f"Our attention cannot be put inside: {check.reason}")
    else:
        lines += ["", "  layer       largest difference   largest number", *list_rows(check), ""]
        lines.append(
            "Our attention is inside, and gives what the model's own gives."
            if check.is_equal
            else "Our attention is inside, and gives something else than the model's own."
        )
    if check.linear_layers:
        layers = ", ".join(map(str, check.linear_layers))
        lines.append(f"Layers {layers} are linear attention: they have no weights to compare.")
    lines.append(
        f"Memory: {say_megabytes(check.weight_bytes)} of weights; the process grew by at most "
        f"{say_megabytes(check.peak_bytes)} for loading the model and running it twice."
    )
    return "\n".join(lines)


def list_rows(check: HookCheck) -> list[str]:
    """A line for every layer, and one for the output."""
    names = [
        "output" if one.layer_index is None else f"{one.kind} {one.layer_index}"
        for one in check.differences
    ]
    return [
        f"  {name:<12}{one.largest:>18.1e}{one.magnitude:>17.3g}"
        for name, one in zip(names, check.differences, strict=True)
    ]


def say_megabytes(num_bytes: int) -> str:
    """Millions of bytes."""
    return f"{num_bytes / 1e6:,.1f} MB"


def measure_used_bytes() -> int:
    """The memory that this process holds now, in bytes: of the GPUs if there are any, else RAM."""
    if choose_device().type == "cuda":
        torch.cuda.reset_peak_memory_stats()
        return torch.cuda.memory_allocated()
    return int(psutil.Process().memory_info().rss)


def measure_peak_bytes() -> int:
    """The most that this process ever held, in bytes; of the GPUs, since they were last asked."""
    if choose_device().type == "cuda":
        return torch.cuda.max_memory_allocated()
    memory = psutil.Process().memory_info()
    if hasattr(memory, "peak_wset"):  # Windows
        return int(memory.peak_wset)
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
