"""A small Llama layer by layer: parts that sum, heads replaced, prompts patched."""

import math

import pytest
import torch
from torch.testing import assert_close

from explainers.messages import get_message
from explainers.models import layer_by_layer
from explainers.models import replaced_heads as replaced
from explainers.models.attention_hook import run_model
from explainers.models.changes import AblatedHeads, compute_log_probabilities, compute_losses
from explainers.models.layer_by_layer import find_decoder, go_on, read_stream
from explainers.models.load import RealModel
from explainers.models.registry import ModelError
from tests.support.tiny_families import tiny_inside
from tests.support.tiny_tokenizer import tokenizer_of
from workshop.models import measure_ablations

TEXTS, TOKENS = 3, 7
PROMPT = replaced.Pair("w11 w12 w13 w14", "w11 w22 w13 w14", "w30", "w31")


def small(family="Llama", dtype=torch.float64):
    return RealModel(family, tiny_inside(family, dtype), tokenizer_of(), family, 0, 64)


def texts(seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(4, 53, (TEXTS, TOKENS), generator=generator)


@pytest.mark.parametrize("family", ["Llama", "Qwen3"])
def test_going_on_from_a_layer_is_the_model(family):
    loaded = small(family)
    decoder = find_decoder(loaded)
    stream = read_stream(decoder, texts())
    own = run_model(loaded.model, input_ids=texts()).output.logits
    assert_close(decoder.compute_logits(stream.end), own)
    for layer in range(3):
        same = go_on(decoder, stream, layer, stream.heads[layer])
        assert_close(same, stream.end)


def test_a_head_of_zeros_is_a_head_switched_off():
    loaded = small()
    decoder = find_decoder(loaded)
    baseline = measure_ablations.read_baseline(decoder, texts())
    off = [AblatedHeads(heads=frozenset({(1, 4)}))]
    before, after = (
        compute_losses(compute_log_probabilities(loaded, texts(), changes), texts()).mean(-1)
        for changes in ([], off)
    )
    found = replaced.measure_head(decoder, baseline, (1, 4), replaced.ZERO)
    assert_close(found.float(), after - before, atol=1e-5, rtol=1e-4)
    assert found.abs().max() > 1e-4


def exact():
    """A small Llama whose last norm is exact, its decoder, and the stream of one text.

    Llama's own norm computes in 32 bits, whatever the model's are.
    """
    loaded = small()
    own = loaded.model.model.norm
    norm = torch.nn.RMSNorm(own.weight.shape, eps=own.variance_epsilon)
    norm.weight = own.weight
    loaded.model.model.norm = norm
    decoder = find_decoder(loaded)
    return loaded, decoder, read_stream(decoder, texts()[:1])


def test_heads_mlps_and_embedding_sum_to_the_lead():
    loaded, decoder, stream = exact()
    found = layer_by_layer.compute_direct_effects(decoder, stream, (30, 31))
    assert found.heads.shape == (3, 6)
    total = float(found.heads.sum() + found.mlps.sum()) + found.embedding
    logits = decoder.compute_logits(stream.end)[0, -1].detach()
    assert total == pytest.approx(float(logits[30] - logits[31]), abs=1e-12)
    assert found.lead == pytest.approx(total, abs=1e-12)
    layer, heads = loaded.model.model.layers[2], stream.heads[2].flatten(2)
    after_attention = stream.before[2] + layer.self_attn.o_proj(heads)
    mlp = layer.mlp(layer.post_attention_layernorm(after_attention))[0, -1]
    direction = loaded.model.lm_head.weight[30] - loaded.model.lm_head.weight[31]
    frozen = loaded.model.model.norm(stream.end)[0, -1] / stream.end[0, -1]
    assert float(found.mlps[2]) == pytest.approx(float(mlp @ (direction * frozen)), abs=1e-6)
    for number in range(3):  # what a head writes from each token
        writing = layer_by_layer.compute_writing(decoder, stream, number, (30, 31))
        assert writing.weights.shape == (6, TOKENS)
        assert_close(writing.added.sum(dim=-1), found.heads[number], atol=1e-10, rtol=0)


def test_the_promoted_tokens_are_those_of_values_output_matrix_and_unembedding():
    """Written out for one head and one token, from the model's own matrices."""
    loaded, decoder, stream = exact()
    norm = loaded.model.model.norm
    found = layer_by_layer.compute_writing(decoder, stream, 1, (30, 31))
    layer, head, key = loaded.model.model.layers[1], 4, 2
    width = layer.self_attn.head_dim
    with torch.no_grad():
        value = layer.self_attn.v_proj(layer.input_layernorm(stream.before[1]))[0, key]
        group = decoder.num_heads * width // len(value)
        own = value.view(-1, width)[head // group]
        written = layer.self_attn.o_proj.weight[:, head * width : (head + 1) * width] @ own
        end = stream.end[0, -1]
        logits = loaded.model.lm_head.weight @ (written * norm(end) / end)
        logits -= logits.mean()
    assert_close(found.logits[head, key], logits[found.ids[head, key]], atol=1e-7, rtol=1e-6)
    ordered = logits.argsort(descending=True)
    assert found.ids[head, key].tolist() == [*ordered[:10].tolist(), *ordered[-10:].tolist()]


def test_the_mean_leaves_the_first_token_out_and_resample_takes_the_next_text():
    decoder = find_decoder(small())
    baseline = measure_ablations.read_baseline(decoder, texts())
    own = baseline.stream.heads[1]
    assert_close(baseline.means[1][5], own[:, 1:, 5].reshape(-1, own.shape[-1]).mean(0))
    swapped = own.clone()
    swapped[:, :, 5] = own[[1, 2, 0], :, 5]
    end = go_on(decoder, baseline.stream, 1, swapped)
    losses = compute_losses(decoder.compute_logits(end).log_softmax(-1), texts()).mean(-1)
    found = replaced.measure_head(decoder, baseline, (1, 5), replaced.RESAMPLE)
    assert_close(found, losses.detach() - baseline.losses)


def test_a_mean_is_clear_from_two_standard_errors_on():
    found = replaced.summarise(torch.tensor([1.0, 2.0, 3.0, 6.0]))
    assert found.mean == 3.0
    assert found.error == pytest.approx(math.sqrt(14 / 3) / 2)
    assert found.is_clear
    assert not replaced.Estimate(1.9, 1.0).is_clear
    assert replaced.Estimate(-2.0, 1.0).is_clear


def clear_pair():
    """A small model whose two prompts differ clearly: the answers' rows are made to."""
    loaded = small()
    decoder = find_decoder(loaded)
    ids = (torch.tensor([loaded.tokenizer(one)["input_ids"]]) for one in PROMPT[:2])
    first, second = (
        loaded.model.model.norm(read_stream(decoder, one).end)[0, -1].detach() for one in ids
    )
    rows = loaded.model.lm_head.weight.data
    rows[31] = 0.0
    rows[30] = first / first.pow(2).sum() - second / second.pow(2).sum()
    rows[30] *= 6 / min(rows[30] @ first, -rows[30] @ second)
    return loaded, decoder, replaced.read_pair(loaded, decoder, PROMPT)


def test_all_heads_of_a_pair_are_exchanged_one_by_one():
    _loaded, decoder, read = clear_pair()
    found = replaced.patch_heads(decoder, read, read.other)
    assert found.shape == (3, 6)
    nothing = replaced.patch_heads(decoder, read, read.stream)
    assert_close(nothing, torch.zeros(3, 6, dtype=nothing.dtype), atol=1e-9, rtol=0)
    outputs = read.stream.heads[1].clone()
    outputs[:, :, 3] = read.other.heads[1][:, :, 3]
    logits = decoder.compute_logits(go_on(decoder, read.stream, 1, outputs))[0, -1]
    clean, other = read.leads
    effect = (float(logits[30] - logits[31]) - clean) / (other - clean)
    assert float(found[1, 3]) == pytest.approx(effect, abs=1e-9)


def test_a_patching_has_a_null_of_each_head():
    """With other words where the prompts differ only, the same for a seed."""
    loaded, decoder, read = clear_pair()
    drawn, again = (replaced.draw_null(loaded, read, seed=3) for _ in range(2))
    assert len(drawn) == replaced.DRAWS
    assert all(map(torch.equal, drawn, again))
    for ids in drawn:
        assert ids[0, read.changed].tolist() != read.stream.ids[0, read.changed].tolist()
        assert torch.equal(ids[0, ~read.changed], read.stream.ids[0, ~read.changed])
    layers: list[int] = []
    found = replaced.patch_pair(loaded, decoder, PROMPT, report=layers.append)
    assert found.null.shape == (replaced.DRAWS, 3, 6)
    assert (found.null >= 0).all()
    assert len(layers) == 3 * (1 + replaced.DRAWS)
    assert torch.equal(found.passes, (found.effects.abs() > found.null).all(dim=0))


@pytest.mark.parametrize(
    ("pair", "reason"),
    [
        (PROMPT._replace(other="w11 w12 w13"), "4 and 3 tokens"),
        (PROMPT._replace(answer="w30 w32"), "has 2"),
        (PROMPT._replace(answer=" "), "must be one token"),
        (PROMPT._replace(prompt="w5 " * 33, other="w6 " * 33), "32 tokens"),
        (PROMPT._replace(other=PROMPT.prompt), "noise looks large"),
    ],
)
def test_a_pair_that_cannot_be_compared_is_refused_with_the_reason(pair, reason):
    loaded, decoder, _read = clear_pair()
    with pytest.raises(ModelError) as refused:
        replaced.read_pair(loaded, decoder, pair)
    assert reason in get_message(refused.value)
    replaced.refuse_small_leads(3.0, -3.0)
    for lead, other in ((2.99, -9.0), (9.0, -2.99), (9.0, 4.0), (-4.0, -9.0)):
        with pytest.raises(ModelError):
            replaced.refuse_small_leads(lead, other)


@pytest.mark.parametrize("family", ["GPT-2", "Gemma 2 (soft-cap)"])
def test_a_model_that_is_built_otherwise_is_refused(family):
    loaded = small(family, torch.float32)
    with pytest.raises(ModelError):
        read_stream(find_decoder(loaded), texts())
