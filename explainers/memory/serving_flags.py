"""Flags of inference engines that follow from a plan: each with the number it comes from.

Spellings as in vLLM's `CacheConfig` and `SchedulerConfig`, SGLang's `ServerArgs` and docs/
advanced_features/hybrid_model_memory.md, llama.cpp's tools/server/README.md and transformers 5's
cache_utils.py.
"""

from dataclasses import dataclass

from explainers.memory.engines import (
    LLAMA_CPP,
    LLAMA_CPP_STEP,
    MERGED_PAGE,
    SGLANG,
    SGLANG_BUDGET,
    STATE_SLOTS,
    TOKEN_BUDGET,
    TRANSFORMERS,
    VLLM,
    count_engine_room,
    count_engine_text,
    find_window_share,
    has_packed_rows,
    merges_rows,
    needs_packed_rows,
    round_static_share,
    round_up_slots,
)
from explainers.memory.serving import Deployment
from explainers.memory.sharding import count_stored_copies
from explainers.messages import N_, Message

COMMANDS = {
    VLLM: "vllm serve MODEL",
    SGLANG: "python -m sglang.launch_server --model-path MODEL",
    LLAMA_CPP: "llama-server --model MODEL.gguf",
}
RESIDUAL_BITS = {"int4_residual": (4, 64), "int2_residual": (2, 32)}
"""Bits of a number, and numbers that share a scale, in a quantized cache of transformers."""
CACHE_NAMES = {
    VLLM: {
        **dict.fromkeys(("bfloat16", "float16"), "auto"),
        "fp8": "fp8",
        "fp8_per_head": "fp8_per_token_head",
        "int8_per_head": "int8_per_token_head",
        "nvfp4": "nvfp4",
    },
    SGLANG: {"bfloat16": "bfloat16", "float16": "auto", "fp8": "fp8_e4m3"},
    LLAMA_CPP: {
        "float32": "f32",
        "bfloat16": "bf16",
        "float16": "f16",
        **{name: name for name in ("q8_0", "q5_1", "q5_0", "q4_1", "q4_0")},
    },
    TRANSFORMERS: {name: name for name in ("bfloat16", "float16", *RESIDUAL_BITS)},
}
"""What each engine calls the formats of a cache that it can store."""


@dataclass(frozen=True)
class Flag:
    """A flag with its value, and the sentence that says which number it follows from."""

    name: str
    value: str
    reason: str


@dataclass(frozen=True)
class Command:
    """What to type for an engine: its flags, for texts of `tokens` tokens, `texts` at once."""

    engine: str
    tokens: int
    texts: int
    flags: tuple[Flag, ...]
    code: str


def find_cache_name(deployment: Deployment, engine: str) -> str | None:
    """What an engine calls the cache's format; None if it stores none like it."""
    name, known = str(deployment.cache_dtype), CACHE_NAMES[engine]
    kinds = {group.kind for group in deployment.shape.require_groups()}
    if needs_packed_rows(deployment, engine):
        return known[name] if name == "fp8" and has_packed_rows(deployment.shape) else None
    is_said = deployment.shape.cache_dtype == "fp8"  # what vLLM takes "auto" for
    if engine == VLLM and is_said and name in ("bfloat16", "float16", "fp8"):
        return "auto" if name == "fp8" else name
    if engine == VLLM and name == "bfloat16" and {"latent", "index"} <= kinds:
        return name  # it would store these in fp8 by itself
    return known.get(name)


def find_obstacle(deployment: Deployment, tokens: int, engine: str) -> str:
    """Why an engine has no flags for such texts, by a name; "" if it has."""
    if deployment.shape.architecture != "decoder":
        return "architecture"
    if find_cache_name(deployment, engine) is None:
        return "packed" if needs_packed_rows(deployment, engine) else "format"
    if deployment.parts > 1:
        return "split"
    length = min(tokens, deployment.shape.context or tokens)
    one = count_engine_text(deployment, engine, length)
    return "room" if not one or count_engine_room(deployment, engine) < one else ""


OBSTACLES = {
    "architecture": N_("{model} has an encoder; these flags are for models without one"),
    "format": N_("{engine} stores no cache in {format}"),
    "packed": N_("{engine} stores the rows of {model} in fp8: choose that format"),
    "split": N_("flags are known here for GPUs that divide heads, not {split}"),
    "room": N_("not even one text of {tokens:,} tokens has room"),
}
"""The same in words."""


def explain_obstacle(deployment: Deployment, tokens: int, engine: str) -> str:
    """Why an engine has no flags for such texts; "" if it has."""
    name = find_obstacle(deployment, tokens, engine)
    slots: dict[str, object] = {
        "model": deployment.shape.id,
        "engine": engine,
        "format": str(deployment.cache_dtype),
        "tokens": tokens,
        "split": deployment.split,
    }
    return Message(OBSTACLES[name], slots) if name else ""


def make_command(
    deployment: Deployment, tokens: int, texts: int, engine: str = VLLM
) -> Command | None:
    """The flags for so many texts, or as many as fit; None if there is no room or no such format.

    A text is never longer than the model was published for.
    """
    name = find_cache_name(deployment, engine)
    if name is None or find_obstacle(deployment, tokens, engine):
        return None
    length = min(tokens, deployment.shape.context or tokens)
    room = count_engine_room(deployment, engine)
    one = count_engine_text(deployment, engine, length)
    number = min(texts, room // one)
    reasons = explain_values(deployment, engine, (length, number, one, room))
    values = list_values(deployment, engine, (length, number), name)
    flags = tuple(Flag(flag, value, reasons[why]) for flag, value, why in values)
    return Command(engine, length, number, flags, write_command(engine, flags))


def explain_values(
    deployment: Deployment, engine: str, numbers: tuple[int, int, int, int]
) -> dict[str, str]:
    """Which number each value follows from; `numbers` are tokens, texts, bytes of one, and room."""
    length, number, one, room = numbers
    shape, source = deployment.shape, deployment.source_tokens
    dtype = str(deployment.cache_dtype)
    copies = count_stored_copies(shape, deployment.gpus, length, source)
    return {
        "length": N_("tokens of a text, at most those the model was published for"),
        "texts": N_(
            "{room:,} bytes left on each GPU ÷ {one:,} of a text = {most:,}; you asked for as many "
            "or more",
            room=room,
            one=one,
            most=room // one,
        )
        if number == room // one
        else N_("texts at once; there is room for {most:,}", most=room // one),
        "gpus": N_("number of GPUs; each holds its part of the heads")
        if copies == 1
        else N_(
            "number of GPUs; they cannot divide all of the cache, and together store it {times}×",
            times=f"{float(copies):.3g}",
        ),
        "percent": N_(
            "share of the memory that may be used: {percent} %", percent=deployment.percent
        ),
        "static": N_(
            "({percent} % of the memory − {overhead:,} bytes of overhead) ÷ memory, rounded down",
            percent=deployment.percent,
            overhead=deployment.reserved,
        ),
        "format": N_("format of the cache: {format}, as kv_cache_scheme says", format=dtype)
        if dtype == shape.cache_dtype == "fp8"
        else N_("format of the cache: {format}", format=dtype),
        "slots": N_(
            "{number:,} texts × {slots:,} slots: {length:,} tokens in steps of {step}",
            number=number,
            slots=round_up_slots(length),
            length=length,
            step=LLAMA_CPP_STEP,
        ),
        "states": N_(
            "{number:,} texts × {slots} states, which SGLang keeps for each",
            number=number,
            slots=STATE_SLOTS,
        ),
        "state_format": N_("format of the states, which do not grow with a text"),
        "windows": N_(
            "(a window + {budget:,}) ÷ tokens of a text, rounded up", budget=SGLANG_BUDGET
        ),
        "budget": N_("tokens that are read at once; a window has room for them as well"),
        "page": N_("tokens in a page: 64 rows of 4 tokens, or 2 of 128"),
        "layers": N_("all layers on the GPUs, as the plan counts them"),
        "kernel": N_("needed for a quantized cache of values"),
        "batch": N_(
            "texts that are generated at once; there is room for {most:,}", most=room // one
        ),
    }


def list_values(
    deployment: Deployment, engine: str, point: tuple[int, int], name: str
) -> list[tuple[str, str, str]]:
    """(flag, value, which number it follows from) of an engine for (tokens, texts)."""
    length, number = point
    shape, groups = deployment.shape, deployment.shape.require_groups()
    # Of what recurrent layers add up, where it is not that of the weights.
    states = [part.dtype for group in groups for part in group.state]
    state_format = next((dtype for dtype in states if dtype != "bfloat16"), None)
    if engine == VLLM:
        values = [
            ("--max-model-len", f"{length}", "length"),
            ("--max-num-seqs", f"{number}", "texts"),
            ("--tensor-parallel-size", f"{deployment.gpus}", "gpus"),
            ("--gpu-memory-utilization", f"{deployment.percent / 100:.2f}", "percent"),
            ("--kv-cache-dtype", name, "format"),
        ]
        if any(group.window for group in groups):
            values.append(("--max-num-batched-tokens", f"{TOKEN_BUDGET}", "budget"))
        if merges_rows(shape):
            values.append(("--block-size", f"{MERGED_PAGE}", "page"))
        if state_format:
            values.append(("--mamba-ssm-cache-dtype", state_format, "state_format"))
        return values
    if engine == SGLANG:
        values = [
            ("--context-length", f"{length}", "length"),
            ("--max-running-requests", f"{number}", "texts"),
            ("--tp-size", f"{deployment.gpus}", "gpus"),
            ("--mem-fraction-static", f"{float(round_static_share(deployment)):.3f}", "static"),
            ("--kv-cache-dtype", name, "format"),
        ]
        if share := find_window_share(shape, length):
            values.append(("--swa-full-tokens-ratio", f"{float(share)}", "windows"))
            values.append(("--chunked-prefill-size", f"{SGLANG_BUDGET}", "budget"))
        if any(group.kind == "recurrent" and group.state for group in groups):
            values.append(("--max-mamba-cache-size", f"{STATE_SLOTS * number}", "states"))
        if state_format:
            values.append(("--mamba-ssm-dtype", state_format, "state_format"))
        return values
    if engine == LLAMA_CPP:
        return [
            ("--ctx-size", f"{number * round_up_slots(length)}", "slots"),
            ("--parallel", f"{number}", "texts"),
            ("--n-gpu-layers", "999", "layers"),
            ("--flash-attn", "on", "kernel"),
            ("--cache-type-k", name, "format"),
            ("--cache-type-v", name, "format"),
        ]
    size = [("batch_size", f"{number}", "batch")]
    if name in RESIDUAL_BITS:
        bits, group = RESIDUAL_BITS[name]
        return [*size, ("nbits", f"{bits}", "format"), ("q_group_size", f"{group}", "format")]
    if not any(group.ratio for group in groups):  # merged rows grow only
        size.append(("max_cache_len", f"{length}", "length"))
    return [*size, ("dtype", f'"{name}"', "format")]


def write_command(engine: str, flags: tuple[Flag, ...]) -> str:
    """The command for a shell, or the lines of Python that make the cache."""
    if engine != TRANSFORMERS:
        lines = [COMMANDS[engine], *(f"{flag.name} {flag.value}" for flag in flags)]
        return " \\\n  ".join(lines)
    values = {flag.name: flag.value for flag in flags}
    is_quantized = "nbits" in values
    kind = "QuantizedCache" if is_quantized else "StaticCache"
    if not is_quantized and "max_cache_len" not in values:
        kind = "DynamicCache"
    load = f", dtype={values['dtype']}" if "dtype" in values else ""
    lengths = [f"max_cache_len={values['max_cache_len']}"] if kind == "StaticCache" else []
    sizes = (
        f'backend="quanto", config=model.config, nbits={values["nbits"]}, '
        f"q_group_size={values['q_group_size']}, residual_length=128"
        if is_quantized
        else ", ".join(["config=model.config", *lengths])
    )
    return "\n".join(
        [
            f"from transformers import AutoModelForCausalLM, {kind}",
            "",
            f'model = AutoModelForCausalLM.from_pretrained("MODEL", device_map="auto"{load})',
            f"cache = {kind}({sizes})",
            f"# inputs: {values['batch_size']} texts at once",
            "model.generate(**inputs, past_key_values=cache)",
        ]
    )
