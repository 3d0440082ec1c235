"""Every text in every language: none is missing, none is left over, none lost a number."""

import ast
import re
from pathlib import Path
from string import Formatter

import pandas as pd
import pytest

from explainers.phrase import phrase
from explainers.ui.figure import chart
from explainers.ui.text import language
from explainers.ui.text.catalogue import TEXTS, words_of, written
from explainers.ui.text.collected import calls_that_say, texts

ROOT = Path(__file__).parents[1]
CATALOGUES = sorted(TEXTS.glob("*.po"))
BRING_UP_TO_DATE = "run `python -m explainers.ui.text.catalogue`, and translate what it finds"
SPEAKING = {"said", "translated", "section", "language"}


EACH_FILE = pytest.mark.parametrize(
    "path",
    [ROOT / "app.py", *ROOT.glob("pages/*.py"), *ROOT.glob("explainers/**/*.py")],
    ids=lambda path: path.relative_to(ROOT).as_posix(),
)


def each_language(test):
    return pytest.mark.parametrize("catalogue", CATALOGUES, ids=lambda path: path.stem)(test)


@each_language
def test_nothing_is_missing(catalogue):
    wanted = {(text.name, text.text) for text in texts()}
    assert wanted - set(words_of(catalogue)) == set(), BRING_UP_TO_DATE


@each_language
def test_nothing_is_left_over(catalogue):
    kept = catalogue.read_text(encoding="utf-8")
    assert kept == written(catalogue, words_of(catalogue)), BRING_UP_TO_DATE


@each_language
def test_a_translation_has_the_slots_and_the_code_of_its_text(catalogue):
    for (name, text), words in words_of(catalogue).items():
        assert slots(name, words) == slots(name, text), words
        assert sorted(re.findall(r"`[^`]+`", words)) == sorted(re.findall(r"`[^`]+`", text)), words


def slots(name, text):
    """Those of a page are `{{name}}`; those of code are what `str.format` reads."""
    if name:
        return set(re.findall(r"\{\{(\w+)\}\}", text))
    return {(slot, form) for _, slot, form, _ in Formatter().parse(text) if slot}


@EACH_FILE
def test_what_is_said_is_written_out(path):
    """Else the tool that collects texts would not find it."""
    for call in calls_that_say(ast.parse(path.read_text(encoding="utf-8"))):
        literal = ast.literal_eval(call.args[0])
        assert isinstance(literal, str)
        given = {keyword.arg for keyword in call.keywords}
        assert not given or {slot for slot, _ in slots(None, literal)} == given


@EACH_FILE
def test_no_cache_holds_one_visitors_language(path):
    """Unless it is told which: then it holds one result for each."""
    for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
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


def test_a_phrase_is_english_until_it_is_said(monkeypatch):
    words = {"{n} of {what}": "{what}: {n}", "words": "từ", "{n} rows": "{n} hàng"}
    monkeypatch.setattr(language, "language", lambda: "vi")
    monkeypatch.setattr(language, "_words", lambda _: Words(words))
    made = phrase("{n} of {what}", n=3, what=phrase("{n} words", n=2))
    assert made == "3 of 2 words"
    assert language.translated(made) == "2 words: 3"  # what is not translated stays English
    assert language.said("words") == "từ"
    assert language.translated("") == ""
    monkeypatch.setattr(language, "language", lambda: "en")  # as in the threads that make files
    assert language.in_language(
        "vi", phrase("{n} of {what}", n=3, what=phrase("{n} rows", n=2))
    ) == ("2 hàng: 3")


class Words(dict[str, str]):
    def gettext(self, text):
        return self.get(text, text)


def test_a_chart_says_its_own_words_and_nobody_elses(monkeypatch):
    monkeypatch.setattr(chart, "language", lambda: "vi")
    said = {"weight": "trọng số", "scores": "điểm"}
    monkeypatch.setattr(chart, "translated", lambda word: said.get(word, word))
    monkeypatch.setattr(chart, "in_language", lambda _, word: said.get(word, word))
    rows = pd.DataFrame({"series": ["scores", "7"], "token": ["scores", "weight"], "x": [1, 2]})
    told = chart.rows_in_words(rows)
    assert told["series"].tolist() == ["điểm", "7"]
    assert told["token"].tolist() == ["scores", "weight"]  # the reader's
    spec = {
        "encoding": {
            "x": {"field": "weight", "title": "weight", "scale": {"domain": ["scores", 3]}},
            "tooltip": [{"field": "scores"}, {"field": "weight", "title": "scores"}],
        }
    }
    told_spec = chart.chart_in_words(spec, "vi")["encoding"]
    assert told_spec["x"] == {
        "field": "weight",
        "title": "trọng số",
        "scale": {"domain": ["điểm", 3]},
    }
    assert [tip["title"] for tip in told_spec["tooltip"]] == ["điểm", "điểm"]
    assert chart.chart_in_words(spec, "en") is spec
