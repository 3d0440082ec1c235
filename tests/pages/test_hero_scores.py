"""The picture that opens the page on scores: its numbers are torch's, its sentences complete."""

import json
import math

import pytest
import torch

from explainers.attention.single_head import single_head
from explainers.chapters.scores.hero import TEMPERATURES, compute_numbers
from explainers.toys.readable_head import FILM_SEED, load_readable_layer
from explainers.toys.sentence import SENTENCE
from tests.support.opening import ROOT, opened
from tests.support.reading import hero
from tests.support.scripts import SCRIPTS, run_script

PAGE = ROOT / "pages" / "04_scores.py"
SOFTMAX = SCRIPTS / "picture" / "softmax.js"
TOKENS = tuple(SENTENCE.split())
RUN = """
import {{ softmax, sumWeighted }} from "{file}";
const {{ products, value, temperatures }} = {numbers};
console.log(JSON.stringify(temperatures.map((temperature) => products.map((row) => {{
  const weights = softmax(row, temperature);
  return {{ weights, output: sumWeighted(weights, value) }};
}}))));
"""


LAYER = load_readable_layer(TOKENS, "full", FILM_SEED)


def test_the_numbers_are_those_of_the_head():
    sent, run = hero(opened(PAGE)), single_head(*LAYER.single())
    assert sent["tokens"] == list(TOKENS)
    torch.testing.assert_close(
        torch.tensor(sent["products"]) / sent["root"], run.scores.cpu(), atol=1e-4, rtol=0
    )
    weights, value = run.weights.cpu(), torch.tensor(sent["value"])
    torch.testing.assert_close(weights @ value, run.output.cpu(), atol=1e-3, rtol=0)
    assert sent["root"] == math.sqrt(len(sent["value"][0]))
    assert sent["root"] in sent["temperatures"]


def test_what_is_dragged_is_what_torch_computes():
    numbers = compute_numbers(LAYER)
    script = RUN.format(file=SOFTMAX.as_uri(), numbers=json.dumps(numbers))
    computed = json.loads(run_script(script))
    assert len(computed) == len(TEMPERATURES) > 30
    products = torch.tensor(numbers["products"], dtype=torch.double)
    value = torch.tensor(numbers["value"], dtype=torch.double)
    for temperature, rows in zip(TEMPERATURES, computed, strict=True):
        weights = (products / temperature).softmax(-1)
        told = torch.tensor([row["weights"] for row in rows], dtype=torch.double)
        torch.testing.assert_close(told, weights, atol=1e-12, rtol=1e-9)
        outputs = torch.tensor([row["output"] for row in rows], dtype=torch.double)
        torch.testing.assert_close(outputs, weights @ value, atol=1e-9, rtol=1e-9)


def test_where_it_is_not_dragged_it_shows_attention_itself():
    """At √d_k the weights are the head's, from the unrounded numbers, to the last digit shown."""
    numbers = compute_numbers(LAYER)
    shown = (torch.tensor(numbers["products"]) / numbers["root"]).softmax(-1)
    weights = single_head(*LAYER.single()).weights.cpu()
    torch.testing.assert_close(shown, weights, atol=1e-4, rtol=0)


@pytest.mark.parametrize(("asked", "shown"), [("64", 64), ("2.8284", 2.8284), ("3", 2)])
def test_a_link_sets_the_temperature(asked, shown):
    visit = opened(PAGE, {"divided_by": asked})
    assert hero(visit)["choices"]["divided_by"] == shown
    assert bool(visit.info) == (asked == "3")
