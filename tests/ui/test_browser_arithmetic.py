"""What pictures compute themselves is what our functions compute; run without a browser."""

import json
from itertools import product

import pytest
import torch

from explainers.attention.steps import hide, softmax
from explainers.chapters.common.score_matrix import Lab
from explainers.models.shipped_writing import MODEL, USUAL, read_shipped_writing
from explainers.models.told_steps import TEMPERATURES, TOP_PS, restrict_candidates
from explainers.toys.readable_head import FILM_SEED, load_readable_layer
from explainers.toys.sentence import SENTENCE
from explainers.ui.controls.mask_drawing import read_cells
from tests.support.scripts import SCRIPTS, run_script

HEROES = SCRIPTS / "picture" / "heroes"
TOKENS = tuple(SENTENCE.split())
DRAWINGS = "41.3.6.f.1f.3f.7f", "40.20.10.8.4.2.1", "7f.1.7f.2.7f.4.7f"
MASKED = """
import {{ readCells, softmax }} from "{file}";
const {{ scores, drawings }} = {numbers};
console.log(JSON.stringify(drawings.map((drawing) => {{
  const allowed = readCells(drawing, scores.length);
  return scores.map((row, at) => softmax(row, allowed[at]));
}})));
"""
CHANCES = """
import {{ computeChances }} from "{file}";
const {{ steps, settings, heats, shares }} = {numbers};
console.log(JSON.stringify(settings.map((setting) =>
  steps.map((step) => computeChances(step, setting, heats, shares)))));
"""
SETTINGS = [
    *((heat, 0, share) for heat, share in product((0, 0.3, 1.6, 2), (1, 0.9, 0.5))),
    *((1, 5, 1), (1.3, 20, 0.8), (2, 10, 0.5), (0.8, 1, 1), (0.3, 20, 1), (0.3, 10, 1)),
]
"""Temperatures, top-k, top-p."""


def test_the_weights_under_a_mask_of_ones_own_are_torchs():
    lab = Lab(load_readable_layer(TOKENS, "full", FILM_SEED), queries_down=True)
    numbers = {"scores": lab.scores.tolist(), "drawings": DRAWINGS}
    file = (HEROES / "masked_drawing.js").as_uri()
    computed = json.loads(run_script(MASKED.format(file=file, numbers=json.dumps(numbers))))
    for drawing, weights in zip(DRAWINGS, computed, strict=True):
        mask = torch.tensor(read_cells(drawing, len(TOKENS)))
        expected = softmax(hide(lab.scores, mask))
        found = torch.tensor(weights, dtype=torch.float)
        torch.testing.assert_close(found, expected.cpu(), atol=1e-6, rtol=1e-5)


def test_the_probabilities_of_the_next_token_are_the_models():
    shipped = read_shipped_writing(MODEL)
    assert shipped
    steps = shipped.texts[USUAL].steps[::3]
    names = ("candidates", "kept", "place", "logit")
    numbers = {
        "steps": [{name: getattr(step, name) for name in names} for step in steps],
        "settings": [
            dict(zip(("temperature", "topK", "topP"), setting, strict=True)) for setting in SETTINGS
        ],
        "heats": TEMPERATURES[1:],
        "shares": TOP_PS,
    }
    file = (HEROES / "writing_chances.js").as_uri()
    computed = json.loads(run_script(CHANCES.format(file=file, numbers=json.dumps(numbers))))
    for (temperature, top_k, top_p), answers in zip(SETTINGS, computed, strict=True):
        for step, found in zip(steps, answers, strict=True):
            expected = restrict_candidates(step, temperature, top_k, top_p)
            assert found["chances"] == pytest.approx(expected, abs=1e-6)
            if temperature and top_k:
                assert found["count"] == sum(chance > 0 for chance in expected)
            if step.place < len(expected):
                assert found["own"] == pytest.approx(expected[step.place], abs=1e-6)
