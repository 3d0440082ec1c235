"""The hero of the page: one weight, the parts of its score on both sides, and what is removed."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from explainers.chapters.why_it_looked.explained_cell import (
    SHOWN,
    Explained,
    Found,
    Removal,
    name_removal,
)
from explainers.models.score_sources import Source
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.figure.chart import tabulate
from explainers.ui.figure.hero import Experiment, Hero, HeroChoice, begin_again, list_for_each
from explainers.ui.page import Prose
from explainers.ui.text.numbers import write_percent
from explainers.ui.untrusted_text import show_spaces

SENTENCES = (
    *("hero_caption", "hero_content", "hero_content_compared", "hero_content_looked"),
    *("hero_position", "hero_position_compared", "hero_removed", "hero_removed_three"),
)
TRIED = {
    "try_first": {controls.looked_removed.key: controls.FIRST_SOURCE},
    "try_query": {controls.looked_removed.key: controls.QUERY_THREE},
    "try_back": {controls.looked_cell.key: "16.0", controls.looked_removed.key: controls.NO_SOURCE},
    "try_own": {controls.looked_whose.key: controls.OWN_TEXT},
}
"""The experiments: by their texts, what each chooses."""


def make_hero(text: Prose, cells: Mapping[str, Explained], origin: str, whose: str) -> Hero:
    """A few weights of a model, with every choice of bars and of what is removed."""
    names, cell = tuple(cells), controls.looked_cell
    labels = [name_cell(one) for one in cells.values()]
    choice = HeroChoice.read(cell, names, labels, names[0])

    def list_experiments(name: str) -> list[Experiment]:
        of = cells[name]
        told = {"count": f"{len(of.sources)}", "key": show_token(of, of.key)}
        return [
            Experiment(
                name, text.fill(name, **told), some, is_slow=controls.looked_whose.key in some
            )
            for name, some in TRIED.items()
            if cell.key not in some or some[cell.key] in cells
        ]

    numbers = {name: compute_numbers(one) for name, one in cells.items()}
    choices = [choice, *choose_shown(cells.values(), whose)]
    experiments = list_for_each(choice, list_experiments)
    return assemble_hero(numbers, choices, experiments, origin, cells[choice.value])


def choose_shown(cells: Iterable[Explained], whose: str) -> list[HeroChoice]:
    """Which bars, what is removed, and whose text: the reader's own only the server can read."""
    kinds = controls.looked_parts.options
    named = dict.fromkeys(name for one in cells for name in one.removals)
    source, labels = controls.looked_whose, [*map(_, controls.WHOSE.values())]
    return [
        HeroChoice.read(controls.looked_parts, kinds, [*map(_, kinds)]),
        HeroChoice.read(controls.looked_removed, (controls.NO_SOURCE, *named)),
        HeroChoice(source, source.options, whose, labels, is_elsewhere=True),
    ]


def assemble_hero(
    numbers: Mapping[str, Any],
    choices: Sequence[HeroChoice],
    experiments: Sequence[Experiment],
    origin: str,
    shown: Explained,
) -> Hero:
    """The picture of weights, whoever chose them."""
    alt = _("The weight of one head, and what wrote the query and the key that it comes from.")
    numbers = {"cells": numbers, "raw": controls.RAW}
    table = partial(make_table, shown)
    return Hero("why", alt, numbers, choices, SENTENCES, experiments, origin, table)


def name_cell(one: Explained) -> str:
    """Which head looks from which token to which."""
    query, key = show_token(one, one.query), show_token(one, one.key)
    return f"L{one.layer}.H{one.head}: {query} → {key}"


def show_token(one: Explained, position: int) -> str:
    """A token as it is read, without its space."""
    token = one.tokens[position]
    return show_spaces(token.strip() or token)


def compute_numbers(one: Explained) -> dict[str, Any]:
    """What the picture is drawn from, and the slots of its sentences."""
    removals = {name: _describe_removal(one, removal) for name, removal in one.removals.items()}
    return {
        "tokens": one.tokens,
        "query": one.query,
        "key": one.key,
        "row": one.row,
        "weight": one.weight,
        "parts": {kind: _describe_parts(one, kind) for kind in one.parts},
        "removals": removals,
        "looked": one.looked,
        "said": describe_cell(one),
        "isBefore": one.key == one.query - 1,
    }


def describe_cell(one: Explained) -> dict[str, str]:
    """The slots of the sentence about a weight; the picture fills in the parts that it shows."""
    return {
        "which": f"L{one.layer}.H{one.head}",
        "query": show_token(one, one.query),
        "key": show_token(one, one.key),
        "weight": write_percent(one.weight),
        "count": f"{len(one.sources)}",
    }


def _describe_parts(one: Explained, kind: str) -> dict[str, Any]:
    """For each side its first bars, by the names of their removals, and all others together."""
    sides = []
    for side, parts in enumerate(one.parts[kind]):
        ranked = one.rank(kind, side)
        rest = [parts[place] for place in ranked[SHOWN:]]
        added = [part for part in rest if part > 0]
        taken = [part for part in rest if part <= 0]
        bars = [
            [one.name(place), parts[place], name_removal(side, Source(*one.sources[place]))]
            for place in ranked[:SHOWN]
        ]
        sides.append({"bars": bars, "rest": [len(added), sum(added), len(taken), sum(taken)]})
    return {"sides": sides, "sum": sum(one.parts[kind][0])}


def _describe_removal(one: Explained, removal: Removal) -> dict[str, Any]:
    weights = [one.weight, removal.predicted, removal.measured, removal.others]
    said = zip(("weight", "predicted", "measured", "others"), weights, strict=True)
    names = [name_removal(removal.side, Source(*one.sources[place])) for place in removal.places]
    return {
        "side": removal.side,
        "removed": names,
        "weights": weights,
        "said": {slot: write_percent(weight) for slot, weight in said}
        | {"what": ", ".join(one.name(place) for place in removal.places)},
    }


def make_table(one: Explained) -> Any:
    """Each source with its part of the score on both sides, raw and centred."""
    columns: dict[str, list[Any]] = {
        _("source"): [one.name(place) for place in range(len(one.sources))]
    }
    for kind, sides in one.parts.items():
        for side, parts in zip((_("query"), _("key")), sides, strict=True):
            columns[f"{side}, {_(kind)}"] = parts
    return tabulate(columns)


def make_own_hero(found: Found) -> Hero:
    """What the examples show, of any weight; what was removed from another one is put back."""
    one, own = found.explained, controls.OWN_TEXT
    begin_again("why_own_shown", (one.tokens, one[1:5]), controls.looked_removed)
    query, key = spell_token(found, one.query), spell_token(found, one.key)
    count = len(one.tokens)
    label = f"L{one.layer}.H{one.head}: {query} → {key}"
    choices = [
        HeroChoice(controls.looked_cell, (own,), own, [label]),
        *choose_shown([one], own),
        HeroChoice(controls.looked_query, range(2, count), one.query, is_elsewhere=True),
        HeroChoice(controls.looked_key, range(-1, count), one.key, is_elsewhere=True),
    ]
    numbers = {own: compute_numbers(one) | merge_words(found)}
    return assemble_hero(numbers, choices, (), found.origin, one)


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
