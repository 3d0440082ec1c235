"""A file answers links as the app does, or says that only the app can."""

import json
import random
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest

from explainers.export.embed import STUDY, ChoiceError, describe_picture, read_choices
from explainers.export.visit import PAGES, find_picture
from tests.golden.kept import load_models, read_kept
from tests.golden.links import HOSTILE, OF_EVERY_PAGE
from tests.heroes.scenes import ROOMS, draw_pictures
from tests.support.opening import opened
from tests.support.scripts import DENO

SCRIPT = Path(__file__).with_name("answer.js")
LINKS, FEWER = 12, {"what_if": 5, "exercises": 1}
"""Of each page and language, that are compared; and where there are no more choices."""
TRIED = 100
OTHER = {"usual", "ahead", "link"}
"""Where a reset leads, which follows what is chosen; a route of the server; and what a picture
needs to write its choices into the address of the app."""
OF_PAGE = {"serving": {"elsewhere", "changes", "chunks", "drafts"}, "exercises": {"elsewhere"}}
"""What else is other by intent: all that was measured beforehand, and no model that is asked; and
exercises, which only the app changes."""
ONE_KIND = {"exercises": {"kind"}}
"""With another kind the app goes on to another exercise."""


def answer(sent, links):
    """For each link the picture's data, or None, and what is refused of it."""
    done = subprocess.run(
        [DENO, "run", "--quiet", "--no-config", "--allow-read", str(SCRIPT)],
        input=json.dumps({"sent": sent, "links": links}),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def make_links(page, language, sent):
    """Those that were recorded, what buttons choose, and made-up ones, the same every time."""
    for link, _sent in read_kept(PAGES[page]).values():
        if link.get("lang", "en") == language:
            yield link
    yield from (one["choices"] for one in sent["data"]["experiments"])
    chance, offered = random.Random(page), {}
    for name, values in sent["values"].items():
        if isinstance(values, dict):
            values = range(values["from"], values["to"] + 1)
        offered[name] = [value for value in values if value is not None]
    names = [name for name, values in offered.items() if values]
    for _ in range(TRIED):
        some = chance.sample(names, chance.randint(1, min(3, len(names))))
        yield {name: chance.choice(offered[name]) for name in some}


def spell(link, sent):
    """As a link says it: of some choices each letter by itself."""
    lists = {name: [*link[name]] or [""] for name in link.keys() & set(sent["lists"])}
    return {name: str(value) for name, value in link.items()} | lists


@pytest.mark.rotating(6)
@pytest.mark.usefixtures("document")
@pytest.mark.parametrize("page", PAGES)
def test_a_file_draws_for_a_link_what_the_app_draws(page):
    """The same numbers, and of them the same scene: each node, sentence and digit."""
    load_models()
    for language in ("en", "vi"):
        sent = describe_picture(page, language)
        links = [spell(link, sent) for link in make_links(page, language, sent)]
        found: dict[str, dict[str, Any]] = {}
        for one in answer(sent, links):
            assert one["again"] == one["choices"], f"{one['written']} says something else"
            is_other = ONE_KIND.get(page, set()) & set(parse_qs(one["written"][1:]))
            if one["data"] and not (one["left"] or one["refused"] or is_other):
                found.setdefault(one["written"], one["data"])
        files = dict([*found.items()][:LINKS])
        assert len(files) == FEWER.get(page, LINKS)
        both = []
        for link, data in files.items():
            asked = STUDY | {"lang": language} | parse_qs(link[1:], keep_blank_values=True)
            live = find_picture(opened(PAGES[page], asked))
            data |= {name: live[name] for name in OTHER | OF_PAGE.get(page, set()) if name in live}
            assert data == live, link
            both += [(data, False), (live, False)]
        scenes = [{**one, "picture": 0} for one in draw_pictures(both, [ROOMS[1280]])]
        for link, drawn, as_live in zip(files, scenes[::2], scenes[1::2], strict=True):
            assert drawn == as_live, link


def test_what_cannot_be_chosen_is_refused_by_name():
    sent = describe_picture("masks", "en")
    choices = sent["data"]["choices"]
    names = [name for name in choices if name not in OF_EVERY_PAGE]
    [hostile] = answer(sent, [dict.fromkeys(choices, HOSTILE)])
    assert {one["name"] for one in hostile["refused"]} >= {*names, "weights"}
    assert all(one["wanted"] == HOSTILE and one["allowed"] for one in hostile["refused"])
    assert hostile["choices"] == choices
    bad = {"word": "7", "cells": "ffffffff", "window": "1e1", "rule": "toString"}
    [odd] = answer(sent, [bad])
    assert {one["name"] for one in odd["refused"]} == set(bad)
    [good] = answer(sent, [{"word": "6", "cells": "1.3.7", "window": "10", "rule": "own"}])
    assert not good["refused"]
    assert good["data"]["choices"] == {**choices, **good["choices"]}


def test_a_link_says_what_did_not_follow_a_choice():
    """With another word that asks, the app has it ask for another one, if nobody chose that."""
    sent = describe_picture("relative_positions", "en")
    found = answer(sent, [{"word": "5"}, {"word": "5", "asked": "1"}, {}])
    follows, chosen, opens = (one["choices"]["asked"] for one in found)
    assert follows != chosen == opens == 1
    assert [one["written"] for one in found] == ["?word=5", "?word=5&asked=1", ""]


def test_the_command_takes_choices_by_their_names_or_labels():
    sent = describe_picture("masks", "en")
    assert read_choices(sent, "mask=window&word=3") == "rule=window&word=3"
    with pytest.raises(ChoiceError, match=r"'colour'\. Use rule, word"):
        read_choices(sent, "colour=red")
    with pytest.raises(ChoiceError, match=r"rule cannot be 'red'\. Use one of full, causal"):
        read_choices(sent, "mask=red")
    with pytest.raises(ChoiceError, match="word cannot be '7'"):
        read_choices(sent, "word=7")
