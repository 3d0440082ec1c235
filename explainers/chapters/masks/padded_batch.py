"""Two sentences of different lengths in one batch: the shorter one is filled up, and hidden."""

import torch
from torch import Tensor

from explainers.attention import masks
from explainers.attention.single_head import single_head
from explainers.chapters.common.number_words import less_than
from explainers.chapters.common.score_matrix import Lab, Tokens, of_words, weight_panel
from explainers.chapters.masks import takeaway as taken
from explainers.translations import _
from explainers.ui.figure.figure import show_figure
from explainers.ui.figure.panels import Figure
from explainers.ui.page import Prose
from explainers.ui.untrusted_text import verbatim

OTHER = ("Fans", "praised", "players")
"""Words that training knows: none of them stands for a vector drawn at random."""
PAD = "[pad]"


def beside(tokens: Tokens) -> Tokens:
    """A second sentence that is not as long as the reader's."""
    return OTHER[:-1] if len(tokens) == len(OTHER) else OTHER


def filled(tokens: Tokens, length: int) -> Tokens:
    """The sentence with its filling."""
    return tokens + (PAD,) * (length - len(tokens))


def show_batch(text: Prose, lab: Lab) -> None:
    """The reader's sentence and another one, computed in one call."""
    sentences = lab.tokens, beside(lab.tokens)
    lengths = torch.tensor([len(sentence) for sentence in sentences])
    length = int(lengths.max())
    labs = [lab.reading(filled(sentence, length)) for sentence in sentences]
    layers = [each.layer for each in labs]
    mask = masks.build(masks.padding(lengths), length, length).to(layers[0].x.device)
    x = torch.stack([layer.x for layer in layers])[:, None]
    weights = single_head(x, layers[0].head(), mask).weights[:, 0]
    taken.batch(labs, lengths.tolist(), weights)
    alone = [single_head(*lab.reading(sentence).layer.single()).weights for sentence in sentences]
    text("batch", length=length, moved=less_than(most_moved(weights, alone)))
    if lab.layer.learned:
        text("unknown_filling", filling=verbatim(PAD))
    panels = [
        weight_panel(
            _("sentence {number}", number=n + 1),
            f"{of_words(len(sentence))}, {length - len(sentence)} × {PAD}",
            weights[n],
            mask[n, 0],
            filled(sentence, length),
        )
        for n, sentence in enumerate(sentences)
    ]
    alt = _("The weights of two sentences in one batch; the columns of the filling are 0.")
    origin = lab.origin_with(PAD)
    show_figure(Figure(lab.arranged(panels), alt), origin, "batch")


def most_moved(weights: Tensor, alone: list[Tensor]) -> float:
    """The largest difference that the batch makes to a sentence's own weights."""
    own = zip(weights, alone, strict=True)
    return max((w[: len(a), : len(a)] - a).abs().max().item() for w, a in own)
