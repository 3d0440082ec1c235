"""The hero of multi-head attention: a row of arcs per head, in a colour of its own."""

import functools
from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any

import torch

from explainers.attention.multi_head import contributions, multi_head
from explainers.chapters.common.choose_layer import name_layer_origin
from explainers.chapters.common.sentence_reading import Reading
from explainers.chapters.many_heads.cards import make_equal_heads, name_panel
from explainers.toys.layers import D_MODEL, NUM_HEADS, SEEDS, Layer, Tokens, load_layer
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.figure.chart import tabulate
from explainers.ui.figure.hero import Experiment, Hero, HeroChoice, list_for_each, round_numbers
from explainers.ui.page import Prose
from explainers.ui.text.numbers import write_percent

SENTENCES = (
    *("hero_caption", "hero_apart", "hero_together", "hero_single"),
    *("hero_all_off", "hero_off", "hero_heads", "hero_heads_together", "hero_alone"),
)
TRIED, SMALL = "4", f"{max(NUM_HEADS)}"
"""The numbers of heads that a head is switched off of, and that are small."""


@functools.cache
def list_switches(count: int) -> tuple[str, ...]:
    """Which of so many heads are off, a hexadecimal digit for each: every choice that there is."""
    return tuple("".join(some) for some in product(*(("", f"{head:x}") for head in range(count))))


def make_hero(text: Prose, reading: Reading) -> Hero:
    """Where one word looks in each head."""
    word, control = reading.choose_word(), controls.num_heads
    if reading.is_small:
        options: Sequence[str] = control.options
        count, layers = control.resolve_among(options), compute_small_layers(reading.words)
        tried = TRIED
    else:
        control(is_drawn=False)  # of the small heads below; it says so where a link asks for others
        layer = reading.layer_of_heads()
        count = tried = f"{layer.heads.num_heads}"
        options, layers = (count,), {count: describe_layer(layer)}
    most = max(map(int, options))
    off = read_switched_off(range(int(count)))
    hero = Hero(
        "heads",
        _("A sentence, and above it a row of arcs per head, from one word to those it looks at."),
        {"tokens": list(reading.tokens), "layers": layers} | reading.marks,
        [
            word,
            HeroChoice(control, options, count, labels=list(options)),
            HeroChoice(
                controls.switched_off_heads,
                list_switches(most),
                off,
                fitting=list_switches(int(count)),
            ),
            *reading.choose_marks(),
        ],
        SENTENCES,
        list_for_each(
            word, functools.partial(list_experiments, text, reading.tokens, layers, tried)
        ),
        lambda: name_layer_origin(find_layer(hero, reading)),
        lambda: make_head_table(find_layer(hero, reading), hero.chosen(word.control)),
        origin_follows=(control,),
    )
    return hero


def find_layer(hero: Hero, reading: Reading) -> Layer:
    """The layer with as many heads as are chosen."""
    if not reading.is_small:
        return reading.layer_of_heads()
    heads = make_equal_heads(int(hero.chosen(controls.num_heads)))
    return load_layer(reading.words, heads, SEEDS[0])


def list_off(hero: Hero, layer: Layer) -> list[int]:
    """Which of its heads are switched off."""
    off = (int(one, 16) for one in hero.chosen(controls.switched_off_heads))
    return [head for head in off if head < layer.heads.num_heads]


@functools.lru_cache(maxsize=32)
def compute_small_layers(tokens: Tokens) -> dict[str, Any]:
    """All that the picture shows of a sentence, for every number of small heads."""
    layers = {n: load_layer(tokens, make_equal_heads(n), SEEDS[0]) for n in NUM_HEADS}
    return {str(heads): describe_layer(layer) for heads, layer in layers.items()}


def describe_layer(layer: Layer) -> dict[str, Any]:
    """Each head's weights, and how long what any of them add to a word's output is together.

    The length of a sum follows from the products of its parts (q_len, heads, heads).
    """
    run = multi_head(layer.x, layer.heads, layer.mask)
    parts = contributions(run.per_head, layer.heads.w_output)
    products = torch.einsum("hqd,kqd->qhk", parts, parts)
    return {"weights": round_numbers(run.weights, 6), "parts": round_numbers(products, 6)}


def list_experiments(
    text: Prose, tokens: Sequence[str], layers: dict[str, Any], tried: str, place: int
) -> list[Experiment]:
    """What a reader can try, each with the numbers that it will show."""
    word = tokens[place]
    lengths = torch.tensor(layers[tried]["parts"][place])
    head = int(lengths.diagonal().argmax())
    change = (lengths[head, head] / lengths.sum()).sqrt().item()
    named = {"head": head, "word": word, "change": write_percent(change)}
    heads, off = controls.num_heads.key, controls.switched_off_heads.key
    tries = [Experiment("off", text.fill("try_off", **named), {heads: tried, off: f"{head:x}"})]
    if SMALL in layers:
        small = text.fill("try_small", heads=SMALL, d_k=D_MODEL // int(SMALL), word=word)
        tries.append(Experiment("small", small, {heads: SMALL, off: ""}))
        single = text.fill("try_single", word=word)
        tries.append(Experiment("single", single, {heads: "1", off: ""}))
    return tries


def read_switched_off(numbers: Iterable[int]) -> str:
    """Which heads are off, a digit for each; a link repeats the name for each."""
    return "".join(controls.switched_off_heads([f"{n:x}" for n in numbers], is_drawn=False))


def make_head_table(layer: Layer, word: int) -> Any:
    """Where one word looks in each head, a row for each."""
    weights = multi_head(layer.x, layer.heads, layer.mask).weights[:, word]
    words = [f"{place} {token}" for place, token in enumerate(layer.tokens)]
    heads = [_(name_panel(head)) for head in range(len(weights))]
    return tabulate(weights.tolist(), words, heads, _("head"))
