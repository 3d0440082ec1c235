"""One head of a model: its names, what it does on probe texts and on the reader's sentence."""

from functools import partial
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import streamlit as st
import torch
from torch import Tensor

from explainers.chapters.common.measured_heads import PROBE_NAMES, Gallery, name_head
from explainers.chapters.common.recording import (
    MOST_TOKENS,
    cut_text,
    describe_live_run,
    pack_weights,
    tabulate_strongest_keys,
)
from explainers.chapters.head_gallery import takeaway as taken
from explainers.charts.matrix import Matrix, blank_forbidden, make_pair_matrix
from explainers.messages import N_
from explainers.models.attention_hook import RecordedAttention
from explainers.models.head_roles import OTHER_PROBE, ROLES, EarnedRole, Role, find_roles
from explainers.models.head_scores import PROBES, HeadScores
from explainers.models.registry import ModelError
from explainers.models.token_text import tokenise_text
from explainers.translations import _, translate_error
from explainers.ui.controls.controls import PROSE, TWICE
from explainers.ui.figure.head_tiles import Tiles, show_tiles
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Figure, Panel, orient_panels
from explainers.ui.page import Prose
from explainers.ui.prediction import revealed
from explainers.ui.source import show_source
from explainers.ui.untrusted_text import shorten, verbatim

if TYPE_CHECKING:
    import pandas as pd

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


def show_patterns(
    text: Prose,
    gallery: Gallery,
    loaded: "RealModel",
    chosen: tuple[int, int],
    sentence: str,
    queries_down: bool,
) -> None:
    """The same head on texts in which it may have something to do, or nothing."""
    probes = list_probe_texts(loaded)
    against = next(
        (one.counterexample for one in find_roles(gallery.scores, *chosen) if one.counterexample),
        None,
    )
    passage = against.text_index if against else 0
    text("patterns", head=name_head(*chosen), passage=passage)
    left, right = st.columns(2)
    with left:
        text("on_repeated")
        _show_text(loaded, chosen, probes["repeated"][:1], "repeated")
    with right:
        text("on_natural", passage=passage)
        _show_text(loaded, chosen, probes["natural"][passage : passage + 1], "natural")
    try:
        _show_sentence(loaded, chosen, sentence, queries_down)
    except ModelError as error:
        st.info(verbatim(shorten(translate_error(error), 300)), icon=":material/short_text:")


def _show_text(loaded: "RealModel", chosen: tuple[int, int], ids: Tensor, name: str) -> None:
    """One large image, to be looked into."""
    (layer, head), found, tokens = chosen, record_heads(loaded, ids), spell_tokens(loaded, ids[0])
    weights = found.weights[layer, head][None]
    alt = _("Weights of {head} between {count} tokens.", head=name_head(*chosen), count=len(tokens))
    tiles = Tiles(
        pack_weights(weights, ~found.masks[layer][None]),
        tokens,
        [str(layer)],
        [name_head(*chosen)],
        alt,
        enlarges=True,
    )
    table = partial(_table, weights, chosen, tokens)
    show_tiles(tiles, describe_live_run(loaded), name, table)


def _table(weights: Tensor, chosen: tuple[int, int], tokens: list[str]) -> "pd.DataFrame":
    layer, head = chosen
    return tabulate_strongest_keys(weights[None], [layer], tokens).assign(head=head)


def _show_sentence(
    loaded: "RealModel", chosen: tuple[int, int], sentence: str, queries_down: bool
) -> None:
    """The reader's own words, with numbers."""
    beginning, left_out = cut_text(loaded, sentence, MOST_TOKENS)
    (layer, head), reading = chosen, tokenise_text(loaded, beginning)
    if left_out:
        st.caption(_("Of your sentence the last {count} tokens are left out.", count=left_out))
    found = record_heads(loaded, reading.ids)
    taken.sentence(loaded, reading.ids, chosen, name_head(*chosen))
    values = blank_forbidden(found.weights[layer, head].tolist(), found.masks[layer].tolist())
    sums = _("{head}; every row sums to 1", head=name_head(*chosen))
    matrix = make_pair_matrix(_("your sentence"), sums, values, reading.tokens, kind="weights")
    alt = _("Weights of {head} on your sentence.", head=name_head(*chosen))
    figure = Figure(orient_panels([Panel("sentence", matrix)], queries_down), alt)
    show_figure(figure, describe_live_run(loaded), "sentence")


WORDS = {probe: words for words, probe in PROBE_NAMES.items()}
UNKNOWN, NEEDS = "–", "\N{NO-BREAK SPACE}(>\N{NO-BREAK SPACE}"


def show_labels(
    text: Prose, gallery: Gallery, loaded: "RealModel", chosen: tuple[int, int]
) -> None:
    """All names of a head, each with what speaks against it; and all scores that names are for."""
    found = find_roles(gallery.scores, *chosen)
    names = _(" and ").join(f"**{_(label.role)}**" for label in found)
    text("named", head=name_head(*chosen), names=names or _("no name"))
    for label in found:
        _show_label(text, loaded, label)
        if label.role == "positional":
            text("offset", offset=f"{gallery.scores.select('natural', 'offset')[chosen]:+.0f}")
    if not found:
        every = list(product(range(gallery.layers), range(gallery.heads)))
        nameless = sum(not find_roles(gallery.scores, *one) for one in every)
        text("no_name", nameless=nameless, heads=len(every))
    rows = []
    for role in ROLES:
        earned = any(label.role == role.name for label in found)
        both = [
            gallery.scores.select(probe, role.score_name)[chosen]
            for probe in ("repeated", "natural")
        ]
        shown = [UNKNOWN if one.isnan() else f"{one:.2f}" for one in both]
        place = ("repeated", "natural").index(role.probe)
        bold = "**" if earned else ""
        shown[place] = f"{bold}{shown[place]}{bold}{NEEDS}{role.threshold:g})"
        rows.append(f"| {_(role.name)} | {' | '.join(shown)} |")
    text("roles", rows="\n".join(rows))
    show_source(find_roles)


def _show_label(text: Prose, loaded: "RealModel", label: EarnedRole) -> None:
    role = next(one for one in ROLES if one.name == label.role)
    text(
        "label",
        role=_(label.role),
        probe=_(WORDS[role.probe]),
        score=f"{label.score:.2f}",
        threshold=role.threshold,
        source=_(role.source),
        chance=f"{label.chance_score:.2f}",
        other=_(WORDS[OTHER_PROBE[role.probe]]),
        elsewhere=UNKNOWN
        if label.other_probe_score != label.other_probe_score
        else f"{label.other_probe_score:.2f}",
    )
    if label.counterexample is None:
        text("no_against")
        return
    against = label.counterexample
    tokens = spell_tokens(loaded, list_probe_texts(loaded)["natural"][against.text_index])
    text(
        f"row_{'fits' if against.mass >= against.weight else 'against'}",
        role=_(label.role),
        passage=against.text_index,
        query=verbatim(tokens[against.query_index]),
        query_place=against.query_index,
        key=verbatim(tokens[against.key_index]),
        key_place=against.key_index,
        weight=f"{against.weight:.2f}",
        mass=f"{against.mass:.2f}",
    )


SAME, HALF, NOTHING = N_("about the same"), N_("about half"), N_("almost nothing")
MOST_HEADS = 5
FAVOURITE = "induction"


class Kept(NamedTuple):
    """A role and the heads with its highest scores, each on random tokens and in prose."""

    role: Role
    heads: list[tuple[int, int]]
    before: list[float]
    after: list[float]

    @property
    def verdict(self) -> str:
        """How much of the surest head's score is left in prose."""
        share = self.after[0] / max(self.before[0], 1e-9)
        return SAME if share > 0.75 else HALF if share > 0.25 else NOTHING


def compare_texts(scores: HeadScores) -> Kept:
    """Of induction if a head has that name, else of the role with the highest score."""
    roles = [role for role in ROLES if role.probe == "repeated"]

    def rank(role: Role) -> tuple[bool, float]:
        most = float(scores.select(role.probe, role.score_name).nan_to_num(0).max())
        return role.name == FAVOURITE and most > role.threshold, most

    best = max(roles, key=rank)
    found, prose = (scores.select(probe, best.score_name) for probe in ("repeated", "natural"))
    order = found.nan_to_num(-1).flatten().topk(min(MOST_HEADS, found.numel())).indices.tolist()
    heads = [divmod(place, found.shape[1]) for place in order]
    before, after = ([float(one[place]) for place in heads] for one in (found, prose))
    return Kept(best, heads, before, after)


def ask_keeps(text: Prose, gallery: Gallery) -> None:
    """A guess about the surest head; then the five surest, on both texts."""
    kept = compare_texts(gallery.scores)
    told = {
        "head": name_head(*kept.heads[0]),
        "role": _(kept.role.name),
        "before": f"{kept.before[0]:.2f}",
        "after": f"{kept.after[0]:.2f}",
        "first": f"{gallery.scores.select('natural', 'first token')[kept.heads[0]]:.2f}",
    }
    if not revealed(text, "keeps", (SAME, HALF, NOTHING), kept.verdict, **told):
        return
    matrix = Matrix(
        _(kept.role.name),
        _("the heads with the highest scores"),
        [kept.before, kept.after],
        [_(TWICE), _(PROSE)],
        [name_head(*head) for head in kept.heads],
        _("text"),
        _("head"),
        kind="weights",
    )
    alt = _("The same heads on random tokens and in prose.")
    show_figure(Figure([Panel("kept", matrix)], alt), gallery.origin, "kept")
