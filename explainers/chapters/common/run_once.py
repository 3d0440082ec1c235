"""What a model's heads do on one text: run once, kept for whoever looks at another head."""

from typing import TYPE_CHECKING, NamedTuple

import streamlit as st
import torch
from torch import Tensor

from explainers.device import describe_device
from explainers.models.attention_hook import RecordedAttention
from explainers.models.head_scores import PROBES
from explainers.translations import _
from explainers.ui.provenance import real

if TYPE_CHECKING:
    from explainers.models.load import RealModel


class Heads(NamedTuple):
    """weights (layers, heads, tokens, tokens); masks (layers, tokens, tokens), True: may."""

    weights: Tensor
    masks: Tensor


def heads_on(loaded: "RealModel", ids: Tensor) -> Heads:
    """All heads on one text; ids (1, tokens)."""
    return _run(loaded.name, id(loaded), tuple(ids[0].tolist()), loaded)


def live(loaded: "RealModel") -> str:
    """The badge of what runs when it is looked at."""
    where = describe_device(loaded.model.device)
    return real(_("{model} · computed live on {device}", model=loaded.provenance, device=where))


def probe_texts(loaded: "RealModel") -> dict[str, Tensor]:
    """The texts of each probe (texts, tokens), as they were measured."""
    return _texts(loaded.name, id(loaded), loaded)


def spelled(loaded: "RealModel", ids: Tensor) -> list[str]:
    """What each of the tokens (tokens,) says."""
    return [str(loaded.tokenizer.decode([one])) for one in ids.tolist()]


@st.cache_resource(show_spinner=False, max_entries=8)
def _texts(name: str, which: int, _loaded: "RealModel") -> dict[str, Tensor]:
    return {probe: make(_loaded).ids for probe, make in PROBES.items()}


@st.cache_resource(show_spinner=False, max_entries=8)
def _run(name: str, which: int, ids: tuple[int, ...], _loaded: "RealModel") -> Heads:
    """Once for a model (`which` of this name) and a text."""
    from explainers.models.attention_hook import run_model

    given = torch.tensor([ids], device=_loaded.model.device)
    layers = run_model(_loaded.model, read=_of_one_text, input_ids=given).layers
    return Heads(*(torch.stack(part) for part in zip(*layers, strict=True)))


def _of_one_text(layer: RecordedAttention) -> tuple[Tensor, Tensor]:
    return layer.weights[0].float().cpu(), layer.mask[0, 0].cpu()
