"""A real model that serves prompts: rows that are reused, chunks, and drafts in one pass."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor

from explainers.attention.cache.decoding import list_chunks, most_weights
from explainers.attention.serving.drafts_from_text import Written, look_up_draft, write_with_drafts
from explainers.attention.serving.kept_drafts import find_right, tree_mask, tree_positions
from explainers.attention.serving.shared_prefix import (
    changed_rows,
    count_shared,
    count_shared_blocks,
)
from explainers.models.registry import ModelError
from explainers.models.token_text import tokenise_text

STEPS_OF_A_LAYER = 12
"""Results of a layer that are rounded one after the other: norms, matrix products, sums."""
WHOLE_SUMS = 32
"""Bits of numbers that are added up as they are; narrower ones are added up in 32 bits."""


def limit_rounding(model: Any, largest: float) -> float:
    """The most that rounding can change in numbers of up to `largest`; more is a real difference.

    The roundings of n additions go either way and come to about √n of one (Higham & Mary 2019). In
    each layer, a number is a sum of d_model products; in 16 bits these are added up in 32, and only
    the results are rounded.
    """
    config, kind = model.config.get_text_config(), torch.finfo(model.dtype)
    of_a_layer = config.hidden_size if kind.bits >= WHOLE_SUMS else STEPS_OF_A_LAYER
    return float(largest * kind.eps * math.sqrt(config.num_hidden_layers * of_a_layer))


if TYPE_CHECKING:
    from explainers.models.load import RealModel

FIRST_DRAFTS, NEXT_DRAFTS = 3, 2
"""Of the tree: drafts after the text, and after each of them."""
READINGS = TREE, CAUSAL, COUNTED = "tree", "causal", "counted"
"""How the drafts are read: by the tree, by a causal mask, with positions counted on."""
MOST_CANDIDATES, LETTERS_OF_A_STEM = 300, 4
LONGEST_ENDING = 2
"""Tokens at the end of a text that are looked for in it."""


class Prompts(NamedTuple):
    """Two prompts in tokens; `others` may replace those of the second, as far as both are alike."""

    tokens: list[list[str]]
    ids: list[list[int]]
    others: list[tuple[str, int]]

    def change(self, at: int) -> list[int]:
        """The ids of the second prompt with one token replaced; none at −1."""
        ids = [*self.ids[1]]
        if at >= 0:
            ids[at] = self.others[at][1]
        return ids


class Reuse(NamedTuple):
    """The second prompt on rows of the first: which rows differ, and what that changes.

    `moved` has a text per layer, "1" for a token whose key is not the first prompt's.
    """

    shared: int
    blocks: int
    moved: list[str]
    rows_gap: float
    logits_gap: float
    next_tokens: list[str]
    rows_limit: float
    logits_limit: float
    """What rounding can make of either gap."""

    @property
    def is_rounding(self) -> bool:
        """Can all that differs be rounding?"""
        return self.rows_gap <= self.rows_limit and self.logits_gap <= self.logits_limit


class Chunks(NamedTuple):
    """A prompt in chunks of one size: passes, weights at a time, largest difference of logits.

    `limit` is what rounding can make of them.
    """

    size: int
    passes: int
    weights: int
    gap: float
    limit: float


class DraftTree(NamedTuple):
    """Drafts after a text, read in one pass: how far each one's logits are off, by `READINGS`."""

    text: list[str]
    drafts: list[str]
    parents: list[int]
    right: list[int]
    chosen: str
    gaps: dict[str, list[float]]
    largest: float
    limit: float
    """What rounding can make of a gap."""


class TwoGuesses(NamedTuple):
    """What may follow a text: as the model says, and as one says that sees only its end."""

    words: list[str]
    draft: list[float]
    target: list[float]
    seen: str


def read_ids(
    loaded: "RealModel", ids: Sequence[int], cache: Any = None, **more: Any
) -> tuple[Tensor, Any]:
    """Logits (tokens, vocabulary) of new tokens behind those of a cache, and the cache now."""
    from transformers import DynamicCache

    from explainers.models.attention_hook import run_model

    cache = DynamicCache() if cache is None else cache
    given = torch.tensor([[*ids]], device=loaded.model.device)
    run = run_model(
        loaded.model,
        record=lambda _: None,
        input_ids=given,
        past_key_values=cache,
        use_cache=True,
        **more,
    )
    return run.output.logits[0].float(), cache


def keep_rows(cache: Any, count: int) -> Any:
    """A cache with its first rows only; none at all is an empty one."""
    if cache is None or not count:
        return None
    if more := cache.get_seq_length() - count:
        cache.crop(-more)
    return cache


def cut_prompts(loaded: "RealModel", prompts: Sequence[str], most: int) -> Prompts:
    """Two prompts as a model reads them; raises ModelError for what it cannot serve."""
    if loaded.model.config.is_encoder_decoder or not loaded.model.can_generate():
        raise ModelError("{model} does not write on: choose one that does.", model=loaded.name)
    both = [tokenise_text(loaded, prompt, most) for prompt in prompts]
    ids = [one.ids[0].tolist() for one in both]
    shared = count_shared(*map(torch.tensor, ids))
    others = find_others(loaded, ids[1][:shared])
    return Prompts([[*one.tokens] for one in both], ids, others)


def find_others(loaded: "RealModel", ids: Sequence[int]) -> list[tuple[str, int]]:
    """For each token another one whose embedding is near: *Friday*, *Thursday*.

    For the first token, it is the same word after a space.
    """
    first = f" {decode(loaded, ids[0]).strip()}"
    spaced: list[int] = loaded.tokenizer(first, add_special_tokens=False)["input_ids"]
    others = [spaced[0] if spaced[0] != ids[0] else ids[-1]]
    model: Any = loaded.model
    rows: Tensor = model.get_input_embeddings().weight.detach()
    lengths = rows.norm(dim=-1).clamp(min=1e-6)
    most = min(MOST_CANDIDATES, len(rows))
    for own in ids[1:]:
        near = (rows @ rows[own] / lengths).topk(most).indices.tolist()
        text = decode(loaded, own)
        fits = (one for one in near if one != own and is_alike(decode(loaded, one), text))
        others.append(next(fits, next(one for one in near if one != own)))
    return [(decode(loaded, one), one) for one in others]


def decode(loaded: "RealModel", *ids: int) -> str:
    """Tokens as text."""
    return str(loaded.tokenizer.decode([*ids]))


def is_alike(one: str, other: str) -> bool:
    """Are both words, or both signs, written in the same way, and no forms of one word?"""
    kinds = [
        (text[:1] == " ", text.strip().isalpha(), text.strip().istitle(), text.strip() == "")
        for text in (one, other)
    ]
    words = one.strip().lower(), other.strip().lower()
    stem = min(LETTERS_OF_A_STEM, *map(len, words))
    is_form = words[0][:stem] == words[1][:stem]
    return kinds[0] == kinds[1] and not is_form and one.isprintable()


def stack_keys(cache: Any) -> list[Tensor]:
    """The keys of each layer (kv_heads, tokens, head_dim)."""
    return [layer.keys[0].float() for layer in cache.layers]


def measure_reuse(loaded: "RealModel", one: Sequence[int], two: Sequence[int], block: int) -> Reuse:
    """Read the second prompt alone, and on the blocks that it shares with the first."""
    (_unused, first), (alone, second) = read_ids(loaded, one), read_ids(loaded, two)
    both = torch.tensor(one), torch.tensor(two)
    shared, blocks = count_shared(*both), count_shared_blocks(*both, block)
    common, reused = min(len(one), len(two)), min(blocks * block, len(two) - 1)
    moved, gaps, limits = [], [0.0], [0.0]
    for before, after in zip(stack_keys(first), stack_keys(second), strict=True):
        rows = before[:, :common], after[:, :common]
        limits.append(limit_rounding(loaded.model, float(before.abs().max())))
        changed = changed_rows(*rows, limits[-1]).tolist()
        moved.append("".join("01"[one] for one in changed) + "1" * (len(two) - common))
        gaps += (rows[0] - rows[1])[:, :reused].abs().flatten().tolist()
    late, _unused = read_ids(loaded, two[reused:], keep_rows(first, reused))
    ends = alone[-1], late[-1]
    names = [decode(loaded, int(end.argmax())) for end in ends]
    limit = limit_rounding(loaded.model, float(alone.abs().max()))
    gap = float((ends[0] - ends[1]).abs().max())
    return Reuse(shared, blocks, moved, max(gaps), gap, names, max(limits), limit)


def measure_chunks(
    loaded: "RealModel", ids: Sequence[int], sizes: Sequence[int]
) -> tuple[list[Chunks], float]:
    """A prompt in chunks of each size, against one pass; and the largest logit."""
    whole, _unused = read_ids(loaded, ids)
    found, largest = [], float(whole.abs().max())
    limit = limit_rounding(loaded.model, largest)
    for size in sizes:
        cache, parts = None, []
        for start, end in list_chunks(len(ids), size):
            logits, cache = read_ids(loaded, ids[start:end], cache)
            parts.append(logits)
        gap = float((torch.cat(parts) - whole).abs().max())
        found.append(Chunks(size, len(parts), most_weights(len(ids), size), gap, limit))
    return found, largest


def measure_drafts(loaded: "RealModel", text: str, most: int) -> DraftTree:
    """The most probable tokens after a text, and after each of them: all checked in one pass."""
    given = tokenise_text(loaded, text, most)
    ids = given.ids[0].tolist()
    last = read_ids(loaded, ids)[0][-1]
    drafts, parents = last.topk(FIRST_DRAFTS).indices.tolist(), [-1] * FIRST_DRAFTS
    for parent in range(FIRST_DRAFTS):
        after = read_ids(loaded, [*ids, drafts[parent]])[0][-1]
        drafts += after.topk(NEXT_DRAFTS).indices.tolist()
        parents += [parent] * NEXT_DRAFTS
    read = {name: read_tree(loaded, ids, drafts, parents, name) for name in READINGS}
    gaps: dict[str, list[float]] = {name: [] for name in READINGS}
    for draft, parent in enumerate(parents):
        path = [drafts[parent]] * (parent >= 0) + [drafts[draft]]
        alone = read_ids(loaded, [*ids, *path])[0][-1]
        for name, logits in read.items():
            gaps[name].append(float((logits[len(ids) + draft] - alone).abs().max()))
    chosen = read[TREE][len(ids) - 1 :].argmax(dim=-1).tolist()
    right = find_right(parents, drafts, chosen)
    free = decode(loaded, chosen[1 + right[-1] if right else 0])
    words = [decode(loaded, draft) for draft in drafts]
    largest = float(read[TREE].abs().max())
    limit = limit_rounding(loaded.model, largest)
    return DraftTree([*given.tokens], words, parents, right, free, gaps, largest, limit)


def read_tree(
    loaded: "RealModel",
    ids: Sequence[int],
    drafts: Sequence[int],
    parents: Sequence[int],
    name: str,
) -> Tensor:
    """Logits of a text and its drafts in one pass, read in one of the ways of `READINGS`."""
    device, size = loaded.model.device, len(ids) + len(drafts)
    seen = tree_mask(len(ids), parents)
    mask = seen if name != CAUSAL else torch.ones(size, size, dtype=torch.bool).tril()
    places = tree_positions(len(ids), parents) if name != COUNTED else torch.arange(size)
    more = {"attention_mask": mask[None, None].to(device), "position_ids": places[None].to(device)}
    return read_ids(loaded, [*ids, *drafts], **more)[0]


def guess_twice(loaded: "RealModel", text: str, seen: int, words: int, most: int) -> TwoGuesses:
    """What follows, read from the whole text and from its last `seen` tokens: a cheap draft."""
    ids = tokenise_text(loaded, text, most).ids[0].tolist()
    target, draft = (read_ids(loaded, part)[0][-1].softmax(dim=-1) for part in (ids, ids[-seen:]))
    best = torch.maximum(target, draft).topk(min(words, len(target))).indices
    names = [decode(loaded, one) for one in best.tolist()]
    q, p = ([*one[best].tolist(), max(0.0, float(1 - one[best].sum()))] for one in (draft, target))
    return TwoGuesses(names, q, p, decode(loaded, *ids[-seen:]))


def write_text(loaded: "RealModel", text: str, count: int, drafts: int) -> tuple[Written, str]:
    """Write greedily with so many drafts from the text itself at a time; and what was written."""
    ids: list[int] = loaded.tokenizer(text)["input_ids"]
    cache = None

    def predict(known: int, new: Sequence[int]) -> list[int]:
        nonlocal cache
        logits, cache = read_ids(loaded, new, keep_rows(cache, known))
        return [int(one) for one in logits.argmax(dim=-1)]

    def draft(given: Sequence[int]) -> list[int]:
        return look_up_draft(given, LONGEST_ENDING, drafts) if drafts else []

    written = write_with_drafts(ids, count, predict, draft)
    return written, decode(loaded, *written.ids[len(ids) :])
