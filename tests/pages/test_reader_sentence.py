"""A sentence from menus: the trained heads know all of its words, whatever is chosen."""

import pytest

from explainers.chapters.common.reader_sentence import (
    MENUS,
    find_parts,
    list_words,
    replace_part,
    write_sentence,
)
from explainers.chapters.common.unknown_words import list_other_words
from explainers.toys.grammar import ENGLISH, GRAMMARS, VIETNAMESE, find_language
from explainers.toys.sentence import (
    PRESETS,
    SENTENCE,
    list_known_examples,
    split_words,
    write_running_sentence,
)
from explainers.translations import translate
from explainers.ui.session import OTHER_WORD, PRESET
from tests.support.opening import PAGES, ROOT, opened
from tests.support.reading import hero, said
from tests.support.tiers import take_turns

OWN = "My zebra sleeps"
TRAINED = [page for page in PAGES if "take_known_words(" in page.read_text(encoding="utf-8")]
"""The pages that draw trained heads."""
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


def test_of_unknown_words_the_running_sentence_is_drawn_and_the_text_is_kept(monkeypatch):
    """In English each page with a trained head is kept so in `tests/golden`."""
    monkeypatch.setattr("explainers.models.load.is_on_disk", lambda _name: False)
    for page in take_turns(TRAINED, 2):
        visit = opened(page, {"text": OWN, "lang": "vi"})
        running = GRAMMARS["vi"].running.tokens
        assert hero(visit)["tokens"] == [*running]
        [notice] = visit.info
        assert f"*{' '.join(running)}*" in notice.value
        assert "` zebra `" in notice.value
        assert visit.query_params["text"] in (OWN, [OWN])
        assert hero(visit)["choices"].get("text", OWN) == OWN, "nor does the picture replace it"
        assert sentence_on(visit) == sentence_on(visit.run()) == OWN


@pytest.mark.usefixtures("minilm")
def test_on_the_start_page_a_real_model_reads_them_and_its_first_sight_tells_most():
    visit = opened(PAGES[0], {"text": OWN})
    picture = hero(visit)
    assert picture["tokens"][1] == "My"
    assert [picture["tokens"][place] for place in picture["ownPositions"]] == ["[CLS]", "[SEP]"]
    assert picture["choices"]["word"] == 1, "of the words, *My* gives most to another one"
    assert "A real model reads your words" in said(visit)
    assert not visit.info
    assert sentence_on(visit) == OWN
    again = opened(PAGES[0], {"text": OWN, "word": "2"})
    assert hero(again)["choices"]["word"] == 2, "a link keeps its word"
    again.text_input(key="text").set_value(SENTENCE).run()
    assert hero(again)["tokens"] == SENTENCE.split()


PARTLY = "The zebra announced record earnings on Friday"


@pytest.mark.parametrize(
    ("text", "place", "due"),
    [
        (PARTLY, 1, ["CEO", "board"]),
        ("The judge slept", 2, ["rejected", "supported", "accused", "believed"]),
        ("The team praised loud", 3, ["players", "fans", "rivals", "referees"]),
        ("The team praised loud fans on Doomsday", 6, ["Monday", "Tuesday"]),
        ("Vị ngựa vằn bác bỏ cáo buộc vào thứ Hai", 1, ["thẩm phán", "công tố viên"]),
    ],
)
def test_in_the_place_of_an_unknown_word_known_ones_are_offered(text, place, due):
    tokens = tuple(split_words(text))
    offered = list_other_words(tokens, place)
    assert offered[: len(due)] == due, "first what is due there"
    grammar = GRAMMARS[find_language(tokens)]
    assert {one.casefold() for one in offered} <= set(grammar.word_ids)
    assert not {one.casefold() for one in offered} & {one.casefold() for one in tokens}
    assert len(set(offered)) == len(offered)


def test_a_known_word_takes_the_place_of_an_unknown_one():
    for page in take_turns(TRAINED[1:], 2):
        visit = opened(page, {"text": PARTLY})
        menu = visit.selectbox(key=OTHER_WORD.format(1))
        assert (menu.value, menu.placeholder) == (None, "zebra")
        menu.set_value("board").run()
        assert sentence_on(visit) == "The board announced record earnings on Friday"
        assert hero(visit)["tokens"][1] == "board"
        assert not visit.info
    visit = opened(TRAINED[1], {"text": "Your chef served hungry guests"})
    visit.selectbox(key=OTHER_WORD.format(0)).set_value("the").run()
    assert sentence_on(visit) == "The chef served hungry guests", "capitalised at the beginning"


def test_an_unknown_sentence_follows_the_reader_and_hides_nothing():
    visit = opened(PAGES[1])
    visit.text_input(key="text").set_value(OWN).run()
    visit.switch_page(PAGES[2].relative_to(ROOT).as_posix()).run()
    assert sentence_on(visit) == OWN
    assert hero(visit)["tokens"] == SENTENCE.split()
    visit.switch_page(PAGES[1].relative_to(ROOT).as_posix()).run()
    assert sentence_on(visit) == OWN


@pytest.mark.parametrize("language", GRAMMARS)
def test_a_page_of_few_words_offers_only_what_it_can_draw(language):
    [page] = take_turns(FEW_EXAMPLES)
    visit = opened(page, {"lang": language})
    examples = {translate(name, language): s for name, s in list_known_examples(language).items()}
    menu = visit.selectbox(key=PRESET)
    assert menu.options == [*examples]
    name, sentence = [*examples.items()][-1]
    menu.set_value(name).run()
    assert sentence_on(visit) == sentence
    assert not visit.info
    assert hero(visit)["tokens"] == split_words(sentence)
    elsewhere = opened(PAGES[1]).selectbox(key=PRESET).options
    assert {*elsewhere} == {*PRESETS} - {"English"}, "any text"
