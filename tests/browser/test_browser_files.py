"""The app's own components: modules that fit together, and what is sent to them.

What a browser fetches of them, and when, is held by test_cold_start.py.
"""

import json
import logging
import os
import re
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from unittest import mock

from streamlit.components.v2.component_manager import BidiComponentManager
from streamlit.testing.v1 import AppTest

from explainers.ui import browser_files
from explainers.ui.browser_files import FOLDER
from explainers.ui.follow.board import write_count
from explainers.ui.lecture.share_link import share_address
from tests.follow.test_routes import GOOD
from tests.support.browser_fixtures import ROOT
from tests.support.opening import elements, opened
from tests.support.scripts import run_script

MODULES = [path for path in sorted(FOLDER.rglob("*.js")) if path.parent.name != "vendor"]
"""Ours: what others have published stands in a folder of its own, and is fetched when needed."""
ENTRIES = (
    *("figure/figure.js", "picture/picture.js", "tiles/tiles.js"),
    *("follow/follow.js", "lecture/lecture.js", "lecture/start_key.js", "picker/picker.js"),
    "files/files.js",
)
"""What Streamlit loads; all else is imported by these."""
NOTEBOOK = "look/look.js"
"""What `look` writes into a file with all that it imports; a server sends none of it."""
EXPORTED = "static/embed.js", "static/site.js"
"""What pages that are files begin with; a server sends none of it."""
LOADER = "common/loader.js"
"""A plain script, which keeps modules where a page may load none: files begin with it."""
AHEAD = "lecture/start_key.js"
"""It fetches what the server names: the entry of heroes, before one is drawn."""
START = ROOT / "pages" / "01_start.py"
LECTURE = {"lecture": "true"}


def code(module):
    return module.read_text(encoding="utf-8")


def imports(module):
    """The modules that a module names, as files."""
    named = re.findall(
        r'^(?:import|export \*)(?: .* from| from)? "(.+)";', code(module), re.MULTILINE
    )
    assert len(named) == len(re.findall(r"^(?:import\b|export \*)", code(module), re.MULTILINE))
    return {(module.parent / name).resolve() for name in named}


def kinds(module):
    """The modules of ours that a module asks for only when it draws what they are for."""
    named = re.findall(r'\bimport\("(.+?)"\)', code(module))
    return {(module.parent / name).resolve() for name in named} & set(MODULES)


def needed(module):
    found, new = set(), {module}
    while new:
        found |= new
        new = {other for one in new for other in imports(one)} - found
    return found


def name(module):
    return module.relative_to(FOLDER).as_posix()


def test_all_modules_of_a_component_are_asked_for_at_once_and_all_are_used():
    """One that only others name would be asked for when those have come."""
    for module in MODULES:
        assert code(module).startswith("// "), f"{name(module)} does not say what it is"
        unnamed = re.findall(r"\bimport\((?!\")", code(module))
        assert len(unnamed) == (name(module) == AHEAD), f"{name(module)}: imported by its name"
    for module in (FOLDER / entry for entry in ENTRIES):
        assert needed(module) == imports(module) | {module}, name(module)
    types = {module for module in MODULES if module.name == "data.js"}
    entries = {FOLDER / entry for entry in (*ENTRIES, NOTEBOOK, *EXPORTED, LOADER)}
    entries |= {kind for entry in entries for kind in kinds(entry)}
    used = {module for entry in entries for module in needed(entry)}
    assert used == set(MODULES) - types, "files of types are not fetched, all others are"


def sent(visit, entry):
    """What a component of a page is told, in the sidebar too."""
    shown = [*elements(visit.sidebar), *elements(visit.main)]
    drawn = [element.proto for element in shown if element.type == "bidi_component"]
    return [json.loads(one.bytes) for one in drawn if one.js_source_path == entry]


def show_some_tiles():
    """A page; what it needs is imported where it runs."""
    import zlib

    from explainers.ui.figure.head_tiles import Tiles, show_tiles

    one = Tiles(zlib.compress(bytes(2)), ["a"], ["layer 1"], ["head 1"], "A weight.")
    show_tiles(one, "", "tiny", lambda: None)


def test_types_name_what_is_sent():
    """The browser's side writes down the names that it is told, neither more nor fewer."""
    figures = sent(opened(START, {"deep": "all_words"}), "figure/figure.js")
    masks = opened(ROOT / "pages" / "05_masks.py", {"deep": "reach"})
    figures += sent(masks, "figure/figure.js")
    tiles = AppTest.from_function(show_some_tiles).run(timeout=60)
    lecturer = opened(START, LECTURE)
    lecture = sent(lecturer, "lecture/lecture.js")[0]
    told = [
        ("figure", "FigureData", *figures),
        ("figure", "SliderData", *filter(None, (figure["slider"] for figure in figures))),
        ("figure", "PanelData", *(panel for figure in figures for panel in figure["panels"])),
        ("tiles", "TilesData", *sent(tiles, "tiles/tiles.js")),
        ("lecture", "LectureData", lecture),
        ("lecture", "Shared", share_address("http://lecture.example/", "")),
        ("follow", "Place", GOOD),
        ("follow", "Count", json.loads(write_count(0, {}))),
    ]
    for visit in (lecturer, opened(START, {"follow": "abcdef"})):
        (data,) = sent(visit, "follow/follow.js")
        told.append(("follow", "FollowData", data))
    for part, kind, *all_data in told:
        types = code(FOLDER / part / "data.js")
        (lines,) = re.findall(rf"@typedef {{object}} {kind}\b(.*?)\*/", types, re.DOTALL)
        typed = set(re.findall(r"@property {.+?} \[?(\w+)", lines))
        assert all_data, kind
        assert all(set(data) == typed for data in all_data), kind


def test_what_draws_pictures_is_fetched_before_a_page_has_one(tmp_path):
    """By the script that each page has for a lecture's key, from where the server says."""
    [told], [of_lecture] = (sent(opened(START, link), AHEAD) for link in ({}, LECTURE))
    script = f"{browser_files.name_package()}.picture-picture/picture/picture.js"
    assert (told["ahead"], of_lecture["ahead"]) == ([script], [])
    (tmp_path / "one.js").write_text("console.log('fetched');")
    told["ahead"] = [os.path.relpath(tmp_path / "one.js", FOLDER.parent)]
    fetched = run_script(f"""
        globalThis.attentionAddress = {{ isKept: true }};
        globalThis.DOMParser = class {{ parseFromString() {{ return {{ body: {{}} }}; }} }};
        const {{ default: draw }} = await import("{(FOLDER / AHEAD).as_uri()}");
        draw({{ data: new TextEncoder().encode({json.dumps(json.dumps(told))}) }});
    """)
    assert fetched == "fetched\n"


def test_another_version_of_any_file_has_other_addresses(tmp_path, monkeypatch):
    copy = tmp_path / "browser"
    shutil.copytree(FOLDER, copy)
    monkeypatch.setattr(browser_files, "FOLDER", copy)
    package = browser_files.name_package.__wrapped__
    assert package() == browser_files.name_package()
    for file in (copy / "common" / "words.js", copy / "lecture" / "style.css"):
        before = package()
        file.write_text(f"{code(file)}\n")
        assert package() != before


def test_two_first_visitors_announce_the_files_once(monkeypatch, caplog):
    manager, start = BidiComponentManager(), threading.Barrier(8)
    told = mock.Mock(wraps=manager.register_from_manifest)
    monkeypatch.setattr(browser_files, "get_bidi_component_manager", lambda: manager)
    monkeypatch.setattr(manager, "register_from_manifest", told)

    def visit(_):
        start.wait()
        browser_files._register(browser_files.name_package(), "figure-figure")

    with caplog.at_level(logging.WARNING), ThreadPoolExecutor(8) as visitors:
        list(visitors.map(visit, range(8)))
    told.assert_called_once()
    package = f"{browser_files.name_package()}.figure-figure"
    assert manager.get_component_path(package) == str(FOLDER)
    assert not caplog.records


def test_a_page_that_python_runs_by_itself_draws_nothing():
    draw = browser_files.make_component("figure/figure.js", "figure")
    assert draw(key="alone", data=[{}], on_cell_change=lambda: None) == {}


def test_an_address_begins_where_the_browser_finds_the_app():
    """At the root, at a base of its own, at what a proxy strips, at both."""
    module = (FOLDER / "common" / "component.js").as_uri()
    bases = ["", "/inner", "/course/attn", "/course/attn/inner"]
    file = "_stcore/bidi-components/attention-1.follow/common/component.js"
    said = run_script(f"""
        import {{ locate }} from "{module}";
        for (const base of {json.dumps(bases)})
          console.log(locate("/vote/room/q?a=/_stcore/", `https://host${{base}}/{file}`).href);
    """)
    assert said.split() == [f"https://host{base}/vote/room/q?a=/_stcore/" for base in bases]


def test_a_page_is_named_by_what_stands_behind_the_beginning_of_the_app(tmp_path):
    """To who follows a lecture, whatever a proxy has put before it."""
    shutil.copytree(FOLDER, tmp_path / "course" / "_stcore" / "browser")
    app = (tmp_path / "course").as_uri()
    said = run_script(f"""
        globalThis.location = new URL("{app}/scores?seed=3&follow=abcdef");
        globalThis.DOMParser = class {{ parseFromString() {{ return {{ body: {{}} }}; }} }};
        const {{ findPlace, makeLink }} = await import("{app}/_stcore/browser/follow/place.js");
        console.log(findPlace(), makeLink("masks", "d_k=8").href);
    """)
    assert said.split() == ["scores", f"{app}/masks?d_k=8&follow=abcdef"]


def test_nothing_is_asked_of_the_root_of_the_host():
    """Only the browser knows where the app begins: see `locate`."""
    call = r"(?:\bfetch|\bnew EventSource|\bnew WebSocket|\bsendBeacon)\((?!locate\()(.*)"
    found = [(name(path), *re.findall(call, code(path))) for path in MODULES]
    assert [one for one in found if one[1:]] == [("common/component.js", "address);")]
    assert not any(re.search(r"location\.origin|document\.baseURI", code(p)) for p in MODULES)
