"""The hero of the page: letters, the tokens that cover them, and a vector below each token."""

from collections.abc import Mapping, Sequence
from typing import Any

from explainers.attention.positions import sinusoidal
from explainers.chapters.tokens.cut_text import (
    BYTE_PAIRS,
    CHARACTERS,
    CORPUS,
    MODEL_TOKENS,
    MOST_MERGES,
    WORDS,
    Token,
    cut_by_model,
    cut_characters,
    cut_words,
    encode_byte_pairs,
    find_model_id,
    label_bytes,
    learn_shipped_merges,
    name_pair,
    read_models,
)
from explainers.device import choose_device
from explainers.takeaway.recipe import Recipe
from explainers.toys import examples
from explainers.toys.byte_pairs import encode, encode_in_stages, spell_token
from explainers.toys.sentence import PRESETS, Sentence, split_characters
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.figure.chart import tabulate
from explainers.ui.figure.hero import Experiment, Hero, HeroChoice, begin_again, round_numbers
from explainers.ui.page import Prose
from explainers.ui.provenance import learned_numbers, random_weights, real_model
from explainers.ui.session import USUAL_UNIT
from explainers.ui.takeaway_files import take

WIDTH = 8
"""Numbers of a vector."""
SENTENCES = (
    *("hero_caption", "hero_merged", "hero_joined", "hero_bytes"),
    *("hero_words", "hero_unknown", "hero_characters", "hero_model", "hero_model_bare"),
)
VIETNAMESE = PRESETS["Vietnamese"]


def make_hero(text: Prose, sentence: Sentence, seed: int) -> Hero:
    """The sentence cut in each way, and after each merge."""
    models, _errors = read_models(sentence.text)
    numbers = compute_numbers(sentence, models, seed)
    units = (WORDS, CHARACTERS, BYTE_PAIRS, *([MODEL_TOKENS] if models else ()))
    is_own = sentence.text != controls.sentence.unchosen
    usual = MODEL_TOKENS if models and is_own else BYTE_PAIRS
    begin_again(USUAL_UNIT, usual, controls.token_unit)
    merges = tuple(range(MOST_MERGES + 1))
    choices = [
        HeroChoice.read(controls.token_unit, units, [*map(_, units)], usual),
        HeroChoice.read(controls.merges, merges),
        HeroChoice(controls.sentence, (), sentence.text, is_elsewhere=True),
    ]
    if models:
        names = tuple(models)
        choices.append(HeroChoice.read(controls.tokenizer, names, names, names[0]))
    alt = _("The letters of a text, the tokens that cover them, and a vector below each token.")

    def read_chosen() -> dict[str, Any]:
        return {one.control.key: hero.chosen(one.control) for one in choices}

    hero = Hero(
        "tokens",
        alt,
        numbers,
        choices,
        SENTENCES,
        list_experiments(text, numbers, models),
        lambda: describe_origin(numbers, read_chosen(), seed),
        lambda: make_token_table(list_shown(numbers, read_chosen())),
        (controls.token_unit, controls.tokenizer),
    )
    return hero


def compute_numbers(
    sentence: Sentence, models: Mapping[str, list[Token]], seed: int
) -> dict[str, Any]:
    """All that the picture needs: every way to cut, and what each token's vector is made of."""
    learned = learn_shipped_merges()
    stages = encode_in_stages(sentence.text, learned)
    used = {token for ids in stages.values() for token in ids}
    vocabulary = {
        str(token): (label_bytes(token, learned), len(spell_token(token, learned)))
        for token in sorted(used)
    }
    cuts = {WORDS: cut_words(sentence), CHARACTERS: cut_characters(sentence.text), **models}
    labels = [label for label, _length in vocabulary.values()]
    labels += [token.label for tokens in cuts.values() for token in tokens]
    names = tuple(dict.fromkeys(labels))
    # The space in front of a token is not drawn: a word has the same row on every page.
    bare = tuple(name.strip() for name in names)
    rows = round_numbers(examples.draw_embeddings(bare, WIDTH, seed))
    longest = max(len(stages[0]), *map(len, cuts.values()))
    letters = split_characters(sentence.text)
    return {
        "letters": letters,
        "bytes": [len(letter.encode()) for letter in letters],
        "vocabulary": vocabulary,
        "stages": [[merges, ids] for merges, ids in stages.items()],
        "merges": [[*name_pair(merge, learned), merge.count] for merge in learned],
        "cuts": {name: [list(token) for token in tokens] for name, tokens in cuts.items()},
        "rows": dict(zip(names, rows, strict=True)),
        "own": {name: read_own_rows(name, cut) for name, cut in models.items()},
        "positions": round_numbers(sinusoidal(longest, WIDTH, examples.LONGEST)),
    }


def read_own_rows(model: str, cut: list[Token]) -> dict[str, Any]:
    """The beginning of each token's vector in a model's files, and how long it is."""
    from explainers.models.registry import locate_folder  # the first paint needs no models
    from explainers.models.token_text import read_embeddings

    ids = list(dict.fromkeys(int(token.id) for token in cut))
    vectors = read_embeddings(locate_folder(find_model_id(model)), ids)
    if vectors is None:
        return {"width": 0, "rows": {}}
    rows = round_numbers(vectors[:, :WIDTH])
    return {"width": vectors.shape[1], "rows": dict(zip(map(str, ids), rows, strict=True))}


def list_shown(
    numbers: Mapping[str, Any], chosen: Mapping[str, Any]
) -> list[tuple[str, str, list[float]]]:
    """Label, id and vector of each token that is seen."""
    unit = chosen[controls.token_unit.key]
    if unit == MODEL_TOKENS:
        model = chosen[controls.tokenizer.key]
        own = numbers["own"][model]["rows"]
        return [
            (label, token, own.get(token, [])) for label, token, *_edges in numbers["cuts"][model]
        ]
    if unit == BYTE_PAIRS:
        merges = chosen[controls.merges.key]
        ids = [ids for learned, ids in numbers["stages"] if learned <= merges][-1]
        cut = [(numbers["vocabulary"][str(token)][0], str(token)) for token in ids]
    else:
        cut = [(label, token) for label, token, *_edges in numbers["cuts"][unit]]
    return [
        (label, token, [e + p for e, p in zip(numbers["rows"][label], position, strict=True)])
        for (label, token), position in zip(cut, numbers["positions"], strict=False)
    ]


def make_token_table(shown: Sequence[tuple[str, str, list[float]]]) -> Any:
    """The tokens that are seen, with their ids and their vectors."""
    rows = [[label, token, place, *row] for place, (label, token, row) in enumerate(shown)]
    columns = [_("token"), _("id"), _("position"), *(f"{n}" for n in range(WIDTH))]
    return tabulate(rows, columns[: len(rows[0])] if rows else columns)


def list_experiments(
    text: Prose, numbers: Mapping[str, Any], models: Mapping[str, list[Token]]
) -> list[Experiment]:
    """What a reader can try, each with the numbers that it will show."""
    before, after = (len(numbers["stages"][at][1]) for at in (0, -1))
    nothing = text.fill("try_nothing", tokens=before, merged=after)
    model = next(iter(models), None)
    usual: dict[str, Any]
    other: Sequence[object]
    if model:
        usual = {"unit": MODEL_TOKENS, "tokenizer": model}
        other = cut_by_model(VIETNAMESE, find_model_id(model))
    else:
        usual = {"unit": BYTE_PAIRS, "merges": MOST_MERGES}
        other = encode(VIETNAMESE, learn_shipped_merges())
    language = {
        "characters": len(split_characters(VIETNAMESE)),
        "tokens": len(other),
        "bytes": len(VIETNAMESE.encode()),
    }
    experiments = [
        Experiment("nothing", nothing, {"unit": BYTE_PAIRS, "merges": 0}),
        Experiment(
            "vietnamese", text.fill("try_vietnamese", **language), {**usual, "text": VIETNAMESE}
        ),
    ]
    if not model:
        longer = text.fill("try_characters", tokens=len(numbers["cuts"][CHARACTERS]))
        return [*experiments, Experiment("characters", longer, {"unit": CHARACTERS})]
    remark = text.fill("try_model", model=model, tokens=len(models[model]), merged=after)
    return [*experiments, Experiment("model", remark, usual)]


def describe_origin(numbers: Mapping[str, Any], chosen: Mapping[str, Any], seed: int) -> str:
    """Where the numbers of the tokens come from, and their vectors."""
    unit = chosen[controls.token_unit.key]
    if unit == MODEL_TOKENS:
        model = chosen[controls.tokenizer.key]
        width = numbers["own"][model]["width"]
        vectors = _("{shown} of {all} numbers of each vector", shown=WIDTH, all=width)
        return real_model(f"{model}, {vectors}")
    cut = _("numbered by frequency in a built-in text")
    if unit == BYTE_PAIRS:
        cut = learned_numbers(_("byte pairs of a built-in text"))
    if unit == CHARACTERS:
        cut = _("numbered by Unicode")
    vectors = random_weights(seed, choose_device())
    return _("{cut}; vectors: {vectors}", cut=cut, vectors=vectors)


def take_cut(text: str, unit: str, merges: int) -> None:
    """The ids to take away; only byte pairs are computed again."""
    if unit != BYTE_PAIRS:
        take("tokens")
        return
    ids = encode(text, learn_shipped_merges()[:merges])
    inputs = {"text": text, "corpus": CORPUS.read_text(encoding="utf-8"), "merges": merges}
    take("tokens", Recipe(_("Byte pairs"), encode_byte_pairs, inputs, {"ids": ids}))
