"""Predict: each draws its numbers, and computes the answer with the functions of the pages."""

import math
from functools import partial
from random import Random

import torch

from explainers.attention import masks
from explainers.attention.cache.decoding import through
from explainers.attention.cache.kv_cache import empty_cache, read
from explainers.attention.cache.step_costs import with_cache, without_cache
from explainers.attention.grouped_query import share
from explainers.attention.indexer import index_scores
from explainers.attention.multi_head import parameters
from explainers.attention.online_softmax import begin, read_block
from explainers.attention.receptive_field import cells, window_reach
from explainers.attention.rotary import angles
from explainers.attention.scaled_dot_product import attention
from explainers.attention.serving.kept_drafts import keep_probability
from explainers.attention.serving.shared_prefix import changed_rows
from explainers.attention.sinks_and_gates import softmax_with_sinks
from explainers.attention.steps import dot_products, hide, softmax
from explainers.attention.stretching import interpolate
from explainers.chapters.exercises.deck import Prediction, format_signed
from explainers.toys.examples import draw_embeddings, random_heads
from explainers.ui.text.numbers import PERCENT, SHARE, write_percent

HUNDREDTH = 0.02


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
    worked = {"product": format_signed((query @ key.T).item()), "root": f"{math.sqrt(head_dim):g}"}
    return Prediction(given, score, HUNDREDTH, worked)


def a_weight_of_two(draw: Random) -> Prediction:
    """The softmax of two scores depends on their difference alone."""
    one, difference = draw.randint(-4, 4), draw.choice([-3, -2, -1, 0, 1, 2, 3])
    scores = torch.tensor([[one, one - difference]], dtype=torch.double)
    weight = softmax(scores)[0, 0].item()
    given = {"one": format_signed(one), "other": format_signed(one - difference)}
    worked = {"back": format_signed(-difference)}
    return Prediction(given, weight, HUNDREDTH, worked, SHARE)


def a_mixture(draw: Random) -> Prediction:
    """What weights make of values."""
    tenths = sorted(draw.sample(range(1, 10), 2))
    weights = [tenths[0] / 10, (tenths[1] - tenths[0]) / 10, (10 - tenths[1]) / 10]
    values = [draw.randint(-5, 9) for _ in range(3)]
    mixed = torch.tensor(weights, dtype=torch.double) @ torch.tensor(values, dtype=torch.double)
    given = {"weights": _row(weights), "values": _row(values)}
    factors = [format_signed(v) if v >= 0 else f"({format_signed(v)})" for v in values]
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
    return Prediction({"weights": _row(weights)}, left, HUNDREDTH, worked, SHARE)


def a_correction(draw: Random) -> Prediction:
    """By what an online softmax multiplies the sum it has, when a larger score comes."""
    after, growth = draw.randint(-2, 4), draw.choice([1, 2, 3])  # further apart, 0 would be near
    before = after - growth
    value = torch.zeros(1, 1, dtype=torch.double)
    running = begin(value, value)
    for score in (before, after):
        running = read_block(running, torch.tensor([[score]], dtype=torch.double), value)
    given = {"before": format_signed(before), "after": format_signed(after)}
    worked = {"difference": format_signed(-growth)}
    return Prediction(given, running.correction.item(), HUNDREDTH, worked)


def _row(numbers: list[int] | list[float]) -> str:
    return "(" + ", ".join(map(format_signed, numbers)) + ")"


def numbers_in_a_layer(draw: Random) -> Prediction:
    """The four matrices of attention, with fewer KV heads than query heads."""
    head_dim, heads = draw.choice([16, 32, 64]), draw.choice([4, 8])
    kv_heads = draw.choice([n for n in (1, 2, 4, 8) if heads % n == 0])
    d_model = head_dim * heads
    answer = parameters(d_model, heads, kv_heads, head_dim)
    given = {"d_model": f"{d_model}", "heads": f"{heads}", "kv_heads": f"{kv_heads}"}
    wide, narrow = d_model * d_model, d_model * kv_heads * head_dim
    worked = {"d_k": f"{head_dim}", "wide": f"{wide:,}", "narrow": f"{narrow:,}"}
    return Prediction(given, answer, worked=worked)


def query_heads_per_group(draw: Random) -> Prediction:
    """Whose KV head a query head reads."""
    kv_heads, size = draw.choice([2, 4, 8]), draw.choice([2, 3, 4])
    head = draw.randrange(kv_heads * size)
    given = {"heads": f"{kv_heads * size}", "kv_heads": f"{kv_heads}", "head": f"{head}"}
    read = share(torch.arange(kv_heads)[:, None, None], size).flatten()
    return Prediction(given, int(read[head]), worked={"size": f"{size}"})


def rows_with_and_without(draw: Random) -> Prediction:
    """How many rows of K a layer computes while it writes a text without a cache."""
    tokens = draw.randint(5, 60)
    layer = random_heads(8, 1, 1, 8, seed=0)
    kept, again = with_cache(tokens, layer).rows, without_cache(tokens, layer).rows
    worked = {"kept": f"{kept:,}", "last": f"{tokens + 1}"}
    return Prediction({"tokens": f"{tokens}"}, again, worked=worked)


def growth_of_the_weights(draw: Random) -> Prediction:
    """A longer text: how many times as many weights a head has."""
    tokens, times = draw.choice([100, 512, 1000, 4096]), draw.choice([2, 3, 4, 8, 10])
    rows = (torch.empty(n, 1, device="meta") for n in (tokens, times * tokens))
    short, long = (dot_products(one, one).numel() for one in rows)  # sizes without the numbers
    given = {"tokens": f"{tokens:,}", "longer": f"{times * tokens:,}"}
    return Prediction(given, long / short, worked={"times": f"{times}"})


def cells_between_sequences(draw: Random) -> Prediction:
    """How many cells both texts in one sequence have more than cross-attention."""
    queries, keys = draw.randint(3, 20), draw.randint(3, 20)
    joined = cells(masks.build(masks.full, queries + keys, queries + keys))
    given = {"queries": f"{queries}", "keys": f"{keys}"}
    worked = {"cross": f"{queries * keys:,}", "joined": f"{joined:,}"}
    return Prediction(given, joined - queries * keys, worked=worked)


def a_turn_past_the_length(draw: Random) -> Prediction:
    """How far position interpolation turns a pair at a position that no training had."""
    trained, factor, number = 32, draw.choice([2, 4, 8]), draw.randint(1, 3)
    length = factor * trained
    position = draw.randint(trained, length - 1)
    speed = angles(torch.ones(1, dtype=torch.double), 8, 10_000.0)[0]  # 1, 0.1, 0.01, 0.001
    turn = position * interpolate(speed, factor)[number - 1].item()
    given = {"trained": f"{trained}", "length": f"{length}", "position": f"{position}"}
    worked = {"factor": f"{factor}", "speed": f"{speed[number - 1].item():g}"}
    return Prediction(given | {"number": f"{number}"}, turn, 0.01 * turn, worked)


def a_row_with_a_sink(draw: Random) -> Prediction:
    """What is left for the words, beside a learned sink."""
    scores = [draw.randint(-1, 2) for _ in range(3)]
    sink = draw.randint(0, 3)
    row = torch.tensor([[scores]], dtype=torch.double)  # (heads, q_len, kv_len)
    kept = softmax_with_sinks(row, torch.tensor([sink], dtype=torch.double)).sum().item()
    given = {"scores": ", ".join(map(format_signed, scores)), "sink": f"{sink}"}
    words = sum(map(math.exp, scores))
    worked = {"words": f"{words:.2f}", "nothing": f"{math.exp(sink):.2f}"}
    return Prediction(given, kept, HUNDREDTH, worked, SHARE)


ONE_DECIMAL = 0.011
WRITERS = 3


def sum_that_a_head_writes(draw: Random) -> Prediction:
    """Weights times what each token would add with all of the weight: the direct effect."""
    cuts = sorted(draw.sample(range(1, 10), WRITERS - 1))
    parts = [high - low for low, high in zip([0, *cuts], [*cuts, 10], strict=True)]
    weights = torch.tensor(parts, dtype=torch.double) / 10
    writes = torch.tensor([draw.randint(-9, 9) for _token in parts], dtype=torch.double) / 2
    given = {
        "weights": ", ".join(f"{one:g}" for one in weights.tolist()),
        "writes": ", ".join(format_signed(one) for one in writes.tolist()),
    }
    products = ", ".join(format_signed(round(one, 2)) for one in (weights * writes).tolist())
    return Prediction(given, float(weights @ writes), ONE_DECIMAL, {"products": products})


INDEX_HEADS = 4


def score_of_an_indexer(draw: Random) -> Prediction:
    """Products below 0 count as 0, the others by their shares; four heads, so √4 = 2."""
    products = [draw.randint(-5, 9) for _head in range(INDEX_HEADS)]
    products[draw.randrange(INDEX_HEADS)] = -draw.randint(1, 9)
    shares = [draw.randint(1, 9) / 10 for _head in range(INDEX_HEADS)]
    query = torch.tensor(products, dtype=torch.double)[:, None, None]
    key, share = torch.ones(1, 1).double(), torch.tensor([shares]).double()
    score = index_scores(query, key, share).item()
    given = {
        "products": ", ".join(format_signed(one) for one in products),
        "shares": ", ".join(f"{one:g}" for one in shares),
    }
    total = f"{2 * score:.1f}"
    return Prediction(given, score, HUNDREDTH, {"total": total})


def rows_after_a_change(draw: Random) -> Prediction:
    """How many rows of K a layer must compute again when one token of a prompt changes."""
    tokens, layers = draw.randint(20, 60), draw.randint(2, 4)
    place = draw.randint(3, tokens - 8)
    counts = _count_changed_rows(tokens, place - 1, layers)
    given = {"tokens": f"{tokens}", "place": f"{place}", "layer": f"{layers}"}
    return Prediction(given, counts[-1], worked={"before": f"{place - 1}", "first": f"{counts[0]}"})


def _count_changed_rows(tokens: int, at: int, layers: int) -> list[int]:
    """In each of some untrained layers, if the token at this place is another one."""
    words = [f"w{place}" for place in range(tokens)]
    stack, keys = [random_heads(8, 1, 1, 8, seed) for seed in range(layers)], []
    for text in (words, [*words[:at], "another", *words[at + 1 :]]):
        x = draw_embeddings(tuple(text), 8, seed=0)
        caches = [empty_cache(x, layer) for layer in stack]
        reads = through(x, stack, caches, partial(read, rule=masks.causal)).reads
        keys.append([done.cache.key for done in reads])
    pairs = zip(*keys, strict=True)
    return [int(changed_rows(before, after, 1e-5).sum()) for before, after in pairs]


def kept_drafts(draw: Random) -> Prediction:
    """How often a drafted word is kept, in per cent."""
    draft, target = draw.choice([0.4, 0.5, 0.6, 0.8]), draw.choice([0.1, 0.2, 0.3])
    both = (torch.tensor([one, 1 - one]) for one in (draft, target))
    kept = round(100 * float(keep_probability(*both)[0]), 1)
    given = {"draft": write_percent(draft), "target": write_percent(target)}
    return Prediction(given, kept, tolerance=0.6, unit=PERCENT)
