"""Cross-attention: what its pictures show is what torch computes; odd sentences, broken files."""

from unittest import mock

import pytest
import torch
from torch.testing import assert_close

from explainers.chapters.cross_attention import choose_sentence
from explainers.chapters.cross_attention import hero as first_picture
from explainers.chapters.cross_attention.cards import list_unchanged, mark_changes
from explainers.chapters.cross_attention.hero import TranslationView, find_reordered_syllable
from explainers.translation import translator
from explainers.translation.corpus import RUNNING_PAIR, find_words
from explainers.ui.controls.controls import MEAN, PREDICTS, READS
from tests.support.opening import PAGES, opened
from tests.support.reading import find_way_on, hero, heroes, said
from tests.support.translators import force

PAGE = next(page for page in PAGES if page.stem == "16_cross_attention")
TYPED = "The directer confirmed strong earning on Friday"
MEANT = "The director confirmed strong earnings on Friday"


def view_of(sentence):
    return first_picture.translate_view(find_words(sentence), queries_down=True)


@pytest.fixture(scope="module")
def view():
    translation = force(translator.load_translator(), RUNNING_PAIR.source, RUNNING_PAIR.target)
    return TranslationView(translation, RUNNING_PAIR, queries_down=True)


def test_another_sentence_forgets_which_syllable_was_asked_about():
    visit = opened(PAGE, {"syllable": "12", "written": "5", "cross_rows": "reads"})
    assert hero(visit)["choices"]["syllable"] == 12
    visit.text_input(key="text").set_value("The bank confirmed weak sales on Monday").run()
    view = view_of("The bank confirmed weak sales on Monday")
    assert hero(visit)["choices"]["syllable"] == first_picture.find_opening(view)


@pytest.mark.parametrize("head", [MEAN, "2"])
def test_what_a_syllable_reads_is_what_the_next_one_is_predicted_from(view, head):
    reading, writing = (view.select(1, head, way).weights for way in (READS, PREDICTS))
    assert_close(reading[:-1], writing[1:])


def test_a_sentence_opens_with_a_syllable_that_turns_back(view):
    weights = torch.eye(5)[[0, 0, 1, 3, 2]]
    translation = view.translation._replace(
        words=("a", "b", "c", "d"), syllables=("1", "2", "3", "4", "5")
    )
    # 3 → 2 turns back; 3 and 2 are one away from 2 and 3
    assert find_reordered_syllable(translation, weights) == 4
    place = find_reordered_syllable(view.translation, view.weights)
    assert view.translation.syllables[place] == "kỷ", "and not the weak one, which looks back too"


def test_every_sentence_of_the_grammar_has_its_gold():
    pair = choose_sentence.build_sentence("bank", "confirmed", "weak", "sales", "Monday")
    assert choose_sentence.find_gold(pair.source) == pair
    assert {place for place, _ in pair.sure} == set(range(len(pair.target)))
    assert choose_sentence.find_gold((*pair.source[:-1], "today")) is None
    for text, held_out in choose_sentence.list_held_out_examples().items():
        assert choose_sentence.find_gold(tuple(text.split())) == held_out
    for changed in ({"is_passive": True}, {"kind": ""}):  # by the experiments
        assert view_of(choose_sentence.write_variant(**changed)).gold, (
            "translated as the grammar does"
        )


def test_examples_are_read_whole_and_have_their_links():
    for sentence in choose_sentence.list_examples().values():
        assert not choose_sentence.read_words(sentence).unknown
        assert view_of(sentence).gold or sentence.startswith("On Friday")


@pytest.mark.parametrize(
    ("typed", "words", "unknown", "nearest"),
    [
        ("The president visited Paris on Monday", "the president Paris on Monday", "visited", ""),
        (TYPED, "the confirmed strong on Friday", "directer earning", MEANT),
        ("A bank and two dogs", "", "dogs", "The bank announced record earnings on Friday"),
        ("Con mèo", "", "Con mèo", "The CEO announced record earnings on Friday"),
        ("the " * 23, "the " * 22, "", ""),
        ("SALES!", "sales", "", ""),
        ("?", "", "", ""),
    ],
)
def test_a_sentence_is_read_without_the_words_that_are_not_known(typed, words, unknown, nearest):
    known = choose_sentence.read_words(typed)
    assert known.words == tuple(words.split())
    assert known.unknown == tuple(unknown.split())
    assert known.nearest == nearest
    assert known.is_cut == (len(typed.split()) > 22)


def test_what_is_left_out_is_named_and_no_other_sentence_is_shown():
    visit = opened(PAGE, {"text": TYPED})
    assert hero(visit)["source"][:3] == ["The", "confirmed", "strong"]
    assert "Left out of your sentence: ` directer `, ` earning `" in said(visit)
    visit = opened(PAGE, {"text": "My dog chased the red ball."})
    assert not heroes(visit)
    assert "` dog `, ` chased `, ` red `, ` ball `" in said(visit)
    assert find_way_on(visit).label.startswith("Next:")
    visit.button(key="nearest sentence").click().run()
    assert visit.text_input(key="text").value == "The CEO announced record earnings on Friday"
    assert hero(visit)["source"][1:3] == ["CEO", "announced"]
    visit.text_input(key="text").set_value("?").run()
    assert "no word to translate" in said(visit)
    assert not heroes(visit)


@pytest.mark.parametrize("content", [None, b"not weights"])
def test_a_missing_or_broken_file_is_said_and_nothing_breaks(content, tmp_path, monkeypatch):
    file = tmp_path / "translator.safetensors"
    if content is not None:
        file.write_bytes(content)
    monkeypatch.setattr(translator, "FIRST_FILE", file)
    translator.load_translator.cache_clear()
    try:
        visit = opened(PAGE)
        [error] = visit.error
        assert "translator.safetensors" in error.value
        assert find_way_on(visit).label.startswith("Next:")
        assert not visit.exception
        assert not opened(PAGES[0]).exception
    finally:
        translator.load_translator.cache_clear()


def test_what_has_nothing_to_show_says_so(monkeypatch):
    """No gold, one word, no pieces, no syllable."""
    link = {"text": "the bank announced record earnings", "deep": "accuracy"}
    assert "correct links of this sentence are not known" in said(opened(PAGE, link))
    visit = opened(PAGE, {"text": "sales", "deep": "accuracy"})
    assert "nan" not in said(visit)
    assert not visit.exception
    broken = translator.BrokenWeightsError("no pieces here")
    with monkeypatch.context() as without:
        without.setattr(translator, "cut_words", mock.Mock(side_effect=broken))
        visit = opened(PAGE, {"deep": "real"})
        assert "no pieces here" in visit.error[0].value
        assert not visit.exception
    nothing = force(translator.load_translator(), ("the",), ())
    monkeypatch.setattr(first_picture, "translate_once", lambda words: nothing)
    visit = opened(PAGE)
    assert "writes nothing" in said(visit)
    assert not heroes(visit)
    assert find_way_on(visit).label.startswith("Next:")


def test_what_is_counted_and_marked_by_hand():
    assert len(list_unchanged("abcd", "abxd")) == len(list_unchanged("abcd", "bcd")) == 3
    assert mark_changes(["a", "b"], ["a", "c"]) == "` a ` **` c `**"
    assert mark_changes(["a"], []) == "(nothing)"
