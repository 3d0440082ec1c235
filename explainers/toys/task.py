"""A task in which attention must fetch: each token names the words that it is related to.

Short news of four kinds, such as "The CEO announced record earnings on Friday". A token knows
only itself; who did it, and to whom, it learns from the others. No head is told where to look.
"""

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

import torch

from explainers.toys.trained_heads import MOST_TOKENS

COMMON = {
    "determiner": "the",
    "preposition": "on before after",
    "time": "Monday Tuesday Wednesday Thursday Friday Sunday",
    "adverb": "quietly proudly suddenly",
}
KINDS = (
    {
        "one": "CEO board",
        "many": "earnings results analysts investors",
        "verb": "announced expected questioned confirmed",
        "modifier": "record strong weak",
    },
    {
        "one": "judge court",
        "many": "lawyers ministers witnesses claims",
        "verb": "rejected supported accused believed",
        "modifier": "new final false",
    },
    {
        "one": "team coach",
        "many": "players fans rivals referees",
        "verb": "praised missed celebrated surprised",
        "modifier": "young lucky brilliant",
    },
    {
        "one": "chef restaurant",
        "many": "cooks waiters guests critics",
        "verb": "served trained welcomed thanked",
        "modifier": "hungry famous friendly",
    },
)
"""Business, court, sport, kitchen. The many can do something, or have it done to them."""
RELATED = {
    "determiner": ("subject",),
    "subject": ("determiner", "verb"),
    "adverb": ("verb",),
    "verb": ("subject", "object", "adverb"),
    "modifier": ("object",),
    "object": ("verb", "modifier"),
    "preposition": ("time", "verb"),
    "time": ("preposition", "verb"),
}
"""What each part of a sentence is asked for, as far as it is there and may be seen."""
WORDS = tuple(
    word for part in (COMMON, *KINDS) for words in part.values() for word in words.split()
)
PLACES = {word.casefold(): place for place, word in enumerate(WORDS)}
CHOICES = 4 + MOST_TOKENS
"""How many numbers decide about a sentence: its form, its kind, and its words."""


class News(NamedTuple):
    """A sentence, and for each of its tokens the places of those that it is related to."""

    tokens: tuple[str, ...]
    related: tuple[frozenset[int], ...]


def news(choices: Sequence[int]) -> News:
    """The sentence that `CHOICES` whole numbers choose.

    In a quarter of them the time stands in front, a quarter has an adverb, four fifths a modifier.
    """
    is_fronted, has_adverb, has_modifier = (
        choices[0] % 4 == 0,
        choices[1] % 4 == 0,
        choices[2] % 5 > 0,
    )
    time = ["preposition", "time"]
    parts = time if is_fronted else []
    parts = [*parts, "determiner", "subject", *["adverb"] * has_adverb, "verb"]
    parts = [*parts, *["modifier"] * has_modifier, "object", *([] if is_fronted else time)]
    words = {part: some.split() for part, some in (COMMON | KINDS[choices[3] % len(KINDS)]).items()}
    words |= {"subject": words["one"] + words["many"], "object": words["many"]}
    tokens: list[str] = []
    for part, choice in zip(parts, choices[4:], strict=False):
        others = [word for word in words[part] if word not in tokens]  # nobody thanks themselves
        tokens.append(others[choice % len(others)])
    tokens[0] = tokens[0].capitalize()
    places = {part: place for place, part in enumerate(parts)}
    related = [frozenset(places[p] for p in RELATED[part] if p in places) for part in parts]
    return News(tuple(tokens), tuple(related))


RUNNING_NEWS = news((1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 4, 0))
RUNNING = RUNNING_NEWS.tokens
"""The sentence of the whole course. It is never trained on."""


def is_held_out(tokens: Sequence[str]) -> bool:
    """A tenth of all sentences, and the running one, are kept for testing; their letters decide."""
    digest = hashlib.blake2b(" ".join(tokens).encode(), digest_size=1).digest()
    return tuple(tokens) == RUNNING or digest[0] < 26


def sentences(count: int, held_out: bool, seeded: torch.Generator) -> list[News]:
    """Random sentences, all of them for testing or none."""
    found: list[News] = []
    while len(found) < count:
        drawn = map(news, torch.randint(2**31, (count, CHOICES), generator=seeded).tolist())
        found += [one for one in drawn if is_held_out(one.tokens) == held_out]
    return found[:count]
