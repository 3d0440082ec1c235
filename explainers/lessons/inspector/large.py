"""The chosen head on the page, and what its rows sum to."""

import torch

from explainers.lessons.inspector.head import WEIGHTS, Head
from explainers.lessons.taken.real import head_recipe
from explainers.ui.language import said
from explainers.ui.numbers import explore
from explainers.ui.plain import verbatim
from explainers.ui.prose import Prose
from explainers.ui.source import show_source
from explainers.ui.takeaway import take

WRITTEN_OUT = 8
"""Weights of a row; more nobody adds up."""


def show_head(text: Prose, head: Head, is_dimmed: bool, queries_down: bool) -> None:
    """The chosen head with all its numbers, and what its rows sum to."""
    text("head")
    looks = [
        said("{query} looks most at {key}", query=token, key=head.tokens[place])
        for token, place in zip(head.tokens, head.weights.argmax(dim=-1).tolist(), strict=True)
    ]
    alt = said(
        "{head} of {model}: {looks}", head=head.said, model=head.seen.name, looks="; ".join(looks)
    )
    panels = head.panels(is_dimmed, queries_down)
    take("head", head_recipe(head.said, head.ran, head.head))
    explore(panels, head.working, head.seen.origin, "head", alt, first=WEIGHTS)
    if is_dimmed:
        share = head.weights[:, 0].mean().item()
        text("dimmed_head", share=f"{100 * share:.1f}", left=f"{1 - share:.3f}")
    else:
        _say_sums(text, head)
    show_source(head.function)


def _say_sums(text: Prose, head: Head) -> None:
    sums = head.weights.sum(dim=-1)
    least, most = sums.min().item(), sums.max().item()
    forbidden = head.weights[~torch.tensor(head.allowed, device=head.weights.device)]
    row = len(head.tokens) - 1
    text(
        "sums",
        token=verbatim(head.tokens[row]),
        row=" + ".join(f"{weight:.4f}" for weight in head.numbers[WEIGHTS][row][:WRITTEN_OUT]),
        more=" + …" if row >= WRITTEN_OUT else "",
        total=f"{sums[row]:.4f}",
        least=f"{least:.4f}",
        most=f"{most:.4f}",
        forbidden=len(forbidden),
        largest=f"{max(forbidden.tolist(), default=0.0):g}",
    )
