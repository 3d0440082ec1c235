"""The hero of the KV cache: a text is read word by word with a cache and without one."""

import functools
from typing import Any

import torch

from explainers.attention.cache.step_costs import cache_bytes, with_cache, without_cache
from explainers.chapters.common.score_matrix import write_word_count
from explainers.chapters.kv_cache.reading import LAYERS, DecodedText, DrawnText, make_counted_layer
from explainers.toys.sentence import Sentence, read_sentence
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.figure.chart import tabulate
from explainers.ui.figure.hero import Experiment, Hero, HeroChoice, round_numbers
from explainers.ui.page import Prose
from explainers.ui.text.numbers import write_percent

CAUSAL_NAME, FULL_NAME = "causal", "full"
LAYER_NAMES = tuple(str(layer + 1) for layer in range(LAYERS))
SENTENCES = (
    *("hero_caption", "hero_first", "hero_seen", "hero_last", "hero_close"),
    *("hero_wrong", "hero_right"),
)


def make_hero(text: Prose, run: DrawnText, sentence: Sentence) -> Hero:
    """Two shelves of keys and values, and how many rows each has cost."""
    steps = range(1, controls.word_count.default + 1)
    layer, mask = controls.cache_layer, controls.cache_mask
    choices = [
        HeroChoice.read(controls.word_count, steps),
        HeroChoice.read(layer, LAYER_NAMES, LAYER_NAMES),
        HeroChoice.read(mask, (CAUSAL_NAME, FULL_NAME)),
        HeroChoice(controls.sentence, (), sentence.text, is_elsewhere=True),
    ]
    alt = _("Two shelves with a row of K and of V for each word: with a KV cache, and without one.")
    numbers = compute_numbers(run)
    return Hero(
        "shelves",
        alt,
        numbers,
        choices,
        SENTENCES,
        list_experiments(text, run),
        run.origin,
        lambda: make_step_table(run.tokens, numbers),
    )


def find_step(hero: Hero, words: int) -> tuple[int, int]:
    """The word that is read and the layer that is drawn, both from 0."""
    last = min(hero.chosen(controls.word_count), words) - 1
    return last, LAYER_NAMES.index(hero.chosen(controls.cache_layer))


@functools.lru_cache(maxsize=32)
def compute_numbers(run: DecodedText) -> dict[str, Any]:
    """All that the picture shows of a text, in each layer and under both masks."""
    stored = [done.cache for done in run.steps[-1].reads]
    asked = [torch.cat([step.reads[n].query[0] for step in run.steps]) for n in range(LAYERS)]
    return {
        "tokens": list(run.tokens),
        "layers": [
            {
                "query": round_numbers(query),
                "key": round_numbers(cache.key[0]),
                "value": round_numbers(cache.value[0]),
            }
            for query, cache in zip(asked, stored, strict=True)
        ],
        "steps": [describe_step(run, word) for word in range(len(run.tokens))],
        "again": [compare_both_ways(run, layer) for layer in range(LAYERS)],
    }


def describe_step(run: DecodedText, word: int) -> dict[str, Any]:
    """What one layer computes, reads and stores when a word is read; the layers are alike."""
    with_cache, without = run.steps[word].reads[0], run.recomputed[word].caches[0]
    computed, rows = with_cache.query.shape[-2], with_cache.cache.key.shape[-2]
    return {
        "computed": [computed, without.key.shape[-2]],
        "read": rows - computed,
        "bytes": cache_bytes(rows, run.layers[0]),
        "difference": run.row_by_row[word],
    }


def compare_both_ways(run: DecodedText, layer: int) -> list[dict[str, Any]]:
    """At each step: a layer's rows if every word sees later words, and which stored ones differ."""
    stored, fresh = run.steps[-1].reads[layer].cache, run.beginnings[layer]
    steps = []
    for word in range(len(run.tokens)):
        seen = word + 1
        gaps = [
            (now[word, 0, :seen] - old[0, :seen]).abs().amax(dim=-1)
            for now, old in zip(fresh[:2], stored[:2], strict=True)
        ]
        gap = torch.maximum(*gaps)
        wrong = (gap > run.rounding).nonzero().flatten().tolist()
        sent = seen if wrong else 0  # else the stored ones are drawn: many numbers of a model
        steps.append(
            {
                "key": round_numbers(fresh.key[word, 0, :sent], 3),
                "value": round_numbers(fresh.value[word, 0, :sent], 3),
                "wrong": wrong,
                "difference": gap.max().item(),
            }
        )
    return steps


def list_experiments(text: Prose, run: DecodedText) -> list[Experiment]:
    """What a reader can try, each with the numbers that it will show."""
    words, layer = controls.word_count, controls.cache_layer.key
    longer = read_sentence(text.fill("longer_text"))
    usual = read_sentence(controls.sentence.unchosen)
    lengths = {
        "longer": write_word_count(len(longer.tokens)),
        "saved": write_saving(len(longer.tokens)),
        "words": write_word_count(len(usual.tokens)),
        "saved_now": write_saving(len(usual.tokens)),
    }
    wrong = len(compute_numbers(run)["again"][-1][-1]["wrong"])
    both_ways = text.fill("try_both_ways", wrong=wrong, layer=LAYERS)
    return [
        Experiment("first", text.fill("try_first"), {words.key: 1}),
        Experiment(
            "longer",
            text.fill("try_longer", **lengths),
            {controls.sentence.key: longer.text, words.key: words.default},
        ),
        Experiment(
            "both ways",
            both_ways,
            {controls.cache_mask.key: FULL_NAME, layer: LAYER_NAMES[-1], words.key: words.default},
        ),
    ]


@functools.lru_cache(maxsize=64)
def write_saving(words: int) -> str:
    """The part of all rows that a cache saves, in percent."""
    layer = make_counted_layer()
    return write_percent(1 - with_cache(words, layer).rows / without_cache(words, layer).rows)


def make_step_table(tokens: tuple[str, ...], numbers: dict[str, Any]) -> Any:
    """What each step computes, reads and stores, a row for each."""
    steps = numbers["steps"]
    columns = {
        _("word"): tokens,
        _("rows with the cache"): [step["computed"][0] for step in steps],
        _("rows without"): [step["computed"][1] for step in steps],
        _("stored rows read"): [step["read"] for step in steps],
        _("bytes stored"): [step["bytes"] for step in steps],
    }
    return tabulate(columns, index=range(1, len(tokens) + 1), index_name=_("step"))
