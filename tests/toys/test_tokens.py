"""Byte pairs: laws that hold for any text, and what another library makes of the same text."""

from collections import Counter
from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers

from explainers.toys.byte_pairs import BYTES, encode, learn_merges, spell_token, split_words
from explainers.toys.sentence import PRESETS

LESSON = f"""The CEO announced record earnings on Friday. The board announced that the earnings
recorded on Fridays are announced on Mondays. {" ".join(PRESETS.values())}"""
MERGES = learn_merges(LESSON, 60)

SIGNS = ["the", "kỷ", "é", "👩\u200d👩\u200d👧", "💃🏽", "🇻🇳", "\u200d", "́", " ", "  ", "\r\n", "�"]
TEXTS = st.lists(st.sampled_from(SIGNS) | st.characters(exclude_categories=["Cs"])).map("".join)
MUMBLING = st.text(alphabet="aaab c\nđ", max_size=60)
"""Few letters, so that pairs repeat and overlap."""


@given(TEXTS)
def test_tokens_spell_the_text_they_encode(text):
    spelled = b"".join(spell_token(token, MERGES) for token in encode(text, MERGES))
    assert spelled.decode() == text


def neighbours(text, merges):
    """How often two tokens stand side by side in a word, counted the slow way."""
    words = [encode(word, merges) for word in split_words(text)]
    return Counter(pair for word in words for pair in pairwise(word))


@example(LESSON)
@given(MUMBLING)
def test_each_merge_is_the_most_frequent_pair(text):
    merges = learn_merges(text, 30)
    for known, merge in enumerate(merges):
        counts = neighbours(text, merges[:known])
        assert counts[merge.left, merge.right] == merge.count == max(counts.values())


def test_of_equally_frequent_pairs_the_smaller_ids_are_merged():
    (merge,) = learn_merges("azbc", 1)
    assert (merge.left, merge.right, merge.count) == (ord("a"), ord("z"), 1)


@given(TEXTS)
def test_words_are_the_text_and_a_space_belongs_to_the_word_behind_it(text):
    assert "".join(split_words(text)) == text
    words = text.split()
    spaced = split_words(" ".join(words))
    assert spaced == [" " * (place > 0) + word for place, word in enumerate(words)]


# The oracle: Hugging Face's `tokenizers` names bytes by letters, as GPT-2 does.
VISIBLE = [*range(33, 127), *range(161, 173), *range(174, 256)]
HIDDEN = [byte for byte in range(BYTES) if byte not in VISIBLE]
LETTERS = {byte: chr(byte) for byte in VISIBLE} | {b: chr(256 + n) for n, b in enumerate(HIDDEN)}


def letters(token, merges):
    return "".join(LETTERS[byte] for byte in spell_token(token, merges))


def with_our_merges(merges):
    vocabulary = {letters(token, merges): token for token in range(BYTES + len(merges))}
    pairs = [(letters(merge.left, merges), letters(merge.right, merges)) for merge in merges]
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=pairs))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    return tokenizer


KNOWN = with_our_merges(MERGES)


@given(TEXTS | st.sampled_from(list(PRESETS.values())), MUMBLING, st.integers(1, 8))
def test_another_library_encodes_the_same_also_where_pairs_overlap(any_text, mumbled, steps):
    merges = learn_merges(mumbled, steps)
    for text, own, library in (
        (any_text, MERGES, KNOWN),
        (mumbled, merges, with_our_merges(merges)),
    ):
        expected = [token for word in split_words(text) for token in library.encode(word).ids]
        assert encode(text, own) == expected
