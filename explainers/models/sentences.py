"""Sentences put together from a small grammar, so that every word's partners are known."""

import json
from collections import defaultdict
from pathlib import Path
from random import Random
from typing import NamedTuple

GRAMMAR = Path(__file__).parents[2] / "assets" / "text" / "grammar.json"
"""The words of each kind."""


class Said(NamedTuple):
    """A sentence and, for each relation, (query, key) positions of its words."""

    words: list[str]
    pairs: dict[str, list[tuple[int, int]]]


def put_together(count: int) -> list[Said]:
    """So many sentences, the same on any machine."""
    random = Random(0)  # noqa: S311
    words_of = json.loads(GRAMMAR.read_text(encoding="utf-8"))
    return [said(words_of, random) for _ in range(count)]


def said(words_of: dict[str, list[str]], random: Random) -> Said:
    """A sentence whose words stand at changing distances from their partners."""
    words: list[str] = []
    pairs: dict[str, list[tuple[int, int]]] = defaultdict(list)

    def add(kind: str) -> int:
        words.append(random.choice([word for word in words_of[kind] if word not in words[-2:]]))
        return len(words) - 1

    def relate(one: str, place: int, other: str, partner: int) -> None:
        pairs[f"{one} → {other}"].append((place, partner))
        pairs[f"{other} → {one}"].append((partner, place))

    def noun_phrase() -> int:
        determiner = add("determiner")
        adjectives = [add("adjective") for _ in range(random.choice((0, 0, 1, 2)))]
        noun = add("noun")
        relate("determiner", determiner, "noun", noun)
        for adjective in adjectives:
            relate("adjective", adjective, "noun", noun)
        return noun

    def with_more() -> int:
        noun = noun_phrase()
        if random.random() < 0.4:
            relate("preposition", add("preposition"), "its noun", noun_phrase())
        return noun

    subject = with_more()
    if random.random() < 0.4:
        add("adverb")
    verb = add("verb")
    relate("verb", verb, "subject", subject)
    relate("verb", verb, "object", with_more())
    return Said(words, pairs)
