"""Texts in other languages: found where they stand, said with their numbers, English if missing."""

import ast
import re
from copy import deepcopy
from functools import cache
from pathlib import Path
from string import Formatter

import pandas as pd
import pytest

from explainers import translations
from explainers.charts.bars import draw_layer_bars, make_layer_rows
from explainers.charts.theme import LIGHT
from explainers.messages import N_, ngettext
from explainers.translations import (
    TEXTS,
    Localised,
    _,
    localise_numbers,
    say_arithmetic,
    say_value,
    set_language,
    translate,
    write_value,
)
from explainers.ui.browser_files import find_script_texts, translate_scripts
from explainers.ui.figure import chart
from tests.house.test_house import nodes
from tests.support.rules import each
from workshop import catalogue
from workshop.catalogue import (
    KEYWORDS,
    build_template,
    find_missing,
    format_catalogue,
    read_translations,
)

ROOT = Path(__file__).parents[1]
read_once = cache(build_template)
CATALOGUES = sorted(TEXTS.glob("*.po"))
SPEAKING = {"_", "pgettext", "section", "language"}
ERRORS = {name for name in KEYWORDS if name.endswith("Error")}
"""They mark their text themselves, and may be given one that was marked before."""
MARKING = {"_", "N_", "ngettext", "add_note", *ERRORS}

EACH_FILE = each([ROOT / "contents.py", *ROOT.glob("pages/*.py"), *ROOT.glob("explainers/**/*.py")])


def test_texts_of_scripts_are_found_wherever_they_stand():
    """What extracts them misses some that stand in a template: `${_("…")}`."""
    scripts = tuple(sorted((ROOT / "explainers" / "ui" / "browser").rglob("*.js")))
    ours = tuple(file for file in scripts if file.parent.name != "vendor")
    assert {*find_script_texts(ours)} <= {entry.id for entry in read_once()}


def test_texts_are_found_wherever_they_stand():
    found = {(entry.context, entry.id) for entry in read_once()}
    for expected in [
        (None, "Masks"),  # the table of contents
        (None, "Width of the window"),  # a control
        (None, "share of draws"),  # an axis of a chart
        (None, ("{count:,} token", "{count:,} tokens")),
        (None, "rows sum to one"),  # a claim, named as its function
        (None, "Standard deviation of an entry"),  # a size of a claim
        (None, "Close the arithmetic"),  # what a script of the browser says
    ]:
        assert expected in found
    assert {"controls/mask", "05_masks/question"} <= {context for context, _ in found}


@each(CATALOGUES)
def test_a_translation_has_the_slots_and_the_code_of_its_text(path):
    for (context, text), words in read_translations(path).items():
        for form in words if isinstance(words, tuple) else [words]:
            english = text[-1] if isinstance(text, tuple) else text
            assert slots(context, form) == slots(context, english), form
            assert sorted(re.findall(r"`[^`]+`", form)) == sorted(re.findall(r"`[^`]+`", english))


def slots(context, text):
    """Those of a page are `{{name}}`; those of code are what `str.format` reads."""
    if context:
        return set(re.findall(r"\{\{(\w+)\}\}", text))
    return {(slot, form) for _, slot, form, _ in Formatter().parse(text) if slot}


def test_what_a_language_lacks_is_reported(tmp_path, monkeypatch):
    def build_again(language="en"):
        made = deepcopy(read_once())
        made.locale = language
        return made

    monkeypatch.setattr(catalogue, "build_template", build_again)
    file = tmp_path / "fr.po"
    file.write_text("# Français\n", encoding="utf-8")
    file.write_text(format_catalogue(file, {(None, "Masks"): "Masques"}), encoding="utf-8")
    lacking = find_missing(file)
    assert "Masks" not in lacking
    assert "Multi-head attention" in lacking


@EACH_FILE
def test_a_text_is_written_out_where_it_is_marked(path):
    """Else Babel would not find it: no name, no f-string, and none inside of one."""
    for call in marked_in(nodes(path)):
        name, text = name_call(call), call.args[0]
        if name == "_" and not isinstance(text, ast.Constant):
            continue  # it also translates what was marked elsewhere
        if name in ERRORS and isinstance(text, ast.Name | ast.IfExp):
            continue  # one that was marked before
        literal = ast.literal_eval(text)
        given = {keyword.arg for keyword in call.keywords} - {None}
        counted = {"count"} if name == "ngettext" else set()
        assert not given or {slot for slot, _ in slots(None, literal)} == given | counted
    inside = [part for part in nodes(path) if isinstance(part, ast.JoinedStr)]
    for call in (call for part in inside for call in marked_in(ast.walk(part))):
        assert not isinstance(call.args[0], ast.Constant), f"line {call.lineno}"


def test_errors_that_mark_their_text_are_known_to_the_catalogue():
    """Else no language would ever be asked for it."""
    bases: dict[str, set[str]] = {}
    for path in ROOT.glob("explainers/**/*.py"):
        classes = [node for node in nodes(path) if isinstance(node, ast.ClassDef)]
        bases |= {node.name: {ast.unparse(base) for base in node.bases} for node in classes}
    found = {"SaidError"}
    while added := {name for name, of in bases.items() if of & found} - found:
        found |= added
    in_english = {"GivenError"}
    assert found - {"SaidError"} - in_english == ERRORS


def marked_in(code):
    for node in code:
        if isinstance(node, ast.Call) and name_call(node) in MARKING:
            yield node


def name_call(call):
    """A function's name, or a method's; gettext's own functions are given what was marked."""
    method = getattr(call.func, "attr", "")
    return getattr(call.func, "id", method if method in {"add_note", *ERRORS} else "")


@EACH_FILE
def test_no_cache_holds_one_visitors_language(path):
    """Unless it is told which: then it holds one result for each."""
    for function in nodes(path):
        if not isinstance(function, ast.FunctionDef):
            continue
        given = {argument.arg.strip("_") for argument in function.args.args}
        if (
            any("cache" in ast.unparse(d) for d in function.decorator_list)
            and "spoken" not in given
        ):
            called = {
                getattr(n.func, "id", "") for n in ast.walk(function) if isinstance(n, ast.Call)
            }
            assert not called & SPEAKING, function.name


@pytest.fixture
def french(monkeypatch):
    words = {
        "{n} of {what}": "{what} : {n}", "{n} rows": "{n} lignes", "weight": "poids",
        "MiB of a layer": "octets",
        "scores": "scores bruts",
    }  # fmt: skip
    monkeypatch.setattr(translations, "_catalogue", lambda path: Words(words))
    set_language("fr")
    yield
    set_language("en")


@pytest.mark.usefixtures("french")
def test_a_message_is_english_until_it_is_said():
    made = N_("{n} of {what}", n=3, what=N_("{n} rows", n=2))
    assert made == "3 of 2 rows"
    assert _(made) == "2 lignes : 3"
    assert _("{n} of {what}", n=3, what="x") == "x : 3"
    assert _(ngettext("{count:,} row", "{count:,} rows", 1)) == "1 row"  # not translated
    assert _(ngettext("{count:,} row", "{count:,} rows", 1_000)) == "1\u202f000 rows"
    assert _("") == ""
    assert _("a { brace") == "a { brace"
    set_language("en")  # as in the threads that make files
    assert _(made) == made
    assert translate(made, "fr") == "2 lignes : 3"


class Words(dict[str, str]):
    def gettext(self, text):
        return self.get(text, text)

    def ngettext(self, one, more, count):
        return one if count == 1 else more


@pytest.mark.usefixtures("french")
def test_a_chart_says_its_own_words_and_nobody_elses():
    rows = pd.DataFrame({"series": ["scores", "7"], "token": ["scores", "weight"]})
    told = chart.translate_rows(rows)
    assert told["series"].tolist() == ["scores bruts", "7"]
    assert told["token"].tolist() == ["scores", "weight"]  # the reader's
    drawn = draw_layer_bars(make_layer_rows([("with", 0, 2**30)]), LIGHT).to_dict()
    assert "octets" in str(drawn)


@pytest.mark.parametrize(
    ("english", "vietnamese"),
    [
        ("0.45", "0,45"),
        ("12,345.6 GiB", "12.345,6 GiB"),
        ("−0.25, 0.5", "−0,25; 0,5"),
        ("1.5e-07", "1,5e-07"),
        ("| causal | 0.45 | 1,024³ |", "| causal | 0,45 | 1.024³ |"),
        ("Llama-3.1-8B, Qwen2.5, Llama 3.1", "Llama-3.1-8B, Qwen2.5, Llama 3.1"),
        ("`x = 0.5`, [page](scores?temperature=0.5)", "`x = 0.5`, [page](scores?temperature=0.5)"),
        ("127.0.0.1", "127.0.0.1"),
    ],
)
def test_a_number_has_the_marks_of_the_language(english, vietnamese):
    assert localise_numbers(english, "vi") == vietnamese


def test_a_number_is_rewritten_once():
    """What is put together of texts that were translated may have 1.024 for a thousand."""
    assert write_value("3.214", "vi") == "3,214"
    assert write_value(Localised("3.214"), "vi") == "3.214"
    assert write_value("1.024 từ, 0.5", "vi") == "1.024 từ, 0,5"
    assert write_value(1.5, "vi", ".3f") == "1,500"
    assert write_value("v1.5 of a reader", "vi") == "v1.5 of a reader"
    assert write_value("0.5", "tlh") == "0.5"


def test_a_slot_gets_the_marks_of_the_language():
    assert translate(ngettext("{count:,} token", "{count:,} tokens", 1_000), "vi") == "1.000 token"
    assert translate(N_("{n} rows", n="0.25"), "en") == "0.25 rows"
    assert translate("0.25", "vi") == "0,25"
    set_language("vi")
    assert (say_value(0.25), say_value("1,024"), say_arithmetic("0.5 · 2 = 1.000")) == (
        *("0,25", "1.024", "0,5 · 2 = 1,000"),
    )
    marks = translate_scripts([])
    set_language("en")
    assert (marks, translate_scripts([])) == ({".": ",", ",": "."}, {})


def test_a_chart_marks_its_numbers_as_the_language_does():
    spec = chart.localise_spec({"mark": "bar", "config": {"font": "x"}}, "vi")
    number = {"decimal": ",", "thousands": ".", "grouping": [3], "currency": ["", ""]}
    assert spec["config"] == {"font": "x", "locale": {"number": number}}
    assert chart.localise_spec({"mark": "bar"}, "en") == {"mark": "bar"}
