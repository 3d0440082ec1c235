"""The first picture of the head gallery, and the scores that come with the app."""

import base64
from collections import Counter

import pytest
import torch

from explainers.chapters.common.measured_heads import find_gallery, find_largest_difference
from explainers.chapters.head_gallery.hero import NAMES, compute_numbers, find_best_head, list_names
from explainers.chapters.head_gallery.score_steps import MOST_ROWS, compute_steps
from explainers.models.head_roles import ROLES, find_relation_heads, find_roles
from explainers.models.head_scores import HeadScores, build_patterns, measure_layer
from explainers.models.probes import Probe, make_natural_probe
from explainers.models.registry import WHEEL_MODELS, resolve_folder
from explainers.models.shipped_scores import (
    LEVELS,
    compute_fingerprint,
    find_known_scores,
    locate_shipped_scores,
    read_example,
    read_shipped_scores,
)
from explainers.ui.text.numbers import write_percent
from tests.support.opening import PAGES, opened
from tests.support.reading import hero

PAGE = next(page for page in PAGES if page.stem == "18_head_gallery")
SMOLLM2, MINILM = (model.id for model in WHEEL_MODELS)
SHAPES = {SMOLLM2: (30, 9), MINILM: (6, 12)}
ROUNDING = 2e-3
"""Another processor adds up in another order."""


def shipped_scores(model):
    """What the app has of a model: it must be there."""
    found = read_shipped_scores(model)
    assert found
    return found


def shipped_gallery(model):
    """The same as the page takes it."""
    found = find_gallery(model)
    assert found
    return found


@pytest.fixture
def nothing_measured(monkeypatch, tmp_path):
    """A machine without models: the scores are those of the app."""
    monkeypatch.setenv("ATTENTION_MODELS", str(tmp_path))


@pytest.mark.parametrize("model", [SMOLLM2, MINILM])
def test_scores_come_with_the_app(nothing_measured, model):
    assert locate_shipped_scores(model).stat().st_size < 200_000
    shipped = shipped_scores(model)
    assert shipped.scores.shape == SHAPES[model]
    assert find_known_scores(model) is shipped.scores
    assert shipped_gallery(model).is_shipped
    assert torch.allclose(shipped.example.weights.sum(dim=-1), torch.ones(1), atol=16 / LEVELS)


def test_no_other_model_has_such_scores(nothing_measured):
    for name in ("openai-community/gpt2", "someone/SmolLM2-135M-Instruct", "../../etc"):
        assert read_shipped_scores(name) is None


@pytest.mark.parametrize("which", ["smollm2", "minilm"])
def test_what_came_with_the_app_is_what_the_model_does(which, request):
    loaded = request.getfixturevalue(which)
    shipped = shipped_scores(loaded.name)
    assert shipped.fingerprint == compute_fingerprint(resolve_folder(loaded.name))
    example = read_example(loaded)
    assert example.tokens == shipped.example.tokens
    assert torch.equal(example.ids, shipped.example.ids)
    assert (example.weights - shipped.example.weights).abs().max() < 0.6 / LEVELS + ROUNDING


def test_one_layer_measured_again_has_the_scores_of_the_app(minilm):
    from explainers.models.attention_hook import run_model

    shipped, probe = shipped_scores(MINILM).scores, make_natural_probe(minilm)
    layers = run_model(
        minilm.model, record=lambda one: measure_layer(one, probe), input_ids=probe.ids
    ).layers
    measured = HeadScores(
        {f"natural: {name}": torch.stack([one[name] for one in layers]) for name in layers[0]}
    )
    assert find_largest_difference(measured, shipped) < ROUNDING


def test_other_weights_of_the_same_name_have_no_scores(monkeypatch, tmp_path):
    monkeypatch.setenv("ATTENTION_MODELS", str(tmp_path))
    folder = resolve_folder(MINILM)
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(b"other weights")
    assert read_shipped_scores(MINILM) is None


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
    assert set(names) == {one.role for one in find_roles(scores, *best)}
    assert names == ["induction", "sink"]


def test_the_page_opens_on_the_best_induction_head_without_a_model(nothing_measured):
    visit = opened(PAGE)
    assert not visit.exception
    sent = hero(visit)
    assert (sent["choices"]["gallery_layer"], sent["choices"]["gallery_head"]) == (18, 6)
    assert sent["usual"]["gallery_layer"] == 18
    assert sent["tokens"][sent["choices"]["gallery_word"]] == "Ann"


def test_experiments_say_what_they_will_show(nothing_measured):
    told = {one["name"]: one for one in hero(opened(PAGE))["experiments"]}
    assert "8 heads" in told["induction"]["text"]
    assert told["induction"]["choices"]["head_name"] == "induction"
    scores = shipped_scores(MINILM).scores
    [best] = [one for one in find_relation_heads(scores) if one.relation == "determiner → noun"]
    assert told["grammar"]["choices"]["gallery_layer"] == best.layer_index
    assert f"{100 * best.score:.0f}\N{NO-BREAK SPACE}%" in told["grammar"]["text"]
    sent = hero(
        opened(PAGE, {key: str(value) for key, value in told["grammar"]["choices"].items()})
    )
    assert (sent["layers"], sent["heads"]) == SHAPES[MINILM]
    word, example = told["grammar"]["choices"]["gallery_word"], shipped_scores(MINILM).example
    weights = example.weights[best.layer_index, best.head_index, word]
    noun = int(weights.argmax())
    assert noun - word > 1, "not only the next word"
    assert f"*{sent['tokens'][word]}* gives *{sent['tokens'][noun]}*" in told["grammar"]["text"]
    assert write_percent(float(weights[noun])) in told["grammar"]["text"]
    assert sent["choices"]["gallery_word"] == word
    place = best.layer_index * sent["heads"] + best.head_index
    assert "determiner → noun" in {
        one["label"] for one in sent["relations"] if one["place"] == place
    }


@pytest.mark.parametrize("place", [(18, 6), (16, 0), (29, 1), (8, 0), (0, 0)])
def test_the_steps_of_a_score_add_up(nothing_measured, place):
    gallery, example = shipped_gallery(SMOLLM2), shipped_scores(SMOLLM2).example
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
