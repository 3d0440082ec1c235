"""A file answers links as the app does, or says that only the app can."""

import json

import pytest

from explainers.export.answers import describe_picture
from explainers.export.embed import ChoiceError, read_choices
from explainers.export.visit import PAGES
from tests.export.answering import answer
from tests.golden.compare import AMPLIFIED, OF_ITSELF, list_changes
from tests.golden.kept import load_models, read_kept
from tests.golden.links import HOSTILE, OF_EVERY_PAGE
from tests.golden.sent import simplify

NOT_ANSWERED = "usual", "ahead", "link"
"""Where a reset leads, which follows what is chosen; a route of the server; and what a picture
needs to write its choices into the app's address."""
OTHER = {"serving": ("elsewhere", "changes", "chunks", "drafts"), "exercises": ("elsewhere",)}
"""What is other by intent: all that was measured beforehand, and no model that is asked; and
exercises, which only the app changes."""
LEAST = 0.4
"""Of a page's links, those that a file answers: all but a reader's own words, and other weights."""


def find_kept(sent):
    """What was recorded for the first picture."""
    data = (value.get("data") for _element, value in sent if isinstance(value, dict))
    return next((one for one in data if isinstance(one, dict) and "looks" in one), None)


def plain(data, page):
    """As goldens have it, in one order of names: JavaScript puts those that are numbers first."""
    left_out = NOT_ANSWERED + OTHER.get(page, ())
    kept = {name: value for name, value in data.items() if name not in left_out}
    return json.loads(json.dumps(simplify(kept), sort_keys=True))


def is_asked(page, link):
    """Claims are judged before they are read, in a file always."""
    return page != "claims" or link.get("predict") == "true"


@pytest.mark.rotating(6)
@pytest.mark.parametrize("page", PAGES)
def test_a_file_answers_links_as_the_app_does(page):
    load_models()
    answered, asked = 0, 0
    for language in ("en", "vi"):
        views = {
            name: (link, kept)
            for name, (link, sent) in read_kept(PAGES[page]).items()
            if link.get("lang", "en") == language and is_asked(page, link)
            if (kept := find_kept(sent))
        }
        sent = describe_picture(page, language)
        found = answer(sent, [link for link, _kept in views.values()])
        for (name, (_link, kept)), one in zip(views.items(), found, strict=True):
            asked += 1
            assert one["again"] == one["choices"], f"{name}: {one['written']} says something else"
            if one["left"] or not one["data"]:
                continue
            answered += 1
            within = AMPLIFIED.get((PAGES[page].stem, name), OF_ITSELF)
            changes = list_changes(
                [("", plain(kept, page))], [("", plain(one["data"], page))], within
            )
            assert list(map(str, changes)) == [], name
    assert answered >= LEAST * asked


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


def test_the_command_takes_choices_by_their_names_or_labels():
    sent = describe_picture("masks", "en")
    assert read_choices(sent, "mask=window&word=3") == "rule=window&word=3"
    with pytest.raises(ChoiceError, match=r"'colour'\. Use rule, word"):
        read_choices(sent, "colour=red")
    with pytest.raises(ChoiceError, match=r"rule cannot be 'red'\. Use one of full, causal"):
        read_choices(sent, "mask=red")
    with pytest.raises(ChoiceError, match="word cannot be '7'"):
        read_choices(sent, "word=7")
