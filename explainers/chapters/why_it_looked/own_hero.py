"""The picture of a weight of the reader's own: a click on a word chooses another one."""

from collections.abc import Sequence
from typing import Any

from explainers.chapters.why_it_looked.explained_cell import Found
from explainers.chapters.why_it_looked.hero import (
    SENTENCES,
    choose_whose,
    compute_numbers,
    describe_cell,
    make_table,
)
from explainers.translations import _
from explainers.ui.controls import why_controls as chosen
from explainers.ui.figure.hero import Hero, HeroChoice, begin_again, read_choice
from explainers.ui.page import Prose
from explainers.ui.untrusted_text import show_spaces


def make_own_hero(text: Prose, found: Found) -> Hero:
    """What the examples show, of any weight; what was removed from another one is put back."""
    one, parts, removed = found.explained, chosen.looked_parts, chosen.looked_removed
    begin_again("why_own_shown", (one.tokens, one[1:5]), removed)
    count, kinds = len(one.tokens), parts.options
    removals = chosen.NOTHING, *one.removals
    query, key = spell_token(found, one.query), spell_token(found, one.key)
    label = f"L{one.layer}.H{one.head}: {query} → {key}"
    choices = [
        HeroChoice(chosen.looked_cell, (chosen.OWN,), chosen.OWN, [label]),
        HeroChoice(parts, kinds, read_choice(parts, kinds), [*map(_, kinds)]),
        HeroChoice(removed, removals, read_choice(removed, removals)),
        choose_whose(chosen.OWN),
        HeroChoice(chosen.looked_query, range(2, count), one.query, is_elsewhere=True),
        HeroChoice(chosen.looked_key, range(-1, count), one.key, is_elsewhere=True),
    ]
    return Hero(
        "why",
        _("The weight of one head, and what wrote the query and the key that it comes from."),
        {"cells": {chosen.OWN: compute_numbers(one) | merge_words(found)}, "raw": chosen.RAW},
        choices,
        SENTENCES,
        (),
        found.origin,
        lambda: make_table(one),
    )


def merge_words(found: Found) -> dict[str, Any]:
    """What the picture shows of words: their tokens' weights are added up, so a row sums to 1.

    `places` has the last token of each word, which is the one that a click chooses.
    """
    one, words = found.explained, found.words
    query, key = spell_token(found, one.query), spell_token(found, one.key)
    return {
        "tokens": [*found.spelled],
        "places": [place for place, word in enumerate(words) if word not in words[place + 1 :]],
        "query": words[one.query],
        "key": words[one.key],
        "row": add_up(one.row, words),
        "looked": {name: add_up(row, words) for name, row in one.looked.items()},
        "said": describe_cell(one) | {"query": query, "key": key},
    }


def add_up(row: Sequence[float], words: Sequence[int]) -> list[float]:
    """The weights of a row (tokens,) by word."""
    sums = [0.0] * (words[len(row) - 1] + 1)
    for word, weight in zip(words, row, strict=False):
        sums[word] += weight
    return sums


def spell_token(found: Found, position: int) -> str:
    """The word of a token, and which of its pieces it is where it has several."""
    word = found.words[position]
    places = [place for place, one in enumerate(found.words) if one == word]
    spelled = show_spaces(found.spelled[word].strip() or found.spelled[word])
    piece = f" ({places.index(position) + 1}/{len(places)})" if len(places) > 1 else ""
    return spelled + piece
