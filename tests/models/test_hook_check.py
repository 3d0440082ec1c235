"""`python -m explainers.models check`: what it prints of a model, and how it ends."""

import gc
import json

import pytest
import torch
from transformers import BigBirdConfig, BigBirdForCausalLM, PreTrainedTokenizerFast

from explainers.models import attention_hook, hook_check, registry
from explainers.models import load as loading_module
from explainers.models.__main__ import main
from explainers.models.registry import ModelError
from tests.support import saved_marian, saved_models, saved_whisper


@pytest.fixture(autouse=True)
def store(monkeypatch, tmp_path):
    monkeypatch.setenv("ATTENTION_MODELS", str(tmp_path))
    monkeypatch.setenv(registry.READ_FOLDERS_VARIABLE, "0")  # the check sets it, and this undoes it
    monkeypatch.setattr(loading_module, "_models", {})
    return tmp_path


def check(capsys, *arguments):
    """How it ends, and what it printed."""
    code = main(["check", *map(str, arguments)])
    return code, capsys.readouterr().out


def test_a_model_of_a_folder(capsys, tmp_path, monkeypatch):
    code, said = check(capsys, saved_models.llama(tmp_path / "tiny"))
    lines = said.splitlines()
    assert code == 0
    assert lines[1] == "LlamaForCausalLM, 2,916 parameters in float32, read 7 tokens"
    assert [line.split()[:2] for line in lines[4:6]] == [["self", "0"], ["self", "1"]]
    assert lines[6].split()[0] == "output"
    assert "gives what the model's own gives" in said
    assert "Memory: 0.0 MB of weights; the process grew by at most " in said
    saved_models.llama(tmp_path / "my" / "tiny")
    monkeypatch.chdir(tmp_path)
    assert check(capsys, "my/tiny")[0] == 0, "though it looks like a model of the hub"


def test_a_model_by_its_name_in_json(capsys):
    folder = saved_models.llama(registry.locate_folder("someone/tiny"))
    code, said = check(capsys, "someone/tiny", "--json")
    found = json.loads(said)
    assert (code, found["is_equal"], found["reason"]) == (0, True, "")
    places = [(row["kind"], row["layer"]) for row in found["differences"]]
    assert places == [("self", 0), ("self", 1), ("logits", None)]
    model = loading_module.load_model("someone/tiny").model
    assert found["weight_bytes"] == sum(one.nbytes for one in model.parameters())
    assert folder.is_dir()


def test_a_difference_ends_with_1(capsys, tmp_path, monkeypatch):
    right = attention_hook.scale_query
    monkeypatch.setattr(attention_hook, "scale_query", lambda *given: right(*given) * 1.5)
    code, said = check(capsys, saved_models.llama(tmp_path / "tiny"))
    assert code == 1
    assert "gives something else than the model's own" in said


@pytest.mark.parametrize("save", [saved_marian.save, saved_whisper.save])
def test_encoder_and_decoder(capsys, tmp_path, save):
    save(tmp_path / "two")
    code, said = check(capsys, tmp_path / "two", "--json")
    rows = json.loads(said)["differences"]
    assert code == 0
    assert {row["kind"] for row in rows} == {"encoder", "self", "cross", "logits"}


def test_a_refusal_ends_with_1_and_says_why(capsys, tmp_path):
    folder = saved_models.llama(tmp_path / "big")
    tokenizer = PreTrainedTokenizerFast.from_pretrained(folder)
    config = BigBirdConfig(
        vocab_size=5, hidden_size=8, num_hidden_layers=1, num_attention_heads=2, is_decoder=True
    )
    BigBirdForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    code, said = check(capsys, folder)
    assert code == 1
    assert "BigBirdForCausalLM computes attention in its own class" in said
    with pytest.raises(registry.RefusedModelError, match="ours cannot be put in"):
        loading_module.load_model(str(folder))
    code, said = check(capsys, folder, "--json")
    assert "in its own class" in json.loads(said)["reason"]


def test_a_model_that_cannot_be_loaded_is_not_refused(capsys, tmp_path, monkeypatch):
    def fail(*_):
        raise ModelError("broken: no attention mask token") from ValueError("attention")

    monkeypatch.setattr(loading_module, "load_parts", fail)
    code, said = check(capsys, saved_models.llama(tmp_path / "tiny"))
    assert (code, said) == (2, "broken: no attention mask token\n")


def test_a_refusal_while_it_runs(capsys, tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise ValueError("attends outside our function")

    monkeypatch.setattr(hook_check, "measure_differences", refuse)
    code, said = check(capsys, saved_models.llama(tmp_path / "tiny"))
    assert code == 1
    assert "cannot be put inside: attends outside our function" in said


def test_what_is_no_model_ends_with_2(capsys, tmp_path):
    for arguments in (("gpt2",), ("gpt2", "--json"), ("nobody//none",)):
        code, said = check(capsys, *arguments)
        assert code == 2
        assert "is not owner/name" in said
    code, said = check(capsys, tmp_path)
    assert code == 2
    assert "it has no config.json" in said


def test_memory_is_that_of_the_process():
    gc.collect()  # what others left is given back before, and not in between
    used = hook_check.free_memory.measure_used_bytes()
    kept = torch.ones(150_000_000)
    assert hook_check.free_memory.measure_used_bytes() >= used + 0.9 * kept.nbytes
    del kept
    assert hook_check.free_memory.measure_peak_bytes() >= used + 500_000_000
