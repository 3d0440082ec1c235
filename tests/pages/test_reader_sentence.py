"""A sentence from menus: the trained heads know all of its words, whatever is chosen."""

import pytest

from explainers.chapters.common.reader_sentence import (
    MENUS,
    find_nearest_sentence,
    find_parts,
    list_words,
    replace_part,
    write_sentence,
)
from explainers.toys.grammar import ENGLISH, GRAMMARS, VIETNAMESE, find_language, find_unknown_words
from explainers.toys.sentence import (
    PRESETS,
    SENTENCE,
    list_known_examples,
    split_words,
    write_running_sentence,
)
from explainers.translations import translate
from explainers.ui.session import PRESET
from tests.support.opening import PAGES, ROOT, opened
from tests.support.reading import hero
from tests.support.tiers import take_turns

OWN = "My zebra sleeps"
FEW_EXAMPLES = [page for page in PAGES if "choose_sentence(" in page.read_text(encoding="utf-8")]
TWIN = write_running_sentence("vi")
SENTENCES = [
    *("", SENTENCE, "my cat sleeps", "The judge rejected lawyers on Sunday", "CEO CEO CEO"),
    *(TWIN, "Các đầu bếp chào đón thực khách vào thứ Hai"),
]


@pytest.mark.parametrize("text", SENTENCES)
def test_every_choice_makes_a_sentence_of_known_words_that_is_read_back(text):
    parts = find_parts(text)
    for place in range(len(MENUS)):
        options = list_words(parts, place)
        assert parts[place] in options
        for word in options:
            changed = replace_part(parts, place, word)
            assert changed[place] == word
            assert changed[0] != changed[3], "nobody thanks themselves"
            assert find_parts(write_sentence(changed)) == changed
            tokens = split_words(write_sentence(changed))
            assert find_language(tokens) == find_language(split_words(text))
            grammar = VIETNAMESE if find_language(tokens) == "vi" else ENGLISH
            assert {one.casefold() for one in tokens} <= set(grammar.word_ids)


def test_a_sentence_of_unknown_words_gets_the_nearest_known_one():
    wanted = ("The", "fans", "ate", "players", "after", "Thursday")
    assert find_unknown_words(wanted) == ["ate"]
    nearest = find_nearest_sentence(wanted).split()
    assert find_unknown_words(tuple(nearest)) == []
    assert {"fans", "after", "Thursday"} <= set(nearest)


def test_a_menu_replaces_the_sentence():
    visit = opened(PAGES[0])
    assert "Who" not in {box.label for box in visit.selectbox}, "lists of a closed menu cost time"
    visit.session_state["build one"] = True
    visit.run()
    (menu,) = [box for box in visit.selectbox if box.label == "Who"]
    menu.set_value("chef").run()
    (field,) = [one for one in visit.text_input if one.label == "Sentence"]
    assert field.value == "The chef served hungry cooks on Friday"
    assert not visit.exception


def sentence_on(visit):
    return visit.text_input(key="text").value


def test_an_unknown_sentence_follows_the_reader():
    visit = opened(PAGES[1])
    visit.text_input(key="text").set_value(OWN).run()
    visit.switch_page(PAGES[2].relative_to(ROOT).as_posix()).run()
    assert sentence_on(visit) == sentence_on(visit.run()) == OWN
    visit.switch_page(PAGES[1].relative_to(ROOT).as_posix()).run()
    assert sentence_on(visit) == OWN


@pytest.mark.parametrize("language", GRAMMARS)
def test_a_page_of_few_words_offers_only_what_it_can_draw(language):
    examples = {translate(name, language): s for name, s in list_known_examples(language).items()}
    for page in take_turns(FEW_EXAMPLES):
        visit = opened(page, {"lang": language})
        menu = visit.selectbox(key=PRESET)
        assert menu.options == [*examples]
        name, sentence = [*examples.items()][-1]
        menu.set_value(name).run()
        assert sentence_on(visit) == sentence
        assert not visit.info
        assert hero(visit)["tokens"] == split_words(sentence)
    elsewhere = opened(PAGES[1]).selectbox(key=PRESET).options
    assert {*elsewhere} == {*PRESETS} - {"English"}, "any text"
