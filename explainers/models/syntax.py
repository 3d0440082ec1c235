"""Heads that find a word's partner in the sentence, against the best fixed distance.

After Clark et al. 2019 (section 4.2), on sentences that are put together here, so that every
partner is known: a head is chosen on one half of them and measured on the other.
"""

from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from explainers.models.call import Layer
from explainers.models.probes import Say, first_token
from explainers.models.registry import ModelError
from explainers.models.run import run
from explainers.models.sentences import Said, put_together
from explainers.phrase import phrase

if TYPE_CHECKING:
    from explainers.models.load import Loaded

SENTENCES = 64
"""In each half."""


class Found(NamedTuple):
    """Of one relation: hits (layers, heads) in each half, and of the best distance in words."""

    chosen_on: Tensor
    measured_on: Tensor
    offset: int
    offset_hits: float
    pairs: int


def relations(loaded: "Loaded", say: Say = lambda *_: None) -> dict[str, Found]:
    """Every relation whose key a query of this model may see; `say` hears of every layer."""
    sentences = put_together(2 * SENTENCES)
    ids, real, belongs = tokenised(loaded, sentences)

    def look(layer: Layer) -> tuple[Tensor, Tensor]:
        say(layer.number)
        return chosen_words(layer, belongs)

    layers = run(loaded.model, read=look, input_ids=ids, attention_mask=real).layers
    chosen, seen = torch.stack([one for one, _ in layers]).cpu(), layers[0][1].cpu()
    names = sorted({name for one in sentences for name in one.pairs})
    found = {name: _found(name, sentences, chosen, seen) for name in names}
    return {name: one for name, one in found.items() if one}


def tokenised(loaded: "Loaded", sentences: list[Said]) -> tuple[Tensor, Tensor, Tensor]:
    """ids and what is not padding (batch, tokens), and which token spells which word.

    The last is boolean (batch, words, tokens). Each text begins with a token of the model's own,
    where the model may park what it has no use for.
    """
    first = first_token(loaded.tokenizer)
    rows, words_of = [], []
    for sentence in sentences:
        text = " ".join(sentence.words)
        encoded = loaded.tokenizer(text)
        if not encoded.encodings:
            raise ModelError(
                phrase("{model} does not say which letters a token stands for.", model=loaded.name)
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


def chosen_words(layer: Layer, belongs: Tensor) -> tuple[Tensor, Tensor]:
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


def _found(name: str, sentences: list[Said], chosen: Tensor, seen: Tensor) -> Found | None:
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
    return Found(hits[0], hits[1], best, share, len(halves[1]))
