"""Every class of language models: equal with our attention inside, or refused."""

import json
import os
import re
import subprocess
import sys
from typing import Any
from unittest import mock

import pytest
import torch
import transformers
from transformers import BigBirdConfig, BigBirdForCausalLM

from explainers.models import attention_hook, load, registry
from explainers.models.attention_hook import install_hook, run_model
from explainers.models.comparison import measure_differences
from explainers.models.registry import ModelError
from explainers.models.replaced_methods import REPLACEMENTS
from tests.support import saved_marian, saved_models
from tests.support.opening import ROOT
from tests.support.tiny_families import FAMILIES, OUT_AND_IN, inputs, tiny, tiny_inside
from workshop.models import families, hook_check
from workshop.models.__main__ import main
from workshop.models.families import list_families, try_family
from workshop.models.family_sizes import PARTICULAR, make_inputs, make_tiny_model

CLASSES = {family.model_type: family for family in list_families()}
EQUAL = ["llama", "deepseek_v32", "granite_swa", "jamba", "minimax", "diffllama", "musicgen"]
EQUAL += ["openai-gpt", "cpmant", "git", "xlm", "zaya"]
REFUSED = {
    "blt": "BltCrossAttention makes a mask of its own",
    "deepseek_v4": "DeepseekV4Attention allows what the mask that was made for it forbids",
    "inkling2_text": "does more than our functions do: position_bias, sinks",
    "mamba": "MambaForCausalLM has no attention",
    "xlnet": "XLNetLMHeadModel computes attention in its own class",
    "gemma4_assistant": "it never runs alone",
}
REPLACED = ["codegen", "falcon", "gpt_neo", "gpt_neox_japanese", "gptj", "megatron-bert", "mvp"]
REPLACED += ["rembert", "roformer", "trocr", "xglm"]


pytestmark = pytest.mark.filterwarnings("ignore")


def documented():
    """{family: (class, last column)} of the table in the documentation."""
    text = families.FAMILIES_FILE.read_text(encoding="utf-8")
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return {row[0]: row[1:] for row in rows if row[0] != "Family"}


def test_the_documentation_lists_every_class_of_the_installed_transformers():
    assert {name: row[0] for name, row in documented().items()} == dict(list_families())
    told = families.FAMILIES_FILE.read_text(encoding="utf-8")
    assert f"transformers {transformers.__version__}:" in told, "write it again"


@pytest.mark.parametrize("name", [*EQUAL, *REFUSED])
def test_a_family_is_equal_or_refused_with_its_reason_and_documented_so(name):
    trial, told = try_family(CLASSES[name]), documented()[name]
    if name in REFUSED:
        assert REFUSED[name] in trial.reason
        assert told == [CLASSES[name].class_name, trial.reason]
    else:
        assert trial.difference is not None, trial.reason
        assert len(told) == 3
        assert told[2] == families.say_layers(trial)


def test_a_family_that_differs_or_where_attention_changes_nothing_is_neither(monkeypatch):
    with monkeypatch.context() as patch:
        spoil_a_number(patch, 1.01)
        with pytest.raises(AssertionError, match="apart"):
            try_family(CLASSES["llama"])
    monkeypatch.setattr(families, "measure_effect", lambda *_: 0.0)
    with pytest.raises(AssertionError, match="moves 0"):
        try_family(CLASSES["llama"])


def build(name) -> Any:
    return make_tiny_model(name, getattr(transformers, CLASSES[name].class_name))


def held(model, largest):
    """Read token by token, too, and with attention that is far from uniform."""
    install_hook(model)
    rows = measure_differences(model, num_decoded=2, **make_inputs(model))
    layers = run_model(model, **make_inputs(model)).layers
    assert len(rows) == 1 + len(layers)
    assert [row for row in rows if not row.largest <= largest * row.magnitude] == []
    assert layers[0].weights[1, :, -1].std() > 0.02


@pytest.mark.parametrize("name", REPLACED)
def test_classes_with_attention_of_their_own_read_token_by_token(name):
    for dtype in (torch.float32, torch.bfloat16):  # GPT-Neo's scores, which nothing divides: large
        held(build(name).to(dtype), 256 * torch.finfo(dtype).eps)


def test_falcon_with_alibi(monkeypatch):
    monkeypatch.setitem(PARTICULAR, "falcon", {"alibi": True})
    held(build("falcon"), 1e-5)


def test_each_replacement_is_tried():
    folders = {name.partition(".")[0].replace("megatron_", "megatron-") for name in REPLACEMENTS}
    tried = {*REPLACED, *EQUAL, "openai", "bloom", "mpt"}  # the last two are in tiny_families
    assert folders - tried == set()


@pytest.mark.parametrize(
    ("name", "attention", "sizes"),
    [
        ("BigBirdPegasus", "BigBirdPegasusEncoderAttention", OUT_AND_IN),
        ("PegasusX", "PegasusXGlobalLocalAttention", OUT_AND_IN),
        ("LongT5", "LongT5LocalAttention", FAMILIES["T5 (relative bias)"][2]),
    ],
)
def test_an_encoder_that_attends_without_ours_is_refused_by_its_name(name, attention, sizes):
    config = getattr(transformers, f"{name}Config")(**sizes)
    model = getattr(transformers, f"{name}ForConditionalGeneration")(config).eval()
    install_hook(model)
    with pytest.raises(ValueError, match=f"outside our function, in {attention}: "):
        run_model(model, **inputs(model))


def test_an_attention_is_counted_once_however_often_ours_was_put_in():
    model, hooks = tiny("BERT"), []
    for _time in range(2):
        install_hook(model)
        hooks.append(sum(len(one._forward_hooks) for one in model.modules()))
    assert hooks[0] == hooks[1]
    assert len(run_model(model, **inputs(model)).layers) == 3


def test_one_layer_without_ours_is_enough_to_refuse():
    model = tiny_inside("Llama")
    attention = model.model.layers[1].self_attn
    attention.forward = lambda hidden_states, **_: (hidden_states, None)
    with pytest.raises(ValueError, match="outside our function, in LlamaAttention: "):
        run_model(model, **inputs(model))
    assert attention_hook.active_run.get() is None


def test_the_command_tries_the_families_that_are_named(capsys):
    assert main(["families", "llama", "mamba"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"llama: equal, \S+ apart", lines[0])
    assert lines[1] == "mamba: refused, MambaForCausalLM has no attention that ours could replace"
    assert main(["families", "nothing"]) == 2
    assert main(["families", "mamba", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["model_type"], row["difference"]) == ("mamba", None)


def test_a_mask_of_the_caller_is_taken_as_it_is():
    """A tree of drafts is read with one: it allows what is not causal, or forbids more."""
    model = tiny_inside("Llama")
    ids = inputs(model)["input_ids"]
    mask = torch.ones(2, 1, 7, 7, dtype=torch.bool).tril()
    mask[:, :, 6, 2:5] = False
    layers = run_model(model, input_ids=ids, attention_mask=mask).layers
    assert all(torch.equal(layer.mask, mask) for layer in layers)
    assert (layers[0].weights[:, :, 6, 2:5] == 0).all()


@pytest.fixture
def unread(store, monkeypatch):
    """The check lets folders be read, and this undoes it."""
    monkeypatch.setenv(registry.READ_FOLDERS_VARIABLE, "0")


def save_big_bird(folder):
    saved_models.llama(folder)  # whose tokenizer it keeps
    config = BigBirdConfig(
        vocab_size=5, hidden_size=8, num_hidden_layers=1, num_attention_heads=2, is_decoder=True
    )
    BigBirdForCausalLM(config).save_pretrained(folder)


def spoil_a_number(monkeypatch, factor=1.5):
    right = attention_hook.scale_query
    monkeypatch.setattr(attention_hook, "scale_query", lambda *given: right(*given) * factor)


def fail_to_load(monkeypatch):
    error = ModelError("broken: no attention mask token")
    error.__cause__ = ValueError("attention")
    monkeypatch.setattr(load, "load_parts", mock.Mock(side_effect=error))


def refuse_to_run(monkeypatch):
    error = ValueError("attends outside our function")
    monkeypatch.setattr(hook_check, "measure_differences", mock.Mock(side_effect=error))


BOTH_SIDES = ["cross", "encoder", "logits", "self"]


@pytest.mark.usefixtures("unread")
@pytest.mark.parametrize(
    ("save", "change", "code", "said", "kinds"),
    [
        (saved_models.llama, None, 0, "gives what the model's own gives", ["logits", "self"]),
        (saved_marian.save, None, 0, "gives what the model's own gives", BOTH_SIDES),
        (saved_models.llama, spoil_a_number, 1, "gives something else", ["logits", "self"]),
        (save_big_bird, None, 1, "BigBirdForCausalLM computes attention in its own class", []),
        (saved_models.llama, refuse_to_run, 1, "put inside: attends outside our function", []),
        (saved_models.llama, fail_to_load, 2, "broken: no attention mask token", None),
        (lambda folder: folder.mkdir(parents=True), None, 2, "it has no config.json", None),
    ],
)
def test_a_folder_is_checked(capsys, tmp_path, monkeypatch, save, change, code, said, kinds):
    """It looks like a model of the hub: `my/model`, in the folder that the command runs in."""
    save(tmp_path / "my" / "model")
    if change:
        change(monkeypatch)
    monkeypatch.chdir(tmp_path)
    assert main(["check", "my/model"]) == code
    assert said in capsys.readouterr().out
    assert main(["check", "my/model", "--json"]) == code
    if kinds is not None:
        rows = json.loads(capsys.readouterr().out)["differences"]
        assert sorted({row["kind"] for row in rows}) == kinds


@pytest.mark.usefixtures("unread")
def test_a_model_is_checked_by_its_name(capsys):
    for arguments in (["gpt2", "--json"], ["nobody//none"]):
        assert main(["check", *arguments]) == 2
        assert "is not owner/name" in capsys.readouterr().out
    saved_models.llama(registry.locate_folder("someone/tiny"))
    assert main(["check", "someone/tiny", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["is_equal"], found["reason"]) == (True, "")
    model = load.load_model("someone/tiny").model
    assert found["weight_bytes"] == sum(one.nbytes for one in model.parameters())


def test_memory_is_that_of_the_process():
    """In one of its own: here others give memory back whenever they like."""
    script = """
from workshop.models.hook_check import measure_peak_bytes, measure_used_bytes
used = measure_used_bytes()
kept = b"1" * 300_000_000
assert measure_used_bytes() >= used + 0.9 * len(kept)
del kept
assert measure_used_bytes() < used + 150_000_000
assert measure_peak_bytes() >= used + 270_000_000
"""
    subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": ""},
        check=True,
    )
