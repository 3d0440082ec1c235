"""Does it matter: what is shown is what was measured, and a sample is measured again."""

import pytest
import torch

from explainers.chapters.does_it_matter import lead_sum, three_ways
from explainers.chapters.does_it_matter.hero import compute_numbers, find_largest, read_shown
from explainers.models.head_ablation import KINDS, MEAN, ZERO
from explainers.models.layer_by_layer import find_decoder, go_on
from explainers.models.patching import read_pair
from explainers.models.shipped_ablations import (
    MODEL,
    PAIRS,
    SAME,
    SAMPLE,
    find_difference,
    measure_sample,
    read_shipped_ablations,
)
from tests.support.opening import PAGES, opened
from tests.support.reading import hero, said

PAGE = next(page for page in PAGES if page.stem == "21_does_it_matter")


@pytest.fixture(scope="module")
def shown():
    found = read_shown()
    assert found, "the numbers come with the app"
    return found


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


def test_what_is_written_directly_sums_to_the_lead(shown):
    direct = shown.patching.direct
    total = float(direct.heads.sum() + direct.mlps.sum()) + direct.embedding
    assert total == pytest.approx(shown.patching.leads[0], abs=1e-3)
    rows = lead_sum.describe_sum(shown)["rows"].splitlines()
    assert len(rows) == lead_sum.LISTED + 3


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


def test_a_head_that_was_not_measured_has_no_numbers(shown):
    missing = shown.ablations.rises[0].isnan().any(dim=-1).nonzero()[0].tolist()
    assert three_ways.read_ways(shown, tuple(missing)) is None


def test_the_picture_has_what_was_measured(shown):
    visit = opened(PAGE, {})
    assert not visit.exception
    sent = hero(visit)
    assert sent["effects"] == compute_numbers(shown)["effects"]
    layer, head = find_largest(shown.patching)[0]
    assert [sent["choices"][name] for name in ("matter_layer", "matter_head")] == [layer, head]
    most = shown.patching.null.amax(dim=0)
    assert sent["chance"][layer * sent["heads"] + head] == pytest.approx(
        float(most[layer, head]), abs=1e-4
    )
    ordered = torch.tensor(sent["effects"]).abs()
    assert int(ordered.argmax()) == layer * sent["heads"] + head


def test_the_cards_tell_of_the_chosen_head(shown):
    visit = opened(PAGE, {"matter_layer": "1", "matter_head": "5", "deep": "ways"})
    assert not visit.exception
    assert "L1.H5 is replaced by" in said(visit)
    assert not opened(PAGE, {"deep": "sum"}).exception


def test_a_pair_is_offered_and_refused_pairs_say_why():
    visit = opened(PAGE, {"deep": "pair"})
    assert not visit.exception
    assert "prompt_a" in visit.session_state
