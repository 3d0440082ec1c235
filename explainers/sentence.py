"""The reader's sentence: any text in, at most `MAX_TOKENS` words out, every change said."""

import unicodedata
from dataclasses import dataclass

import regex

SENTENCE = "The CEO announced record earnings on Friday"
PRESETS = {
    "the running sentence": SENTENCE,
    "two plus three": "two plus three",
    "a repeated word": "the bank raised the rate the bank had cut",
    "Vietnamese": "Tổng giám đốc đã công bố thu nhập kỷ lục vào thứ Sáu",
    "emoji": "We won 🏆 and the whole family 👩‍👩‍👧 danced 💃🏽",
}
MAX_CHARACTERS = 400
MAX_TOKENS = 24

_JOINERS = "\u200c\u200d"  # Persian and emoji are wrong without them
_VARIATION = "\ufe0e\ufe0f"
_WORD = regex.compile(r"[\p{L}\p{M}\p{N}]+(?:['’\-\u200c\u200d][\p{L}\p{M}\p{N}]+)*|\X")


@dataclass(frozen=True)
class Sentence:
    """Words to look at, and one line for each thing that was changed on the way."""

    text: str
    tokens: tuple[str, ...]
    notes: tuple[str, ...]


def read_sentence(raw: str, max_tokens: int = MAX_TOKENS) -> Sentence:
    """Clean a text that may come from a link; never raises.

    Control and direction-override characters are dropped, an empty text becomes `SENTENCE`,
    and what is longer than `MAX_CHARACTERS` or `max_tokens` is cut.
    """
    notes = []
    text = raw
    if len(text) > MAX_CHARACTERS:
        notes.append(f"Only the first {MAX_CHARACTERS} of {len(text):,} characters are used.")
        text = text[:MAX_CHARACTERS]
    visible = "".join(map(_printable, text))
    if visible != text:
        notes.append("Characters that cannot be seen were left out.")
    tokens = words(visible)
    if not tokens:
        notes.append(f"There was no word in the text, so this is the sentence: {SENTENCE}.")
        visible, tokens = SENTENCE, words(SENTENCE)
    if len(tokens) > max_tokens:
        notes.append(
            f"Only the first {max_tokens} of {len(tokens)} tokens are used: every token looks at "
            f"every other, and more than {max_tokens}² numbers cannot be read."
        )
        tokens = tokens[:max_tokens]
    return Sentence(" ".join(visible.split()), tuple(tokens), tuple(notes))


def words(text: str) -> list[str]:
    """Words with their apostrophes and hyphens; any other visible sign stands alone."""
    return [found for found in _WORD.findall(text) if not found.isspace()]


def characters(text: str) -> list[str]:
    """What a reader calls characters: an accent or a joined emoji is not split."""
    return regex.findall(r"\X", text)


def _printable(character: str) -> str:
    if character.isspace():
        return " "
    if character in _JOINERS or character in _VARIATION:
        return character
    return "" if unicodedata.category(character) in {"Cc", "Cf", "Cs", "Co"} else character
