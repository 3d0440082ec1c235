"""The head gallery: tiny models measured on request; planted scores lead to the names they should;
the sentence about layers, tested on the real ones where they are here."""

import json
import re
from urllib.parse import parse_qsl, urlsplit

import pandas as pd
import pytest
import torch
from transformers import BertConfig, BertForMaskedLM, PreTrainedTokenizerFast

from explainers.chapters.common import recording
from explainers.chapters.common.measured_heads import MEASURE_LABEL, Gallery
from explainers.chapters.head_gallery import head_card
from explainers.chapters.head_gallery.head_card import (
    HALF,
    NOTHING,
    SAME,
    list_probe_texts,
    record_heads,
)
from explainers.chapters.head_gallery.layer_entropy import (
    BY_FIRST,
    FAILS,
    HOLDS,
    Trend,
    compute_rank_correlation,
    measure_trend,
)
from explainers.models import load as loading_module
from explainers.models import registry, shipped_ablations
from explainers.models.head_ablation import KINDS, MEAN
from explainers.models.head_scores import HeadScores, measure_heads
from explainers.models.load import load_model
from explainers.models.shipped_scores import read_shipped_scores, save_scores
from explainers.ui.controls.controls import PROSE
from explainers.ui.prediction import SKIP
from explainers.ui.session import HEAD_SCORES_JOB
from tests.support import saved_models
from tests.support.opening import PAGES, opened, pictures
from tests.support.reading import hero, said
from tests.support.waiting import over

PAGE = next(page for page in PAGES if page.stem == "18_head_gallery")
ID, BOTH_WAYS = "someone/tiny-model", "someone/both-ways"
LAYERS, HEADS = 2, 6
HERE = {"real_model": ID, "model_layer": "1", "model_head": "4", "text": "the CEO announced"}
MEASURES, EVIDENCE, PARTNERS, LAYERS_CARD = (
    {"deep": card} for card in ("measures", "evidence", "partners", "layers")
)


SMOLLM2, MINILM = (model.id for model in registry.WHEEL_MODELS)
ROUNDING = 2e-3
"""Another processor adds up in another order."""


def shipped_scores(model):
    """What the app has of a model: it must be there."""
    found = read_shipped_scores(model)
    assert found
    return found


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ATTENTION_MODELS", str(tmp_path_factory.mktemp("models")))
        patch.setattr(loading_module, "_models", {})
        saved_models.llama(registry.locate_folder(ID))
        bert(saved_models.llama(registry.locate_folder(BOTH_WAYS)))
        yield registry.locate_store()


def bert(folder):
    """A BERT of three heads in the place of the model, with its tokenizer."""
    torch.manual_seed(0)
    tokenizer = PreTrainedTokenizerFast.from_pretrained(folder)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=12,
        intermediate_size=14,
        num_hidden_layers=2,
        num_attention_heads=3,
        max_position_embeddings=128,
    )
    BertForMaskedLM(config).save_pretrained(folder)


@pytest.fixture(scope="module")
def tiny(store):
    return load_model(ID)


@pytest.fixture(scope="module")
def measured(tiny):
    return measure_heads(tiny)


@pytest.fixture
def planted(measured):
    """Scores that a test may change before the page finds them."""
    copied = HeadScores({name: one.clone() for name, one in measured.tensors.items()})
    for probe in ("repeated", "natural"):
        for name, one in copied.tensors.items():
            if name.startswith(probe) and one.shape == (LAYERS, HEADS):
                one.clamp_(max=0.2)
    return copied


def plant(scores, places):
    for (probe, what), (place, value) in places.items():
        scores.select(probe, what)[place] = value
    save_scores(ID, scores)


def panel(visit, name):
    found = [
        one
        for picture in pictures(visit)
        if picture.startswith("[")  # the others are charts
        for one in json.loads(picture)[0].get("panels", [])
        if one["id"] == name
    ]
    assert found, f"no panel {name}"
    return found[0]


def unveiled(visit):
    """The answers under the veils of a page that asks nothing."""
    return re.findall(r":green-background\[(.*?)\]", said(visit))


@pytest.mark.parametrize("model", ["someone/not-here", ID])
def test_a_model_without_scores_opens_on_the_picture_of_one_that_has_them(store, model):
    for file in (store / "scores").glob("*"):
        file.unlink()
    visit = opened(PAGE, {"real_model": model, **MEASURES})
    assert not visit.exception
    drawn = hero(visit)
    assert (drawn["model"], drawn["choices"]["real_model"]) == ("SmolLM2-135M-Instruct", model)
    assert "have not been measured yet" in said(visit)
    is_away = any("is not on this machine" in one.value for one in visit.warning)
    is_offered = any(button.label == MEASURE_LABEL for button in visit.button)
    assert (is_away, is_offered) == ((model != ID), (model == ID))
    assert not [one for one in visit.main.expander if one.label.startswith("What each score")]


def test_all_heads_are_measured_on_request_and_then_kept(store):
    for file in (store / "scores").glob("*"):
        file.unlink()
    link = {"real_model": BOTH_WAYS, **MEASURES}
    visit = opened(PAGE, link)
    next(button for button in visit.button if button.label == MEASURE_LABEL).click().run()
    job = over(visit.session_state[HEAD_SCORES_JOB])
    assert (job.state, job.share) == ("done", 1)
    measured = job.result.select("repeated", "induction").T
    shown = panel(visit.run(), "heads")["values"]
    assert torch.allclose(torch.tensor(shown), measured, atol=1e-4)
    other = opened(PAGE, link)
    assert HEAD_SCORES_JOB not in other.session_state
    assert pictures(other) == pictures(visit)
    assert "next token" in list_offered(other), "it sees both ways"


def list_offered(visit):
    return next(box for box in visit.selectbox if box.key == "head_score").options


def test_the_map_has_a_row_per_head_and_a_click_away_is_the_head(planted):
    plant(planted, {("natural", "distance"): ((0, 5), 7.25)})
    visit = opened(PAGE, {**HERE, **MEASURES, "probe": PROSE, "head_score": "distance"})
    shown = panel(visit, "heads")
    assert shown["rows"] == [f"head {n}" for n in range(HEADS)]
    assert shown["columns"] == ["0", "1"]
    assert shown["values"][5][0] == 7.25
    assert "next token" not in list_offered(visit)
    next(b for b in visit.button if b.label == "Look at L0.H5, the highest").click().run()
    assert [visit.session_state[key] for key in ("gallery_layer", "gallery_head")] == [0, 5]
    assert hero(visit)["choices"]["gallery_head"] == 5


def test_a_head_has_several_names_each_with_what_speaks_against_it(planted):
    places = {("repeated", "induction"): ((1, 4), 0.9), ("natural", "first token"): ((1, 4), 0.7)}
    against = torch.tensor([3.0, 21, 2, 0.8125, 0.0625])
    planted.tensors["natural: induction, counterexample"][1, 4] = against
    planted.tensors["repeated: induction, shuffled"][0, 0] = 0.37
    plant(planted, places)
    visit = opened(PAGE, HERE | EVIDENCE)
    assert "L1.H4: **induction** and **sink**." in said(visit)
    assert "At random the best head has 0.37" in said(visit)
    elsewhere = planted.select("natural", "induction")[1, 4]
    assert f"The same score on prose: {elsewhere:.2f}." in said(visit)
    assert "Counter-example, passage 3" in said(visit)
    assert "(token 21) gives 0.81" in said(visit)
    assert "only 0.06 to what the name induction promises" in said(visit)
    assert "L1.H3: no name" in said(opened(PAGE, {**HERE, **EVIDENCE, "model_head": "3"}))


@pytest.mark.parametrize(
    ("after", "answer"), [(0.75, SAME), (0.4, HALF), (0.1, NOTHING), (1.0, SAME)]
)
def test_the_surest_head_is_asked_about(planted, after, answer):
    plant(
        planted,
        {("repeated", "induction"): ((1, 4), 0.8), ("natural", "induction"): ((1, 4), after)},
    )
    visit = opened(PAGE, HERE | {"predict": "true", "guess_keeps": SKIP})
    told = said(visit).split("L1.H4 has the highest score for **induction**: 0.80")[1]
    assert told.split("Answer: **", 1)[1].startswith(f"{answer}**")
    assert [row[0] for row in panel(visit, "kept")["values"]] == pytest.approx([0.8, after])


@pytest.mark.parametrize("better", [0, 3, None])
def test_heads_are_compared_with_the_best_fixed_distance(planted, better):
    found = sorted(n for n in planted.tensors if n.startswith("syntax") and "offset" not in n)
    for place, name in enumerate(found):
        planted.tensors[name].zero_()
        planted.tensors[name][0, 5] = 0.75  # of both halves: chosen on one, measured on the other
        is_better = better is None or place < better
        planted.tensors[f"{name}, offset"][1] = 0.5 if is_better else 0.7
    plant(planted, {})
    visit = opened(PAGE, HERE | PARTNERS)
    assert unveiled(visit) == [str(len(found) if better is None else better)]
    shown = panel(visit, "partners")
    assert [row[0] for row in shown["values"]] == [0.75] * len(found)


@pytest.mark.parametrize(
    ("rank", "of_rest", "answer"),
    [(-0.9, -0.8, HOLDS), (-0.6, 0.3, BY_FIRST), (0.1, -0.9, FAILS), (-0.5, -0.5, HOLDS)],
)
def test_the_sentence_about_layers_is_judged(rank, of_rest, answer):
    assert Trend(torch.zeros(2), torch.zeros(2), rank, of_rest).verdict == answer


def test_ranks_are_correlated_as_spearman_does():
    drawn = torch.rand(17, generator=torch.Generator().manual_seed(3)) ** 4
    frame = pd.DataFrame({"layer": range(17), "entropy": drawn.tolist()})
    assert compute_rank_correlation(drawn) == pytest.approx(frame.rank().corr().iloc[0, 1])
    assert compute_rank_correlation(torch.tensor([5.0, 3, 2, 1])) == pytest.approx(-1)
    assert compute_rank_correlation(torch.tensor([5.0])) == 0


def test_a_long_sentence_is_cut_before_all_heads_read_it(planted, monkeypatch):
    plant(planted, {})
    for module in (head_card, recording):
        monkeypatch.setattr(module, "MOST_TOKENS", 2)
    visit = opened(PAGE, HERE | EVIDENCE)
    assert panel(visit, "sentence")["rows"] == ["the", "CEO"]
    assert any("the last 1 tokens are left out" in one.value for one in visit.caption)


@pytest.mark.parametrize(("model", "verdict"), [(SMOLLM2, BY_FIRST), (MINILM, FAILS)])
def test_late_layers_are_sharp_only_because_of_the_first_token(model, verdict):
    assert measure_trend(Gallery(None, shipped_scores(model).scores)).verdict == verdict


FIND = {"deep": "find"}


def rows_of(visit):
    """The heads in the order of the table, and the table."""
    table = visit.dataframe[0].value
    return list(table["head"]), table


def test_all_heads_stand_in_one_table_and_conditions_choose_some(planted):
    plant(planted, {("repeated", "induction"): ((1, 4), 0.9)})
    planted.select("repeated", "induction")[0, 3] = 0.6
    save_scores(ID, planted)
    heads, table = rows_of(opened(PAGE, HERE | FIND))
    assert len(heads) == LAYERS * HEADS
    assert table["induction, random"].max() == pytest.approx(0.9)
    found = opened(PAGE, HERE | FIND | {"heads_where": "induction > 0.4"})
    assert rows_of(found)[0] == ["L1.H4", "L0.H3"]
    assert f"**2 of {LAYERS * HEADS}** heads" in said(found)
    both = HERE | FIND | {"heads_where": "induction > 0.4 and Induction, random < 0,7"}
    assert rows_of(opened(PAGE, both))[0] == ["L0.H3"]
    assert unveiled(opened(PAGE, HERE | MEASURES)) == ["2"], "these look for what followed"
    kept = HERE | FIND | {"heads_where": "induction > 0.4", "pinned": "L0.H5"}
    assert rows_of(opened(PAGE, kept))[0] == ["L0.H5", "L1.H4", "L0.H3"]


def test_every_head_of_the_shipped_model_has_its_ablation_loss():
    kept = shipped_ablations.read_shipped_ablations(shipped_ablations.MODEL)
    if not kept:
        pytest.skip("the model here has other weights than the one that was measured")
    means = kept.ablations.rises[KINDS.index(MEAN)].mean(dim=-1)
    visit = opened(PAGE, FIND | {"heads_where": "loss mean > 0.03"})
    heads, table = rows_of(visit)
    assert len(heads) == int((means > 0.03).sum())
    layer, head = divmod(int(means.argmax()), means.shape[1])
    assert heads[0] == f"L{layer}.H{head}"
    assert table["loss mean"][0] == pytest.approx(float(means.max()), abs=1e-6)


def test_a_condition_that_cannot_be_read_is_said_and_finds_nothing(planted):
    plant(planted, {})
    for written in ("induction > ", "sharpness > 1", "__import__('os')"):
        visit = opened(PAGE, HERE | FIND | {"heads_where": written})
        assert not visit.exception
        assert rows_of(visit)[0] == []
        [info] = visit.info
        assert written.split(" >")[0] in info.value


def test_each_row_opens_the_inspector_and_what_if_with_its_head(planted):
    save_scores(ID, planted)
    _heads, table = rows_of(opened(PAGE, HERE | FIND))
    links = table[table["head"] == "L1.H4"].iloc[0]
    inspector, what_if = (
        dict(parse_qsl(urlsplit(links[name]).query)) for name in ("Inspector", "What if")
    )
    evidence = dict(parse_qsl(urlsplit(links["Evidence"]).query))
    assert (evidence["deep"], evidence["gallery_layer"], evidence["gallery_head"]) == (
        *("evidence", "1", "4"),
    )
    assert (inspector["model_layer"], inspector["model_head"]) == ("1", "4")
    page = next(page for page in PAGES if page.stem == "19_what_if")
    visit = opened(page, what_if | {"what_text": HERE["text"]})
    assert not visit.exception
    assert visit.session_state["heads_off"] == ["L1.H4"]
    assert visit.session_state["changes"] == ["heads off"]


def test_a_score_is_told_tenth_by_tenth_with_a_row_from_each(planted, tiny):
    plant(planted, {("repeated", "previous token"): ((1, 4), 0.9)})
    visit = opened(PAGE, HERE | EVIDENCE | {"tenth_score": "previous token"})
    lines = re.findall(r"\| (\d+) \| (\d\.\d\d) \| …", said(visit))
    assert [int(number) for number, _mean in lines] == [*range(1, 11)]
    means = [float(mean) for _number, mean in lines]
    assert means == sorted(means)
    looked = [
        record_heads(tiny, one[None]).weights[1, 4].diagonal(-1)[1:]
        for one in list_probe_texts(tiny)["natural"]
    ]
    every = torch.cat(looked).sort().values
    assert means[0] == pytest.approx(float(every[: len(every) // 10].mean()), abs=0.011)
