"""Every text in every language: none is missing, none is left over, none lost a number."""

import ast
import re
from pathlib import Path
from string import Formatter

import pytest

from explainers.phrase import phrase
from explainers.ui import language
from explainers.ui.catalogue import TEXTS, words_of
from explainers.ui.collected import calls_that_say, texts

ROOT = Path(__file__).parents[1]
CATALOGUES = sorted(TEXTS.glob("*.po"))
PENDING = ("app.py", "assets/", "explainers/", "pages/")
"""Files whose texts are being translated."""
MEANT = {(text.name, text.text): text.file for text in texts()}


def each_language(test):
    return pytest.mark.parametrize("catalogue", CATALOGUES, ids=lambda path: path.stem)(test)


@each_language
def test_nothing_is_missing(catalogue):
    missing = set(MEANT) - set(words_of(catalogue))
    assert [text for text in missing if not MEANT[text].startswith(PENDING)] == []


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


@pytest.mark.parametrize(
    "path",
    [ROOT / "app.py", *ROOT.glob("pages/*.py"), *ROOT.glob("explainers/**/*.py")],
    ids=lambda path: path.relative_to(ROOT).as_posix(),
)
def test_what_is_said_is_written_out(path):
    """Else the tool that collects texts would not find it."""
    for call in calls_that_say(ast.parse(path.read_text(encoding="utf-8"))):
        literal = ast.literal_eval(call.args[0])
        assert isinstance(literal, str)
        given = {keyword.arg for keyword in call.keywords}
        assert not given or {slot for slot, _ in slots(None, literal)} == given


def test_a_phrase_is_english_until_it_is_said(monkeypatch):
    words = {"{n} of {what}": "{what}: {n}", "words": "từ"}
    monkeypatch.setattr(language, "language", lambda: "vi")
    monkeypatch.setattr(language, "_words", lambda _: Words(words))
    made = phrase("{n} of {what}", n=3, what=phrase("{n} words", n=2))
    assert made == "3 of 2 words"
    assert language.translated(made) == "2 words: 3"  # what is not translated stays English
    assert language.said("words") == "từ"
    assert language.translated("") == ""


class Words(dict[str, str]):
    def gettext(self, text):
        return self.get(text, text)
