"""Weights, caches and GPUs: what fits, how far, how fast, and which GPUs a wish needs."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from explainers.memory.cache_bytes import count_cache_bytes, count_extra_bytes
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
