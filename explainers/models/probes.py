"""Texts on which heads are measured: said twice, prose, and sentences with grammatical partners."""

import json
from collections import defaultdict
from collections.abc import Callable
from random import Random
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from explainers.folders import ASSETS
from explainers.models.attention_hook import RecordedAttention, run_model
from explainers.models.registry import ModelError

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

    from explainers.models.load import RealModel

ReportLayer = Callable[[int], None]
"""Hears of every layer that is done, by its number."""
PASSAGES_FILE = ASSETS / "text" / "passages.txt"
NATURAL_LENGTH = 64
"""Tokens of a passage, as Gu et al. 2024 measure sinks."""
REPEATED_LENGTH, NUM_TEXTS = 50, 8
"""Random tokens that are said twice, and how many such texts are read."""


class Probe(NamedTuple):
    """ids (batch, tokens), and which of them are punctuation or the tokenizer's own tokens."""

    ids: Tensor
    marks: Tensor


def make_repeated_probe(real_model: "RealModel") -> Probe:
    """50 random tokens and the same 50 again, behind a first token that stands for no word."""
    tokenizer = real_model.tokenizer
    special = set(tokenizer.all_special_ids)
    ordinary = torch.tensor([n for n in range(len(tokenizer)) if n not in special])
    generator = torch.Generator().manual_seed(0)
    indices = torch.randint(len(ordinary), (NUM_TEXTS, REPEATED_LENGTH), generator=generator)
    words = ordinary[indices]
    first, last = choose_first_token(tokenizer), tokenizer.sep_token_id
    last = last if first == tokenizer.cls_token_id else None
    parts = [_repeat_token(first), words, words, _repeat_token(last)]
    return _mark_probe(real_model, torch.cat(parts, dim=1))


def make_natural_probe(real_model: "RealModel") -> Probe:
    """Eight passages, written for this, each cut to 64 tokens."""
    texts = PASSAGES_FILE.read_text(encoding="utf-8").split("\n\n")
    token_ids = real_model.tokenizer(texts, truncation=True, max_length=NATURAL_LENGTH)["input_ids"]
    if {len(ids) for ids in token_ids} != {NATURAL_LENGTH}:
        raise ModelError(
            "{model} finds fewer than {count} tokens in a passage.",
            model=real_model.name,
            count=NATURAL_LENGTH,
        )
    return _mark_probe(real_model, torch.tensor(token_ids))


def choose_first_token(tokenizer: "PreTrainedTokenizerBase") -> int:
    """What a model puts before a text, else its token for the beginning, or the end, of one."""
    candidates = tokenizer.cls_token_id, tokenizer.bos_token_id, tokenizer.eos_token_id
    return next((token for token in candidates if token is not None), 0)


def _repeat_token(token: int | None) -> Tensor:
    """The same token for each text, or nothing."""
    return torch.tensor([[] if token is None else [token]] * NUM_TEXTS, dtype=torch.long)


def _mark_probe(real_model: "RealModel", ids: Tensor) -> Probe:
    special = set(real_model.tokenizer.all_special_ids)
    texts = {n: real_model.tokenizer.decode([n]) for n in set(ids.flatten().tolist())}
    mark_ids = {n for n, text in texts.items() if n in special or not any(map(str.isalnum, text))}
    marks = torch.tensor([[int(n) in mark_ids for n in row] for row in ids])
    return Probe(ids.to(real_model.model.device), marks.to(real_model.model.device))


GRAMMAR_FILE = ASSETS / "text" / "grammar.json"
"""Words by part of speech."""


class GrammarSentence(NamedTuple):
    """A sentence and, for each relation such as "verb → object", its (query, key) word indices."""

    words: list[str]
    pairs: dict[str, list[tuple[int, int]]]


def generate_sentences(count: int) -> list[GrammarSentence]:
    """Generate sentences, the same ones on any machine."""
    random = Random(0)  # noqa: S311
    words_of = json.loads(GRAMMAR_FILE.read_text(encoding="utf-8"))
    return [generate_sentence(words_of, random) for _ in range(count)]


def generate_sentence(words_of: dict[str, list[str]], random: Random) -> GrammarSentence:
    """Generate a sentence in which the distance between partners varies."""
    words: list[str] = []
    pairs: dict[str, list[tuple[int, int]]] = defaultdict(list)

    def add(kind: str) -> int:
        words.append(random.choice([word for word in words_of[kind] if word not in words[-2:]]))
        return len(words) - 1

    def relate(name: str, index: int, partner_name: str, partner_index: int) -> None:
        pairs[f"{name} → {partner_name}"].append((index, partner_index))
        pairs[f"{partner_name} → {name}"].append((partner_index, index))

    def add_noun_phrase() -> int:
        determiner = add("determiner")
        adjectives = [add("adjective") for _ in range(random.choice((0, 0, 1, 2)))]
        noun = add("noun")
        relate("determiner", determiner, "noun", noun)
        for adjective in adjectives:
            relate("adjective", adjective, "noun", noun)
        return noun

    def add_long_noun_phrase() -> int:
        noun = add_noun_phrase()
        if random.random() < 0.4:
            relate("preposition", add("preposition"), "its noun", add_noun_phrase())
        return noun

    subject = add_long_noun_phrase()
    if random.random() < 0.4:
        add("adverb")
    verb = add("verb")
    relate("verb", verb, "subject", subject)
    relate("verb", verb, "object", add_long_noun_phrase())
    return GrammarSentence(words, pairs)


SENTENCES_PER_HALF = 64
"""A head is selected on one half of the sentences and scored on the other."""


def measure_relations(
    real_model: "RealModel", report: ReportLayer = lambda *_: None
) -> dict[str, tuple[Tensor, Tensor]]:
    """Score every relation whose key the model's queries may attend to, layer by layer.

    How often each head finds the partner (layers, heads, 2): in the half of the sentences on which
    heads are selected, and in the other. Beside it the commonest distance in words of the first
    half, how often it is right in the other, and of how many pairs (3,).
    """
    sentences = generate_sentences(2 * SENTENCES_PER_HALF)
    ids, padding_mask, spelling = tokenise_sentences(real_model, sentences)

    def record(attention: RecordedAttention) -> tuple[Tensor, Tensor]:
        report(attention.layer_index)
        return find_attended_words(attention, spelling)

    model = real_model.model
    layers = run_model(model, record=record, input_ids=ids, attention_mask=padding_mask).layers
    attended = torch.stack([words for words, _ in layers]).cpu()
    allowed = layers[0][1].cpu()
    names = sorted({name for sentence in sentences for name in sentence.pairs})
    scores = {name: _score_relation(name, sentences, attended, allowed) for name in names}
    return {name: score for name, score in scores.items() if score}


def tokenise_sentences(
    real_model: "RealModel", sentences: list[GrammarSentence]
) -> tuple[Tensor, Tensor, Tensor]:
    """Token ids and padding mask (batch, tokens), and the spelling (batch, words, tokens).

    The spelling is boolean: True where a token is a part of a word. Each text begins with a special
    token, on which the model may park weight that it has no use for.
    """
    first = choose_first_token(real_model.tokenizer)
    id_rows, word_rows = [], []
    for sentence in sentences:
        text = " ".join(sentence.words)
        encoded = real_model.tokenizer(text)
        if not encoded.encodings:
            raise ModelError(
                "{model} does not say which letters a token stands for.", model=real_model.name
            )
        ends = torch.tensor([len(word) + 1 for word in sentence.words]).cumsum(0)
        offsets = encoded.encodings[0].offsets
        word_indices = [int((ends < stop).sum()) if stop else -1 for _, stop in offsets]
        has_first_token = encoded["input_ids"][0] == first
        id_rows.append(torch.tensor([*([] if has_first_token else [first]), *encoded["input_ids"]]))
        word_rows.append(torch.tensor([*([] if has_first_token else [-1]), *word_indices]))
    pad = torch.nn.utils.rnn.pad_sequence
    ids = pad(id_rows, batch_first=True, padding_value=first)
    words = pad(word_rows, batch_first=True, padding_value=-1)
    ones = [torch.ones(len(row), dtype=torch.long) for row in id_rows]
    padding_mask = pad(ones, batch_first=True)
    longest = max(len(sentence.words) for sentence in sentences)
    spelling = words[:, None, :] == torch.arange(longest)[:, None]
    device = real_model.model.device
    return ids.to(device), padding_mask.to(device), spelling.to(device)


def find_attended_words(attention: RecordedAttention, spelling: Tensor) -> tuple[Tensor, Tensor]:
    """The other word with the largest weight (batch, heads, words), and which words are allowed.

    Weights are summed over the tokens of a key word and averaged over those of a query word.
    """
    spelled = spelling[:, None].to(attention.weights.dtype)  # (batch, 1, words, tokens)
    by_key = attention.weights @ spelled.transpose(-1, -2)
    length = spelled.sum(dim=-1, keepdim=True).clamp(min=1)
    by_word = spelled @ by_key / length  # (batch, heads, words, words)
    is_itself = torch.eye(spelling.shape[1], dtype=torch.bool, device=by_word.device)
    is_absent = ~spelling.any(dim=-1)[:, None, None]
    others = by_word.masked_fill(is_itself | is_absent, -1)
    return others.argmax(dim=-1), by_word.sum(dim=1) > 0


def _score_relation(
    name: str, sentences: list[GrammarSentence], attended: Tensor, allowed: Tensor
) -> tuple[Tensor, Tensor] | None:
    """Count how often each head is right; None if a causal mask forbids the relation."""
    halves: list[list[tuple[int, int, int]]] = [[], []]
    for index, sentence in enumerate(sentences):
        halves[index % 2] += [(index, *pair) for pair in sentence.pairs.get(name, [])]
    if not all(bool(allowed[place].any()) for place in halves[0]):
        return None
    hits, offsets = [], []
    for half in halves:
        text, query, key = torch.tensor(half).unbind(dim=1)
        hits.append((attended[:, text, :, query] == key[:, None, None]).float().mean(dim=0))
        offsets.append((key - query).tolist())
    commonest = max(sorted(set(offsets[0])), key=offsets[0].count)
    offset_hits = offsets[1].count(commonest) / len(offsets[1])
    offset = torch.tensor([commonest, offset_hits, len(halves[1])])
    return torch.stack(hits, dim=-1), offset
