"""Command and function print the same numbers; those of the page are kept in tests/golden."""

import io
import json
import shlex
import subprocess
import sys

import pytest

from explainers.memory import serving
from explainers.memory.__main__ import main, read_parameters
from explainers.memory.cache_bytes import count_cache_bytes, count_extra_bytes
from explainers.memory.cache_report import report_cache
from explainers.memory.capacity_plan import plan_every_gpu
from explainers.memory.config_text import TO_JSON, parse_object
from explainers.memory.model_shapes import find_shape
from explainers.memory.serving_flags import make_command
from explainers.models import hub
from explainers.models.config_defaults import find_class_defaults
from explainers.models.hub import HubUnreachableError
from tests.memory.test_real_caches import NEMOTRON
from tests.support.opening import ROOT


def ask(capsys, *arguments):
    assert main([*map(str, arguments)]) == 0
    return capsys.readouterr().out


def test_a_file_and_standard_input_are_read_alike(capsys, tmp_path, monkeypatch):
    file = tmp_path / "config.json"
    file.write_text(json.dumps(NEMOTRON), encoding="utf-8")
    report = report_cache(tmp_path, 9_000, find_defaults=find_class_defaults)
    assert report.cache_bytes == 2 * 2 * 8 * 128 * 2 * 9_000
    assert report.extra_bytes == 24 * (4 * 128 * 64 * 128 + 2 * 4 * (128 * 64 + 2 * 8 * 128))
    from_file = ask(capsys, file, "--tokens", 9_000, "--json")
    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps(NEMOTRON)))
    assert ask(capsys, "-", "--tokens", 9_000, "--json") == from_file
    assert json.loads(from_file)["extra_bytes"] == report.extra_bytes
    assert "besides: " in ask(capsys, file)
    file.write_text(json.dumps({**NEMOTRON, "mamba_d_conv": None, "conv_kernel": None}))
    assert "LEFT OUT: 24 recurrent layers: config.json lacks mamba_d_conv" in ask(capsys, file)


def test_the_hub_is_asked_only_with_fetch(capsys, monkeypatch):
    monkeypatch.setattr(hub, "fetch_config", lambda name: json.dumps({**NEMOTRON, "x": name}))
    monkeypatch.setattr(hub, "fetch_weights", lambda name: {"F8_E4M3": len(name) * 10**9})
    for name in ("nvidia/Nemotron-H", "https://hub.co/nvidia/Nemotron-H/tree/main?x=1"):
        printed = json.loads(ask(capsys, name, "--fetch", "--gpu", "h100", "--json"))
        assert printed["extra_bytes"] > 0
        assert printed["fit"]["weight_bytes"] == 17 * 10**9
    assert main(["nvidia/Nemotron-H"]) == 2
    told = capsys.readouterr().err
    assert "there is no model and no file 'nvidia/Nemotron-H'" in told
    assert "; nvidia/Nemotron-H --fetch reads a config.json from the hub" in told

    def refuse(_name):
        raise HubUnreachableError("the hub is out of reach (here)")

    monkeypatch.setattr(hub, "fetch_config", refuse)
    assert main(["nvidia/Nemotron-H", "--fetch"]) == 2
    assert "the hub is out of reach (here)" in capsys.readouterr().err
    monkeypatch.undo()
    assert main(["../etc/passwd", "--fetch"]) == 2
    assert "is not owner/name" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["meta-llama/Llama-3.1-8B"], "; there is llama-3.1-8b"),
        (["llama-9"], "; owner/name --fetch reads a config.json from the hub"),
        (["llama\0"], "there is no model and no file"),
        (["x" * 500], "there is no model and no file"),
        (["llama-3-8b", "--gpu", "h9"], "gpu must be one of t4, a10, rtx-3090"),
        (["glm-5", "--gpu", "h100"], "glm-5: parameters are not published; give a number"),
        (["llama-3-8b", "--gpu", "h100", "--percent", "101"], "percent must be"),
        (["."], "there is no file"),
        (["llama-3-8b", "--flags", "vllm"], "flags are for one kind of GPU: name it"),
        (["llama-3-8b", "--gpu", "h100", "--flags", "tgi"], "one of vLLM, SGLang, llama.cpp,"),
    ],
)
def test_what_cannot_be_is_one_sentence(capsys, arguments, sentence):
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert sentence in printed.err
    assert printed.out == ""
    assert printed.err.count("\n") == 1


def test_parameters_are_numbers_with_a_letter(capsys):
    numbers = {"8B": 8 * 10**9, "1.5t": 15 * 10**11, "400M": 4 * 10**8, "7": 7}
    assert {text: read_parameters(text) for text in numbers} == numbers
    for text in ("eight", "", "-8B", "0B", "1e9", "9" * 5_000 + "x"):
        with pytest.raises(SystemExit):
            main(["glm-5", "--gpu", "h100", "--parameters", text])
        assert "is no number such as 8B" in capsys.readouterr().err or text.startswith("-")


def test_tokens_are_typed_as_they_are_written(capsys):
    assert ask(capsys, "gpt2", "--tokens", "1,024") == ask(capsys, "gpt2", "--tokens", "1024")
    for text in ("1,02", "1,0244", "33,,000", "1.5", "abc", "9" * 5_000):
        with pytest.raises(SystemExit):
            main(["gpt2", "--tokens", text])
        assert "is no whole number such as 131072 or 131,072" in capsys.readouterr().err


def test_it_is_a_command():
    command = [sys.executable, "-m", "explainers.memory", "gpt2", "--tokens", "1024", "--json"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert json.loads(run.stdout)["cache_bytes"] == 2 * 12 * 768 * 2 * 1024


def test_a_name_in_place_of_a_file_is_told_from_a_file(capsys, monkeypatch):
    for pasted, message in [
        ("Qwen/Qwen3-8B\n", "Qwen/Qwen3-8B --fetch reads a config.json from the hub"),
        ("model_type: llama\nhidden_size: 8\n", "it looks like YAML. Convert it: python -c"),
    ]:
        monkeypatch.setattr(sys, "stdin", io.StringIO(pasted))
        assert main(["-"]) == 2
        assert message in capsys.readouterr().err
    monkeypatch.setattr(sys, "stdin", io.StringIO("llama-3.1-8b\n"))
    assert "llama-3.1-8b: 1 × 131,072 tokens" in ask(capsys, "-")


def test_yaml_becomes_the_json_that_is_read():
    pytest.importorskip("yaml")
    command = shlex.split(TO_JSON.partition(" <")[0])[1:]
    written = "---\nmodel_type: llama\nnum_hidden_layers: 3\nlayers: [a, b]\n"
    run = subprocess.run(
        [sys.executable, *command], input=written, capture_output=True, text=True, check=True
    )
    layers = {"num_hidden_layers": 3, "layers": ["a", "b"]}
    assert parse_object(run.stdout) == {"model_type": "llama"} | layers


QWEN = {
    "model_type": "qwen2", "hidden_size": 3584, "num_hidden_layers": 28, "num_attention_heads": 28,
    "num_key_value_heads": 4, "max_position_embeddings": 32_768,
}  # fmt: skip


def ask_for_flags(capsys, folder, config, tokens, *more):
    (folder / "config.json").write_text(json.dumps(QWEN | config), encoding="utf-8")
    words = "--tokens", tokens, "--gpu", "h100", "--parameters", "7.6B", "--flags", *more
    return ask(capsys, folder, *words)


def test_vllm_stores_a_cache_as_the_file_says(capsys, tmp_path):
    scheme = {"num_bits": 8, "type": "float"}
    quantized = {"quant_method": "compressed-tensors", "kv_cache_scheme": scheme}
    halved = 2 * 4 * 128 * 28 * 32_768
    for engine, more, size, flag in [
        ("vllm", (), halved, "--kv-cache-dtype auto"),
        ("vllm", ("--cache-dtype", "bfloat16"), 2 * halved, "--kv-cache-dtype bfloat16"),
        ("sglang", (), halved, "--kv-cache-dtype fp8_e4m3"),
        ("llama.cpp", (), 2 * halved, "--cache-type-k bf16"),
    ]:
        config = {"quantization_config": quantized}
        printed = ask_for_flags(capsys, tmp_path, config, 32_768, engine, *more)
        assert flag in printed
        assert f"= {size:,} bytes" in printed
        assert ("fp8, as kv_cache_scheme says" in printed) == (size == halved)


def test_flags_reach_as_far_as_scaled_positions(capsys, tmp_path):
    yarn = {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32_768}
    printed = ask_for_flags(capsys, tmp_path, {"rope_scaling": yarn}, 131_072, "vllm")
    assert "--max-model-len 131072" in printed
    assert "published with" not in printed


@pytest.mark.parametrize(
    ("model", "tokens", "batch", "gpu", "gpus"),
    [("qwen3-next-80b-a3b", 100_001, 5, "h200", 2), ("gemma-3-27b", 33_000, 3, "a100-80", 2)],
)
def test_command_and_function_print_the_same(capsys, model, tokens, batch, gpu, gpus):
    report = report_cache(model, tokens, batch, gpu=gpu, gpus=gpus)
    shape, fit = find_shape(model), report.fit
    assert report.cache_bytes == count_cache_bytes(shape, tokens, batch)
    assert report.extra_bytes == count_extra_bytes(shape, tokens, batch)
    words = model, "--tokens", tokens, "--batch", batch, "--gpu", gpu.upper(), "--gpus", gpus
    printed = json.loads(ask(capsys, *words, "--json"))
    assert printed["total_bytes"] == report.cache_bytes + report.extra_bytes
    assert fit is not None
    weights = serving.find_weight_format(shape)
    served = serving.Deployment(shape, serving.read_gpus()[gpu], gpus, weights, block=16)
    assert fit.texts_that_fit == serving.count_users(served, tokens)
    assert fit.longest_context == serving.find_longest_context(served, batch)
    assert printed["fit"]["texts_that_fit"] == fit.texts_that_fit
    text = ask(capsys, *words)
    assert all(line in text for line in report.working)
    assert f"such texts that fit at once: {fit.texts_that_fit:,}" in text


def test_plans_and_flags_are_those_of_the_library(capsys):
    """40 users at 32k: which GPU, how many? And the flags. The page is held to the same library."""
    wish = "gpt-oss-20b", "--tokens", 32_768, "--batch", 40
    shape = find_shape("gpt-oss-20b")
    served = serving.Deployment(shape, serving.read_gpus()["h100"], weight_dtype="mxfp4", block=16)
    printed = json.loads(ask(capsys, *wish, "--gpu", "any", "--json"))["plans"]
    for told, plan in zip(printed, plan_every_gpu(served, 32_768, 40), strict=True):
        assert (told["gpu"], told["gpus"]) == (plan.gpu.id, plan.gpus)
        assert (told["limit"], told["texts_that_fit"]) == (plan.limit, plan.users)
    command = make_command(served, 32_768, 40, "vLLM")
    assert command is not None
    text = ask(capsys, *wish, "--gpu", "h100", "--flags", "VLLM")
    assert command.code in text
    assert all(f"{flag.name} {flag.value}: {flag.reason}" in text for flag in command.flags)
    for words, told in [
        (("llama-3.1-8b", "--batch", 40, "--gpu", "any"), "t4: not even 16 are enough\n"),
        (("llama-3.1-405b", "--gpu", "h100", "--flags", "vllm"), "no flags: not even one text"),
        (("deepseek-v4-flash", "--gpu", "h200", "--gpus", 4, "--flags", "sglang"), "in fp8: choo"),
        (("--list",), "tpu-v5e"),
    ]:
        assert told in ask(capsys, *words)
