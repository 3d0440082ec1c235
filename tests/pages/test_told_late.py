"""What a page must say, so that a choice of its picture can be told late: what shows it.

A picture is sent with all that its reader can choose in it. The browser shows it and asks for no
run, but for the parts of the page that are marked as following the choice.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from difflib import unified_diff
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple
from unittest import mock
from urllib.parse import urlencode, urlsplit

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import RerunData
from streamlit.runtime.state.session_state import SessionState
from streamlit.testing.v1 import AppTest, local_script_runner
from streamlit.testing.v1.element_tree import parse_tree_from_messages
from streamlit.testing.v1.local_script_runner import LocalScriptRunner

from explainers.ui import changed_streamlit
from explainers.ui.controls import controls
from explainers.ui.controls.late_choices import ANY_CHOICE, take_up
from explainers.ui.figure import hero
from explainers.ui.figure.hero import Hero, HeroChoice
from explainers.ui.session import PICTURED
from tests.golden.kept import load_models
from tests.golden.sent import _read_element
from tests.support.opening import PAGES, cards_in_turn, opened
from tests.support.scripts import SCRIPTS, run_script

FOLLOWS, OF = "follows ", " of "
ITS_OWN = {"choices", "link", "usual"}
"""What a picture is sent of what is chosen now."""
OF_FIRST_RUNS = {"value", "raw_values"}
"""Of a widget, if it got its value in a run before: a page runs twice where a model comes late."""
PICTURE = "picture-picture"
FILES = "takeaway"
"""The row of files: the page is drawn before one is taken, with all that was chosen."""
BAD_LINK = ":material/link_off:"
MOST_TRIED = 3
"""Values of a choice."""


def read_parts(block: Any, following: frozenset[str] = frozenset()) -> Iterator[tuple[Any, str]]:
    """Each element, by the choices that it is marked to follow, and what is sent of it.

    A mark itself is an element as well: where there is none yet, a browser can look for nothing.
    """
    for _place, child in sorted(getattr(block, "children", {}).items()):
        name = getattr(child, "key", None) or ""
        names = {*name.rpartition(OF)[2].split()} if name.startswith(FOLLOWS) else set()
        if names:
            yield following, name
        if name == FILES:
            names = {ANY_CHOICE}
        if getattr(child, "icon", "") == BAD_LINK:
            continue  # the browser offers nothing that a link could not ask for
        if getattr(child, "proto", None) is not None and not hasattr(child, "children"):
            yield following, json.dumps(strip(_read_element(child)), sort_keys=True)
        yield from read_parts(child, following | names)


def strip(sent: Any) -> Any:
    """Without what a picture is told of the choices of now, and a widget in its first runs."""
    if PICTURE not in sent.get("component", ""):
        return {name: one for name, one in sent.items() if name not in OF_FIRST_RUNS}
    data = {name: one for name, one in sent["data"].items() if name not in ITS_OWN}
    return sent | {"data": data}


class Seen(NamedTuple):
    """A page under a link."""

    visit: AppTest
    messages: list[ForwardMsg]
    """Of its last run."""
    pictures: list[Hero]
    pages: dict[Any, Any]
    """That it may link to: a server keeps them from the run of a whole page."""

    @property
    def parts(self) -> list[tuple[Any, str]]:
        return list(read_parts(self.visit.main))

    def list_parts(self, name: str) -> list[str]:
        """The parts of the page that run, where it shows a choice late; none for the whole page."""
        storage, drawn = self.visit._fragment_storage, self.visit.session_state[PICTURED]
        session: Any = SimpleNamespace(_fragment_storage=storage)
        following = drawn.list_following({name})
        if "" in following:
            return []
        return changed_streamlit.list_outermost(session, {*filter(storage.contains, following)})

    def tell(self, name: str, text: Any) -> list[str]:
        """All that it shows, once it was told what the browser has chosen by itself."""
        visit, storage, parts = self.visit, self.visit._fragment_storage, self.list_parts(name)
        kept = [
            one
            for one in self.messages
            if (of := one.delta.fragment_id) not in parts and not storage.has_ancestor_in(of, parts)
        ]
        texts = (text,) if isinstance(text, str) else tuple(text)
        call = SessionState._call_callbacks

        def ask_for_parts(runner: LocalScriptRunner, data: RerunData) -> bool:
            # A new runner has been asked for the whole page already, which would be run instead.
            runner._requests._rerun_data = replace(data, fragment_id_queue=parts)
            return True

        def take_up_before(state: SessionState, **replayed: Any) -> None:
            take_up({name: texts})
            call(state, **replayed)

        visit.query_params[name] = text
        with (
            mock.patch.object(LocalScriptRunner, "request_rerun", ask_for_parts),
            mock.patch.object(SessionState, "_call_callbacks", take_up_before),
            mock.patch.object(PagesManager, "get_pages", return_value=self.pages),
            read_runs(kept),
        ):
            visit.run()
        said = urlsplit(f"?{urlencode({name: text}, doseq=True)}#whole&{name}")
        drawn = visit.session_state[PICTURED]
        assert changed_streamlit.Asked().list_late(drawn, said) == ({}, set()), "it is taken up"
        return [sent for _follows, sent in self.parts]


@contextmanager
def read_runs(kept: Sequence[ForwardMsg] = ()) -> Iterator[list[ForwardMsg]]:
    """What runs of a page send: a browser keeps the rest of what it was sent before."""
    last: list[ForwardMsg] = []

    def read(messages: list[ForwardMsg]) -> Any:
        last[:] = [*kept, *messages]
        return parse_tree_from_messages(last)

    with mock.patch.object(local_script_runner, "parse_tree_from_messages", read):
        yield last


def see(page: Path, link: Mapping[str, Any]) -> Seen:
    """A page as it opens under a link."""
    pictures: list[Hero] = []
    pages: dict[Any, Any] = {}
    draw, resolve = hero._draw_picture, PagesManager.set_pages_and_resolve

    def note(text: Any, picture: Hero, *more: Any) -> None:
        pictures.append(picture)
        draw(text, picture, *more)

    def keep(manager: PagesManager, listed: dict[Any, Any], *more: Any, **named: Any) -> Any:
        pages.update(listed)
        return resolve(manager, listed, *more, **named)

    with (
        mock.patch.object(hero, "_draw_picture", note),
        mock.patch.object(PagesManager, "set_pages_and_resolve", keep),
        read_runs() as messages,
    ):
        return Seen(opened(page, link), messages, pictures, pages)


SPELL = """
globalThis.location = new URL("http://app/");
const { spell } = await import("FILE");
const write = ([value, form]) => spell(value, { usual: ["not one of them"], form });
console.log(JSON.stringify(VALUES.map(write)));
""".replace("FILE", (SCRIPTS / "common" / "address.js").as_uri())


def spell_in_browser(choices: list[HeroChoice]) -> list[list[str]]:
    """How `common/address.js` writes each value of these choices, one after the other."""
    values = [[value, one.control.link_form] for one in choices for value in one.values]
    spelled: list[list[str]] = json.loads(run_script(SPELL.replace("VALUES", json.dumps(values))))
    return spelled


def list_others(choice: HeroChoice) -> list[Any]:
    """Some other values than the one that is chosen."""
    others = [one for one in choice.values if one != choice.value and one is not None]
    return others[:: max(1, len(others) // MOST_TRIED)][:MOST_TRIED]


@pytest.mark.parametrize("study", [{}, {"predict": "true"}], ids=["plain", "study mode"])
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_shows_a_choice_is_marked_and_the_picture_itself_has_all(page, study):
    load_models()
    usual = see(page, study)
    choices = usual.pictures[0].choices
    late = [one for one in choices if not one.is_elsewhere and None not in one.values]
    written = [one.control.format_for_url(value) for one in late for value in one.values]
    assert spell_in_browser(late) == [[one] if isinstance(one, str) else one for one in written]
    for choice in choices:
        name = choice.control.key
        if choice.is_elsewhere or (name.startswith("guess_") and not study):
            continue
        for value in list_others(choice):
            seen = see(page, {**study, name: choice.control.format_for_url(value)})
            before, after = (
                [sent for follows, sent in one.parts if not {name, ANY_CHOICE} & follows]
                for one in (usual, seen)
            )
            changed = list(unified_diff(before, after, n=0, lineterm=""))
            assert not changed, "\n".join([f"{name} = {value}", *changed])


@pytest.mark.parametrize(
    ("page", "card"),
    [pytest.param(page, at, id=f"{page.stem} {at}") for page in PAGES for at in range(2)],
)
def test_what_follows_a_choice_is_drawn_as_where_a_link_asks_for_it(page, card):
    """With all cards closed, and with one of them open."""
    load_models()
    links = cards_in_turn(page)
    link = links[card % len(links)]
    for choice in see(page, link).pictures[0].choices:
        for value in list_others(choice)[-1:]:
            name, text = choice.control.key, choice.control.format_for_url(value)
            seen = see(page, link)
            is_late = name in seen.visit.session_state[PICTURED].choices
            if not (is_late and seen.list_parts(name)):
                continue  # the whole page runs, or nothing does
            if name == controls.claim_topic.key:  # a picture chooses one of its claims as well
                continue
            told, asked = seen.tell(name, text), see(page, {**link, name: text}).parts
            changed = list(unified_diff([sent for _f, sent in asked], told, n=0, lineterm=""))
            assert not changed, "\n".join([f"{name} = {value}", *changed])
