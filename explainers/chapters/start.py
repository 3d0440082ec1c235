"""The hero of the start page: whom a word looks at, how that comes about, how it was learned."""

import json
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from explainers.attention.single_head import Projections
from explainers.attention.steps import Steps
from explainers.chapters.common.choose_layer import name_layer_origin
from explainers.chapters.common.one_head import attend
from explainers.chapters.common.sentence_reading import Reading
from explainers.toys.grammar import GRAMMARS, MOVED_CHOICES, SPORT_CHOICES, News, find_language
from explainers.toys.layers import FILM_SEED, Film, Layer, Tokens, film_of, load_readable_layer
from explainers.translations import _, get_language
from explainers.ui.controls import controls
from explainers.ui.figure.hero import (
    Experiment,
    Hero,
    HeroChoice,
    list_for_each,
    make_weight_table,
    round_numbers,
)
from explainers.ui.page import Prose
from explainers.ui.page_parts.check_yourself import Recall
from explainers.ui.page_parts.first_picture import FILE, keep_hero
from explainers.ui.text.numbers import PERCENT, write_percent

MASKS = ("full", "causal")
SENTENCES = (
    *("hero_caption", "hero_two", "hero_one", "hero_only", "hero_spread", "hero_all"),
    *("film_start", "film_seen"),
    *("step_numbers", "step_qkv", "step_scores", "step_mask", "step_mask_full"),
    *("step_weights", "step_output"),
)
OWN_SENTENCES = "hero_nothing", "hero_nothing_end", "step_numbers_own"
"""Of a sentence that a real model reads."""


def make_hero(text: Prose, reading: Reading, sentence: str) -> Hero:
    """One word's journey through a head; through the small one, also its training as a film."""
    layers = {rule: reading.layer(rule) for rule in MASKS}
    heads = {rule: attend(layer) for rule, layer in layers.items()}
    films = {rule: film_of(reading.words, rule) for rule in MASKS} if reading.is_small else {}
    word = reading.choose_word()
    mask = HeroChoice.read(controls.mask, MASKS)
    choices = [word, mask]
    if films:
        batches = films["full"].batches
        choices.append(HeroChoice.read(controls.batches, batches))
    choices.append(HeroChoice(controls.sentence, (), sentence, is_elsewhere=True))
    choices += reading.choose_marks()
    full, causal = (heads[rule][1].weights.tolist() for rule in MASKS)
    grammar = GRAMMARS[find_language(reading.words, get_language())]
    others = [
        try_sentence(text, "try_moved", grammar.write_news(MOVED_CHOICES)),
        try_sentence(text, "try_other", grammar.write_news(SPORT_CHOICES)),
    ]

    def list_experiments(at: int) -> list[Experiment]:
        """The numbers of the word at a place: of later words hidden, and before the first batch."""
        asking = reading.tokens[at]
        hidden = {"word": asking, "lost": write_percent(sum(full[at][at + 1 :]))}
        hidden |= name_largest(reading.tokens, causal[at])
        tries = [
            Experiment("try_causal", text.fill("try_causal", **hidden), {"mask": "causal"}),
            *others,
        ]
        if films:
            by_chance = name_largest(reading.tokens, films["full"].weights[0, at].tolist())
            remark = text.fill("try_untrained", word=asking, **by_chance)
            tries.append(Experiment("try_untrained", remark, {"batches": 0}))
        return tries

    shown = heads[mask.value][1].weights
    return Hero(
        "journey",
        _("A sentence with arcs from one of its words to those that it looks at."),
        compute_numbers(layers, heads, films) | reading.marks,
        choices,
        SENTENCES if films else (*SENTENCES, *OWN_SENTENCES, *reading.sentences),
        list_for_each(word, list_experiments),
        name_layer_origin(layers[mask.value]),
        lambda: make_weight_table(reading.tokens, shown.tolist()),
    )


def compute_numbers(
    layers: Mapping[str, Layer],
    heads: Mapping[str, tuple[Projections, Steps]],
    films: Mapping[str, Film],
) -> dict[str, Any]:
    """All that the picture shows of a sentence, under each mask; no films of another's training."""
    layer, (views, seen) = layers["full"], heads["full"]
    masks = {
        rule: {
            "allowed": layers[rule].mask.tolist(),
            "weights": round_numbers(steps.weights, 8),
            "output": round_numbers(steps.output),
            "film": round_numbers(films[rule].weights, 8) if films else [],
        }
        for rule, (_views, steps) in heads.items()
    }
    rounded = map(round_numbers, (layer.x, *views))
    named = dict(zip(("x", "query", "key", "value"), rounded, strict=True))
    return {
        "tokens": list(layer.tokens),
        **named,
        "scores": round_numbers(seen.scores),
        "masks": masks,
        "batches": list(films["full"].batches) if films else [],
        "losses": [f"{loss:.2f}" for loss in films["full"].losses] if films else [],
    }


def try_sentence(text: Prose, section: str, news: News) -> Experiment:
    """What a verb finds in another sentence; the remark says where its attention went."""
    tokens, sentence = news.tokens, " ".join(news.tokens)
    layer = load_readable_layer(tokens, "full", FILM_SEED)
    found = name_largest(tokens, attend(layer)[1].weights[news.verb].tolist())
    remark = text.fill(section, sentence=sentence, word=tokens[news.verb], **found)
    return Experiment(section, remark, {"text": sentence, "word": news.verb})


def name_largest(tokens: Tokens, weights: Sequence[float]) -> dict[str, str]:
    """The two words with the largest weights, and these, for a remark."""
    places = sorted(range(len(tokens)), key=weights.__getitem__, reverse=True)[:2]
    named: dict[str, str] = {}
    for rank, place in zip(("first", "second"), places, strict=False):
        named |= {rank: tokens[place], f"{rank}_share": write_percent(weights[place])}
    return named


def recall_remaining_weight(draw: Random) -> Recall:
    """The weights of a row add up to 100 %."""
    first, second = draw.randint(20, 60), draw.randint(5, 20)
    given = {"first": f"{first} %", "second": f"{second} %"}
    return Recall(100 - first - second, given, unit=PERCENT)


def compute_first_pictures() -> dict[str, dict[str, Any]]:
    """The picture of each language's running sentence, as it is kept."""
    text = Prose("pages/01_start.py")
    sentences = {language: grammar.running.tokens for language, grammar in GRAMMARS.items()}
    return {
        language: keep_hero(make_hero(text, Reading(tokens, None, True), " ".join(tokens)))
        for language, tokens in sentences.items()
    }


if __name__ == "__main__":
    # what a new server shows before PyTorch is loaded
    FILE.write_text(json.dumps(compute_first_pictures()), encoding="utf-8")
    print(f"{FILE.name}: {FILE.stat().st_size / 1000:.0f} kB")
