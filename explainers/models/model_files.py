"""A model's folder and the memory that is free for it, before it is loaded; then what is read.

>>> list(iterate_layer_counts({"num_hidden_layers": 2, "text_config": {"num_layers": 3}}))
[2, 3]
>>> estimate_bytes(1_000), estimate_bytes(1_000, torch.bfloat16)
(4400, 2200)
"""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import psutil
import torch
from safetensors import SafetensorError, safe_open

from explainers.device import choose_device
from explainers.messages import get_message
from explainers.models.registry import ModelError, refuse_code

DTYPES = torch.float32, torch.bfloat16
"""float32 wherever it fits: so a link shows the same numbers everywhere."""
OVERHEAD = 1.1
"""The memory of loading and one short run, as a multiple of the weights."""
_LIMITS = {
    "/sys/fs/cgroup/memory.max": "/sys/fs/cgroup/memory.current",
    "/sys/fs/cgroup/memory/memory.limit_in_bytes": "/sys/fs/cgroup/memory/memory.usage_in_bytes",
}
"""Files with the memory that a container may use, and with what it uses now."""


def estimate_bytes(num_parameters: int, dtype: torch.dtype = DTYPES[0]) -> int:
    """The memory that a model of this size takes, in bytes."""
    return int(num_parameters * dtype.itemsize * OVERHEAD)


def measure_free_bytes() -> int:
    """The bytes that this process can still take on all GPUs if there are any, else of the RAM."""
    if choose_device().type == "cuda":
        return sum(torch.cuda.mem_get_info(gpu)[0] for gpu in range(torch.cuda.device_count()))
    limits = [psutil.virtual_memory().available]
    for limit, used in _LIMITS.items():
        if Path(limit).exists() and (maximum := Path(limit).read_text().strip()).isdigit():
            limits.append(int(maximum) - int(Path(used).read_text()))
    return max(0, min(limits))


def choose_dtype(name: str, num_parameters: int) -> torch.dtype:
    """The most exact numbers that fit; refuses a model that does not fit, before it is loaded."""
    available = measure_free_bytes()
    for dtype in DTYPES:
        if estimate_bytes(num_parameters, dtype) <= available:
            return dtype
    raise ModelError(
        "{model} has {parameters:,} parameters. In numbers of 16 bits it needs {takes:.1f} GB "
        "of memory, and {left:.1f} GB are free here.",
        model=name,
        parameters=num_parameters,
        takes=estimate_bytes(num_parameters, DTYPES[-1]) / 1e9,
        left=available / 1e9,
    )


CLASS_TABLES = (
    "MODEL_FOR_CAUSAL_LM_MAPPING_NAMES",
    "MODEL_FOR_MASKED_LM_MAPPING_NAMES",
    "MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES",
    "MODEL_FOR_SPEECH_SEQ_2_SEQ_MAPPING_NAMES",
    "MODEL_MAPPING_NAMES",
)
"""Where transformers lists the classes of each kind; last those without an output layer."""


def find_class_name(name: str, config: dict[str, Any]) -> str:
    """The class that the model was saved from, if transformers lists it for its type."""
    from transformers.models.auto import modeling_auto

    family, saved = config.get("model_type"), config.get("architectures")
    classes: list[str] = []
    for table in CLASS_TABLES:
        names = getattr(modeling_auto, table).get(str(family), ())
        classes += [names] if isinstance(names, str) else names
    if not classes:
        raise ModelError(
            "{model} is a “{family}”, which is no model of text that we know.",
            model=name,
            family=family,
        )
    class_name = saved[0] if isinstance(saved, list) and saved else None
    return class_name if class_name in classes else classes[-1]


PICKLE_PATTERNS = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl", "*.h5", "*.msgpack")
MOST_JSON_BYTES = 20_000_000
"""Bytes. The largest that is read here lists the tensors of a model; tokenizers are not read."""
MOST_BYTES = {"config.json": 2_000_000, "tokenizer.json": 64_000_000, "tokenizer.model": 16_000_000}
"""Of files that transformers reads as a whole; published ones reach half of it."""
MOST_HEADER_BYTES = 8_000_000
"""Of a file of weights: the names and places of 60,000 tensors."""
PACKED_DTYPES = {"I8", "F8_E4M3", "F8_E5M2"}
"""Of tensors, as safetensors writes them."""
MOST_LABELS = 100_000
"""A model that sorts into classes takes memory for each before anything of it is read."""


class CheckedFolder(NamedTuple):
    """A folder that holds a model of a kind that transformers knows, whole and without code."""

    config: dict[str, Any]
    num_parameters: int


def check_folder(folder: Path) -> CheckedFolder:
    """Look at everything but the numbers themselves; raise what is wrong."""
    # A pipe, a device or a link to nothing: reading may never end.
    odd = sorted(one.name for one in folder.iterdir() if not one.is_file() and not one.is_dir())
    if odd:
        raise ModelError("{model}: {file} is no file.", model=folder.name, file=odd[0])
    for name, most in MOST_BYTES.items():
        refuse_large_file(folder / name, most)
    config = read_json(folder / "config.json")
    for settings in (config, read_json(folder / "tokenizer_config.json", is_required=False)):
        if "auto_map" in settings:
            raise refuse_code(folder.name)
    labels = config.get("num_labels", 0)
    if isinstance(labels, int) and labels > MOST_LABELS:
        raise ModelError(
            "{model}: num_labels is {labels:,}, and at most {most:,} are read.",
            model=folder.name,
            labels=labels,
            most=MOST_LABELS,
        )
    if config.get("quantization_config"):
        raise refuse_quantised(folder.name)
    sizes = [size for file in list_weight_files(folder) for size in read_tensor_sizes(file)]
    layers = max(iterate_layer_counts(config), default=0)
    if layers > len(sizes):
        raise ModelError(
            "{model} is not whole: it speaks of {layers:,} layers and has weights for fewer.",
            model=folder.name,
            layers=layers,
        )
    return CheckedFolder(config, sum(sizes))


def refuse_large_file(file: Path, most: int) -> None:
    """Raise that a file would take memory or time before it is looked at."""
    size = file.stat().st_size if file.is_file() else 0
    if size > most:
        raise ModelError(
            "{model}: {file} has {size:,} bytes, and at most {most:,} are read.",
            model=file.parent.name,
            file=file.name,
            size=size,
            most=most,
        )


def refuse_quantised(model: str) -> ModelError:
    """The refusal of a model whose weights mean something only with scales beside them."""
    return ModelError(
        "{model} is quantised, and our attention reads weights as they were published. Name "
        "the model that it was made from.",
        model=model,
    )


def iterate_layer_counts(settings: dict[str, Any]) -> Iterator[int]:
    """How many layers would be built of a configuration, whatever the files hold."""
    for name, value in settings.items():
        if isinstance(value, dict):
            yield from iterate_layer_counts(value)
        # Qwen's max_window_layers says which layers are local, and may be more than there are.
        elif isinstance(value, int) and name.endswith(("layer", "layers")) and "max" not in name:
            yield value


def list_weight_files(folder: Path) -> list[Path]:
    """The safetensors of a model, all of them there."""
    index = read_json(folder / "model.safetensors.index.json", is_required=False)
    weight_map = index.get("weight_map", {"": "model.safetensors"})
    names = sorted(set(map(str, weight_map.values()))) if isinstance(weight_map, dict) else []
    if not names or any(Path(n).name != n or not n.endswith(".safetensors") for n in names):
        raise ModelError(
            "{model}: its list of weights names files outside its folder.", model=folder.name
        )
    missing = [name for name in names if not (folder / name).is_file()]
    pickled = sorted(file.name for pattern in PICKLE_PATTERNS for file in folder.glob(pattern))
    if missing and pickled:
        raise ModelError(
            "{model} has its weights as {file}. Such files can run code when they are "
            "read: only safetensors are.",
            model=folder.name,
            file=pickled[0],
        )
    if missing:
        raise ModelError(
            "{model} is not whole: {file} is missing. Fetch it again.",
            model=folder.name,
            file=missing[0],
        )
    return [folder / name for name in names]


def read_tensor_sizes(file: Path) -> list[int]:
    """How many numbers each tensor has, from the header; a file that was cut off has none."""
    try:
        with file.open("rb") as begun:
            length = int.from_bytes(begun.read(8), "little")
        if min(length, file.stat().st_size) > MOST_HEADER_BYTES:  # else it was cut off
            raise ModelError(
                "{file} names too many tensors: its header has {size:,} bytes, and at most "
                "{most:,} are read.",
                file=file.name,
                size=length,
                most=MOST_HEADER_BYTES,
            )
        with safe_open(file, framework="pt") as tensors:
            slices = [tensors.get_slice(name) for name in tensors.offset_keys()]
            if any(one.get_dtype() in PACKED_DTYPES for one in slices):
                raise refuse_quantised(file.parent.name)
            return [math.prod(one.get_shape()) for one in slices]
    except (SafetensorError, OSError) as error:
        raise ModelError(
            "{file} is not whole, or not safetensors: {why}", file=file.name, why=get_message(error)
        ) from None


def read_json(file: Path, is_required: bool = True) -> dict[str, Any]:
    """An object from a file; an empty one if the file is missing and may be."""
    if not file.is_file():
        if is_required:
            raise ModelError(
                "{model} is not a model: it has no {file}.", model=file.parent.name, file=file.name
            )
        return {}
    refuse_large_file(file, MOST_JSON_BYTES)
    try:
        content = json.loads(file.read_bytes())
    except (ValueError, RecursionError):
        raise ModelError(
            "{model}: {file} is not JSON.", model=file.parent.name, file=file.name
        ) from None
    if not isinstance(content, dict):
        raise ModelError(
            "{model}: {file} is no JSON object.", model=file.parent.name, file=file.name
        )
    return content


MOST_ERROR_CHARACTERS = 200
"""Characters of another library's error that a reader gets."""
PANIC = "PanicException"
"""What a library that is written in Rust raises: a class of its own in each of them."""
UNBOUNDED = 10**9
"""A tokenizer that knows no limit says 10^30."""


def load_parts(name: str, folder: Path, checked: CheckedFolder) -> tuple[Any, Any]:
    """The model and its tokenizer; a model with missing weights would be one with random ones."""
    import transformers

    device = choose_device()
    # Where there are several GPUs, transformers has a plan of its own.
    has_several = device.type == "cuda" and torch.cuda.device_count() > 1
    try:
        model_class = getattr(transformers, find_class_name(name, checked.config))
        config = model_class.config_class.from_pretrained(folder, local_files_only=True)
        # A file may name another attention, which transformers would fetch from the hub and run.
        config._attn_implementation = config._experts_implementation = "eager"
        with torch.device("meta"):  # sizes without memory: more may be asked for than files hold
            count = sum(parameter.numel() for parameter in model_class(config).parameters())
        dtype = choose_dtype(name, max(count, checked.num_parameters))
        model, report = model_class.from_pretrained(
            folder,
            config=config,
            attn_implementation="eager",
            use_kernels=False,
            use_safetensors=True,
            trust_remote_code=False,
            local_files_only=True,
            dtype=dtype,
            device_map="auto" if has_several else None,
            output_loading_info=True,
        )
        tokenizer = transformers.AutoTokenizer.from_pretrained(
            folder, trust_remote_code=False, local_files_only=True
        )
    except (ModelError, KeyboardInterrupt):
        raise
    except BaseException as error:  # a folder may hold anything, and Rust panics are no Exception
        reason = str(error).strip().partition("\n")[0][:MOST_ERROR_CHARACTERS]
        raise ModelError(
            "{model} cannot be loaded: {why}", model=name, why=reason or type(error).__name__
        ) from error
    if report["missing_keys"] or report["mismatched_keys"]:
        first = sorted(map(str, [*report["missing_keys"], *report["mismatched_keys"]]))[0]
        raise ModelError("{model} is not whole: its files lack {first}.", model=name, first=first)
    refuse_panics(name, tokenizer)
    return model if has_several else model.to(device), tokenizer


def refuse_panics(name: str, tokenizer: Any) -> None:
    """From here on it raises a ModelError where Rust panics, which is no `Exception`.

    Whoever reads a text with it would else lose the run, its page and the turn of others.
    """
    kind = type(tokenizer)

    def read(self: Any, *arguments: Any, **settings: Any) -> Any:
        try:
            return kind.__call__(self, *arguments, **settings)
        except BaseException as error:
            if isinstance(error, Exception) or type(error).__name__ != PANIC:
                raise
            raise ModelError("{model}: its tokenizer crashed.", model=name) from None

    inside = {"__call__": read, "__module__": kind.__module__}
    tokenizer.__class__ = type(kind.__name__, (kind,), inside)


def find_context_length(model: Any, tokenizer: Any) -> int | None:
    """The least that configuration and tokenizer say: RoBERTa counts two positions too many, and
    XLNet, which has no limit, says -1."""
    positions = getattr(model.config, "max_position_embeddings", None)
    limits = (positions, tokenizer.model_max_length)
    return min((limit for limit in limits if limit and 0 < limit < UNBOUNDED), default=None)
