"""Vietnamese as it is taught: one term for each thing, and no words that read as something else."""

import itertools
import json
import re
from functools import cache

from explainers.translations import TEXTS, load_sections
from workshop.catalogue import read_translations

GLOSSARY = json.loads((TEXTS / "glossary_vi.json").read_text("utf-8"))
TERMS = {entry["english"]: entry for entry in GLOSSARY["terms"]}
FIRST = {english: entry["first"] for english, entry in TERMS.items() if "first" in entry}
PAGES = sorted(path.stem for path in (TEXTS / "en").glob("[0-9]*.md"))
NO_WORDS = re.compile(
    r"```.*?```|`[^`]*`|\{\{\w+\}\}|\{\w*[^{}]*\}|\]\([^)]*\)|https?://\S+", re.DOTALL
)
"""Code, slots and the targets of links."""
NOT_ALWAYS_SHOWN = re.compile(r"hero_(?!caption)|film_|try_|next_question|part_|means_|card_")
"""Sections of which a page shows one or the other: none of them can be the first mention."""
OF_ITS_OWN = {
    "attention": r"attention(?! (?:sink|head))",
    "heads?": r"(?<!query )(?<!KV )heads?",
    "attention sinks?": r"(?:attention )?sinks?",
}
"""Where a longer term holds a shorter one."""


def strip(text):
    return NO_WORDS.sub(" # ", text)


@cache
def entries():
    """{(context, English): (English, Vietnamese)} as words alone."""
    return {
        key: tuple(strip(one if isinstance(one, str) else " ".join(one)) for one in (key[1], words))
        for key, words in read_translations(TEXTS / "vi.po").items()
    }


def uses(english, text):
    return re.search(rf"(?<![\w-])(?:{english})(?![\w-])", text, re.IGNORECASE)


def test_a_term_is_said_in_one_way():
    otherwise: dict[str, list[str]] = {}
    for english, term in TERMS.items():
        said = [vi for text, vi in entries().values() if uses(english, text)]
        assert said, f"{english}: a term that no text uses"
        wrong = [vi for vi in said if not any(form in vi.lower() for form in term["forms"])]
        otherwise |= {english: wrong} if wrong else {}
    assert otherwise == {}


def test_no_words_stand_for_a_term_or_read_as_something_else():
    avoided = [(one, english) for english, term in TERMS.items() for one in term["not"]]
    for pattern, why in (*avoided, *GLOSSARY["garden_paths"]):
        found = [vi for _, vi in entries().values() if re.search(pattern, vi)]
        assert found == [], f"{pattern}: {why}"


def test_a_page_gives_the_english_of_a_term_where_it_comes_first():
    """In brackets, as courses do; in the order in which the page is read."""
    late = []
    for page, (english, first) in itertools.product(PAGES, FIRST.items()):
        term = OF_ITS_OWN.get(english, english)
        word = first.partition("(")[2].rstrip(")")
        bracket = re.compile(rf"\((?:[\w-]+[ ,]+)*{word.split()[-1]}s?(?: \w+)?[),]")
        for name in load_sections(page):
            vi = entries().get((f"{page}/{name}", load_sections(page)[name]), ("", ""))
            if NOT_ALWAYS_SHOWN.match(name) or not vi[0]:
                continue
            if bracket.search(vi[1]):
                break
            if uses(term, vi[0]):
                late.append((page, english, name, vi[1][:80]))
                break
    assert late == []


def test_accuracy_and_precision_are_two_words():
    assert not {*TERMS["accuracy"]["forms"]} & {*TERMS["precision"]["forms"]}


MOST_SYLLABLES = 30
"""In a sentence. An English one has at most 25 words; a Vietnamese word is often two syllables."""


def test_sentences_are_short():
    """On pages; a colon or a semicolon ends one, as in English."""
    long = []
    for (page, _), (_, vi) in entries().items():
        text = re.sub(r"^(#+ |\||    ).*$", "", vi if page else "", flags=re.MULTILINE)
        for sentence in re.split(r"(?<=[.?!:;])[*)”]*\s+|\n\n", text):
            if len(re.findall(r"[\w#]+", sentence)) > MOST_SYLLABLES:
                long.append(sentence)
    assert long == []
