"""What a folder may ask for: refused before it takes memory or time, or in another process."""

import json
import os
import shutil
import subprocess
import sys

import psutil
import pytest
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from explainers.job_queue import UnwantedError
from explainers.models import model_files, trial
from explainers.models.model_files import check_folder, load_parts, refuse_panics
from explainers.models.registry import ModelError
from explainers.models.trial import MOST_TOKENS, try_model
from tests.support import saved_models
from tests.support.hostile_folders import HOSTILE
from tests.support.tiny_tokenizer import tokenizer_of

NAME = "someone/hostile"
PARAMETERS = 10_000


def wait_on():
    """Somebody still waits for the model."""


@pytest.fixture
def folder(tmp_path):
    return saved_models.llama(tmp_path / "model")


def change(file, **changes):
    file.write_text(json.dumps({**json.loads(file.read_text()), **changes}))


EACH_IN_A_FORK = """
import os, sys
import transformers.models.auto.modeling_auto
from explainers.models import attention_hook, model_files, trial
for folder in sys.stdin.read().splitlines():
    child = os.fork()
    if not child:
        code = 3
        try:
            code = trial.main("a/b", folder, str(trial.SPARE_BYTES), "6")
        finally:
            sys.stdout.flush()
            os._exit(code)
    print("code", os.waitpid(child, 0)[1], flush=True)
"""
"""The other process, once for all of them: importing transformers is what takes time."""
PASSED = "code 0"


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory):
    """By kind: what a look at the folder says, or the last line of its trial."""
    store = tmp_path_factory.mktemp("foreign")
    whole, said, left = saved_models.llama(store / "whole"), {}, {}
    before = psutil.Process().memory_info().rss
    for number, (kind, spoil) in enumerate({**HOSTILE, "harmless": lambda _: None}.items()):
        folder = store / f"folder-{number}"
        shutil.copytree(whole, folder)
        spoil(folder)
        try:
            check_folder(folder)
            left[kind] = str(folder)
        except ModelError as error:
            said[kind] = str(error)
    said["growth"] = psutil.Process().memory_info().rss - before
    command = [sys.executable, "-c", EACH_IN_A_FORK]
    environment = {**os.environ, **trial.WITHOUT_NETWORK}
    told = subprocess.run(
        command, input="\n".join(left.values()), capture_output=True, text=True, env=environment
    )
    lines = [line for line in told.stdout.splitlines() if line.startswith("code ")]
    assert len(lines) == len(left), told.stderr[-2000:]
    return said | dict(zip(left, lines, strict=True))


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_folder_is_refused(kind, verdicts):
    assert verdicts[kind] != PASSED


def test_what_is_refused_at_a_look_takes_no_memory(verdicts):
    assert verdicts["growth"] < 200 * 2**20


def test_a_folder_of_a_model_passes(verdicts):
    assert verdicts["harmless"] == PASSED


@pytest.mark.parametrize(
    ("kind", "match"),
    [
        ("a million labels", "num_labels is 1,000,000"),
        ("a config.json of two million bytes", "at most 2,000,000 are read"),
        ("a tokenizer that is too large", "tokenizer.json has"),
        ("packed weights", "quantised"),
        ("four hundred thousand tensors", "names too many tensors"),
        ("a billion layers", "has weights for fewer"),
        ("a pipe for a config.json", "is no file"),
        ("a device", "is no file"),
        ("nested until the stack ends", "is not JSON"),
        ("a list that leads outside", "outside its folder"),
        ("pickled weights", "can run code"),
    ],
)
def test_what_is_asked_for_is_told(kind, match, verdicts):
    assert match in verdicts[kind]


@pytest.mark.parametrize("named", ["kernels-community/flash-attn", "flash_attention_2", "../x"])
def test_a_file_names_no_attention(folder, named):
    change(folder / "config.json", _attn_implementation=named, use_kernels=True)
    parts = load_parts(NAME, folder, check_folder(folder))
    assert parts.model.config._attn_implementation == "eager"


class PanicException(BaseException):
    """In place of the one of Rust's library."""


def test_a_panic_of_a_tokenizer_is_told_and_nothing_else_is_changed(monkeypatch):
    tokenizer = tokenizer_of()
    kind = type(tokenizer)
    refuse_panics(NAME, tokenizer)
    assert tokenizer("w7 w9")["input_ids"] == [7, 9]
    for error, told in [
        (PanicException, ModelError),
        (ValueError, ValueError),
        (KeyboardInterrupt, KeyboardInterrupt),
    ]:

        def fail(self, *texts, error=error):
            raise error

        monkeypatch.setattr(kind, "__call__", fail)
        with pytest.raises(told):
            tokenizer("w7")


def test_a_panic_while_a_model_is_loaded_is_told(folder, monkeypatch):
    def fail(*_):
        raise PanicException

    monkeypatch.setattr(model_files, "find_class_name", fail)
    with pytest.raises(ModelError, match="cannot be loaded: PanicException"):
        load_parts(NAME, folder, check_folder(folder))


def test_a_model_as_others_passes(folder):
    try_model(NAME, folder, PARAMETERS, wait_on)


def multiply(folder):
    """A tokenizer of 17 steps, each of which writes every letter twice."""
    words = Tokenizer(models.WordLevel({"a": 0, "b": 1}, unk_token="a"))
    words.normalizer = normalizers.Sequence([normalizers.Replace("a", "aa")] * 17)
    words.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    words.save(str(folder / "tokenizer.json"))


@pytest.mark.parametrize(
    ("spoil", "match"),
    [
        (multiply, f"and more than {MOST_TOKENS} of one are not read"),
        (lambda f: (f / "tokenizer.json").write_text("{}"), "cannot be loaded"),
        (lambda f: change(f / "config.json", vocab_size=10**9), "parameters|not whole|cannot be"),
    ],
)
def test_what_libraries_make_of_a_folder_is_found_in_another_process(folder, spoil, match):
    spoil(folder)
    with pytest.raises(ModelError, match=match):
        try_model(NAME, folder, PARAMETERS, wait_on)


MISBEHAVES = """
import sys
from explainers.models import trial
def try_folder(name, folder):
    {}
trial.try_folder = try_folder
sys.exit(trial.main(*sys.argv[1:]))
"""


@pytest.mark.parametrize(
    ("does", "limits"),
    [
        ("held = [bytearray(2 ** 20) for _ in range(2_000)]", {}),
        ("while True: pass", {"MOST_SECONDS": 1}),
        ("import socket; socket.create_connection(('127.0.0.1', 9))", {}),
        ("import subprocess; subprocess.run(['true'])", {}),
        ("import os; os.abort()", {}),
    ],
)
def test_a_model_that_takes_what_is_not_its_own_is_not_loaded(folder, monkeypatch, does, limits):
    for name, value in limits.items():
        monkeypatch.setattr(trial, name, value)
    monkeypatch.setattr(trial, "COMMAND", ("-c", MISBEHAVES.format(does)))
    with pytest.raises(ModelError, match="is not loaded"):
        try_model(NAME, folder, PARAMETERS, wait_on)


def test_a_trial_that_nobody_waits_for_ends(folder, monkeypatch):
    def go():
        raise UnwantedError

    monkeypatch.setattr(trial, "COMMAND", ("-c", MISBEHAVES.format("while True: pass")))
    with pytest.raises(UnwantedError):
        try_model(NAME, folder, PARAMETERS, go)


def test_a_folder_that_was_tried_is_not_tried_again_until_it_changes(folder, monkeypatch):
    calls = []
    monkeypatch.setattr(trial, "_verdicts", {})
    monkeypatch.setattr(trial, "_try_in_process", lambda *asked: calls.append(asked))
    for _ in range(2):
        try_model(NAME, folder, PARAMETERS, wait_on)
    assert len(calls) == 1
    change(folder / "config.json", more=1)
    try_model(NAME, folder, PARAMETERS, wait_on)
    assert len(calls) == 2


def test_a_kept_refusal_is_raised_by_an_error_of_its_own_each_time(folder, monkeypatch):
    monkeypatch.setattr(trial, "_verdicts", {})
    monkeypatch.setattr(trial, "_try_in_process", lambda *_: "no")
    told = []
    for _ in range(2):
        with pytest.raises(ModelError, match="no") as caught:
            try_model(NAME, folder, PARAMETERS, wait_on)
        told.append(caught.value)
    assert told[0] is not told[1], "the frames of one visitor would stay with the next one's"
