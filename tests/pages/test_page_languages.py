"""Every page in every language: nothing in English is left, and links stay English."""

import functools
import logging
import re

import pytest

from explainers import translations
from explainers.chapters.common.sentence_reading import list_known_sentences
from explainers.chapters.cross_attention import choose_sentence
from explainers.chapters.tokens.hero import CORPUS
from explainers.toys.sentence import PRESETS, SENTENCE, list_known_examples, write_running_sentence
from explainers.translations import ENGLISH, TEXTS, load_sections, translate
from explainers.ui.controls.controls import CONFIG
from explainers.ui.session import VISITOR
from explainers.ui.text import language
from explainers.ui.text.language import list_languages
from tests.golden.kept import read_kept
from tests.golden.sent import read_sent
from tests.support.opening import PAGES, ROOT, opened, unfolded, widgets
from workshop.catalogue import find_missing, format_catalogue

OTHERS = sorted(set(list_languages()) - {ENGLISH})
TWIN = write_running_sentence("vi")
LINK = {"text": "Fans praised players"}
"""A text without the little words by which English is told from other languages."""
NOT_READ = "code", "text_input", "text_area", "html", "flex_container", "dataframe"
"""Elements whose texts are code, or were typed."""
NO_WORDS = {"ahead", "choices", "component", "digest", "download", "font", "icon", "id", "key"}
NO_WORDS |= {"page", "page_script_hash", "place", "planes", "query_param_key", "snippet", "url"}
NO_WORDS |= {"usual"}
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
LETTERS = {"vi": re.compile("[ăắằẳẵặâấầẩẫậđêếềểễệôốồổỗộơớờởỡợưứừửữựạảẹẻẽịỉĩọỏụủũỳỵỷỹ]")}
"""By which each language is told from English, where that is possible."""
each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
each_language = pytest.mark.parametrize("spoken", OTHERS)


def words_in(sent):
    """Every text that a reader sees of what was sent."""
    for kind, element in sent:
        if not kind.startswith("file ") and not kind.endswith(NOT_READ):
            yield from texts_in(element)


def texts_in(data):
    match data:
        case str():
            yield data
        case dict():
            is_file = {"place", "words"} <= {*data}  # its name is English in every language
            for name, value in data.items():
                if name not in NO_WORDS and not (is_file and name == "name"):
                    is_speech = name == "words" and isinstance(value, dict)
                    yield from texts_in([*value.values()] if is_speech else value)
        case list():
            for value in data:
                yield from texts_in(value)


def list_english(page, sent, spoken):
    """The texts that are in English, less what nobody has translated yet: it is reported."""
    own = {SENTENCE, LINK["text"], *PRESETS.values(), *choose_sentence.list_held_out_examples()}
    own |= {*list_known_examples(ENGLISH).values()}
    own |= {choose_sentence.write_variant(is_passive=True), choose_sentence.write_variant(kind="")}
    own |= {CORPUS.read_text(encoding="utf-8").strip(), *map(" ".join, list_known_sentences("en"))}
    views = [sent for link, sent in read_kept(page).values() if "lang" not in link]
    english = {text for view in views for text in words_in(view)}
    for text in {*words_in(sent)} - own:
        for template in list_lacking(spoken):
            text = template.sub(" ", text)
        if is_english(text, english):
            yield text


@functools.cache
def list_lacking(spoken):
    """The English texts that a language lacks: `make check` reports them, and they are shown."""
    missing = find_missing(TEXTS / f"{spoken}.po")
    forms = [form for one in missing for form in ([one] if isinstance(one, str) else one)]
    forms.sort(key=len, reverse=True)  # a title may begin a longer text
    raised = [re.sub("^###", "##", form, flags=re.MULTILINE) for form in forms]
    parts = [map(re.escape, re.split(r"\{+[^{}]*\}+", form)) for form in raised]
    return [re.compile(".*?".join(part), re.DOTALL) for part in parts]


def is_english(text, english):
    """A sentence that was not translated, or has little words of English."""
    bare = QUOTED.sub(" ", text)
    same = text in english and " " in bare.strip() and len(re.findall("[a-z]{2,}", bare)) > 2
    return same or LITTLE.search(bare) is not None


@each_page
def test_a_page_as_it_is_kept_speaks_one_language(page):
    """It was read in Vietnamese after it was in English: a cache would have kept English."""
    link, sent = read_kept(page)["Vietnamese"]
    assert [*list_english(page, sent, link["lang"])] == []


@pytest.mark.rotating(4)
@each_page
@each_language
@pytest.mark.usefixtures("quick")
def test_a_page_speaks_one_language_in_all_that_can_be_opened(page, spoken, monkeypatch):
    # Each run of a test warns of there being no browser.
    monkeypatch.setattr(logging.root.manager, "disable", logging.WARNING)
    visit = unfolded(opened(page, {"lang": spoken, **LINK}))
    assert not visit.exception
    assert [*list_english(page, read_sent(visit), spoken)] == []


@pytest.mark.rotating(8)
@each_page
@each_language
@pytest.mark.usefixtures("quick")
def test_what_is_chosen_by_other_words_is_kept_in_english(page, spoken):
    """And so it stands in the link: `test_bad_links.py`."""
    asking = {"predict": "true"}
    english, visit = widgets(opened(page, asking)), opened(page, {"lang": spoken, **asking})
    chosen: dict[str, str] = {}
    for key, widget in widgets(visit).items():
        options = list(getattr(widget, "options", ()))
        of_sentence = key in {"preset", "word", "row_word"}
        if len(options) < 2 or key == "lang" or of_sentence:
            continue
        if options != list(english[key].options):
            chosen[key] = next(word for word in english[key].options if word != widget.value)
            widget.set_value([chosen[key]] if isinstance(widget.value, list) else chosen[key])
    visit.run()
    assert not visit.exception
    for key in chosen.keys() & widgets(visit).keys():  # a choice may have changed what there is
        value = visit.session_state[key]
        assert {*(value if isinstance(value, list) else [value])} <= {None, *english[key].options}
    assert not visit.info


def test_a_third_language_is_one_file(tmp_path, monkeypatch):
    (tmp_path / "en").symlink_to(TEXTS / "en")
    file = tmp_path / "fr.po"
    file.write_text("# Français\n", encoding="utf-8")
    question = load_sections("05_masks")["question"]
    words = {(None, "Masks"): "Masques", ("05_masks/question", question): "?"}
    file.write_text(format_catalogue(file, words), encoding="utf-8")
    monkeypatch.setattr(language, "TEXTS", tmp_path)
    monkeypatch.setattr(translations, "TEXTS", tmp_path)
    language.list_languages.cache_clear()
    try:
        visit = opened(ROOT / "pages" / "05_masks.py", {"lang": "fr"})
    finally:
        language.list_languages.cache_clear()
    assert (visit.title[0].value, visit.markdown[0].value) == ("Masques", "?")
    assert visit.sidebar.button_group("lang").options == ["English", "Français"]
    assert visit.sidebar.toggle[0].label == "Study mode"  # not translated yet


@each_language
def test_what_is_refused_is_refused_in_the_language_of_the_page(spoken):
    page = next(one for one in PAGES if one.stem == "10_cache_memory")
    visits = [opened(page, {"lang": one, "model": CONFIG}) for one in (ENGLISH, spoken)]
    for text in [
        "hello",
        "[" * 50_000,
        '{"num_hidden_layers": 0}',
        '{"num_hidden_layers": 2, "vision": {"n_head": 3}}',
        '{"num_hidden_layers": 2, "layer_types": ["full_attention"]}',
    ]:
        for visit in visits:
            visit.text_area(key="pasted config").set_value(text).run()
            assert not visit.exception
        english, other = ("\n".join(one.value for one in visit.warning) for visit in visits)
        assert english != other, text
        assert not LITTLE.search(QUOTED.sub(" ", other)), text
        assert re.search(LETTERS.get(spoken, ""), other), text


def test_a_switch_of_language_is_no_new_visit_and_reset_keeps_it():
    visit = opened(PAGES[0], {"text": "The judge rejected claims"})
    title, number = visit.title[0].value, visit.session_state[VISITOR].visit
    widgets(visit)["lang"].set_value("vi")
    visit.run()
    assert visit.title[0].value != title
    assert visit.session_state[VISITOR].visit == number
    reset = translate("Reset all choices", "vi")
    next(one for one in visit.button if one.label == reset).click().run()
    assert visit.text_input(key="text").value == TWIN
    assert "text" not in visit.query_params


@pytest.mark.parametrize("link", [{}, {"text": SENTENCE}], ids=["nothing", "English"])
def test_what_was_chosen_and_what_was_not_comes_back_from_a_page_in_english(link):
    visit = opened(PAGES[0], {"lang": "vi", **link})
    own = SENTENCE if link else TWIN
    for page, shown in (("16_cross_attention", SENTENCE), ("03_query_key_value", own)):
        visit.switch_page(f"pages/{page}.py").query_params["lang"] = "vi"
        visit.run()
        assert visit.text_input(key="text").value == shown
