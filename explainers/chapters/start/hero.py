"""The hero of the start page: whom a word looks at, how that comes about, how it was learned."""

import json
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from explainers.chapters.common.choose_layer import name_layer_origin
from explainers.chapters.common.one_head import attend
from explainers.chapters.common.sentence_reading import Reading
from explainers.toys.grammar import GRAMMARS, MOVED_CHOICES, SPORT_CHOICES, News, find_language
from explainers.toys.layers import Layer, Tokens
from explainers.toys.readable_head import FILM_SEED, Film, film_of, load_readable_layer
from explainers.translations import _, get_language
from explainers.ui.controls import controls
from explainers.ui.figure.hero import (
    Experiment,
    Hero,
    HeroChoice,
    make_weight_table,
    read_choice,
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
    if reading.is_small:
        return make_small_hero(text, reading, sentence)
    return make_other_hero(text, reading, sentence)


def make_small_hero(text: Prose, reading: Reading, sentence: str) -> Hero:
    """The journey through the readable head, and how it was learned."""
    tokens = reading.words
    films = {rule: film_of(tokens, rule) for rule in MASKS}
    layers = {rule: load_readable_layer(tokens, rule, FILM_SEED) for rule in MASKS}
    batches = films["full"].batches
    word = reading.choose_word()
    choices = [
        word,
        HeroChoice(controls.mask, MASKS, read_choice(controls.mask, MASKS)),
        HeroChoice(controls.batches, batches, read_choice(controls.batches, batches)),
        HeroChoice(controls.sentence, (), sentence, is_elsewhere=True),
    ]
    alt = _("A sentence with arcs from one of its words to those that it looks at.")
    shown = layers[choices[1].value]
    return Hero(
        "journey",
        alt,
        compute_numbers(layers, films),
        choices,
        SENTENCES,
        list_experiments(text, layers, films, word.value),
        name_layer_origin(shown),
        lambda: make_weight_table(tokens, weigh_words(shown)),
    )


def make_other_hero(text: Prose, reading: Reading, sentence: str) -> Hero:
    """The same journey through a head of a real model, or through an untrained one: no film."""
    layers = {rule: reading.layer(rule) for rule in MASKS}
    word = reading.choose_word()
    mask = HeroChoice(controls.mask, MASKS, read_choice(controls.mask, MASKS))
    full, causal = (weigh_words(layers[rule])[word.value] for rule in MASKS)
    tokens, shown = reading.tokens, layers[mask.value]
    experiments = [
        try_causal(text, tokens, word.value, full, causal),
        *try_sentences(text, reading.words),
    ]
    return Hero(
        "journey",
        _("A sentence with arcs from one of its words to those that it looks at."),
        compute_other_numbers(layers) | reading.marks,
        [
            word,
            mask,
            HeroChoice(controls.sentence, (), sentence, is_elsewhere=True),
            *reading.choose_marks(),
        ],
        (*SENTENCES, *OWN_SENTENCES, *reading.sentences),
        experiments,
        name_layer_origin(shown),
        lambda: make_weight_table(tokens, weigh_words(shown)),
    )


def compute_numbers(layers: Mapping[str, Layer], films: Mapping[str, Film]) -> dict[str, Any]:
    """All that the picture shows of a sentence, under each mask."""
    film = films["full"]
    losses = [f"{loss:.2f}" for loss in film.losses]
    film_of_training = {"batches": list(film.batches), "losses": losses}
    weights = {rule: round_numbers(one.weights, 8) for rule, one in films.items()}
    return _lay_out(layers, weights) | film_of_training


def compute_other_numbers(layers: Mapping[str, Layer]) -> dict[str, Any]:
    """The same of a head whose training nobody filmed."""
    return _lay_out(layers, {}) | {"batches": [], "losses": []}


def _lay_out(layers: Mapping[str, Layer], films: Mapping[str, Any]) -> dict[str, Any]:
    """As the picture reads it."""
    layer = layers["full"]
    views, seen = attend(layer)
    masks = {}
    for rule, one in layers.items():
        steps = attend(one)[1]
        masks[rule] = {
            "allowed": one.mask.tolist(),
            "weights": round_numbers(steps.weights, 8),
            "output": round_numbers(steps.output),
            "film": films.get(rule, []),
        }
    rounded = map(round_numbers, (layer.x, *views))
    named = dict(zip(("x", "query", "key", "value"), rounded, strict=True))
    scores = round_numbers(seen.scores)
    return {"tokens": list(layer.tokens), **named, "scores": scores, "masks": masks}


def list_experiments(
    text: Prose, layers: Mapping[str, Layer], films: Mapping[str, Film], word: int
) -> list[Experiment]:
    """What a reader can try, each with the numbers that it will show."""
    tokens = layers["full"].tokens
    full, causal = (weigh_words(layers[rule])[word] for rule in MASKS)
    before = films["full"].weights[0, word].tolist()
    by_chance = {"word": tokens[word]} | name_largest(tokens, before)
    return [
        try_causal(text, tokens, word, full, causal),
        *try_sentences(text, tokens),
        Experiment("try_untrained", text.fill("try_untrained", **by_chance), {"batches": 0}),
    ]


def try_causal(
    text: Prose, tokens: Tokens, word: int, full: Sequence[float], causal: Sequence[float]
) -> Experiment:
    """What a word gives to others, and what remains of it when later ones are hidden."""
    masked = {"word": tokens[word], "lost": write_percent(sum(full[word + 1 :]))}
    masked |= name_largest(tokens, causal)
    return Experiment("try_causal", text.fill("try_causal", **masked), {"mask": "causal"})


def try_sentences(text: Prose, tokens: Tokens) -> list[Experiment]:
    """Two sentences of the language that these words are of."""
    grammar = GRAMMARS[find_language(tokens, get_language())]
    return [
        try_sentence(text, "try_moved", grammar.write_news(MOVED_CHOICES)),
        try_sentence(text, "try_other", grammar.write_news(SPORT_CHOICES)),
    ]


def try_sentence(text: Prose, section: str, news: News) -> Experiment:
    """What a verb finds in another sentence; the remark says where its attention went."""
    tokens, sentence = news.tokens, " ".join(news.tokens)
    weights = weigh_words(load_readable_layer(tokens, "full", FILM_SEED))[news.verb]
    found = name_largest(tokens, weights)
    remark = text.fill(section, sentence=sentence, word=tokens[news.verb], **found)
    return Experiment(section, remark, {"text": sentence, "word": news.verb})


def name_largest(tokens: Tokens, weights: Sequence[float]) -> dict[str, str]:
    """The two words with the largest weights, and these, for a remark."""
    places = sorted(range(len(tokens)), key=weights.__getitem__, reverse=True)[:2]
    named: dict[str, str] = {}
    for rank, place in zip(("first", "second"), places, strict=False):
        named |= {rank: tokens[place], f"{rank}_share": write_percent(weights[place])}
    return named


def weigh_words(layer: Layer) -> list[list[float]]:
    """How each word divides its attention over all words."""
    weights: list[list[float]] = attend(layer)[1].weights.tolist()
    return weights


def recall_remaining_weight(draw: Random) -> Recall:
    """The weights of a row add up to 100 %."""
    first, second = draw.randint(20, 60), draw.randint(5, 20)
    given = {"first": f"{first} %", "second": f"{second} %"}
    return Recall(100 - first - second, given, unit=PERCENT)


def write_first_picture() -> None:
    """Compute what a new server shows before PyTorch is loaded, and write the file."""
    FILE.write_text(json.dumps(compute_first_pictures()), encoding="utf-8")
    print(f"{FILE.name}: {FILE.stat().st_size / 1000:.0f} kB")


def compute_first_pictures() -> dict[str, dict[str, Any]]:
    """The picture of each language's running sentence, as it is kept."""
    text = Prose("pages/01_start.py")
    sentences = {language: grammar.running.tokens for language, grammar in GRAMMARS.items()}
    return {
        language: keep_hero(make_hero(text, Reading(tokens, None, True), " ".join(tokens)))
        for language, tokens in sentences.items()
    }


if __name__ == "__main__":
    write_first_picture()
