"""Two sentences of different lengths in one batch: the shorter one is filled up, and hidden."""

from typing import NamedTuple

import torch
from torch import Tensor

from explainers.attention import masks
from explainers.attention.single_head import single_head
from explainers.chapters.common.score_matrix import Lab, make_weight_panel, write_word_count
from explainers.chapters.masks.side_by_side import Computed
from explainers.toys.grammar import GRAMMARS, find_language
from explainers.toys.layers import Layer, Tokens
from explainers.translations import _
from explainers.ui.figure.panels import Figure
from explainers.ui.text.numbers import bound_rounding
from explainers.ui.untrusted_text import verbatim

TOPIC = 2
"""Of the second sentence: sport."""
PAD = "[pad]"


def compute_batch_weights(layer: Layer, other: Layer, lengths: list[int]) -> Computed:
    """Two sentences in one call, the filling of the shorter one hidden."""
    x = torch.stack([layer.x, other.x])[:, None]
    mask = masks.build(masks.padding(torch.tensor(lengths)), *layer.mask.shape).to(x.device)
    weights = single_head(x, layer.head(), mask).weights[:, 0]
    return {"sentence 1": weights[0], "sentence 2": weights[1]}


def choose_second_sentence(tokens: Tokens) -> Tokens:
    """A second sentence of words that training knows, not as long as the reader's."""
    grammar = GRAMMARS[find_language(tokens)]
    who, verb, whom = (grammar.list_words(part, TOPIC) for part in ("many", "verb", "many"))
    other = who[1].capitalize(), verb[0], whom[0]
    return other[:-1] if len(tokens) == len(other) else other


def pad_sentence(tokens: Tokens, length: int) -> Tokens:
    """The sentence with its filling."""
    return tokens + (PAD,) * (length - len(tokens))


class SentenceBatch(NamedTuple):
    """Two sentences filled up to one length, and their weights from one call."""

    sentences: tuple[Tokens, Tokens]
    layers: list[Layer]
    shown: Computed

    @property
    def lengths(self) -> list[int]:
        """The true ones, without the filling."""
        return [len(sentence) for sentence in self.sentences]

    def compare(self) -> float:
        """The largest difference to the weights of each sentence computed alone."""
        readers = [self.layers[0].reading(sentence) for sentence in self.sentences]
        alone = [single_head(*layer.single()).weights for layer in readers]
        return measure_largest_change(torch.stack([*self.shown.values()]), alone)

    def name_sizes(self) -> dict[str, object]:
        """What the text says of the batch."""
        moved = bound_rounding(self.compare())
        return {"length": max(self.lengths), "moved": moved, "filling": verbatim(PAD)}


def fill_batch(lab: Lab) -> SentenceBatch:
    """The reader's sentence and another one, computed in one call."""
    sentences = lab.tokens, choose_second_sentence(lab.tokens)
    lengths = [len(sentence) for sentence in sentences]
    layers = [lab.layer.reading(pad_sentence(sentence, max(lengths))) for sentence in sentences]
    return SentenceBatch(sentences, layers, compute_batch_weights(layers[0], layers[1], lengths))


def draw_batch(lab: Lab, batch: SentenceBatch) -> Figure:
    """The weights of both sentences; nobody looks at the filling."""
    length = max(batch.lengths)
    real = masks.build(masks.padding(torch.tensor(batch.lengths)), length, length)
    panels = [
        make_weight_panel(
            _("sentence {number}", number=n + 1),
            f"{write_word_count(len(sentence))}, {length - len(sentence)} × {PAD}",
            batch.shown[f"sentence {n + 1}"],
            real[n, 0],
            pad_sentence(sentence, length),
        )
        for n, sentence in enumerate(batch.sentences)
    ]
    alt = _("The weights of two sentences in one batch; the columns of the filling are 0.")
    return Figure(lab.arranged(panels), alt)


def measure_largest_change(weights: Tensor, alone: list[Tensor]) -> float:
    """The largest difference that the batch makes to a sentence's own weights."""
    own = zip(weights, alone, strict=True)
    return max((w[: len(a), : len(a)] - a).abs().max().item() for w, a in own)
