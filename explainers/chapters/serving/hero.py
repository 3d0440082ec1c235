"""The hero of the page: two prompts with one beginning, and four ways to serve them."""

import functools
from typing import Any, NamedTuple

import torch

from explainers.attention.serving.kept_drafts import tree_mask, tree_positions
from explainers.attention.serving.paged_cache import (
    Pages,
    Table,
    empty_pages,
    gather,
    point_at,
    write_row,
)
from explainers.attention.serving.shared_prefix import count_shared
from explainers.chapters.serving.cards import BLOCK, Serving, find_places, name_token, write_gap
from explainers.messages import N_
from explainers.models.served_prompts import CAUSAL, COUNTED, READINGS, TREE, Prompts, Reuse
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.controls.control import Control
from explainers.ui.figure.chart import tabulate
from explainers.ui.figure.hero import Experiment, Hero, HeroChoice
from explainers.ui.page import Prose
from explainers.ui.untrusted_text import show_spaces

PAGES_DRAWN, OTHERS = 12, (1, 4, 7)
"""Pages in the memory, and those that other texts use already."""
PROMPT = 1000
"""A row of the second prompt holds this and its place, one of the first its place alone."""


class Moment(NamedTuple):
    """The memory and both tables after a step, and how many rows were copied in it."""

    memory: Pages
    tables: tuple[Table, Table]
    copied: int = 0


@functools.lru_cache(maxsize=32)
def tell_pages(first: int, second: int, shared: int, slots: int) -> tuple[Moment, ...]:
    """Prompts of `first` and `second` tokens, `shared` of them alike, in pages of `slots`.

    Each row holds a number that says whose it is, so that one can look where it went.
    """
    nothing, most = Table((), 0), max(PAGES_DRAWN, 2 * (first + second) // slots)
    memory = point_at(empty_pages(most, 1, slots, 1), Table(OTHERS, 0), 1)
    memory, one = write_places(memory, nothing, range(first))
    story = [Moment(memory, (one, nothing))]
    shared = min(shared, second - 1)
    two = Table(one.pages[: -(-shared // slots)], shared)
    memory = point_at(memory, two, 1)
    story.append(Moment(memory, (one, two)))
    before = two
    memory, two = write_places(memory, two, [PROMPT + shared])
    is_copied = len(two.pages) == len(before.pages) and two.pages != before.pages
    copied = shared % slots if is_copied else 0
    story.append(Moment(memory, (one, two), copied))
    memory, two = write_places(memory, two, range(PROMPT + shared + 1, PROMPT + second))
    story.append(Moment(memory, (one, two)))
    memory = point_at(memory, one, -1)
    story.append(Moment(memory, (nothing, two)))
    return tuple(story)


def write_places(memory: Pages, table: Table, rows: "range | list[int]") -> tuple[Pages, Table]:
    """Rows that hold nothing but a number."""
    for row in rows:
        number = torch.tensor([[float(row)]])
        memory, table = write_row(memory, table, number, number)
    return memory, table


PREFIX, PAGES, CHUNKS, DRAFTS = "prefix", "pages", "chunks", "drafts"
TRICKS = {
    PREFIX: N_("shared beginning"),
    PAGES: N_("pages"),
    CHUNKS: N_("chunks"),
    DRAFTS: N_("drafts"),
}
serving_trick = Control("trick", N_("Trick"), PREFIX)
changed_token = Control("changed", N_("Token that is changed, from 0; −1 for none"), -1)
chunk_size = Control("chunk_size", N_("Tokens in a chunk"), "8")
draft_mask = Control("draft_mask", N_("How the drafts are read"), TREE)
controls.register(serving_trick, changed_token, chunk_size, draft_mask)
WHOLE = "all"
READING_NAMES = dict(
    zip(READINGS, (N_("tree"), N_("causal mask"), N_("positions counted on")), strict=True)
)
SENTENCES = (
    *("hero_caption", "hero_caption_pages", "hero_caption_chunks", "hero_caption_drafts"),
    "hero_caption_whole",
    *("hero_shared", "hero_shared_other", "hero_shared_real", "hero_changed", "hero_blank"),
    *("hero_pages_0", "hero_pages_1", "hero_pages_2", "hero_pages_2_new"),
    *("hero_pages_3", "hero_pages_4"),
    *("hero_chunks", "hero_chunks_exact", "hero_chunks_real", "hero_chunks_whole"),
    *("hero_drafts", "hero_drafts_exact", "hero_drafts_real"),
    *("hero_drafts_causal", "hero_drafts_counted"),
)
NOTHING, ROUNDING, REAL = "exact", "rounding", "real"
"""What a difference is."""
UNCHANGED = -1


def make_hero(text: Prose, serving: Serving) -> Hero:
    """Two prompts, what is shared of them, and what is computed again after a change.

    What was measured beforehand is sent all at once; a live model is asked for what is chosen.
    """
    trick, changed, size, mask = serving_trick, changed_token, chunk_size, draft_mask
    places = range(UNCHANGED, len(serving.prompts.others))
    sizes = {WHOLE: _("all"), **{f"{size}": f"{size}" for size in (8, 4, 1)}}
    tricks, is_live = [*map(_, TRICKS.values())], serving.is_live
    choices = [
        HeroChoice.read(trick, tuple(TRICKS), tricks, is_elsewhere=is_live),
        HeroChoice.read(changed, tuple(places), is_elsewhere=is_live),
        HeroChoice.read(size, tuple(sizes), [*sizes.values()]),
        HeroChoice.read(mask, READINGS, [*map(_, READING_NAMES.values())]),
    ]
    numbers = compute_numbers(serving, choices[0].value, choices[1].value)
    alt = _("Two prompts with the same beginning, and which rows of their keys differ.")
    return Hero(
        "serving",
        alt,
        numbers,
        choices,
        SENTENCES,
        list_experiments(text, serving),
        serving.origin,
        lambda: make_table(serving, choices[1].value),
    )


def compute_numbers(serving: Serving, trick: str, changed: int) -> dict[str, Any]:
    """What the picture is drawn from; of a live model, only what is seen now."""
    prompts, everything = serving.prompts, not serving.is_live
    places = range(UNCHANGED, len(prompts.others)) if everything else [UNCHANGED, changed]
    others = [  # the space is printed where it is all that differs
        show_spaces(new) if name_token(new) == name_token(own) else name_token(new)
        for (new, _id), own in zip(prompts.others, prompts.tokens[1], strict=False)
    ]
    return {
        "block": BLOCK,
        "tokens": [[*map(name_token, tokens)] for tokens in prompts.tokens],
        "others": others,
        "changes": {f"{at}": describe_reuse(serving.reuse(at)) for at in places},
        "pages": describe_pages(prompts),
        "chunks": describe_chunks(serving) if everything or trick == CHUNKS else None,
        "drafts": describe_drafts(serving) if everything or trick == DRAFTS else None,
    }


def describe_reuse(found: Reuse) -> dict[str, Any]:
    """What one change leaves to share."""
    alone, late = found.next_tokens
    return {
        "shared": found.shared,
        "blocks": found.blocks,
        "moved": found.moved,
        **describe_gap(max(found.rows_gap, found.logits_gap), found.is_rounding),
        "next": name_token(late),
        "isSame": alone == late,
    }


def describe_gap(gap: float, is_rounding: bool) -> dict[str, str]:
    """A difference, and what it is: none, what rounding can make, or a real one."""
    kind = NOTHING if gap == 0 else ROUNDING if is_rounding else REAL
    return {"gap": write_gap(gap), "kind": kind}


def describe_pages(prompts: Prompts) -> list[dict[str, Any]]:
    """The memory after each step: what its pages hold, and where both tables point."""
    first, second = map(torch.tensor, prompts.ids)
    shared = count_shared(first, second)
    story = tell_pages(len(first), len(second), shared, BLOCK)
    used = [page for moment in story for table in moment.tables for page in table.pages]
    most = max(PAGES_DRAWN, *(page + 1 for page in used))
    return [
        {
            "slots": name_slots(moment, prompts, most),
            "users": moment.memory.users[:most].tolist(),
            "others": [page for page in OTHERS if page < most],
            "tables": [list(table.pages) for table in moment.tables],
            "filled": [table.filled for table in moment.tables],
            "copied": moment.copied,
        }
        for moment in story
    ]


def name_slots(moment: Moment, prompts: Prompts, most: int) -> list[list[str]]:
    """The tokens whose rows each page holds: of a shared page, those of the prompt with more."""
    slots: list[list[str]] = [[] for _page in range(most)]
    for table in moment.tables:
        rows = gather(moment.memory, table).key[0, :, 0].int().tolist() if table.pages else []
        places = [divmod(row, PROMPT) for row in rows]
        names = [name_token(prompts.tokens[prompt][place]) for prompt, place in places]
        for number, page in enumerate(table.pages):
            slots[page] = max(slots[page], names[number * BLOCK :][:BLOCK], key=len)
    return slots


def describe_chunks(serving: Serving) -> dict[str, Any]:
    """The second prompt in chunks of each size."""
    sizes, largest = serving.chunks()
    names = [WHOLE, *(f"{one.size}" for one in sizes[1:])]
    return {
        "sizes": {
            name: {**one._asdict(), **describe_gap(one.gap, one.gap <= one.limit)}
            for name, one in zip(names, sizes, strict=True)
        },
        "largest": f"{largest:.3g}",
    }


def describe_drafts(serving: Serving) -> dict[str, Any]:
    """The tree, and what each way to read it makes of it."""
    tree = serving.drafts()
    length, size = len(tree.text), len(tree.text) + len(tree.drafts)
    causal = torch.ones(size, size, dtype=torch.bool).tril()
    masks = {TREE: tree_mask(length, tree.parents), CAUSAL: causal}
    places = {COUNTED: torch.arange(size)}
    own_mask, own_places = masks[TREE], tree_positions(length, tree.parents)
    return {
        "text": [*map(name_token, tree.text)],
        "drafts": [*map(name_token, tree.drafts)],
        "parents": tree.parents,
        "right": tree.right,
        "chosen": name_token(tree.chosen),
        "largest": f"{tree.largest:.3g}",
        "ways": {
            name: {
                "cells": [
                    "".join("01"[seen] for seen in row)
                    for row in masks.get(name, own_mask).tolist()
                ],
                "places": places.get(name, own_places).tolist(),
                "gaps": [*map(write_gap, tree.gaps[name])],
                "wrong": [gap > tree.limit for gap in tree.gaps[name]],
                **describe_gap(most := max(tree.gaps[name]), most <= tree.limit),
            }
            for name in READINGS
        },
    }


def list_experiments(text: Prose, serving: Serving) -> list[Experiment]:
    """What a reader can try, each with the numbers that it will show."""
    prompts = serving.prompts
    trick, changed, mask = serving_trick, changed_token, draft_mask
    tries = []
    for name, at in zip(("early", "late"), find_places(serving), strict=True):
        # Rows of K of the beginning that differ, in the first layer and in the last.
        moved, beginning = serving.reuse(at).moved, len(prompts.others)
        first, later = (moved[layer][:beginning].count("1") for layer in (0, -1))
        told = text.fill(
            f"try_{name}",
            old=name_token(prompts.tokens[1][at]),
            new=name_token(prompts.others[at][0]),
            beginning=beginning,
            first=first,
            later=later,
        )
        tries.append(Experiment(name, told, {trick.key: PREFIX, changed.key: at}))
    told = text.fill("try_blank", shared=serving.reuse(0).shared, tokens=len(prompts.tokens[1]))
    tries.append(Experiment("blank", told, {trick.key: PREFIX, changed.key: 0}))
    tree = serving.drafts()
    named = {"gap": write_gap(max(tree.gaps[CAUSAL])), "largest": f"{tree.largest:.3g}"}
    told = text.fill("try_causal", **named)
    tries.append(Experiment("causal", told, {trick.key: DRAFTS, mask.key: CAUSAL}))
    return tries


def make_table(serving: Serving, changed: int) -> Any:
    """For each token of the second prompt, in how many layers its row of K differs."""
    found, tokens = serving.reuse(changed), [*serving.prompts.tokens[1]]
    if changed >= 0:
        tokens[changed] = serving.prompts.others[changed][0]
    differing = [sum(row[place] == "1" for row in found.moved) for place in range(len(tokens))]
    columns = {_("token"): tokens, _("layers in which its row of K differs"): differing}
    return tabulate(columns, index=range(1, len(tokens) + 1), index_name=_("position"))
