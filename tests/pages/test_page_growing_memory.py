"""A memory that does not grow: every state is the textbook's, and what is said was measured."""

from dataclasses import replace

import pytest
import torch
from torch.nn.functional import normalize
from torch.testing import assert_close

from explainers.chapters.growing_memory import cards
from explainers.chapters.growing_memory.compute import (
    DIM,
    KEEP,
    KEYS,
    ORTHOGONAL,
    RANDOM,
    SECOND_SENTENCES,
    SHARPNESS,
    Step,
    tell_story,
)
from explainers.chapters.growing_memory.hero import Answers
from explainers.chapters.growing_memory.trained_memories import (
    ANSWERS,
    MemoryRequest,
    Results,
    answer_comparison,
    make_memory_job,
)
from explainers.toys.pair_memory import FADE, OVERWRITE, SOFTMAX, SUM, MemoryRow
from explainers.ui.session import MEMORY_JOB
from tests.support.opening import ROOT, opened
from tests.support.reading import close, hero, panels, said, values
from tests.support.waiting import over

PAGE = ROOT / "pages" / "12_growing_memory.py"


@pytest.mark.parametrize(("times", "answer"), [*zip((2.1, 1.0, 0.4), ANSWERS, strict=True)])
def test_the_answer_is_what_was_measured(times, answer):
    def row(rule: str, share: float) -> MemoryRow:
        return MemoryRow((rule,), False, [[0.0, 0.0, 0.0, 0.0, share]])

    found: Results = {
        ((SUM,), False): row(SUM, 0.4),
        ((OVERWRITE,), False): row(OVERWRITE, 0.4 * times),
    }
    assert answer_comparison(found) == answer


def test_the_step_is_drawn_with_its_numbers():
    found, step = panels(opened(PAGE), "value"), Step.of(tell_story("en"))
    keys, words = step.story.vectors
    assert values(found, "memory") == close(step.before)
    missing = words[step.story.pairs[step.place][1]] - step.before @ keys[step.story.asked[2]]
    assert values(found, "missing") == close(missing)


def test_one_memory_of_the_hundred_is_the_textbooks():
    generator = cards.make_generator("how much fits", 0, 8)
    keys = normalize(torch.randn(100, 8, 16, generator=generator), dim=-1)
    words = torch.randn(100, 8, 16, generator=generator)
    found = torch.zeros(8)
    for k, v in zip(keys, words, strict=True):
        answers = k @ (v.T @ k).T
        found += (torch.cdist(answers, v).argmin(-1) == torch.arange(8)) / 100
    assert cards.fit_pairs(SUM, 8, 0).found.tolist() == pytest.approx(found.tolist())


def test_bytes_are_those_of_the_calculator():
    named = cards.name_costs(cards.find_shape(cards.MODEL))
    per_layer = 2 * 2 * 256 * 2
    state = 36 * (524_288 * 4 + 32_768 * 2)
    assert named["state"] == f"{state / 2**20:.2f} MiB" == "74.25 MiB"
    assert named["per_token"] == f"{12 * per_layer:,}" == "24,576"
    assert named["same"] == f"{state / (36 * per_layer):,.0f}" == "1,056"
    assert (named["cache"], named["cache_of_all"]) == ("6.00 GiB", "24.00 GiB")


def test_a_training_here_stands_beside_the_shipped_one_and_another_can_be_cancelled():
    visit = opened(PAGE, {"deep": "trained", "trained_rule": "sum", "trained_keys": "come again"})
    [button] = [one for one in visit.button if one.label.startswith("Train it here")]
    button.click().run()
    job = over(visit.session_state[MEMORY_JOB])
    assert job.subject == MemoryRequest(SUM, True, 0)
    text = said(visit.run())
    assert "| trained here | " in text
    assert all(f"{100 * share:.0f} %" in text for share in job.result)
    endless = make_memory_job(MemoryRequest(SUM, True, 0)).start()
    endless.cancel()
    assert over(endless).state == "cancelled"


LANGUAGES = sorted(SECOND_SENTENCES)


def written(story, rule, count):
    """The state after so many pairs, by the textbook: no code of ours."""
    keys, values = story.vectors
    state = torch.zeros(DIM, DIM)
    for key, value in story.pairs[:count]:
        k, v = keys[key][:, None], values[value][:, None]
        if rule == SUM:
            state = state + v @ k.T
            continue
        state = state * (KEEP if rule == FADE else 1.0)
        state = state @ (torch.eye(DIM) - k @ k.T) + v @ k.T
    return state


@pytest.fixture(scope="module")
def sent():
    return hero(opened(PAGE))


@pytest.mark.parametrize("kind", KEYS)
@pytest.mark.parametrize("rule", [SUM, OVERWRITE, FADE])
def test_every_state_and_answer_is_the_textbooks(sent, rule, kind):
    story = tell_story("en", kind)
    memory = sent["memories"][kind][rule]
    for count in range(len(story.pairs) + 1):
        state = written(story, rule, count)
        assert_close(torch.tensor(memory["states"][count]), state, atol=6e-4, rtol=0)
        if count:
            product = torch.outer(
                torch.tensor(memory["written"][count - 1]),
                story.vectors[0][story.pairs[count - 1][0]],
            )
            kept = (KEEP if rule == FADE else 1.0) * written(story, rule, count - 1)
            assert_close(kept + product, state, atol=2e-3, rtol=0)
        answers = torch.stack([state @ story.vectors[0][name] for name in story.asked])
        assert_close(torch.tensor(memory["answers"][count]), answers, atol=6e-4, rtol=0)
        likeness = answers @ story.vectors[1].T
        for place, named in enumerate(memory["nearest"][count]):
            best = likeness[place].topk(len(named))
            if best.values[0] - best.values[1] > 1e-3:
                assert named[0][0] == best.indices[0].item()
            firsts = [value for key, value in story.pairs[:count] if key == story.asked[place]]
            older = likeness[place, firsts[0]] if firsts else torch.zeros(())
            assert memory["older"][count][place] == pytest.approx(older.item(), abs=6e-5)
            shown = [like for _name, like in named]
            assert_close(torch.tensor(shown), best.values, atol=6e-5, rtol=0)


def test_attention_stores_rows_and_weighs_them(sent):
    story = tell_story("en")
    memory, (keys, values) = sent["memories"][RANDOM][SOFTMAX], story.vectors
    rows = torch.tensor(story.pairs)
    for count in (1, 7, 12):
        stored, mixed = keys[rows[:count, 0]], values[rows[:count, 1]]
        for place, name in enumerate(story.asked):
            weights = (SHARPNESS * stored @ keys[name] / DIM**0.5).softmax(0)
            shown = torch.tensor(memory["weights"][count][place])
            assert_close(shown[:count], weights, atol=6e-5, rtol=0)
            assert not shown[count:].any()
            answer = torch.tensor(memory["answers"][count][place])
            assert_close(answer, weights @ mixed, atol=6e-4, rtol=0)


def test_keys_at_right_angles_answer_exactly_as_long_as_there_is_room():
    story = tell_story("en", ORTHOGONAL)
    keys, values = story.vectors
    firsts = keys[list(story.asked[:DIM])]
    assert_close(firsts @ firsts.T, torch.eye(DIM), atol=1e-6, rtol=0)
    answers = Answers(story, OVERWRITE)
    for key, value in story.find_newest(11).items():
        shown = answers.vectors[11, story.asked.index(key)]
        assert_close(shown, values[value], atol=1e-5, rtol=0)
    assert answers.count_found(11) == 8


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_only_rounding_decides_is_a_tie_and_not_counted(language):
    """At right angles a sum keeps all that followed a word alike: in exact numbers a tie."""
    story = tell_story(language, ORTHOGONAL)
    answers, (_keys, values) = Answers(story, SUM), story.vectors
    for count in range(12):  # until the ninth key, for which there is no more room
        ties, found = set(), 0
        for key, newest in story.find_newest(count).items():
            exact = sum(values[value] for one, value in story.pairs[:count] if one == key)
            likeness = (values @ exact).double()
            lead = likeness[newest] - likeness[torch.arange(len(values)) != newest].max()
            ties |= {story.asked.index(key)} if abs(lead) < 1e-5 else set()
            found += bool(lead > 1e-5)
        assert set(answers.list_ties(count)) == ties
        assert answers.count_found(count) == found
    assert len(answers.list_ties(11)) >= 2
    nudged = replace(answers)
    noise = 1e-5 * torch.randn(answers.likeness.shape, generator=torch.Generator().manual_seed(0))
    object.__setattr__(nudged, "likeness", answers.likeness + noise)
    counts = range(len(story.pairs) + 1)
    for name in ("count_found", "list_ties"):
        of_both = [[getattr(one, name)(count) for count in counts] for one in (answers, nudged)]
        assert of_both[0] == of_both[1], "another processor counts the same"
