"""The number that one came for, in both units, with its working and what it leaves out."""

from dataclasses import replace
from functools import partial

import streamlit as st

from explainers.chapters.cache_memory.choose_cache import Chosen
from explainers.chapters.cache_memory.published_table import plain
from explainers.chapters.common.number_words import keep_units_together
from explainers.memory.cache_bytes import (
    FORMATS,
    count_bytes_per_token,
    count_cache_bytes,
    count_extra_bytes,
)
from explainers.memory.cache_formula import COUNTINGS, HEADLINE, IDEAL, warn_beyond_context
from explainers.memory.calculator_mistakes import list_wrong_answers
from explainers.memory.engines import has_format
from explainers.memory.model_shapes import ModelShape
from explainers.memory.sizes import UNIT_STEPS, format_both_sizes
from explainers.messages import N_, Message, ngettext
from explainers.translations import _
from explainers.ui.page import Prose
from explainers.ui.untrusted_text import verbatim

VERIFIED = {
    N_("primary"): N_(
        "the vendor's repository or paper, or the vendor's own class in transformers"
    ),
    N_("library"): N_("a maintained library's copy of the released configuration"),
    N_("partial"): N_("some fields only, or a class default"),
    N_("secondary"): N_("a copy, not the original"),
    N_("yours"): N_("what you gave"),
}

KIND_OF_NUMBER = {
    IDEAL: N_("exact for these numbers; nothing is measured or estimated."),
    HEADLINE: N_("a multiplication; no cache of this size need exist."),
}
ENGINES_NUMBER = N_(
    "an **estimate**: what its code asks for with its usual settings, not measured."
)


def show_result(text: Prose, chosen: Chosen) -> None:
    """The bytes in all and per token, the formula with its numbers, and remarks."""
    shape, working = chosen.shape, chosen.counted()
    rate = count_bytes_per_token(shape, chosen.dtype)
    if not has_format(chosen.counting, chosen.dtype):
        text("not_stored", engine=chosen.counting, dtype=chosen.dtype)
    text(
        "result",
        size=format_both_sizes(working.size),
        bytes=f"{working.size:,}",
        counting=_(chosen.counting),
        means=_(COUNTINGS[chosen.counting]),
        texts=_(ngettext("{count:,} text", "{count:,} texts", chosen.texts)),
        tokens=_(ngettext("{count:,} token", "{count:,} tokens", chosen.tokens)),
        model=verbatim(shape.id),
        dtype=chosen.dtype,
        rate=f"{rate:,}",
        rate_size=f" = {format_both_sizes(rate)}" if rate >= UNIT_STEPS["decimal"] else "",
        while_no_window=_(" while no window is full") if has_window(shape) else "",
        each_beam=_(" in each of {beams:,} beams", beams=chosen.beams) if chosen.beams > 1 else "",
        next=f"{added(chosen):,}",
    )
    # Where layers differ, the working would answer the question about them before it is asked.
    alike = len(shape.require_groups()) < 2
    with st.expander(_("The formula with these numbers"), expanded=alike):
        st.code("\n".join(map(_, working.lines)), language=None, wrap_lines=True)
    text("remarks", remarks="\n".join(f"- {remark}" for remark in remarks(chosen)))
    show_origin(text, shape)


def has_window(shape: ModelShape) -> bool:
    """Whether some layers stop keeping more."""
    return any(group.window for group in shape.require_groups())


def added(chosen: Chosen) -> int:
    """What the next token adds to one text: less than the rate where a window is full."""
    lengths = chosen.tokens, chosen.tokens + 1
    of_text = partial(count_cache_bytes, chosen.shape, beams=chosen.beams, **chosen.of)
    now, then = map(of_text, lengths)
    return then - now


def remarks(chosen: Chosen) -> list[str]:
    """What is exact, and what is left out."""
    shape = chosen.shape
    kind = _(KIND_OF_NUMBER.get(chosen.counting, ENGINES_NUMBER))
    found = [f"**{_(chosen.counting)}:** {kind}"]
    if note := FORMATS[chosen.dtype].note:
        found.append(f"**{chosen.dtype}:** {_(note)}.")
    if note := warn_beyond_context(replace(shape, id=Message(N_("it"), {})), chosen.tokens):
        found.append(_(note))
    if beside := count_extra_bytes(shape, chosen.tokens, chosen.texts):
        found.append(
            _(
                "Kept besides, and not counted above: {size} (states, indexes).",
                size=format_both_sizes(beside),
            )
        )
    found += [_("**Left out:** {gap}.", gap=gap) for gap in shape.gaps]
    if not chosen.counted().size:
        found.append(_("Nothing is kept: this model reads its text at once and does not generate."))
    return found


def show_origin(text: Prose, shape: ModelShape) -> None:
    """Where the model's numbers are from, for whoever wants to check them."""
    with st.expander(_("Where the numbers of this model come from")):
        text(
            "origin",
            verified=_(shape.verified),
            means=_(VERIFIED[shape.verified]),
            sources="; ".join(map(_, shape.sources)),
            notes="\n\n".join(plain(_(note)) for note in shape.notes),
        )


def show_answers(text: Prose, chosen: Chosen) -> None:
    """The same cache by every counting, and by the usual mistakes."""
    ideal = chosen.counted(IDEAL).size
    rows = []
    for name, means in COUNTINGS.items():
        size = chosen.counted(name).size
        times = f"{size / ideal:.2f}×" if ideal else "–"
        shown, means = format_both_sizes(size), _(means)
        if not has_format(name, chosen.dtype):
            shown, times = "–", "–"
            means = _("it stores no cache in {dtype}", dtype=chosen.dtype)
        mark = _(" (chosen)") if name == chosen.counting else ""
        rows.append(f"| **{_(name)}**{mark}: {means} | {keep_units_together(shown)} | {times} |")
    text("countings", rows="\n".join(rows))
    given = chosen.dtype, chosen.source_tokens, chosen.beams
    others = list_wrong_answers(chosen.shape, chosen.tokens, chosen.texts, *given)
    wrong = [
        f"| **{_(o.name)}:** {_(o.reason)} | {keep_units_together(format_both_sizes(o.size))} "
        f"| {float(o.ratio):.2f}× |"
        for o in others
    ]
    if wrong:
        text("others", rows="\n".join(wrong))
    elif ideal:
        long, none = _("the text is no longer than its windows"), _("there is no window")
        text("no_others", windows=long if has_window(chosen.shape) else none)
