"""A score of one head over the rows of prose, tenth by tenth, with a row from each."""

from typing import TYPE_CHECKING, NamedTuple

import streamlit as st

from explainers.chapters.head_gallery.head_card import Head, list_probe_texts, spell_tokens
from explainers.messages import N_
from explainers.models.attention_hook import RecordedAttention, run_model
from explainers.models.head_roles import ROLES
from explainers.models.head_scores import PATTERNS, PROBES
from explainers.models.score_deciles import TENTHS, Tenth, measure_tenths
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.controls.name_controls import NameList
from explainers.ui.untrusted_text import verbatim

if TYPE_CHECKING:
    from explainers.models.load import RealModel

tenth_score = NameList("tenth_score", N_("Score, in prose"), None, width=280)
controls.register(tenth_score)
BEFORE = 6
"""Tokens that are shown before the query."""

Place = tuple[int, int]


class Tenths(NamedTuple):
    """A score of a head, and its tenths; none where too few rows could show it."""

    head: Head
    score: str
    found: list[Tenth]


def choose_tenths(head: Head) -> Tenths:
    """A field for the score; at first that of the head's first name."""
    scores, loaded = head.gallery.scores, head.loaded
    offered = [one for one in PATTERNS if not scores.select("natural", one).isnan().all()]
    needed = {role.name: role.score_name for role in ROLES}
    own = [needed[label.role] for label in head.labels]
    score = tenth_score(offered, next((one for one in own if one in offered), offered[0]))
    found = _measure(loaded.name, id(loaded), head.place, score, loaded)
    return Tenths(head, score, found)


def describe_tenths(shown: Tenths) -> dict[str, str | int]:
    """For the text: a line for each tenth, the lowest, the highest, and chance."""
    head, scores = shown.head, shown.head.gallery.scores
    means = [tenth.mean for tenth in shown.found] or [0.0]
    return {
        "head": head.name,
        "score": _(shown.score),
        "rows": "\n".join(_write_row(shown, number) for number in range(len(shown.found))),
        "tenths": TENTHS,
        "lowest": f"{means[0]:.2f}",
        "highest": f"{means[-1]:.2f}",
        "mean": f"{float(scores.select('natural', shown.score)[head.place]):.2f}",
        "chance": f"{scores.find_chance_score('natural', shown.score):.2f}",
    }


def _write_row(shown: Tenths, number: int) -> str:
    tenth = shown.found[number]
    words = spell_tokens(
        shown.head.loaded, list_probe_texts(shown.head.loaded)["natural"][tenth.text_index]
    )
    query, key = tenth.query_index, tenth.key_index
    before = "".join(words[max(0, query - BEFORE) : query])
    cells = (
        f"{number + 1}",
        f"{tenth.mean:.2f}",
        f"…{_code(before)} **{_code(words[query])}**",
        f"{_code(words[key])} {tenth.weight:.2f}",
    )
    return f"| {' | '.join(cells)} |"


def _code(words: str) -> str:
    """In a table a bar would begin another cell."""
    return verbatim(words.replace("|", "¦"))


@st.cache_data(show_spinner=False, max_entries=32)
def _measure(name: str, which: int, place: Place, score: str, _loaded: "RealModel") -> list[Tenth]:
    """Once for a model (`which` of this name), a head and a score."""
    number, head = place
    probe = PROBES["natural"](_loaded)

    def record(layer: RecordedAttention) -> tuple[object, object] | None:
        if layer.layer_index != number:
            return None
        return layer.weights[:, head].float().cpu(), layer.mask[:, 0].cpu()

    layers = run_model(_loaded.model, record=record, input_ids=probe.ids).layers
    weights, mask = next(one for one in layers if one)
    texts = probe._replace(ids=probe.ids.cpu(), marks=probe.marks.cpu())
    return measure_tenths(weights, mask, texts, score)
