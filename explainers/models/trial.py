"""A model that a visitor names is tried in a process of its own, before this one loads it.

Its files may ask for more memory or time than there is, or make libraries fail in ways that Python
cannot catch. So another process reads them first as this one would: with limits for memory and
time, without a network, and without a way to begin programs. What passes takes no more here.

`python -m explainers.models.trial NAME FOLDER` is that process. It prints what is wrong, as JSON.
"""

import contextlib
import json
import os
import re
import string
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from explainers.folders import ROOT
from explainers.messages import N_, Message, get_message
from explainers.models.registry import ModelError

MOST_SECONDS = 60
"""Of a processor, for a model without weights; and so many more for each GB of them."""
SECONDS_FOR_GB = 15
SPARE_BYTES = 400 * 2**20
"""What transformers may take beside the weights, which are read and converted."""
MOST_TOKENS = 32
"""Of a character of the text: an emoji, byte by byte with signs around each, has fewer."""
PROBES = (
    string.printable,
    "".join(40 * letter for letter in string.printable[:62]),
    "The CEO announced record earnings on Friday.",
    "the the the the the the the the",
    "café 😀 नमस्ते ﷺ, 12,345.67!\n\tẠ",
)
"""Every letter; each many times, for which some expressions take for ever; words; the same word
again and again; and what some tokenizers take apart."""
WITHOUT_NETWORK = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "TRANSFORMERS_VERBOSITY": "error",
    "OMP_NUM_THREADS": "1",
}
FORBIDDEN = ("socket.", "subprocess.", "os.exec", "os.fork", "os.posix_spawn", "os.system")
"""What a process may not do here, by the first letters of Python's names for it."""
COMMAND = "-m", "explainers.models.trial"
POLL_SECONDS = 0.2
MOST_KEPT = 64
KEPT_SECONDS = 600
"""A hostile folder takes its time once in so many; that a trial was ended may be this machine's."""
_verdicts: dict[tuple[Any, ...], str | None] = {}
"""What is wrong, by folder and its files as they are."""
SECRET = re.compile("TOKEN|KEY|SECRET|PASS", re.IGNORECASE)
"""In the names of what the environment tells this process and no other."""
_lock = threading.Lock()


def try_model(name: str, folder: Path, num_parameters: int, check: Callable[[], None]) -> None:
    """Raise what is wrong with a model; `check` raises where nobody waits for it any more."""
    files = sorted(file.stat() for file in folder.iterdir() if file.is_file())
    stamps = ((one.st_size, one.st_mtime_ns) for one in files)
    key = (name, str(folder), int(time.monotonic() // KEPT_SECONDS), *stamps)
    with _lock:
        is_known, verdict = key in _verdicts, _verdicts.get(key)
    if not is_known:
        verdict = _try_in_process(name, folder, num_parameters, check)
        with _lock:
            if len(_verdicts) >= MOST_KEPT:
                _verdicts.clear()
            _verdicts[key] = verdict
    if verdict:
        raise ModelError(verdict)  # one of its own each time: an error keeps what raised it alive


def _try_in_process(
    name: str, folder: Path, num_parameters: int, check: Callable[[], None]
) -> str | None:
    gigabytes = num_parameters * 4 / 1e9
    seconds = int(MOST_SECONDS + SECONDS_FOR_GB * gigabytes)
    memory = int(num_parameters * 4 * 2 + SPARE_BYTES)
    with subprocess.Popen(  # noqa: S603
        [sys.executable, *COMMAND, name, str(folder), str(memory), str(seconds)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # what libraries say there may be anybody's words
        env={n: v for n, v in os.environ.items() if not SECRET.search(n)} | WITHOUT_NETWORK,
        cwd=ROOT,
    ) as process:
        told = b""
        end = time.monotonic() + 3 * seconds  # beside other work it gets half a processor
        try:
            while time.monotonic() < end:
                check()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    told, _ = process.communicate(timeout=POLL_SECONDS)
                    break
        finally:
            process.kill()
    if process.returncode == 0:
        return None
    with contextlib.suppress(ValueError, TypeError, KeyError):
        said = json.loads(told)
        return Message(said["template"], said["slots"]) if said["slots"] else said["template"]
    return N_(
        "{model} is not loaded: a trial took over {memory:,} MB of memory beside its weights, "
        "took over {seconds} seconds, or crashed.",
        model=name,
        memory=SPARE_BYTES // 2**20,
        seconds=seconds,
    )


def limit_process(memory: int, seconds: int) -> None:
    """From here on: so many bytes more, so many seconds of a processor, and nothing outside."""
    with contextlib.suppress(ImportError):
        import resource  # only where there are such limits

        import psutil

        data = getattr(psutil.Process().memory_info(), "data", 0)
        resource.setrlimit(resource.RLIMIT_DATA, (data + memory, data + memory))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    def refuse(event: str, _arguments: object) -> None:
        if event.startswith(FORBIDDEN):
            raise PermissionError(event)

    sys.addaudithook(refuse)


def try_folder(name: str, folder: Path) -> None:
    """Read a model as it would be read for a page, and a few texts; raises what is wrong."""
    from explainers.models.attention_hook import install_or_refuse
    from explainers.models.model_files import check_folder, load_parts

    model, tokenizer = load_parts(name, folder, check_folder(folder))
    install_or_refuse(model, name)
    for text in PROBES:
        count = len(tokenizer(text)["input_ids"])
        if count > MOST_TOKENS * len(text):
            raise ModelError(
                "{model}: its tokenizer makes {count:,} tokens of {letters} characters, and "
                "more than {most} of one are not read.",
                model=name,
                count=count,
                letters=len(text),
                most=MOST_TOKENS,
            )


def main(name: str, folder: str, memory: str, seconds: str) -> int:
    """Try a folder; 1 if something is wrong with it, which is printed."""
    import transformers.models.auto.modeling_auto  # noqa: F401 - is not the model's memory

    limit_process(int(memory), int(seconds))
    try:
        try_folder(name, Path(folder))
    except ModelError as error:
        words = get_message(error)
    except MemoryError:
        return 2
    else:
        return 0
    template, slots = getattr(words, "template", words), dict(getattr(words, "slots", {}))
    print(json.dumps({"template": template, "slots": slots}, default=str))
    return 1


if __name__ == "__main__":
    status = 3
    try:
        status = main(*sys.argv[1:])
    finally:
        sys.stdout.flush()
        os._exit(status)  # threads of libraries may hang
