"""Write with it: what is shown was written, sliders are exact."""

from itertools import product

import pytest
import torch

from explainers.chapters.writing.hero import COUNTS, EVERY, HEATS, SHARES
from explainers.models import written_tokens
from explainers.models.shipped_measurements import GREEDY, HOT
from tests.support.candidates import restrict_candidates
from tests.support.opening import PAGES, opened
from tests.support.reading import hero

PAGE = next(page for page in PAGES if page.stem == "22_writing")


class Numbers:
    """A tokenizer whose tokens are their own numbers."""

    def decode(self, tokens):
        return f" {tokens[0]}"


LOGITS = 3 * torch.randn(61, generator=torch.Generator().manual_seed(5))


def step(token):
    weights = torch.rand(3, 2, 7, generator=torch.Generator().manual_seed(6)).softmax(dim=-1)
    return written_tokens.WrittenToken(token, weights, 840, 0.1, LOGITS)


def test_what_is_told_is_enough_for_every_setting():
    """The probabilities of the whole vocabulary, from 20 candidates and two sums."""
    told = written_tokens.tell_step(step(11), Numbers())
    best = LOGITS.topk(written_tokens.NUM_LISTED).indices
    counts = [0 if one == EVERY else int(one) for one in COUNTS]
    for setting in product(map(float, HEATS), counts, map(float, SHARES)):
        temperature, top_k, top_p = setting
        sampling = written_tokens.Sampling(temperature=temperature, top_k=top_k, top_p=top_p)
        expected = sampling.restrict(LOGITS.double()).softmax(dim=-1)[best].float()
        found = torch.tensor(restrict_candidates(told, *setting))
        assert found.tolist() == pytest.approx(expected.tolist(), abs=2e-4), setting


def test_a_token_is_told_by_its_place():
    order = LOGITS.argsort(descending=True).tolist()
    for place in (0, 19, 44):
        told = written_tokens.tell_step(step(order[place]), Numbers())
        assert told.place == place
        assert told.candidates[0] == (f" {order[0]}", 0.0)


def test_looks_are_the_largest_weights_of_the_words_between():
    weights = step(0).weights
    looks = written_tokens.list_looks(weights)
    assert sorted(word for word, *_ in looks) == [1, 2, 3, 4, 5]
    for word, weight, head, row in looks:
        layer, number = (int(part[1:]) for part in head.split("."))
        assert weight == pytest.approx(float(weights[:, :, word].max()), abs=1e-3)
        assert row == pytest.approx(weights[layer, number].tolist(), abs=1e-3)
    assert [look[1] for look in looks] == sorted((look[1] for look in looks), reverse=True)


def test_settings_follow_the_text_until_they_are_changed():
    """Each alone; another text begins with its own."""
    visit, shown = opened(PAGE, {"write_text": HOT, "write_p": "0.5"}), []
    for chosen in ({}, {"write_heat": "1.3"}, {"write_text": GREEDY}, {"write_heat": "2"}):
        for key, value in chosen.items():
            visit.session_state[key] = value
            visit.run()
        choices = hero(visit)["choices"]
        shown.append((choices["write_heat"], choices["write_p"]))
    assert shown == [("1.6", "0.5"), ("1.3", "0.5"), ("0", "1"), ("2", "1")]
