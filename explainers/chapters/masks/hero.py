"""The hero of the page on masks: all weights under a mask, and how one word's are shared out.

Below it stand the two steps that lead there; files run again what the picture shows.
"""

import functools
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st
import torch
from torch import Tensor

from explainers.attention import masks
from explainers.attention.rules import Mask, Rule
from explainers.attention.single_head import project
from explainers.attention.steps import attention_steps, dot_products, hide, scale, softmax
from explainers.chapters.common.one_head import OneHead
from explainers.chapters.common.score_matrix import Lab, make_rules
from explainers.chapters.common.sentence_reading import Reading
from explainers.messages import N_
from explainers.toys.layers import Layer
from explainers.toys.sentence import MOST_DRAWN
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.controls.control import Control
from explainers.ui.controls.name_controls import is_drawing, read_cells, write_cells
from explainers.ui.figure.hero import Experiment, Hero, HeroChoice, make_weight_table, round_numbers
from explainers.ui.figure.linked_matrices import show_clickable_figure
from explainers.ui.page import Prose
from explainers.ui.source import show_source
from explainers.ui.takeaway_files import hand_over, take
from explainers.ui.text.numbers import write_percent

OWN, OWN_NAME = "own", N_("your own")
"""Among the names of the masks, the one that the reader draws; and what its button says."""
NUMBERS = {
    mask.name: Control(mask.name, mask.parameter, mask.usual)
    for mask in masks.MASKS
    if mask.parameter
}
controls.register(*NUMBERS.values())
NARROW, SHARED, CHUNK = 2, 3, 3
"""The window, the prefix and the chunks that can be tried."""
SENTENCES = (
    *("hero_caption", "hero_shared", "hero_little"),
    *("hero_nothing", "hero_itself", "hero_refused"),
)


@dataclass(frozen=True)
class DrawnChoice(HeroChoice):
    """A mask as the link has it, which may be any that can be drawn."""

    def accepts(self, value: object) -> bool:
        """Is this a drawing?"""
        return isinstance(value, str) and is_drawing(value)


def make_hero(text: Prose, reading: Reading, lab: Lab) -> Hero:
    """All masks of the table, with each of their numbers, and one that the reader draws."""
    words, rule, weights = len(lab.tokens), controls.mask_of_picture, controls.weights
    names = [*(mask.name for mask in masks.MASKS), OWN]
    labels = [*(_(mask.name) for mask in masks.MASKS), _(OWN_NAME)]
    controls.drawn_cells(words)
    choices = [
        HeroChoice.read(rule, names, labels),
        reading.choose_word(),
        HeroChoice.read(weights, weights.options, [*map(_, weights.options)], is_elsewhere=True),
        DrawnChoice(controls.drawn_cells, (), controls.drawn_cells.drawing),
        # One for which a text is too short stays chosen, for a longer one.
        *(
            HeroChoice.read(NUMBERS[mask.name], range(mask.least, MOST_DRAWN + 1))
            for mask in masks.MASKS
            if mask.parameter
        ),
        *reading.choose_marks(),
    ]
    alt = _("The weights of all words under a mask, and those of one word before and after it.")
    numbers = compute_numbers(lab) | reading.marks
    sentences, experiments = (*SENTENCES, *reading.sentences), list_experiments(text, lab)

    def make_table() -> Any:
        mask = find_mask(hero, words).to(lab.scores.device)
        return make_weight_table(lab.tokens, softmax(hide(lab.scores, mask)).tolist())

    hero = Hero("masked", alt, numbers, choices, sentences, experiments, lab.origin, make_table)
    return hero


def compute_numbers(lab: Lab) -> dict[str, Any]:
    """All that the picture shows of a sentence: each mask of the table with each of its numbers."""

    def compute_frames(mask: Mask) -> list[dict[str, Any]]:
        allowed = build_masks(mask, len(lab.tokens))  # (numbers, words, words)
        weights = softmax(hide(lab.scores, allowed.to(lab.scores.device)))
        bits = allowed.long() @ 2 ** torch.arange(allowed.shape[-1])  # a row as a number
        frames = zip(bits.tolist(), round_numbers(weights, 6), strict=True)
        return [{"allowed": rows, "weights": shares} for rows, shares in frames]

    return {
        "tokens": list(lab.tokens),
        "scores": round_numbers(lab.scores),
        "full": round_numbers(lab.weights(masks.full), 6),
        "masks": [
            {
                "name": mask.name,
                "subject": _("The {mask} mask", mask=_(mask.name)),
                "parameter": _(mask.parameter) if mask.parameter else "",
                "least": mask.least,
                "frames": compute_frames(mask),
            }
            for mask in masks.MASKS
        ],
        "own": OWN,
        "ownSubject": _("Your mask"),
    }


@functools.lru_cache(maxsize=256)
def build_masks(mask: Mask, words: int) -> Tensor:
    """A mask with each number that differs in a text of so many words (numbers, words, words)."""
    numbers = range(mask.least, words + 1) if mask.parameter else [0]
    return torch.stack([masks.build(mask.of(number), words, words) for number in numbers])


def list_experiments(text: Prose, lab: Lab) -> list[Experiment]:
    """What a reader can try: each shows the word for which it changes most."""
    cells = controls.drawn_cells.key
    diagonal = write_cells(torch.eye(len(lab.tokens), dtype=torch.bool).tolist())
    own = {controls.mask_of_picture.key: OWN, cells: diagonal}
    itself = Experiment("itself", text.fill("try_itself"), own)
    return [try_window(text, lab), try_prefix(text, lab), try_chunks(text, lab), itself]


def try_window(text: Prose, lab: Lab) -> Experiment:
    """The word that loses most to a window, its loss, and what it looks at instead."""
    rule = masks.sliding_window(NARROW)
    lost, window = lab.weights(masks.full) * ~lab.mask(rule), lab.weights(rule)
    row = int(lost.sum(dim=-1).argmax())
    gone, left = int(lost[row].argmax()), int(window[row].argmax())
    named = {
        "word": lab.tokens[row],
        "lost": lab.tokens[gone],
        "lost_share": write_percent(lost[row, gone].item()),
        "first": lab.tokens[left],
        "share": write_percent(window[row, left].item()),
    }
    return Experiment("window", text.fill("try_window", **named), choose("window", NARROW, row))


def try_prefix(text: Prose, lab: Lab) -> Experiment:
    """The word to which a prefix shows most that the causal mask hides, and what it sees there."""
    prefix, causal = lab.weights(masks.prefix(SHARED)), lab.weights(masks.causal)
    row = int((prefix * ~lab.mask(masks.causal)).sum(dim=-1).argmax())
    first = int((prefix - causal)[row].argmax())
    named = {
        "word": lab.tokens[row],
        "first": lab.tokens[first],
        "before": write_percent(causal[row, first].item()),
        "share": write_percent(prefix[row, first].item()),
    }
    return Experiment("prefix", text.fill("try_prefix", **named), choose("prefix", SHARED, row))


def try_chunks(text: Prose, lab: Lab) -> Experiment:
    """The first word of the second chunk: what a window of this width shows it, and chunks hide."""
    row = min(CHUNK, len(lab.tokens) - 1)
    window = lab.weights(masks.sliding_window(CHUNK))[row]
    lost = write_percent((window * ~lab.mask(masks.chunks(CHUNK))[row]).sum().item())
    remark = text.fill("try_chunks", word=lab.tokens[row], lost=lost)
    return Experiment("chunks", remark, choose("chunk", CHUNK, row))


def choose(mask: str, number: int, word: int) -> dict[str, Any]:
    """A mask with its number, and the word that is followed."""
    return {controls.mask_of_picture.key: mask, mask: number, controls.followed_word.key: word}


def find_mask(hero: Hero, words: int) -> Tensor:
    """The mask that is chosen (words, words); rows of a drawn one may be empty."""
    if (drawn := find_drawing(hero, words)) is not None:
        return drawn
    name = hero.chosen(controls.mask_of_picture)
    mask = next(one for one in masks.MASKS if one.name == name)
    return masks.build(mask.of(choose_numbers().get(name, 0)), words, words)


def find_drawing(hero: Hero, words: int) -> Tensor | None:
    """The reader's own mask (words, words), if it is the one that is shown."""
    is_own = hero.chosen(controls.mask_of_picture) == OWN
    return torch.tensor(read_cells(controls.drawn_cells.drawing, words)) if is_own else None


def choose_numbers() -> dict[str, int]:
    """Each mask's number, by the mask's name, as the picture has them now."""
    return {name: st.session_state.get(one.key, one.default) for name, one in NUMBERS.items()}


def compute_scores(layer: Layer) -> Tensor:
    """The scores that all masks begin with."""
    query, key, _unused = project(layer.x, layer.head())
    return scale(dot_products(query, key), head_dim=query.shape[-1])


def mask_weights(layer: Layer, numbers: dict[str, int]) -> dict[str, Tensor]:
    """The scores, the weights under each mask, and what each row wins and loses by it."""
    scores, length = compute_scores(layer), len(layer.x)
    built = {name: masks.build(r, length, length) for name, r in make_rules(numbers).items()}
    weights = {name: softmax(hide(scores, mask.to(scores.device))) for name, mask in built.items()}
    moved = {f"{name} − full": each - weights["full"] for name, each in weights.items()}
    del moved["full − full"]
    return {"scores": scores, **weights, **moved}


def compute_drawn_weights(layer: Layer, cells: list[list[bool]]) -> dict[str, Tensor]:
    """The weights under a mask by hand, and what they are more than without a mask."""
    scores, allowed = compute_scores(layer), masks.drawn(torch.tensor(cells))
    mask = masks.build(allowed, *scores.shape).to(scores.device)
    weights = softmax(hide(scores, mask))
    return {"weights": weights, "yours − full": weights - softmax(scores)}


def hand_over_weights(lab: Lab, drawn: Tensor | None) -> None:
    """What the page opens with: one matrix under all masks, or under one that is drawn."""
    if drawn is None:
        inputs = {"layer": lab.layer, "numbers": choose_numbers()}
        hand_over("side by side", _("One matrix, many masks"), mask_weights, **inputs)
    elif drawn.any(dim=-1).all():
        inputs = {"layer": lab.layer, "cells": drawn.tolist()}
        hand_over("by hand", _("Your mask"), compute_drawn_weights, **inputs)
    else:
        take("by hand")


def show_two_steps(lab: Lab, picture: Hero) -> None:
    """The scores with −∞ where a mask forbids a pair, and their softmax; a word's row in a box.

    A mask that is refused leaves softmax nothing to make.
    """
    mask = find_mask(picture, len(lab.tokens))
    if empty := (~mask.any(dim=-1)).nonzero().flatten().tolist():
        why = _(
            "Refused: the mask leaves row {row} (of {rows} queries) nothing to look at.",
            row=empty[0],
            rows=len(mask),
        )
        st.warning(why, icon=":material/block:")
        return
    run = attention_steps(*lab.views, mask.to(lab.scores.device))
    one_head, word = OneHead.of(lab.layer, lab.views, run), picture.chosen(controls.followed_word)
    panels = [replace(panel, followed=word) for panel in one_head.step("weights", True)]
    alt = _("The scores after the mask, and the weights that the softmax makes of them.")
    explain = one_head.explain
    show_clickable_figure(lab.arranged(panels), explain, lab.origin, "two steps", alt)
    rules = [mask.rule for mask in masks.MASKS]  # each in its own lines of code
    allowing = [rule.allows if isinstance(rule, Rule) else rule for rule in rules]
    show_source(hide, softmax, *allowing)
