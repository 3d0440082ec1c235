"""A memory that does not grow: every state is the textbook's, and what is said was measured."""

from dataclasses import replace

import pytest
import torch

from explainers.chapters.growing_memory import cards
from explainers.chapters.growing_memory import hero as memories
from explainers.chapters.growing_memory.hero import Answers
from explainers.toys.pair_memory import SUM
from explainers.ui.session import MEMORY_JOB
from tests.support.opening import ROOT, opened
from tests.support.reading import said
from tests.support.waiting import over

PAGE = ROOT / "pages" / "12_growing_memory.py"


def test_the_answer_is_what_was_measured():
    found = tuple(cards.answer_comparison(share, 0.4) for share in (0.84, 0.4, 0.16))
    assert found == cards.ANSWERS


def test_a_training_here_stands_beside_the_shipped_one():
    visit = opened(PAGE, {"deep": "trained", "trained_rule": "sum", "trained_keys": "come again"})
    next(one for one in visit.button if one.label.startswith("Train it here")).click().run()
    job = over(visit.session_state[MEMORY_JOB])
    assert job.subject == cards.MemoryRequest(SUM, True, 0)
    text = said(visit.run())
    assert "| trained here | " in text
    assert all(f"{100 * share:.0f} %" in text for share in job.result)


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
