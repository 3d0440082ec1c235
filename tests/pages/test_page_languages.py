"""Every page in every language: nothing in English is left, and nothing is kept for the next."""

import functools
import json
import logging
import re

import pytest

from explainers import translations
from explainers.chapters.common.unknown_words import list_known_sentences
from explainers.chapters.cross_attention.choose_sentence import (
    list_held_out_examples,
    write_variant,
)
from explainers.chapters.tokens.cut_text import CORPUS
from explainers.models import load as loading
from explainers.models import registry
from explainers.toys.sentence import PRESETS, SENTENCE, list_known_examples, write_running_sentence
from explainers.translations import ENGLISH, TEXTS, load_sections, translate
from explainers.ui.controls.controls import CONFIG
from explainers.ui.session import BUILT_WORD, VISIT
from explainers.ui.text import language
from explainers.ui.text.catalogue import find_missing, format_catalogue
from explainers.ui.text.language import list_languages
from tests.support import saved_models
from tests.support.opening import PAGES, ROOT, elements, opened, unfolded, widgets

OTHERS = sorted(set(list_languages()) - {ENGLISH})
LINK = {"text": "Fans praised players"}
"""A text without the little words by which English is told from other languages."""
WORD_OF_SENTENCE = BUILT_WORD.format("")
NO_WORDS = {"id", "key", "snippet", "url", "page", "page_script_hash", "planes", "digest", "font"}
NO_WORDS |= {"choices", "usual"}
"""What is sent beside words: names, code, numbers, and choices as a link has them."""
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
        return json.loads(element.proto.bytes or "{}")
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
                    is_speech = name == "words" and isinstance(value, dict)
                    yield from words_in([*value.values()] if is_speech else value)
        case list():
            for value in data:
                yield from words_in(value)


@functools.cache
def lacking(spoken):
    """The English texts that a language lacks: `make check` reports them, and they are shown."""
    missing = find_missing(TEXTS / f"{spoken}.po")
    forms = [form for one in missing for form in ([one] if isinstance(one, str) else one)]
    raised = [re.sub("^###", "##", form, flags=re.MULTILINE) for form in forms]
    parts = [map(re.escape, re.split(r"\{+[^{}]*\}+", form)) for form in raised]
    return [re.compile(".*?".join(part), re.DOTALL) for part in parts]


def without_lacking(texts, spoken):
    """The texts, less what is in English because nobody has translated it yet."""
    for text in texts:
        for template in lacking(spoken):
            text = template.sub(" ", text)
        yield text


def is_english(text, english):
    """A sentence that was not translated, or has little words of English."""
    bare = QUOTED.sub(" ", text)
    same = text in english and " " in bare.strip() and len(re.findall("[a-z]{2,}", bare)) > 2
    return same or LITTLE.search(bare) is not None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
@pytest.mark.parametrize("spoken", OTHERS)
@pytest.mark.usefixtures("quick")
def test_a_page_speaks_one_language(page, spoken):
    own = {SENTENCE, LINK["text"], *PRESETS.values(), *list_held_out_examples()}
    own |= {*list_known_examples(ENGLISH).values()}
    own |= {write_variant(is_passive=True), write_variant(kind="")}
    own |= {CORPUS.read_text(encoding="utf-8").strip(), *map(" ".join, list_known_sentences("en"))}
    english = visited(page, ENGLISH)
    said = visited(page, spoken)
    translated = without_lacking(said - own, spoken)
    assert [text for text in translated if is_english(text, english)] == []
    if spoken in LETTERS:
        again = visited(page, ENGLISH) - english
        assert [text for text in again if LETTERS[spoken].search(text)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
@pytest.mark.parametrize("spoken", OTHERS)
def test_links_are_english_in_every_language(page, spoken):
    """What is chosen by other words stands in English in the link, and such a link is obeyed."""
    asking = {"predict": "true"}
    english, visit = widgets(opened(page, asking)), opened(page, {"lang": spoken, **asking})
    chosen: dict[str, str] = {}
    for key, widget in widgets(visit).items():
        options = list(getattr(widget, "options", ()))
        of_sentence = key in {"preset", "word"} or key.startswith(WORD_OF_SENTENCE)
        if len(options) < 2 or key == "lang" or of_sentence:
            continue
        if options != list(english[key].options):
            chosen[key] = next(word for word in english[key].options if word != widget.value)
            widget.set_value([chosen[key]] if isinstance(widget.value, list) else chosen[key])
    visit.run()
    assert not visit.exception
    in_sight = {key: chosen[key] for key in chosen if key in widgets(visit)}
    link = {key: visit.query_params.get(key) for key in in_sight}
    kept = {key: visit.session_state[key] for key in in_sight}
    # A choice may have changed what else there is to choose.
    assert {key: word for key, word in link.items() if word != in_sight[key]} == {
        key: None for key, value in kept.items() if value not in (in_sight[key], [in_sight[key]])
    }
    again = opened(page, {"lang": spoken, **asking, **{k: w for k, w in link.items() if w}})
    assert {key: again.session_state[key] for key in in_sight} == kept
    assert not again.info


def test_a_third_language_is_one_file(tmp_path, monkeypatch):
    (tmp_path / "en").symlink_to(TEXTS / "en")
    file = tmp_path / "fr.po"
    file.write_text("# Français\n", encoding="utf-8")
    words = {
        (None, "Masks"): "Masques",
        ("05_masks/question", load_sections("05_masks")["question"]): "?",
    }
    file.write_text(format_catalogue(file, words), encoding="utf-8")
    monkeypatch.setattr(language, "TEXTS", tmp_path)
    monkeypatch.setattr(translations, "TEXTS", tmp_path)
    language.list_languages.cache_clear()
    try:
        visit = opened(ROOT / "pages" / "05_masks.py", {"lang": "fr"})
    finally:
        language.list_languages.cache_clear()
    assert not visit.exception
    assert visit.title[0].value == "Masques"
    assert visit.markdown[0].value == "?"
    assert visit.sidebar.button_group("lang").options == ["English", "Français"]
    assert visit.sidebar.toggle[0].label == "Study mode"  # not translated yet


REFUSED = [
    "hello",
    "",
    "[1]",
    "{}",
    "[" * 50_000,
    '{"num_hidden_layers": 0}',
    '{"num_hidden_layers": 1' + "0" * 99 + "}",
    '{"num_hidden_layers": 2, "block_types": 1}',
    '{"num_hidden_layers": 2, "vision": {"n_head": 3}}',
    '{"num_hidden_layers": 2, "layer_types": ["full_attention"]}',
    '{"num_hidden_layers": 2, "attn_config": 3}',
]


@pytest.mark.parametrize("spoken", OTHERS)
def test_what_is_refused_is_refused_in_the_language_of_the_page(spoken):
    page = next(one for one in PAGES if one.stem == "10_cache_memory")
    visits = [opened(page, {"lang": one, "model": CONFIG}) for one in (ENGLISH, spoken)]
    for text in REFUSED:
        english, other = (warned(visit, text) for visit in visits)
        assert english != other
        assert not LITTLE.search(other)
        assert re.search(LETTERS.get(spoken, ""), other)


def warned(visit, text):
    visit.text_area(key="pasted config").set_value(text).run()
    assert not visit.exception
    return "\n".join(note.value for note in visit.warning)


BROKEN = {"model.safetensors": "no numbers", "config.json": "[1]", "tokenizer.json": "{}"}


@pytest.mark.parametrize("spoken", OTHERS)
def test_why_there_is_no_model_is_said_in_the_language_of_the_page(spoken, tmp_path, monkeypatch):
    page = next(one for one in PAGES if one.stem == "17_inspector")
    monkeypatch.setenv("ATTENTION_MODELS", str(tmp_path))
    monkeypatch.setattr(loading, "_models", {})

    def refused(named):
        english, other = (failed(page, one, named) for one in (ENGLISH, spoken))
        assert english
        assert english != other
        assert not LITTLE.search(QUOTED.sub(" ", other))
        assert re.search(LETTERS.get(spoken, ""), other)

    refused("no such model")
    refused("x" * 500)
    for number, (broken, text) in enumerate(BROKEN.items()):
        named = f"someone/llama-{number}"
        folder = saved_models.llama(registry.locate_folder(named))
        (folder / broken).write_text(text, encoding="utf-8")
        refused(named)


def failed(page, spoken, named):
    visit = opened(page, {"lang": spoken, "real_model": named})
    assert not visit.exception
    return "\n".join(note.value for note in visit.error)


def test_a_switch_of_language_is_no_new_visit():
    visit = opened(PAGES[0])
    titles, visits = [visit.title[0].value], [visit.session_state[VISIT]]
    widgets(visit)["lang"].set_value(OTHERS[0])
    visit.run()
    titles, visits = [*titles, visit.title[0].value], [*visits, visit.session_state[VISIT]]
    assert titles[0] != titles[1]
    assert visits[0] == visits[1]


TWIN = write_running_sentence("vi")


def sentence_on(visit):
    return visit.text_input(key="text").value


def test_reset_brings_the_running_sentence_of_the_language():
    visit = opened(PAGES[0], {"lang": "vi", "text": "The judge rejected claims"})
    reset = translate("Reset all choices", "vi")
    next(one for one in visit.button if one.label == reset).click().run()
    assert sentence_on(visit) == TWIN
    assert "text" not in visit.query_params


@pytest.mark.parametrize("link", [{}, {"text": SENTENCE}], ids=["nothing", "English"])
def test_what_was_chosen_and_what_was_not_comes_back_from_a_page_in_english(link):
    visit = opened(PAGES[0], {"lang": "vi", **link})
    before = sentence_on(visit)
    assert before == (SENTENCE if link else TWIN)
    for page in ("16_cross_attention", "03_query_key_value"):
        visit.switch_page(f"pages/{page}.py").query_params["lang"] = "vi"
        visit.run()
        assert sentence_on(visit) == (before if page.startswith("03") else SENTENCE)
