"""The picture of the KV cache: its rows are torch's, its counts are those of the code."""

from contextlib import ExitStack
from unittest.mock import patch

import pytest
import torch

from explainers.attention import masks
from explainers.attention.cache import decoding, kv_cache
from explainers.attention.cache.decoding import recompute, through
from explainers.chapters.common.score_matrix import ROUNDING
from explainers.chapters.kv_cache.hero import SENTENCES, compute_numbers
from explainers.chapters.kv_cache.reading import CAUSAL, DecodedText, measure_key_changes
from explainers.toys.sentence import MAX_TOKENS, SENTENCE, read_sentence
from explainers.translations import load_sections, translate_section
from tests.support.opening import ROOT, opened
from tests.support.reading import hero

PAGE = ROOT / "pages" / "08_kv_cache.py"
TOKENS = tuple(SENTENCE.split())
LONG = tuple(f"w{n}" for n in range(MAX_TOKENS))


def count_rows(run, call):
    """How many rows each layer really projects while something is computed."""
    made, own = [0] * len(run.layers), kv_cache.project_at

    def counted(x, layer, position):
        made[next(n for n, one in enumerate(run.layers) if one is layer)] += x.shape[-2]
        return own(x, layer, position)

    with ExitStack() as stack:
        for module in (kv_cache, decoding):
            stack.enter_context(patch.object(module, "project_at", counted))
        return call(), made


@pytest.mark.parametrize("tokens", [TOKENS, LONG, ("one",)], ids=len)
def test_rows_are_counted_as_they_are_computed(tokens):
    run = DecodedText(tokens, 3)
    steps, caches = compute_numbers(run)["steps"], run.empty
    for n, token in enumerate(run.x.split(1, dim=-2)):
        done, kept = count_rows(run, lambda: through(token, run.layers, caches, CAUSAL))  # noqa: B023
        caches = [one.cache for one in done.reads]
        _, again = count_rows(run, lambda: recompute(run.x[: n + 1], run.layers))  # noqa: B023
        for layer, cache in enumerate(caches):
            assert steps[n]["computed"] == [kept[layer], again[layer]]
            assert steps[n]["read"] == cache.key.shape[-2] - kept[layer]
            stored = sum(part.numel() * part.element_size() for part in cache[:2])
            assert steps[n]["bytes"] == stored
        assert steps[n]["difference"] == 0


@pytest.mark.parametrize("tokens", [TOKENS, LONG], ids=len)
def test_rows_are_torchs(tokens):
    run = DecodedText(tokens, 1)
    numbers, whole = compute_numbers(run), run.read_at_once(len(tokens), masks.causal)
    for sent, done in zip(numbers["layers"], whole.reads, strict=True):
        rows = done.query[0], done.cache.key[0], done.cache.value[0]
        for name, exact in zip(("query", "key", "value"), rows, strict=True):
            torch.testing.assert_close(torch.tensor(sent[name]), exact.cpu(), atol=1e-4, rtol=0)


@pytest.mark.parametrize("tokens", [TOKENS, LONG], ids=len)
def test_both_ways_stored_rows_of_the_second_layer_are_wrong(tokens):
    run = DecodedText(tokens, 0)
    numbers = compute_numbers(run)
    wrong = [sum(len(step["wrong"]) for step in steps) for steps in numbers["again"]]
    changed = sum(int((c > ROUNDING).sum()) for c in measure_key_changes(run, masks.full))
    assert wrong == [0, changed]
    assert changed == len(tokens) * (len(tokens) - 1) // 2
    for n, step in enumerate(numbers["again"][1]):
        whole = run.read_at_once(n + 1, masks.full).reads[1].cache
        for name, exact in (("key", whole.key[0]), ("value", whole.value[0])):
            torch.testing.assert_close(torch.tensor(step[name]), exact.cpu(), atol=1e-3, rtol=0)
        stored = torch.tensor(numbers["layers"][1]["key"][: n + 1])
        values = torch.tensor(numbers["layers"][1]["value"][: n + 1])
        gaps = stored - whole.key[0].cpu(), values - whole.value[0].cpu()
        gap = max(one.abs().max().item() for one in gaps)
        assert step["difference"] == pytest.approx(gap, abs=2e-4)
        assert step["wrong"] == list(range(n)), "all but the new one"


def test_choices_of_a_link_are_obeyed_and_others_are_told():
    sent = hero(opened(PAGE, {"words_read": "3", "cache_layer": "2", "cache_mask": "full"}))
    assert sent["choices"] == {
        "words_read": 3,
        "cache_layer": "2",
        "cache_mask": "full",
        "text": SENTENCE,
    }
    assert sent["elsewhere"] == ["text"]
    usual = hero(opened(PAGE))["choices"]
    assert usual["words_read"] == MAX_TOKENS, "the last word, however long the text"
    visit = opened(PAGE, {"cache_layer": "3"})
    assert not visit.exception
    assert any("cache_layer" in note.value for note in visit.info)


@pytest.mark.parametrize("language", ["en", "vi"])
def test_experiments_say_what_the_picture_will_show(language):
    first, longer, both = hero(opened(PAGE, {"lang": language}))["experiments"]
    assert first["choices"] == {"words_read": 1}
    tokens = read_sentence(longer["choices"]["text"]).tokens
    assert len(tokens) == MAX_TOKENS
    rows, again = MAX_TOKENS, MAX_TOKENS * (MAX_TOKENS + 1) // 2
    assert f"{round(100 * (1 - rows / again))}\xa0%" in longer["text"]
    assert both["choices"]["cache_mask"] == "full"
    run = hero(opened(PAGE, {"lang": language, "cache_mask": "full", "cache_layer": "2"}))
    wrong = run["again"][1][-1]["wrong"]
    assert len(wrong) == len(run["tokens"]) - 1
    assert f" {len(wrong)} " in both["text"]


def test_the_sentences_of_the_picture_are_sent_with_it():
    texts = hero(opened(PAGE))["texts"]
    assert set(texts) == set(SENTENCES) == {n for n in load_sections("08_kv_cache") if "hero_" in n}
    assert all(translate_section("08_kv_cache", name) for name in SENTENCES)
