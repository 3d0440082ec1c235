"""Write with it: what is shown was written, sliders are exact, losses are measured again."""

from itertools import product

import pytest
import torch
from torch.testing import assert_close

from explainers.chapters.writing import losses
from explainers.chapters.writing.hero import COUNTS, EVERY, HEATS, SHARES, find_copy
from explainers.models.cache_losses import BEFORE, CHANNEL, FULL, KEYS, RING, SINKS, TOKEN, VALUES
from explainers.models.cache_losses import name_rounding as name
from explainers.models.shipped_writing import (
    CHECKED,
    GREEDY,
    HOT,
    MODEL,
    NUM_WRITTEN,
    SAME,
    find_difference,
    measure_again,
    read_shipped_writing,
    write_text,
)
from explainers.models.told_steps import NUM_LISTED, list_looks, restrict_candidates, tell_step
from explainers.models.written_tokens import Sampling, WrittenToken
from tests.support.opening import PAGES, opened
from tests.support.reading import hero

PAGE = next(page for page in PAGES if page.stem == "22_writing")


@pytest.fixture(scope="module")
def shipped():
    found = read_shipped_writing(MODEL)
    assert found, "the texts come with the app"
    return found


class Numbers:
    """A tokenizer whose tokens are their own numbers."""

    def decode(self, tokens):
        return f" {tokens[0]}"


LOGITS = 3 * torch.randn(61, generator=torch.Generator().manual_seed(5))


def step(token):
    weights = torch.rand(3, 2, 7, generator=torch.Generator().manual_seed(6)).softmax(dim=-1)
    chance = float(LOGITS.softmax(dim=-1)[token])
    return WrittenToken(token, chance, [], weights, 840, 0.1, LOGITS)


def test_what_is_told_is_enough_for_every_setting():
    """The probabilities of the whole vocabulary, from 20 candidates and two sums."""
    told = tell_step(step(11), Numbers())
    best = LOGITS.topk(NUM_LISTED).indices
    counts = [0 if one == EVERY else int(one) for one in COUNTS]
    for setting in product(map(float, HEATS), counts, map(float, SHARES)):
        temperature, top_k, top_p = setting
        sampling = Sampling(temperature=temperature, top_k=top_k, top_p=top_p)
        expected = sampling.restrict(LOGITS.double()).softmax(dim=-1)[best].float()
        found = torch.tensor(restrict_candidates(told, *setting))
        assert found.tolist() == pytest.approx(expected.tolist(), abs=2e-4), setting


def test_a_token_is_told_by_its_place():
    order = LOGITS.argsort(descending=True).tolist()
    for place in (0, 19, 44):
        told = tell_step(step(order[place]), Numbers())
        assert told.place == place
        assert told.candidates[0] == (f" {order[0]}", 0.0)


def test_looks_are_the_largest_weights_of_the_words_between():
    weights = step(0).weights
    looks = list_looks(weights)
    assert sorted(word for word, *_ in looks) == [1, 2, 3, 4, 5]
    for word, weight, head, row in looks:
        layer, number = (int(part[1:]) for part in head.split("."))
        assert weight == pytest.approx(float(weights[:, :, word].max()), abs=1e-3)
        assert row == pytest.approx(weights[layer, number].tolist(), abs=1e-3)
    assert [look[1] for look in looks] == sorted((look[1] for look in looks), reverse=True)


@pytest.mark.nightly("a real model writes a text again")
def test_the_greedy_text_is_written_again(smollm2, shipped):
    again = write_text(smollm2, GREEDY)
    assert find_difference(shipped, again, GREEDY) < SAME
    assert [one.num_bytes for one in again.steps] == [
        one.num_bytes for one in shipped.texts[GREEDY].steps
    ]


@pytest.mark.nightly("a real model reads a text again with every saving")
def test_losses_are_measured_again(smollm2, shipped):
    for saving, found in measure_again(smollm2, 1).items():
        assert saving in CHECKED
        assert_close(found, shipped.losses[saving][:1], atol=SAME, rtol=0)


def test_the_cache_grows_by_the_bytes_of_a_row(shipped):
    layers, kv_heads, head_dim, num_bytes = shipped.shape
    for text in shipped.texts.values():
        assert len(text.steps) == NUM_WRITTEN
        for place, one in enumerate(text.steps):
            tokens = len(text.prompt) + place
            assert one.num_bytes == tokens * 2 * layers * kv_heads * head_dim * num_bytes
            assert all(0 < word < tokens - 1 for word, *_rest in one.looks)


def test_what_the_page_says_of_the_losses_holds(shipped):
    """Sinks save most of the rise; keys go by channel, values by token, before RoPE is best."""
    mean = {saving: float(row.mean()) for saving, row in shipped.losses.items()}
    assert mean[FULL] < mean[SINKS] < mean[RING]
    assert losses.answer_sinks(shipped.losses) == losses.MOST
    share = (mean[RING] - mean[SINKS]) / (mean[RING] - mean[FULL])
    assert losses.share_saved(shipped.losses) == pytest.approx(share, abs=1e-5)
    assert mean[name(KEYS, BEFORE, 2)] < mean[name(KEYS, CHANNEL, 2)] < mean[name(KEYS, TOKEN, 2)]
    assert mean[name(VALUES, TOKEN, 2)] < mean[name(VALUES, CHANNEL, 2)]


def test_settings_follow_the_text_until_they_are_changed():
    """Each alone; another text begins with its own."""
    visit = opened(PAGE, {"write_text": HOT, "write_p": "0.5"})
    assert [hero(visit)["choices"][key] for key in ("write_heat", "write_p")] == ["1.6", "0.5"]
    visit.session_state["write_heat"] = "1.3"
    visit.run()
    assert [hero(visit)["choices"][key] for key in ("write_heat", "write_p")] == ["1.3", "0.5"]
    visit.session_state["write_text"] = GREEDY
    visit.run()
    assert [hero(visit)["choices"][key] for key in ("write_heat", "write_p")] == ["0", "1"]
    visit.session_state["write_heat"] = "2"
    visit.run()
    assert [hero(visit)["choices"][key] for key in ("write_heat", "write_p")] == ["2", "1"]


def test_the_copying_head_looks_at_what_is_then_written(shipped):
    text = shipped.texts[GREEDY]
    at, head, weight = find_copy(text)
    words = [*text.prompt, *(one.token for one in text.steps)]
    [(word, row)] = [(one[0], one[3]) for one in text.steps[at].looks if one[2] == head]
    assert words[word] == text.steps[at].token
    assert row[word] == weight == max(row)
    visit = opened(PAGE, {"write_text": GREEDY, "write_step": f"{at}", "write_head": head})
    assert hero(visit)["choices"]["write_head"] == head
