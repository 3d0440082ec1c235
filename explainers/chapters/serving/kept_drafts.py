"""Drafts that are kept or drawn again: what two models say, exchanged."""

import torch
from torch import Tensor

from explainers.attention.serving.accept_drafts import (
    keep_probability,
    left_over,
    written_distribution,
)
from explainers.chapters.serving.hero import write_gap
from explainers.chapters.serving.measured_serving import GUESSED
from explainers.models.served_prompts import TwoGuesses
from explainers.translations import _
from explainers.ui.figure.chart import show_chart
from explainers.ui.text.numbers import write_percent
from explainers.ui.untrusted_text import show_spaces


def name_words(guesses: TwoGuesses) -> list[str]:
    """The words that are told apart, and all others together."""
    return [*(word.strip() or show_spaces(word) for word in guesses.words), _("all others")]


def read_guesses(guesses: TwoGuesses) -> tuple[Tensor, Tensor]:
    """Both distributions (vocabulary,): q, which drafts, and p, which decides."""
    draft, target = (torch.tensor(one, dtype=torch.float64) for one in guesses[1:3])
    return draft / draft.sum(), target / target.sum()


def draw_guesses(guesses: TwoGuesses, origin: str) -> None:
    """A bar for each word: what both have, what is cut off, and what is filled up."""
    from explainers.charts.bars import draw_exchange, make_exchange_rows

    words, (draft, target) = name_words(guesses), read_guesses(guesses)
    rows = make_exchange_rows(words, draft.tolist(), target.tolist())
    shares = "; ".join(
        f"{word} {write_percent(q)}, {write_percent(p)}"
        for word, q, p in zip(words, draft.tolist(), target.tolist(), strict=True)
    )
    alt = _("Probability of each word in the draft and in the model: {shares}", shares=shares)
    parts = _("kept"), _("cut off: too often in the draft"), _("filled up: drawn again")
    show_chart(draw_exchange, rows, alt, "exchange", origin, length=len(words), parts=parts)


def name_exchange(guesses: TwoGuesses) -> dict[str, str]:
    """One word that is drafted too often, and one that is drafted too seldom."""
    words, (draft, target) = name_words(guesses), read_guesses(guesses)
    excess = draft - target
    most, least = int(excess[:-1].argmax()), int(excess[:-1].argmin())
    written = written_distribution(draft, target, left_over(draft, target))
    kept = keep_probability(draft, target)
    return {
        "word": words[most],
        "draft": write_percent(float(draft[most])),
        "target": write_percent(float(target[most])),
        "kept": write_percent(float(kept[most])),
        "other": words[least],
        "other_draft": write_percent(float(draft[least])),
        "other_target": write_percent(float(target[least])),
        "all_kept": write_percent(float((draft * kept).sum())),
        "gap": write_gap(float((written - target).abs().max())),
        "text": GUESSED,
        "seen": guesses.seen.strip(),
    }
