"""Random or trained: the head that a page looks at, its controls, and what must be said of it."""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st
import torch

from explainers.attention.single_head import SingleHead
from explainers.chapters.common.mask_names import choose_mask, say_mask
from explainers.messages import N_
from explainers.toys import examples, trained_heads
from explainers.toys.examples import Toy
from explainers.toys.trained_heads import D_MODEL, HEAD_DIMS, RULES, SEEDS
from explainers.translations import _
from explainers.ui import page
from explainers.ui.controls import controls
from explainers.ui.provenance import random_weights, trained_weights
from explainers.ui.untrusted_text import verbatim

ABLE = 32
"""The d_k where a page offers none: with 4, a trained head is wrong more often than right."""


@dataclass(frozen=True)
class HeadChoices:
    """What the reader can choose about one head, as far as there is such a head."""

    tokens: tuple[str, ...]
    is_trained: bool
    mask: str
    d_model: int
    head_dim: int
    value_dim: int
    seed: int

    def toy(self, tokens: tuple[str, ...]) -> Toy:
        """A sentence, this one or another, read by the head."""
        if self.is_trained:
            return single_toy(tokens, self.head_dim, self.mask, self.seed)
        sizes = self.d_model, self.head_dim, self.mask, self.seed, self.value_dim
        return examples.toy(tokens, *sizes)

    @property
    def unknown(self) -> tuple[str, ...]:
        """Words that training never saw."""
        if not self.is_trained:
            return ()
        return trained_heads.trained_toy(
            self.tokens, 1, 1, self.head_dim, self.mask, self.seed
        ).unknown

    def origin(self, device: torch.device) -> str:
        """The badge of the pictures."""
        if self.is_trained:
            return trained_weights(self.seed, len(self.unknown), device)
        return random_weights(self.seed, device)


def single_toy(tokens: Sequence[str], head_dim: int, rule: str, seed: int) -> Toy:
    """One trained head in the form of `examples.toy`; what it hands on to W_O is left out."""
    x, layer, mask, _unused = trained_heads.trained_toy(tokens, 1, 1, head_dim, rule, seed)
    return Toy(x, SingleHead(layer.w_query, layer.w_key, layer.w_value), mask)


def choose_head(
    tokens: tuple[str, ...],
    has_mask: bool = True,
    has_value_dim: bool = False,
    has_sizes: bool = True,
) -> HeadChoices:
    """The controls of one head, in a row, with trained weights only the sizes that were trained.

    Where nothing like the mask or the seed was trained, it is said what is shown instead.
    """
    with st.container(horizontal=True):
        is_trained = controls.weights() == "trained"
        mask = choose_mask(controls.mask) if has_mask else "full"
        d_model = controls.d_model.default
        head_dim = ABLE if is_trained else controls.head_dim.default
        if has_sizes:
            d_model = controls.d_model(fixed=D_MODEL if is_trained else None)
            head_dim = controls.head_dim(HEAD_DIMS if is_trained else ())
        value_dim = head_dim
        if has_value_dim:
            value_dim = controls.value_dim(fixed=head_dim if is_trained else None)
    seed = page.seed()
    if not is_trained:
        return HeadChoices(tokens, False, mask, d_model, head_dim, value_dim, seed)
    rule, shipped = mask if mask in RULES else RULES[0], trained_heads.shipped_seed(seed)
    chosen = HeadChoices(tokens, True, rule, D_MODEL, head_dim, head_dim, shipped)
    _say((mask, seed), chosen, has_value_dim)
    return chosen


def _say(asked: tuple[str, int], chosen: HeadChoices, has_value_dim: bool) -> None:
    """In one line, because each element costs time at every rerun."""
    sizes = f"{D_MODEL}, d_v = d_k" if has_value_dim else f"{D_MODEL}"
    notes = [
        _(
            "Trained on finding related words, mask {mask}: d_model is {sizes}.",
            mask=say_mask(chosen.mask),
            sizes=sizes,
        )
    ]
    notes += mask_not_among(asked[0], chosen.mask)
    notes += not_among(N_("seed"), asked[1], chosen.seed, SEEDS)
    if asked[1] not in SEEDS:
        notes.append(_("Train it here takes any seed."))
    notes += longer_than_learned(chosen.tokens)
    if chosen.unknown:
        words = ", ".join(map(verbatim, chosen.unknown))
        notes.append(
            _("Training never saw {words}: vectors drawn at random stand in.", words=words)
        )
    st.caption(" ".join(notes))


def not_among(name: str, asked: object, shown: object, offered: Sequence[object]) -> list[str]:
    """What to say when something else is shown than was asked for."""
    if asked == shown:
        return []
    return [
        _(
            "There is no {name} {asked} among them, only {listed}; this is {shown}.",
            name=_(name),
            asked=asked,
            listed=", ".join(map(str, offered)),
            shown=shown,
        )
    ]


def mask_not_among(asked: str, shown: str) -> list[str]:
    """The same where other masks were trained than the one that is asked for."""
    return not_among(N_("mask"), say_mask(asked), say_mask(shown), [*map(say_mask, RULES)])


def longer_than_learned(tokens: Sequence[str]) -> list[str]:
    """What to say of a text that training did not prepare for."""
    if len(tokens) <= trained_heads.MOST_TOKENS:
        return []
    return [
        _(
            "It learned from sentences of at most {most} words; this has {count}.",
            most=trained_heads.MOST_TOKENS,
            count=len(tokens),
        )
    ]


def offer_training(head: HeadChoices) -> None:
    """Where trained weights are shown, a reader can also watch such a head learn."""
    if not head.is_trained:
        return
    from explainers.chapters.common.live_training import (
        train_here,  # what learns is not needed before
    )

    train_here(head.tokens, 1, 1, head.head_dim, head.mask, page.seed())
