"""Any text in, words that can be shown out; never an exception, never a change unsaid."""

import itertools
import unicodedata

import pytest
import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st

from explainers.toys.grammar import GRAMMARS, VIETNAMESE, find_language, fold_word
from explainers.toys.sentence import (
    MAX_CHARACTERS,
    MAX_TOKENS,
    PRESETS,
    SENTENCE,
    find_word_spans,
    is_word,
    read_sentence,
    split_characters,
    split_words,
    write_running_sentence,
)

JOINERS = set("\u200c\u200d")
PARTS = (
    *("the ", "👩‍👩‍👧", "\u200d", "\ufe0f", "\u0301", "\u202e", "\0", "\n", "  ", "'", "שלום"),
    "\ud800",
)
TEXTS = st.text(st.characters()) | st.lists(st.sampled_from(PARTS)).map("".join)
"""Lone surrogates too: a link can hold them."""


@settings(max_examples=300)
@given(TEXTS)
@example("")
@example("x" * 100_000)
@example("x " * 100_000)
@example("\u200d")
@example("a\u200d👩")
@example(" \u0301")
def test_any_text_becomes_words_that_can_be_shown_and_what_was_changed_is_said(raw):
    sentence = read_sentence(raw)
    assert 1 <= len(sentence.tokens) <= MAX_TOKENS
    assert len(sentence.text) <= MAX_CHARACTERS
    for token in sentence.tokens:
        token.encode()  # a surrogate would raise here
        kinds = {unicodedata.category(sign) for sign in set(token) - JOINERS}
        assert not kinds & {"Cc", "Cf", "Cs", "Co"}
        assert fold_word(token) in VIETNAMESE.word_ids or not any(map(str.isspace, token))
        unseen = regex.fullmatch(r"\p{Default_Ignorable_Code_Point}+", token)
        assert not unseen, f"nothing of {token!a} can be seen"
    if not sentence.notes:
        composed = unicodedata.normalize("NFC", raw)
        assert sentence.text.split() == composed.split()
        assert "".join(sentence.tokens) == "".join(composed.split())
    again = read_sentence(sentence.text)
    assert (again.text, again.tokens) == (sentence.text, sentence.tokens)


def test_each_change_has_its_note():
    for raw, note in {
        "x" * 401: "first 400 characters",
        "one\u202etwo": "cannot be seen",
        "\x00": "no word",
        "w " * 25: "first 24 of 25 tokens",
    }.items():
        assert any(note in said for said in read_sentence(raw).notes), note


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("don't stop, state-of-the-art!", ["don't", "stop", ",", "state-of-the-art", "!"]),
        ("👩‍👩‍👧💃🏽 🏳️‍🌈 1️⃣", ["👩‍👩‍👧", "💃🏽", "🏳️‍🌈", "1️⃣"]),
        ("🇻🇳🇫🇷", ["🇻🇳", "🇫🇷"]),
        ("שלום עולם!", ["שלום", "עולם", "!"]),
        ("می‌خواهم بروم", ["می‌خواهم", "بروم"]),
        ("3.14 and 1,000 words: foo_bar", ["3.14", "and", "1,000", "words", ":", "foo_bar"]),
        ("नमस्ते दुनिया", ["नमस्ते", "दुनिया"]),
        ("日本語。 สวัสดี", ["日本語", "。", "สวัสดี"]),
        ("<script>x</script>", ["<", "script", ">", "x", "<", "/", "script", ">"]),
        ("**$x$**", ["*", "*", "$", "x", "$", "*", "*"]),
    ],
)
def test_words(text, tokens):
    assert split_words(text) == tokens


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_a_sentence_is_read_with_its_accents_on_its_letters(form):
    composed = "Giám đốc công bố lợi nhuận"
    read = read_sentence(unicodedata.normalize(form, composed))
    assert (read.text, " ".join(read.tokens), read.notes) == (composed, composed, ())
    assert read_sentence("e\u202e\u0301").text == "é"


@given(TEXTS)
def test_a_text_is_its_words_and_its_white_space(text):
    spans = find_word_spans(text)
    assert all(a[1] <= b[0] for a, b in itertools.pairwise(spans))
    words = [text[slice(*span)] for span in spans]
    assert "".join(words) == text.replace(" ", "")
    assert all(len(word.split()) == 1 or word.isspace() for word in words)


def test_a_language_without_spaces_has_its_letters_for_words():
    text = "ไทย e-mail 中文"
    words = [text[slice(*span)] for span in find_word_spans(text)]
    assert words == ["ไ", "ท", "ย", "e-mail", "中", "文"]
    assert all(map(is_word, ["CEO's", "e-mail", "e\u0301", "3.14", "नमस्ते"]))
    assert not any(map(is_word, [",", "–", "👩‍👩‍👧", "\u0301"]))


@given(TEXTS)
def test_characters_are_the_text_and_no_accent_stands_alone(text):
    assert "".join(split_characters(text)) == text
    assert all(regex.fullmatch(r"\X", sign) for sign in split_characters(text))


def test_syllables_of_one_word_stay_together():
    words = ("Vị", "huấn luyện viên", "Khen ngợi", "cầu", "viên", "huấn luyện viên")
    assert tuple(split_words(" ".join(words))) == words
    apart = unicodedata.normalize("NFD", " ".join(words))  # as some keyboards write accents
    assert tuple(split_words(apart)) == tuple(unicodedata.normalize("NFD", word) for word in words)
    assert find_language(split_words(apart)) == "vi"


@pytest.mark.parametrize("language", GRAMMARS)
def test_the_running_sentence_is_read_as_its_grammar_wrote_it(language):
    sentence = write_running_sentence(language)
    assert read_sentence("", usual=sentence).tokens == GRAMMARS[language].running.tokens
    assert write_running_sentence("xx") == SENTENCE == "The CEO announced record earnings on Friday"
    for preset in PRESETS.values():
        read = read_sentence(preset)
        assert (read.notes, read.text, " ".join(read.tokens)) == ((), preset, preset)
