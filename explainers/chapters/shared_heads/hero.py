"""The hero of shared keys and values: who reads which KV head, where it looks, what is stored."""

import functools
from dataclasses import replace
from typing import Any

import streamlit as st
import torch
from torch import Tensor

from explainers.attention.grouped_query import (
    average_kv_heads,
    cache_elements,
    grouped_query,
    share,
    share_wrongly,
)
from explainers.attention.latent_layer import latent_cache_elements
from explainers.chapters.common.choose_layer import name_layer_origin
from explainers.chapters.common.sentence_reading import Reading
from explainers.chapters.shared_heads.kv_sharing import list_divisors, list_readers
from explainers.chapters.shared_heads.takeaway import ROPE_DIM, repeat_wrongly
from explainers.messages import N_, ngettext
from explainers.toys.layers import (
    D_MODEL,
    NUM_HEADS,
    SEEDS,
    Configuration,
    Layer,
    Tokens,
    list_kv_heads,
    load_layer,
)
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.figure.hero import Experiment, Hero, HeroChoice, read_choice, round_numbers
from explainers.ui.page import Prose

GROUPS, TURN = "groups", "turn"
DEALINGS = {GROUPS: N_("in groups"), TURN: N_("in turn")}
"""How KV heads are given to query heads: to neighbours, or by mistake one after the other."""
HEADS = [str(number) for number in NUM_HEADS]
MANY, FEW = 8, 2
"""Query heads and KV heads that can be tried."""
SENTENCES = "hero_caption", "hero_still", "hero_other", "hero_own", "hero_dealt", "hero_short"


def load_sharing(tokens: Tokens, num_heads: int, num_kv_heads: int) -> Layer:
    """Heads that learned to share from the first batch on."""
    shape = Configuration(num_heads, num_kv_heads, D_MODEL // num_heads, "full")
    return load_layer(tokens, shape, SEEDS[0])


def make_hero(text: Prose, reading: Reading) -> Hero:
    """Query heads with every number of KV heads."""
    return (make_small_hero if reading.is_small else make_averaged_hero)(text, reading)


def make_small_hero(text: Prose, reading: Reading) -> Hero:
    """Every number of query heads that learned to share every number of KV heads."""
    tokens, word = reading.words, reading.choose_word()
    heads = read_choice(controls.num_heads, HEADS)
    kv_heads, dealing = read_kv_heads(int(heads)), controls.dealing
    choices = [
        HeroChoice(controls.num_heads, HEADS, heads, HEADS),
        HeroChoice(controls.num_kv_heads, HEADS, kv_heads, HEADS),
        HeroChoice(
            dealing,
            tuple(DEALINGS),
            read_choice(dealing, tuple(DEALINGS)),
            [*map(_, DEALINGS.values())],
        ),
        word,
    ]
    alt = _("KV heads, the query heads that read them, and where one word looks in each of these.")
    shown = load_sharing(tokens, int(heads), int(kv_heads))
    numbers = compute_numbers(tokens)
    experiments = list_experiments(text, numbers, word.value)
    table = functools.partial(make_head_table, shown, word.value)
    return Hero(
        "sharing", alt, numbers, choices, SENTENCES, experiments, name_layer_origin(shown), table
    )


def make_averaged_hero(text: Prose, reading: Reading) -> Hero:
    """All heads of a real model's layer, or untrained ones; fewer KV heads are averages."""
    layer, word = reading.layer_of_heads(), reading.choose_word()
    controls.num_heads.read()  # of the small heads below; it says so where a link asks for others
    heads, possible = str(layer.heads.num_heads), list_divisors(layer.heads.num_heads)
    kv_heads = read_choice(controls.num_kv_heads, possible, possible[len(possible) // 2])
    ways, dealing = tuple(DEALINGS), controls.dealing
    choices = [
        HeroChoice(controls.num_heads, (heads,), heads),
        HeroChoice(controls.num_kv_heads, possible, kv_heads, possible),
        HeroChoice(dealing, ways, read_choice(dealing, ways), [*map(_, DEALINGS.values())]),
        word,
    ]
    layers = {number: average_layer(layer, int(number)) for number in possible}
    described = {number: describe_layer(one) for number, one in layers.items()}
    numbers: dict[str, Any] = {"tokens": list(reading.tokens), "layers": {heads: described}}
    if reading.own:
        numbers["ownPositions"] = list(reading.own.own_positions)
    return Hero(
        "sharing",
        _("KV heads, the query heads that read them, and where one word looks in each of these."),
        numbers,
        choices,
        SENTENCES,
        list_averaged_experiments(text, numbers, word.value, heads),
        name_layer_origin(layer),
        functools.partial(make_head_table, layers[kv_heads], word.value),
    )


def average_layer(layer: Layer, num_kv_heads: int) -> Layer:
    """The same query heads with fewer KV heads: the mean of each group's."""
    return replace(layer, heads=average_kv_heads(layer.heads, num_kv_heads), is_changed=True)


def load_shown(reading: Reading, hero: Hero) -> tuple[Layer, int]:
    """The layer that the picture shows, and the word that is followed."""
    word, num_heads, num_kv_heads = find_choices(hero, len(reading.tokens))
    if reading.is_small:
        return load_sharing(reading.words, num_heads, num_kv_heads), word
    return average_layer(reading.layer_of_heads(), num_kv_heads), word


def find_choices(hero: Hero, words: int) -> tuple[int, int, int]:
    """The word that is followed, and how many query heads and KV heads there are."""
    word = min(hero.chosen(controls.followed_word), words - 1)
    return word, int(hero.chosen(controls.num_heads)), int(hero.chosen(controls.num_kv_heads))


def find_small_sizes(hero: Hero, reading: Reading) -> tuple[int, int]:
    """How many query heads and KV heads the small layers have: the picture's, if it shows them."""
    if reading.is_small:
        return find_choices(hero, len(reading.tokens))[1:]
    return int(controls.num_heads.default), int(controls.num_kv_heads.default)


def read_kv_heads(num_heads: int) -> str:
    """How many KV heads are chosen; as many as there may be for these query heads."""
    control, possible = controls.num_kv_heads, list_divisors(num_heads)
    asked = str(st.session_state.get(control.key) or control.read_url())
    is_above = asked in control.options and int(asked) > num_heads
    default = possible[-1] if is_above or control.default not in possible else control.default
    value: str = read_choice(control, possible, default)
    return value


@functools.lru_cache(maxsize=32)
def compute_numbers(tokens: Tokens) -> dict[str, Any]:
    """All that the picture shows of a sentence."""
    return {
        "tokens": list(tokens),
        "layers": {
            str(heads): {
                str(kv_heads): describe_layer(load_sharing(tokens, heads, kv_heads))
                for kv_heads in list_kv_heads(heads)
            }
            for heads in NUM_HEADS
        },
        "latent": {
            "stored": latent_cache_elements(1, controls.latent_dim.default, ROPE_DIM),
            "latent": controls.latent_dim.default,
            "rope": ROPE_DIM,
        },
    }


def describe_layer(layer: Layer) -> dict[str, Any]:
    """A layer's weights as it is, and with its KV heads dealt out in turn, where that differs."""
    run = grouped_query(layer.x, layer.heads, layer.mask)
    read = list_readers(share, run)
    stored = cache_elements(1, layer.heads.num_kv_heads, layer.heads.head_dim)
    found = {GROUPS: describe_weights(run.weights, read, stored)}
    in_turn = list_readers(share_wrongly, run)
    if in_turn != read:
        wrong = repeat_wrongly(run, layer.mask)
        found[TURN] = describe_weights(wrong.weights, in_turn, stored)
    return found


def describe_weights(weights: Tensor, read: list[int], stored: int) -> dict[str, Any]:
    """Where heads look, whose keys and values they read, and how many numbers a word costs."""
    return {"weights": round_numbers(weights, 4), "read": read, "stored": stored}


def make_head_table(layer: Layer, word: int) -> Any:
    """Where one word looks in each query head, a row for each."""
    import pandas as pd  # the first paint needs no tables

    weights = grouped_query(layer.x, layer.heads, layer.mask).weights[:, word]
    words = [f"{place} {token}" for place, token in enumerate(layer.tokens)]
    table = pd.DataFrame(weights.tolist(), columns=words)
    return table.rename_axis(_("query head")).reset_index()


def list_experiments(text: Prose, numbers: dict[str, Any], word: int) -> list[Experiment]:
    """What a reader can try, each with the numbers that it will show."""
    heads, kv_heads = controls.num_heads, controls.num_kv_heads.key
    dealing, usual = controls.dealing.key, heads.default
    one, all_own = (numbers["layers"][usual][n][GROUPS] for n in ("1", usual))
    more = numbers["layers"][str(MANY)][str(FEW)][GROUPS]
    own = numbers["layers"][str(MANY)][str(MANY)][GROUPS]
    right, wrong = (numbers["layers"][usual][str(FEW)][way] for way in (GROUPS, TURN))
    found = [numbers["tokens"][place] for place in find_largest(one["weights"], word)]
    of_one = {"stored": one["stored"], "all": all_own["stored"], "word": numbers["tokens"][word]}
    of_one |= {"found": _join(found)}
    of_more = {"heads": MANY, "kv_heads": FEW, "stored": more["stored"], "all": own["stored"]}
    of_more |= {"width": D_MODEL, "d_k": D_MODEL // MANY}
    return [
        Experiment(
            "one",
            text.fill("try_one", **of_one),
            {heads.key: usual, kv_heads: "1", dealing: GROUPS},
        ),
        Experiment(
            "more",
            text.fill("try_more", **of_more),
            {heads.key: str(MANY), kv_heads: str(FEW), dealing: GROUPS},
        ),
        Experiment(
            "dealt",
            text.fill("try_dealt", **name_mistake(right, wrong)),
            {heads.key: usual, kv_heads: str(FEW), dealing: TURN},
        ),
    ]


def list_averaged_experiments(
    text: Prose, numbers: dict[str, Any], word: int, heads: str
) -> list[Experiment]:
    """The same of heads that learned without sharing."""
    layers, tokens = numbers["layers"][heads], numbers["tokens"]
    one, each, few = (layers[number][GROUPS] for number in ("1", heads, str(FEW)))
    found = [tokens[place] for place in find_largest(one["weights"], word)]
    of_one = {"stored": one["stored"], "all": each["stored"], "word": tokens[word]}
    kv_heads, dealing = controls.num_kv_heads.key, controls.dealing.key
    return [
        Experiment(
            "one",
            text.fill("try_averaged", found=_join(found), **of_one),
            {kv_heads: "1", dealing: GROUPS},
        ),
        Experiment(
            "dealt",
            text.fill("try_dealt", **name_mistake(few, layers[str(FEW)][TURN])),
            {kv_heads: str(FEW), dealing: TURN},
        ),
    ]


def name_mistake(right: dict[str, Any], wrong: dict[str, Any]) -> dict[str, str]:
    """Which KV heads are read, and what changes, where they are dealt out in turn."""
    misled = sum(a != b for a, b in zip(right["read"], wrong["read"], strict=True))
    change = torch.tensor(right["weights"]) - torch.tensor(wrong["weights"])
    return {
        "in_groups": " ".join(map(str, right["read"])),
        "in_turn": " ".join(map(str, wrong["read"])),
        "wrong": _(ngettext("{count:,} head", "{count:,} heads", misled)),
        "change": f"{change.abs().max().item():.2f}",
    }


def find_largest(weights: list[Any], word: int) -> list[int]:
    """The two words at which any head looks most, the most first."""
    most = [max(head[word][place] for head in weights) for place in range(len(weights[0]))]
    return sorted(range(len(most)), key=lambda place: -most[place])[:2]


def _join(words: list[str]) -> str:
    first, *second = (f"*{word}*" for word in words)
    return _("{first} and {second}", first=first, second=second[0]) if second else first
