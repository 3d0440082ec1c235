"""Flags that are handed over: what they say fits, by the calculator's own formulas."""

import ast
import inspect
import shlex
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explainers.memory import serving
from explainers.memory.cache_bytes import FORMATS, count_extra_bytes, list_group_caches
from explainers.memory.engines import (
    LLAMA_CPP,
    SGLANG,
    TRANSFORMERS,
    VLLM,
    count_engine_bytes,
    count_llama_cpp_rows,
    count_sglang_rate,
    count_sglang_rows,
    count_vllm_rows,
)
from explainers.memory.model_shapes import find_shape, list_model_ids
from explainers.memory.serving_flags import CACHE_NAMES, find_obstacle, make_command
from explainers.memory.sharding import split_shape

GPUS = serving.read_gpus()
DECODERS = [
    model
    for model in list_model_ids()
    if (shape := find_shape(model)).groups and shape.parameters and shape.architecture == "decoder"
]
LLAMA = "llama-3.1-8b"
CACHE_FORMATS = [name for name in FORMATS if name != "mxfp4"]


@st.composite
def plans(draw):
    shape = find_shape(draw(st.sampled_from(DECODERS)))
    gpu, number = GPUS[draw(st.sampled_from(list(GPUS)))], draw(st.sampled_from([1, 2, 4, 8]))
    options = {
        "weight_dtype": draw(st.sampled_from(["bfloat16", "fp8", "int4"])),
        "cache_dtype": draw(st.sampled_from(CACHE_FORMATS)),
        "overhead": draw(st.integers(0, 6)) * serving.GIB,
        "percent": draw(st.integers(50, 100)),
        "block": draw(st.sampled_from([1, 16, 64])),
    }
    try:
        return serving.Deployment(shape, gpu, number, **options)
    except ValueError:  # these heads cannot be split so
        return serving.Deployment(shape, gpu, 1, **options)


def read_flags(code):
    """{flag: value} of a command for a shell."""
    words = shlex.split(code.replace("\\\n", " "))
    return {
        flag: value
        for flag, value in pairwise(words)
        if flag.startswith("--") and flag not in ("--model", "--model-path")
    }


def calls(code):
    """{function: its keywords} of lines of Python."""
    found = {}
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            found[node.func.id] = {one.arg: ast.unparse(one.value) for one in node.keywords}
    return found


def check_sglang_pools(served, flags, length, number, room):
    """All pools that SGLang makes of these flags, written out, lie in the memory together."""
    shape = split_shape(served.shape, served.gpus)
    states = tuple(group for group in shape.require_groups() if group.kind == "recurrent")
    slots = int(flags.get("--max-mamba-cache-size", "0"))
    share = Fraction(flags.get("--swa-full-tokens-ratio", "1"))
    assert (slots == 5 * number) == any(group.state for group in states)
    used = number * count_extra_bytes(shape, length)
    used += (slots - number) * count_extra_bytes(replace(shape, groups=states), length)
    for cache in list_group_caches(shape, length, served.cache_dtype):
        rows, window = cache.tokens, cache.group.window
        if cache.group.kind in ("sliding", "chunked"):
            rows = share * length
            read_at_once = int(flags.get("--chunked-prefill-size", length))
            assert rows >= min(length, (window or 0) + read_at_once)
        used += number * cache.group.count * rows * cache.token_bytes
    assert used <= room


@settings(max_examples=150, deadline=None)
@given(plans(), st.integers(1, 400_000), st.integers(1, 300))
def test_what_the_flags_say_fits_by_the_calculators_formula(served, tokens, texts):
    for engine in (VLLM, SGLANG, LLAMA_CPP, TRANSFORMERS):
        command = make_command(served, tokens, texts, engine)
        if command is None:
            continue
        assert 1 <= command.texts <= texts
        assert command.tokens == min(tokens, served.shape.context or tokens)
        assert serving.has_room(served, command.tokens, command.texts)
        if engine == TRANSFORMERS:
            continue
        flags = read_flags(command.code)
        assert len(flags) == len(command.flags)
        weights, memory = serving.count_weight_bytes_per_gpu(served), served.gpu.memory_bytes
        if engine == VLLM:
            length, number = int(flags["--max-model-len"]), int(flags["--max-num-seqs"])
            on_each = replace(served, gpus=int(flags["--tensor-parallel-size"]))
            share = Fraction(flags["--gpu-memory-utilization"])
            room = memory * share - weights - served.reserved
            split = split_shape(served.shape, served.gpus)
            alone = count_engine_bytes(split, length, VLLM, served.cache_dtype)
            assert number * alone <= room, "pages of windows are larger than the minimum"
        elif engine == SGLANG:
            length, number = int(flags["--context-length"]), int(flags["--max-running-requests"])
            on_each = replace(served, gpus=int(flags["--tp-size"]))
            share = Fraction(flags["--mem-fraction-static"])
            room = memory * share - weights
            used = memory * Fraction(served.percent, 100) - served.reserved
            assert memory * share <= used < memory * (share + Fraction(2, 1_000))
            check_sglang_pools(served, flags, length, number, room)
        else:
            number = int(flags["--parallel"])
            slots, rest = divmod(int(flags["--ctx-size"]), number)
            length, on_each = command.tokens, served
            assert (rest, slots % 256) == (0, 0)
            assert slots - 256 < length <= slots
            room = serving.count_free_bytes_per_gpu(served)
        assert (length, number) == (command.tokens, command.texts)
        assert number * serving.count_text_bytes_per_gpu(on_each, length) <= room


FLASH = find_shape("deepseek-v4-flash")


def test_merged_rows_take_what_a_server_printed():
    """`bytes_per_full_token` of SGLang, a tenth of all tokens in windows, states in 16 bits."""
    assert count_sglang_rate(FLASH, Fraction(1, 10), 2) == Fraction("7033.45")


def test_merged_rows_in_the_pools_of_each_engine_written_out():
    """43 windows, 21 layers of 4 tokens in a row with an index, 20 of 128; 1,000 tokens."""
    block, key_block = 65 * 576, 15 * 576  # 64 rows of 584 or keys of 132 bytes, filled up
    windows = 43 * 17 * block
    sparse = 21 * (4 + 251) * (block + key_block)  # pages of 256 tokens, waiting ones by fours
    heavy = 20 * (4 * 3 * 576 + 126 * block)
    assert count_vllm_rows(FLASH, 1_000, "fp8") == windows + sparse + heavy
    of_a_token = 43 * 584 + 21 * Fraction(584 + 132, 4) + 20 * Fraction(584, 128)
    waiting = 21 * Fraction(8, 128) * 4 * (2_048 + 512)
    rings = 20 * 128 * 1_024 * 4
    assert count_sglang_rows(FLASH, 1_000, "fp8") == 1_024 * (of_a_token + waiting) + rings
    rows = (43 * 768 + 21 * 256 + 20 * 256) * 1_024 + 21 * 256 * 256
    states = 4 * (21 * 8 * (2_048 + 512) + 20 * 128 * 1_024)
    assert count_llama_cpp_rows(FLASH, 1_000, "bfloat16") == rows + states


def test_merged_rows_have_flags_in_the_formats_that_engines_keep_them_in():
    packed = serving.Deployment(FLASH, GPUS["h200"], 4, "fp8", "fp8", block=16)
    plain = replace(packed, cache_dtype="bfloat16")
    codes = {}
    for engine in (VLLM, SGLANG):
        assert make_command(plain, 131_072, 2, engine) is None
        assert find_obstacle(plain, 131_072, engine) == "packed"
        command = make_command(packed, 131_072, 2, engine)
        assert command is not None
        codes[engine] = read_flags(command.code)
    assert codes[VLLM]["--kv-cache-dtype"] == "fp8"
    assert codes[VLLM]["--block-size"] == "256"
    assert codes[SGLANG]["--kv-cache-dtype"] == "fp8_e4m3"
    assert codes[SGLANG]["--swa-full-tokens-ratio"] == "0.064", "(128 + 8,192) ÷ 131,072"
    groups = tuple(replace(group, head_dim=96) for group in FLASH.require_groups())
    unknown = replace(packed, shape=replace(FLASH, groups=groups))
    assert make_command(unknown, 1_000, 1, VLLM) is None, "of no layout that is known"
    assert make_command(plain, 131_072, 2, LLAMA_CPP) is not None


@pytest.mark.parametrize(
    ("dtype", "kind"), [("bfloat16", "StaticCache"), ("int4_residual", "QuantizedCache")]
)
def test_the_cache_of_transformers_takes_these_arguments(dtype, kind):
    import transformers

    served = serving.Deployment(find_shape("llama-3.1-8b"), GPUS["h100"], cache_dtype=dtype)
    command = make_command(served, 4_096, 3, TRANSFORMERS)
    assert command is not None
    keywords = calls(command.code)[kind]
    inspect.signature(getattr(transformers, kind)).bind(**keywords)
    assert "3 texts at once" in command.code
    if kind == "StaticCache":
        assert keywords["max_cache_len"] == "4096"
    else:
        format_ = FORMATS[dtype]
        sizes = [keywords[name] for name in ("nbits", "q_group_size", "residual_length")]
        assert sizes == [f"{format_.bits}", f"{format_.group}", f"{format_.residual}"]


@pytest.mark.parametrize(
    ("change", "flag", "value"),
    [
        ({}, "--max-num-seqs", "13"),  # 55.7 GiB are left for texts of 4 GiB
        ({"gpus": 4}, "--tensor-parallel-size", "4"),
        ({"percent": 80}, "--gpu-memory-utilization", "0.80"),
        ({"cache_dtype": "fp8_per_head"}, "--kv-cache-dtype", "fp8_per_token_head"),
        ({"overhead": 20 * serving.GIB}, "--max-num-seqs", "9"),
    ],
)
def test_a_flag_follows_its_number(change, flag, value):
    served = serving.Deployment(find_shape(LLAMA), GPUS["h100"], block=16)
    command = make_command(replace(served, **change), 32_768, 40)
    assert command is not None
    assert read_flags(command.code)[flag] == value


@pytest.mark.parametrize(
    ("model", "engine", "flag", "value"),
    [
        ("qwen3-next-80b-a3b", VLLM, "--mamba-ssm-cache-dtype", "float32"),
        ("qwen3-next-80b-a3b", SGLANG, "--mamba-ssm-dtype", "float32"),
        ("minimax-text-01", SGLANG, "--max-mamba-cache-size", "10"),
        ("minimax-text-01", SGLANG, "--mamba-ssm-dtype", None),  # in 16 bits by itself
        ("gemma-3-27b", SGLANG, "--swa-full-tokens-ratio", "0.071"),  # (1,024 + 8,192) ÷ 131,072
        ("gemma-3-27b", SGLANG, "--chunked-prefill-size", "8192"),
        ("gemma-3-27b", VLLM, "--max-num-batched-tokens", "2048"),  # else 8,192 on an H200
        (LLAMA, VLLM, "--max-num-batched-tokens", None),
        (LLAMA, SGLANG, "--swa-full-tokens-ratio", None),
        ("deepseek-v3.2-exp", VLLM, "--kv-cache-dtype", "bfloat16"),  # else it takes fp8
        ("deepseek-v3", VLLM, "--kv-cache-dtype", "auto"),
    ],
)
def test_hybrids_and_sparse_models_have_flags_of_their_own(model, engine, flag, value):
    served = serving.Deployment(find_shape(model), GPUS["h200"], 8, "fp8", block=16)
    command = make_command(served, 131_072, 2, engine)
    assert command is not None
    assert read_flags(command.code).get(flag) == value


@pytest.mark.parametrize("engine", [VLLM, SGLANG, LLAMA_CPP, TRANSFORMERS])
def test_where_nothing_fits_or_is_written_there_are_no_flags(engine):
    for model, obstacle in [("llama-3.1-405b", "room"), ("bert-base-uncased", "architecture")]:
        served = serving.Deployment(find_shape(model), GPUS["h100"])
        assert make_command(served, 500, 1, engine) is None
        assert find_obstacle(served, 500, engine) == obstacle
    small = serving.Deployment(find_shape(LLAMA), GPUS["h100"], cache_dtype="q8_0")
    assert (make_command(small, 1_000, 1, engine) is not None) == (engine == LLAMA_CPP)


def test_formats_have_the_engines_names():
    """As vLLM's CacheDType, SGLang's --kv-cache-dtype and llama.cpp's --cache-type-k list them."""
    listed = {
        VLLM: {"auto", "fp8", "fp8_per_token_head", "int8_per_token_head", "nvfp4"},
        SGLANG: {"auto", "bfloat16", "fp8_e4m3"},
        LLAMA_CPP: {"f32", "f16", "bf16", "q8_0", "q4_0", "q4_1", "q5_0", "q5_1"},
    }
    for engine, names in listed.items():
        assert {*CACHE_NAMES[engine].values()} == names
        assert CACHE_NAMES[engine].keys() <= FORMATS.keys()
