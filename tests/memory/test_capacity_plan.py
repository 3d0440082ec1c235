"""Which GPUs a wish needs, and what limits it there, against plain counting."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explainers.memory.capacity_plan import (
    GPU_NUMBERS,
    estimate_reach,
    find_fewest_gpus,
    find_limit,
    find_turning_point,
    list_splits,
)
from explainers.memory.model_shapes import find_shape
from explainers.memory.serving import (
    Deployment,
    count_free_bytes_per_gpu,
    count_text_bytes_per_gpu,
    count_users,
    find_weight_format,
    has_room,
    read_gpus,
)
from explainers.memory.speed import (
    estimate_computing_seconds,
    estimate_reading_seconds,
    find_compute_bound_batch,
)

GPUS = read_gpus()
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


def test_forty_readers_of_32k_written_out():
    llama = deploy("llama-3.1-8b")
    assert find_fewest_gpus(llama, 32_768, 40) == replace(llama, gpus=4)
    each = 40 * 32_768 * 131_072 // 4 + 2 * 8_030_261_248 // 4 + 2**30
    assert each < 81_559 * 2**20 * 9 // 10 < 2 * each - 2**30, "two GPUs would need twice as much"
    assert find_fewest_gpus(llama, 32_768, 4_000) is None
    latent = deploy("deepseek-v3", "h200")
    assert find_fewest_gpus(latent, 131_072) == replace(latent, gpus=8)


@given(WISHES)
def test_the_fewest_gpus_hold_it_and_fewer_do_not(wish):
    model, gpu, tokens, texts = wish
    start = deploy(model, gpu)
    found = find_fewest_gpus(start, tokens, texts)
    held = [
        number for number in GPU_NUMBERS if has_room(replace(start, gpus=number), tokens, texts)
    ]
    assert (found.gpus if found else None) == (min(held) if held else None)


def test_only_numbers_that_divide_the_heads_are_tried():
    scout = deploy("llama-4-scout")
    assert scout.shape.num_heads == 40
    assert [split.gpus for split in list_splits(scout)] == [1, 2, 4, 8]


@given(WISHES)
def test_a_contour_goes_through_the_last_text_that_fits(wish):
    model, gpu, tokens, _texts = wish
    served = deploy(model, gpu, 4)
    reach = estimate_reach(served, tokens)
    assert reach is not None
    assert reach // 1 == count_users(served, tokens)


@given(WISHES)
def test_what_limits_is_the_room_or_else_the_slower_half(wish):
    model, gpu, tokens, texts = wish
    served = deploy(model, gpu, 8)
    limit = find_limit(served, tokens, texts)
    assert (limit.name == "memory") == (not has_room(served, tokens, texts))
    needed = texts * count_text_bytes_per_gpu(served, tokens)
    assert limit.missing == max(0, needed - count_free_bytes_per_gpu(served))
    if limit.name != "memory":
        reading = estimate_reading_seconds(served, tokens, texts)
        computing = estimate_computing_seconds(served, texts)
        assert limit.name == ("compute" if computing > reading else "bandwidth")
        assert (limit.reading, limit.computing) == (reading, computing)


@given(WISHES)
def test_computing_takes_over_at_the_turning_point(wish):
    model, gpu, tokens, _texts = wish
    served = deploy(model, gpu, 2)
    turn, first = find_turning_point(served, tokens), find_compute_bound_batch(served, tokens)
    assert (turn is None) == (first is None)
    if turn is not None:
        assert -(-turn // 1) == first


def test_each_limit_is_met_and_what_is_not_known_is_refused():
    served = deploy("llama-3.1-8b")
    names = [find_limit(served, *point).name for point in ((2**20, 1), (131_072, 1), (256, 1_024))]
    assert names == ["memory", "bandwidth", "compute"]
    with pytest.raises(ValueError, match="parameters are not published"):
        find_limit(deploy("glm-5"), 1_000)
    assert estimate_reach(deploy("bert-base-uncased"), 500) is None, "without a cache no contour"
