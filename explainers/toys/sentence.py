"""The reader's sentence: any text in, at most `MAX_TOKENS` words out, every change said."""

import unicodedata
from dataclasses import dataclass

import regex

from explainers.messages import N_
from explainers.toys.grammar import (
    COURT_CHOICES,
    ENGLISH,
    GRAMMARS,
    MOVED_CHOICES,
    RUNNING_CHOICES,
    SPORT_CHOICES,
    VIETNAMESE,
    choose_grammar,
    fold_word,
    read_running,
)

SENTENCE = " ".join(ENGLISH.running.tokens)
"""The CEO announced record earnings on Friday."""
RUNNING_NAME, ENGLISH_NAME = N_("the running sentence"), N_("English")
PRESETS = {
    RUNNING_NAME: SENTENCE,
    ENGLISH_NAME: SENTENCE,
    "two plus three": "two plus three",
    N_("a repeated word"): "the bank raised the rate the bank had cut",
    N_("Vietnamese"): "Tổng giám đốc đã công bố lợi nhuận kỷ lục vào thứ Sáu",
    N_("emoji"): "We won 🏆 and the whole family 👩‍👩‍👧 danced 💃🏽",
}
"""The first is that of the visitor's language; English has its own name where it is another."""
MOVED_NAME = N_("the time in front")
_KNOWN = {
    RUNNING_NAME: RUNNING_CHOICES,
    MOVED_NAME: MOVED_CHOICES,
    N_("about sport"): SPORT_CHOICES,
    N_("about a court"): COURT_CHOICES,
}
MAX_CHARACTERS = 400
MAX_TOKENS = 24
MOST_DRAWN = MAX_TOKENS + 2
"""With the two tokens that a real model puts around them."""

# DI: signs that are not drawn. Persian and emoji are wrong without the two joiners among them.
_UNSEEN = regex.compile(r"(?V1)[\p{Cc}\p{Cf}\p{Cs}\p{Co}[\p{Cn}&&\p{DI}]--[\u200c\u200d]]")
_JOINS_NOTHING = regex.compile(r"(?<!\S)\p{DI}+")
# From a letter to where Unicode's rules (UAX #29, which is the flag WORD) let a word end. They know
# no words of languages without spaces: there each letter is a segment.
_SEGMENT = r"(?:[\p{L}\p{M}\p{N}]\S*?\b)"
_HYPHEN = "[-\u2010\u2011]"
_MOST_SYLLABLES = max(len(word.split()) for word in VIETNAMESE.words)
_WORD = regex.compile(rf"{_SEGMENT}(?:{_HYPHEN}?{_SEGMENT})*[\p{{M}}\p{{DI}}]*|\X", regex.WORD)
_SPACED_WORD = regex.compile(rf"{_SEGMENT}(?:{_HYPHEN}{_SEGMENT})*|(?! )\X", regex.WORD)


@dataclass(frozen=True)
class Sentence:
    """Words to look at, and one line for each thing that was changed on the way."""

    text: str
    tokens: tuple[str, ...]
    notes: tuple[str, ...]


def write_running_sentence(language: str) -> str:
    """The sentence of the whole course, as text."""
    return " ".join(read_running(language).tokens)


def list_known_examples(language: str) -> dict[str, str]:
    """Sentences that every trained head can read, by their names, in the language of a visitor."""
    grammar = GRAMMARS[choose_grammar(language)]
    return {name: " ".join(grammar.write_news(one).tokens) for name, one in _KNOWN.items()}


def read_sentence(raw: str, max_tokens: int | None = MAX_TOKENS, usual: str = SENTENCE) -> Sentence:
    """Clean a text that may come from a link; never raises.

    Control and direction-override characters are dropped, an empty text becomes the usual one, and
    what is longer than `MAX_CHARACTERS` or `max_tokens` is cut; None leaves all words. A letter and
    its accents become one sign where Unicode has one (NFC), however a keyboard wrote them.
    """
    notes = []
    text = unicodedata.normalize("NFC", raw)
    if len(text) > MAX_CHARACTERS:
        cut = N_("Only the first {most} characters of this text are used.", most=MAX_CHARACTERS)
        notes.append(cut)
        text = text[:MAX_CHARACTERS]
    visible = _JOINS_NOTHING.sub("", _UNSEEN.sub("", " ".join(text.split())))
    if visible.split() != text.split():
        notes.append(N_("Characters that cannot be seen were left out."))
    visible = unicodedata.normalize("NFC", visible)  # what they stood between has met
    tokens = split_words(visible)
    if not tokens:
        instead = N_(
            "There was no word in the text, so this is the sentence: {sentence}.", sentence=usual
        )
        notes.append(instead)
        visible, tokens = usual, split_words(usual)
    if max_tokens is not None and len(tokens) > max_tokens:
        too_long = N_(
            "Only the first {most} of {count} tokens are used: every token looks at every other, "
            "and more than {most}² numbers cannot be read.",
            most=max_tokens,
            count=len(tokens),
        )
        notes.append(too_long)
        tokens = tokens[:max_tokens]
    return Sentence(" ".join(visible.split()), tuple(tokens), tuple(notes))


def split_words(text: str) -> list[str]:
    """Words with their apostrophes and hyphens; any other visible sign stands alone.

    Syllables that are one word of the Vietnamese grammar stay together.
    """
    found = [one for part in text.split() for one in _WORD.findall(part)]
    words: list[str] = []
    while found:
        joint = (" ".join(found[:size]) for size in range(_MOST_SYLLABLES, 1, -1))
        word = next((one for one in joint if fold_word(one) in VIETNAMESE.word_ids), found[0])
        words.append(word)
        del found[: len(word.split())]
    return words


def find_word_spans(text: str) -> list[tuple[int, int]]:
    """Where each word of a text begins and ends, any other sign but a space being one by itself.

    Words of languages without spaces, such as Thai and Chinese, would take a dictionary: of these
    it is each letter with its marks.
    """
    return [one.span() for one in _SPACED_WORD.finditer(text)]


def is_word(token: str) -> bool:
    """Has it a letter or a digit? Apostrophes, hyphens and combining marks make it no less one."""
    return any(map(str.isalnum, token))


def split_characters(text: str) -> list[str]:
    """What a reader calls characters: an accent or a joined emoji is not split."""
    return regex.findall(r"\X", text)
