"""How the house is built: how long things are, what is named where. Imports: `lint-imports`."""

import ast
import functools
from collections import Counter

from tests.house.test_house import ATTENTION, EXPLAINERS, PAGES, PRODUCT, imports, nodes, tree
from tests.support.rules import each, name

ROLES = {"__init__", "__main__", "cards", "compute", "hero", "train"}
"""Stems that mean the same in each folder where they stand."""


@functools.cache
def modules():
    named = {name(path).removesuffix(".py").replace("/", "."): path for path in PRODUCT}
    return {full.removesuffix(".__init__"): path for full, path in named.items()}


def imported(path):
    return set(imports(path)) & set(modules())


def test_every_mechanism_is_shown_by_a_page():
    mechanisms = {full for full, path in modules().items() if path in ATTENTION}
    unused = {full for full in mechanisms - reached(PAGES) if modules()[full].read_text()}
    assert unused == set()


def test_a_stem_stands_once_in_the_tree():
    stems = Counter(path.stem for path in PRODUCT if path.stem not in ROLES)
    assert [stem for stem, count in stems.items() if count > 1] == []


def test_imports_are_held_in_every_folder():
    """What checks imports passes over a folder without this file, and says that all is well."""
    folders = {path.parent for path in EXPLAINERS}
    assert [folder for folder in folders if not (folder / "__init__.py").exists()] == []


@each(PRODUCT)
def test_a_function_is_one_idea(path):
    for node in nodes(path):
        if isinstance(node, ast.FunctionDef):
            lines = (node.end_lineno or 0) - node.lineno + 1
            assert lines <= 60, f"{node.name} has {lines} lines"


def test_no_small_module_is_there_for_one_other():
    importers = Counter(module for path in PRODUCT for module in imported(path))
    small = {
        full: len(path.read_text(encoding="utf-8").splitlines())
        for full, path in modules().items()
        if path in EXPLAINERS and path.stem not in ROLES
    }
    lonely = [full for full, lines in small.items() if lines < 20 and importers[full] == 1]
    assert lonely == []


@each(PRODUCT)
def test_state_has_names_that_stand_in_one_place(path):
    """`st.session_state` is asked for constants of `ui/session.py` and for keys of controls."""
    for node in nodes(path):
        match node:
            case ast.Subscript(value=ast.Attribute(attr="session_state"), slice=key) | ast.Call(
                ast.Attribute(value=ast.Attribute(attr="session_state")), [key, *_]
            ):
                assert not isinstance(key, ast.Constant | ast.JoinedStr)
            case ast.Attribute(value=ast.Attribute(attr="session_state"), attr=attribute):
                assert hasattr(dict, attribute), f"session_state.{attribute}"


@each([path for path in PRODUCT if name(path) != "explainers/ui/text/language.py"])
def test_fragments_speak_the_visitors_language(path):
    """Streamlit's own runs in a thread that has no language yet; ours sets it first."""
    named = [node for node in nodes(path) if isinstance(node, ast.Attribute)]
    own = [n for n in named if n.attr == "fragment" and ast.unparse(n) == "st.fragment"]
    assert not own, "uses st.fragment: take explainers.ui.text.language.fragment"


WHOLE_PAGES = "14_idle_heads", "15_serving", "17_inspector", "19_what_if", "23_exercises"
"""Pages whose picture changes what stands above it, or below which a model is being loaded."""


@each([path for path in PAGES if path.stem not in WHOLE_PAGES])
def test_a_choice_in_a_picture_runs_no_whole_page(path):
    """A run of the whole page takes three times as long, for everybody on this server."""
    for node in tree(path).body:
        is_drawing = any(ast.unparse(call) == "show_hero" for call in ast.walk(node))
        if not is_drawing or isinstance(node, ast.ImportFrom):
            continue
        assert isinstance(node, ast.FunctionDef), "shows its hero outside of a fragment"
        assert "fragment" in map(ast.unparse, node.decorator_list), f"{node.name}: no fragment"


@each(PRODUCT)
def test_a_page_asks_what_stands_beside_its_numbers(path):
    """A page's own questions: in the module whose numbers they ask about, and named so."""
    functions = [node for node in tree(path).body if isinstance(node, ast.FunctionDef)]
    asking = [f.name for f in functions if f.returns and ast.unparse(f.returns) == "Recall"]
    assert not asking or name(path).startswith("explainers/chapters/"), "asks outside a chapter"
    assert len(asking) < len(functions) or not asking, "holds questions and nothing else"
    assert [one for one in asking if not one.startswith("recall_")] == []


def reached(paths):
    """The modules that files import, and that these import, and so on."""
    found: set[str] = set()
    ahead = set().union(*map(imported, paths))
    while ahead := ahead - found:
        found |= ahead
        ahead = set().union(*(imported(modules()[full]) for full in ahead))
    return found
