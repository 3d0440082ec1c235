"""Predict: scores, softmax, masks, one step of online softmax."""

import math
from random import Random

import torch

from explainers.attention import masks
from explainers.attention.online_softmax import begin, read_block
from explainers.attention.reach import cells, window_reach
from explainers.attention.scaled_dot_product import attention
from explainers.attention.scaling import random_scores
from explainers.attention.steps import hide, softmax
from explainers.exercises.kinds import Prediction, signed

HUNDREDTH = 0.02
DRAWS = 5_000


def cells_of_a_causal_mask(draw: Random) -> Prediction:
    """How many pairs are left."""
    tokens = draw.randint(4, 40)
    left = cells(masks.build(masks.causal, tokens, tokens))
    return Prediction({"tokens": f"{tokens}"}, left, worked={"next": f"{tokens + 1}"})


def cells_of_a_window(draw: Random) -> Prediction:
    """How many pairs a window leaves, the first rows being shorter."""
    tokens, width = draw.randint(8, 40), draw.randint(2, 6)
    left = cells(masks.build(masks.sliding_window(width), tokens, tokens))
    missing = tokens * width - left
    given = {"tokens": f"{tokens}", "width": f"{width}"}
    return Prediction(given, left, worked={"all": f"{tokens * width}", "missing": f"{missing}"})


def reach_of_windows(draw: Random) -> Prediction:
    """How many positions hear of each other."""
    layers, width = draw.randint(2, 12), draw.choice([2, 3, 4, 5, 128, 512, 1024])
    given = {"layers": f"{layers}", "width": f"{width:,}"}
    return Prediction(given, window_reach(width, layers), worked={"step": f"{width - 1:,}"})


def a_score(draw: Random) -> Prediction:
    """A dot product of small whole numbers, divided by √d_k."""
    head_dim = draw.choice([4, 16])
    rows = [[draw.randint(-3, 3) for _ in range(head_dim)] for _ in range(2)]
    query, key = (torch.tensor([row], dtype=torch.double) for row in rows)
    score = attention(query, key, key, masks.build(masks.full, 1, 1)).scores.item()
    given = {"query": _row(rows[0]), "key": _row(rows[1]), "d_k": f"{head_dim}"}
    worked = {"product": signed((query @ key.T).item()), "root": f"{math.sqrt(head_dim):g}"}
    return Prediction(given, score, HUNDREDTH, worked)


def a_weight_of_two(draw: Random) -> Prediction:
    """The softmax of two scores depends on their difference alone."""
    one, difference = draw.randint(-4, 4), draw.choice([-3, -2, -1, 0, 1, 2, 3])
    scores = torch.tensor([[one, one - difference]], dtype=torch.double)
    weight = softmax(scores)[0, 0].item()
    given = {"one": signed(one), "other": signed(one - difference)}
    return Prediction(given, weight, HUNDREDTH, {"back": signed(-difference)})


def a_mixture(draw: Random) -> Prediction:
    """What weights make of values."""
    tenths = sorted(draw.sample(range(1, 10), 2))
    weights = [tenths[0] / 10, (tenths[1] - tenths[0]) / 10, (10 - tenths[1]) / 10]
    values = [draw.randint(-5, 9) for _ in range(3)]
    mixed = torch.tensor(weights, dtype=torch.double) @ torch.tensor(values, dtype=torch.double)
    given = {"weights": _row(weights), "values": _row(values)}
    factors = [signed(v) if v >= 0 else f"({signed(v)})" for v in values]
    terms = " + ".join(f"{w:g} · {v}" for w, v in zip(weights, factors, strict=True))
    return Prediction(given, mixed.item(), HUNDREDTH, {"terms": terms})


def a_row_under_a_mask(draw: Random) -> Prediction:
    """Hiding keys shares their weight out among the others, in proportion."""
    tenths = sorted(draw.sample(range(1, 10), 2))
    weights = [tenths[0] / 10, (tenths[1] - tenths[0]) / 10, (10 - tenths[1]) / 10]
    scores = torch.tensor([weights], dtype=torch.double).log()
    mask = torch.tensor([[True, True, False]])
    left = softmax(hide(scores, mask))[0, 0].item()
    worked = {"first": f"{weights[0]:g}", "kept": f"{weights[0] + weights[1]:g}"}
    return Prediction({"weights": _row(weights)}, left, HUNDREDTH, worked)


def variance_of_products(draw: Random) -> Prediction:
    """Of random vectors; a tenth off is near enough, for it is measured."""
    head_dim = draw.choice([9, 16, 25, 36, 64, 100])
    seeded = torch.Generator().manual_seed(draw.getrandbits(32))
    products = random_scores(head_dim, 1, DRAWS, seeded).products
    worked = {"measured": f"{products.var().item():.1f}", "draws": f"{DRAWS:,}"}
    return Prediction({"d_k": f"{head_dim}"}, products.var().item(), head_dim / 10, worked)


def a_correction(draw: Random) -> Prediction:
    """By what an online softmax multiplies the sum it has, when a larger score comes."""
    after, growth = draw.randint(-2, 4), draw.choice([1, 2, 3])  # further apart, 0 would be near
    before = after - growth
    value = torch.zeros(1, 1, dtype=torch.double)
    running = begin(value, value)
    for score in (before, after):
        running = read_block(running, torch.tensor([[score]], dtype=torch.double), value)
    given = {"before": signed(before), "after": signed(after)}
    worked = {"difference": signed(-growth)}
    return Prediction(given, running.correction.item(), HUNDREDTH, worked)


def _row(numbers: list[int] | list[float]) -> str:
    return "(" + ", ".join(map(signed, numbers)) + ")"
