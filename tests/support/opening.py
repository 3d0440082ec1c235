"""The app as a visitor opens it, without a browser: any page, with any link."""

import ast
import functools
import json
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from unittest import mock

from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.testing.v1 import AppTest, app_test, local_script_runner

from explainers.export.visit import list_elements as elements
from explainers.export.visit import prepare
from explainers.toys.grammar import ENGLISH
from explainers.ui.session import MODEL_JOB, OPEN_CARD
from tests.support.tiers import take_turns
from tests.support.waiting import over

ROOT = Path(__file__).parents[2]
PAGES = sorted(ROOT.glob("pages/*.py"))
Listed = TypeVar("Listed")
LIMIT = 120
WIDGETS = (
    *("slider", "select_slider", "number_input", "button_group"),
    *("selectbox", "radio", "toggle", "text_input"),
)
RECALL = "recall "
"""Keys of answers at the end of a page, which no link has, begin with this."""
PLACES = ("chosen", "beside", "timed", "listening", "own words")
"""Where a page may ask for a real model."""
OFF = {"changes": "heads off"}
DEEPER = {"19_what_if": [OFF | {"heads_by": by} for by in ("by role", "drawn at random")]}
"""Links to controls that show up only with two other ones' choices."""
PICTURES = ("bidi_component", "vega_lite_chart", "imgs", "dataframe")
PICKER = "picker-picker"
"""Components whose pictures lead to pages, and that offer names."""
ORIGIN = re.compile(r":gray-badge\[:material/info: (.*)\]")
DECKS = ('"kind": "deck"',)
"""Of heroes whose cards lead to what stands below them."""

prepare()
# What a server does once, when it starts, AppTest would do for every visitor: compile the pages.
compiled = functools.cache(ScriptCache)  # of contents.py and of the pages it leads to
mock.patch.object(local_script_runner, "ScriptCache", compiled).start()
mock.patch.object(app_test, "ScriptCache", compiled).start()


class Found(NamedTuple):
    """A control on a page, its extreme values, and a link with which it is in sight."""

    key: str
    extremes: tuple[Any, ...]
    link: dict[str, str]


def reads_text(page: Path) -> bool:
    """Is the reader's sentence on this page, and not only in a card?"""
    body = ast.parse(page.read_text(encoding="utf-8")).body
    shown = [part for part in body if not isinstance(part, ast.FunctionDef)]
    asking = "choose_text(", "choose_sentence("
    return any(call in ast.unparse(part) for call in asking for part in shown)


def opened(page: Path, link: Mapping[str, str | list[str]] | None = None) -> AppTest:
    visit = AppTest.from_file(str(ROOT / "contents.py"), default_timeout=LIMIT)
    if page != PAGES[0]:
        visit.switch_page(page.relative_to(ROOT).as_posix())
    for key, value in {"predict": "false", **(link or {})}.items():
        visit.query_params[key] = value
    return settled(visit.run())


def settled(visit: AppTest) -> AppTest:
    """The page as it is when the models that come by themselves have come."""
    for key in map(MODEL_JOB.format, PLACES):
        if key in visit.session_state:
            over(visit.session_state[key])
            visit.run()
    return visit


def press(visit: AppTest, label: str) -> AppTest:
    next(one for one in visit.button if one.label == label).click()
    return settled(visit.run())


def lacks_model(visit: AppTest) -> bool:
    """Has this machine no model for a page that needs one, or no scores of its heads yet?"""
    from explainers.chapters.common import measured_heads  # torch, which not all may have

    is_away = any("is not on this machine" in told.value for told in visit.warning)
    return is_away or any(b.label == measured_heads.MEASURE_LABEL for b in visit.button)


def unfolded(visit: AppTest) -> AppTest:
    """The page with everything open that a reader can open."""
    boxes = [e for e in elements(visit.main) if e.type in ("expander", "popover") and e.key]
    for box in boxes:
        visit.session_state[box.key] = True
    return visit.run()


def widgets(visit: AppTest) -> dict[str, Any]:
    kinds: dict[str, dict[str, Any]] = {kind: {} for kind in WIDGETS}
    for it in [*elements(visit.main), *elements(visit.sidebar)]:
        if it.type in kinds and it.key and not it.key.startswith(RECALL):
            kinds[it.type][it.key] = it
    return {key: it for found in kinds.values() for key, it in found.items()}


def extremes(widget: Any) -> tuple[Any, ...]:
    """All options of a control that names them, both ends of one that counts."""
    match widget.type:
        case "number_input":  # whose ends only the page knows
            return -(10**9), 10**9
        case "slider":
            whole = isinstance(widget.value, int)
            return tuple(int(end) if whole else end for end in (widget.min, widget.max))
        case "select_slider":
            return widget.options[0], widget.options[-1]
        case "toggle":
            return True, False
        case "text_input":
            return "", "x", "word " * 1_000
    return tuple(widget.options)


def known_words(count: int) -> str:
    """A sentence of words that every trained head has learned."""
    return " ".join(ENGLISH.words[:count])


def kept_for_models(find: Callable[[Path], list[Listed]]) -> Callable[[Path], list[Listed]]:
    """Found once; with other models in the folder, cards, layers and heads may be others."""
    kept = functools.cache(lambda page, _models: find(page))
    return lambda page: kept(page, os.environ.get("ATTENTION_MODELS"))


@kept_for_models
def cards_on(page: Path) -> list[dict[str, str]]:
    """Links to a page with all cards closed, and with each of its cards open."""
    start = OPEN_CARD.format(page.stem, "")
    keys = [str(e.key) for e in elements(opened(page).main) if e.type == "expander"]
    return [{}, *({"deep": key.removeprefix(start)} for key in keys if key.startswith(start))]


def cards_in_turn(page: Path) -> list[dict[str, str]]:
    """The page with all cards closed, and with one of its cards open, another with each commit."""
    closed, *cards = cards_on(page)
    return [closed, *take_turns(cards)]


@kept_for_models
def controls_on(page: Path) -> list[Found]:
    """Every control of a page, also those that show up only with another one's choice."""
    links: list[dict[str, str]] = [{}, {"predict": "true"}]
    seen: set[str] = set()
    for card in cards_on(page):
        groups = [w for w in opened(page, card).button_group if w.key not in seen]
        seen |= {str(w.key) for w in groups}
        links += [card, *(card | {str(w.key): option} for w in groups for option in w.options)]
        links += [card | {"weights": "untrained"}] if "weights" in seen else []
    found: dict[str, Found] = {}
    links += DEEPER.get(page.stem, [])
    for link in links:
        for key, widget in widgets(opened(page, link)).items():
            found.setdefault(key, Found(key, extremes(widget), link))
    return list(found.values())


def links_on(page: Path) -> list[dict[str, str]]:
    """Links with which, one after the other, every control of a page is in sight."""
    links = {tuple(found.link.items()) for found in controls_on(page)}
    links |= {tuple(card.items()) for card in cards_on(page)}
    return [dict(link) for link in sorted(links)]


def pictures(visit: AppTest) -> list[str]:
    """All that is sent to be drawn, picture by picture."""
    return [drawn(e) for e in elements(visit.main) if is_picture(e)]


def read_data(element: Any) -> Any:
    """What a component is sent, but for what the address said when it was asked for."""
    data = json.loads(element.proto.bytes or b"null")
    if isinstance(data, dict):
        for way in data.get("link", {}).values():
            way.pop("said", None)
    return data


def is_picture(element: Any) -> bool:
    """Does it show numbers? Lists of names and decks of cards do not."""
    is_component = element.type == "bidi_component"
    is_list = is_component and element.proto.component_name.endswith(PICKER)
    is_deck = is_component and any(kind in drawn(element) for kind in DECKS)
    return element.type in PICTURES and not is_list and not is_deck


def origins(visit: AppTest) -> list[str]:
    """Where the numbers of each picture come from, as the badges below them say."""
    found = (ORIGIN.search(e.value) for e in elements(visit.main) if e.type == "markdown")
    return [badge[1] for badge in found if badge]


def components(visit: AppTest) -> list[str]:
    """All that is sent to components, pictures or not."""
    return [drawn(e) for e in elements(visit.main) if e.type == "bidi_component"]


def drawn(element: Any) -> str:
    """The data of a picture, without what Streamlit calls it."""
    if element.type == "bidi_component":
        return json.dumps([read_data(element)], ensure_ascii=False)
    proto = type(element.proto)()
    proto.CopyFrom(element.proto)
    proto.ClearField("id")
    return str(proto)
