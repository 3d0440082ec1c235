"""Text that a reader typed: on the page as it is, never read as markup; and never in the log."""

import logging
import re
import sys
import threading
import time
import traceback
from collections.abc import Mapping
from functools import cache, wraps
from pathlib import Path
from types import TracebackType
from typing import Any

from streamlit.logger import get_logger

SPELLINGS = {
    "d k": "d_k",
    "two gpus": "two GPUs",
    "gpt 2": "GPT-2",
    "gpt 4": "GPT-4",
    "llama": "Llama",
}
"""What a function's name cannot spell."""
LINES_OF_PLACE, WHILE = 5, 60.0
"""What one place of the code may say in so many seconds; the rest is counted."""
FRAMES = 4


def verbatim(text: str) -> str:
    """The text as a Markdown code span, the one place where nothing at all is transformed.

    Escaping is not enough: addresses become links without any markup (CommonMark 0.31, section
    6.1; GitHub's autolinks). The fence is longer than any run of backticks inside.
    """
    line = " ".join(text.split()) or " "
    fence = "`" * (1 + max(map(len, re.findall("`+", line)), default=0))
    return f"{fence} {line} {fence}"


def shorten(text: str, length: int = 40) -> str:
    """The beginning of a text that may be very long."""
    return text if len(text) <= length else text[: length - 1] + "…"


def make_title(name: str) -> str:
    """The name of a function as the title of what it does, such as a claim or an exercise."""
    words = name.replace("_", " ")
    for plain, spelled in SPELLINGS.items():
        words = re.sub(rf"\b{plain}\b", spelled, words)
    return words


def show_spaces(token: str) -> str:
    """A token whose spaces can be seen."""
    return token.replace(" ", "␣").replace("\n", "↵") or "∅"


class CleanLog:
    """Leaves in a log what code says, and takes out what it says it of."""

    def __init__(self) -> None:
        self._said: dict[str, tuple[float, int]] = {}
        self._lock = threading.Lock()

    def clean(self, record: logging.LogRecord) -> bool:
        """Make one line of it, without anybody's text; False if its place has said enough."""
        place = f"{Path(record.pathname).name}:{record.lineno}"
        problem = _name_problem(record.exc_info)
        left_out = self._count(place + problem)
        if left_out is None:
            return False
        frame, where = sys._getframe(), (record.pathname, record.lineno)
        while frame.f_back and (frame.f_code.co_filename, frame.f_lineno) != where:
            frame = frame.f_back
        # Does the message stand in the code like this, with nothing put into it?
        is_code = isinstance(record.msg, str) and record.msg in frame.f_code.co_consts
        words = _fill(record.msg, record.args) if is_code else f"see {place}"
        more = f" ({left_out} more like it)" if left_out else ""
        who = f"{record.levelname} {record.name}: " if record.levelno >= logging.WARNING else ""
        record.msg, record.args = f"{who}{' '.join(words.split())}{problem}{more}", ()
        record.exc_info = record.exc_text = record.stack_info = None
        return True

    def _count(self, what: str) -> int | None:
        """None: not now; else how many were left out before this one."""
        now = time.monotonic()
        with self._lock:
            begun, count = self._said.get(what, (now, 0))
            is_over = now - begun > WHILE
            self._said[what] = (now, 1) if is_over else (begun, count + 1)
        if is_over:
            return max(0, count - LINES_OF_PLACE)
        return 0 if count < LINES_OF_PLACE else None


def _fill(words: str, values: Any) -> str:
    """Numbers are put in, and dots for all else."""
    if not values or isinstance(values, Mapping):
        return words
    try:
        return words % tuple(one if isinstance(one, int | float) else "…" for one in values)
    except (TypeError, ValueError):
        return words


def _name_problem(problem: Any) -> str:
    """What kind of exception it is, and where it was raised; what it says may be a visitor's."""
    kind, _error, trace = problem or (None, None, None)
    if kind is None:
        return ""
    frames = list(traceback.walk_tb(trace if isinstance(trace, TracebackType) else None))[-FRAMES:]
    places = [f"{Path(frame.f_code.co_filename).name}:{line}" for frame, line in frames]
    return f" [{' < '.join([kind.__name__, *reversed(places)])}]"


@cache
def keep_log_clean() -> None:
    """From here on, in every logger there is; with `--logger.level debug` a log says all.

    Libraries quote what they were given: a config.json that was pasted, a link, a broken message.
    There is no setting against it, and a line break in it would be a line of the log.
    """
    log, handle, of_settings = CleanLog(), logging.Logger.handle, get_logger(__name__)

    @wraps(handle)
    def handle_clean(logger: logging.Logger, record: logging.LogRecord) -> None:
        # What our own code says is nobody's text: a test sends a sign everywhere and looks for it.
        is_ours = record.name.startswith("explainers.") and not record.exc_info
        if is_ours or of_settings.isEnabledFor(logging.DEBUG) or log.clean(record):
            handle(logger, record)

    def tell_end(ended: Any) -> None:
        problem = (ended.exc_type, ended.exc_value, ended.exc_traceback)
        logging.getLogger("python").error("Ended by an exception.", exc_info=problem)

    logging.Logger.handle = handle_clean  # type: ignore[assignment, method-assign]
    logging.basicConfig(format="%(asctime)s %(message)s")
    logging.captureWarnings(capture=True)
    threading.excepthook = sys.unraisablehook = tell_end
