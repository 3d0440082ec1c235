"""Questions at the end of the page on tokens, with words that differ from visit to visit."""

from random import Random

from explainers.toys.byte_pairs import encode, learn_merges, spell_token
from explainers.ui.page_parts.check_yourself import Recall

TWO_MERGES = "banana", "cocoa", "Mississippi", "hocus pocus", "tartar", "murmur", "salsa", "papaya"
SENTENCES = (
    ("dog bites man", "man bites dog", "dog bites dog"),
    ("the judge praised the chef", "the chef praised the judge", "the judge praised the judge"),
    ("fans follow players", "players follow fans", "fans follow fans"),
)


def count_tokens_left(draw: Random) -> Recall:
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


def find_distinct_sentence(draw: Random) -> Recall:
    """Without positions a head sees which words there are, not in which order."""
    first, shuffled, other = draw.choice(SENTENCES)
    return Recall(f"“{other}”", {"first": first}, (f"“{shuffled}”", f"“{other}”"))
