"""Does it matter: what is shown is what was measured, and a sample is measured again."""

from typing import Any

import pytest
import torch
from torch.testing import assert_close

from explainers.chapters.does_it_matter import three_ways, what_it_writes
from explainers.chapters.does_it_matter.hero import compute_numbers, find_largest, read_shown
from explainers.models.head_ablation import KINDS, MEAN, ZERO
from explainers.models.layer_by_layer import find_decoder, go_on, read_stream
from explainers.models.output_circuit import compute_writing
from explainers.models.patching import DRAWS, Patching, draw_null, read_pair
from explainers.models.shipped_ablations import (
    MODEL,
    PAIRS,
    SAME,
    SAMPLE,
    find_difference,
    measure_sample,
    read_shipped_ablations,
)
from explainers.models.shipped_writings import PAIR, read_shipped_writings
from explainers.models.shipped_writings import SAME as SAME_LOGITS
from explainers.models.shipped_writings import find_difference as find_difference_of_writings
from tests.support.opening import PAGES, opened
from tests.support.reading import hero, said

PAGE = next(page for page in PAGES if page.stem == "21_does_it_matter")


@pytest.fixture(scope="module")
def shown():
    found = read_shown()
    assert found, "the numbers come with the app"
    return found


@pytest.mark.nightly("a pair that is patched again, below, runs the same code daily")
def test_a_sample_of_what_was_measured_is_measured_again(smollm2):
    kept = read_shipped_ablations(MODEL)
    assert kept
    assert find_difference(kept.ablations, measure_sample(smollm2, SAMPLE[1:]), SAMPLE[1:]) < SAME


def test_the_running_pair_is_patched_again(smollm2, shown):
    decoder = find_decoder(smollm2)
    read = read_pair(smollm2, decoder, PAIRS["capital"])
    assert read.leads == pytest.approx(shown.patching.leads, abs=1e-2)
    layer, head = find_largest(shown.patching)[0]
    outputs = read.stream.heads[layer].clone()
    outputs[:, :, head] = read.other.heads[layer][:, :, head]
    logits = decoder.compute_logits(go_on(decoder, read.stream, layer, outputs))[0, -1].detach()
    first, second = (float(logits[one]) for one in read.answers)
    effect = (first - second - read.leads[0]) / (read.leads[1] - read.leads[0])
    assert effect == pytest.approx(float(shown.patching.effects[layer, head]), abs=5e-3)


@pytest.mark.parametrize(
    "draws", [2, pytest.param(DRAWS, marks=pytest.mark.nightly("the same, for every draw"))]
)
def test_random_words_move_a_head_as_far_as_was_kept(smollm2, shown, draws):
    patching, place = shown.patching, (10, 6)
    decoder = find_decoder(smollm2)
    read = read_pair(smollm2, decoder, PAIRS["capital"])
    clean, other = read.leads
    moved = []
    for ids in draw_null(smollm2, read, 0)[:draws]:
        source = read_stream(decoder, ids)
        outputs = read.stream.heads[place[0]].clone()
        outputs[:, :, place[1]] = source.heads[place[0]][:, :, place[1]]
        logits = decoder.compute_logits(go_on(decoder, read.stream, place[0], outputs))[
            0, -1
        ].detach()
        first, second = (float(logits[one]) for one in read.answers)
        moved.append(abs((first - second - clean) / (other - clean)))
    assert moved == pytest.approx(patching.null[:draws, *place].tolist(), abs=5e-3)


def test_each_head_has_a_threshold_of_its_own(shown):
    """Random words move L10.H6 as far as the other prompt does: above the usual, not its own."""
    patching, place = shown.patching, (10, 6)
    assert patching.null.shape == (DRAWS, *shown.shape) == (19, 30, 9)
    assert float(patching.null[:, *place].max()) == pytest.approx(float(patching.chance[place]))
    usual = float(patching.null.flatten().quantile(0.95))
    assert usual < float(patching.effects[place]) < float(patching.chance[place])
    sent = compute_numbers(shown)
    assert not sent["passes"][place[0] * shown.shape[1] + place[1]]
    assert sent["passes"] == [
        abs(effect) > max(draws)
        for effect, draws in zip(
            patching.effects.flatten().tolist(), patching.null.flatten(1).T.tolist(), strict=True
        )
    ]


def test_of_heads_that_do_nothing_as_many_pass_as_is_told():
    """If the other prompt's word is one more random word, the largest of all is it once in 20."""
    every = torch.randn(1 + DRAWS, 200, 250, generator=torch.Generator().manual_seed(0)).abs()
    nothing: Any = None  # names and leads are not asked for
    luck = Patching(nothing, (0, 0), every[0], every[1:], nothing)
    assert luck.lucky == 200 * 250 / 20
    assert int(luck.passes.sum()) == pytest.approx(luck.lucky, rel=0.05)


def test_what_is_written_directly_sums_to_the_lead(shown):
    direct = shown.patching.direct
    total = float(direct.heads.sum() + direct.mlps.sum()) + direct.embedding
    assert total == pytest.approx(shown.patching.leads[0], abs=1e-3)


def test_zero_misleads_for_the_head_of_the_question(shown):
    ways = three_ways.read_ways(shown, three_ways.MISLED)
    assert ways
    assert ways.found[ZERO].is_clear
    assert not ways.found[MEAN].is_clear
    rises = shown.ablations.rises[KINDS.index(ZERO)][three_ways.MISLED]
    error = float(rises.std()) / len(rises) ** 0.5
    told = three_ways.describe_ways(ways)
    assert told["zero"] == f"{float(rises.mean()):+.3f} ± {error:.3f}"
    assert told["rows"].count(":gray[") == sum(not one.is_clear for one in ways.found.values())


def test_every_head_was_measured_and_zeros_mislead_for_some(shown):
    rises = shown.ablations.rises
    assert rises.shape == (3, 30, 9, 8)
    assert not rises.isnan().any()
    told = three_ways.count_heads(shown)
    costly = rises.mean(dim=-1) >= 2 * rises.std(dim=-1) / 8**0.5
    assert told["zero"] == str(int(costly[0].sum()))
    assert told["only"] == str(int((costly[0] & ~costly[1] & ~costly[2]).sum()))


def test_what_a_head_writes_sums_to_its_direct_effect(shown):
    kept = read_shipped_writings()
    assert kept
    assert_close(kept.writing.added.sum(dim=-1), shown.patching.direct.heads, atol=1e-4, rtol=0)
    assert set(kept.writing.ids.flatten().tolist()) == set(kept.labels)
    found = what_it_writes.read_writing(shown, (23, 4), PAIR.prompt)
    assert found
    place = found.tokens.index(" France")
    assert found.promoted[place][0] == " France"
    assert what_it_writes.describe_writing(found)["total"] == f"{float(found.added.sum()):+.2f}"
    assert what_it_writes.read_writing(shown, (23, 4), "The sun rises in the") is None


def test_what_the_heads_of_a_layer_write_is_computed_again(smollm2):
    kept = read_shipped_writings()
    assert kept
    decoder = find_decoder(smollm2)
    read = read_pair(smollm2, decoder, PAIR)
    found = compute_writing(decoder, read.stream, 23, read.answers)
    one = type(found)(*(part[23] for part in kept.writing))
    assert find_difference_of_writings(one, found) < SAME_LOGITS


def test_the_picture_opens_on_the_largest_head_with_its_threshold(shown):
    sent = hero(opened(PAGE))
    layer, head = find_largest(shown.patching)[0]
    place = layer * sent["heads"] + head
    assert [sent["choices"][name] for name in ("matter_layer", "matter_head")] == [layer, head]
    most = float(shown.patching.null.amax(dim=0)[layer, head])
    assert sent["chance"][place] == pytest.approx(most, abs=1e-4)
    assert int(torch.tensor(sent["effects"]).abs().argmax()) == place


def test_a_token_that_is_not_in_the_prompt_is_told():
    """That of a link to another prompt, for example; the card tells of the chosen head."""
    link = {"matter_layer": "23", "matter_head": "3", "deep": "writes"}
    visit = opened(PAGE, link | {"written_from": "nonsense"})
    assert not visit.exception
    assert "**L23.H3** writes at the last token" in said(visit)
    assert any("written_from =" in note.value.replace("\\", "") for note in visit.info)
    assert visit.session_state["written_from"] != "nonsense"
