"""What a first picture can show without a server, and the picture as one file with all of that.

Most choices a picture makes by itself from what it was sent. Some only a server draws: here the
page is drawn for their values, and what differs is kept. `browser/static/answers.js` puts it
together again.
"""

import itertools
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl, urlencode

from explainers.export.one_file import MOST, pack, write_file
from explainers.export.visit import START, Visit, find_picture, visit
from explainers.toys.sentence import MOST_DRAWN
from explainers.translations import _
from explainers.ui.controls.control import describe_options
from explainers.ui.controls.name_controls import CAUSAL, FULL, MaskDrawing, MultiChoice
from explainers.ui.figure.hero import Hero, HeroChoice
from explainers.ui.lecture.screens import CARD_KEY

LEADERS = {
    "relative_positions": ("word",),
    "many_heads": ("heads",),
    "shared_heads": ("heads",),
    "claims": ("about", "claim"),
}
"""Pages of which some choices decide what others may be, and are where nobody chooses them."""
BELOW = {"exercise"}
"""Choices of what stands below a picture more than of the picture: only the app follows them."""
NOT_DRAWN = {CARD_KEY, "run", *BELOW}
"""Besides, a card below, and a head that is trained while its reader looks on."""
MOST_VALUES = 49
"""Of a choice that only a server draws: so many are all drawn; of more, what buttons choose."""
LARGEST = 120_000
"""Letters that another value may change: with more, a file would hold little else."""
Choices = dict[str, Any]


def describe_picture(page: str, language: str) -> dict[str, Any]:
    """All that a file needs to draw the first picture of a page, and to change it."""
    opened = visit(page, STUDY, language)
    base, hero = read_picture(opened)
    far = {}
    for choices in list_far(base, hero):
        key = json.dumps([choices[name] for name in base["elsewhere"]], ensure_ascii=False)
        if key in far:
            continue
        other = read_other(page, choices, language)
        if other and all(other[name] == base[name] for name in ("kind", "elsewhere")):
            changes = find_changes(base, other)
            if len(json.dumps(changes)) < LARGEST:
                far[key] = changes
    return {
        "title": opened.title,
        "data": base,
        "far": far,
        **describe_led(page, language, base, hero),
        "drawn": [c.control.key for c in hero.choices if isinstance(c.control, MaskDrawing)],
        "most_drawn": MOST_DRAWN,
        "lists": [c.control.key for c in hero.choices if isinstance(c.control, MultiChoice)],
        "labels": {c.control.key: _(c.control.label) for c in hero.choices},
    }


STUDY = {"predict": "true"}
"""In the app a reader is asked before some things are shown; a file asks as well."""


def read_picture(opened: Visit) -> tuple[dict[str, Any], Hero]:
    """What was sent for the first picture, and what it was drawn from."""
    hero: Hero = next(iter(opened.noted("picture").values()))
    return take_data(find_picture(opened.test)), hero


def take_data(data: dict[str, Any]) -> dict[str, Any]:
    """What is sent, without a route of the server, and with what only a server draws below."""
    if isinstance(data.get("ahead"), str):
        data["ahead"] = ""
    data["elsewhere"] += [name for name in data["choices"] if name in BELOW]
    return data


def read_other(page: str, choices: Choices, language: str) -> dict[str, Any] | None:
    """What is sent where a link makes these choices; None where it is not obeyed."""
    link = {name: str(value) for name, value in choices.items()}
    try:
        data = take_data(find_picture(visit(page, STUDY | link, language).test))
    except LookupError:
        return None
    return data if all(data["choices"].get(n) == value for n, value in choices.items()) else None


def find_changes(base: Mapping[str, Any], data: Mapping[str, Any]) -> dict[str, Any]:
    """Parts that are others: of the choices those, all else whole."""
    changes = {name: value for name, value in data.items() if value != base.get(name)}
    if "choices" in changes:
        of_base = base["choices"]
        changes["choices"] = {n: v for n, v in data["choices"].items() if v != of_base.get(n)}
    return changes


def describe_led(page: str, language: str, base: dict[str, Any], hero: Hero) -> dict[str, Any]:
    """What a link may ask for; and for each value of a leading choice, what others are then where
    nobody chooses them, and may be."""
    leaders = [one for one in hero.choices if one.control.key in LEADERS.get(page, ())]
    # All that may be where there is a leader, which then says what fits to its value.
    choices = [replace(one, fitting=None) if leaders else one for one in hero.choices]
    offered, led = describe_offered(choices), dict[str, dict[str, Any]]()
    for leader in leaders:
        key = leader.control.key
        views = {
            str(one): read_picture(visit(page, STUDY | {key: str(one)}, language))
            for one in leader.values
        }
        changes = [
            find_changes(base["choices"], other["choices"]) for other, _hero in views.values()
        ]
        followers = set().union(*changes) - {key}
        led[key] = {}
        for value, (other, drawn) in views.items():
            opens = {name: one for name, one in other["choices"].items() if name in followers}
            fitting = describe_offered(drawn.choices)
            fits = {part: find_changes(what, fitting[part]) for part, what in offered.items()}
            led[key][value] = {"opens": opens, **fits}
    return {**offered, "led": led}


def describe_offered(choices: Sequence[HeroChoice]) -> dict[str, dict[str, Any]]:
    """What a link may ask for, as values where these can be counted, and in words.

    Of whole numbers that follow each other the ends. Of models the app may know more than the one
    that is shown.
    """
    counted, allowed = dict[str, Any](), dict[str, str]()
    for one in choices:
        key, values = one.control.key, [*(one.values if one.fitting is None else one.fitting)]
        if len(one.values) > one.is_elsewhere:
            is_range = all(type(value) is int for value in values)
            is_range = is_range and values == [*range(values[0], values[-1] + 1)]
            counted[key] = {"from": values[0], "to": values[-1]} if is_range else values
        named = [value for value in values if value is not None]
        if isinstance(one.control, MultiChoice):
            named = sorted({*"".join(named)})
        is_drawing = isinstance(one.control, MaskDrawing)
        allowed[key] = f"{CAUSAL}, {FULL}, 1.3.7" if is_drawing else _(describe_options(named))
    return {"values": counted, "allowed": allowed}


def list_far(base: dict[str, Any], hero: Hero) -> Iterator[Choices]:
    """What may be chosen that only a server draws, as all its choices: what buttons choose first,
    then each value beside the others as they are, then all combinations if they are few."""
    now = {name: base["choices"][name] for name in base["elsewhere"]}
    for experiment in base["experiments"]:
        asked = {name: value for name, value in experiment["choices"].items() if name in now}
        if asked and not NOT_DRAWN & set(asked):
            yield now | asked
    counted = {
        one.control.key: one.values
        for one in hero.choices
        if one.control.key in now and one.control.key not in NOT_DRAWN
        if 0 < len(one.values) <= MOST_VALUES
    }
    for name, values in counted.items():
        yield from (now | {name: value} for value in values)
    sizes = [len(values) for values in counted.values()]
    if sizes and len(counted) == len(now) and math.prod(sizes) <= MOST_VALUES:
        for values in itertools.product(*counted.values()):
            yield now | dict(zip(counted, values, strict=True))


class ChoiceError(ValueError):
    """A choice that the picture has not."""


def write_embed(page: str, languages: Sequence[str], live: str, choices: str = "") -> str:
    """The file, in the first of the languages where nothing else is asked for.

    `choices` are those of a link, `rule=window&word=3`, or by their labels, `mask=window`.
    """
    described = {one: describe_picture(page, one) for one in languages}
    return write_described(page, described, live, choices)


def write_described(
    page: str, described: Mapping[str, Mapping[str, Any]], live: str, choices: str = ""
) -> str:
    """The same, from what `describe_picture` tells in each language."""
    language, first = next(iter(described.items()))
    opening = read_choices(first, choices)
    kind, address = first["data"]["kind"], live if page == START else f"{live}/{page}"
    kept = max(len(told["far"]) for told in described.values())
    while True:
        # What buttons choose comes first, and is left out last.
        fitting = {
            one: {**told, "far": dict([*told["far"].items()][:kept])}
            for one, told in described.items()
        }
        file = write_file(kind, first["title"], language, address, opening, pack(fitting))
        if len(file.encode()) <= MOST or not kept:
            return file
        kept //= 2


def read_choices(told: Mapping[str, Any], choices: str) -> str:
    """Choices as a link has them; raise ChoiceError for what cannot be chosen."""
    names = {label.lower(): name for name, label in told["labels"].items()}
    asked = [(names.get(n.lower(), n), v) for n, v in parse_qsl(choices, keep_blank_values=True)]
    for name, value in asked:
        if name not in told["data"]["choices"]:
            offered = ", ".join(told["data"]["choices"])
            raise ChoiceError(f"The picture has no choice {name!r}. Use {offered}.")
        values = told["values"].get(name)
        if values is None or name in told["lists"]:
            continue
        if isinstance(values, dict):
            values = range(values["from"], values["to"] + 1)
        if value not in [str(one) for one in values]:
            raise ChoiceError(f"{name} cannot be {value!r}. Use {told['allowed'][name]}.")
    return urlencode(asked)
