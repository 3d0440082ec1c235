"""Shared keys and values: drawn as attention computes them; averaged heads cost, training mends."""

import math
import re

import pytest
import torch

from explainers.attention.grouped_query import average_kv_heads, grouped_query, share, share_wrongly
from explainers.attention.latent import latent_attention
from explainers.attention.multi_head import multi_head
from explainers.attention.positions import sinusoidal
from explainers.attention.scaled_dot_product import attention
from explainers.chapters.shared_heads import uptraining_job
from explainers.chapters.shared_heads.dealt_heads import NUM_KV_HEADS
from explainers.chapters.shared_heads.hero import GROUPS, TURN, compute_numbers
from explainers.chapters.shared_heads.kv_sharing import count_by_pattern, list_readers
from explainers.chapters.shared_heads.latent_heads import write_difference
from explainers.chapters.shared_heads.takeaway import (
    D_MODEL,
    HEAD_DIM,
    NUM_HEADS,
    make_latent_inputs,
    repeat_wrongly,
)
from explainers.chapters.shared_heads.uptraining_job import (
    STEPS,
    TESTS,
    average_shipped_heads,
    compare_sharing,
    measure_held_out,
)
from explainers.toys import examples
from explainers.toys.grammar import ENGLISH
from explainers.toys.layers import NUM_HEADS as OFFERED_HEADS
from explainers.toys.layers import Configuration, list_kv_heads, load_heads, load_layer
from explainers.toys.sentence import SENTENCE
from explainers.toys.task import Batch, is_held_out, make_task
from explainers.toys.training import attend, draw_pool, list_losses
from explainers.ui.session import UPTRAINING_JOB
from explainers.ui.text.numbers import bound_rounding
from tests.support.opening import ROOT, opened, pictures, widgets
from tests.support.reading import close, hero, panels, said, values
from tests.support.waiting import over

PAGE = ROOT / "pages" / "09_shared_heads.py"
UNTRAINED = {"weights": "untrained"}
WEIGHTS, TRAINING, LATENT, MISTAKE = (
    {"deep": card} for card in ("weights", "uptraining", "latent", "mistake")
)
TOKENS = tuple(SENTENCE.split())
OTHERS = ("On", "Sunday", "the", "coach", "proudly", "praised", "young", "fans")
FULL = torch.ones(7, 7, dtype=torch.bool)
CAUSAL = FULL.tril()
OWN = Configuration(4, 4, 16, "causal")


def read_by_heads(seed):
    """X of the running sentence, with its positions."""
    return examples.draw_embeddings(TOKENS, 64, seed) + sinusoidal(7, 64, examples.LONGEST)


def close_to(numbers, expected):
    torch.testing.assert_close(torch.tensor(numbers), expected.cpu(), atol=1e-4, rtol=0)


@pytest.mark.parametrize("heads", OFFERED_HEADS)
def test_the_picture_has_torchs_weights_and_what_is_stored(heads):
    sent = compute_numbers(OTHERS)["layers"][str(heads)]
    assert list(sent) == [str(kv_heads) for kv_heads in list_kv_heads(heads)]
    for kv_heads in list_kv_heads(heads):
        layer = load_layer(OTHERS, Configuration(heads, kv_heads, 64 // heads, "full"), 0)
        run = grouped_query(layer.x, layer.heads, layer.mask)
        ways, group = sent[str(kv_heads)], heads // kv_heads
        close_to(ways[GROUPS]["weights"], run.weights)
        assert ways[GROUPS]["read"] == [head // group for head in range(heads)]
        in_turn = [head % kv_heads for head in range(heads)]
        assert (TURN in ways) == (in_turn != ways[GROUPS]["read"])
        if TURN in ways:
            key, value = (share_wrongly(part, group) for part in (run.key, run.value))
            close_to(ways[TURN]["weights"], attention(run.query, key, value, layer.mask).weights)
            assert ways[TURN]["read"] == in_turn
        stored = (run.key.numel() + run.value.numel()) // len(OTHERS)
        assert {way["stored"] for way in ways.values()} == {stored}


@pytest.mark.parametrize("kv_heads", [1, 2])
def test_all_together_heads_that_learned_to_share_read_both_words_and_averaged_ones_do_not(
    kv_heads,
):
    sharing = load_layer(TOKENS, Configuration(4, kv_heads, 16, "full"), 0)
    own = load_layer(TOKENS, Configuration(4, 4, 16, "full"), 0)
    ways = ((sharing.x, sharing.heads, True), (own.x, average_kv_heads(own.heads, kv_heads), False))
    for read, heads, finds_both in ways:
        largest = grouped_query(read, heads, FULL).weights[:, 2].amax(dim=0)
        found = {TOKENS[n] for n in largest.topk(2).indices}
        assert (found == {"CEO", "earnings"}) == finds_both


@pytest.mark.parametrize(("heads", "kv_heads"), [(8, 2), (4, 4), (1, 1)])
def test_weights_changes_and_sizes_are_what_sharing_computes(heads, kv_heads):
    link = {"heads": f"{heads}", "kv_heads": f"{kv_heads}", "seed": "5"}
    visit = opened(PAGE, UNTRAINED | WEIGHTS | link)
    x, layer = read_by_heads(5), examples.random_heads(64, heads, heads, 64 // heads, 5)
    weights = grouped_query(x, average_kv_heads(layer, kv_heads), FULL).weights
    changed = weights - multi_head(x, layer, FULL).weights
    sent, each = panels(visit, "sharing"), range(heads)
    assert values(sent, *[f"head {n}" for n in each]) == close(weights)
    numbers = 4 * 64 * 64
    if heads == kv_heads:
        assert not any(name.startswith("change") for name in sent)
        assert "nothing is shared" in said(visit)
        assert "**0.00**" not in said(visit)
        assert f"{numbers:,}" in said(visit)
        assert ("MHA and MQA at once" in said(visit)) == (heads == 1)
        return
    assert values(sent, *[f"change of head {n}" for n in each]) == close(changed)
    saved = 2 * 64 * (heads - kv_heads) * (64 // heads)
    assert f"**{numbers - saved:,}** parameters, with MHA **{numbers:,}**" in said(visit)
    assert "KV heads averaged" in said(visit)
    assert "trained so" not in said(visit)


@pytest.mark.parametrize(
    ("link", "keys", "shown"),
    [
        ({"heads": "4", "kv_heads": "8"}, {"kv_heads"}, ("4", "4")),
        ({"heads": "4", "kv_heads": "3"}, {"kv_heads"}, ("4", "2")),
        ({"heads": "1", "kv_heads": "8"}, {"kv_heads"}, ("1", "1")),
        ({"heads": "0", "kv_heads": "-1"}, {"heads", "kv_heads"}, ("4", "2")),
        ({"latent": "1e9", **LATENT}, {"latent"}, ("4", "2")),
        ({"mask": "prefix of 4", **WEIGHTS}, {"mask"}, ("4", "2")),
        ({"dealing": "at random"}, {"dealing"}, ("4", "2")),
    ],
)
def test_impossible_heads_and_latents_are_corrected_and_said(link, keys, shown):
    visit = opened(PAGE, {"seed": "7", "weights": "untrained"} | link)
    assert not visit.exception
    assert {re.findall(r"asks for (\w+) =", note.value)[0] for note in visit.info} == keys
    choices = hero(visit)["choices"]
    assert (choices["heads"], choices["kv_heads"]) == shown
    assert widgets(visit)["seed"].value == 7


@pytest.mark.parametrize("tokens", [TOKENS, ("one",)])
def test_the_cache_is_what_the_keys_and_values_hold(tokens):
    x, mask = examples.draw_embeddings(tokens, 64, 0), torch.ones(len(tokens), len(tokens)).bool()
    for kv_heads, amount in zip((4, 2, 1), count_by_pattern(len(tokens)).values(), strict=True):
        run = grouped_query(x, examples.random_heads(64, 4, kv_heads, 16, 0), mask)
        assert amount == run.key.numel() + run.value.numel()
    kept = [part.numel() for part in latent_attention(*make_latent_inputs(("one",), 16, 0)).cached]
    sent = compute_numbers(tokens)["latent"]
    assert [sent["latent"], sent["rope"]] == kept
    assert sent["stored"] == sum(kept)


def test_the_mistake_is_torchs_attention_to_another_groups_keys():
    layer = examples.random_heads(D_MODEL, NUM_HEADS, NUM_KV_HEADS, HEAD_DIM, 5)
    run = grouped_query(read_by_heads(5), layer, CAUSAL)
    assert list_readers(share, run) == [0, 0, 1, 1]
    assert list_readers(share_wrongly, run) == [0, 1, 0, 1]
    query, key, value = run.query, run.key[[0, 1, 0, 1]], run.value[[0, 1, 0, 1]]
    expected = torch.nn.functional.scaled_dot_product_attention(query, key, value, CAUSAL)
    assert torch.allclose(repeat_wrongly(run, CAUSAL).output, expected, atol=1e-5)


def loss_after(visit, words):
    return float(re.findall(rf"{words}:\*\* loss \*\*([\d.]+)\*\*", said(visit))[0])


def test_averaging_costs_and_a_little_training_mends_it_sooner_than_a_fresh_start():
    link = {"kv_heads": "2", "averaged_mask": "causal"}
    visit = opened(PAGE, UNTRAINED | TRAINING | link)
    drawn = len(pictures(visit))
    before = loss_after(visit, "Trained, a KV head each")
    after = loss_after(visit, "The same heads averaged to 2 KV heads?")
    untrained = loss_after(visit, "An untrained layer of that shape")
    assert before < 0.1 < 1 < after
    next(b for b in visit.button if b.label.startswith("Train the averaged heads")).click().run()
    job = over(visit.session_state[UPTRAINING_JOB])
    assert not visit.run().exception
    assert list_losses(job)[0] == pytest.approx(after, rel=0.2), "it begins with the averages"
    assert list_losses(job, 1)[0] == pytest.approx(untrained, rel=0.2), "and that with random ones"
    mended = loss_after(visit, f"After {STEPS} more batches")
    beside = loss_after(visit, f"From random weights, after the same {STEPS} batches")
    assert mended < after / 5
    assert beside == pytest.approx(measure_held_out(job.result[1], "causal").loss, abs=0.006)
    assert mended < beside < untrained
    assert [one.layer.num_kv_heads for one in job.result] == [2, 2]
    assert len(pictures(visit)) == drawn + 1
    visit.session_state["kv_heads"] = "4"
    assert len(pictures(visit.run())) == drawn, "the curve of another training"
    assert "nothing is averaged" in said(visit)


@pytest.mark.parametrize(("kv_heads", "verdict"), [(1, "worse than an"), (2, "better than an")])
def test_what_averaging_makes_of_trained_heads_is_counted(kv_heads, verdict):
    own = OWN._replace(rule="full")
    averaged = average_shipped_heads(own, kv_heads, 0)
    task = make_task(Batch(*(part[:TESTS] for part in draw_pool(True, "en"))), "full")
    named = averaged.score_words(attend(averaged, task.words, task.mask).output)
    wrong = [
        ((row > 0) & (asked == 0)).sum().item()
        for rows, answers, length in zip(named, task.targets, task.lengths, strict=True)
        for row, asked in zip(rows[:length], answers[:length], strict=True)
    ]
    found = measure_held_out(averaged, "full")
    assert found.wrong == pytest.approx(sum(wrong) / len(wrong))
    visit = opened(PAGE, UNTRAINED | TRAINING | {"kv_heads": f"{kv_heads}"})
    assert f"name **{found.wrong:.2f}** words" in said(visit)
    assert verdict in said(visit)
    _own, after, fresh, from_start = compare_sharing(own, kv_heads, 0)
    assert after == found
    assert (after.loss > fresh.loss) == (kv_heads == 1)
    assert loss_after(visit, "trained in that shape from the start") < fresh.loss / 10
    assert from_start == measure_held_out(
        load_heads(own._replace(num_kv_heads=kv_heads), 0, "en"), "full"
    )


def test_losses_are_of_sentences_that_nobody_trained_on(monkeypatch):
    seen = []

    def watched(some, rule):
        seen.append(some)
        return make_task(some, rule)

    monkeypatch.setattr(uptraining_job, "make_task", watched)
    measure_held_out(load_heads(Configuration(2, 1, 4, "causal"), 0, "en"), "causal")
    [some] = seen
    assert len(some.words) == TESTS
    for words, length in zip(some.words, some.lengths, strict=True):
        first, *others = (ENGLISH.words[n] for n in words[:length])
        assert is_held_out((first.capitalize(), *others))


def test_what_was_not_trained_is_replaced_and_said():
    link = {"averaged_mask": "prefix of 3", "seed": "3", "weights": "untrained", "kv_heads": "2"}
    visit = opened(PAGE, link | TRAINING)
    assert not visit.info
    kept = widgets(visit)["averaged_mask"].value
    assert kept == "prefix of 3", "what was chosen elsewhere is lost"
    assert "no mask prefix of 3" in visit.caption[-1].value
    assert "no seed 3" in visit.caption[-1].value
    shown = compare_sharing(OWN._replace(rule="full"), 2, 0)[2].loss
    assert loss_after(visit, "An untrained layer of that shape") == pytest.approx(shown, abs=6e-4)
    trained = opened(PAGE, TRAINING | {"seed": "1", "averaged_mask": "causal", "kv_heads": "2"})
    assert not any("among them" in caption.value for caption in trained.caption)


def test_what_is_no_number_is_not_called_rounding():
    run = latent_attention(*make_latent_inputs(TOKENS, 4, 5))
    assert write_difference(run, run) == "0"
    for name in ("scores", "weights", "per_head", "output"):
        spoiled = getattr(run, name).clone()
        spoiled[..., -1, -1] = math.nan
        with pytest.raises(ValueError, match="NaN"):
            write_difference(run, run._replace(**{name: spoiled}))


def test_rounding_is_told_without_exponents():
    told = {7e-7: "less than 0.000001", 1e-6: "less than 0.00001", 0.02: "less than 0.1"}
    told |= {0.0: "0", 3.0: "less than 10"}
    assert {difference: bound_rounding(difference) for difference in told} == told
