"""Texts on which the heads of a model are measured: random tokens said twice, and real prose."""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from explainers.folders import ASSETS
from explainers.messages import N_
from explainers.models.registry import ModelError

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

    from explainers.models.load import RealModel

ReportLayer = Callable[[int], None]
"""Hears of every layer that is done, by its number."""
PASSAGES_FILE = ASSETS / "text" / "passages.txt"
NATURAL_LENGTH = 64
"""Tokens of a passage, as Gu et al. 2024 measure sinks."""
REPEATED_LENGTH, NUM_TEXTS = 50, 8
"""Random tokens that are said twice, and how many such texts are read."""


class Probe(NamedTuple):
    """ids (batch, tokens), and which of them are punctuation or the tokenizer's own tokens."""

    ids: Tensor
    marks: Tensor


def make_repeated_probe(real_model: "RealModel", seed: int = 0) -> Probe:
    """50 random tokens and the same 50 again, behind a first token that stands for no word."""
    tokenizer = real_model.tokenizer
    special = set(tokenizer.all_special_ids)
    ordinary = torch.tensor([n for n in range(len(tokenizer)) if n not in special])
    generator = torch.Generator().manual_seed(seed)
    indices = torch.randint(len(ordinary), (NUM_TEXTS, REPEATED_LENGTH), generator=generator)
    words = ordinary[indices]
    first, last = choose_first_token(tokenizer), tokenizer.sep_token_id
    last = last if first == tokenizer.cls_token_id else None
    parts = [_repeat_token(first), words, words, _repeat_token(last)]
    return _mark_probe(real_model, torch.cat(parts, dim=1))


def make_natural_probe(real_model: "RealModel") -> Probe:
    """Eight passages, written for this, each cut to 64 tokens."""
    texts = PASSAGES_FILE.read_text(encoding="utf-8").split("\n\n")
    token_ids = real_model.tokenizer(texts, truncation=True, max_length=NATURAL_LENGTH)["input_ids"]
    if {len(ids) for ids in token_ids} != {NATURAL_LENGTH}:
        raise ModelError(
            N_(
                "{model} finds fewer than {count} tokens in a passage.",
                model=real_model.name,
                count=NATURAL_LENGTH,
            )
        )
    return _mark_probe(real_model, torch.tensor(token_ids))


def choose_first_token(tokenizer: "PreTrainedTokenizerBase") -> int:
    """What a model puts before a text, else its token for the beginning, or the end, of one."""
    candidates = tokenizer.cls_token_id, tokenizer.bos_token_id, tokenizer.eos_token_id
    return next((token for token in candidates if token is not None), 0)


def _repeat_token(token: int | None) -> Tensor:
    """The same token for each text, or nothing."""
    return torch.tensor([[] if token is None else [token]] * NUM_TEXTS, dtype=torch.long)


def _mark_probe(real_model: "RealModel", ids: Tensor) -> Probe:
    special = set(real_model.tokenizer.all_special_ids)
    texts = {n: real_model.tokenizer.decode([n]) for n in set(ids.flatten().tolist())}
    mark_ids = {n for n, text in texts.items() if n in special or not any(map(str.isalnum, text))}
    marks = torch.tensor([[int(n) in mark_ids for n in row] for row in ids])
    return Probe(ids.to(real_model.model.device), marks.to(real_model.model.device))
