"""Every page in every language: nothing in English is left, and nothing is kept for the next."""

import json
import logging
import re

import pytest
from opening import PAGES, elements, opened, unfolded

from explainers.lessons.cross_attention.gold import examples
from explainers.sentence import PRESETS, SENTENCE
from explainers.ui.language import ENGLISH, languages

OTHERS = sorted(set(languages()) - {ENGLISH})
LINK = {"text": "Fans praised players"}
"""A text without the little words by which English is told from other languages."""
NO_WORDS = {"id", "key", "snippet", "url", "page", "page_script_hash", "planes", "digest", "font"}
"""What is sent beside words: names, code and numbers."""
LITTLE = re.compile(
    r"\b(the|of|and|is|are|with|every|each|that|from|was|this|which|have|has|its|by|for|all|only|no)"
    r" [a-z]{2,}"
)
QUOTED = re.compile(
    r"```.*?```|`[^`]*`|\*[^*\s][^*]*\*|“[^”]*”|\"[^\"]*\"|‘[^’]*’|\([^)]*\)"
    r"|\S+[/_.]\S+|:[a-z]+:|\\:[^|]*\|",
    re.DOTALL,
)
"""Code, words of the sentence, titles, sources and addresses stay as they are everywhere."""
VIETNAMESE = re.compile("[ăắằẳẵặâấầẩẫậđêếềểễệôốồổỗộơớờởỡợưứừửữựạảẹẻẽịỉĩọỏụủũỳỵỷỹ]")
LETTERS = {"vi": VIETNAMESE}
"""By which each language is told from English, where that is possible."""


def visited(page, spoken):
    """Everything that a page says to a visitor who opens all that can be opened."""
    logging.disable(logging.WARNING)  # each run of a test warns of there being no browser
    visit = unfolded(opened(page, {"lang": spoken, **LINK}))
    assert not visit.exception
    return {text for element in everything(visit) for text in words_in(sent(element))}


def everything(visit):
    return [one for block in (visit.main, visit.sidebar) for one in elements(block)]


def sent(element):
    """What the browser gets for an element; code and typed texts are no words of ours."""
    if element.type in {"code", "text_input", "text_area", "html", "flex_container"}:
        return None
    if element.type == "bidi_component":
        return json.loads(element.proto.json or "{}")
    if element.type == "vega_lite_chart":
        return json.loads(element.proto.spec)
    return fields(element.proto)


def fields(message):
    """A message of Streamlit's as dicts and lists; nothing that has no fields, such as a column."""
    if isinstance(message, str) or not hasattr(message, "ListFields"):
        return message if isinstance(message, str) else None
    found = {}
    for field, value in message.ListFields():
        each = hasattr(value, "__len__") and not isinstance(value, str | bytes)
        found[field.name] = [fields(one) for one in value] if each else fields(value)
    return found


def words_in(data):
    match data:
        case str():
            yield data
        case dict():
            for name, value in data.items():
                if name not in NO_WORDS:
                    yield from words_in([*value.values()] if name == "words" else value)
        case list():
            for value in data:
                yield from words_in(value)


def is_english(text, english):
    """A sentence that was not translated, or has little words of English."""
    bare = QUOTED.sub(" ", text)
    same = text in english and " " in bare.strip() and len(re.findall("[a-z]{2,}", bare)) > 2
    return same or LITTLE.search(bare) is not None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
@pytest.mark.parametrize("spoken", OTHERS)
def test_a_page_speaks_one_language(page, spoken):
    own = {SENTENCE, *PRESETS.values(), *examples(), "Query, key, value"}
    english = visited(page, ENGLISH)
    said = visited(page, spoken)
    assert [text for text in said - own if is_english(text, english)] == []
    if spoken in LETTERS:
        again = visited(page, ENGLISH) - english
        assert [text for text in again if LETTERS[spoken].search(text)] == []
