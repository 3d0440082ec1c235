"""A score is the sum of what its sources give, and a weight falls without the largest of them."""

import functools
import random
from itertools import product
from typing import Any

import pytest
import torch
import transformers
from torch.testing import assert_close

from explainers.models import score_sources as sources
from explainers.models.attention_hook import install_hook, run_model
from explainers.models.load import RealModel
from explainers.models.registry import ModelError
from explainers.models.written_out import write_out
from tests.support.tiny_families import GROUPED, VOCABULARY, tiny
from workshop.models import removals_by_role

SIDES = QUERY_SIDE, KEY_SIDE = sources.QUERY_SIDE, sources.KEY_SIDE
LENGTH = 11
EXACT = 1e-10
SIZES = GROUPED | {"hidden_size": 54, "num_hidden_layers": 4, "head_dim": 8}
PLAIN = SIZES | {"hidden_size": 48}
EXPERTS = {"num_experts": 3, "num_experts_per_tok": 2, "experts_implementation": "eager"}
BIASES = {"attention_bias": True, "mlp_bias": True}
FAMILIES: dict[str, tuple[str, dict[str, Any]]] = {
    "Llama": ("Llama", SIZES),
    "biases everywhere": ("Llama", SIZES | BIASES),
    "Qwen2, biases": ("Qwen2", PLAIN),
    "Qwen3, QK-norm": ("Qwen3", SIZES),
    "OLMoE, QK-norm over all heads": ("Olmoe", PLAIN | EXPERTS),
    "StarCoder 2, LayerNorm": ("Starcoder2", PLAIN),
}


def make_model(family):
    """A tiny model whose weights are large enough for heads to choose between keys."""
    name, sizes = FAMILIES[family]
    config = getattr(transformers, f"{name}Config")(**sizes)
    model = getattr(transformers, f"{name}ForCausalLM")(config).double().eval()
    generator = torch.Generator().manual_seed(3)
    for name, weights in model.named_parameters():
        drawn = torch.randn(weights.shape, generator=generator).double()
        is_norm = "norm" in name and name.endswith("weight")
        scale = 1.7 / weights.shape[-1] ** 0.5 if weights.dim() > 1 else 1 / 3
        weights.data = is_norm + scale * drawn
    return put_inside(family, model)


def put_inside(family, model):
    """Our attention; no tokenizer, for token ids are drawn here."""
    install_hook(model)
    tokenizer: Any = None
    return RealModel(family, model, tokenizer, family, 0, None)


@functools.cache
def make_run(family):
    ids = torch.randint(3, VOCABULARY, (LENGTH,), generator=torch.Generator().manual_seed(5))
    real_model = make_model(family)
    return real_model, write_out(real_model, ids)


@pytest.fixture(scope="module")
def run():
    return make_run("Llama")[1]


def some_cells(run, least=0, count=40):
    """From this layer on."""
    layers, heads = range(least, len(run.layers)), range(len(run.layers[0].query))
    places = product(layers, heads, range(2, LENGTH), range(LENGTH))
    cells = [sources.Cell(*place) for place in places]
    return random.Random(7).sample([cell for cell in cells if cell.key <= cell.query], count)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_parts_sum_to_the_score_of_the_models_own_run(family):
    real_model, run = make_run(family)
    asked = {"record": lambda layer: layer.scores[0], "input_ids": run.ids[None]}
    own = run_model(real_model.model, **asked).layers
    for cell in some_cells(run):
        split = sources.split_score(run, cell)
        score = own[cell.layer][cell.head, cell.query, cell.key]
        assert abs(split.score - score) <= EXACT
        assert abs(float(split.compute_pairs(False).sum()) - score) <= EXACT
        assert len(split.sources) == len(split.query_side) == len(split.key_side)
        row = own[cell.layer][cell.head, cell.query, : cell.query + 1]
        assert_close(split.scores, row, atol=EXACT, rtol=0)
    for layer in range(len(run.layers)):  # and what was written sums to the stream
        parts = sources.gather_sources(run, layer, 5)
        assert_close(parts.sum(0), run.layers[layer].stream[5], atol=EXACT, rtol=0)
        has_biases = family not in {"Llama", "Qwen3, QK-norm", "OLMoE, QK-norm over all heads"}
        written = 1 + layer * (6 + 1) + has_biases
        assert len(parts) == len(sources.list_sources(run, layer)) == written


def test_a_centred_part_is_how_fast_the_logarithm_of_the_weight_falls(run):
    step = 1e-6
    for cell in some_cells(run, least=1, count=10):
        split = sources.split_score(run, cell)
        parts = (1 - split.weight) * split.compute_pairs(True).sum(1)
        for place in (0, 3, len(parts) - 1):
            less = split.scores - step * split.keys @ split.query_side[place]
            fall = split.scores.log_softmax(-1)[cell.key] - less.log_softmax(-1)[cell.key]
            assert_close(fall / step, parts[place], atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("side", SIDES)
def test_a_head_that_is_removed_is_a_head_whose_output_matrix_is_zero_there(side):
    """Held against the model's own modules, with the columns of one head at 0 for one position."""
    real_model, run = make_run("Llama")
    layer, head = 1, 2
    removed = {sources.Source("head", layer, head)}
    for cell in some_cells(run, least=2, count=10):
        position = cell.query if side == QUERY_SIDE else cell.key
        columns = slice(head * 8, head * 8 + 8)

        def silence(_module, given, position=position, columns=columns):
            (heads,) = given
            heads = heads.clone()
            heads[:, position, columns] = 0
            return (heads,)

        module = real_model.model.model.layers[layer].self_attn.o_proj
        handle = module.register_forward_pre_hook(silence)
        own = run_model(real_model.model, input_ids=run.ids[None]).layers
        handle.remove()
        expected = own[cell.layer].weights[0, cell.head, cell.query, cell.key].item()
        (measured,) = sources.rerun_changes(run, [sources.Change(cell, side, removed)])
        assert measured == pytest.approx(expected, abs=EXACT)


def test_many_changes_at_once_are_each_what_they_are_alone():
    """None removed is one of them: the weight of the run."""
    _model, run = make_run("Qwen3, QK-norm")
    generator = random.Random(2)
    for cell, side in zip(some_cells(run, count=20), SIDES * 10, strict=True):
        weight = run.layers[cell.layer].weights[cell.head, cell.query, cell.key].item()
        (removed,) = sources.remove_sources(run, sources.split_score(run, cell), side, [[]])
        assert removed == pytest.approx((weight,) * 3, abs=1e-6)
    changes = [
        sources.Change(cell, side, {*generator.sample(sources.list_sources(run, cell.layer), 2)})
        for cell in some_cells(run, least=1, count=12)
        for side in SIDES
    ]
    together = sources.rerun_changes(run, changes)
    alone = [sources.rerun_changes(run, [change])[0] for change in changes]
    assert together == pytest.approx(alone, abs=EXACT)
    assert len({round(weight, 6) for weight in together}) > 10


def test_the_sides_alone_rank_as_the_whole_split_does():
    _model, run = make_run("Qwen2, biases")
    for cell in some_cells(run, least=1, count=12):
        whole, sides = sources.split_score(run, cell), removals_by_role.split_sides(run, cell)
        assert_close(sides.scores, whole.scores, atol=EXACT, rtol=0)
        for asked in ((QUERY_SIDE,), (KEY_SIDE, False)):
            assert sources.rank_sources(sides, *asked) == sources.rank_sources(whole, *asked)
        parts = whole.compute_pairs(True).sum(1)
        assert_close(sides.compute_parts(QUERY_SIDE, True), parts, atol=EXACT, rtol=0)
        with pytest.raises(ValueError, match="not split"):
            sides.compute_pairs(True)
        for side, is_centred in product(SIDES, (False, True)):  # by what they give to the weight
            given = whole.compute_pairs(is_centred).sum(1 if side == QUERY_SIDE else 0)
            ranked = given[sources.rank_sources(whole, side, is_centred)].tolist()
            assert ranked == sorted(ranked, reverse=True)
        chosen = sources.rank_sources(whole, QUERY_SIDE)[:3]
        assert not {*chosen} & {*sources.draw_others(whole, chosen, 3, random.Random(11))}


def test_the_prediction_needs_no_model(run):
    split = sources.split_score(run, sources.Cell(3, 1, 8, 4))
    everything = range(len(split.sources))
    without = sources.predict_weight(split, QUERY_SIDE, everything)
    assert without == pytest.approx(1 / 9, abs=1e-12)
    scores = split.scores.clone()
    scores[4] = 0
    expected = scores.softmax(-1)[4].item()
    without = sources.predict_weight(split, KEY_SIDE, everything)
    assert without == pytest.approx(expected, abs=1e-12)


def test_another_family_and_a_key_that_is_not_seen_are_refused(run):
    with pytest.raises(ValueError, match="query 4 does not see key 5"):
        sources.split_score(run, sources.Cell(1, 0, 4, 5))
    for family, reason in (
        ("GPT-2", "no .*embed_tokens.*"),
        ("OLMo 2", "no input_layernorm"),
        ("Phi-3", "no k_proj, q_proj, v_proj"),
        ("Gemma 2 (soft-cap)", "misses its own scores by"),
        ("Mistral (window)", "misses its own scores by"),
    ):
        with pytest.raises(ModelError, match=reason):
            write_out(put_inside(family, tiny(family)), torch.arange(3, 14))
