"""Multi-head attention: a row of arcs per head, its numbers, and one head against many."""

import functools
import statistics
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import inf
from random import Random
from typing import Any

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
    split_heads,
)
from explainers.attention.single_head import projection_parameters
from explainers.chapters.common.choose_layer import name_layer_origin
from explainers.chapters.common.sentence_reading import Reading
from explainers.charts.matrix import Matrix, blank_forbidden, make_pair_matrix
from explainers.charts.theme import FEATURE_AXIS, TOKEN_AXIS
from explainers.messages import N_
from explainers.toys.examples import make_generator
from explainers.toys.grammar import choose_grammar, read_running
from explainers.toys.layers import (
    D_MODEL,
    NUM_HEADS,
    SEEDS,
    Configuration,
    Layer,
    Tokens,
    list_head_dims,
    load_layer,
)
from explainers.toys.training import ReportRow, format_mean_and_spread, read_report
from explainers.translations import _, get_language, say_value
from explainers.ui.controls import controls
from explainers.ui.figure.chart import show_chart, tabulate
from explainers.ui.figure.hero import Experiment, Hero, HeroChoice, list_for_each, round_numbers
from explainers.ui.figure.linked_matrices import show_clickable_figure
from explainers.ui.figure.panels import Cell, Panel
from explainers.ui.page import Prose, read_seed
from explainers.ui.page_parts.check_yourself import Recall
from explainers.ui.prediction import revealed
from explainers.ui.provenance import learned_numbers
from explainers.ui.source import show_source
from explainers.ui.text.numbers import PERCENT, write_percent
from explainers.ui.untrusted_text import verbatim

PROBABILITY, DRAWS = 0.5, 1_000
"""With which dropout hides a weight, and how many draws are averaged."""


SIDE_BY_SIDE, LAYER = N_("heads"), N_("layer")


@dataclass(frozen=True)
class Selection:
    """What is looked at: a layer's run, one word, and the heads switched off."""

    layer: Layer
    word: int
    off: Collection[int]

    @cached_property
    def run(self) -> ManyHeads:
        """All heads, whichever are off."""
        return multi_head(self.layer.x, self.layer.heads, self.layer.mask)

    @cached_property
    def per_head(self) -> Tensor:
        """The heads' outputs (heads, q_len, head_dim); 0 where a head is off."""
        return silence(self.run.per_head, self.off)

    @cached_property
    def output(self) -> Tensor:
        """The layer's output (q_len, d_model) without the heads that are off."""
        return contributions(self.per_head, self.layer.heads.w_output).sum(dim=0)

    def explain(self, cell: Cell) -> Arithmetic:
        """How a number of the picture came to be."""
        i, j, what = cell.row, cell.column, f"{cell.panel}[{cell.row}, {cell.column}]"
        run, layer = self.run, self.layer
        if cell.panel == LAYER:
            row = merge_heads(self.per_head)[i].tolist()
            column, value = layer.heads.w_output[:, j].tolist(), self.output[i, j].item()
            return arithmetic.explain_dot_product(row, column, value, what)
        if cell.panel != SIDE_BY_SIDE:
            head = int(cell.panel.removeprefix("head "))
            pairs = zip(run.scores[head, i].tolist(), layer.mask[i].tolist(), strict=True)
            allowed = [score if seen else -inf for score, seen in pairs]
            weight = run.weights[head, i, j].item()
            return arithmetic.explain_softmax(allowed, j, weight, layer.tokens)
        head, lane = divmod(j, layer.heads.head_dim)
        if head in self.off:
            line = _("{number} = 0: head {head} is switched off.", number=what, head=head)
            return arithmetic.explain_input(0.0, what, line)
        weights, values = run.weights[head, i].tolist(), run.value[head, :, lane].tolist()
        value = self.per_head[head, i, lane].item()
        return arithmetic.explain_dot_product(weights, values, value, what, layer.tokens)


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


def show_steps(text: Prose, hero: Hero, layer: Layer) -> None:
    """Split, attend, join, mix: the heads side by side, W_O, and the layer's output."""
    word, heads, tokens = hero.chosen(controls.followed_word), layer.heads, layer.tokens
    looked = Selection(layer, word, list_off(hero, layer))
    sizes = {"heads": heads.num_heads, "d_k": heads.head_dim}
    text("steps", **sizes, width=heads.num_heads * heads.head_dim)
    alt = _("The weights of every head, their outputs side by side, and the output of the layer.")
    origin = name_layer_origin(layer)
    show_clickable_figure(draw_steps(looked), looked.explain, origin, "steps", alt)
    drawn = make_generator("dropout", read_seed())
    sums = drop(looked.run.weights[0, word].expand(DRAWS, -1), PROBABILITY, drawn).sum(dim=-1)
    text(
        "dropout",
        probability=PROBABILITY,
        word=verbatim(tokens[word]),
        once=f"{sums[0].item():.2f}",
        often=f"{sums.mean().item():.2f}",
        draws=f"{DRAWS:,}",
    )
    show_source(multi_head, split_heads, merge_heads, contributions, drop)


def draw_steps(looked: Selection) -> list[Panel]:
    """Every head attends; the outputs are laid side by side, and W_O mixes them.

    A head is a miniature of its weights, in which the row of the chosen word is framed.
    """
    layer, word, tokens = looked.layer, looked.word, looked.layer.tokens
    panels = []
    for head, weights in enumerate(looked.run.weights):
        name, is_off = N_("head {head}", head=head), head in looked.off
        weight, key = weights[word].max(dim=-1)
        strongest = f"{tokens[word]} → {tokens[int(key)]} {say_value(f'{weight:.2f}')}"
        said = _("switched off") if is_off else strongest
        values = blank_forbidden(weights.tolist(), layer.mask.tolist())
        matrix = make_pair_matrix(name, said, values, tokens, "weights")
        panels.append(Panel(name, matrix, small=True, muted=is_off, followed=word))
    joined, output = merge_heads(looked.per_head), looked.output
    heads, head_dim = layer.heads.num_heads, layer.heads.head_dim
    lanes = [f"{head}.{n}" for head in range(heads) for n in range(head_dim)]
    columns, axes = [str(n) for n in range(output.shape[1])], (TOKEN_AXIS, FEATURE_AXIS)
    example, handed = _("column 2.0: head 2, dimension 0"), _("what the layer hands on")
    first = Matrix(SIDE_BY_SIDE, example, joined.tolist(), tokens, lanes, *axes)
    last = Matrix(LAYER, handed, output.tolist(), tokens, columns, *axes)
    return [
        *panels,
        Panel(SIDE_BY_SIDE, first, "→", dense=True, followed=word),
        Panel(LAYER, last, _("· W_O ="), followed=word),
    ]


WIDE, GPT3 = 512, 12_288
"""The widths of the models of Vaswani et al. 2017 and Brown et al. 2020."""
ANSWERS = (N_("about as many"), N_("about half of them"), N_("fewer than a quarter of them"))


def make_equal_heads(num_heads: int) -> Configuration:
    """Heads that have as many numbers together as one head of full width."""
    return Configuration(num_heads, num_heads, D_MODEL // num_heads, "full")


def count_operations(q_len: int, d_model: int, num_heads: int, head_dim: int) -> int:
    """Multiplications and additions of one layer over a sentence, without the softmax."""
    projected = 4 * q_len * d_model * num_heads * head_dim
    compared_and_mixed = 2 * num_heads * q_len * q_len * head_dim
    return 2 * (projected + compared_and_mixed)


def read_own_report() -> Mapping[Configuration, ReportRow]:
    """What heads learned that know the words of the visitor's language."""
    return read_report(choose_grammar(get_language()))


def ask_contrast(text: Prose) -> None:
    """For how many verbs a layer names all related words and no others, with one head or more.

    Asked first, then a dot for each training.
    """
    report = read_own_report()
    right = {heads: report[make_equal_heads(heads)].verb_accuracy for heads in NUM_HEADS}
    singles = (report[Configuration(1, 1, size, "full")] for size in list_head_dims(1))
    one, four = statistics.mean(right[1]), statistics.mean(right[4])
    most = max(statistics.mean(row.verb_accuracy) for row in singles)
    named = {"one": write_percent(one), "four": write_percent(four), "most": write_percent(most)}
    answer = ANSWERS[0 if one > 0.75 else 1 if one >= 0.25 else 2]
    if not revealed(text, "contrast", ANSWERS, answer, **named):
        return
    from explainers.charts.curves import Axis, draw_dots

    trials = [(f"{heads}", 100 * share) for heads, shares in right.items() for share in shares]
    alt = _(
        "For how many verbs each training names all related words: {one} with one head, {four} "
        "with four.",
        **named,
    )
    axes = {"x": Axis(_("heads")), "y": Axis(_("verbs with all related words, %"))}
    origin = learned_numbers(_("related words, {count} seeds", count=len(right[1])))
    show_chart(draw_dots, tabulate(trials, ["x", "y"]), alt, "trainings", origin, **axes)
    text("contrast_shown", **named)


def show_costs(text: Prose) -> None:
    """What equal parameters cost and bring, divided among one head or many."""
    tokens, report = len(read_running(get_language()).tokens), read_own_report()
    rows = [report[make_equal_heads(heads)] for heads in NUM_HEADS]
    projected = projection_parameters(GPT3, GPT3, GPT3)
    lines = []
    for row in rows:
        accuracies = map(format_mean_and_spread, (row.accuracy, row.verb_accuracy))
        lines.append(f"| {row.num_heads} | {row.head_dim} | {' | '.join(accuracies)} |")
    text(
        "table",
        words=tokens,
        d_model=D_MODEL,
        parameters=f"{parameters(D_MODEL, 1, 1, D_MODEL):,}",
        wide=f"{parameters(WIDE, 1, 1, WIDE):,}",
        gpt3=f"{parameters(GPT3, 1, 1, GPT3):,}",
        gpt3_projected=f"{projected:,}",
        gpt3_millions=round(projected / 1e6),
        gpt3_width=f"{GPT3:,}",
        operations=f"{count_operations(tokens, D_MODEL, 1, D_MODEL):,}",
        weights=", ".join(f"{heads * tokens**2}" for heads in NUM_HEADS),
        seeds=len(rows[0].loss),
        rows="\n".join(lines),
    )
    show_source(parameters, count_operations)


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


SENTENCES = (
    *("hero_caption", "hero_apart", "hero_together", "hero_single"),
    *("hero_all_off", "hero_off", "hero_heads", "hero_heads_together", "hero_alone"),
)
TRIED, SMALL = "4", f"{max(NUM_HEADS)}"
"""The numbers of heads that a head is switched off of, and that are small."""


@functools.cache
def list_switches(count: int) -> tuple[str, ...]:
    """Which of so many heads are off, a hexadecimal digit for each: every choice that there is."""
    return tuple("".join(some) for some in product(*(("", f"{head:x}") for head in range(count))))


def make_hero(text: Prose, reading: Reading) -> Hero:
    """Where one word looks in each head."""
    word, control = reading.choose_word(), controls.num_heads
    if reading.is_small:
        options: Sequence[str] = control.options
        count, layers = control.resolve_among(options), compute_small_layers(reading.words)
        tried = TRIED
    else:
        control(is_drawn=False)  # of the small heads below; it says so where a link asks for others
        layer = reading.layer_of_heads()
        count = tried = f"{layer.heads.num_heads}"
        options, layers = (count,), {count: describe_layer(layer)}
    most = max(map(int, options))
    digits = [f"{head:x}" for head in range(int(count))]  # a link repeats the name for each
    off = "".join(controls.switched_off_heads(digits, is_drawn=False))
    hero = Hero(
        "heads",
        _("A sentence, and above it a row of arcs per head, from one word to those it looks at."),
        {"tokens": list(reading.tokens), "layers": layers} | reading.marks,
        [
            word,
            HeroChoice(control, options, count, labels=list(options)),
            HeroChoice(
                controls.switched_off_heads,
                list_switches(most),
                off,
                fitting=list_switches(int(count)),
            ),
            *reading.choose_marks(),
        ],
        SENTENCES,
        list_for_each(
            word, functools.partial(list_experiments, text, reading.tokens, layers, tried)
        ),
        lambda: name_layer_origin(find_layer(hero, reading)),
        lambda: make_head_table(find_layer(hero, reading), hero.chosen(word.control)),
        origin_follows=(control,),
    )
    return hero


def find_layer(hero: Hero, reading: Reading) -> Layer:
    """The layer with as many heads as are chosen."""
    if not reading.is_small:
        return reading.layer_of_heads()
    heads = make_equal_heads(int(hero.chosen(controls.num_heads)))
    return load_layer(reading.words, heads, SEEDS[0])


def list_off(hero: Hero, layer: Layer) -> list[int]:
    """Which of its heads are switched off."""
    off = (int(one, 16) for one in hero.chosen(controls.switched_off_heads))
    return [head for head in off if head < layer.heads.num_heads]


@functools.lru_cache(maxsize=32)
def compute_small_layers(tokens: Tokens) -> dict[str, Any]:
    """All that the picture shows of a sentence, for every number of small heads."""
    layers = {n: load_layer(tokens, make_equal_heads(n), SEEDS[0]) for n in NUM_HEADS}
    return {str(heads): describe_layer(layer) for heads, layer in layers.items()}


def describe_layer(layer: Layer) -> dict[str, Any]:
    """Each head's weights, and how long what any of them add to a word's output is together.

    The length of a sum follows from the products of its parts (q_len, heads, heads).
    """
    run = multi_head(layer.x, layer.heads, layer.mask)
    parts = contributions(run.per_head, layer.heads.w_output)
    products = torch.einsum("hqd,kqd->qhk", parts, parts)
    return {"weights": round_numbers(run.weights, 6), "parts": round_numbers(products, 6)}


def list_experiments(
    text: Prose, tokens: Sequence[str], layers: dict[str, Any], tried: str, place: int
) -> list[Experiment]:
    """What a reader can try, each with the numbers that it will show."""
    word = tokens[place]
    lengths = torch.tensor(layers[tried]["parts"][place])
    head = int(lengths.diagonal().argmax())
    change = (lengths[head, head] / lengths.sum()).sqrt().item()
    named = {"head": head, "word": word, "change": write_percent(change)}
    heads, off = controls.num_heads.key, controls.switched_off_heads.key
    tries = [Experiment("off", text.fill("try_off", **named), {heads: tried, off: f"{head:x}"})]
    if SMALL in layers:
        small = text.fill("try_small", heads=SMALL, d_k=D_MODEL // int(SMALL), word=word)
        tries.append(Experiment("small", small, {heads: SMALL, off: ""}))
        single = text.fill("try_single", word=word)
        tries.append(Experiment("single", single, {heads: "1", off: ""}))
    return tries


def make_head_table(layer: Layer, word: int) -> Any:
    """Where one word looks in each head, a row for each."""
    weights = multi_head(layer.x, layer.heads, layer.mask).weights[:, word]
    words = [f"{place} {token}" for place, token in enumerate(layer.tokens)]
    heads = [_("head {head}", head=head) for head in range(len(weights))]
    return tabulate(weights.tolist(), words, heads, _("head"))
