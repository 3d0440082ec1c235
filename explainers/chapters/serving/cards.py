"""Which rows a change leaves to reuse, what pages save, and drafts that are kept or drawn again."""

from typing import Any

import torch
from torch import Tensor

from explainers.attention.serving.kept_drafts import (
    find_depths,
    keep_probability,
    left_over,
    tree_mask,
    written_distribution,
)
from explainers.attention.serving.shared_prefix import count_shared, count_shared_blocks
from explainers.chapters.serving.hero import find_places, name_token, write_gap
from explainers.chapters.serving.measured_serving import (
    DRAFTS,
    GUESSED,
    NEW_TOKENS,
    REPEATING,
    Serving,
)
from explainers.charts.matrix import Matrix
from explainers.charts.theme import TOKEN_AXIS
from explainers.memory.cache_bytes import BLOCK_SIZE, count_bytes_per_token, count_pages
from explainers.memory.cache_formula import format_size
from explainers.memory.model_shapes import find_shape
from explainers.messages import N_
from explainers.models.served_prompts import TwoGuesses
from explainers.translations import _
from explainers.ui.figure.chart import show_chart
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Figure, Panel
from explainers.ui.text.numbers import write_percent
from explainers.ui.untrusted_text import show_spaces, verbatim


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


ANSWERS = ALL, HALF, NONE = N_("all of them"), N_("about half"), N_("none")
MODEL = "llama-3-8b"
LONG, USERS = 1_000, 100
"""Tokens of a shared beginning, and texts that begin with it."""


def count_kept(serving: Serving, layer: int) -> tuple[int, int]:
    """Behind an early change: rows of K that may be reused in a layer, and all there are."""
    at, count = find_places(serving)[0], len(serving.prompts.others)
    later = serving.reuse(at).moved[layer][at + 1 : count]
    return later.count("0"), len(later)


def answer_layer(serving: Serving) -> str:
    """Among the answers: how many rows the second layer can reuse."""
    kept, count = count_kept(serving, 1)
    share = kept / count if count else 0.0
    return ALL if share > 3 / 4 else NONE if share < 1 / 4 else HALF


def name_layers(serving: Serving) -> dict[str, str]:
    """The change that is asked about, and what it leaves in the first layers."""
    at, prompts = find_places(serving)[0], serving.prompts
    (first, count), (second, _count) = count_kept(serving, 0), count_kept(serving, 1)
    return {
        "old": verbatim(name_token(prompts.tokens[1][at])),
        "new": verbatim(name_token(prompts.others[at][0])),
        "count": f"{count}",
        "first": f"{first}",
        "second": f"{second}",
        "changed": f"{count - second}",
    }


def draw_layers(serving: Serving) -> None:
    """The beginning of the changed prompt: 1 for a row of K that differs, in three layers."""
    at, count = find_places(serving)[0], len(serving.prompts.others)
    moved = serving.reuse(at).moved
    chosen = 0, 1, len(moved) - 1
    values = [[float(cell) for cell in moved[layer][:count]] for layer in chosen]
    rows = [_("layer {number}", number=layer + 1) for layer in chosen]
    tokens = [name_token(token) for token in serving.prompts.tokens[1][:count]]
    tokens[at] = name_token(serving.prompts.others[at][0])
    formula = _("1: the row of K differs from that of the first prompt")
    name, axis = _("changed rows of K"), TOKEN_AXIS
    matrix = Matrix(name, formula, values, rows, tokens, "", axis, "weights", decimals=0)
    counts = ", ".join(f"{sum(row):.0f}" for row in values)
    alt = _("Rows of K that differ in the first, second and last layer: {counts}", counts=counts)
    show_figure(Figure([Panel("moved", matrix)], alt), serving.origin, "moved rows")


def tabulate_lookup(serving: Serving, text: str) -> dict[str, str]:
    """How often the model ran, with more and more drafts at a time."""
    ran = {drafts: serving.write(text, drafts) for drafts in DRAFTS}
    plain, said = ran[0]
    rows = []
    for drafts, (written, _said) in ran.items():
        same = _("yes") if written.ids == plain.ids else _("no")
        rows.append(f"| {drafts} | {written.passes} | {written.rows} | {same} |")
    return {"rows": "\n".join(rows), "prompt": verbatim(text), "said": verbatim(said)}


def find_repeats(serving: Serving, text: str) -> str:
    """Do drafts from the text itself save any pass?"""
    passes = [serving.write(text, drafts)[0].passes for drafts in DRAFTS]
    return "some" if min(passes) < passes[0] else "none"


def name_lookup(serving: Serving) -> dict[str, str]:
    """A text that repeats itself, with the most drafts at a time and without any."""
    plain, repeating = (serving.write(REPEATING, drafts)[0] for drafts in (0, DRAFTS[-1]))
    return {
        "new": f"{NEW_TOKENS}",
        "passes": f"{repeating.passes}",
        "right": f"{NEW_TOKENS - repeating.passes}",
        "rows": f"{repeating.rows}",
        "plain_rows": f"{plain.rows}",
        "drafts": f"{DRAFTS[-1]}",
    }


def name_pages() -> dict[str, str]:
    """What pages save where many texts share a beginning, in bytes."""
    each = count_bytes_per_token(find_shape(MODEL))
    whole = LONG // BLOCK_SIZE
    alone, together = USERS * count_pages(LONG, BLOCK_SIZE), whole + USERS * (LONG % BLOCK_SIZE > 0)
    return {
        "model": MODEL,
        "tokens": f"{LONG:,}",
        "texts": f"{USERS}",
        "block": f"{BLOCK_SIZE}",
        "pages": f"{count_pages(LONG, BLOCK_SIZE)}",
        "whole": f"{whole}",
        "alone": format_size(alone * BLOCK_SIZE * each),
        "together": format_size(together * BLOCK_SIZE * each),
    }


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
