"""Shared keys and values: the page prints and draws what attention computes."""

import math
import re
import time
from typing import Any

import pytest
import torch

from explainers.attention.grouped_query import average_kv_heads, grouped_query, share, share_wrongly
from explainers.attention.latent import latent_attention
from explainers.attention.multi_head import merge_heads, multi_head
from explainers.attention.positions import sinusoidal
from explainers.chapters.common import live_training
from explainers.chapters.shared_heads import uptraining_job
from explainers.chapters.shared_heads.dealt_heads import NUM_KV_HEADS
from explainers.chapters.shared_heads.kv_sharing import count_by_pattern, list_readers
from explainers.chapters.shared_heads.latent_heads import write_difference
from explainers.chapters.shared_heads.takeaway import (
    D_MODEL,
    HEAD_DIM,
    NUM_HEADS,
    ROPE_DIM,
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
from explainers.toys.layers import Configuration, TrainedHeads, load_heads, load_layer
from explainers.toys.sentence import SENTENCE
from explainers.toys.task import Batch, is_held_out, make_task
from explainers.toys.training import (
    TrainingRequest,
    TrainingStep,
    attend,
    draw_parts,
    draw_pool,
    list_losses,
)
from explainers.ui.session import UPTRAINING_JOB
from explainers.ui.text.numbers import bound_rounding
from tests.support.opening import ROOT, opened, pictures, widgets
from tests.support.reading import close, figure, hero, panels, said, values, words_below

PAGE = ROOT / "pages" / "09_shared_heads.py"
UNTRAINED = {"weights": "untrained"}
WEIGHTS, TRAINING, CACHE, MISTAKE, LATENT, ROWS = (
    {"deep": card} for card in ("weights", "uptraining", "cache", "mistake", "latent", "rows")
)
TOKENS = tuple(SENTENCE.split())
FULL = torch.ones(7, 7, dtype=torch.bool)
CAUSAL = FULL.tril()


def read_by_heads(seed):
    """X of the running sentence, with its positions."""
    return examples.draw_embeddings(TOKENS, 64, seed) + sinusoidal(7, 64, examples.LONGEST)


@pytest.mark.parametrize(("heads", "kv_heads"), [(4, 2), (8, 2), (8, 1), (2, 1)])
def test_weights_and_changes_are_what_sharing_computes(heads, kv_heads):
    visit = opened(
        PAGE, UNTRAINED | WEIGHTS | {"heads": str(heads), "kv_heads": str(kv_heads), "seed": "5"}
    )
    x, layer = read_by_heads(5), examples.random_heads(64, heads, heads, 64 // heads, 5)
    weights = grouped_query(x, average_kv_heads(layer, kv_heads), FULL).weights
    changed = weights - multi_head(x, layer, FULL).weights
    sent = panels(visit, "sharing")
    assert values(sent, *[f"head {n}" for n in range(heads)]) == close(weights)
    assert values(sent, *[f"change of head {n}" for n in range(heads)]) == close(changed)
    assert changed.abs().max() > 0.1
    largest = [sent[f"change of head {n}"]["formula"] for n in range(heads)]
    assert largest == [f"largest change {head.abs().max():.2f}" for head in changed]
    numbers = sum(w.numel() for w in vars(layer).values() if isinstance(w, torch.Tensor))
    saved = 2 * 64 * (heads - kv_heads) * (64 // heads)
    assert f"**{numbers - saved:,}** parameters, with MHA **{numbers:,}**" in said(visit)
    assert f"sharing saves **{saved:,}**" in said(visit)


@pytest.mark.parametrize(("heads", "kv_heads", "seed"), [(4, 1, 0), (4, 2, 1), (8, 2, 0)])
def test_heads_that_learned_to_share_are_drawn_beside_the_averaged_ones(heads, kv_heads, seed):
    link = {"heads": str(heads), "kv_heads": str(kv_heads), "seed": str(seed), "mask": "causal"}
    visit = opened(PAGE, link | WEIGHTS | {"weights": "trained"})
    of_own = Configuration(heads, heads, 64 // heads, "causal")
    sharing = load_layer(TOKENS, of_own._replace(num_kv_heads=kv_heads), seed)
    own = load_layer(TOKENS, of_own, seed)
    learned = grouped_query(sharing.x, sharing.heads, CAUSAL).weights
    after = grouped_query(own.x, average_kv_heads(own.heads, kv_heads), CAUSAL).weights
    sent = panels(visit, "sharing")
    assert values(sent, *[f"head {n}" for n in range(heads)]) == close(after)
    assert values(sent, *[f"learned head {n}" for n in range(heads)]) == close(learned)
    for head, row in enumerate(learned[:, 2].tolist()):
        found = f"announced → {TOKENS[row.index(max(row))]} {max(row):.2f}"
        assert sent[f"learned head {head}"]["formula"] == found
    badge = rf"related words, seed {seed} · [^·]* · KV heads averaged, the last ones trained so"
    assert re.search(badge, said(visit))


def test_only_what_was_averaged_is_called_so():
    at_random = opened(PAGE, UNTRAINED | WEIGHTS | {"kv_heads": "2"})
    assert "KV heads averaged" in said(at_random)
    assert "trained so" not in said(at_random)
    assert not any(name.startswith("learned") for name in panels(at_random, "sharing"))
    own = opened(PAGE, WEIGHTS | {"kv_heads": "4", "weights": "trained"})
    assert "averaged" not in " ".join(m.value for m in own.main.markdown if "badge" in m.value)
    assert not any(name.startswith("learned") for name in panels(own, "sharing"))


@pytest.mark.parametrize("kv_heads", [1, 2])
def test_what_to_try_is_true_of_heads_that_learned_to_share(kv_heads):
    """All together they read who and what, and averaged heads do not any more."""
    sharing = load_layer(TOKENS, Configuration(4, kv_heads, 16, "full"), 0)
    own = load_layer(TOKENS, Configuration(4, 4, 16, "full"), 0)
    ways = ((sharing.x, sharing.heads, True), (own.x, average_kv_heads(own.heads, kv_heads), False))
    for read, heads, finds_both in ways:
        largest = grouped_query(read, heads, FULL).weights[:, 2].amax(dim=0)
        found = {TOKENS[n] for n in largest.topk(2).indices}
        assert (found == {"CEO", "earnings"}) == finds_both


@pytest.mark.parametrize("heads", [1, 4])
def test_where_nothing_is_shared_nothing_is_said_to_change(heads):
    visit = opened(
        PAGE, UNTRAINED | WEIGHTS | {"heads": str(heads), "kv_heads": str(heads), "seed": "5"}
    )
    x, layer = read_by_heads(5), examples.random_heads(64, heads, heads, 64 // heads, 5)
    sent = panels(visit, "sharing")
    assert values(sent, *[f"head {n}" for n in range(heads)]) == close(
        multi_head(x, layer, FULL).weights
    )
    assert not any(name.startswith("change") for name in sent)
    assert "nothing is shared" in said(visit)
    assert f"{4 * 64 * 64:,}" in said(visit)
    assert "**0.00**" not in said(visit)
    assert ("MHA and MQA at once" in said(visit)) == (heads == 1)
    assert not re.findall(r"\b1 \w+(?: \w+)?heads\b", said(visit))
    trained = opened(PAGE, TRAINING | {"heads": str(heads), "kv_heads": str(heads)})
    assert "more query heads in" in said(trained) or heads > 1
    assert "nothing is averaged" in said(trained) or heads == 1


def test_what_is_fixed_below_the_choices_is_said():
    link = UNTRAINED | {"heads": "8", "kv_heads": "4", "mask": "full", "seed": "5"}
    fixed = f"{NUM_HEADS} query heads with d_k = {HEAD_DIM}, and the causal mask"
    assert fixed in said(opened(PAGE, link | CACHE))
    hidden = [(i, j) for i in range(7) for j in range(7) if j > i]
    names = {"latent": "MLA head", "repeat_interleave": "with repeat, head"}
    for (first, name), card in zip(names.items(), (LATENT, MISTAKE), strict=True):
        sent = panels(opened(PAGE, link | card), first)
        found = {key: p["values"] for key, p in sent.items() if name in key}
        assert len(found) == NUM_HEADS
        for drawn in found.values():
            assert [(i, j) for i in range(7) for j in range(7) if drawn[i][j] is None] == hidden


def test_who_shares_is_drawn():
    visit = opened(PAGE, UNTRAINED | WEIGHTS | {"heads": "8", "kv_heads": "2"})
    drawn = panels(visit, "sharing")["sharing"]
    assert drawn["values"] == [[1, 1, 1, 1, 0, 0, 0, 0], [0, 0, 0, 0, 1, 1, 1, 1]]
    assert (drawn["rows"], drawn["columns"]) == (["0", "1"], list("01234567"))


@pytest.mark.parametrize("heads", ["1", "2", "4", "8"])
def test_only_divisors_are_offered_and_chosen(heads):
    visit = opened(PAGE, UNTRAINED | {"heads": heads, "kv_heads": "8"})
    assert not visit.exception
    assert bool(visit.info) == (heads != "8"), "a link to KV heads that cannot be is told"
    sent = hero(visit)
    assert list(sent["layers"][heads]) == [str(n) for n in (1, 2, 4, 8) if int(heads) % n == 0]
    assert sent["choices"]["kv_heads"] in sent["layers"][heads]


@pytest.mark.parametrize(
    ("link", "keys"),
    [
        ({"heads": "3", "kv_heads": "3"}, {"heads", "kv_heads"}),
        ({"heads": "4", "kv_heads": "3"}, {"kv_heads"}),
        ({"heads": "2", "kv_heads": "8"}, {"kv_heads"}),
        ({"heads": "0", "kv_heads": "-1"}, {"heads", "kv_heads"}),
        ({"latent": "1e9", **LATENT}, {"latent"}),
        ({"latent": "0", **LATENT}, {"latent"}),
        ({"mask": "prefix of 4", **WEIGHTS}, {"mask"}),
        ({"dealing": "at random"}, {"dealing"}),
    ],
)
def test_impossible_heads_and_latents_are_corrected_and_said(link, keys):
    visit = opened(PAGE, {"seed": "7", "weights": "untrained"} | link)
    assert not visit.exception
    assert {re.findall(r"asks for (\w+) =", note.value)[0] for note in visit.info} == keys
    assert widgets(visit)["seed"].value == 7
    kept = {key: value for key, value in link.items() if key not in keys | {"deep"}}
    assert {key: hero(visit)["choices"][key] for key in kept} == kept


@pytest.mark.parametrize("text", ["one", SENTENCE])
def test_the_cache_is_what_the_keys_and_values_hold(text):
    tokens = tuple(text.split())
    x, mask = examples.draw_embeddings(tokens, 64, 0), torch.ones(len(tokens), len(tokens)).bool()
    for kv_heads, amount in zip((4, 2, 1), count_by_pattern(len(tokens)).values(), strict=True):
        run = grouped_query(x, examples.random_heads(64, 4, kv_heads, 16, 0), mask)
        assert amount == run.key.numel() + run.value.numel()
    study = UNTRAINED | CACHE | {"text": text, "predict": "true"}
    asking, answered = opened(PAGE, study), opened(PAGE, study | {"guess_cache": f"{amount}"})
    assert f"background[{amount}]" not in said(asking)
    assert f"With one KV head: :green-background[{amount}]" in said(answered).replace("**", "")


def test_the_running_sentence_needs_896_numbers_with_mha():
    assert list(count_by_pattern(7).values()) == [896, 448, 224]
    visit = opened(PAGE, UNTRAINED | LATENT | {"latent": "16"})
    assert "For this text: 168 instead of 896" in words_below(figure(visit, "latent"))


@pytest.mark.parametrize("chosen", [4, 64])
def test_every_latent_is_counted_drawn_and_absorbed(chosen):
    """What was sent for the latent that is chosen, and for those that a drag comes to."""
    visit = opened(PAGE, UNTRAINED | LATENT | {"latent": str(chosen), "seed": "5"})
    sent = figure(visit, "latent")
    sizes = [int(label) for label in sent["view_slider"]["labels"]]
    assert sizes[sent["view_slider"]["index"]] == chosen
    for place, latent_dim in enumerate(sizes):
        run = latent_attention(*make_latent_inputs(TOKENS, latent_dim, 5))
        is_here = latent_dim == chosen
        drawn = sent["panels"] if is_here else sent["views"][f"{place}"]["panels"]
        by_id = {panel["id"]: panel for panel in drawn}
        half_a_step = run.cached.latent.abs().max().item() / 65_534 + 1e-5
        assert values(by_id, "latent") == close(run.cached.latent, half_a_step)
        if is_here:  # the position does not depend on the latent
            assert values(by_id, "rotary key") == close(run.cached.rotary_key)
        assert values(by_id, *[f"MLA head {n}" for n in range(4)]) == close(run.weights)
        words = words_below(sent, None if is_here else place)
        kept = sum(part.numel() for part in run.cached)
        assert f"{latent_dim} + {ROPE_DIM} = **{kept // 7}** numbers" in words
        assert f"For this text: {kept:,} instead of 896" in words
        [difference] = re.findall(r"rounding \((?:less than )?([\d.]+)\)", words)
        assert 0 <= float(difference) < 1e-4
        both = re.findall(
            r"\*CEO\* have the score \*\*(\S+)\*\* written out and \*\*(\S+)\*\*", words
        )
        assert both == [(f"{run.scores[0, 2, 1]:.4f}",) * 2]


def test_the_mistake_changes_the_heads_that_read_another_groups_keys():
    visit = opened(PAGE, UNTRAINED | MISTAKE | {"seed": "5"})
    layer = examples.random_heads(D_MODEL, NUM_HEADS, NUM_KV_HEADS, HEAD_DIM, 5)
    run = grouped_query(read_by_heads(5), layer, CAUSAL)
    assert (list_readers(share, run), list_readers(share_wrongly, run)) == (
        [0, 0, 1, 1],
        [0, 1, 0, 1],
    )
    query, key, value = run.query, run.key[[0, 1, 0, 1]], run.value[[0, 1, 0, 1]]
    expected = torch.nn.functional.scaled_dot_product_attention(query, key, value, CAUSAL)
    assert torch.allclose(repeat_wrongly(run, CAUSAL).output, expected, atol=1e-5)
    output = merge_heads(expected) @ layer.w_output
    moved = (output - run.output).abs().max()
    assert f"In the layer's output they differ by up to **{moved:.2f}**" in said(visit)
    assert moved > 0.1
    sent = panels(visit, "repeat_interleave")
    changes = [max(map(abs, values(sent, f"with repeat, head {n}"))) for n in range(4)]
    assert changes[0] == changes[3] == 0
    assert min(changes[1:3]) > 0.1


def test_one_word_is_enough():
    visit = opened(PAGE, UNTRAINED | WEIGHTS | {"text": "CEO"})
    assert not visit.exception
    assert panels(visit, "sharing")["head 0"]["values"] == [[1]]


def button(visit, label):
    return next(b for b in visit.button if b.label.startswith(label))


def loss_after(visit, words):
    return float(re.findall(rf"{words}:\*\* loss \*\*([\d.]+)\*\*", said(visit))[0])


@pytest.mark.parametrize("kv_heads", [1, 2])
def test_averaging_costs_and_a_little_training_mends_it_sooner_than_a_fresh_start(kv_heads):
    visit = opened(
        PAGE, UNTRAINED | TRAINING | {"kv_heads": str(kv_heads), "averaged_mask": "causal"}
    )
    drawn = len(pictures(visit))
    before = loss_after(visit, "Trained, a KV head each")
    after = loss_after(visit, f"The same heads averaged to {kv_heads} KV heads?")
    untrained = loss_after(visit, "An untrained layer of that shape")
    assert before < 0.1 < 1 < after
    button(visit, "Train the averaged heads").click()
    visit.run()
    job = visit.session_state[UPTRAINING_JOB]
    ended = time.monotonic() + 60
    while not job.is_over and time.monotonic() < ended:
        time.sleep(0.05)
    visit.run()
    assert not visit.exception
    assert list_losses(job)[0] == pytest.approx(after, rel=0.2), (
        "it does not begin with the averages"
    )
    assert list_losses(job, 1)[0] == pytest.approx(untrained, rel=0.2), "nor that with random ones"
    mended = loss_after(visit, f"After {STEPS} more batches")
    beside = loss_after(visit, f"From random weights, after the same {STEPS} batches")
    assert mended < after / 5
    assert beside == pytest.approx(measure_held_out(job.result[1], "causal").loss, abs=0.006)
    assert mended < beside < untrained
    assert len(pictures(visit)) == drawn + 1
    for one in job.result:
        assert (one.layer.num_heads, one.layer.num_kv_heads) == (4, kv_heads)
    visit.session_state["kv_heads"] = "4"
    visit.run()
    assert len(pictures(visit)) == drawn, "the curve of another training"
    assert "nothing is averaged" in said(visit)


def test_the_curve_says_which_loss_is_of_which_sentences(monkeypatch):
    drawn: dict[str, Any] = {}
    monkeypatch.setattr(
        live_training, "show_chart", lambda build, rows, *_, **of: drawn.update(of, rows=rows)
    )
    visit = opened(PAGE, UNTRAINED | TRAINING | {"kv_heads": "2", "averaged_mask": "causal"})
    own = Configuration(4, 4, 16, "causal")
    request = TrainingRequest(own._replace(num_kv_heads=2), 0, TOKENS)
    job = uptraining_job.make_uptraining_job(request, own)
    job.reports += [TrainingStep(losses, None) for losses in [(), (3.5, 5.5), (2.25, 4.25)]]
    job.cancel()
    visit.session_state[UPTRAINING_JOB] = job
    assert not visit.run().exception
    averages, at_random, before = drawn["series"]
    assert "training batches" in averages
    assert "training batches" in at_random
    assert "unseen sentences" in before
    rows = drawn["rows"].groupby("series")["y"].apply(list).to_dict()
    unseen = compare_sharing(Configuration(4, 4, 16, "causal"), 2, 0)[0].loss
    assert rows == {averages: [3.5, 2.25], at_random: [5.5, 4.25], before: [unseen, unseen]}


@pytest.mark.parametrize(
    ("kv_heads", "verdict"),
    [(1, "worse than an untrained layer"), (2, "better than an untrained layer")],
)
def test_what_averaging_makes_of_trained_heads_is_counted(kv_heads, verdict):
    own, shared = Configuration(4, 4, 16, "full"), Configuration(4, kv_heads, 16, "full")
    text = said(visit := opened(PAGE, UNTRAINED | TRAINING | {"kv_heads": str(kv_heads)}))
    assert verdict in text
    task = make_task(Batch(*(part[:TESTS] for part in draw_pool(True, "en"))), "full")
    fresh_one = TrainedHeads.from_parts(ENGLISH.words, draw_parts(shared, 0), 16)
    told = re.findall(r"name \*\*([\d.]+)\*\* words", text)
    for known, number in ((average_shipped_heads(own, kv_heads, 0), told[0]), (fresh_one, None)):
        named = known.score_words(attend(known, task.words, task.mask).output)
        wrong = [
            ((row > 0) & (asked == 0)).sum().item()
            for rows, answers, length in zip(named, task.targets, task.lengths, strict=True)
            for row, asked in zip(rows[:length], answers[:length], strict=True)
        ]
        found = measure_held_out(known, "full")
        assert found.wrong == pytest.approx(sum(wrong) / len(wrong))
        assert number in (None, f"{found.wrong:.2f}")
    gap = abs(
        measure_held_out(average_shipped_heads(own, kv_heads, 0), "full").loss
        - measure_held_out(fresh_one, "full").loss
    )
    assert f"{gap:.2f}" in text
    assert gap > 0.01
    known, kept = load_heads(own, 0, "en"), load_heads(shared, 0, "en")
    assert kept.layer.num_kv_heads == kv_heads
    printed = {
        "Trained, a KV head each": known,
        f"averaged to {kv_heads} KV heads?": average_shipped_heads(own, kv_heads, 0),
        "An untrained layer of that shape": fresh_one,
        "trained in that shape from the start": kept,
    }
    losses = {words: measure_held_out(one, "full").loss for words, one in printed.items()}
    assert {words: loss_after(visit, words) for words in printed} == pytest.approx(losses, abs=6e-4)
    assert losses["An untrained layer of that shape"] > 10 * losses["Trained, a KV head each"]
    assert (
        losses["trained in that shape from the start"]
        < losses["An untrained layer of that shape"] / 10
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


@pytest.mark.parametrize("weights", ["untrained", "trained"])
def test_what_was_not_trained_is_replaced_and_said(weights):
    asked = {"mask": "prefix of 3", "averaged_mask": "prefix of 3"}
    link = {**asked, "seed": "3", "weights": weights, "kv_heads": "2"}
    visit = opened(PAGE, UNTRAINED | link | TRAINING)
    assert not visit.exception
    assert not visit.info
    assert widgets(visit)["averaged_mask"].value == "prefix of 3", (
        "what was chosen elsewhere is lost"
    )
    told = visit.caption[-1].value
    assert "no mask prefix of 3" in told
    assert "no seed 3" in told
    shown = compare_sharing(Configuration(4, 4, 16, "full"), 2, 0)
    assert loss_after(visit, "An untrained layer of that shape") == pytest.approx(
        shown[2].loss, abs=6e-4
    )
    blank = [(i, j) for i in range(7) for j in range(7) if j > max(i, 2)]
    drawn = panels(opened(PAGE, UNTRAINED | link | WEIGHTS), "sharing")["head 0"]["values"]
    hidden = [(i, j) for i in range(7) for j in range(7) if drawn[i][j] is None]
    assert hidden == (blank if weights == "untrained" else [])


def test_what_was_trained_needs_no_excuse():
    visit = opened(
        PAGE, UNTRAINED | TRAINING | {"seed": "1", "averaged_mask": "causal", "kv_heads": "2"}
    )
    assert not any("among them" in caption.value for caption in visit.caption)


def test_what_is_no_number_is_not_called_rounding():
    run = latent_attention(*make_latent_inputs(TOKENS, 4, 5))
    assert write_difference(run, run) == "0"
    for name in ("scores", "weights", "per_head", "output"):
        spoiled = getattr(run, name).clone()
        spoiled[..., -1, -1] = math.nan
        with pytest.raises(ValueError, match="NaN"):
            write_difference(run, run._replace(**{name: spoiled}))


@pytest.mark.parametrize(
    ("difference", "told"),
    [
        (0.0, "0"),
        (7e-7, "less than 0.000001"),
        (1e-6, "less than 0.00001"),
        (0.02, "less than 0.1"),
        (3.0, "less than 10"),
    ],
)
def test_rounding_is_told_without_exponents(difference, told):
    assert bound_rounding(difference) == told


@pytest.mark.parametrize(
    ("width", "kept", "waiting"), [("2", 3, "Friday"), ("4", 1, "earnings on Friday")]
)
def test_words_that_share_a_row_are_drawn_with_their_weights(width, kept, waiting):
    visit = opened(PAGE, ROWS | {"row_width": width, "predict": "false"})
    found = panels(visit, "rows")
    weights = torch.tensor(values(found, "weights")).view(kept, int(width), -1)
    rows = torch.tensor(values(found, "rows")).view(7, -1)[: kept * int(width)]
    assert weights.sum(dim=1).flatten().tolist() == close(torch.ones(kept, rows.shape[1]), 1e-3)
    merged = (weights * rows.view_as(weights)).sum(dim=1)
    assert values(found, "merged") == close(merged, 1e-3)
    assert f"Waiting: ` {waiting} `." in said(visit)
