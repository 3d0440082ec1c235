"""Four ways to cut a text into tokens, each token with the part of the text that it covers."""

from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random
from typing import NamedTuple

import streamlit as st

from explainers.folders import ASSETS
from explainers.messages import N_
from explainers.models.registry import ModelError
from explainers.toys.byte_pairs import BYTES, Merge, encode, learn_merges, spell_token
from explainers.toys.sentence import Sentence, split_characters, split_words
from explainers.translations import _
from explainers.ui.page_parts.check_yourself import Recall
from explainers.ui.untrusted_text import verbatim

CORPUS = ASSETS / "text" / "corpus.txt"
MOST_MERGES = 250
MOST_MODELS = 4
LISTED = 9
WORDS, CHARACTERS = N_("words"), N_("characters")
BYTE_PAIRS, MODEL_TOKENS = N_("byte pairs"), N_("model tokens")


class Token(NamedTuple):
    """What is printed, its number, and from where to where it reaches, counted in characters.

    A token that is a part of a character ends at a fraction of it.
    """

    label: str
    id: str
    start: float
    end: float


@st.cache_data(show_spinner=False, max_entries=1)
def learn_shipped_merges() -> list[Merge]:
    """All the merges that the slider offers, learned on the shipped text."""
    return learn_merges(CORPUS.read_text(encoding="utf-8"), MOST_MERGES)


@st.cache_data(show_spinner=False, max_entries=1)
def count_vocabulary() -> dict[str, int]:
    """Every word of the shipped text with a number, the most frequent first."""
    counts = Counter(split_words(CORPUS.read_text(encoding="utf-8")))
    return {word: n for n, (word, _unused) in enumerate(counts.most_common())}


def encode_byte_pairs(text: str, corpus: str, merges: int) -> dict[str, list[int]]:
    """The ids of the tokens that cut the text, with as many merges as were learned."""
    return {"ids": encode(text, learn_merges(corpus, merges))}


def cut_words(sentence: Sentence) -> list[Token]:
    """The words with their numbers; a word that the shipped text lacks has none."""
    known, letters = count_vocabulary(), split_characters(sentence.text)
    tokens, end = [], 0
    for word in sentence.tokens:
        size = len(split_characters(word))
        while "".join(letters[end : end + size]) != word and end < len(letters):
            end += 1
        tokens.append(Token(word, str(known.get(word, "")), end, end + size))
        end += size
    return tokens


def cut_characters(text: str) -> list[Token]:
    """Each character, numbered by Unicode; some are written with several numbers."""
    letters = split_characters(text)
    return [
        Token(one, " ".join(str(ord(c)) for c in one), n, n + 1) for n, one in enumerate(letters)
    ]


def label_bytes(token: int, merges: Sequence[Merge]) -> str:
    """Text where the bytes are whole characters, otherwise the bytes themselves."""
    spelled = spell_token(token, merges)
    try:
        return spelled.decode()
    except UnicodeDecodeError:
        return spelled.hex(" ")


def read_models(text: str) -> tuple[dict[str, list[Token]], list[ModelError]]:
    """The text as published models on this machine cut it, by their names; and what went wrong."""
    from explainers.models.token_text import list_models_with_tokenizer

    cuts, errors = {}, []
    for model in list_models_with_tokenizer()[:MOST_MODELS]:
        try:
            cuts[model.name] = cut_by_model(text, model.id)
        except ModelError as error:
            errors.append(error)
    return cuts, errors


def find_model_id(model_name: str) -> str:
    """What a model is asked for by."""
    from explainers.models.token_text import list_models_with_tokenizer

    return next(model.id for model in list_models_with_tokenizer() if model.name == model_name)


def cut_by_model(text: str, model_id: str) -> list[Token]:
    """A published model's tokens; those that it adds itself cover no character."""
    from explainers.models.token_text import label_tokens, read_tokenizer

    tokenizer = read_tokenizer(model_id)
    encoded, edges = tokenizer.encode(text), _find_edges(text)
    groups: list[list[int]] = []  # tokens that are parts of the same characters
    spans: list[tuple[int, int]] = []
    labels = label_tokens(encoded, tokenizer)
    for place, (start, stop) in enumerate(encoded.offsets):
        if spans and start < min(spans[-1][1], stop):
            groups[-1].append(place)
            spans[-1] = spans[-1][0], max(spans[-1][1], stop)
        else:
            has_space = start < stop and labels[place].startswith(" ") and text[start] != " "
            before = spans[-1][1] if spans else 0
            groups.append([place])
            spans.append((start - (has_space and start > before), stop))
    tokens: list[Token] = []
    for group, (start, stop) in zip(groups, spans, strict=True):
        first, last = edges[start], edges[stop]
        if first == last:  # a token of the model's own, where the text begins or ends
            first = last = 0.0 if not tokens else float(edges[-1])
        part = (last - first) / len(group)
        tokens += [
            Token(labels[place], str(encoded.ids[place]), first + n * part, first + (n + 1) * part)
            for n, place in enumerate(group)
        ]
    return tokens


def _find_edges(text: str) -> list[float]:
    """At which character, counted as readers do, each of Python's characters begins."""
    edges: list[float] = []
    for n, letter in enumerate(split_characters(text)):
        edges += [n + part / len(letter) for part in range(len(letter))]
    return [*edges, float(len(split_characters(text)))]


def name_pair(merge: Merge, merges: Sequence[Merge]) -> tuple[str, str]:
    """The two sides of a merge; what is only a part of a character is told by its bytes."""
    return _name_side(merge.left, merges), _name_side(merge.right, merges)


def _name_side(token: int, merges: Sequence[Merge]) -> str:
    label = label_bytes(token, merges)
    spelled = spell_token(token, merges)
    return mark_spaces(label) if label.encode() == spelled else _("bytes {bytes}", bytes=label)


def mark_spaces(label: str) -> str:
    """Spaces and ends of lines that can be seen."""
    return label.replace(" ", "␣").replace("\n", "⏎")


def list_ways(sentence: Sentence, models: Mapping[str, list[Token]]) -> str:
    """Lines of a table: a way to cut, its number of tokens, how many it knows, and the tokens."""
    from explainers.models.token_text import read_tokenizer

    learned = learn_shipped_merges()
    pairs = [label_bytes(token, learned) for token in encode(sentence.text, learned)]
    ways = [
        (_("words"), f"{len(count_vocabulary()):,}", [one.label for one in cut_words(sentence)]),
        (_("characters"), "–", [one.label for one in cut_characters(sentence.text)]),
        (_("byte pairs"), f"{BYTES + len(learned):,}", pairs),
    ]
    for name, cut in models.items():
        count = read_tokenizer(find_model_id(name)).get_vocab_size()
        ways.append((name, f"{count:,}", [one.label for one in cut]))
    rows = []
    for way, known, labels in ways:
        listed = " · ".join(verbatim(mark_spaces(label)) for label in labels[:LISTED])
        more = " …" if len(labels) > LISTED else ""
        rows.append(f"| {way} | {len(labels)} | {known} | {listed}{more} |")
    return "\n".join(rows)


TWO_MERGES = "banana", "cocoa", "Mississippi", "hocus pocus", "tartar", "murmur", "salsa", "papaya"


def recall_tokens_left(draw: Random) -> Recall:
    """How many tokens two merges leave of a word."""
    word = draw.choice(TWO_MERGES)
    merges = learn_merges(word, 2)
    names = [
        " + ".join(f"“{spell_token(side, merges).decode()}”" for side in (one.left, one.right))
        for one in merges
    ]
    ids = encode(word, merges)
    cut = " · ".join(spell_token(token, merges).decode() for token in ids)
    given = {"word": word, "first": names[0], "second": names[1]}
    return Recall(len(ids), given, worked={"cut": cut})
