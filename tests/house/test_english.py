"""The pages speak plain English: short sentences, short paragraphs, one term for one thing."""

import re
from collections import Counter

from explainers.folders import ASSETS, ROOT
from explainers.translations import load_sections
from tests.support.rules import each

PAGES = sorted(ASSETS.glob("text/en/[0-9]*.md"))
CONTROLS = ASSETS / "text/en/controls.md"
MOST_WORDS = {"sentence": 25, "paragraph": 55}
AVOIDED = {
    r"listen(s|ing)? to|hears?": "attends to",
    r"hand(s|ed)? over|passed on to": "passes on, offers",
    r"filling": "padding",
    r"said twice": "repeated",
    r"likeliest": "most probable",
    r"chance|likelihood": "probability; at random",
    r"what comes out|comes out is": "output, result",
    r"as many times as": "times, as in: 3 times",
    r"so many": "a figure with its unit",
    r"all the same": "still, anyway",
    r"beginnings": "seeds",
    r"dares?|says next|asks next": "predicts",
    r"stands?|standing": "is, has",
    r"parked|parking": "attention sink",
    r"pieces?": "token, subword",
    r"the root": "√d_k",
    r"the turn": "rotation",
    r"(?<!mouse, )point (at|for|to)": "choose; fingers cannot: with a mouse, point at",
    r"click(s|ed|ing)?|tap(s|ped|ping)?": "choose, press: a mouse, a finger and keys all do",
    r"drawn weights": "untrained weights",
    r"corpus' own": "a sentence from the corpus",
}
"""What reads like a translation or has another name elsewhere, and what to write instead."""
SLOT = re.compile(r"\{\{\w+\}\}")


def read_paragraphs(path):
    """Every paragraph of a page's text, without headings and tables."""
    text = re.sub(r"^(## .*|###.*|\|.*)$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return [" ".join(paragraph.split()) for paragraph in re.split(r"\n\s*\n", text) if paragraph]


def split_sentences(paragraph):
    """Its sentences; a colon or a semicolon ends one that a reader can rest at."""
    return re.split(r"(?<=[.?!:;])[*)]*\s+(?=[(\"“*]*[A-Z0-9{])", paragraph)


def count_words(text):
    return sum(bool(re.search(r"\w", word)) for word in text.split())


@each(PAGES)
def test_sentences_and_paragraphs_are_short(path):
    for paragraph in read_paragraphs(path):
        assert count_words(paragraph) <= MOST_WORDS["paragraph"], paragraph
        for sentence in split_sentences(paragraph):
            assert count_words(sentence) <= MOST_WORDS["sentence"], sentence


@each([*PAGES, CONTROLS])
def test_one_term_for_one_thing(path):
    avoided = [
        f"{found[0]!r}, better {better!r}: {paragraph}"
        for paragraph in read_paragraphs(path)
        for words, better in AVOIDED.items()
        for found in re.finditer(rf"\b({words})\b", SLOT.sub("", paragraph), re.IGNORECASE)
    ]
    assert not avoided, "\n".join(avoided)


@each([*ROOT.glob("explainers/**/*.py"), *ROOT.glob("pages/*.py"), *PAGES])
def test_a_percent_sign_has_a_space_before_it(path):
    """The pictures write 42 %, and so do sentences; no format of Python does, and no style."""
    text = path.read_text(encoding="utf-8").replace(";width:100%;", "")
    assert re.findall(r"\S*\d%|(?i:(?<!space))}%", text) == []


@each(PAGES)
def test_nobody_shouts(path):
    for paragraph in read_paragraphs(path):
        assert not re.search(r"\w!", paragraph), paragraph


def test_a_question_has_one_name():
    """A reader's answer is kept by it, on all pages: two questions would share it."""
    asked = [name for path in PAGES for name in load_sections(path.stem) if name.startswith("ask_")]
    assert [name for name, count in Counter(asked).items() if count > 1] == []
