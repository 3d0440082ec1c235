"""Any change that the reader chooses, or why it cannot be made; and what it does to a text."""

import math
from collections.abc import Callable
from functools import partial
from random import Random
from statistics import mean
from typing import TYPE_CHECKING, Any

import streamlit as st

from explainers.attention.scaled_dot_product import attention
from explainers.chapters.common.choose_real_model import BY_MODEL
from explainers.chapters.common.measured_heads import name_head
from explainers.chapters.common.recording import make_head_recipe, record_layer
from explainers.chapters.what_if import hero
from explainers.chapters.what_if.hero import Reading
from explainers.charts.matrix import Matrix
from explainers.charts.theme import TOKEN_AXIS
from explainers.memory.cache_bytes import NumberFormat, find_format
from explainers.models import changes
from explainers.models.attention_hook import Change
from explainers.models.changes import MOST_TOKENS, AblatedHeads, Effect, measure_effect
from explainers.models.comparison import compare_runs
from explainers.models.head_scores import HeadIndex, group_heads_by_role
from explainers.models.replaced_methods import find_replacement
from explainers.models.shipped_measurements import find_known_scores
from explainers.models.token_text import is_part_of_letter, tokenise_text
from explainers.takeaway.recipe import Recipe
from explainers.translations import _, translate_error
from explainers.ui import page
from explainers.ui.controls import controls
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Figure, Panel
from explainers.ui.page import Prose
from explainers.ui.page_parts.check_yourself import Recall
from explainers.ui.source import show_source
from explainers.ui.takeaway_files import take
from explainers.ui.text.numbers import NO_WORSE, judge_rise, write_percent
from explainers.ui.untrusted_text import shorten, show_spaces, verbatim

if TYPE_CHECKING:
    from explainers.models.load import RealModel


def _switch_heads_off(model: str, shape: changes.HeadCounts) -> Change | None:
    """The heads, as the reader chose to choose them."""
    counts = enumerate(shape.num_heads)
    every = {name_head(layer, head): (layer, head) for layer, n in counts for head in range(n)}
    by = controls.heads_off_by()
    if by == controls.BY_NAME:
        found = frozenset(every[name] for name in controls.heads_off(list(every)))
    elif by == controls.AT_RANDOM:
        count = controls.heads_off_count(1, len(every))
        draw = Random(page.read_seed())  # noqa: S311
        found = frozenset(draw.sample(list(every.values()), count))
    else:
        found = frozenset(_choose_role(model))
    return AblatedHeads(heads=found) if found else None


def _choose_role(model: str) -> tuple[HeadIndex, ...]:
    """Needs the scores of all heads, which are measured once for a model."""
    scores = find_known_scores(model)
    if not scores:
        st.caption(
            _(
                "The heads of this model have not been measured on this machine yet, so nobody "
                "knows their roles. The Head gallery measures them, once."
            )
        )
        return ()
    found = group_heads_by_role(scores)
    if not found:
        st.caption(_("No head of this model has earned a role."))
        return ()
    return found[controls.heads_off_role(list(found), next(iter(found)))]


def find_shape_or_explain(loaded: "RealModel") -> changes.HeadCounts | None:
    """A model that does not say what comes next has nothing to compare."""
    try:
        return _count_heads(loaded)
    except Exception as error:  # a model from a folder or the hub may raise anything
        st.warning(verbatim(shorten(translate_error(error), 300)), icon=":material/block:")
        return None


@st.cache_data(show_spinner=False, max_entries=12, hash_funcs=BY_MODEL)
def _count_heads(loaded: "RealModel") -> changes.HeadCounts:
    return changes.count_heads(loaded)


def choose_changes(named: str, shape: changes.HeadCounts) -> dict[str, Change]:
    """The changes by name, in the order in which they are made, with a control for each number."""
    picked = controls.changes(controls.CHANGES)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        layers = _choose_layers(len(shape.num_heads))
        make: dict[str, Callable[[], Change | None]] = {
            controls.UNSCALED: lambda: changes.NoScaling(layers),
            controls.CHANGED_TEMPERATURE: lambda: changes.Temperature(
                temperature=float(controls.changed_temperature()), layers=layers
            ),
            controls.NARROW_WINDOW: lambda: changes.Window(
                width=controls.changed_window(), sinks=int(controls.kept_sinks()), layers=layers
            ),
            controls.NOT_CAUSAL: lambda: changes.NoCausalMask(layers),
            controls.FIRST_HIDDEN: lambda: changes.HiddenFirstToken(layers),
            controls.HEADS_OFF: lambda: _switch_heads_off(named, shape),
            controls.FEWER_KV_HEADS: lambda: _deal_kv_heads(shape, layers),
            controls.UNIFORM_WEIGHTS: lambda: changes.UniformWeights(layers),
            controls.HARD: lambda: changes.HardAttention(layers),
            controls.QUANTISED: lambda: changes.QuantisedCache(
                bits=int(controls.cache_bits()), layers=layers
            ),
        }
        made = {name: make[name]() for name in controls.CHANGES if name in picked}
    return {name: change for name, change in made.items() if change}


def _choose_layers(count: int) -> frozenset[int] | None:
    """Which layers are changed."""
    half, where = count // 2, controls.changed_layers()
    if where == controls.ONE_LAYER:
        return frozenset({controls.changed_layer(0, count - 1)})
    parts = {controls.FIRST_HALF: range(half), controls.SECOND_HALF: range(half, count)}
    return frozenset(parts[where]) if where in parts else None


def _deal_kv_heads(shape: changes.HeadCounts, layers: frozenset[int] | None) -> Change | None:
    """Numbers that divide those of every layer, the largest being all that there are."""
    have = shape.num_kv_heads
    left = [str(n) for n in range(1, max(have) + 1) if all(kv_heads % n == 0 for kv_heads in have)]
    if len(left) == 1:
        st.caption(_("The KV heads of this model cannot be dealt to fewer in equal groups."))
        return None
    count = int(controls.kept_kv_heads(left, left[0]))
    return changes.FewerKVHeads(num_kv_heads=count, layers=layers)


def show_changes(
    text: Prose, loaded: "RealModel", shape: changes.HeadCounts, reading: Reading
) -> None:
    """Any change or several: before and after."""
    text("changing")
    take("outcome")  # until what is asked about these changes is answered
    chosen = choose_changes(loaded.name, shape)
    if not chosen:
        text("nothing_changed")
        return
    made = (*chosen.values(),)
    effect = hero.measure_or_explain(loaded, reading.written, made)
    if effect is None:
        return
    if not (has_losses := len(effect.tokens) > 1):
        text("one_token")
    take_outcome(loaded, reading.written, made)
    (before, share, _after), (after, _before, after_share) = hero.find_likeliest(effect)
    text(
        "following",
        before=verbatim(show_spaces(before)),
        before_share=f"{share:.2f}",
        after=verbatim(show_spaces(after)),
        after_share=f"{after_share:.2f}",
        divergence=f"{effect.divergences[-1]:.2f}",
    )
    if has_losses:
        show_losses(text, effect, reading, ", ".join(map(_, chosen)))
    kept = name_rounded_shares(shape.head_dim)
    for name in chosen:
        text(f"remark_{name.replace(' ', '_').replace('√', '')}", **kept)
    show_source(*map(type, made), changes.compute_losses, changes.compute_divergence)


def show_losses(text: Prose, effect: Effect, reading: Reading, names: str) -> None:
    """Both mean losses, the token whose loss rises most if that is worth a word, and a picture.

    It has a column for each token that was to be said, or for each word if that is what pictures
    show: aligned, what was expected before it.
    """
    shown, worst_said = reading.merge(effect), ""
    (before, after), apart = shown.losses, shown.divergences[:-1]
    worst = max(range(len(before)), key=lambda place: after[place] - before[place])
    if judge_rise(after[worst] - before[worst]) != NO_WORSE:
        token = verbatim(show_spaces(shown.tokens[worst + 1]))
        losses = {"before": f"{before[worst]:.2f}", "after": f"{after[worst]:.2f}"}
        worst_said = text.fill("worst", token=token, **losses)
    (mean_before, mean_after), divergences = effect.mean_losses, effect.divergences[:-1]
    text(
        "losses",
        count=len(divergences),
        before=f"{mean_before:.3f}",
        after=f"{mean_after:.3f}",
        divergence=f"{mean(divergences):.3f}",
        names=names,
        worst=worst_said,
    )
    rows = _("loss as it is"), _("loss changed"), "KL"
    tokens = [show_spaces(token) for token in shown.tokens[1:]]
    formula = _("nats, of each token but the first; KL between what both expected there")
    if shown.tokens != effect.tokens:
        formula = _("nats, the sum over the tokens of each word; KL between what both expected")
    matrix = Matrix(_("losses"), formula, [before, after, apart], rows, tokens, "", TOKEN_AXIS)
    alt = _(
        "Losses of {count} tokens: mean {before:.2f} as it is, {after:.2f} changed.",
        count=len(divergences),
        before=mean_before,
        after=mean_after,
    )
    show_figure(Figure([Panel("losses", matrix, dense=True)], alt), reading.origin, "losses")


SCALE_BITS = 32
"""Of the one scale that each head's vector has."""


def name_rounded_shares(head_dim: int) -> dict[str, str]:
    """What a head's vector takes with few bits and its scale, as a part of what float32 takes."""
    whole = find_format("float32").count_vector_bytes(1, head_dim)
    formats = {f"share_{n}": NumberFormat("", n, None, SCALE_BITS, per_head=True) for n in (8, 4)}
    sizes = {name: one.count_vector_bytes(1, head_dim) for name, one in formats.items()}
    shares = {name: write_percent(size / whole, 1) for name, size in sizes.items()}
    return {"d_k": f"{head_dim}", "scale_bits": f"{SCALE_BITS}", **shares}


def recall_loss(draw: Random) -> Recall:
    """The loss of one token."""
    probability = draw.choice([0.9, 0.8, 0.5, 0.25, 0.1, 0.05])
    answer = round(-math.log(probability), 2)
    return Recall(answer, {"probability": f"{probability:g}"}, tolerance=0.01)


def take_outcome(loaded: "RealModel", written: str, changes: tuple[Change, ...]) -> None:
    """All that the page says of these changes; of a model that transformers alone cannot change
    in this way, a head as it is."""
    title = _("Your text, as it is and changed")
    take("outcome", partial(_make_outcome, loaded, written, changes, title))


def _make_outcome(
    loaded: "RealModel", written: str, changes: tuple[Change, ...], title: str
) -> Recipe:
    ids, _unused = tokenise_text(loaded, written, MOST_TOKENS)
    changed = (
        {layer for layer, _head in one.heads} if isinstance(one, AblatedHeads) else one.layers
        for one in changes
    )
    first = record_layer(loaded, min(min(layers or (0,)) for layers in changed), ids)
    own_way = any(find_replacement(module) for module in loaded.model.modules())
    if first.function is not attention or own_way:
        title = _("Layer {layer}, as it is", layer=first.layer_index)
        return make_head_recipe(title, first, 0)
    effect = measure_effect(loaded, written, changes)
    shown: dict[str, Any] = {"KL": effect.divergences}
    likeliest = hero.find_likeliest(effect)
    for place, (end, (name, *shares)) in enumerate(zip(("", ", changed"), likeliest, strict=True)):
        shown[f"its probability{end}"] = shares[place]
        if not is_part_of_letter(name):  # a page writes its bytes, a file cannot
            shown[f"next token{end}"] = name
        if losses := effect.losses[place]:
            shown |= {f"losses{end}": losses, f"mean loss{end}": effect.mean_losses[place]}
    dtype = str(loaded.model.dtype).removeprefix("torch.")
    given = {"model": loaded.name, "dtype": dtype, "text": written, "changes": [*changes]}
    remark = _(
        "The model here: {model}. With other weights of this model the numbers are others.",
        model=verbatim(loaded.provenance),
    )
    return Recipe(title, compare_runs, given, shown, remark=remark, libraries=("transformers",))
