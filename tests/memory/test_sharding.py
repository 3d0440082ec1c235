"""Models divided by layers, texts or tokens, and what vLLM keeps besides, against printed logs."""

from dataclasses import replace
from unittest import mock

import pytest

from explainers import kept
from explainers.memory import serving, sharding
from explainers.memory.cache_bytes import count_cache_bytes
from explainers.memory.cache_report import report_cache
from explainers.memory.capacity_plan import estimate_reach, find_limit
from explainers.memory.model_shapes import find_shape
from explainers.memory.serving_flags import explain_obstacle, make_command
from explainers.memory.sharding import count_activations, count_attention_parameters
from workshop.server_logs import predict_log, read_logs

H200 = serving.read_gpus()["h200"]
LLAMA, LATENT = (find_shape(model) for model in ("llama-3.1-8b", "deepseek-v3"))


def deploy(shape, gpus, split, ways=0):
    dtype = "fp8" if shape == LATENT else "bfloat16"
    return serving.Deployment(shape, H200, gpus, dtype, split=split, ways=ways)


@pytest.mark.parametrize(
    ("model", "stages", "printed"),
    [("llama-3.1-8b", 2, 7.51), ("llama-3.1-8b", 4, 4.26), ("qwen3-8b", 3, 5.48)],
)
def test_the_largest_stage_weighs_what_vllm_printed(model, stages, printed):
    """llm-d-incubation/llm-d-planner docs/accuracy/vllm-v0.19.0-accuracy-report.md."""
    weights = serving.count_weight_bytes_per_gpu(deploy(find_shape(model), stages, "layers"))
    assert weights / serving.GIB == pytest.approx(printed, rel=0.01)


def test_stages_have_some_layers_of_each_kind():
    gemma = find_shape("gemma-3-27b")
    served = serving.Deployment(gemma, H200, 8, split="layers", ways=4)
    counts = [group.count for group in served.part.groups or ()]
    assert counts == [-(-group.count // 4) for group in gemma.groups or ()]
    assert served.part.num_heads == gemma.num_heads // 2


def test_each_gpu_has_the_latents_of_its_own_texts():
    """DP8 held 7.7 times the tokens of TP8 in vllm-project/vllm issue 51454."""
    own, copied = deploy(LATENT, 8, "texts"), deploy(LATENT, 8, "heads")
    one = count_cache_bytes(LATENT, 9_000)
    assert (
        serving.count_text_bytes_per_gpu(own, 9_000)
        == one
        == serving.count_text_bytes_per_gpu(copied, 9_000)
    )
    matrices = 7168 * 1536 + 1536 * 128 * 192 + 7168 * 576 + 512 * 128 * 256 + 128 * 128 * 7168
    assert count_attention_parameters(LATENT) == 61 * matrices
    repeated = 7 * 61 * matrices / 8
    assert serving.count_weight_bytes_per_gpu(own) == pytest.approx(
        serving.count_weight_bytes_per_gpu(copied) + repeated, rel=1e-6
    )
    users = serving.count_users(own, 9_000)
    assert users == 8 * (serving.count_free_bytes_per_gpu(own) // one)
    assert serving.has_room(own, 9_000, users)
    assert not serving.has_room(own, 9_000, users + 1)
    assert (serving.find_longest_context(own, 8) or 0) > 6 * (
        serving.find_longest_context(copied, 8) or 0
    )
    assert find_limit(own, 9_000, users + 1) == "memory"
    assert users <= (estimate_reach(own, 9_000) or 0) < users + 8
    assert f"(rounded down) × 8 = {users:,} texts at once" in serving.explain_memory(own, 9_000)[-1]


def test_gpus_that_would_hold_copies_share_the_tokens():
    shared = deploy(LATENT, 8, "tokens")
    assert serving.count_text_bytes_per_gpu(shared, 8_001) == count_cache_bytes(LATENT, 1_001)
    four = deploy(LATENT, 8, "tokens", 4)
    assert serving.count_text_bytes_per_gpu(four, 8_000) == count_cache_bytes(LATENT, 2_000)
    for ways in (0, 2):
        served = deploy(LLAMA, 16, "tokens", ways)
        assert (
            serving.count_text_bytes_per_gpu(served, 8_000) == count_cache_bytes(LLAMA, 8_000) // 16
        )


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
        serving.Deployment(find_shape(model), H200, gpus, split=split, ways=ways)


def test_a_model_is_divided_once(monkeypatch):
    divide = mock.Mock(side_effect=sharding.place_shape)
    monkeypatch.setattr(serving, "place_shape", divide)
    served = deploy(LATENT, 8, "texts")
    assert serving.count_users(served, 4_096)
    assert divide.call_count == 1


def test_flags_are_those_of_divided_heads():
    served = deploy(LATENT, 8, "texts")
    assert make_command(served, 4_096, 40) is None
    assert "that divide heads, not texts" in explain_obstacle(served, 4_096, "vLLM")


def test_the_command_and_the_function_divide_alike():
    report = report_cache("deepseek-v3", 9_000, gpu="h200", gpus=16, split="texts", ways=8)
    assert report.fit
    served = serving.Deployment(LATENT, H200, 16, "fp8", block=16, split="texts", ways=8)
    assert report.fit.texts_that_fit == serving.count_users(served, 9_000)


@pytest.mark.parametrize("log", read_logs(), ids=lambda log: f"{log['model']} {log['version']}")
def test_the_memory_of_a_server_is_what_it_printed(log):
    printed, predicted = predict_log(log)
    assert predicted == pytest.approx(printed, rel=kept.read("server_logs").tolerance["cache"])
    assert "/" in log["source"]


def test_the_overhead_is_written_out():
    assert len(read_logs()) >= 12
    chosen, rows = 1_024 * 128_256 * 148 // 10, 2 * 4_096 * (8_192 + 1_024)
    assert count_activations(LLAMA, (8_192, 1_024)) == chosen + rows
    wide = replace(LLAMA, ffn_dim=14_336)
    inside = 2 * 32_768 * (4 * 4_096 + 3 * 14_336 // 2)
    assert count_activations(wide, (32_768, 256), ranks=2) == inside
    served = serving.Deployment(LLAMA, serving.read_gpus()["h100"])
    assert served.reserved == chosen + rows + 86 * 32 * 250_000 + 25 * serving.GIB // 100
    [line] = [line for line in serving.explain_memory(served, 5) if "of CUDA graphs" in line]
    assert f"{served.reserved:,} bytes" in line
    small = serving.Deployment(LLAMA, serving.read_gpus()["a100-80"], overhead=None)
    assert small.reserved < served.reserved
    assert serving.Deployment(find_shape("bert-base-uncased"), H200).reserved == serving.GIB
