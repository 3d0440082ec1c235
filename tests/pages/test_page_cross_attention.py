"""Cross-attention: what its pictures hold, what it scores, and odd sentences."""

import json
from unittest import mock

import pytest
import torch
from torch.testing import assert_close

from explainers.chapters.cross_attention import (
    block_tensors,
    changed_translation,
    choose_sentence,
    compared_aligners,
    held_out_scores,
)
from explainers.chapters.cross_attention.alignment_accuracy import (
    answer_off_by_one,
    find_weak_syllable,
)
from explainers.chapters.cross_attention.alignment_view import (
    WEIGHTS,
    TranslationView,
    find_reordered_syllable,
)
from explainers.chapters.cross_attention.changed_translation import (
    count_unchanged,
    mark_changes,
    replace_attention,
    translate_changed,
)
from explainers.chapters.cross_attention.choose_sentence import (
    build_sentence,
    find_gold,
    list_held_out_examples,
    list_slots,
)
from explainers.chapters.cross_attention.held_out_scores import LAST_LAYER, LinkReading
from explainers.chapters.cross_attention.real_translator import spell_pieces
from explainers.chapters.cross_attention.source_costs import (
    compare_cached_steps,
    count_weights,
    run_padded_batch,
)
from explainers.chapters.cross_attention.weight_steps import WeightSteps
from explainers.translation import weights_file, word_pieces
from explainers.translation.alignment import INPUT, PREDICTED
from explainers.translation.corpus import RUNNING_PAIR, SentencePair
from explainers.ui.controls.controls import LEARNED, MEAN, PEAK, PREDICTS, READS, UNIFORM, WITHOUT
from explainers.ui.figure.panels import Cell
from explainers.ui.session import PRESET
from tests.support.opening import PAGES, opened, pictures
from tests.support.reading import close, figures, find_way_on, heroes, values, words_below
from tests.support.translators import make_untrained_translator

PAGE = next(page for page in PAGES if page.stem == "16_cross_attention")


@pytest.fixture(scope="module")
def view():
    translation = weights_file.load_translator().force(RUNNING_PAIR.source, RUNNING_PAIR.target)
    return TranslationView(translation, RUNNING_PAIR, queries_down=True)


def find_panel(visit, name):
    """The panel of this name, as the browser gets it."""
    panels = [
        panel
        for picture in pictures(visit)
        if picture.startswith("[")  # the others are charts
        for panel in json.loads(picture)[0].get("panels", [])
        if panel["id"] == name
    ]
    assert panels, f"no panel {name}"
    return panels[0]


def read_texts(visit):
    return "\n".join(text.value for text in visit.markdown)


def test_rows_and_heads_are_those_that_were_asked_for(view):
    by_input = view.select(LAST_LAYER, MEAN, READS).weights
    assert_close(by_input[:-1], view.weights[1:])
    assert view.read_links(PREDICTED) != view.read_links(INPUT)
    heads = torch.stack([view.select(0, str(n), view.rows).weights for n in range(4)])
    assert_close(heads.mean(dim=0), view.select(0, MEAN, view.rows).weights)
    for head, rows in ((MEAN, READS), ("2", PREDICTS)):
        one = view.select(1, head, rows)
        told = float(one.explain_weight(Cell(WEIGHTS, 6, 4)).value)
        assert told == pytest.approx(one.weights[6, 4].item(), abs=1e-3)
    scores = held_out_scores.score_readings()
    written, read = (scores[LinkReading(LAST_LAYER, MEAN, side)].aer for side in (PREDICTED, INPUT))
    assert answer_off_by_one() == {"right": f"{written:.3f}", "wrong": f"{read:.3f}"}
    assert written < read


@pytest.mark.parametrize("head", [MEAN, "2"])
def test_every_number_of_the_steps_can_be_worked_out(view, head):
    """The weights of the picture are the softmax of the scores, these are of queries and keys."""
    steps = WeightSteps(view.select(1, head, PREDICTS), 7)
    for panel in steps.draw():
        value = panel.matrix.values[7][3]
        worked = steps.explain(Cell(panel.id, 7, 3)).value.replace("−", "-")
        assert float(worked) == pytest.approx(value, abs=2e-2), panel.id


def test_another_sentence_opens_with_a_syllable_that_turns_back(view):
    weights = torch.eye(5)[[0, 0, 1, 3, 2]]
    translation = view.translation._replace(
        words=("a", "b", "c", "d"), syllables=("1", "2", "3", "4", "5")
    )
    assert (
        find_reordered_syllable(translation, weights) == 4
    )  # 3 → 2 turns back; 3 and 2 are one away from 2 and 3
    place = find_reordered_syllable(
        view.translation, view.translation.cross[LAST_LAYER].mean(dim=0)
    )
    assert view.translation.syllables[place] == "kỷ", "and not the weak one, which looks back too"


def test_every_built_sentence_has_its_gold():
    for name, words in list_slots().items():
        assert len(words) > 6, name
    pair = build_sentence("bank", "confirmed", "weak", "sales", "Monday")
    assert find_gold(pair.source) == pair
    assert {place for place, _ in pair.sure} == set(range(len(pair.target)))
    assert find_gold(("the", "bank")) is None
    assert find_gold((*pair.source[:-1], "today")) is None
    assert build_sentence("CEO", "announced", "record", "earnings", "Friday") == RUNNING_PAIR
    for text, held_out in list_held_out_examples().items():
        assert find_gold(tuple(text.split())) == held_out
    assert {one.is_held_out for one in list_held_out_examples().values()} == {True, False}


def test_sentences_are_chosen_built_or_refused_in_one_visit():
    visit = opened(PAGE)
    words = "bank", "confirmed", "weak", "sales", "Monday"
    for slot, word in zip(list_slots(), words, strict=True):
        visit.selectbox(key=f"built: {slot}").set_value(word)
    next(b for b in visit.button if b.label == "Translate this").click().run()
    assert visit.text_input(key="text").value == "The bank confirmed weak sales on Monday"
    assert find_panel(visit, WEIGHTS)["columns"][1:3] == ["bank", "confirmed"]
    for place, sentence in enumerate(choose_sentence.list_examples().values()):
        visit.selectbox(key=PRESET).select_index(place).run()
        assert visit.text_input(key="text").value == sentence
        assert not choose_sentence.read_words(sentence)[1]
        assert "cannot be translated" not in read_texts(visit)
    for text, named in [
        ("two plus three", "plus"),
        ("Tổng giám đốc", "Tổng"),
        ("the bank announced zebras", "zebras"),
        ("the " * 23, "23 words"),
        ("bank " * 200, "words"),
    ]:
        visit.text_input(key="text").set_value(text).run()
        [line] = [line for line in read_texts(visit).splitlines() if "cannot be translated" in line]
        assert named in line
        assert find_panel(visit, WEIGHTS)["rows"] == list(RUNNING_PAIR.target)
        assert not visit.exception


@pytest.mark.parametrize("content", [None, b"not weights", b"x" * 5_000_000])
def test_a_missing_or_broken_file_is_said_and_nothing_breaks(content, tmp_path, monkeypatch):
    file = tmp_path / "translator.safetensors"
    if content is not None:
        file.write_bytes(content)
    monkeypatch.setattr(weights_file, "FIRST_FILE", file)
    weights_file.load_translator.cache_clear()
    try:
        visit = opened(PAGE)
        [error] = visit.error
        assert "translator.safetensors" in error.value
        assert find_way_on(visit).label.startswith("Next:")
        assert not visit.exception
        assert not opened(PAGES[0]).exception
    finally:
        weights_file.load_translator.cache_clear()


def test_what_has_nothing_to_show_says_so(monkeypatch):
    """No gold, one word, the longest of a batch, no pieces, no syllable."""
    unscored = opened(PAGE, {"text": "the bank announced record earnings", "deep": "accuracy"})
    assert "correct links of this sentence are not known" in read_texts(unscored)
    assert not any('"this sentence"' in picture for picture in pictures(unscored))
    for card in ("explaining", "accuracy", "parking"):
        visit = opened(PAGE, {"text": "sales", "deep": card})
        assert "nan" not in read_texts(visit)
        assert not visit.exception
    longest = max((pair.source for pair in list_held_out_examples().values()), key=len)
    visit = opened(PAGE, {"text": " ".join(longest), "deep": "kept"})
    assert "nothing is padded" in read_texts(visit)
    assert not any("with the mask" in picture for picture in pictures(visit))
    broken = weights_file.BrokenWeightsError("no pieces here")
    with monkeypatch.context() as without:
        without.setattr(word_pieces, "cut_words", mock.Mock(side_effect=broken))
        visit = opened(PAGE, {"deep": "real"})
        assert "no pieces here" in visit.error[0].value
        assert not visit.exception
    nothing = weights_file.load_translator().force(("the",), ())
    monkeypatch.setattr(choose_sentence, "translate_once", lambda words, beams: nothing)
    visit = opened(PAGE)
    assert "writes nothing" in read_texts(visit)
    assert not heroes(visit)
    assert find_way_on(visit).label.startswith("Next:")


def test_the_head_of_the_picture_is_scored_beside_two_baselines(view):
    visit = opened(PAGE, {"cross_layer": "1", "cross_head": "2", "deep": "accuracy"})
    sentence_table, held_out_table = (
        find_panel(visit, name) for name in ("this sentence", "held out")
    )
    assert sentence_table["rows"] == held_out_table["rows"] == ["L1 2", "diagonal", "IBM 1"]
    links = view.select(0, "2", PREDICTS).read_links(PREDICTED)
    hits = len(links & view.gold.sure)
    assert sentence_table["values"][0] == pytest.approx(
        [1 - hits / 13, hits / 13, hits / 13], abs=1e-5
    )
    assert held_out_table["values"][0] == pytest.approx(
        held_out_scores.score_readings()[LinkReading(0, "2", PREDICTED)], abs=1e-5
    )
    assert held_out_table["values"][1] == pytest.approx(
        held_out_scores.score_baselines()["diagonal"], abs=1e-5
    )


def test_weak_syllables_and_the_end_are_counted_by_hand(view, monkeypatch):
    """A sentence whose second word has a weak syllable, then one of its own."""
    links = frozenset({(0, 0), (1, 0), (2, 1), (3, 1)})
    pair = SentencePair(("a", "b"), ("x", "y", "đã", "z"), links, frozenset({(2, 1)}), False)
    weights = torch.zeros(2, 4, 5, 3)
    weights[LAST_LAYER, :, :4, -1] = torch.tensor([0.1, 0.5, 0.2, 0.3])
    read = [{(0, 0), (1, 1), (2, 0), (3, 1)}]
    monkeypatch.setattr(held_out_scores, "list_pairs", lambda: [pair])
    monkeypatch.setattr(held_out_scores, "compute_weights", lambda: [weights])
    monkeypatch.setattr(held_out_scores, "read_all_links", lambda _: read)
    assert held_out_scores.measure_end_weight.__wrapped__() == pytest.approx((0.2, 0.5))
    assert held_out_scores.measure_link_recall.__wrapped__() == pytest.approx((0, 2 / 3))
    assert view.translation.syllables[find_weak_syllable(view)] == "đã"


def test_what_is_counted_and_marked_by_hand():
    assert count_unchanged("abcd", "abxd") == count_unchanged("abcd", "bcd") == 3
    assert mark_changes(["a", "b"], ["a", "c"]) == "` a ` **` c `**"
    assert mark_changes(["a"], []) == "(nothing)"
    assert count_weights(8, 14) == (64, 105, 112, 253)
    assert count_weights(8, 14).separate == 64 + 105 + 112
    assert spell_pieces([["▁a"], ["▁b", "c"]]) == "` ▁a ` ` ▁b ` + ` c `"
    for rates, section in [
        ((0.02, 0.03), "aligners_all_better"),
        ((0.02, 0.05), "aligners_some_worse"),
        ((0.03, 0.06), "aligners_hmm_better"),
        ((0.05, 0.06), "aligners_hmm_better"),
    ]:
        assert compared_aligners.choose_section(dict(enumerate(rates)), 0.04) == section


def test_uniform_weights_and_a_word_less_change_what_is_written():
    learned, uniform = replace_attention(LEARNED, True)[0], replace_attention(UNIFORM, True)[0]
    assert replace_attention(UNIFORM, False) == (learned, uniform)
    assert replace_attention(UNIFORM, True) == (uniform, uniform)
    words, syllables = RUNNING_PAIR.source, RUNNING_PAIR.target
    flat = translate_changed(words, syllables, UNIFORM).translation.cross
    assert_close(flat[LAST_LAYER], torch.full_like(flat[LAST_LAYER], 1 / 8))
    assert flat[0].std() > 0.01
    less = translate_changed(words, syllables, WITHOUT, left_out=3).translation.cross
    assert (less[..., 3] == 0).all()


def test_every_word_can_be_left_out_in_the_browser():
    """What is written without each word, its weights, and the words about it."""
    visit = opened(PAGE, {"instead": WITHOUT, "deep": "explaining", "left_out": "1: CEO"})
    [sent] = [data for data in figures(visit) if data["view_slider"]]
    slider, (words, syllables) = sent["view_slider"], RUNNING_PAIR[:2]
    assert slider["labels"] == [f"{n}: {word}" for n, word in enumerate(words)]
    assert slider["index"] == 1
    assert sorted(map(int, sent["views"])) == [0, 2, 3, 4, 5, 6]
    for place, word in enumerate(words):
        changed, chance = translate_changed(words, syllables, WITHOUT, left_out=place)
        view = sent if place == 1 else sent["views"][f"{place}"]
        now = next(panel for panel in view["panels"] if panel["id"] == "now")
        weights = changed.cross[LAST_LAYER].mean(dim=0)[: len(changed.syllables)]
        assert values({"now": now}, "now") == close(weights)
        said = words_below(sent, None if place == 1 else place)
        assert said.startswith(f"**Without {word}**")
        assert said.replace("**", "").count(" ".join(changed.syllables)) == 1
        left = count_unchanged(syllables, changed.syllables)
        assert f"{left} of 13 syllables remain" in said
        assert said.endswith(f"is now {chance:.3g}.")


def test_every_change_is_tried(monkeypatch):
    monkeypatch.setattr(changed_translation, "ABLATION_SENTENCES", 2)
    scores = list(changed_translation.score_ablations())
    assert [score[:2] for score in scores] == list(changed_translation.ABLATIONS)
    assert all(0 <= score.exact_match <= 1 for score in scores)
    assert changed_translation.REPLACEMENTS[PEAK] is replace_attention(PEAK, False)[-1]


def test_each_part_adds_to_what_came_in(view):
    panels = {
        panel.id: panel.matrix
        for panel in block_tensors.make_panels(
            view, view.translation.x_syllables, view.translation.decoder[0]
        )
    }
    before = torch.tensor(panels["in: in"].values)
    for part in ("own", "cross", "fed"):
        added, after = (torch.tensor(panels[f"{part}: {n}"].values) for n in ("added", "out"))
        assert_close(before + added, after)
        before = after
    own = panels["own: weights"]
    assert all(
        (v is None) == (j > i) for i, row in enumerate(own.values) for j, v in enumerate(row)
    )
    assert panels["cross: weights"].columns == [*RUNNING_PAIR.source, "<eos>"]
    assert len({panel.limit for name, panel in panels.items() if "weights" not in name}) == 1


def test_a_step_on_kept_rows_is_all_steps_at_once(view):
    assert 0 < compare_cached_steps(view, weights_file.load_translator()) < 1e-4
    other = TranslationView(
        make_untrained_translator(1).force(RUNNING_PAIR.source, RUNNING_PAIR.target),
        None,
        queries_down=True,
    )
    assert compare_cached_steps(other, weights_file.load_translator()) > 0.01


def test_without_the_padding_mask_weight_leaks():
    batch = run_padded_batch(RUNNING_PAIR.source, RUNNING_PAIR.target)
    words = len(RUNNING_PAIR.source) + 1
    assert (batch.hidden[:, words:] == 0).all()
    assert_close(batch.masked, batch.alone, atol=1e-5, rtol=0)
    assert batch.weights[:, words:].sum() > 0
    assert (batch.leaking - batch.alone).abs().max() > 1e-4, "more than rounding"
    assert len(batch.columns) == batch.weights.shape[-1]
    others = [run_padded_batch(*pair[:2]) for pair in list_held_out_examples().values()]
    assert all((other.masked - other.alone).abs().max() < 1e-5 for other in others)
    assert max((other.leaking - other.alone).abs().max() for other in others) > 1e-3
