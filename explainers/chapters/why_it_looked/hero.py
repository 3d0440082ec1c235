"""The hero of the page: one weight, the parts of its score on both sides, and what is removed."""

from collections.abc import Mapping, Sequence
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
from explainers.ui.controls import why_controls as chosen
from explainers.ui.figure.hero import Experiment, Hero, HeroChoice, begin_again, read_choice
from explainers.ui.page import Prose
from explainers.ui.text.numbers import write_percent
from explainers.ui.untrusted_text import show_spaces

SENTENCES = (
    *("hero_caption", "hero_content", "hero_content_compared", "hero_content_looked"),
    *("hero_position", "hero_position_compared", "hero_removed", "hero_removed_three"),
)
TRIED = {
    "try_first": {chosen.looked_removed.key: chosen.FIRST},
    "try_query": {chosen.looked_removed.key: chosen.QUERY_THREE},
    "try_back": {chosen.looked_cell.key: "16.0", chosen.looked_removed.key: chosen.NOTHING},
    "try_own": {chosen.looked_whose.key: chosen.OWN},
}
"""The experiments: by their texts, what each chooses."""


def make_hero(text: Prose, cells: Mapping[str, Explained], origin: str, whose: str) -> Hero:
    """A few weights of a model, with every choice of bars and of what is removed."""
    names, kinds = tuple(cells), chosen.looked_parts.options
    control, removed = chosen.looked_cell, chosen.looked_removed
    labels = [name_cell(one) for one in cells.values()]
    removals = (
        chosen.NOTHING,
        *dict.fromkeys(name for one in cells.values() for name in one.removals),
    )
    choices = [
        HeroChoice(control, names, read_choice(control, names, names[0]), labels),
        HeroChoice(
            chosen.looked_parts, kinds, read_choice(chosen.looked_parts, kinds), [*map(_, kinds)]
        ),
        HeroChoice(removed, removals, read_choice(removed, removals)),
        choose_whose(whose),
    ]
    shown = cells[choices[0].value]
    told = {"count": f"{len(shown.sources)}", "key": show_token(shown, shown.key)}
    experiments = [
        Experiment(name, text.fill(name, **told), some, is_slow=chosen.looked_whose.key in some)
        for name, some in TRIED.items()
        if chosen.looked_cell.key not in some or some[chosen.looked_cell.key] in cells
    ]
    return Hero(
        "why",
        _("The weight of one head, and what wrote the query and the key that it comes from."),
        {"cells": {name: compute_numbers(one) for name, one in cells.items()}, "raw": chosen.RAW},
        choices,
        SENTENCES,
        experiments,
        origin,
        lambda: make_table(shown),
    )


def choose_whose(whose: str) -> HeroChoice:
    """The examples or the reader's own text, which only the server can read."""
    control, labels = chosen.looked_whose, [*map(_, chosen.WHOSE.values())]
    return HeroChoice(control, control.options, whose, labels, is_elsewhere=True)


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
    import pandas as pd  # the first paint needs no tables

    columns: dict[str, list[Any]] = {
        _("source"): [one.name(place) for place in range(len(one.sources))]
    }
    for kind, sides in one.parts.items():
        for side, parts in zip((_("query"), _("key")), sides, strict=True):
            columns[f"{side}, {_(kind)}"] = parts
    return pd.DataFrame(columns)


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
