"""A page's text is all shown, by the page and by the modules that it imports."""

import ast
import re
from fnmatch import fnmatch

from explainers.translations import load_sections
from explainers.ui.learning_path import NEXT_QUESTION
from explainers.ui.page import ONE_SENTENCE, split_title
from tests.house.test_house import PAGES, ROOT, each, imports, nodes, text_of


@each(PAGES)
def test_a_page_shows_all_of_its_text_and_no_other(path):
    """A name may be put together from a choice: `text(f"row_{name}")` shows every row_…"""
    written = load_sections(path.stem)
    asked = [asked for part in [path, *parts_with_text(path)] for asked in texts_asked_for(part)]
    for pattern, given in asked:
        found = [section for section in written if fnmatch(section, pattern)]
        assert found, f"there is no text {pattern}"
        slots = {slot for section in found for slot in re.findall(r"\{\{(\w+)", written[section])}
        by_name = None in given  # `**numbers`: the test of what computes them compares them
        assert by_name or slots <= given, f"{pattern} is not given {slots - given}"
    parts = [path, *parts_with_text(path)]
    handed_on = {text_of(node) for part in parts for node in nodes(part)}
    unasked = [s for s in written if not any(fnmatch(s, pattern) for pattern, _ in asked)]
    assert set(unasked) - {NEXT_QUESTION} <= handed_on, "there is text that is never shown"


@each(PAGES)
def test_a_page_can_be_said_in_one_sentence(path):
    """Without the bold words before the sentence that say what it is."""
    _title, sentence = split_title(load_sections(path.stem).get(ONE_SENTENCE, ""))
    assert len(sentence.split()) <= 30


def parts_with_text(page):
    """The modules of explainers.chapters that show text of the page that imports them."""
    modules = {ROOT / f"{module.replace('.', '/')}.py" for module in imports(page)}
    return modules & set(ROOT.glob("explainers/chapters/**/*.py"))


NAMED_BY = {
    "show_one_sentence": ["one_sentence"],
    "go_deeper": ["deeper*"],
    "check_yourself": ["recall_*", "because_recall_*"],
}
"""What a function shows, whatever it is given."""


def texts_asked_for(path):
    """(pattern of a name, names of its numbers) of every call of `text`, or of what asks by it."""
    for call in (node for node in nodes(path) if isinstance(node, ast.Call)):
        asks = ast.unparse(call.func)
        given = {keyword.arg for keyword in call.keywords}
        if asks in ("text.fill", "check_yourself"):
            given = {None}
        if asks in ("text", "text.fill") and pattern(call.args[0]) != "*":
            yield pattern(call.args[0]), given
        elif asks in ("revealed", "ask_veiled"):
            hidden = {"veil"} if asks == "ask_veiled" else set()
            for kind in ("ask", "because"):
                yield f"{kind}_{pattern(call.args[1])}", given | hidden
        yield from ((name, given) for name in NAMED_BY.get(asks, ()))


def pattern(written):
    """What a piece of code will say, with * for what is known only when it runs."""
    match written:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(map(pattern, parts))
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return pattern(left) + pattern(right)
    return "*"


def test_no_text_is_without_a_page():
    texts = {path.stem for path in ROOT.glob("assets/text/*/*.md")}
    assert texts - {"controls"} <= {path.stem for path in PAGES}
