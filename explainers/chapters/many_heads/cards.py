"""All heads of a layer: their panels and arithmetic, and one head against many at equal size."""

import statistics
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from math import inf
from random import Random

import torch
from torch import Tensor

from explainers import arithmetic
from explainers.arithmetic import Arithmetic
from explainers.attention.dropout import drop
from explainers.attention.multi_head import (
    ManyHeads,
    contributions,
    merge_heads,
    multi_head,
    parameters,
)
from explainers.attention.single_head import projection_parameters
from explainers.charts.matrix import Matrix, blank_forbidden, make_pair_matrix
from explainers.charts.theme import FEATURE_AXIS, TOKEN_AXIS
from explainers.messages import N_
from explainers.toys.examples import make_generator
from explainers.toys.grammar import choose_grammar, read_running
from explainers.toys.layers import D_MODEL, NUM_HEADS, Configuration, Layer, list_head_dims
from explainers.toys.training import ReportRow, format_mean_and_spread, read_report
from explainers.translations import _, get_language, say_value
from explainers.ui.figure.chart import show_chart, tabulate
from explainers.ui.figure.panels import Cell, Panel
from explainers.ui.page_parts.check_yourself import Recall
from explainers.ui.provenance import learned_numbers
from explainers.ui.text.numbers import PERCENT, write_percent
from explainers.ui.untrusted_text import verbatim

PROBABILITY, DRAWS = 0.5, 1_000
"""With which dropout hides a weight, and how many draws are averaged."""


@dataclass(frozen=True)
class Selection:
    """What is looked at: a layer's run, one word, and the heads switched off."""

    layer: Layer
    run: ManyHeads
    word: int
    off: frozenset[int]

    @classmethod
    def of(cls, layer: Layer, word: int, off: Iterable[int]) -> "Selection":
        """Run the layer."""
        return cls(layer, multi_head(layer.x, layer.heads, layer.mask), word, frozenset(off))

    @property
    def num_heads(self) -> int:
        return self.layer.heads.num_heads

    @cached_property
    def per_head(self) -> Tensor:
        """The heads' outputs (heads, q_len, head_dim); 0 where a head is off."""
        return silence(self.run.per_head, self.off)

    @cached_property
    def output(self) -> Tensor:
        """The layer's output (q_len, d_model) without the heads that are off."""
        return contributions(self.per_head, self.layer.heads.w_output).sum(dim=0)

    def draw_dropout(self, seed: int) -> dict[str, object]:
        """What the chosen word's row of the first head adds up to, if dropout hides weights."""
        row, token = self.run.weights[0, self.word], self.layer.tokens[self.word]
        drawn = drop(row.expand(DRAWS, -1), PROBABILITY, make_generator("dropout", seed))
        sums = drawn.sum(dim=-1)  # (draws,)
        return {
            "probability": PROBABILITY,
            "word": verbatim(token),
            "once": f"{sums[0].item():.2f}",
            "often": f"{sums.mean().item():.2f}",
            "draws": f"{DRAWS:,}",
        }


def compute_heads(layer: Layer, off: list[int]) -> dict[str, Tensor]:
    """Every head's weights, the heads' outputs side by side, and what W_O makes of them."""
    run = multi_head(layer.x, layer.heads, layer.mask)
    per_head = silence(run.per_head, off)
    each = {f"head {n}": weights for n, weights in enumerate(run.weights)}
    output = contributions(per_head, layer.heads.w_output).sum(dim=0)
    return {**each, "heads": merge_heads(per_head), "layer": output}


def silence(per_head: Tensor, off: Collection[int]) -> Tensor:
    """The heads' outputs (heads, q_len, head_dim), 0 where a head is off."""
    taking_part = [float(head not in off) for head in range(len(per_head))]
    return per_head * torch.tensor(taking_part, device=per_head.device)[:, None, None]


SIDE_BY_SIDE, LAYER = N_("heads"), N_("layer")


def name_panel(head: int) -> str:
    """What a head's pictures are called."""
    return N_("head {head}", head=head)


def draw_steps(looked: Selection) -> list[Panel]:
    """Every head attends; the outputs are laid side by side, and W_O mixes them."""
    heads = looked.layer.heads
    lanes = [f"{head}.{n}" for head in range(looked.num_heads) for n in range(heads.head_dim)]
    side_by_side = looked.per_head.transpose(0, 1).flatten(1)
    example = _("column 2.0: head 2, dimension 0")
    first = _make_layer_matrix(SIDE_BY_SIDE, example, side_by_side, looked, lanes)
    columns = [str(n) for n in range(looked.output.shape[1])]
    last = _make_layer_matrix(LAYER, _("what the layer hands on"), looked.output, looked, columns)
    return [
        *(_draw_head(looked, head) for head in range(looked.num_heads)),
        Panel(SIDE_BY_SIDE, first, "→", dense=True, followed=looked.word),
        Panel(LAYER, last, _("· W_O ="), followed=looked.word),
    ]


def _make_layer_matrix(
    name: str, formula: str, values: Tensor, looked: Selection, columns: Sequence[str]
) -> Matrix:
    return Matrix(
        name, formula, values.tolist(), looked.layer.tokens, columns, TOKEN_AXIS, FEATURE_AXIS
    )


def _draw_head(looked: Selection, head: int) -> Panel:
    """A miniature of its weights, in which the row of the chosen word is framed."""
    name, layer = name_panel(head), looked.layer
    values = blank_forbidden(looked.run.weights[head].tolist(), layer.mask.tolist())
    strongest = _describe_strongest(looked, head)
    matrix = make_pair_matrix(name, strongest, values, layer.tokens, "weights")
    return Panel(name, matrix, small=True, muted=head in looked.off, followed=looked.word)


def _describe_strongest(looked: Selection, head: int) -> str:
    """Where the chosen word looks most in this head."""
    if head in looked.off:
        return _("switched off")
    weight, key = looked.run.weights[head, looked.word].max(dim=-1)
    tokens = looked.layer.tokens
    return f"{tokens[looked.word]} → {tokens[int(key)]} {say_value(f'{weight:.2f}')}"


def make_heads_explainer(looked: Selection) -> Callable[[Cell], Arithmetic]:
    """What to ask about any cell of the picture."""
    return partial(_explain_cell, looked)


def _explain_cell(looked: Selection, cell: Cell) -> Arithmetic:
    i, j, what = cell.row, cell.column, f"{cell.panel}[{cell.row}, {cell.column}]"
    if cell.panel == SIDE_BY_SIDE:
        return _explain_mixing(looked, i, j, what)
    if cell.panel == LAYER:
        row = looked.per_head.transpose(0, 1).flatten(1)[i]
        column, value = looked.layer.heads.w_output[:, j], looked.output[i, j].item()
        return arithmetic.explain_dot_product(row.tolist(), column.tolist(), value, what)
    head = int(cell.panel.removeprefix("head "))
    scores, mask = looked.run.scores[head, i].tolist(), looked.layer.mask[i].tolist()
    allowed = [score if seen else -inf for score, seen in zip(scores, mask, strict=True)]
    weight = looked.run.weights[head, i, j].item()
    return arithmetic.explain_softmax(allowed, j, weight, looked.layer.tokens)


def _explain_mixing(looked: Selection, row: int, column: int, what: str) -> Arithmetic:
    """A number that a head hands on."""
    head, lane = divmod(column, looked.layer.heads.head_dim)
    if head in looked.off:
        line = _("{number} = 0: head {head} is switched off.", number=what, head=head)
        return arithmetic.explain_input(0.0, what, line)
    weights, values = looked.run.weights[head, row], looked.run.value[head, :, lane]
    value, tokens = looked.per_head[head, row, lane].item(), looked.layer.tokens
    return arithmetic.explain_dot_product(weights.tolist(), values.tolist(), value, what, tokens)


WIDE, GPT3 = 512, 12_288
"""The widths of the models of Vaswani et al. 2017 and Brown et al. 2020."""
ANSWERS = (N_("about as many"), N_("about half of them"), N_("fewer than a quarter of them"))


def make_equal_heads(num_heads: int) -> Configuration:
    """Heads that have as many numbers together as one head of full width."""
    return Configuration(num_heads, num_heads, D_MODEL // num_heads, "full")


def score_single_heads() -> dict[int, float]:
    """For each d_k of a single head, the share of verbs it is right about."""
    sizes = {size: Configuration(1, 1, size, "full") for size in list_head_dims(1)}
    return {size: statistics.mean(_read_row(one).verb_accuracy) for size, one in sizes.items()}


def count_operations(q_len: int, d_model: int, num_heads: int, head_dim: int) -> int:
    """Multiplications and additions of one layer over a sentence, without the softmax."""
    projected = 4 * q_len * d_model * num_heads * head_dim
    compared_and_mixed = 2 * num_heads * q_len * q_len * head_dim
    return 2 * (projected + compared_and_mixed)


def count_named_verbs() -> dict[str, str]:
    """For how many verbs one head and four heads name all related words, and the best one head."""
    right = {heads: statistics.mean(_read_row_of_heads(heads).verb_accuracy) for heads in NUM_HEADS}
    most = max(score_single_heads().values())
    shares = {"one": right[1], "four": right[4], "most": most}
    return {name: write_percent(share) for name, share in shares.items()}


def answer_contrast() -> str:
    """Which of the answers one head comes to."""
    accuracy = statistics.mean(_read_row_of_heads(1).verb_accuracy)
    return ANSWERS[0 if accuracy > 0.75 else 1 if accuracy >= 0.25 else 2]


def show_trainings() -> None:
    """A dot for each training: for how many verbs it names all related words and no others."""
    from explainers.charts.curves import Axis, draw_dots

    trials = [
        (heads, right) for heads in NUM_HEADS for right in _read_row_of_heads(heads).verb_accuracy
    ]
    rows = tabulate([(f"{heads}", 100 * right) for heads, right in trials], ["x", "y"])
    alt = _(
        "For how many verbs each training names all related words: {one} with one head, {four} "
        "with four.",
        **count_named_verbs(),
    )
    axes = {"x": Axis(_("heads")), "y": Axis(_("verbs with all related words, %"))}
    origin = learned_numbers(
        _("related words, {count} seeds", count=len(_read_row_of_heads(1).loss))
    )
    show_chart(draw_dots, rows, alt, "trainings", origin, **axes)


def count_costs() -> dict[str, object]:
    """What equal parameters cost and bring, divided among one head or many."""
    tokens = len(read_running(get_language()).tokens)
    projected = projection_parameters(GPT3, GPT3, GPT3)
    return {
        "words": tokens,
        "d_model": D_MODEL,
        "parameters": f"{parameters(D_MODEL, 1, 1, D_MODEL):,}",
        "wide": f"{parameters(WIDE, 1, 1, WIDE):,}",
        "gpt3": f"{parameters(GPT3, 1, 1, GPT3):,}",
        "gpt3_projected": f"{projected:,}",
        "gpt3_millions": round(projected / 1e6),
        "gpt3_width": f"{GPT3:,}",
        "operations": f"{count_operations(tokens, D_MODEL, 1, D_MODEL):,}",
        "weights": ", ".join(f"{heads * tokens**2}" for heads in NUM_HEADS),
        "seeds": len(_read_row_of_heads(1).loss),
        "rows": "\n".join(_write_line(_read_row_of_heads(heads)) for heads in NUM_HEADS),
    }


def _read_row_of_heads(num_heads: int) -> ReportRow:
    return _read_row(make_equal_heads(num_heads))


def _read_row(configuration: Configuration) -> ReportRow:
    """What heads learned that know the words of the visitor's language."""
    return read_report(choose_grammar(get_language()))[configuration]


def _write_line(row: ReportRow) -> str:
    """A line of the table."""
    accuracies = [format_mean_and_spread(numbers) for numbers in (row.accuracy, row.verb_accuracy)]
    return f"| {' | '.join(map(str, [row.num_heads, row.head_dim, *accuracies]))} |"


def recall_remaining_share(draw: Random) -> Recall:
    """What one head can give a second word at most."""
    share = draw.randrange(35, 95, 5)
    return Recall(100 - share, {"share": f"{share}"}, unit=PERCENT)


def recall_layer_numbers(draw: Random) -> Recall:
    """As many numbers with few large heads as with many small ones."""
    head_dim, heads = draw.choice([8, 16, 32]), draw.choice([2, 4, 8])
    d_model = head_dim * heads
    given = {"d_model": f"{d_model}", "heads": f"{heads}"}
    answer = parameters(d_model, heads, heads, head_dim)
    return Recall(answer, given, worked={"d_k": f"{head_dim}"})
