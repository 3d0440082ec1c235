"""Text that a reader typed, made safe to show: printed as it is, never read as markup."""

import re

SPELLINGS = {
    "d k": "d_k",
    "two gpus": "two GPUs",
    "gpt 2": "GPT-2",
    "gpt 4": "GPT-4",
    "llama": "Llama",
}
"""What a function's name cannot spell."""


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
