"""The picture of cross-attention shows what torch computes, for every layer and head."""

import json
from random import Random

import pytest
import torch

from explainers.chapters.cross_attention import hero as chapter
from explainers.chapters.cross_attention.alignment_view import TranslationView
from explainers.chapters.cross_attention.choose_sentence import (
    find_gold,
    list_held_out_examples,
    translate_once,
    write_variant,
)
from explainers.chapters.cross_attention.source_costs import recall_weight_count
from explainers.translation.alignment import PREDICTED, read_links
from explainers.translation.corpus import RUNNING_PAIR
from explainers.translation.vocabulary import find_words
from explainers.ui.controls.controls import MEAN
from tests.support.opening import PAGES, opened
from tests.support.reading import hero

PAGE = next(page for page in PAGES if page.stem == "16_cross_attention")
LONGEST = max((pair.source for pair in list_held_out_examples().values()), key=len)
SENTENCES = [RUNNING_PAIR.source, LONGEST, ("sales",)]


def view_of(words):
    translation = translate_once(words, 1)
    gold = find_gold(words)
    return TranslationView(
        translation, gold if gold and gold.target == translation.syllables else None, True
    )


@pytest.mark.parametrize("words", SENTENCES, ids=" ".join)
def test_weights_of_every_layer_and_head_are_torchs(words):
    view = view_of(words)
    sent, cross = chapter.compute_numbers(view), view.translation.cross
    assert len(json.dumps(sent)) < 150_000
    sides = len(words), view.num_syllables, PREDICTED
    for layer, heads in enumerate(cross):
        expected = {MEAN: heads.mean(dim=0), **{str(n): head for n, head in enumerate(heads)}}
        assert list(sent["weights"][layer]) == list(expected)
        for name, weights in expected.items():
            shown = torch.tensor(sent["weights"][layer][name])
            torch.testing.assert_close(shown, weights, atol=1e-5, rtol=0)
            # The browser counts the right syllables from what it is sent.
            assert read_links(shown, *sides) == read_links(weights, *sides)
    assert [word.lower() for word in sent["source"]] == [one.lower() for one in view.columns]
    assert len(sent["target"]) == view.num_syllables


def test_experiments_say_what_the_translator_does():
    texts = {one["name"]: one for one in hero(opened(PAGE))["experiments"]}
    passive, without = (
        find_words(texts[name]["choices"]["text"]) for name in ("passive", "without")
    )
    assert " ".join(passive).startswith("record earnings were announced by the CEO")
    assert set(RUNNING_PAIR.source) - set(without) == {"record"}
    crossed = [
        sum(a > b for at, a in enumerate(peaks) for b in peaks[at + 1 :])
        for peaks in (
            view_of(words).weights[:, : len(words)].argmax(dim=-1).tolist()
            for words in (passive, RUNNING_PAIR.source)
        )
    ]
    assert crossed[0] > crossed[1]
    for number in crossed:
        assert str(number) in texts["passive"]["text"]
    assert " ".join(translate_once(without, 1).syllables[1:]) in texts["without"]["text"]


@pytest.mark.parametrize("variant", [{"is_passive": True}, {"kind": ""}], ids=str)
def test_the_experiments_sentences_have_their_gold_and_open_with_a_right_syllable(variant):
    view = view_of(find_words(write_variant(**variant)))
    assert view.gold, "translated as the grammar does"
    assert {syllable for syllable, _word in view.gold.sure} == set(range(view.num_syllables))
    opening = chapter.find_opening(view)
    row = view.weights[opening, : len(view.translation.words)]
    assert (opening, int(row.argmax())) in view.gold.sure


def test_another_sentence_forgets_which_syllable_was_asked_about():
    link = {"syllable": "12", "written": "5", "gold": "false", "cross_view": "table"}
    visit = opened(PAGE, link | {"cross_rows": "reads"})
    chosen = {"syllable": 12, "written": 5, "gold": False, "cross_view": "table"}
    assert chosen.items() <= hero(visit)["choices"].items()
    visit.text_input(key="text").set_value("The bank confirmed weak sales on Monday").run()
    view = view_of(find_words("The bank confirmed weak sales on Monday"))
    assert hero(visit)["choices"]["syllable"] == chapter.find_opening(view)


def test_recall_counts_a_weight_for_each_pair():
    question = recall_weight_count(Random(3))
    assert question.answer == int(question.given["syllables"]) * int(question.given["words"])
