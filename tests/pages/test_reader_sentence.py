"""The reader's sentence: it follows from page to page, and known ones are offered."""

import pytest

from explainers.chapters.common.sentence_reading import find_nearest_sentence
from explainers.toys.grammar import GRAMMARS, find_unknown_words
from explainers.toys.sentence import PRESETS, list_known_examples, split_words
from explainers.translations import translate
from explainers.ui.session import PRESET
from tests.support.opening import PAGES, opened
from tests.support.reading import hero
from tests.support.tiers import take_turns

OWN = "My zebra sleeps"
FEW_EXAMPLES = [page for page in PAGES if "choose_sentence(" in page.read_text(encoding="utf-8")]


def test_a_sentence_of_unknown_words_gets_the_nearest_known_one():
    wanted = ("The", "fans", "ate", "players", "after", "Thursday")
    assert find_unknown_words(wanted) == ["ate"]
    nearest = find_nearest_sentence(wanted).split()
    assert find_unknown_words(tuple(nearest)) == []
    assert {"fans", "after", "Thursday"} <= set(nearest)


def sentence_on(visit):
    return visit.text_input(key="text").value


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
