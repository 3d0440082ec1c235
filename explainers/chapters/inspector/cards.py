"""The cards: one head with every number of it, and what all heads park on the first token."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from random import Random
from typing import TYPE_CHECKING

import streamlit as st
import torch

from explainers import arithmetic
from explainers.arithmetic import Arithmetic
from explainers.chapters.common import recording
from explainers.chapters.common.measured_heads import find_gallery
from explainers.chapters.common.recording import Recording
from explainers.chapters.inspector.hero import MOST_DRAWN
from explainers.chapters.inspector.sentence_run import View
from explainers.charts import theme
from explainers.charts.matrix import Matrix, blank_forbidden, make_pair_matrix
from explainers.messages import N_
from explainers.translations import _
from explainers.ui import browser_files
from explainers.ui.controls import controls
from explainers.ui.figure.linked_matrices import show_clickable_figure, show_figure
from explainers.ui.figure.panels import Cell, Figure, Panel, Source, orient_panels
from explainers.ui.page import Prose
from explainers.ui.page_parts.check_yourself import Recall
from explainers.ui.prediction import ask_veiled, revealed
from explainers.ui.source import show_source
from explainers.ui.takeaway_files import take
from explainers.ui.text.language import fragment
from explainers.ui.untrusted_text import verbatim

if TYPE_CHECKING:
    from explainers.models.load import RealModel


FROM_VECTORS = Source("Q", row="row"), Source("K", row="column")
FROM_SCORES = (Source("scores", row="row"),)
WEIGHTS = N_("weights")
ROLES = {"Q": "query", "K": "key"}


class Head:
    """What one head of one layer computed, as plain numbers; between words only its weights."""

    def __init__(self, seen: Recording, layer: int, head: int) -> None:
        ran = seen.layers[layer]
        self.seen, self.layer, self.head, self.ran = seen, layer, head, ran
        self.shared = head // seen.group_size
        self.is_plain = seen.is_plain(layer) and not seen.words
        self.function = getattr(ran.function, "func", ran.function)
        self.allowed = seen.masks[layer].tolist()
        self.weights = seen.weights[layer, head]
        self.numbers = {WEIGHTS: self.weights.tolist()}
        if not seen.words:  # a word of several tokens has as many queries
            self.numbers |= {
                "Q": ran.query[0, head].tolist(),
                "K": ran.key[0, self.shared].tolist(),
                "scores": ran.scores[0, head].tolist(),
            }

    @property
    def said(self) -> str:
        """Which one it is, in words."""
        return _("layer {layer}, head {head}", layer=self.layer, head=self.head)

    def make_panels(self, is_dimmed: bool, queries_down: bool) -> list[Panel]:
        """Weights, and what they were computed from."""
        name = _("weights, the first token dimmed") if is_dimmed else _(WEIGHTS)
        seen = [[a and not (is_dimmed and k == 0) for k, a in enumerate(r)] for r in self.allowed]
        values = blank_forbidden(self.numbers[WEIGHTS], seen)
        is_one = self.is_plain or self.seen.words
        sums = _("every row sums to 1") if is_one else _("softmax of the scores")
        sums = _("not renormalised: rows sum to less than 1") if is_dimmed else sums
        weights = make_pair_matrix(name, sums, values, self.seen.tokens, "weights")
        if is_dimmed:
            weights = replace(weights, blank="")
        shown = [Panel(WEIGHTS, weights, sources=FROM_SCORES)]
        if self.seen.words:
            return orient_panels(shown, queries_down)
        formula = _("with what this model adds, before the mask")
        if self.is_plain:
            formula = _("Q · Kᵀ ÷ √d_k, before the mask")
        scores = make_pair_matrix(_("scores"), formula, self.numbers["scores"], self.seen.tokens)
        shown = [
            self._make_vectors("Q", _("head {head}'s queries", head=self.head)),
            self._make_vectors("K", _("keys of KV head {head}", head=self.shared)),
            Panel("scores", scores, sources=FROM_VECTORS),
            *shown,
        ]
        return orient_panels(shown, queries_down)

    def _make_vectors(self, name: str, formula: str) -> Panel:
        values = self.numbers[name]
        columns = [str(n) for n in range(len(values[0]))]
        axes = theme.TOKEN_AXIS, theme.FEATURE_AXIS
        words = self.seen.tokens
        matrix = Matrix(_(name), formula, values, words, columns, *axes, role=ROLES[name])
        return Panel(name, matrix)

    def explain_number(self, cell: Cell) -> Arithmetic:
        """How a number came to be, as far as nothing is added to attention in this layer."""
        i, j = cell.row, cell.column
        panel, numbers = cell.panel, self.numbers
        value, name = numbers[panel][i][j], f"{panel}[{i}, {j}]"
        if panel == "scores" and self.is_plain:
            query, key = numbers["Q"][i], numbers["K"][j]
            divided = [number / len(query) ** 0.5 for number in query]
            return arithmetic.explain_dot_product(divided, key, value, name)
        if panel == WEIGHTS and self.is_plain:
            pairs = zip(numbers["scores"][i], self.allowed[i], strict=True)
            row = [score if allowed else -float("inf") for score, allowed in pairs]
            return arithmetic.explain_softmax(row, j, value, self.seen.tokens)
        line = _("{name} = {value:z.4f}, as the model computed it.", name=name, value=value)
        if self.seen.words:
            line = _(
                "{value:z.4f}: the weights on {keys} tokens added up, mean of {queries} rows",
                value=value,
                keys=self.seen.words.count(j),
                queries=self.seen.words.count(i),
            )
        return arithmetic.explain_input(value, name, line)


def take_head(view: View) -> Head:
    """The chosen head, which is also there for the notebook of the page."""
    head = Head(view.drawn, view.layer, view.head)
    take("head", recording.make_head_recipe(head.said, head.ran, head.head))
    return head


def show_head(text: Prose, view: View) -> None:
    """The chosen head, with all that led to its weights; and what the first token gets."""
    head = take_head(view)
    tokens = head.seen.tokens
    is_whole = len(tokens) <= MOST_DRAWN
    text("head_words" if view.words else "head" if is_whole else "head_long")
    looks = [
        _("{query} looks most at {key}", query=token, key=tokens[place])
        for token, place in zip(tokens, head.weights.argmax(dim=-1).tolist(), strict=True)
    ]
    alt = _(
        "{head} of {model}: {looks}", head=head.said, model=head.seen.name, looks="; ".join(looks)
    )
    panels = head.make_panels(view.is_dimmed, view.queries_down)
    show_clickable_figure(panels, head.explain_number, head.seen.origin, "head", alt)
    if view.is_dimmed:
        first = head.weights[:, 0].mean().item()
        text("dimmed_head", share=f"{100 * first:.1f}", left=f"{1 - first:.3f}")


def show_all_heads(text: Prose, view: View) -> None:
    """Which token gets most of all weight; then how much each head gives the first.

    Head by head and layer by layer; a click chooses the head.
    """
    seen, drawn = view.seen, view.drawn
    mass = seen.weights.mean(dim=(0, 1, 2))
    best, (layers, heads) = int(mass.argmax()), seen.shape
    places = sorted({best, len(seen.tokens) // 2, len(seen.tokens) - 1})
    names = {
        place: _("{token} (position {place})", token=verbatim(seen.tokens[place]), place=place)
        for place in places
    }
    told = {
        "heads": layers * heads,
        "share": f"{100 * mass.max():.0f}",
        "even": f"{100 / len(seen.tokens):.0f}",
    }
    ask_veiled(text, "most", names[best], list(names.values()), **told)
    each = recording.average_weight_on_key(drawn.weights, 0)  # (layers, heads)
    mean = each.mean(dim=1, keepdim=True)
    matrix = Matrix(
        _("weight on “{token}”", token=drawn.tokens[0]),
        _("mean over all later queries; a column per layer"),
        torch.cat([mean, each], dim=1).T.tolist(),
        [_("all heads"), *(_("head {head}", head=head) for head in range(heads))],
        [str(layer) for layer in range(layers)],
        theme.HEAD_AXIS,
        theme.LAYER_AXIS,
        kind="weights",
    )
    least, most = int(mean.argmin()), int(mean.argmax())
    alt = _(
        "Share of the weight on the first token; the most, {share:.2f}, in layer {most}.",
        share=mean.max().item(),
        most=most,
    )

    def pick(cell: Cell) -> None:
        controls.model_layer.put(cell.column)
        controls.model_head.put(max(0, cell.row - 1))  # above them stands the mean of all heads

    show_figure(Figure([Panel("sinks", matrix)], alt, on_pick=pick), drawn.origin, "sinks")
    shares = {"most_share": f"{mean[most, 0]:.2f}", "least_share": f"{mean[least, 0]:.2f}"}
    text("sinks_seen", most=most, least=least, **shares)
    offer_file(view)
    show_source(recording.average_weight_on_key)
    follow_click(view)


def offer_file(view: View) -> None:
    """A button for all heads of a text in one HTML file, which is made when it is asked for."""
    from explainers.models.head_scores import MEANINGS

    scripts = browser_files.list_scripts("look", "common", "tiles")
    words = browser_files.translate_scripts(scripts, [*MEANINGS, *MEANINGS.values()])
    st.download_button(
        _("All heads of this text in one HTML file"),
        partial(write_file, view.loaded, view.sentence, words, bool(view.words)),
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
    from explainers.notebook.given import Wanted
    from explainers.notebook.look import draw_heads

    gallery = find_gallery(loaded.name)
    names = gallery.scores if gallery else False
    return draw_heads(loaded, Wanted(text, by_word=by_word), names, words).page


def follow_click(view: View) -> None:
    """Draw the page anew once another head was clicked: the picture at its top shows that one."""
    layer, head = (
        st.session_state.get(control.key) for control in (controls.model_layer, controls.model_head)
    )
    # Where nobody has chosen, the picture has chosen by itself.
    is_chosen = layer is not None and head is not None
    if is_chosen and (layer, head) != (view.layer, view.head):
        st.rerun()


ANSWERS = NEW, OLD, BOTH = (
    N_("the token that is first now"),
    N_("the token that was first"),
    N_("both about the same"),
)
ALIKE = 0.1
"""Two shares that are closer than this are called alike."""


@fragment
def ask_position(text: Prose, view: View) -> None:
    """Put another token before the text: who gets the weight now, the word or its position?

    Then the weight on the new first token and on the old one, for each token that is put first.
    These are the text's own last one, one of its middle, one that begins a text. Not asked of a
    single token.
    """
    seen, ids, tokenizer = view.seen, view.tokenise(), view.loaded.tokenizer
    if len(seen.tokens) < 2:
        return
    begins = [tokenizer.bos_token_id, tokenizer.cls_token_id]
    found = [token for token in begins if token is not None and token != ids[0]]
    others = list(dict.fromkeys([ids[-1], ids[len(ids) // 2], *found[:1]]))
    moved = recording.record_text(view.loaded, view.sentence, (others[0],))
    new, old = _measure_share(moved, 0), _measure_share(moved, 1)
    answer = BOTH if abs(new - old) < ALIKE else NEW if new > old else OLD
    named = {
        "word": verbatim(seen.tokens[0]),
        "put": verbatim(moved.tokens[0]),
        "share": f"{100 * _measure_share(seen, 0):.0f}",
        "new": f"{100 * new:.0f}",
        "old": f"{100 * old:.0f}",
    }
    if not revealed(text, "position", ANSWERS, answer, **named):
        return
    runs = [recording.record_text(view.loaded, view.sentence, (token,)) for token in others]
    shares: list[list[float | None]] = [[None, _measure_share(seen, 0)]]
    shares += [[_measure_share(run, 0), _measure_share(run, 1)] for run in runs]
    matrix = Matrix(
        _("weight of later tokens"),
        _("mean over all layers and heads"),
        shares,
        [_("nothing"), *(run.tokens[0] for run in runs)],
        [_("first token"), _("“{token}”", token=seen.tokens[0])],
        _("put before the text"),
        _("weight on"),
        kind="weights",
    )
    alt = _("Weight on the new first token and on the old one: {answer}.", answer=_(answer))
    show_figure(Figure([Panel("position", matrix)], alt), seen.origin, "position")


def _measure_share(one: Recording, place: int) -> float:
    """The share of the weight on a token, over all layers and heads and all queries behind both."""
    behind = one.weights[..., min(2, len(one.tokens) - 1) :, place]
    return behind.mean().item()


def recall_sink(draw: Random) -> Recall:
    """The first token, whatever it is."""
    first, last = draw.sample(["Yesterday", "Oil", "We", "Perhaps", "Trains"], 2)
    answers = N_("the first token"), N_("the rarest token"), N_("the last token")
    return Recall(answers[0], {"first": first, "last": last}, answers)
