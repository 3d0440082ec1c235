"""A memory that does not grow: every state is the textbook's, and what is said was measured."""

from dataclasses import replace

import pytest
import torch
from torch.nn.functional import normalize
from torch.testing import assert_close

from explainers.chapters.growing_memory import cards
from explainers.chapters.growing_memory import hero as memories
from explainers.chapters.growing_memory.hero import Answers
from explainers.toys.pair_memory import FADE, OVERWRITE, SUM
from explainers.ui.session import MEMORY_JOB
from tests.support.opening import ROOT, opened
from tests.support.reading import hero, said
from tests.support.waiting import over

PAGE = ROOT / "pages" / "12_growing_memory.py"


def test_the_answer_is_what_was_measured():
    found = tuple(cards.answer_comparison(share, 0.4) for share in (0.84, 0.4, 0.16))
    assert found == cards.ANSWERS


def test_one_memory_of_the_hundred_is_the_textbooks():
    generator = cards.make_generator("how much fits", 0, 8)
    keys = normalize(torch.randn(100, 8, 16, generator=generator), dim=-1)
    words = torch.randn(100, 8, 16, generator=generator)
    found = torch.zeros(8)
    for k, v in zip(keys, words, strict=True):
        answers = k @ (v.T @ k).T
        found += (torch.cdist(answers, v).argmin(-1) == torch.arange(8)) / 100
    assert cards.fit_pairs(SUM, 8, 0).tolist() == pytest.approx(found.tolist())


def test_a_training_here_stands_beside_the_shipped_one():
    visit = opened(PAGE, {"deep": "trained", "trained_rule": "sum", "trained_keys": "come again"})
    next(one for one in visit.button if one.label.startswith("Train it here")).click().run()
    job = over(visit.session_state[MEMORY_JOB])
    assert job.subject == cards.MemoryRequest(SUM, True, 0)
    text = said(visit.run())
    assert "| trained here | " in text
    assert all(f"{100 * share:.0f} %" in text for share in job.result)


def written(story, rule, count):
    """The state after so many pairs, by the textbook: no code of ours."""
    keys, values = story.vectors
    state = torch.zeros(memories.DIM, memories.DIM)
    for key, value in story.pairs[:count]:
        k, v = keys[key][:, None], values[value][:, None]
        if rule == SUM:
            state = state + v @ k.T
            continue
        kept = memories.KEEP if rule == FADE else 1.0
        state = kept * state @ (torch.eye(memories.DIM) - k @ k.T) + v @ k.T
    return state


@pytest.fixture(scope="module")
def sent():
    return hero(opened(PAGE))


@pytest.mark.parametrize("kind", memories.KEYS)
@pytest.mark.parametrize("rule", [SUM, OVERWRITE, FADE])
def test_every_state_and_answer_is_the_textbooks(sent, rule, kind):
    story = memories.tell_story("en", kind)
    memory = sent["memories"][kind][rule]
    for count in range(len(story.pairs) + 1):
        state = written(story, rule, count)
        assert_close(torch.tensor(memory["states"][count]), state, atol=6e-4, rtol=0)
        if count:
            key = story.vectors[0][story.pairs[count - 1][0]]
            product = torch.outer(torch.tensor(memory["written"][count - 1]), key)
            kept = (memories.KEEP if rule == FADE else 1.0) * written(story, rule, count - 1)
            assert_close(kept + product, state, atol=2e-3, rtol=0)
        answers = torch.stack([state @ story.vectors[0][name] for name in story.asked])
        assert_close(torch.tensor(memory["answers"][count]), answers, atol=6e-4, rtol=0)
        likeness = answers @ story.vectors[1].T
        for place, named in enumerate(memory["nearest"][count]):
            shown = torch.tensor([like for _name, like in named])
            assert_close(shown, likeness[place].topk(len(named)).values, atol=6e-5, rtol=0)


@pytest.mark.parametrize("language", memories.SECOND_SENTENCES)
def test_what_only_rounding_decides_is_a_tie_and_not_counted(language):
    """At right angles a sum keeps all that followed a word alike: in exact numbers a tie."""
    story = memories.tell_story(language, memories.ORTHOGONAL)
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
