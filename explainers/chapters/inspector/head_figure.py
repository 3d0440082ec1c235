"""One head of a real model, large: its weights, and every number that led to them."""

from explainers import arithmetic
from explainers.arithmetic import Arithmetic
from explainers.chapters.common.real_head_takeaway import make_head_recipe
from explainers.chapters.common.recording import Recording
from explainers.chapters.inspector.sentence_run import View
from explainers.charts.matrix import Matrix, Values, blank_forbidden
from explainers.charts.theme import FEATURE_AXIS, KEY_AXIS, QUERY_AXIS, TOKEN_AXIS
from explainers.messages import N_
from explainers.translations import _
from explainers.ui.figure.clickable_figure import explore_figure
from explainers.ui.figure.panels import Cell, Panel, Source, orient_panels
from explainers.ui.takeaway_files import take

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
        blank = "" if is_dimmed else "0"
        is_one = self.is_plain or self.seen.words
        sums = _("every row sums to 1") if is_one else _("softmax of the scores")
        sums = _("not renormalised: rows sum to less than 1") if is_dimmed else sums
        weights = self._make_pairs(name, sums, values, "weights", blank)
        shown = [Panel(WEIGHTS, weights, sources=FROM_SCORES)]
        if self.seen.words:
            return orient_panels(shown, queries_down)
        shown = [
            self._make_vectors("Q", _("head {head}'s queries", head=self.head)),
            self._make_vectors("K", _("keys of KV head {head}", head=self.shared)),
            Panel(
                "scores",
                self._make_pairs(_("scores"), *self._describe_scores()),
                sources=FROM_VECTORS,
            ),
            *shown,
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
        matrix = Matrix(_(name), formula, values, self.tokens, columns, *axes, role=ROLES[name])
        return Panel(name, matrix)

    def explain_number(self, cell: Cell) -> Arithmetic:
        """How a number came to be, as far as nothing is added to attention in this layer."""
        i, j = cell.row, cell.column
        panel, numbers = cell.panel, self.numbers
        value, name = numbers[panel][i][j], f"{panel}[{i}, {j}]"
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


def take_head(view: View) -> Head:
    """The chosen head, which is also there for the notebook of the page."""
    head = Head(view.drawn, view.layer, view.head)
    take("head", make_head_recipe(head.said, head.ran, head.head))
    return head


def draw_head(head: Head, view: View) -> dict[str, object]:
    """The weights and every number that led to them; and what the first token gets."""
    looks = [
        _("{query} looks most at {key}", query=token, key=head.tokens[place])
        for token, place in zip(head.tokens, head.weights.argmax(dim=-1).tolist(), strict=True)
    ]
    alt = _(
        "{head} of {model}: {looks}", head=head.said, model=head.seen.name, looks="; ".join(looks)
    )
    panels = head.make_panels(view.is_dimmed, view.queries_down)
    explore_figure(panels, head.explain_number, head.seen.origin, "head", alt, first=WEIGHTS)
    first = head.weights[:, 0].mean().item()
    return {"share": f"{100 * first:.1f}", "left": f"{1 - first:.3f}"}
