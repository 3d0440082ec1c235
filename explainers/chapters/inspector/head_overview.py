"""The weight that the heads of a model park on the first token, layer by layer."""

from collections.abc import Mapping
from functools import partial
from random import Random
from typing import TYPE_CHECKING, NamedTuple

import streamlit as st
import torch

from explainers.chapters.common.measured_heads import find_gallery
from explainers.chapters.common.recording import Recording, average_weight_on_key, record_text
from explainers.chapters.inspector.sentence_run import View
from explainers.charts.matrix import Matrix
from explainers.charts.theme import HEAD_AXIS, LAYER_AXIS
from explainers.messages import N_
from explainers.translations import _
from explainers.ui import browser_files
from explainers.ui.controls import controls
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Cell, Figure, Panel, translate_scripts
from explainers.ui.page_parts.check_yourself import Recall
from explainers.ui.untrusted_text import verbatim

if TYPE_CHECKING:
    from explainers.models.load import RealModel

CODE = (average_weight_on_key,)


def answer_most(seen: Recording) -> tuple[str, list[str], dict[str, object]]:
    """The token that gets most of all weight, among others, and its share."""
    mass = seen.weights.mean(dim=(0, 1, 2))
    most = int(mass.argmax())
    places = dict.fromkeys((most, len(seen.tokens) // 2, len(seen.tokens) - 1))
    names = {place: _name_token(seen, place) for place in sorted(places)}
    layers, heads = seen.shape
    named = {
        "heads": layers * heads,
        "share": f"{100 * mass.max():.0f}",
        "even": f"{100 / len(seen.tokens):.0f}",
    }
    return names[most], list(names.values()), named


def _name_token(seen: Recording, place: int) -> str:
    """A token and its position."""
    return _("{token} (position {place})", token=verbatim(seen.tokens[place]), place=place)


def offer_file(loaded: "RealModel", text: str, by_word: bool) -> None:
    """A button for all heads of a text in one HTML file, which is made when it is asked for."""
    from explainers.notebook.head_names import MEANINGS

    scripts = browser_files.list_scripts("look", "common", "tiles")
    words = translate_scripts(scripts, [*MEANINGS, *MEANINGS.values()])
    st.download_button(
        _("All heads of this text in one HTML file"),
        partial(write_file, loaded, text, words, by_word),
        "heads.html",
        "text/html",
        key="all heads",
        on_click="ignore",
        icon=":material/download:",
    )


def write_file(
    loaded: "RealModel", text: str, words: Mapping[str, str], by_word: bool = False
) -> str:
    """What `look` shows in a notebook; heads are named if their scores are known here."""
    from explainers.notebook.look import draw_heads

    gallery = find_gallery(loaded.name)
    names = gallery.scores if gallery else False
    return draw_heads(loaded, text, names=names, by_word=by_word, words=words).page


def choose(row: int, column: int) -> None:
    """Show the head of this row and this layer large; a callback."""
    controls.model_layer.put(column)
    controls.model_head.put(row)


def follow_click(view: View) -> None:
    """Draw the page anew once another head was clicked: the picture at its top shows that one."""
    layer, head = (
        st.session_state.get(control.key) for control in (controls.model_layer, controls.model_head)
    )
    # Where nobody has chosen, the picture has chosen by itself.
    is_chosen = layer is not None and head is not None
    if is_chosen and (layer, head) != (view.layer, view.head):
        st.rerun()


def draw_sinks(seen: Recording) -> dict[str, object]:
    """The weight on the first token, head by head and layer by layer; a click chooses the head."""
    heads = seen.shape[1]
    mean = seen.first_token_weights.mean(dim=1, keepdim=True)
    values = torch.cat([mean, seen.first_token_weights], dim=1).T.tolist()
    matrix = Matrix(
        _("weight on “{token}”", token=seen.tokens[0]),
        _("mean over all later queries; a column per layer"),
        values,
        [_("all heads"), *(_("head {head}", head=head) for head in range(heads))],
        [str(layer) for layer in range(len(mean))],
        HEAD_AXIS,
        LAYER_AXIS,
        kind="weights",
    )
    least, most = int(mean.argmin()), int(mean.argmax())
    alt = _(
        "Share of the weight on the first token; the most, {share:.2f}, in layer {most}.",
        share=mean.max().item(),
        most=most,
    )
    figure = Figure([Panel("sinks", matrix)], alt, on_pick=_pick)
    show_figure(figure, seen.origin, "sinks")
    shares = {"most_share": f"{mean[most, 0]:.2f}", "least_share": f"{mean[least, 0]:.2f}"}
    return {"most": most, "least": least, **shares}


def _pick(cell: Cell) -> None:
    choose(max(0, cell.row - 1), cell.column)


ANSWERS = NEW, OLD, BOTH = (
    N_("the token that is first now"),
    N_("the token that was first"),
    N_("both about the same"),
)
ALIKE = 0.1
"""Two shares that are closer than this are called alike."""


class Moved(NamedTuple):
    """A run whose text is read again behind other tokens: their ids, and who gets the weight."""

    view: View
    before: list[int]
    answer: str
    named: dict[str, str]


def move_first_token(view: View) -> Moved | None:
    """Put another token before the text: who gets the weight now? Not asked of a single token."""
    seen = view.seen
    if len(seen.tokens) < 2:
        return None
    before = _list_others(view)
    moved = record_text(view.loaded, view.sentence, (before[0],))
    new, old = _measure_share(moved, 0), _measure_share(moved, 1)
    answer = BOTH if abs(new - old) < ALIKE else NEW if new > old else OLD
    named = {
        "word": verbatim(seen.tokens[0]),
        "put": verbatim(moved.tokens[0]),
        "share": f"{100 * _measure_share(seen, 0):.0f}",
        "new": f"{100 * new:.0f}",
        "old": f"{100 * old:.0f}",
    }
    return Moved(view, before, answer, named)


def draw_moved(moved: Moved) -> None:
    """The weight on the new first token and on the old one, for each token that is put first."""
    view, seen = moved.view, moved.view.seen
    runs = [record_text(view.loaded, view.sentence, (token,)) for token in moved.before]
    shares: list[list[float | None]] = [[None, _measure_share(seen, 0)]]
    shares += [[_measure_share(run, 0), _measure_share(run, 1)] for run in runs]
    word = _("“{token}”", token=seen.tokens[0])
    matrix = Matrix(
        _("weight of later tokens"),
        _("mean over all layers and heads"),
        shares,
        [_("nothing"), *(run.tokens[0] for run in runs)],
        [_("first token"), word],
        _("put before the text"),
        _("weight on"),
        kind="weights",
    )
    answer = _(moved.answer)
    alt = _("Weight on the new first token and on the old one: {answer}.", answer=answer)
    show_figure(Figure([Panel("position", matrix)], alt), seen.origin, "position")


def _measure_share(one: Recording, place: int) -> float:
    """The share of the weight on a token, over all layers and heads and all queries behind both."""
    behind = one.weights[..., min(2, len(one.tokens) - 1) :, place]
    return behind.mean().item()


def _list_others(view: View) -> list[int]:
    """Ids to be put first: the text's own last one, one of its middle, one that begins a text."""
    ids, tokenizer = view.tokenise(), view.loaded.tokenizer
    begins = [tokenizer.bos_token_id, tokenizer.cls_token_id]
    found = [token for token in begins if token is not None and token != ids[0]]
    return list(dict.fromkeys([ids[-1], ids[len(ids) // 2], *found[:1]]))


def recall_sink(draw: Random) -> Recall:
    """The first token, whatever it is."""
    first, last = draw.sample(["Yesterday", "Oil", "We", "Perhaps", "Trains"], 2)
    answers = N_("the first token"), N_("the rarest token"), N_("the last token")
    return Recall(answers[0], {"first": first, "last": last}, answers)
