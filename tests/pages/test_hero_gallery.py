"""The first picture of the head gallery, and the scores that come with the app."""

import base64
from collections import Counter

import pytest
import torch

from explainers.chapters.common.measured_heads import find_gallery, find_largest_difference
from explainers.chapters.head_gallery.hero import NAMES, compute_numbers, find_best_head, list_names
from explainers.chapters.head_gallery.score_steps import MOST_ROWS, compute_steps
from explainers.models import registry
from explainers.models.attention_hook import run_model
from explainers.models.head_roles import ROLES
from explainers.models.head_scores import HeadScores, build_patterns, measure_layer
from explainers.models.probes import Probe, make_natural_probe
from explainers.models.shipped_scores import (
    LEVELS,
    compute_fingerprint,
    find_known_scores,
    locate_shipped_scores,
    read_example,
    read_shipped_scores,
)
from tests.support.opening import PAGES, opened

PAGE = next(page for page in PAGES if page.stem == "18_head_gallery")
SMOLLM2, MINILM = (model.id for model in registry.WHEEL_MODELS)
ROUNDING = 2e-3
"""Another processor adds up in another order."""


def shipped_scores(model):
    """What the app has of a model: it must be there."""
    found = read_shipped_scores(model)
    assert found
    return found


@pytest.fixture
def nothing_measured(monkeypatch, tmp_path):
    """A machine without models: the scores are those of the app."""
    monkeypatch.setenv("ATTENTION_MODELS", str(tmp_path))


@pytest.mark.parametrize("model", [SMOLLM2, MINILM])
def test_scores_come_with_the_app_for_these_models_and_weights_alone(nothing_measured, model):
    assert locate_shipped_scores(model).stat().st_size < 200_000
    shipped = shipped_scores(model)
    assert shipped.scores.shape == {SMOLLM2: (30, 9), MINILM: (6, 12)}[model]
    assert find_known_scores(model) is shipped.scores
    assert torch.allclose(shipped.example.weights.sum(dim=-1), torch.ones(1), atol=16 / LEVELS)
    for name in ("openai-community/gpt2", f"someone/{model}", "../../etc"):
        assert read_shipped_scores(name) is None
    registry.resolve_folder(model).mkdir()
    (registry.resolve_folder(model) / "model.safetensors").write_bytes(b"other weights")
    assert read_shipped_scores(model) is None


@pytest.mark.parametrize("which", ["smollm2", "minilm"])
def test_what_came_with_the_app_is_what_the_model_does(which, request):
    loaded = request.getfixturevalue(which)
    shipped = shipped_scores(loaded.name)
    assert shipped.fingerprint == compute_fingerprint(registry.resolve_folder(loaded.name))
    example = read_example(loaded)
    assert example.tokens == shipped.example.tokens
    assert torch.equal(example.ids, shipped.example.ids)
    assert (example.weights - shipped.example.weights).abs().max() < 0.6 / LEVELS + ROUNDING


def test_one_layer_measured_again_has_the_scores_of_the_app(minilm):
    shipped, probe = shipped_scores(MINILM).scores, make_natural_probe(minilm)
    layers = run_model(
        minilm.model, record=lambda one: measure_layer(one, probe), input_ids=probe.ids
    ).layers
    measured = HeadScores(
        {f"natural: {name}": torch.stack([one[name] for one in layers]) for name in layers[0]}
    )
    assert find_largest_difference(measured, shipped) < ROUNDING


def test_all_heads_are_sent_with_their_names_and_scores(nothing_measured):
    shipped = shipped_scores(SMOLLM2)
    sent, scores = compute_numbers(SMOLLM2, shipped.scores, shipped.example), shipped.scores
    counted = Counter(NAMES[one] for own in sent["named"] for one in own)
    for role in ROLES:
        value = scores.select(role.probe, role.score_name)
        bar = max(role.threshold, scores.find_chance_score(role.probe, role.score_name))
        assert counted[role.name] == int((value > bar).sum()), role.name
        at = NAMES.index(role.name)
        drawn = [row[at] for row in sent["scores"]]
        expected = [None if v != v else v for v in value.flatten().tolist()]  # nan is not itself
        for one, other in zip(drawn, expected, strict=True):
            assert one == (None if other is None else pytest.approx(other, abs=1e-4))
    levels = torch.tensor(list(base64.b64decode(sent["weights"])))
    assert torch.equal(levels / LEVELS, shipped.example.weights.flatten())


def test_a_sink_is_named_last():
    scores = shipped_scores(SMOLLM2).scores
    best = find_best_head(scores, "induction")
    assert best == (18, 6)
    names = list_names(scores, best)
    assert names == ["induction", "sink"]


@pytest.mark.parametrize("place", [(18, 6), (29, 1), (0, 0)])
def test_the_steps_of_a_score_add_up(nothing_measured, place):
    gallery, example = find_gallery(SMOLLM2), shipped_scores(SMOLLM2).example
    assert gallery
    steps = compute_steps(gallery, example, place)
    assert torch.allclose((steps.weights * steps.pattern).sum(dim=-1), steps.mass)
    assert torch.equal(steps.weights, example.weights[place][steps.rows])
    marks = torch.tensor([[not token.strip().isalnum() for token in example.tokens]])
    mask = torch.ones(1, len(example.tokens), len(example.tokens), dtype=torch.bool).tril()
    [pattern] = build_patterns(Probe(example.ids[None], marks), mask)[steps.pattern_name]
    about = pattern.any(dim=-1).nonzero().flatten()
    assert steps.rows == about[-MOST_ROWS:].tolist()
    mass = (example.weights[place] * pattern).sum(dim=-1)
    assert steps.score == pytest.approx(mass[about].mean().item()), "also of rows not shown"


def test_a_reset_may_lead_back_to_the_head_of_a_larger_model(nothing_measured, monkeypatch):
    drawn = []
    show = "explainers.ui.figure.hero.show_hero"
    monkeypatch.setattr(show, lambda _text, hero, _key: drawn.append(hero))
    opened(PAGE, {"real_model": MINILM, "gallery_layer": "3", "gallery_head": "6"})
    choices = {choice.control.key: choice for choice in drawn[-1].choices}
    for key, value in {"real_model": SMOLLM2, "gallery_layer": 18, "gallery_head": 8}.items():
        assert drawn[-1].accepts(choices[key], value)
    assert not drawn[-1].accepts(choices["gallery_layer"], -1)
