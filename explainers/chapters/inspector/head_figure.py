"""One head of a real model, large: lines, heat map, and every number that led to them."""

import torch

from explainers import arithmetic
from explainers.arithmetic import Arithmetic
from explainers.chapters.common.real_head_takeaway import make_head_recipe
from explainers.chapters.common.recording import Recording
from explainers.chapters.inspector.hero import MOST_DRAWN
from explainers.chapters.inspector.sentence_run import View
from explainers.charts.matrix import Matrix, Values, blank_forbidden
from explainers.charts.theme import FEATURE_AXIS, KEY_AXIS, QUERY_AXIS, TOKEN_AXIS
from explainers.messages import N_
from explainers.translations import _
from explainers.ui.figure.clickable_figure import explore_figure
from explainers.ui.figure.panels import Cell, Panel, Source, orient_panels
from explainers.ui.takeaway_files import take
from explainers.ui.untrusted_text import verbatim

FROM_VECTORS = Source("Q", row="row"), Source("K", row="column")
FROM_SCORES = (Source("scores", row="row"),)
LINES, WEIGHTS = N_("who looks where"), N_("weights")
ROLES = {"Q": "query", "K": "key", "V": "value"}


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
                "V": ran.value[0, self.shared].tolist(),
                "output": ran.output[0, head].tolist(),
            }

    @property
    def said(self) -> str:
        """Which one it is, in words."""
        return _("layer {layer}, head {head}", layer=self.layer, head=self.head)

    def make_panels(self, is_dimmed: bool, queries_down: bool) -> list[Panel]:
        """Lines between a few tokens, weights, and what they were computed from."""
        name = _("weights, the first token dimmed") if is_dimmed else _(WEIGHTS)
        seen = [[a and not (is_dimmed and k == 0) for k, a in enumerate(r)] for r in self.allowed]
        values = blank_forbidden(self.numbers[WEIGHTS], seen)
        blank = "" if is_dimmed else "0"
        pairs = QUERY_AXIS, KEY_AXIS
        drawn = [[w or 0.0 for w in row] for row in values]  # a row with blanks is not written yet
        sides, words = _("{head}: keys left, queries right", head=self.said), (self.tokens,) * 2
        lines = Matrix(_(LINES), sides, drawn, *words, *pairs, kind="ties")
        is_one = self.is_plain or self.seen.words
        sums = _("every row sums to 1") if is_one else _("softmax of the scores")
        sums = _("not renormalised: rows sum to less than 1") if is_dimmed else sums
        weights = self._make_pairs(name, sums, values, "weights", blank)
        shown = [Panel(LINES, lines)] if len(self.tokens) <= MOST_DRAWN else []
        shown.append(Panel(WEIGHTS, weights, sources=FROM_SCORES))
        if self.seen.words:
            return orient_panels(shown, queries_down)
        shown += [
            self._make_vectors("Q", _("head {head}'s queries", head=self.head)),
            self._make_vectors("K", _("keys of KV head {head}", head=self.shared)),
            Panel(
                "scores",
                self._make_pairs(_("scores"), *self._describe_scores()),
                sources=FROM_VECTORS,
            ),
            self._make_vectors("V", _("values of KV head {head}", head=self.shared)),
            self._make_vectors("output", _("weights · V")),
        ]
        return orient_panels(shown, queries_down)

    @property
    def tokens(self) -> tuple[str, ...]:
        return self.seen.tokens

    def _describe_scores(self) -> tuple[str, Values]:
        if self.is_plain:
            return _("Q · Kᵀ ÷ √d_k, before the mask"), self.numbers["scores"]
        return _("with what this model adds, before the mask"), self.numbers["scores"]

    def _make_pairs(
        self, name: str, formula: str, values: Values, kind: str = "signed", blank: str = ""
    ) -> Matrix:
        axes = QUERY_AXIS, KEY_AXIS
        words = self.tokens, self.tokens
        return Matrix(name, formula, values, *words, *axes, kind=kind, blank=blank)

    def _make_vectors(self, name: str, formula: str) -> Panel:
        values = self.numbers[name]
        columns = [str(n) for n in range(len(values[0]))]
        axes = TOKEN_AXIS, FEATURE_AXIS
        matrix = Matrix(
            _(name), formula, values, self.tokens, columns, *axes, role=ROLES.get(name, "")
        )
        sources = (Source(WEIGHTS, row="row"), Source("V", column="column"))
        return Panel(name, matrix, sources=sources if name == "output" else ())

    def explain_number(self, cell: Cell) -> Arithmetic:
        """How a number came to be, as far as nothing is added to attention in this layer."""
        i, j = cell.row, cell.column
        panel = WEIGHTS if cell.panel == LINES else cell.panel
        numbers = self.numbers
        value, name = numbers[panel][i][j], f"{panel}[{i}, {j}]"
        if panel == "output":
            return arithmetic.explain_dot_product(
                numbers[WEIGHTS][i], [row[j] for row in numbers["V"]], value, name
            )
        if panel == "scores" and self.is_plain:
            return self._explain_score(i, j, value, name)
        if panel == WEIGHTS and self.is_plain:
            pairs = zip(numbers["scores"][i], self.allowed[i], strict=True)
            row = [score if allowed else -float("inf") for score, allowed in pairs]
            return arithmetic.explain_softmax(row, j, value, self.tokens)
        line = _("{name} = {value:z.4f}, as the model computed it.", name=name, value=value)
        if self.seen.words:
            line = self._explain_word(i, j, value)
        return arithmetic.explain_input(value, name, line)

    def _explain_word(self, i: int, j: int, value: float) -> str:
        """Which numbers of the model's were added up, and over how many rows the mean was taken."""
        words = self.seen.words
        return _(
            "{value:z.4f}: the weights on {keys} tokens added up, mean of {queries} rows",
            value=value,
            keys=words.count(j),
            queries=words.count(i),
        )

    def _explain_score(self, i: int, j: int, value: float, name: str) -> Arithmetic:
        query, key = self.numbers["Q"][i], self.numbers["K"][j]
        root = len(query) ** 0.5
        return arithmetic.explain_dot_product([number / root for number in query], key, value, name)


WRITTEN_OUT = 8
"""Weights of a row; more nobody adds up."""


def take_head(view: View) -> Head:
    """The chosen head, which is also there for the notebook of the page."""
    head = Head(view.drawn, view.layer, view.head)
    take("head", make_head_recipe(head.said, head.ran, head.head))
    return head


def draw_head(head: Head, view: View) -> dict[str, object]:
    """The lines, the weights, and every number that led to them; and what the rows sum to."""
    looks = [
        _("{query} looks most at {key}", query=token, key=head.tokens[place])
        for token, place in zip(head.tokens, head.weights.argmax(dim=-1).tolist(), strict=True)
    ]
    alt = _(
        "{head} of {model}: {looks}", head=head.said, model=head.seen.name, looks="; ".join(looks)
    )
    panels = head.make_panels(view.is_dimmed, view.queries_down)
    explore_figure(panels, head.explain_number, head.seen.origin, "head", alt, first=WEIGHTS)
    return sum_rows(head)


def sum_rows(head: Head) -> dict[str, object]:
    """What the rows sum to, with the first token and without, and what lies on forbidden pairs."""
    sums = head.weights.sum(dim=-1)
    forbidden = head.weights[~torch.tensor(head.allowed, device=head.weights.device)]
    first = head.weights[:, 0].mean().item()
    row = len(head.tokens) - 1
    return {
        "token": verbatim(head.tokens[row]),
        "row": " + ".join(f"{weight:.4f}" for weight in head.numbers[WEIGHTS][row][:WRITTEN_OUT]),
        "more": " + …" if row >= WRITTEN_OUT else "",
        "total": f"{sums[row]:.4f}",
        "least": f"{sums.min():.4f}",
        "most": f"{sums.max():.4f}",
        "forbidden": len(forbidden),
        "largest": f"{max(forbidden.tolist(), default=0.0):g}",
        "share": f"{100 * first:.1f}",
        "left": f"{1 - first:.3f}",
    }
