"""One head of a model: its names, what speaks against them, and what it does on probe texts."""

from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import streamlit as st
import torch
from torch import Tensor

from explainers.chapters.common.choose_real_model import BY_MODEL, obtain_model
from explainers.chapters.common.measured_heads import PROBE_NAMES, Gallery, name_head
from explainers.chapters.common.recording import (
    describe_live_run,
    pack_weights,
    tabulate_strongest_keys,
)
from explainers.chapters.head_gallery.hero import rank_heads
from explainers.charts.matrix import Matrix
from explainers.messages import N_
from explainers.models import head_scores
from explainers.models.attention_hook import RecordedAttention
from explainers.models.head_scores import EarnedRole, HeadScores, Role
from explainers.models.token_text import spell_token
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.figure.head_tiles import Tiles, show_tiles
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Figure, Panel
from explainers.ui.page import Prose
from explainers.ui.source import show_source
from explainers.ui.untrusted_text import verbatim

if TYPE_CHECKING:
    from explainers.models.load import RealModel


class Head(NamedTuple):
    """One head of a model that is here; its place is its layer and its number in it."""

    gallery: Gallery
    loaded: "RealModel"
    place: tuple[int, int]

    @property
    def name(self) -> str:
        return name_head(*self.place)

    @property
    def labels(self) -> list[EarnedRole]:
        """Its names, each with what speaks for it and against it."""
        return head_scores.find_roles(self.gallery.scores, *self.place)

    @property
    def passage(self) -> int:
        """The passage of prose with a counter-example to its first name, else the first one."""
        against = (one.counterexample for one in self.labels if one.counterexample)
        return next((one.text_index for one in against), 0)


class RecordedHeads(NamedTuple):
    """weights (layers, heads, tokens, tokens); masks (layers, tokens, tokens), True: may."""

    weights: Tensor
    masks: Tensor


@st.cache_resource(show_spinner=False, max_entries=8, hash_funcs=BY_MODEL)
def list_probe_texts(loaded: "RealModel") -> dict[str, Tensor]:
    """The texts of each probe (texts, tokens), as they were measured."""
    return {probe: make(loaded).ids for probe, make in head_scores.PROBES.items()}


def spell_tokens(loaded: "RealModel", ids: Tensor) -> list[str]:
    """What each of the tokens (tokens,) says."""
    return [spell_token(loaded.tokenizer, one) for one in ids.tolist()]


@st.cache_resource(show_spinner=False, max_entries=8, hash_funcs=BY_MODEL)
def record_heads(loaded: "RealModel", ids: tuple[int, ...]) -> RecordedHeads:
    """All heads on one text."""
    from explainers.models.attention_hook import run_model

    given = torch.tensor([ids], device=loaded.model.device)
    layers = run_model(loaded.model, record=_read_layer, input_ids=given).layers
    return RecordedHeads(*(torch.stack(part) for part in zip(*layers, strict=True)))


def _read_layer(layer: RecordedAttention) -> tuple[Tensor, Tensor]:
    return layer.weights[0].float().cpu(), layer.mask[0, 0].cpu()


def show_prose(head: Head) -> None:
    """One large image of the head on a passage, to be looked into."""
    (layer, number), loaded, passage = head.place, head.loaded, head.passage
    ids = list_probe_texts(loaded)["natural"][passage : passage + 1]
    found = record_heads(loaded, tuple(ids[0].tolist()))
    tokens = spell_tokens(loaded, ids[0])
    weights = found.weights[head.place][None]
    alt = _("Weights of {head} between {count} tokens.", head=head.name, count=len(tokens))
    planes = pack_weights(weights, ~found.masks[layer][None])
    tiles = Tiles(planes, tokens, [str(layer)], [head.name], alt)

    def tabulate() -> Any:
        return tabulate_strongest_keys(weights[None], [layer], tokens).assign(head=number)

    show_tiles(tiles, describe_live_run(loaded), "natural", tabulate)


WORDS = {probe: words for words, probe in PROBE_NAMES.items()}
UNKNOWN = "–"


def describe_label(label: EarnedRole) -> dict[str, object]:
    """The score that a name is for, what it needed, and the same score on the other text."""
    role = next(one for one in head_scores.ROLES if one.name == label.role)
    elsewhere = label.other_probe_score
    return {
        "role": _(label.role),
        "probe": _(WORDS[role.probe]),
        "score": f"{label.score:.2f}",
        "threshold": role.threshold,
        "source": _(role.source),
        "chance": f"{label.chance_score:.2f}",
        "other": _(WORDS[head_scores.OTHER_PROBE[role.probe]]),
        "elsewhere": UNKNOWN if elsewhere != elsewhere else f"{elsewhere:.2f}",
    }


def find_evidence(head: Head, label: EarnedRole) -> tuple[str, dict[str, object]]:
    """The section of the text about what speaks against a name, and its numbers."""
    against = label.counterexample
    if against is None:
        return "no_against", {}
    texts = list_probe_texts(head.loaded)["natural"]
    tokens = spell_tokens(head.loaded, texts[against.text_index])
    return "row_fits" if against.mass >= against.weight else "row_against", {
        "role": _(label.role),
        "passage": against.text_index,
        "query": verbatim(tokens[against.query_index]),
        "query_place": against.query_index,
        "key": verbatim(tokens[against.key_index]),
        "key_place": against.key_index,
        "weight": f"{against.weight:.2f}",
        "mass": f"{against.mass:.2f}",
    }


def show_evidence(text: Prose, gallery: Gallery, chosen: tuple[int, int]) -> None:
    """The names of a head, what speaks against each, its weights on texts."""
    loaded = gallery.loaded or obtain_model(gallery.name, "chosen")
    if not loaded:
        text("head")
        text("notice")
        return
    head = Head(gallery, loaded, chosen)
    every = list(product(range(gallery.layers), range(gallery.heads)))
    told = {
        "head": head.name,
        "names": _(" and ").join(f"**{_(label.role)}**" for label in head.labels) or _("no name"),
        "nameless": sum(not head_scores.find_roles(gallery.scores, *one) for one in every),
        "heads": len(every),
    }
    names, picture = st.columns([3, 2])
    with names:
        text("head")
        text("named" if head.labels else "no_name", **told)
        for label in head.labels:
            text("label", **describe_label(label))
            section, named = find_evidence(head, label)
            text(section, **named)
            if label.role == "positional":  # how far away its largest weights are
                offset = gallery.scores.select("natural", "offset")[chosen]
                text("offset", offset=f"{offset:+.0f}")
        text("notice")
    with picture:
        text("patterns", passage=head.passage)
        show_prose(head)
    show_source(head_scores.find_roles)


SAME, HALF, NOTHING = N_("about the same"), N_("about half"), N_("almost nothing")
SHARES = SAME, HALF, NOTHING
MOST_HEADS = 5
FAVOURITE = "induction"


class Kept(NamedTuple):
    """A role and the heads with its highest scores, each on random tokens and in prose."""

    role: Role
    heads: list[tuple[int, int]]
    before: list[float]
    after: list[float]
    first: float
    """The surest one's weight on the first token, in prose."""

    @property
    def verdict(self) -> str:
        """How much of the surest head's score is left in prose."""
        share = self.after[0] / max(self.before[0], 1e-9)
        return SAME if share > 0.75 else HALF if share > 0.25 else NOTHING

    def describe_surest(self) -> dict[str, str]:
        """What is said of the surest head, for a text."""
        return {
            "head": name_head(*self.heads[0]),
            "role": _(self.role.name),
            "before": f"{self.before[0]:.2f}",
            "after": f"{self.after[0]:.2f}",
            "first": f"{self.first:.2f}",
        }


def compare_texts(scores: HeadScores) -> Kept:
    """Of induction if a head has that name, else of the role with the highest score."""
    roles = [role for role in head_scores.ROLES if role.probe == "repeated"]

    def rank(role: Role) -> tuple[bool, float]:
        most = float(scores.select(role.probe, role.score_name).nan_to_num(0).max())
        return role.name == FAVOURITE and most > role.threshold, most

    best = max(roles, key=rank)
    found, prose = (scores.select(probe, best.score_name) for probe in ("repeated", "natural"))
    heads = rank_heads(found, MOST_HEADS)
    before, after = ([float(one[place]) for place in heads] for one in (found, prose))
    first = float(scores.select("natural", "first token")[heads[0]])
    return Kept(best, heads, before, after, first)


def show_kept(gallery: Gallery, kept: Kept) -> None:
    """The surest heads, on both texts."""
    matrix = Matrix(
        _(kept.role.name),
        _("the heads with the highest scores"),
        [kept.before, kept.after],
        [_(controls.TWICE), _(controls.PROSE)],
        [name_head(*head) for head in kept.heads],
        _("text"),
        _("head"),
        kind="weights",
    )
    alt = _("The same heads on random tokens and in prose.")
    show_figure(Figure([Panel("kept", matrix)], alt), gallery.origin, "kept")
