"""The hero of shared keys and values: who reads which KV head, where it looks, what is stored."""

import functools
import statistics
from dataclasses import replace
from typing import Any

import torch

from explainers.attention.grouped_query import (
    average_kv_heads,
    cache_elements,
    grouped_query,
    share,
)
from explainers.chapters.common.choose_layer import name_layer_origin
from explainers.chapters.common.sentence_reading import Reading
from explainers.toys.grammar import choose_grammar
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
from explainers.toys.training import read_report
from explainers.translations import _, get_language
from explainers.ui.controls import controls
from explainers.ui.controls.control import describe_options, find_among
from explainers.ui.figure.chart import tabulate
from explainers.ui.figure.hero import Experiment, Hero, HeroChoice, list_for_each, round_numbers
from explainers.ui.page import Prose

HEADS = [str(number) for number in NUM_HEADS]
MANY, FEW = 8, 2
"""Query heads and KV heads that can be tried."""
SENTENCES = "hero_caption", "hero_still", "hero_other", "hero_own", "hero_short"


def load_sharing(tokens: Tokens, num_heads: int, num_kv_heads: int) -> Layer:
    """Heads that learned to share from the first batch on."""
    shape = Configuration(num_heads, num_kv_heads, D_MODEL // num_heads, "full")
    return load_layer(tokens, shape, SEEDS[0])


def name_price() -> dict[str, str]:
    """What sharing costs: the stored losses of the usual small heads, sharing a KV head or not."""
    heads = int(controls.num_heads.default)
    report = read_report(choose_grammar(get_language()))
    shared, own = (
        report[Configuration(heads, kv_heads, D_MODEL // heads, "full")].loss
        for kv_heads in (1, heads)
    )
    losses = {"shared": f"{statistics.mean(shared):.3f}", "own": f"{statistics.mean(own):.3f}"}
    return {"heads": f"{heads}", "seeds": f"{len(own)}", **losses}


def make_hero(text: Prose, reading: Reading) -> Hero:
    """Query heads with every number of KV heads."""
    return (make_small_hero if reading.is_small else make_averaged_hero)(text, reading)


def make_small_hero(text: Prose, reading: Reading) -> Hero:
    """Every number of query heads that learned to share every number of KV heads."""
    tokens, word = reading.words, reading.choose_word()
    heads = controls.num_heads.resolve_among(HEADS)
    kv_heads = read_kv_heads(int(heads))
    choices = [
        HeroChoice(controls.num_heads, HEADS, heads, HEADS),
        HeroChoice(
            controls.num_kv_heads, HEADS, kv_heads, HEADS, fitting=list_divisors(int(heads))
        ),
        word,
    ]
    alt = _("KV heads, the query heads that read them, and where one word looks in each of these.")
    numbers = compute_numbers(tokens)
    hero = Hero(
        "sharing",
        alt,
        numbers,
        choices,
        SENTENCES,
        list_for_each(word, functools.partial(list_experiments, text, numbers)),
        lambda: name_layer_origin(load_shown(hero, reading)[0]),
        lambda: make_head_table(*load_shown(hero, reading)),
        (controls.num_heads, controls.num_kv_heads),
    )
    return hero


def make_averaged_hero(text: Prose, reading: Reading) -> Hero:
    """All heads of a real model's layer, or untrained ones; fewer KV heads are averages."""
    layer, word = reading.layer_of_heads(), reading.choose_word()
    # Of the small heads below; it says so where a link asks for others.
    controls.num_heads(is_drawn=False)
    heads, possible = str(layer.heads.num_heads), list_divisors(layer.heads.num_heads)
    kv_heads = read_kv_heads(layer.heads.num_heads)
    choices = [
        HeroChoice(controls.num_heads, (heads,), heads),
        HeroChoice(controls.num_kv_heads, possible, kv_heads, possible),
        word,
        *reading.choose_marks(),
    ]
    layers = {number: average_layer(layer, int(number)) for number in possible}
    described = {number: describe_layer(one) for number, one in layers.items()}
    numbers = {"tokens": list(reading.tokens), "layers": {heads: described}} | reading.marks

    def list_averaged(at: int) -> list[Experiment]:
        remark = text.fill("try_averaged", **name_one(numbers, at, heads))
        return [Experiment("one", remark, {controls.num_kv_heads.key: "1"})]

    return Hero(
        "sharing",
        _("KV heads, the query heads that read them, and where one word looks in each of these."),
        numbers,
        choices,
        SENTENCES,
        list_for_each(word, list_averaged),
        name_layer_origin(layer),
        functools.partial(make_head_table, layers[kv_heads], word.value),
    )


def average_layer(layer: Layer, num_kv_heads: int) -> Layer:
    """The same query heads with fewer KV heads: the mean of each group's."""
    return replace(layer, heads=average_kv_heads(layer.heads, num_kv_heads), is_changed=True)


def load_shown(hero: Hero, reading: Reading) -> tuple[Layer, int]:
    """The layer that the picture shows, and the word that is followed."""
    word, num_heads, num_kv_heads = find_choices(hero, len(reading.tokens))
    if reading.is_small:
        return load_sharing(reading.words, num_heads, num_kv_heads), word
    return average_layer(reading.layer_of_heads(), num_kv_heads), word


def find_choices(hero: Hero, words: int) -> tuple[int, int, int]:
    """The word that is followed, and how many query heads and KV heads there are."""
    word = min(hero.chosen(controls.followed_word), words - 1)
    num_heads = int(hero.chosen(controls.num_heads))
    return word, num_heads, int(fit_kv_heads(hero.chosen(controls.num_kv_heads), num_heads))


def find_small_sizes(hero: Hero, reading: Reading) -> tuple[int, int]:
    """How many query heads and KV heads the small layers have: the picture's, if it shows them."""
    if reading.is_small:
        return find_choices(hero, len(reading.tokens))[1:]
    return int(controls.num_heads.default), int(controls.num_kv_heads.default)


def list_divisors(number: int) -> list[str]:
    """All numbers of KV heads that so many query heads can share."""
    return [str(n) for n in range(1, number + 1) if number % n == 0]


def read_kv_heads(num_heads: int) -> str:
    """How many KV heads are chosen, of as many as these query heads can share."""
    control, possible = controls.num_kv_heads, list_divisors(num_heads)
    value: str = control.resolve(
        find_among([*control.options, *possible]),
        describe_options(possible),
        fit_kv_heads(control.default, num_heads),
        lambda chosen: fit_kv_heads(chosen, num_heads),
    )
    return value


def fit_kv_heads(chosen: str, num_heads: int) -> str:
    """The same number; as many as there are query heads, of more; or what is usual."""
    possible, usual = list_divisors(num_heads), controls.num_kv_heads.default
    if chosen in possible:
        return chosen
    if int(chosen) > num_heads:
        return possible[-1]
    return usual if usual in possible else possible[0]


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
    }


def describe_layer(layer: Layer) -> dict[str, Any]:
    """Where heads look, whose keys and values they read, and how many numbers a word costs."""
    run, heads = grouped_query(layer.x, layer.heads, layer.mask), layer.heads
    numbers = torch.arange(heads.num_kv_heads)[:, None, None]
    return {
        "weights": round_numbers(run.weights, 4),
        "read": share(numbers, heads.group_size).flatten().tolist(),
        "stored": cache_elements(1, heads.num_kv_heads, heads.head_dim),
    }


def make_head_table(layer: Layer, word: int) -> Any:
    """Where one word looks in each query head, a row for each."""
    weights = grouped_query(layer.x, layer.heads, layer.mask).weights[:, word]
    words = [f"{place} {token}" for place, token in enumerate(layer.tokens)]
    return tabulate(weights.tolist(), words, index_name=_("query head"))


def list_experiments(text: Prose, numbers: dict[str, Any], word: int) -> list[Experiment]:
    """What a reader can try, each with the numbers that it will show."""
    heads, kv_heads = controls.num_heads, controls.num_kv_heads.key
    layers, usual = numbers["layers"], heads.default
    more, own = layers[str(MANY)][str(FEW)], layers[str(MANY)][str(MANY)]
    of_one = name_one(numbers, word, usual)
    of_more = {"heads": MANY, "kv_heads": FEW, "stored": more["stored"], "all": own["stored"]}
    of_more |= {"width": D_MODEL, "d_k": D_MODEL // MANY}
    return [
        Experiment("one", text.fill("try_one", **of_one), {heads.key: usual, kv_heads: "1"}),
        Experiment(
            "more", text.fill("try_more", **of_more), {heads.key: str(MANY), kv_heads: str(FEW)}
        ),
    ]


def name_one(numbers: dict[str, Any], word: int, heads: str) -> dict[str, object]:
    """What is stored, and where a word looks, if all query heads share one KV head."""
    layers, tokens = numbers["layers"][heads], numbers["tokens"]
    first, *second = (f"*{tokens[at]}*" for at in find_largest(layers["1"]["weights"], word))
    both = _("{first} and {second}", first=first, second=second[0]) if second else first
    stored = {"stored": layers["1"]["stored"], "all": layers[heads]["stored"]}
    return {**stored, "word": tokens[word], "found": both}


def find_largest(weights: list[Any], word: int) -> list[int]:
    """The two words at which any head looks most, the most first."""
    most = [max(head[word][place] for head in weights) for place in range(len(weights[0]))]
    return sorted(range(len(most)), key=lambda place: -most[place])[:2]
