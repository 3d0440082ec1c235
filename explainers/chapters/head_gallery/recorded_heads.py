"""What a model's heads do on one text: run once, kept for whoever looks at another head."""

from typing import TYPE_CHECKING, NamedTuple

import streamlit as st
import torch
from torch import Tensor

from explainers.models.attention_hook import RecordedAttention
from explainers.models.head_scores import PROBES

if TYPE_CHECKING:
    from explainers.models.load import RealModel


class RecordedHeads(NamedTuple):
    """weights (layers, heads, tokens, tokens); masks (layers, tokens, tokens), True: may."""

    weights: Tensor
    masks: Tensor


def record_heads(loaded: "RealModel", ids: Tensor) -> RecordedHeads:
    """All heads on one text; ids (1, tokens)."""
    return _record_heads(loaded.name, id(loaded), tuple(ids[0].tolist()), loaded)


def list_probe_texts(loaded: "RealModel") -> dict[str, Tensor]:
    """The texts of each probe (texts, tokens), as they were measured."""
    return _make_probe_texts(loaded.name, id(loaded), loaded)


def spell_tokens(loaded: "RealModel", ids: Tensor) -> list[str]:
    """What each of the tokens (tokens,) says."""
    return [str(loaded.tokenizer.decode([one])) for one in ids.tolist()]


@st.cache_resource(show_spinner=False, max_entries=8)
def _make_probe_texts(name: str, which: int, _loaded: "RealModel") -> dict[str, Tensor]:
    return {probe: make(_loaded).ids for probe, make in PROBES.items()}


@st.cache_resource(show_spinner=False, max_entries=8)
def _record_heads(
    name: str, which: int, ids: tuple[int, ...], _loaded: "RealModel"
) -> RecordedHeads:
    """Once for a model (`which` of this name) and a text."""
    from explainers.models.attention_hook import run_model

    given = torch.tensor([ids], device=_loaded.model.device)
    layers = run_model(_loaded.model, record=_read_layer, input_ids=given).layers
    return RecordedHeads(*(torch.stack(part) for part in zip(*layers, strict=True)))


def _read_layer(layer: RecordedAttention) -> tuple[Tensor, Tensor]:
    return layer.weights[0].float().cpu(), layer.mask[0, 0].cpu()
