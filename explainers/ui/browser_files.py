"""Components of the app's own: their scripts and styles are files that the browser fetches once.

Streamlit serves such files for components of installed packages. Ours lie beside the code, in the
folder `browser`, and Streamlit is told of them here; all that this takes of its inside is in this
file. The scripts are ES modules: what one imports comes from the same folder in the same way.
"""

import functools
import hashlib
import json
import re
import threading
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit import runtime
from streamlit.components.v2.get_bidi_component_manager import get_bidi_component_manager
from streamlit.components.v2.manifest_scanner import ComponentConfig, ComponentManifest

from explainers.translations import ENGLISH, _, find_marks, get_language

FOLDER = Path(__file__).parent / "browser"
_TRANSLATED_TEXT = re.compile(r'(?<![\w$.])_\("([^"]+)"')
_LOCK = threading.Lock()
_fetched: set[str] = set()
_fetch = threading.Condition()
"""Files that some browser has fetched, by the ends of their addresses."""


@functools.cache
def name_package() -> str:
    """Stands in the address of every file, and changes with any of them.

    So a browser never runs old modules beside new ones, also if it was open meanwhile.
    """
    files = sorted(path for path in FOLDER.rglob("*") if path.suffix in (".js", ".css"))
    contents = b"\0".join(path.read_bytes() for path in files)
    return f"attention-{hashlib.sha256(contents).hexdigest()[:12]}"


def is_our_file(address: str) -> bool:
    """Is this the path of one of the files, as they are now?"""
    return f"/_stcore/bidi-components/{name_package()}." in address


def note_fetch(address: str) -> None:
    """One of the files is on its way to a browser."""
    with _fetch:
        _fetched.add(address.rpartition(name_package())[2].partition("/")[2])
        _fetch.notify_all()


def await_fetch(script: str, at_most: float) -> None:
    """Wait until some browser has fetched a script, so many seconds at the most."""
    with _fetch:
        _fetch.wait_for(lambda: script in _fetched, at_most)


def list_scripts(*parts: str) -> tuple[Path, ...]:
    """The modules in these parts of the folder."""
    return tuple(path for part in parts for path in sorted((FOLDER / part).rglob("*.js")))


def translate_scripts(scripts: Sequence[Path], more: Iterable[str] = ()) -> dict[str, str]:
    """What a component's scripts say, `_("…")`, and more, in the visitor's language.

    And how numbers are marked in it: before decimals, and between thousands.
    """
    if get_language() == ENGLISH:
        return {}
    marks = dict(zip((".", ","), find_marks(get_language()), strict=True))
    return marks | {text: _(text) for text in (*find_script_texts(tuple(scripts)), *more)}


@functools.cache
def find_script_texts(scripts: tuple[Path, ...]) -> tuple[str, ...]:
    """The English texts in a component's scripts, in an order that no move of a file changes."""
    found = (_TRANSLATED_TEXT.findall(file.read_text("utf-8")) for file in scripts)
    return tuple(sorted(set(chain.from_iterable(found))))


def offer_ahead(script: str) -> str:
    """Have a component's script served before it is drawn; returns where, beside the folders."""
    name = _name_component(script)
    if runtime.exists():
        _register(name_package(), name)
    return f"{name_package()}.{name}/{script}"


def _name_component(script: str) -> str:
    return script.removesuffix(".js").replace("/", "-")


def make_component(script: str, root: str = "", isolate_styles: bool = True) -> Callable[..., Any]:
    """What `st.components.v2.component` makes, of a script in the folder `browser`.

    It draws in an element of the class `root`, which is made anew with another version. The script
    fetches its style itself, once for all: Streamlit would link to it from each picture.
    """
    name = _name_component(script)

    @functools.cache
    def build() -> Callable[..., Any]:
        html = f'<div class="{root}" data-files="{name_package()}"></div>' if root else None
        return st.components.v2.component(
            f"{name_package()}.{name}", html=html, js=script, isolate_styles=isolate_styles
        )

    def draw(*, data: Any = None, **what: Any) -> Any:
        what["data"] = pack(data)
        if not runtime.exists():  # Python runs a page by itself: nothing is served, nothing drawn
            return st.components.v2.component(name)(**what)
        _register(name_package(), name)
        return build()(**what)

    return draw


def pack(data: Any) -> bytes:
    """As JSON, once: Streamlit would write it twice, and look for tables in it (with pandas)."""
    return json.dumps(data, separators=(",", ":")).encode()


def _register(package: str, name: str) -> None:
    """Tell Streamlit where a component's files are; each server has to hear it once."""
    manager = get_bidi_component_manager()
    with _LOCK:  # a second time would take back what the first visitor's run has made of it
        if manager.get_component_path(f"{package}.{name}") is None:
            config = ComponentConfig(name, asset_dir=FOLDER.name)
            manifest = ComponentManifest(package, package, [config])
            manager.register_from_manifest(manifest, FOLDER.parent)
