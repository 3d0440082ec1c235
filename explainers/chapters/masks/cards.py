"""What stands below the picture: a mask's leak, two steps, every mask, a batch, reach, one pass."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any, NamedTuple

import streamlit as st
import torch
from torch import Tensor

from explainers import arithmetic
from explainers.arithmetic import Arithmetic
from explainers.attention import masks
from explainers.attention.receptive_field import cells, window_reach
from explainers.attention.rules import Rule
from explainers.attention.single_head import single_head
from explainers.attention.steps import attention_steps, hide, softmax
from explainers.chapters.common import score_matrix
from explainers.chapters.common.one_head import OneHead
from explainers.chapters.common.score_matrix import Lab
from explainers.chapters.masks import compute
from explainers.chapters.masks.compute import Computed
from explainers.charts.matrix import Matrix, make_pair_matrix, share_domain
from explainers.charts.theme import FEATURE_AXIS, KEY_AXIS, LAYER_AXIS, TOKEN_AXIS
from explainers.messages import N_
from explainers.toys.grammar import GRAMMARS, choose_other_ending, find_language
from explainers.toys.layers import Layer, Tokens
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.figure.linked_matrices import show_clickable_figure, show_figure
from explainers.ui.figure.panels import Cell, Figure, Panel, Slider, orient_panels
from explainers.ui.lecture.screens import is_lecture
from explainers.ui.provenance import formula, random_weights
from explainers.ui.takeaway_files import hand_over, take
from explainers.ui.text.numbers import bound_rounding
from explainers.ui.untrusted_text import verbatim

ROUNDING = 1e-6
"""Of shares of 1: a sharp head's real changes are small, and its rounding is smaller still."""
ROWS = N_("in none of them"), N_("in one of them"), N_("in more than one")
"""What one may think that a word changes which is hidden."""


class Leak(NamedTuple):
    """A new last word, and causal weights made in both ways with it and without."""

    new: str
    other: Layer
    shown: Computed

    def count_moved_rows(self) -> dict[str, int]:
        """How many of the earlier rows the new word changes, by the way."""
        count, least = score_matrix.count_changed_rows, 100 * ROUNDING
        return {way: count(self.shown[f"{way}: new − old"], least) for way in compute.WAYS}

    def list_moves(self) -> Tensor:
        """By how many percent each earlier row changes where none should (words − 1,)."""
        return self.shown["0 after: new − old"].abs().amax(dim=-1)


def find_leak(lab: Lab) -> Leak:
    """Both ways on the sentence, and on the sentence with another last word."""
    tokens = lab.tokens
    new = choose_other_ending(tokens)
    other = lab.layer.reading((*tokens[:-1], new))
    return Leak(new, other, compute.compute_leak(lab.layer, other))


def name_leak(lab: Lab, leak: Leak) -> tuple[str, dict[str, object]]:
    """In how many rows a word shows that is hidden by a 0, and what the question names."""
    after, before = leak.count_moved_rows().values()
    moves = leak.list_moves()
    digits = (f"{moves.min().item():.{places}f}" for places in (2, 4))  # the picture shows 2
    return ROWS[min(after, 2)], {
        "last": verbatim(lab.tokens[-1]),
        "new": verbatim(leak.new),
        "earlier": len(lab.tokens) - 1,
        "after": after,
        "kept": before,
        "least": verbatim(lab.tokens[int(moves.argmin())]),
        "by": next((one for one in digits if float(one)), _("less than 0.0001")),
        "d_k": lab.layer.head().w_query.shape[-1],
    }


def show_leak(lab: Lab, leak: Leak) -> None:
    """For each way the weights, and how they move; a class reads the row that moves most."""
    inputs = {"layer": lab.layer, "other": leak.other}
    hand_over("leak", _("−∞ before the softmax, or 0 after it"), compute.compute_leak, **inputs)
    followed = int(leak.list_moves().argmax()) if is_lecture() else None
    mask, earlier = lab.mask(masks.causal), lab.tokens[:-1]  # the last word is not the same in both
    ways = dict(zip(compute.WAYS, (_("0 after"), _("−∞ before")), strict=True))
    changes = share_domain(
        *(
            make_pair_matrix(
                _("{way}: new − old", way=ways[name]),
                # In percent: a change may be too small for two digits of a weight.
                _(
                    "in percent: {rows} of {earlier} earlier rows change",
                    rows=rows,
                    earlier=len(earlier),
                ),
                score_matrix.keep_allowed(leak.shown[f"{name}: new − old"], mask[:-1, :-1]),
                earlier,
            )
            for name, rows in leak.count_moved_rows().items()
        )
    )
    panels = []
    for name, change in zip(compute.WAYS, changes, strict=True):
        shares = leak.shown[name]
        sums = _("the first row sums to {total:.2f}", total=shares[0].sum())
        made = score_matrix.make_weight_panel(name, sums, shares, mask, lab.tokens)
        heading = _("{way} the softmax", way=ways[name])
        matrix = replace(made.matrix, name=ways[name])
        panels += [
            replace(made, matrix=matrix, heading=heading, followed=followed),
            Panel(f"{name}: new − old", change, followed=followed),
        ]
    alt = _("Causal weights made in two ways, and how each moves when the last word is new.")
    show_figure(Figure(lab.arranged(panels), alt), lab.origin, "leak")


def find_empty_row(drawn: Tensor) -> int | None:
    """The first row of the reader's mask that may look at nothing, for which it is refused."""
    empty = (~drawn.any(dim=-1)).nonzero().flatten().tolist()
    return empty[0] if empty else None


def warn_of_empty_row(drawn: Tensor) -> None:
    """Say which row the mask is refused for."""
    why = _(
        "Refused: the mask leaves row {row} (of {rows} queries) nothing to look at.",
        row=find_empty_row(drawn),
        rows=len(drawn),
    )
    st.warning(why, icon=":material/block:")


def hand_over_weights(lab: Lab, numbers: dict[str, int], drawn: Tensor | None) -> None:
    """What the page opens with: one matrix under all masks, or under one that is drawn."""
    if drawn is None:
        inputs: dict[str, Any] = {"layer": lab.layer, "numbers": numbers}
        hand_over("side by side", _("One matrix, many masks"), compute.mask_weights, **inputs)
    elif find_empty_row(drawn) is None:
        cells = drawn.tolist()
        hand_over(
            "by hand", _("Your mask"), compute.compute_drawn_weights, layer=lab.layer, cells=cells
        )
    else:
        take("by hand")


def show_two_steps(lab: Lab, mask: Tensor, word: int) -> None:
    """The scores with −∞ where a mask forbids a pair, and their softmax; a word's row in a box."""
    run = attention_steps(*lab.views, mask.to(lab.scores.device))
    one_head = OneHead.of(lab.layer, lab.views, run)
    panels = [replace(panel, followed=word) for panel in one_head.step("weights", True)]
    alt = _("The scores after the mask, and the weights that the softmax makes of them.")
    explain = one_head.explain
    show_clickable_figure(lab.arranged(panels), explain, lab.origin, "two steps", alt)


def list_rules() -> list[Callable[..., object]]:
    """What each mask of the table is made by, in its own lines of code."""
    rules = [mask.rule for mask in masks.MASKS]
    return [rule.allows if isinstance(rule, Rule) else rule for rule in rules]


def show_masks(lab: Lab, numbers: Mapping[str, int], shown: Computed) -> None:
    """The scores, and the weights under every mask of the table, each with its arithmetic."""
    rules, scores = score_matrix.make_rules(numbers), lab.one_head.panel("scores")
    panels = [replace(scores, matrix=replace(scores.matrix, limit=None), small=True)]
    for name, rule in rules.items():
        mask = lab.mask(rule)
        left = _("{left} of {all} cells", left=cells(mask), all=mask.numel())
        panel = score_matrix.make_weight_panel(name, left, shown[name], mask, lab.tokens)
        panels.append(replace(panel, small=True))
    of_scores = lab.one_head.explain

    def explain(cell: Cell) -> Arithmetic:
        if cell.panel == "scores":
            return of_scores(cell)
        row = hide(lab.scores, lab.mask(rules[cell.panel]))[cell.row]
        weight = softmax(row)[cell.column].item()
        return arithmetic.explain_softmax(row.tolist(), cell.column, weight, lab.tokens)

    alt = _("The scores of the sentence, and its weights under every mask, side by side.")
    show_clickable_figure(
        orient_panels(panels, lab.queries_down), explain, lab.origin, "masks", alt
    )


TOPIC = 2
"""Of the second sentence: sport."""
PAD = "[pad]"


def choose_second_sentence(tokens: Tokens) -> Tokens:
    """A second sentence of words that training knows, not as long as the reader's."""
    grammar = GRAMMARS[find_language(tokens)]
    who, verb, whom = (grammar.list_words(part, TOPIC) for part in ("many", "verb", "many"))
    other = who[1].capitalize(), verb[0], whom[0]
    return other[:-1] if len(tokens) == len(other) else other


def pad_sentence(tokens: Tokens, length: int) -> Tokens:
    """The sentence with its filling."""
    return tokens + (PAD,) * (length - len(tokens))


class SentenceBatch(NamedTuple):
    """Two sentences filled up to one length, and their weights from one call."""

    sentences: tuple[Tokens, Tokens]
    layers: list[Layer]
    shown: Computed

    @property
    def lengths(self) -> list[int]:
        """The true ones, without the filling."""
        return [len(sentence) for sentence in self.sentences]

    def name_sizes(self) -> dict[str, object]:
        """What the text says, and how far each sentence is from its weights computed alone."""
        readers = [self.layers[0].reading(sentence) for sentence in self.sentences]
        alone = [single_head(*layer.single()).weights for layer in readers]
        moved = compute.measure_largest_change(torch.stack([*self.shown.values()]), alone)
        most = max(self.lengths)
        return {"length": most, "moved": bound_rounding(moved), "filling": verbatim(PAD)}


def fill_batch(lab: Lab) -> SentenceBatch:
    """The reader's sentence and another one, computed in one call."""
    sentences = lab.tokens, choose_second_sentence(lab.tokens)
    lengths = [len(sentence) for sentence in sentences]
    layers = [lab.layer.reading(pad_sentence(sentence, max(lengths))) for sentence in sentences]
    shown = compute.compute_batch_weights(layers[0], layers[1], lengths)
    return SentenceBatch(sentences, layers, shown)


def show_batch(lab: Lab, batch: SentenceBatch) -> None:
    """The weights of both sentences; nobody looks at the filling."""
    inputs = dict(zip(("layer", "other"), batch.layers, strict=True), lengths=batch.lengths)
    hand_over("batch", _("Two sentences in one batch"), compute.compute_batch_weights, **inputs)
    length = max(batch.lengths)
    real = masks.build(masks.padding(torch.tensor(batch.lengths)), length, length)
    panels = [
        score_matrix.make_weight_panel(
            _("sentence {number}", number=n + 1),
            f"{score_matrix.write_word_count(len(sentence))}, {length - len(sentence)} × {PAD}",
            batch.shown[f"sentence {n + 1}"],
            real[n, 0],
            pad_sentence(sentence, length),
        )
        for n, sentence in enumerate(batch.sentences)
    ]
    alt = _("The weights of two sentences in one batch; the columns of the padding are 0.")
    show_figure(Figure(lab.arranged(panels), alt), lab.origin_with(PAD), "batch")


NEVER = N_("never")
ASKED = 1
"""The word of the question, from 0: the running sentence's subject."""


def count_layers_needed(width: int, far: int) -> str:
    """After how many layers of a window the last of `far + 1` words knows of the first."""
    known = compute.compute_reach_by_layer(width, far + 1, max(far, 1))[:, -1, 0].tolist()
    return str(known.index(True) + 1) if True in known else NEVER


def ask_reach(tokens: Sequence[str], width: int) -> tuple[str, dict[str, str]]:
    """After how many layers the last word can know of an early one, and what the question names."""
    last = len(tokens) - 1
    early = min(ASKED, max(last - 1, 0))
    named = {
        "width": f"{width}",
        "last": verbatim(tokens[last]),
        "early": verbatim(tokens[early]),
        "apart": score_matrix.write_word_count(last - early),
    }
    return count_layers_needed(width, last - early), named


def show_reach(lab: Lab, width: int) -> None:
    """Of which words the last one can know after the layers of the slider, and on which ways."""
    control, tokens = controls.layers, lab.tokens
    steps, place = [int(step) for step in control.steps], control()
    sizes = {"width": width, "words": len(tokens), "layers": steps[place], "most": len(steps)}
    by_layer = compute.compute_reach_by_layer(width, len(tokens), len(steps))
    hand_over("reach", _("Windows stacked in layers"), compute.compute_reach, **sizes)
    cones = [compute.trace_cone(by_layer, step).int().tolist() for step in steps]
    cone = Matrix(
        _("what “{word}” knows of", word=tokens[-1]),
        _("each dot sees a window of dots one layer below; the words are at the bottom"),
        cones[place],
        [f"{step}" for step in reversed((0, *steps))],
        tokens,
        LAYER_AXIS,
        KEY_AXIS,
        kind="cone",
        decimals=0,
    )
    sums = [f"{n}: {n} × ({width} − 1) + 1 = {window_reach(width, n)}" for n in steps]
    labels = [_("{sum} positions", sum=one) for one in sums]
    slider = Slider(control.label, labels, place, lambda turned: control.put(steps[turned]))
    alt = _("A row of dots for each layer: lines fan out from the last word down to the words.")
    figure = Figure([Panel("cone", cone, frames=tuple(cones))], alt, slider=slider)
    show_figure(figure, formula(_("which words a mask lets through"), by_layer.device), "reach")


def list_next_words(tokens: Tokens) -> str:
    """A line per row of a causal sentence: what it has read, and at its end the word to be said.

    Each word has a column of its own, so that what has been read is a triangle.
    """
    read = "".join(f"{token} " for token in tokens)
    ends = list(accumulate(len(token) + 1 for token in tokens))
    nexts = (*tokens[1:], "?")
    lines = [f"{read[:end]:{len(read)}}→ {word}" for end, word in zip(ends, nexts, strict=True)]
    return "\n".join(lines)


def ask_added_word(tokens: Tokens, found: Computed) -> tuple[str, dict[str, object]]:
    """How many old keys change under the full mask, and what the question names."""
    full, causal = (score_matrix.count_changed_rows(found[f"K, {name}"]) for name in compute.BOTH)
    last = verbatim(tokens[-1])
    named = {"causal": causal, "added": verbatim(compute.ADDED), "last": last, "rows": len(tokens)}
    return f"{full}", named


def show_added_word(tokens: Tokens, found: Computed, seed: int) -> None:
    """What one more word changes in K and V of a second layer, under each mask."""
    drawn = [
        Matrix(
            f"{letter}, {_(name)}",
            _(
                "new − old: {rows} of {all} rows change",
                rows=score_matrix.count_changed_rows(found[f"{letter}, {name}"]),
                all=len(tokens),
            ),
            found[f"{letter}, {name}"].tolist(),
            tokens,
            [str(n) for n in range(compute.HEAD_DIM)],
            TOKEN_AXIS,
            FEATURE_AXIS,
            role=role,
        )
        for name in compute.BOTH
        for letter, role in (("K", "key"), ("V", "value"))
    ]
    panels = [
        Panel(matrix.name, matrix, operator="" if n % 2 else " ")
        for n, matrix in enumerate(share_domain(*drawn))
    ]
    alt = _("What one more word changes in K and V of the second layer, full and causal.")
    origin = random_weights(seed, found["K, full"].device)
    show_figure(Figure(score_matrix.shrink_panels(panels, len(tokens)), alt), origin, "growing")
