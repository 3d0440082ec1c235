"""Head scores are what their definitions say, and what is known of two real models."""

import math
import resource
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest
import torch

from explainers import kept
from explainers.models import head_scores as scores
from explainers.models import shipped_measurements
from explainers.models.probes import Probe, find_attended_words, generate_sentences
from explainers.models.shipped_measurements import make_head_scores_job
from tests.support.waiting import over, wait

IDS = torch.tensor([[9, 1, 2, 3, 1, 2, 1], [9, 4, 4, 5, 9, 5, 4]])
MARKS = IDS == 5
BATCH, HEADS, LENGTH = 2, 3, 7
CAUSAL = torch.ones(LENGTH, LENGTH, dtype=torch.bool).tril().expand(BATCH, -1, -1)
ALL = torch.ones_like(CAUSAL)


def weights(seen, sharpness=2.0):
    drawn = torch.randn(BATCH, HEADS, LENGTH, LENGTH, generator=torch.Generator().manual_seed(0))
    return (sharpness * drawn).masked_fill(~seen[:, None], -torch.inf).softmax(dim=-1)


def counts(name, row, query, key):
    """Is it one of the keys that count? In words, for one query and one key."""
    earlier = [k for k in range(query) if row[k] == row[query]]
    return {
        "previous token": key == query - 1,
        "next token": key == query + 1,
        "current token": key == query,
        "first token": key == 0 and query > 0,
        "duplicate token": key in earlier,
        "induction": key < query and key - 1 in earlier,
        "punctuation": row[key] == 5 and key not in (0, query),
    }[name]


@pytest.mark.parametrize("seen", [CAUSAL, ALL], ids=["causal", "all"])
@pytest.mark.parametrize("name", scores.PATTERNS)
def test_a_score_is_the_mean_mass_on_the_keys_that_count(name, seen):
    given = weights(seen)
    pattern = scores.build_patterns(Probe(IDS, MARKS), seen)[name]
    found = scores.score_pattern(given, pattern)
    for head in range(HEADS):
        rows = []
        for text, row in enumerate(IDS.tolist()):
            for query in range(LENGTH):
                visible = [key for key in range(LENGTH) if seen[text, query, key]]
                fit = [key for key in visible if counts(name, row, query, key)]
                if fit and len(visible) > 1:
                    rows.append(sum(float(given[text, head, query, key]) for key in fit))
        expected = sum(rows) / len(rows) if rows else math.nan
        assert float(found[head]) == pytest.approx(expected, nan_ok=True)


def test_a_shuffled_head_is_as_sharp_and_looks_only_where_it_may():
    given = weights(CAUSAL)
    dealt = scores.shuffle_weights(given, CAUSAL, torch.Generator().manual_seed(1))
    assert torch.equal(dealt.sort(dim=-1).values, given.sort(dim=-1).values)
    assert not (dealt * ~CAUSAL[:, None]).any()
    assert not torch.equal(dealt, given)


def test_entropy_goes_from_sharp_to_even_whatever_a_row_sees():
    even = CAUSAL[:, None] / CAUSAL[:, None].sum(dim=-1, keepdim=True)
    assert scores.compute_entropy(even, CAUSAL)[:, :, 1:] == pytest.approx(1)
    sharp = torch.eye(LENGTH).expand(BATCH, HEADS, LENGTH, LENGTH)
    assert scores.compute_entropy(sharp, CAUSAL)[:, :, 1:] == pytest.approx(0)
    assert scores.compute_entropy(sharp, CAUSAL)[:, :, 0].isnan().all()


def test_without_the_first_token_the_rest_is_a_row_again():
    rest, fewer = scores.drop_first_key(weights(CAUSAL), CAUSAL)
    assert rest[..., 1:, :].sum(dim=-1) == pytest.approx(1)
    assert not rest[..., 0].any()
    assert not fewer[..., 0].any()
    given = weights(CAUSAL)
    kept = rest[..., 2, 1] / rest[..., 2, 2]
    assert kept == pytest.approx((given[..., 2, 1] / given[..., 2, 2]).numpy(), rel=1e-5)


def test_the_counter_example_is_the_row_that_fits_least():
    given = weights(CAUSAL)
    pattern = scores.build_patterns(Probe(IDS, MARKS), CAUSAL)["duplicate token"]
    mass = (given * pattern[:, None]).sum(-1)  # (texts, heads, queries)
    mass[~pattern.any(-1)[:, None].expand_as(mass)] = math.inf
    for head, found in enumerate(scores.find_counterexamples(given, pattern).tolist()):
        text, query = divmod(int(mass[:, head].argmin()), LENGTH)
        row = given[text, head, query]
        assert found[:3] == [text, query, int(row.argmax())]
        assert found[3:] == pytest.approx([float(row.max()), float(mass[text, head, query])])
    nowhere = torch.zeros_like(CAUSAL)
    assert scores.find_counterexamples(given, nowhere)[:, 4].isnan().all()


def test_one_offset_is_how_often_the_commonest_is_chosen():
    places = torch.stack([torch.arange(LENGTH), (torch.arange(LENGTH) - 2).clamp(min=0)])
    sharp = torch.eye(LENGTH)[places][:, None]  # they look at themselves, and two back
    share, offset = scores.measure_offset(sharp, CAUSAL)
    # Of 2 · 6 rows with a choice, 6 look at themselves; of the others 5 look two back.
    assert float(share) == pytest.approx(6 / 12)
    assert float(offset) == 0
    share, offset = scores.measure_offset(sharp[1:], CAUSAL[1:])
    assert float(share) == pytest.approx(5 / 6)
    assert float(offset) == -2


def test_distance_is_weighted_by_attention():
    even = torch.full((BATCH, HEADS, LENGTH, LENGTH), 1 / LENGTH)
    apart = [abs(one - other) for one in range(LENGTH) for other in range(LENGTH)]
    assert scores.measure_distance(even) == pytest.approx(sum(apart) / len(apart))


AT_NIGHT = pytest.mark.nightly("measures all heads of the real model; MiniLM's are, every day")


@pytest.mark.parametrize("which", [pytest.param("smollm2", marks=AT_NIGHT), "minilm"])
def test_what_came_with_the_app_is_what_the_model_does(request, which):
    """All heads, but for places: of two equal ones either may be named. A relation counts words,
    and another processor may decide one of them otherwise."""
    loaded = request.getfixturevalue(which)
    shipped = shipped_measurements.read_shipped_scores(loaded.name)
    measured = scores.measure_heads(loaded)
    allowed = kept.read(shipped_measurements.name_scores(loaded.name)).tolerance
    assert shipped
    compared = set()
    for name, found in shipped.scores.tensors.items():
        if "counterexample" in name or name.endswith((": offset", ", offset")):
            continue
        again = measured.tensors[name]
        assert torch.equal(found.isnan(), again.isnan())
        apart = float((found - again).nan_to_num(0).abs().max())
        is_count = name.startswith(scores.RELATION_PREFIX)
        assert apart <= allowed["pairs of words" if is_count else "scores"], name
        compared.add(name)
    assert {f"{role.probe}: {role.score_name}" for role in scores.ROLES} <= compared


def test_scores_are_measured_once_and_kept(smollm2_scores, smollm2, monkeypatch, tmp_path):
    monkeypatch.setattr(shipped_measurements, "locate_store", lambda: tmp_path)
    monkeypatch.setattr(shipped_measurements, "measure_heads", lambda *_: smollm2_scores)
    assert shipped_measurements.read_scores(smollm2.name) is None
    work = over(make_head_scores_job(smollm2.name).start())
    assert (work.state, work.problem) == ("done", "")
    [file] = (tmp_path / "scores").iterdir()
    monkeypatch.setattr(shipped_measurements, "measure_heads", pytest.fail)
    again = over(make_head_scores_job(smollm2.name).start())
    assert again.result
    found = again.result.select("natural", "distance")
    assert torch.equal(found, smollm2_scores.select("natural", "distance"))
    file.write_bytes(b"half")
    assert shipped_measurements.read_scores(smollm2.name) is None
    work = over(make_head_scores_job("someone/else").start())
    assert work.problem == "someone/else is not on this machine yet."


def test_a_full_disk_costs_only_the_time_again(monkeypatch, tmp_path):
    file = tmp_path / "scores" / "tiny.safetensors"
    monkeypatch.setattr(shipped_measurements, "locate_scores", lambda _: file)
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, most))
    try:
        shipped_measurements.save_scores(
            "someone/tiny", scores.HeadScores({"a": torch.zeros(10_000)})
        )
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    assert list(file.parent.iterdir()) == []


def test_a_measurement_can_be_watched_and_stopped(minilm, monkeypatch, tmp_path):
    monkeypatch.setattr(shipped_measurements, "locate_store", lambda: tmp_path)
    work = make_head_scores_job(minilm.name).start()
    wait(lambda: work.reports or work.is_over)
    assert work.total == 3 * 6
    work.cancel()
    assert over(work).state == "cancelled"
    assert work.share == len(work.reports) / work.total < 1
    assert not (tmp_path / "scores").exists()
    whole = over(make_head_scores_job(minilm.name).start())
    assert (whole.state, len(whole.reports), whole.share) == ("done", whole.total, 1)
    assert whole.reports[-1] == "18 of 18 layers"


TEXTS = generate_sentences(40)


def test_partners_are_of_the_kind_that_the_relation_names():
    kinds: dict[str, set[str]] = {}
    for one in TEXTS:
        for relation, pairs in one.pairs.items():
            for query, key in pairs:
                for kind, place in zip(relation.split(" → "), (query, key), strict=True):
                    kinds.setdefault(kind, set()).add(one.words[place])
    nouns = kinds["noun"]
    assert kinds["subject"] | kinds["object"] | kinds["its noun"] <= nouns
    assert not nouns & (kinds["verb"] | kinds["adjective"] | kinds["determiner"])
    for one in TEXTS:
        [(verb, subject)], [(_, target)] = one.pairs["verb → subject"], one.pairs["verb → object"]
        assert subject < verb < target
        backwards = [(key, query) for query, key in one.pairs.get("noun → adjective", [])]
        assert backwards == one.pairs.get("adjective → noun", [])
    apart = {key - query for one in TEXTS for query, key in one.pairs["object → verb"]}
    assert len(apart) > 2, "at changing distances"
    assert generate_sentences(3) == TEXTS[:3], "the same every time"


def test_a_word_looks_at_the_other_word_that_gets_most():
    """Words of 1, 2, 1 tokens behind a first token; a third word that this sentence lacks."""
    belongs = torch.tensor([[[0, 1, 0, 0, 0], [0, 0, 1, 1, 0], [0, 0, 0, 0, 1], [0] * 5]]).bool()
    nobody_else, in_between = [0.9, 0.1, 0, 0, 0], [0.2, 0.5, 0.3, 0, 0]
    last = [0.1, 0.3, 0.2, 0.2, 0.2]  # 0.3 for the first word, 0.2 + 0.2 for the second
    rows = torch.tensor([[1.0, 0, 0, 0, 0], nobody_else, in_between, nobody_else, last])
    layer = SimpleNamespace(weights=rows.expand(1, 1, 5, 5))
    chosen, seen = find_attended_words(cast(Any, layer), belongs)
    assert chosen[0, 0, 1:3].tolist() == [0, 1]
    assert seen[0, :3, :3].tolist() == [[True, False, False], [True] * 2 + [False], [True] * 3]


OF_SMOLLM2 = {
    "ablations": shipped_measurements.read_shipped_ablations,
    "writings": shipped_measurements.read_shipped_writings,
    "texts": shipped_measurements.read_shipped_writing,
    "roles": shipped_measurements.read_roles,
}


@pytest.mark.parametrize("read", OF_SMOLLM2.values(), ids=OF_SMOLLM2)
def test_what_was_measured_of_other_weights_is_not_shown(read, monkeypatch):
    for has_other in (False, True):
        monkeypatch.setattr(
            shipped_measurements, "has_other_weights", lambda *_, is_so=has_other: is_so
        )
        assert (read() is None) == has_other


def test_of_a_model_that_nobody_has_measured_nothing_is_known(monkeypatch):
    """A row more in the registry: its heads are measured when they are asked for."""
    added = replace(shipped_measurements.WHEEL_MODELS[0], id="someone/added")
    monkeypatch.setattr(shipped_measurements, "WHEEL_MODELS", [added])
    assert shipped_measurements.read_shipped_scores(added.id) is None
