"""Heads that find a word's grammatical partner, on sentences whose partners are known."""

import json
from collections import defaultdict
from random import Random
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from explainers.folders import ASSETS
from explainers.messages import N_
from explainers.models.attention_hook import RecordedAttention, run_model
from explainers.models.probes import ReportLayer, choose_first_token
from explainers.models.registry import ModelError

if TYPE_CHECKING:
    from explainers.models.load import RealModel


GRAMMAR_FILE = ASSETS / "text" / "grammar.json"
"""The words of each kind."""


class GrammarSentence(NamedTuple):
    """A sentence and, for each relation, (query, key) positions of its words."""

    words: list[str]
    pairs: dict[str, list[tuple[int, int]]]


def generate_sentences(count: int) -> list[GrammarSentence]:
    """So many sentences, the same on any machine."""
    random = Random(0)  # noqa: S311
    words_of = json.loads(GRAMMAR_FILE.read_text(encoding="utf-8"))
    return [generate_sentence(words_of, random) for _ in range(count)]


def generate_sentence(words_of: dict[str, list[str]], random: Random) -> GrammarSentence:
    """A sentence whose words stand at changing distances from their partners."""
    words: list[str] = []
    pairs: dict[str, list[tuple[int, int]]] = defaultdict(list)

    def add(kind: str) -> int:
        words.append(random.choice([word for word in words_of[kind] if word not in words[-2:]]))
        return len(words) - 1

    def relate(one: str, place: int, other: str, partner: int) -> None:
        pairs[f"{one} → {other}"].append((place, partner))
        pairs[f"{other} → {one}"].append((partner, place))

    def noun_phrase() -> int:
        determiner = add("determiner")
        adjectives = [add("adjective") for _ in range(random.choice((0, 0, 1, 2)))]
        noun = add("noun")
        relate("determiner", determiner, "noun", noun)
        for adjective in adjectives:
            relate("adjective", adjective, "noun", noun)
        return noun

    def with_more() -> int:
        noun = noun_phrase()
        if random.random() < 0.4:
            relate("preposition", add("preposition"), "its noun", noun_phrase())
        return noun

    subject = with_more()
    if random.random() < 0.4:
        add("adverb")
    verb = add("verb")
    relate("verb", verb, "subject", subject)
    relate("verb", verb, "object", with_more())
    return GrammarSentence(words, pairs)


SENTENCES_PER_HALF = 64
"""In each half."""


class RelationScore(NamedTuple):
    """Of one relation: hits (layers, heads) in each half, and of the best distance in words."""

    selection_hits: Tensor
    held_out_hits: Tensor
    offset: int
    offset_hits: float
    num_pairs: int


def measure_relations(
    loaded: "RealModel", say: ReportLayer = lambda *_: None
) -> dict[str, RelationScore]:
    """Every relation whose key a query of this model may see; `say` hears of every layer."""
    sentences = generate_sentences(2 * SENTENCES_PER_HALF)
    ids, real, belongs = tokenise_sentences(loaded, sentences)

    def look(layer: RecordedAttention) -> tuple[Tensor, Tensor]:
        say(layer.layer_index)
        return find_attended_words(layer, belongs)

    layers = run_model(loaded.model, read=look, input_ids=ids, attention_mask=real).layers
    chosen, seen = torch.stack([one for one, _ in layers]).cpu(), layers[0][1].cpu()
    names = sorted({name for one in sentences for name in one.pairs})
    found = {name: _score_relation(name, sentences, chosen, seen) for name in names}
    return {name: one for name, one in found.items() if one}


def tokenise_sentences(
    loaded: "RealModel", sentences: list[GrammarSentence]
) -> tuple[Tensor, Tensor, Tensor]:
    """ids and what is not padding (batch, tokens), and which token spells which word.

    The last is boolean (batch, words, tokens). Each text begins with a token of the model's own,
    where the model may park what it has no use for.
    """
    first = choose_first_token(loaded.tokenizer)
    rows, words_of = [], []
    for sentence in sentences:
        text = " ".join(sentence.words)
        encoded = loaded.tokenizer(text)
        if not encoded.encodings:
            raise ModelError(
                N_("{model} does not say which letters a token stands for.", model=loaded.name)
            )
        ends = torch.tensor([len(word) + 1 for word in sentence.words]).cumsum(0)
        offsets = encoded.encodings[0].offsets
        places = [int((ends < stop).sum()) if stop else -1 for _, stop in offsets]
        begins = encoded["input_ids"][0] == first
        rows.append(torch.tensor([*([] if begins else [first]), *encoded["input_ids"]]))
        words_of.append(torch.tensor([*([] if begins else [-1]), *places]))
    pad = torch.nn.utils.rnn.pad_sequence
    ids = pad(rows, batch_first=True, padding_value=first)
    words = pad(words_of, batch_first=True, padding_value=-1)
    real = pad([torch.ones(len(row), dtype=torch.long) for row in rows], batch_first=True)
    longest = max(len(sentence.words) for sentence in sentences)
    belongs = words[:, None, :] == torch.arange(longest)[:, None]
    device = loaded.model.device
    return ids.to(device), real.to(device), belongs.to(device)


def find_attended_words(layer: RecordedAttention, belongs: Tensor) -> tuple[Tensor, Tensor]:
    """The other word that each word looks at most (batch, heads, words), and what it may see.

    Of subwords: the sum over a key's, the mean over a query's.
    """
    spelled = belongs[:, None].to(layer.weights.dtype)  # (batch, 1, words, tokens)
    by_key = layer.weights @ spelled.transpose(-1, -2)
    length = spelled.sum(dim=-1, keepdim=True).clamp(min=1)
    by_word = spelled @ by_key / length  # (batch, heads, words, words)
    own = torch.eye(belongs.shape[1], dtype=torch.bool, device=by_word.device)
    absent = ~belongs.any(dim=-1)[:, None, None]
    return by_word.masked_fill(own | absent, -1).argmax(dim=-1), by_word.sum(dim=1) > 0


def _score_relation(
    name: str, sentences: list[GrammarSentence], chosen: Tensor, seen: Tensor
) -> RelationScore | None:
    """How often each head is right; none if the key comes later than a causal query."""
    halves: list[list[tuple[int, int, int]]] = [[], []]
    for number, sentence in enumerate(sentences):
        halves[number % 2] += [(number, *pair) for pair in sentence.pairs.get(name, [])]
    if not all(bool(seen[place].any()) for place in halves[0]):
        return None
    hits, offsets = [], []
    for half in halves:
        text, query, key = torch.tensor(half).unbind(dim=1)
        hits.append((chosen[:, text, :, query] == key[:, None, None]).float().mean(dim=0))
        offsets.append((key - query).tolist())
    best = max(sorted(set(offsets[0])), key=offsets[0].count)
    share = offsets[1].count(best) / len(offsets[1])
    return RelationScore(hits[0], hits[1], best, share, len(halves[1]))
