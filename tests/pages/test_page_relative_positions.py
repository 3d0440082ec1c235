"""Relative positions: the page prints and draws what RoPE, ALiBi and T5's buckets compute."""

import json
import math
import re
import runpy
from random import Random

import pytest
import torch
from transformers.models.t5.modeling_t5 import T5Attention

from explainers.attention.multi_head import multi_head
from explainers.attention.positions import sinusoidal
from explainers.attention.single_head import project
from explainers.chapters.common.head_matrices import pair
from explainers.chapters.relative_positions.position_scores import (
    ANSWERS,
    D_MODEL,
    DISTANCES,
    TURNED_DIM,
    ShiftedScores,
)
from explainers.toys import examples
from explainers.toys.sentence import SENTENCE
from explainers.translations import load_sections
from explainers.ui.controls import controls
from tests.support.opening import PAGES, elements, opened, pictures, widgets
from tests.ui.test_packed import unpacked

PAGE = next(page for page in PAGES if page.stem == "07_relative_positions")
TOKENS = tuple(SENTENCE.split())
CAUSAL = torch.ones(7, 7, dtype=torch.bool).tril()
MOST_WORDS = 500
"""A reader sees no more before anything is opened."""
UNFOLDED = {"alibi", "alibi_slopes", "learned_bias"}


def said(visit):
    return " ".join("\n".join(markdown.value for markdown in visit.main.markdown).split())


def figure(visit, first):
    """The panels of the linked picture that begins with this one, by their ids."""
    linked = [json.loads(picture)[0] for picture in pictures(visit) if picture.startswith("[")]
    [found] = [data["panels"] for data in linked if data["panels"][0]["id"] == first]
    return {panel["id"]: panel for panel in found}


def values(panels, *ids):
    """The numbers of some panels, one after the other; blank is 0. A large one comes packed."""
    sent = [panels[name]["values"] for name in ids]
    flat = [unpacked(one) if "steps" in one else [v for line in one for v in line] for one in sent]
    return [v or 0.0 for numbers in flat for v in numbers]


def close(numbers, within=1e-5):
    return pytest.approx(numbers.flatten().tolist(), abs=within)


def test_moving_all_words_changes_no_score_with_rope():
    shifts = controls.shift.steps
    moved = ShiftedScores.of(TOKENS, shifts, 5)
    rotary, added = (s - s[0] for s in (moved.rotary, moved.added))
    assert rotary.abs().max() < 1e-4
    assert (added[1:].abs().amax(dim=(1, 2)) > 0.1).all()
    assert moved.answer() == ANSWERS[0]
    assert (
        ShiftedScores(
            TOKENS, moved.shifts, moved.added, moved.rotary, moved.arrows, moved.parts
        ).answer()
        != ANSWERS[0]
    )
    visit = opened(PAGE, {"seed": "5", "shift": "12"})
    panels, place = figure(visit, "scores with RoPE"), shifts.index(12)
    assert values(panels, "scores with RoPE") == close(moved.rotary[place])
    assert values(panels, "change with added positions") == close(added[place])
    assert len(figure(visit, "dials")["dials"]["frames"]) == len(shifts)


def test_the_words_have_moved_when_the_picture_opens():
    panels = figure(opened(PAGE, {"seed": "5"}), "scores with RoPE")
    moved = ShiftedScores.of(TOKENS, controls.shift.steps, 5)
    added = moved.added[controls.shift.steps.index(controls.shift.default)] - moved.added[0]
    assert values(panels, "change with added positions") == close(added)
    assert max(map(abs, values(panels, "change with added positions"))) > 0.1


def test_every_arrow_is_long_enough_to_be_seen_and_points_as_its_numbers_do():
    moved = ShiftedScores.of(TOKENS, (0, 3), 5)
    numbers = torch.view_as_complex(moved.arrows.view(2, 2, TURNED_DIM // 2, 2))
    drawn = torch.view_as_complex(moved.directions().view(2, 2, TURNED_DIM // 2, 2))
    lengths = torch.tensor([1, 0.75])[None, :, None]
    assert torch.allclose(drawn.abs(), lengths.expand(2, 2, 4))
    assert torch.allclose(drawn / drawn.abs(), numbers / numbers.abs(), atol=1e-5)
    panel = figure(opened(PAGE, {"seed": "5", "shift": "3"}), "dials")["dials"]
    place = controls.shift.steps.index(3)
    assert panel["values"] == panel["frames"][place]
    assert panel["high"] == 1
    speed = re.compile(r"one turn in ([\d,.]+) positions")
    told = [speed.findall(column)[0] for column in panel["columns"]]
    turns = [float(turn.replace(",", "")) for turn in told[::2]]
    assert turns == pytest.approx([math.tau * 10**pair for pair in range(4)], abs=0.06)


def test_arrows_turn_and_the_angle_between_them_differs_by_the_distance_alone():
    moved = ShiftedScores.of(TOKENS, (0, 1, 10), 5)
    asking, asked = pair(TOKENS)
    pairs = torch.view_as_complex(moved.arrows.view(3, 2, TURNED_DIM // 2, 2))
    speeds = torch.tensor([1, 0.1, 0.01, 0.001])
    turned = pairs / pairs[:1]
    steps = torch.tensor([0, 1, 10])[:, None, None] * speeds
    assert torch.allclose(
        turned, torch.polar(torch.ones(3, 2, 4), steps.expand(3, 2, 4)), atol=1e-5
    )
    products = (pairs[:, 0] * pairs[:, 1].conj()).real.sum(dim=-1)
    scores = moved.rotary[:, asking, asked] * TURNED_DIM**0.5
    assert torch.allclose(products, scores, atol=1e-4)


def test_a_learned_bias_is_read_by_the_bucket_of_a_distance():
    panels = figure(opened(PAGE, {"seed": "5", "deep": "learned_bias"}), "bucket")
    decoder, back, ahead = panels["bucket"]["values"]
    # transformers' own function: its distances run from the query to the key.
    distances = torch.tensor(DISTANCES)
    sizes = {"num_buckets": 32, "max_distance": 128}
    theirs = T5Attention._relative_position_bucket
    assert decoder == theirs(-distances, bidirectional=False, **sizes).tolist()
    assert back == theirs(-distances, bidirectional=True, **sizes).tolist()
    assert ahead == theirs(distances, bidirectional=True, **sizes).tolist()
    for head in range(4):
        added = panels[f"added, head {head}"]["values"]
        assert [[value is None for value in line] for line in added] == (~CAUSAL).tolist()
        for distance in range(7):  # one number per distance and head
            line = [added[query][query - distance] for query in range(distance, 7)]
            assert len(set(line)) == 1
    assert len({panels[f"added, head {head}"]["values"][6][0] for head in range(4)}) == 4


def test_alibi_takes_off_more_the_farther_and_the_steeper():
    panels = figure(opened(PAGE, {"seed": "5", "deep": "alibi"}), "penalty")
    slopes = [1 / 4, 1 / 16, 1 / 64, 1 / 256]
    expected = [[-slope * distance for distance in range(7)] for slope in slopes]
    assert panels["penalty"]["values"] == [pytest.approx(line, rel=1e-5) for line in expected]
    assert panels["penalty"]["rows"][0] == "0: 1/4"
    x, layer = examples.draw_embeddings(TOKENS, 64, 5), examples.random_heads(64, 4, 4, 16, 5)
    without = multi_head(x, layer, CAUSAL).weights
    assert values(panels, *[f"without, head {n}" for n in range(4)]) == close(without)
    for head, slope in enumerate(slopes):
        before, after = (
            torch.tensor(values(panels, f"{way}, head {head}")).view(7, 7)
            for way in ("without", "with ALiBi")
        )
        distance = torch.arange(7)[:, None] - torch.arange(7)
        weighted = before * torch.exp(-slope * distance.float())
        assert torch.allclose(after, weighted / weighted.sum(dim=-1, keepdim=True), atol=1e-5)


@pytest.mark.parametrize("shift", [1, 12, 64])
def test_the_sentence_says_what_the_two_words_scores_do(shift):
    """The parts are those of q · k, pair by pair, and their sum is the score in the matrices."""
    visit = opened(PAGE, {"seed": "5", "shift": str(shift)})
    x, head = examples.draw_embeddings(TOKENS, 64, 5), examples.random_head(64, 8, 8, 5)
    asking, asked = pair(TOKENS)
    scores = []
    for start in (0, shift):
        query, key, _value = project(x + sinusoidal(100, D_MODEL, 1e4)[start : start + 7], head)
        parts = (query[asking] * key[asked]).view(-1, 2).sum(dim=-1) / 8**0.5
        scores.append(parts.sum())
    panels = figure(visit, "dials")
    moved = ShiftedScores.of(TOKENS, (shift,), 5)
    rope, added = panels["parts"]["values"]
    assert rope == pytest.approx(
        [*moved.parts[0, 0].tolist(), moved.rotary[0, 2, 1].item()], abs=1e-5
    )
    assert added == pytest.approx([*parts.tolist(), scores[1].item()], abs=1e-5)
    change = (scores[1] - scores[0]).abs()
    assert f"**Both words moved {shift} positions.**" in said(visit)
    assert f"with added positions, by **{change:.2f}**" in said(visit)


def test_nothing_is_said_to_have_moved_at_the_beginning():
    visit = opened(PAGE, {"shift": "0"})
    assert "are at the beginning of the text" in said(visit)
    assert "moved 0 positions" not in said(visit)


def test_the_picture_comes_first_and_only_the_scores_of_all_words_wait_for_an_answer():
    asking = opened(PAGE, {"predict": "true"})
    answered = opened(PAGE, {"predict": "true", "guess_rotary": ANSWERS[1]})
    drawn = [json.loads(picture)[0]["panels"][0]["id"] for picture in pictures(asking)]
    assert drawn == ["dials"]
    assert len(pictures(answered)) == len(drawn) + 1
    assert f"It is **{ANSWERS[0]}**" in said(answered)
    shown = [e for e in elements(asking.main) if e.type in ("bidi_component", "radio")]
    assert [e.type for e in shown[:3]].index("bidi_component") < 2


def test_the_page_is_short():
    sections = load_sections(PAGE.stem).items()
    shown = [text for name, text in sections if name not in UNFOLDED and "because" not in name]
    assert len(re.findall(r"[^\W\d_]+", " ".join(shown))) <= MOST_WORDS


@pytest.mark.parametrize("seed", range(5))
def test_what_is_asked_at_the_end_is_computed(seed):
    page = runpy.run_path(str(PAGE))
    angle = page["rotate_a_pair"](Random(seed))
    pair_number, position = int(angle.given["number"]), int(angle.given["position"])
    assert angle.answer == pytest.approx(position / 10 ** (pair_number - 1), rel=1e-5)
    far = page["score_far_away"](Random(seed))
    assert float(far.given["score"]) == pytest.approx(far.answer, abs=0.011)
    assert int(far.given["now_asking"]) - int(far.given["now_asked"]) == 1


@pytest.mark.parametrize("text", ["x", "one two"])
def test_one_word_or_two_are_enough(text):
    visit = opened(PAGE, {"text": text, "deep": "learned_bias"})
    assert not visit.exception
    assert len(figure(visit, "bucket")["added, head 0"]["values"]) == len(text.split())


def test_an_impossible_shift_is_corrected_and_said():
    visit = opened(PAGE, {"seed": "7", "shift": "-3"})
    assert not visit.exception
    assert [re.findall(r"asks for (\w+) =", note.value) for note in visit.info] == [["shift"]]
    assert widgets(visit)["seed"].value == 7
