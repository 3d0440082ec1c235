"""To take away: shared blocks, a tree of drafts, and drafts that are kept or drawn again."""

from collections.abc import Mapping
from typing import Any

import torch

from explainers.attention.serving.accept_drafts import (
    keep_probability,
    left_over,
    written_distribution,
)
from explainers.attention.serving.draft_tree import find_depths, tree_mask
from explainers.attention.serving.shared_prefix import count_shared, count_shared_blocks
from explainers.chapters.serving.measured_serving import BLOCK, Serving
from explainers.models.served_prompts import TwoGuesses
from explainers.takeaway.recipe import Recipe
from explainers.translations import _
from explainers.ui.takeaway_files import take


def share_prompts(one: list[int], two: list[int], block: int) -> dict[str, int]:
    """Tokens and whole blocks that two prompts, as ids, have in common."""
    both = torch.tensor(one), torch.tensor(two)
    return {"shared": count_shared(*both), "blocks": count_shared_blocks(*both, block)}


def check_tree(length: int, parents: list[int]) -> dict[str, Any]:
    """The mask of a text and its drafts, and how far each draft is from the text."""
    return {"mask": tree_mask(length, parents), "depths": find_depths(parents)}


def exchange_drafts(draft: list[float], target: list[float]) -> dict[str, Any]:
    """How often each drafted word is kept, what is drawn instead, and what is written then."""
    q, p = torch.tensor(draft), torch.tensor(target)
    rest = left_over(q, p)
    written = written_distribution(q, p, rest)
    return {"kept": keep_probability(q, p), "drawn instead": rest, "written": written}


def take_prompts(serving: Serving, changed: int) -> None:
    """Both prompts as they are on screen."""
    given = {"one": serving.prompts.ids[0], "two": serving.prompts.change(changed), "block": BLOCK}
    take("prompts", _make_recipe(_("Two prompts share blocks"), share_prompts, given))


def take_drafts(guesses: TwoGuesses, length: int, parents: list[int]) -> None:
    """The tree of the picture, and the words of the bars."""
    both = {"draft": guesses.draft, "target": guesses.target}
    tree = {"length": length, "parents": parents}
    take("exchange", _make_recipe(_("Keep a draft or draw again"), exchange_drafts, both))
    take("tree", _make_recipe(_("A tree of drafts"), check_tree, tree))


def _make_recipe(title: str, function: Any, inputs: Mapping[str, Any]) -> Recipe:
    return Recipe(title, function, inputs, function(**inputs))
