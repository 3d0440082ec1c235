"""Weights, caches and GPUs: what fits, how far, how fast, and which GPUs a wish needs.

How they divide a model, and what vLLM keeps besides, against printed logs.
"""

from dataclasses import replace
from fractions import Fraction
from unittest import mock

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from explainers import kept
from explainers.memory import serving
from explainers.memory.cache_bytes import count_cache_bytes, count_extra_bytes
from explainers.memory.cache_report import report_cache
from explainers.memory.capacity_plan import (
    GPU_NUMBERS,
    count_active_parameters,
    count_weight_bytes_read,
    estimate_computing_seconds,
    estimate_reach,
    estimate_reading_seconds,
    estimate_tokens_per_second,
    explain_speed,
    find_compute_bound_batch,
    find_fewest_gpus,
    find_limit,
    find_turning_point,
)
from explainers.memory.model_shapes import find_shape, list_model_ids
from explainers.memory.serving import (
    Deployment,
    Gpu,
    count_free_bytes_per_gpu,
    count_text_bytes_per_gpu,
    count_users,
    count_weight_bytes,
    count_weight_bytes_per_gpu,
    explain_longest_context,
    explain_memory,
    find_longest_context,
    find_weight_format,
    has_room,
    read_gpus,
)
from explainers.memory.serving_flags import explain_obstacle, make_command
from explainers.memory.sharding import (
    GIB,
    count_activations,
    count_attention_parameters,
    place_shape,
)
from workshop.server_logs import predict_log, read_logs

GPUS = read_gpus()
H100 = GPUS["h100"]
LLAMA = Deployment(find_shape("llama-3-8b"), H100, overhead=2**30)
KNOWN = [shape for shape in map(find_shape, list_model_ids()) if shape.parameters]
MIXTURE = Deployment(find_shape("deepseek-v3"), GPUS["h200"], gpus=8, weight_dtype="fp8")


def test_memory_written_out():
    free = 81_559 * 2**20 * 90 // 100 - 2 * 8_030_261_248 - 2**30
    assert count_weight_bytes(LLAMA) == 2 * 8_030_261_248
    assert count_free_bytes_per_gpu(LLAMA) == free
    assert count_users(LLAMA, 8192) == free // 2**30 == 55
    assert find_longest_context(LLAMA) == free // 131072
    assert find_longest_context(LLAMA, 7) == free // 7 // 131072


FORMATS = {
    "llama-3-8b": "bfloat16", "gpt2": "float32", "deepseek-v3": "fp8", "gpt-oss-20b": "mxfp4",
}  # fmt: skip


def test_weights_come_in_the_format_they_were_published_in_and_with_their_scales():
    for model, published in FORMATS.items():
        assert find_weight_format(find_shape(model)) == published
        assert find_weight_format(replace(find_shape(model), dtype="ternary")) == "bfloat16"
    scales = -(-8_030_261_248 // 64) * 4
    assert count_weight_bytes(replace(LLAMA, weight_dtype="int4")) == 8_030_261_248 // 2 + scales


deployments = st.builds(
    Deployment,
    st.sampled_from(KNOWN),
    st.sampled_from(list(GPUS.values())),
    weight_dtype=st.just("int4"),
    cache_dtype=st.sampled_from(["bfloat16", "fp8", "q4_0"]),
    block=st.sampled_from([1, 16]),
)


@given(deployments, st.integers(1, 9), st.integers(1, 10**6))
def test_one_token_or_one_user_more_does_not_fit(deployment, readers, tokens):
    longest, users = find_longest_context(deployment, readers), count_users(deployment, tokens)
    if longest is None:
        assert has_room(deployment, 10**12, readers)
    else:
        assert not has_room(deployment, longest + 1, readers)
        assert longest == 0 or has_room(deployment, longest, readers)
    if users is None:
        assert count_text_bytes_per_gpu(deployment, tokens) == 0
    else:
        assert not has_room(deployment, tokens, users + 1)
        assert users == 0 or has_room(deployment, tokens, users)


def test_what_is_too_big_fits_for_nobody():
    big = Deployment(find_shape("llama-3.1-405b"), H100)
    assert count_free_bytes_per_gpu(big) < 0
    assert count_users(big, 1) == find_longest_context(big) == 0
    assert not has_room(big, 1)
    lines = explain_memory(big, 5)
    assert "weights alone are more than the memory" in lines[-1]
    assert f"(an estimate) = −{-count_free_bytes_per_gpu(big):,} bytes" in lines[3]
    assert explain_longest_context(big) == "Not even one token fits."


def test_a_text_takes_whole_pages_and_what_stands_beside_its_cache():
    paged = replace(LLAMA, block=16)
    assert count_text_bytes_per_gpu(paged, 33) == count_text_bytes_per_gpu(LLAMA, 48)
    hybrid = Deployment(find_shape("qwen3-next-80b-a3b"), H100)
    states = count_extra_bytes(hybrid.shape, 5)
    assert count_text_bytes_per_gpu(hybrid, 5) == count_cache_bytes(hybrid.shape, 5) + states
    assert states > 0


def test_the_batch_at_which_arithmetic_takes_over():
    """Without caches it is the known ratio of a chip: 240 on TPU v5e, half with int8; 295."""
    no_cache = Deployment(find_shape("bert-base-uncased"), GPUS["tpu-v5e"])
    assert find_compute_bound_batch(no_cache, 5) == 241
    assert find_compute_bound_batch(replace(no_cache, weight_dtype="int8"), 5) == 121
    assert find_compute_bound_batch(replace(no_cache, gpu=H100), 5) == 296


def test_the_limit_is_bandwidth_divided_by_what_is_read():
    read = 2 * 8_030_261_248 + 4 * 2**30
    assert estimate_tokens_per_second(LLAMA, 8192, 4) == Fraction(4 * 3350 * 10**9, read)
    assert estimate_tokens_per_second(LLAMA, 1, 10**6) == Fraction(989 * 10**12, 2 * 8_030_261_248)


def test_of_a_mixture_only_active_experts_are_read():
    assert count_active_parameters(MIXTURE) == 37 * 10**9
    assert count_weight_bytes_read(MIXTURE) == 37 * 10**9 // 8
    assert count_weight_bytes(MIXTURE) == 671 * 10**9
    speed = MIXTURE.gpu.flops * 8
    assert estimate_computing_seconds(MIXTURE, 3) == Fraction(6 * 37 * 10**9, speed)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: replace(LLAMA, gpus=3), "32 query heads cannot be split over 3 ranks"),
        (lambda: replace(LLAMA, gpus=0), "gpus must be a whole number from 1 on, not 0"),
        (lambda: replace(LLAMA, percent=101), "percent must be a whole number from 1 to 100"),
        (lambda: replace(LLAMA, overhead=-1), "overhead must be a whole number from 0 on"),
        (lambda: count_weight_bytes(deploy("glm-5")), "glm-5: parameters are not"),
        (lambda: count_active_parameters(deploy("glm-5")), "glm-5: parameters"),
        (lambda: find_limit(deploy("glm-5"), 1_000), "glm-5: parameters"),
        (lambda: has_room(LLAMA, 5, 0), "readers must be"),
        (lambda: estimate_tokens_per_second(LLAMA, 5, 0), "batch must be"),
        (lambda: Gpu("x", "X", 0, 1, 1), "memory_gb must be"),
    ],
)
def test_what_cannot_be_is_refused_by_name(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_estimates_are_called_so_and_room_may_be_less_than_nothing():
    assert "stated, rounded" not in explain_memory(LLAMA, 5)[0]
    assert "limited by computing" in explain_speed(LLAMA, 1, 4000)[3]
    full = replace(LLAMA, overhead=80 * 2**30)
    assert "Weights and overhead are more" in explain_memory(full, 5)[-1]
    encoder = Deployment(find_shape("bert-base-uncased"), H100, overhead=80 * 2**30)
    assert count_users(encoder, 5) == 0, "nobody, although a text takes nothing"


def test_several_gpus_split_weights_and_heads_but_no_latent():
    four = replace(LLAMA, gpus=4)
    assert count_weight_bytes_per_gpu(four) == 8_030_261_248 // 2
    assert count_text_bytes_per_gpu(four, 100) * 4 == count_text_bytes_per_gpu(LLAMA, 100)
    assert count_text_bytes_per_gpu(MIXTURE, 100) == count_cache_bytes(MIXTURE.shape, 100)


def test_a_card_has_what_its_driver_reports():
    assert GPUS["t4"].memory_bytes == 15 * 2**30
    for gpu in GPUS.values():
        assert 0.93 * gpu.memory_gb * 2**30 < gpu.memory_bytes <= gpu.memory_gb * 2**30


MODELS = ("llama-3.1-8b", "gemma-3-27b", "deepseek-v3", "gpt-oss-20b", "qwen3-8b")


def deploy(model, gpu="h100", gpus=1):
    shape = find_shape(model)
    return Deployment(shape, GPUS[gpu], gpus, find_weight_format(shape), block=16)


WISHES = st.tuples(
    st.sampled_from(MODELS),
    st.sampled_from(["a10", "h100", "b200"]),
    st.integers(1, 300_000),
    st.integers(1, 200),
)


@given(WISHES)
def test_the_fewest_gpus_hold_it_and_fewer_do_not(wish):
    model, gpu, tokens, texts = wish
    start = deploy(model, gpu)
    found = find_fewest_gpus(start, tokens, texts)
    held = (n for n in GPU_NUMBERS if has_room(replace(start, gpus=n), tokens, texts))
    assert (found.gpus if found else None) == next(held, None)


@given(WISHES)
def test_a_contour_goes_through_the_last_text_that_fits(wish):
    model, gpu, tokens, _texts = wish
    served = deploy(model, gpu, 4)
    reach = estimate_reach(served, tokens)
    assert reach is not None
    assert reach // 1 == count_users(served, tokens)
    assert estimate_reach(deploy("bert-base-uncased"), tokens) is None, "without a cache no contour"


@given(WISHES)
@example(("llama-3.1-8b", "h100", 256, 1_024))  # many short texts: computing
def test_what_limits_is_the_room_or_else_the_slower_half(wish):
    model, gpu, tokens, texts = wish
    served = deploy(model, gpu, 8)
    limit = find_limit(served, tokens, texts)
    needed = texts * count_text_bytes_per_gpu(served, tokens)
    assert (limit == "memory") == (needed > count_free_bytes_per_gpu(served))
    if limit != "memory":
        reading = estimate_reading_seconds(served, tokens, texts)
        computing = estimate_computing_seconds(served, texts)
        assert limit == ("compute" if computing > reading else "bandwidth")


@given(WISHES, st.integers(1, 400))
def test_computing_takes_over_exactly_at_the_turning_point(wish, few_tokens):
    """Of long texts never: one more brings its own cache along, which is read."""
    model, gpu, many_tokens, _texts = wish
    served = deploy(model, gpu, 2)
    for tokens in (few_tokens, many_tokens):
        turn, first = find_turning_point(served, tokens), find_compute_bound_batch(served, tokens)
        assert (turn is None) == (first is None)
        for batch in (10**6,) if first is None else (first - 1, first):
            reading = estimate_reading_seconds(served, tokens, batch)
            computing = estimate_computing_seconds(served, batch)
            assert (computing >= reading) == (batch == first)
            speed = estimate_tokens_per_second(served, tokens, batch)
            assert speed == batch / max(reading, computing)
        assert turn is None or -(-turn // 1) == first


H200 = read_gpus()["h200"]
LLAMA_3_1, LATENT = (find_shape(model) for model in ("llama-3.1-8b", "deepseek-v3"))


def divide(shape, gpus, split, ways=0):
    dtype = "fp8" if shape == LATENT else "bfloat16"
    return Deployment(shape, H200, gpus, dtype, split=split, ways=ways)


@pytest.mark.parametrize(
    ("model", "stages", "printed"),
    [("llama-3.1-8b", 2, 7.51), ("llama-3.1-8b", 4, 4.26), ("qwen3-8b", 3, 5.48)],
)
def test_the_largest_stage_weighs_what_vllm_printed(model, stages, printed):
    """llm-d-incubation/llm-d-planner docs/accuracy/vllm-v0.19.0-accuracy-report.md."""
    weights = count_weight_bytes_per_gpu(divide(find_shape(model), stages, "layers"))
    assert weights / GIB == pytest.approx(printed, rel=0.01)


def test_stages_have_some_layers_of_each_kind():
    gemma = find_shape("gemma-3-27b")
    served = Deployment(gemma, H200, 8, split="layers", ways=4)
    counts = [group.count for group in served.part.groups or ()]
    assert counts == [-(-group.count // 4) for group in gemma.groups or ()]
    assert served.part.num_heads == gemma.num_heads // 2


def test_each_gpu_has_the_latents_of_its_own_texts():
    """DP8 held 7.7 times the tokens of TP8 in vllm-project/vllm issue 51454."""
    own, copied = divide(LATENT, 8, "texts"), divide(LATENT, 8, "heads")
    one = count_cache_bytes(LATENT, 9_000)
    assert count_text_bytes_per_gpu(own, 9_000) == one == count_text_bytes_per_gpu(copied, 9_000)
    matrices = 7168 * 1536 + 1536 * 128 * 192 + 7168 * 576 + 512 * 128 * 256 + 128 * 128 * 7168
    assert count_attention_parameters(LATENT) == 61 * matrices
    repeated = 7 * 61 * matrices / 8
    assert count_weight_bytes_per_gpu(own) == pytest.approx(
        count_weight_bytes_per_gpu(copied) + repeated, rel=1e-6
    )
    users = count_users(own, 9_000)
    assert users == 8 * (count_free_bytes_per_gpu(own) // one)
    assert has_room(own, 9_000, users)
    assert not has_room(own, 9_000, users + 1)
    assert (find_longest_context(own, 8) or 0) > 6 * (find_longest_context(copied, 8) or 0)
    assert find_limit(own, 9_000, users + 1) == "memory"
    assert users <= (estimate_reach(own, 9_000) or 0) < users + 8
    assert f"(rounded down) × 8 = {users:,} texts at once" in explain_memory(own, 9_000)[-1]


def test_gpus_that_would_hold_copies_share_the_tokens():
    shared = divide(LATENT, 8, "tokens")
    assert count_text_bytes_per_gpu(shared, 8_001) == count_cache_bytes(LATENT, 1_001)
    four = divide(LATENT, 8, "tokens", 4)
    assert count_text_bytes_per_gpu(four, 8_000) == count_cache_bytes(LATENT, 2_000)
    for ways in (0, 2):
        served = divide(LLAMA_3_1, 16, "tokens", ways)
        assert count_text_bytes_per_gpu(served, 8_000) == count_cache_bytes(LLAMA_3_1, 8_000) // 16


@pytest.mark.parametrize(
    ("model", "gpus", "split", "ways", "told"),
    [
        ("llama-3.1-8b", 8, "layers", 3, "8 GPUs cannot be divided 3 ways"),
        ("llama-3.1-8b", 64, "layers", 64, "32 layers cannot be divided over 64 GPUs"),
        ("llama-3.1-8b", 8, "tokens", 8, "8 GPUs hold 1× the KV heads: 8 cannot share"),
        ("llama-3.1-8b", 8, "tokens", 0, "8 GPUs hold 1× the KV heads: 1 cannot share"),
        ("llama-3.1-8b", 32, "tokens", 3, "32 GPUs cannot be divided 3 ways"),
        ("llama-3.1-8b", 32, "tokens", 8, "32 GPUs hold 4× the KV heads: 8 cannot share"),
        ("gemma-3-27b", 16, "tokens", 16, "tokens of sliding layers cannot be shared out"),
        ("llama-3.1-8b", 8, "experts", 0, "split must be one of heads, layers, texts, tokens"),
    ],
)
def test_what_cannot_be_divided_is_refused_by_name(model, gpus, split, ways, told):
    with pytest.raises(ValueError, match=told):
        Deployment(find_shape(model), H200, gpus, split=split, ways=ways)


def test_a_model_is_divided_once(monkeypatch):
    place = mock.Mock(side_effect=place_shape)
    monkeypatch.setattr(serving, "place_shape", place)
    served = divide(LATENT, 8, "texts")
    assert count_users(served, 4_096)
    assert place.call_count == 1


def test_flags_are_those_of_divided_heads():
    served = divide(LATENT, 8, "texts")
    assert make_command(served, 4_096, 40) is None
    assert "that divide heads, not texts" in explain_obstacle(served, 4_096, "vLLM")


def test_the_command_and_the_function_divide_alike():
    report = report_cache("deepseek-v3", 9_000, gpu="h200", gpus=16, split="texts", ways=8)
    assert report.fit
    served = Deployment(LATENT, H200, 16, "fp8", block=16, split="texts", ways=8)
    assert report.fit.texts_that_fit == count_users(served, 9_000)


@pytest.mark.parametrize("log", read_logs(), ids=lambda log: f"{log['model']} {log['version']}")
def test_the_memory_of_a_server_is_what_it_printed(log):
    printed, predicted = predict_log(log)
    assert predicted == pytest.approx(printed, rel=kept.read("server_logs").tolerance["cache"])
    assert "/" in log["source"]


def test_the_overhead_is_written_out():
    assert len(read_logs()) >= 12
    chosen, rows = 1_024 * 128_256 * 148 // 10, 2 * 4_096 * (8_192 + 1_024)
    assert count_activations(LLAMA_3_1, (8_192, 1_024)) == chosen + rows
    wide = replace(LLAMA_3_1, ffn_dim=14_336)
    inside = 2 * 32_768 * (4 * 4_096 + 3 * 14_336 // 2)
    assert count_activations(wide, (32_768, 256), ranks=2) == inside
    served = Deployment(LLAMA_3_1, read_gpus()["h100"])
    assert served.reserved == chosen + rows + 86 * 32 * 250_000 + 25 * GIB // 100
    [line] = [line for line in explain_memory(served, 5) if "of CUDA graphs" in line]
    assert f"{served.reserved:,} bytes" in line
    small = Deployment(LLAMA_3_1, read_gpus()["a100-80"], overhead=None)
    assert small.reserved < served.reserved
    assert Deployment(find_shape("bert-base-uncased"), H200).reserved == GIB
