"""What a folder may ask for: refused before it takes memory or time, or in another process."""

import os
import re
import socket
import subprocess
import sys
from subprocess import DEVNULL, PIPE
from unittest import mock

import psutil
import pytest

from explainers.job_queue import UnwantedError
from explainers.models import model_files, trial
from explainers.models.model_files import check_folder, load_parts, refuse_panics
from explainers.models.registry import ModelError
from explainers.models.trial import MOST_TOKENS, try_model
from tests.models.conftest import ID
from tests.support.hostile_folders import AT_A_LOOK, WHEN_READ, config, replaces, split, tokenizer
from tests.support.tiny_tokenizer import tokenizer_of

steps_that_multiply = tokenizer(normalizer=replaces(17, 2), pre_tokenizer=split("e"))
"""17 steps, each of which writes a letter twice."""


def wait_on():
    """Somebody still waits for the model."""


@pytest.mark.parametrize("kind", AT_A_LOOK)
def test_what_a_look_finds_is_told_before_anything_is_read(kind, folder):
    spoil, words = AT_A_LOOK[kind]
    spoil(folder)
    before = psutil.Process().memory_info().rss
    with pytest.raises(ModelError, match=re.escape(words)):
        check_folder(folder)
    assert psutil.Process().memory_info().rss - before < 100 * 2**20


EACH_IN_A_FORK = """
import os, sys
import transformers.models.auto.modeling_auto
from transformers import AutoTokenizer, LlamaForCausalLM, PreTrainedTokenizerFast
from explainers.models import attention_hook, model_files, trial
for line in sys.stdin:
    child = os.fork()
    if not child:
        code = 3
        try:
            code = trial.main("a/b", line.strip(), str(trial.SPARE_BYTES), "6")
        finally:
            sys.stdout.flush()
            os._exit(code)
    print("code", os.waitpid(child, 0)[1], flush=True)
"""
"""The other process, once for all of them: importing transformers is what takes time."""


@pytest.fixture(scope="module")
def read_elsewhere():
    """Tries a folder in a process of its own; gives how that ends, 0 where nothing is wrong."""
    command = [sys.executable, "-c", EACH_IN_A_FORK]
    environment = os.environ | trial.WITHOUT_NETWORK
    with subprocess.Popen(
        command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, text=True, env=environment
    ) as process:
        asked, said = process.stdin, process.stdout
        assert asked
        assert said

        def read(folder):
            print(folder, file=asked, flush=True)
            return int(next(line for line in said if line.startswith("code "))[5:])

        yield read
        asked.close()


def test_the_other_process_tells_what_is_wrong(folder, read_elsewhere):
    assert read_elsewhere(folder) == 0, "else none of the next ones would say anything"
    steps_that_multiply(folder)
    with pytest.raises(ModelError, match=f"and more than {MOST_TOKENS} of one are not read"):
        try_model(ID, folder, 10_000, wait_on)


@pytest.mark.rotating(5)
@pytest.mark.parametrize("kind", WHEN_READ)
def test_what_libraries_run_into_is_refused(kind, folder, read_elsewhere):
    WHEN_READ[kind](folder)
    check_folder(folder)  # which a look does not find
    assert read_elsewhere(folder) != 0


@pytest.mark.parametrize("named", ["kernels-community/flash-attn", "flash_attention_2", "../x"])
def test_a_file_names_no_attention(folder, named):
    config(_attn_implementation=named, use_kernels=True)(folder)
    model, _tokenizer = load_parts(ID, folder, check_folder(folder))
    assert model.config._attn_implementation == "eager"


class PanicException(BaseException):
    """In place of the one of Rust's library."""


def test_a_panic_is_told_and_nothing_else_is_changed(monkeypatch, folder):
    words = tokenizer_of()
    kind = type(words)
    refuse_panics(ID, words)
    assert words("w7 w9")["input_ids"] == [7, 9]
    for error, told in [
        (PanicException, ModelError),
        (ValueError, ValueError),
        (KeyboardInterrupt, KeyboardInterrupt),
    ]:
        monkeypatch.setattr(kind, "__call__", mock.Mock(side_effect=error))
        with pytest.raises(told):
            words("w7")

    monkeypatch.setattr(model_files, "find_class_name", mock.Mock(side_effect=PanicException))
    with pytest.raises(ModelError, match="cannot be loaded: PanicException"):
        load_parts(ID, folder, check_folder(folder))


MISBEHAVES = """
import sys
for part in ("transformers", "transformers.models.auto.modeling_auto"):
    sys.modules[part] = sys  # takes seconds, and nothing here needs it
from explainers.models import trial
def try_folder(name, folder):
    {}
trial.try_folder = try_folder
sys.exit(trial.main(*sys.argv[1:]))
"""


def test_what_takes_nothing_passes(folder, monkeypatch):
    """Else none of the next ones would say anything."""
    monkeypatch.setattr(trial, "COMMAND", ("-c", MISBEHAVES.format("pass")))
    try_model(ID, folder, 10_000, wait_on)


@pytest.fixture
def listening():
    """The port of somebody who would answer."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.mark.parametrize(
    "does",
    [
        "held = [bytearray(2 ** 20) for _ in range(2_000)]",
        "while True: pass",
        "import socket; socket.create_connection(('127.0.0.1', PORT))",
        "import subprocess; subprocess.run(['true'])",
        "import os; os.system('true')",
        "import os; os.posix_spawn('/bin/true', ['true'], {})",
        "import os; os.fork() or os._exit(0)",
        "import os; os.abort()",
    ],
)
def test_a_model_that_takes_what_is_not_its_own_is_not_loaded(folder, monkeypatch, listening, does):
    """Memory, time, a network, programs, a crash: but for its limits each of them would pass."""
    if "while" in does:
        monkeypatch.setattr(trial, "MOST_SECONDS", 1)
    script = MISBEHAVES.format(does.replace("PORT", f"{listening}"))
    monkeypatch.setattr(trial, "COMMAND", ("-c", script))
    with pytest.raises(ModelError, match="is not loaded"):
        try_model(ID, folder, 10_000, wait_on)


def test_a_trial_that_nobody_waits_for_ends(folder, monkeypatch):
    monkeypatch.setattr(trial, "COMMAND", ("-c", MISBEHAVES.format("while True: pass")))
    with pytest.raises(UnwantedError):
        try_model(ID, folder, 10_000, mock.Mock(side_effect=UnwantedError))


def test_a_folder_that_was_tried_is_not_tried_again_until_it_changes(folder, monkeypatch):
    tried = mock.Mock(return_value="no")
    monkeypatch.setattr(trial, "_verdicts", {})
    monkeypatch.setattr(trial, "_try_in_process", tried)

    def ask():
        with pytest.raises(ModelError, match="no") as caught:
            try_model(ID, folder, 10_000, wait_on)
        return caught.value

    assert ask() is not ask(), "the frames of one visitor would stay with the next one's"
    assert tried.call_count == 1
    config(more=1)(folder)
    ask()
    assert tried.call_count == 2
