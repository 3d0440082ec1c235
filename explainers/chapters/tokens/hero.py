"""Four ways to cut a text: letters, the tokens that cover them, and a vector below each token."""

from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

import streamlit as st

from explainers.attention.positions import sinusoidal
from explainers.device import choose_device
from explainers.folders import ASSETS
from explainers.messages import N_
from explainers.models.registry import ModelError
from explainers.takeaway.recipe import Recipe
from explainers.toys import byte_pairs, examples
from explainers.toys.byte_pairs import Merge
from explainers.toys.sentence import PRESETS, Sentence, split_characters, split_words
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.figure.chart import tabulate
from explainers.ui.figure.hero import Experiment, Hero, HeroChoice, begin_again, round_numbers
from explainers.ui.page import Prose
from explainers.ui.page_parts.check_yourself import Recall
from explainers.ui.provenance import learned_numbers, random_weights, real_model
from explainers.ui.session import USUAL_UNIT
from explainers.ui.takeaway_files import take

CORPUS = ASSETS / "text" / "corpus.txt"
MOST_MERGES = 250
MOST_MODELS = 4
WORDS, CHARACTERS = N_("words"), N_("characters")
BYTE_PAIRS, MODEL_TOKENS = N_("byte pairs"), N_("model tokens")


class Token(NamedTuple):
    """What is printed, its number, and from where to where it reaches, counted in characters.

    A token that is a part of a character ends at a fraction of it.
    """

    label: str
    id: str
    start: float
    end: float


@st.cache_data(show_spinner=False, max_entries=1)
def learn_shipped_merges() -> list[Merge]:
    """All the merges that the slider offers, learned on the shipped text."""
    return byte_pairs.learn_merges(CORPUS.read_text(encoding="utf-8"), MOST_MERGES)


@st.cache_data(show_spinner=False, max_entries=1)
def count_vocabulary() -> dict[str, int]:
    """Every word of the shipped text with a number, the most frequent first."""
    counts = Counter(split_words(CORPUS.read_text(encoding="utf-8")))
    return {word: n for n, (word, _unused) in enumerate(counts.most_common())}


def encode_byte_pairs(text: str, corpus: str, merges: int) -> dict[str, list[int]]:
    """The ids of the tokens that cut the text, with as many merges as were learned."""
    return {"ids": byte_pairs.encode(text, byte_pairs.learn_merges(corpus, merges))}


def cut_words(sentence: Sentence) -> list[Token]:
    """The words with their numbers; a word that the shipped text lacks has none."""
    known, letters = count_vocabulary(), split_characters(sentence.text)
    tokens, end = [], 0
    for word in sentence.tokens:
        size = len(split_characters(word))
        while "".join(letters[end : end + size]) != word and end < len(letters):
            end += 1
        tokens.append(Token(word, str(known.get(word, "")), end, end + size))
        end += size
    return tokens


def cut_characters(text: str) -> list[Token]:
    """Each character, numbered by Unicode; some are written with several numbers."""
    letters = split_characters(text)
    return [
        Token(one, " ".join(str(ord(c)) for c in one), n, n + 1) for n, one in enumerate(letters)
    ]


def label_bytes(token: int, merges: Sequence[Merge]) -> str:
    """Text where the bytes are whole characters, otherwise the bytes themselves."""
    spelled = byte_pairs.spell_token(token, merges)
    try:
        return spelled.decode()
    except UnicodeDecodeError:
        return spelled.hex(" ")


def read_models(text: str) -> tuple[dict[str, list[Token]], list[ModelError]]:
    """The text as published models on this machine cut it, by their names; and what went wrong."""
    from explainers.models.token_text import list_models_with_tokenizer

    cuts, errors = {}, []
    for model in list_models_with_tokenizer()[:MOST_MODELS]:
        try:
            cuts[model.name] = cut_by_model(text, model.id)
        except ModelError as error:
            errors.append(error)
    return cuts, errors


def find_model_id(model_name: str) -> str:
    """What a model is asked for by."""
    from explainers.models.token_text import list_models_with_tokenizer

    return next(model.id for model in list_models_with_tokenizer() if model.name == model_name)


def cut_by_model(text: str, model_id: str) -> list[Token]:
    """A published model's tokens; those that it adds itself cover no character."""
    from explainers.models.token_text import label_tokens, read_tokenizer

    tokenizer = read_tokenizer(model_id)
    encoded, letters = tokenizer.encode(text), split_characters(text)
    # at which character, counted as readers do, each of Python's characters begins
    edges = [n + part / len(one) for n, one in enumerate(letters) for part in range(len(one))]
    edges.append(float(len(letters)))
    groups: list[list[int]] = []  # tokens that are parts of the same characters
    spans: list[tuple[int, int]] = []
    labels = label_tokens(encoded, tokenizer)
    for place, (start, stop) in enumerate(encoded.offsets):
        if spans and start < min(spans[-1][1], stop):
            groups[-1].append(place)
            spans[-1] = spans[-1][0], max(spans[-1][1], stop)
        else:
            has_space = start < stop and labels[place].startswith(" ") and text[start] != " "
            before = spans[-1][1] if spans else 0
            groups.append([place])
            spans.append((start - (has_space and start > before), stop))
    tokens: list[Token] = []
    for group, (start, stop) in zip(groups, spans, strict=True):
        first, last = edges[start], edges[stop]
        if first == last:  # a token of the model's own, where the text begins or ends
            first = last = edges[-1] if tokens else 0.0
        part = (last - first) / len(group)
        tokens += [
            Token(labels[place], str(encoded.ids[place]), first + n * part, first + (n + 1) * part)
            for n, place in enumerate(group)
        ]
    return tokens


def name_side(token: int, merges: Sequence[Merge]) -> str:
    """A side of a merge; what is only a part of a character is told by its bytes."""
    label = label_bytes(token, merges)
    spelled = byte_pairs.spell_token(token, merges)
    return mark_spaces(label) if label.encode() == spelled else _("bytes {bytes}", bytes=label)


def mark_spaces(label: str) -> str:
    """Spaces and ends of lines that can be seen."""
    return label.replace(" ", "␣").replace("\n", "⏎")


TWO_MERGES = "banana", "cocoa", "Mississippi", "hocus pocus", "tartar", "murmur", "salsa", "papaya"


def recall_tokens_left(draw: Random) -> Recall:
    """How many tokens two merges leave of a word."""
    word = draw.choice(TWO_MERGES)
    merges = byte_pairs.learn_merges(word, 2)

    def spell(token: int) -> str:
        return byte_pairs.spell_token(token, merges).decode()

    ids = byte_pairs.encode(word, merges)
    first, second = (f"“{spell(one.left)}” + “{spell(one.right)}”" for one in merges)
    cut, given = " · ".join(map(spell, ids)), {"word": word, "first": first, "second": second}
    return Recall(len(ids), given, worked={"cut": cut})


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

    hero = Hero(
        "tokens",
        alt,
        numbers,
        choices,
        SENTENCES,
        list_experiments(text, numbers, models),
        lambda: describe_origin(hero, seed),
        lambda: make_token_table(hero),
        (controls.token_unit, controls.tokenizer),
    )
    return hero


def compute_numbers(
    sentence: Sentence, models: Mapping[str, list[Token]], seed: int
) -> dict[str, Any]:
    """All that the picture needs: every way to cut, and what each token's vector is made of."""
    learned = learn_shipped_merges()
    stages = byte_pairs.encode_in_stages(sentence.text, learned)
    used = {token for ids in stages.values() for token in ids}
    vocabulary = {
        str(token): (label_bytes(token, learned), len(byte_pairs.spell_token(token, learned)))
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
        "merges": [
            [name_side(one.left, learned), name_side(one.right, learned), one.count]
            for one in learned
        ],
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


def make_token_table(hero: Hero) -> Any:
    """The tokens that are seen, with their ids and their vectors."""
    numbers, unit = hero.numbers, hero.chosen(controls.token_unit)
    model = hero.chosen(controls.tokenizer) if unit == MODEL_TOKENS else None
    if unit == BYTE_PAIRS:
        merges = hero.chosen(controls.merges)
        ids = [ids for learned, ids in numbers["stages"] if learned <= merges][-1]
        cut = [(numbers["vocabulary"][str(token)][0], str(token)) for token in ids]
    else:
        cut = [(label, token) for label, token, *_edges in numbers["cuts"][model or unit]]
    rows: list[list[Any]] = []
    for place, (label, token) in enumerate(cut):
        if model:
            vector = numbers["own"][model]["rows"].get(token, [])
        else:
            parts = numbers["rows"][label], numbers["positions"][place]
            vector = map(sum, zip(*parts, strict=True))
        rows.append([label, token, place, *vector])
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
        other = byte_pairs.encode(VIETNAMESE, learn_shipped_merges())
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


def describe_origin(hero: Hero, seed: int) -> str:
    """Where the numbers of the tokens come from, and their vectors."""
    unit = hero.chosen(controls.token_unit)
    if unit == MODEL_TOKENS:
        model = hero.chosen(controls.tokenizer)
        width = hero.numbers["own"][model]["width"]
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
    ids = byte_pairs.encode(text, learn_shipped_merges()[:merges])
    inputs = {"text": text, "corpus": CORPUS.read_text(encoding="utf-8"), "merges": merges}
    take("tokens", Recipe(_("Byte pairs"), encode_byte_pairs, inputs, {"ids": ids}))
