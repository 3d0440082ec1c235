"""A sentence from menus: the trained heads know all of its words, whatever is chosen."""

from itertools import product

import pytest

from explainers.chapters.common.reader_sentence import (
    MENUS,
    find_parts,
    list_words,
    order_menus,
    replace_part,
    write_sentence,
)
from explainers.toys.grammar import ENGLISH, VIETNAMESE, find_language
from explainers.toys.sentence import SENTENCE, split_words, write_running_sentence
from tests.support.opening import PAGES, opened

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


def test_all_words_of_a_topic_can_be_combined():
    judge = replace_part(find_parts(SENTENCE), 0, "judge")
    offered = [list_words(judge, place) for place in range(1, len(MENUS))]
    sentences = {write_sentence(("judge", *words)) for words in product(*offered)}
    assert len(sentences) == 4 * 4 * 4 * 6
    assert all(find_parts(text)[0] == "judge" for text in sentences)


def test_what_the_text_says_is_kept():
    assert find_parts(SENTENCE) == ("CEO", "announced", "record", "earnings", "Friday")
    assert order_menus(find_parts(SENTENCE)) == [0, 1, 2, 3, 4]
    assert order_menus(find_parts(TWIN)) == [0, 1, 3, 2, 4], "what, then what kind of"
    assert find_parts(TWIN) == ("CEO", "công bố", "kỷ lục", "lợi nhuận", "thứ Sáu")
    assert write_sentence(find_parts(TWIN)) == TWIN
    assert write_sentence(replace_part(find_parts(TWIN), 0, "đầu bếp")).startswith("Các đầu bếp")
    assert find_parts("The chef served guests on Monday.")[-1] == "Monday"
    assert find_parts("on Sunday the chef thanked guests")[1:] == (
        "thanked",
        "",
        "guests",
        "Sunday",
    )


def test_a_menu_replaces_the_sentence():
    visit = opened(PAGES[0])
    (menu,) = [box for box in visit.selectbox if box.label == "Who"]
    menu.set_value("chef").run()
    (field,) = [one for one in visit.text_input if one.label == "Sentence"]
    assert field.value == "The chef served hungry cooks on Friday"
    assert not visit.exception
