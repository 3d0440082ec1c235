"""The head gallery: tiny models measured on request; planted scores lead to the names they should;
what comes with the app of real ones."""

import pytest
import torch

from explainers.chapters.common.measured_heads import HALF, MEASURE_LABEL, NOTHING, SAME
from explainers.folders import ASSETS
from explainers.models import load as loading_module
from explainers.models import registry, shipped_measurements
from explainers.models.head_scores import measure_heads
from explainers.models.load import load_model
from explainers.ui.prediction import SKIP
from explainers.ui.session import HEAD_SCORES_JOB
from tests.support import saved_models
from tests.support.opening import PAGES, opened, pictures, press
from tests.support.reading import hero, panels, said
from tests.support.waiting import over
from workshop.models.measure_scores import read_example

PAGE = next(page for page in PAGES if page.stem == "18_head_gallery")
ID = "someone/tiny-model"
LAYERS, HEADS = 2, 6
HERE = {"real_model": ID, "model_layer": "1", "model_head": "4", "text": "the CEO announced"}
MEASURES = {"deep": "measures"}
SMOLLM2, MINILM = (model.id for model in registry.WHEEL_MODELS)
ROUNDING = 2e-3
"""Another processor adds up in another order."""


@pytest.mark.parametrize("which", ["smollm2", "minilm"])
def test_what_came_with_the_app_is_what_the_model_does(which, request):
    """First of all: behind `store`, the real models are out of sight."""
    loaded = request.getfixturevalue(which)
    shipped, example = shipped_measurements.read_shipped_scores(loaded.name), read_example(loaded)
    assert shipped
    assert example.tokens == shipped.example.tokens
    assert torch.equal(example.ids, shipped.example.ids)
    rounded = 0.6 / shipped_measurements.LEVELS + ROUNDING
    assert (example.weights - shipped.example.weights).abs().max() < rounded


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ATTENTION_MODELS", str(tmp_path_factory.mktemp("models")))
        patch.setattr(loading_module, "_models", {})
        saved_models.llama(registry.locate_folder(ID))
        yield registry.locate_store()


@pytest.fixture(scope="module")
def tiny(store):
    return load_model(ID)


@pytest.mark.parametrize("model", ["someone/not-here", ID])
@pytest.mark.usefixtures("tiny")  # loaded: else a page has it tried in a process of its own
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


def test_all_heads_are_measured_on_request_and_then_kept(store):
    for file in (store / "scores").glob("*"):
        file.unlink()
    link = {"real_model": ID, **MEASURES}
    visit = opened(PAGE, link)
    press(visit, MEASURE_LABEL)
    job = over(visit.session_state[HEAD_SCORES_JOB])
    assert (job.state, job.share) == ("done", 1)
    measured = job.result.select("repeated", "induction").T
    shown = panels(visit.run(), "heads")["heads"]["values"]
    assert torch.allclose(torch.tensor(shown), measured, atol=1e-4)
    other = opened(PAGE, link)
    assert HEAD_SCORES_JOB not in other.session_state
    assert pictures(other) == pictures(visit)


@pytest.mark.parametrize(("after", "answer"), [(0.75, SAME), (0.4, HALF), (0.1, NOTHING)])
def test_the_surest_head_is_asked_about(tiny, after, answer):
    planted = measure_heads(tiny)
    for one in planted.tensors.values():
        if one.shape == (LAYERS, HEADS):
            one.clamp_(max=0.2)
    planted.select("repeated", "induction")[1, 4] = 0.8
    planted.select("natural", "induction")[1, 4] = after
    shipped_measurements.save_scores(ID, planted)
    visit = opened(PAGE, HERE | {"predict": "true", "guess_keeps": SKIP})
    told = said(visit).split("L1.H4 has the highest score for **induction**: 0.80")[1]
    assert told.split("Answer: **", 1)[1].startswith(f"{answer}**")


def test_scores_come_with_the_app_for_these_models_and_weights_alone(no_models):
    assert (
        ASSETS / f"{shipped_measurements.name_scores(SMOLLM2)}.safetensors"
    ).stat().st_size < 200_000
    kept = shipped_measurements.read_shipped_scores(SMOLLM2)
    assert kept
    assert shipped_measurements.find_known_scores(SMOLLM2) is kept.scores
    for name in ("openai-community/gpt2", f"someone/{SMOLLM2}", "../../etc"):
        assert shipped_measurements.read_shipped_scores(name) is None
    registry.resolve_folder(SMOLLM2).mkdir()
    (registry.resolve_folder(SMOLLM2) / "model.safetensors").write_bytes(b"other weights")
    assert shipped_measurements.read_shipped_scores(SMOLLM2) is None


def test_a_reset_may_lead_back_to_the_head_of_a_larger_model(no_models, monkeypatch):
    drawn = []
    show = "explainers.ui.figure.hero.show_hero"
    monkeypatch.setattr(show, lambda _text, hero, _key: drawn.append(hero))
    opened(PAGE, {"real_model": MINILM, "gallery_layer": "3", "gallery_head": "6"})
    choices = {choice.control.key: choice for choice in drawn[-1].choices}
    for key, value in {"real_model": SMOLLM2, "gallery_layer": 18, "gallery_head": 8}.items():
        assert drawn[-1].accepts(choices[key], value)
    assert not drawn[-1].accepts(choices["gallery_layer"], -1)
