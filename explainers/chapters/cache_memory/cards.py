"""The size of the chosen cache with its working, layer by layer, on every GPU, and as flags."""

import re
from dataclasses import replace

import streamlit as st

from explainers.chapters.cache_memory.choose_cache import CacheChoice
from explainers.memory import cache_bytes, capacity_plan
from explainers.memory.cache_bytes import GroupCache, list_group_caches
from explainers.memory.cache_formula import (
    KIND_NAMES,
    UNIT_STEPS,
    format_both_sizes,
    format_size,
    warn_beyond_context,
)
from explainers.memory.capacity_plan import GpuPlan
from explainers.memory.engines import TRANSFORMERS, count_engine_room, count_engine_text
from explainers.memory.model_shapes import LayerGroup, ModelShape
from explainers.memory.serving import Deployment
from explainers.memory.serving_flags import find_obstacle, make_command
from explainers.messages import N_, Message, ngettext
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.figure.chart import show_chart
from explainers.ui.page import Prose
from explainers.ui.prediction import ask_veiled
from explainers.ui.source import show_source
from explainers.ui.text.numbers import keep_units_together
from explainers.ui.untrusted_text import verbatim


def name_caches(caches: tuple[GroupCache, ...]) -> dict[GroupCache, str]:
    """The kind of each group with its window, and with its heads where these tell two apart."""
    names = {part: _(KIND_NAMES[part.group.kind]) + write_kept(part.group) for part in caches}
    if len(set(names.values())) == len(caches):
        return names
    for part, name in names.items():
        heads = _(ngettext("{count:,} KV head", "{count:,} KV heads", part.group.num_kv_heads))
        names[part] = f"{name}, {heads} × {part.group.head_dim}"
    return names


def write_kept(group: LayerGroup) -> str:
    """The window in brackets, if there is one, and how many tokens make a row beyond it."""
    if group.ratio:
        return _(
            " ({window:,} tokens, then rows of {ratio})", window=group.window, ratio=group.ratio
        )
    tokens = _(ngettext("{count:,} token", "{count:,} tokens", group.window or 0))
    return f" ({tokens})" if group.window else ""


LESSONS = {
    "full": "pages/09_shared_heads.py",
    "latent": "pages/09_shared_heads.py",
    "compressed": "pages/09_shared_heads.py",
    "sliding": "pages/05_masks.py",
    "chunked": "pages/05_masks.py",
    "recurrent": "pages/12_growing_memory.py",
    "index": "pages/13_choosing.py",
    "cross": "pages/16_cross_attention.py",
}
"""By what `models.json` calls the kind."""
SINKS_LESSON = "pages/14_idle_heads.py"


def list_lessons(shape: ModelShape) -> list[str]:
    """The pages that explain a model's layers, each once."""
    lessons = [LESSONS[group.kind] for group in shape.require_groups() if group.kind in LESSONS]
    return list(dict.fromkeys(lessons + [SINKS_LESSON] * shape.has_learned_sinks))


VERIFICATIONS = {
    N_("primary"): N_(
        "the vendor's repository or paper, or the vendor's own class in transformers"
    ),
    N_("library"): N_("a maintained library's copy of the released configuration"),
    N_("partial"): N_("some fields only, or a class default"),
    N_("secondary"): N_("a copy, not the original"),
    N_("yours"): N_("what you gave"),
}

CODE = (
    *(cache_bytes.count_cache_bytes, cache_bytes.list_group_caches, cache_bytes.count_kept_tokens),
    *(cache_bytes.make_group_cache, cache_bytes.count_token_bytes),
)


def measure_cache(choice: CacheChoice) -> dict[str, str]:
    """The bytes in all and per token, and of what they are."""
    shape, formula = choice.shape, choice.explain()
    rate = cache_bytes.count_bytes_per_token(shape, choice.dtype)
    has_window = any(group.window for group in shape.require_groups())
    lengths = choice.tokens, choice.tokens + 1  # less is added than the rate where one is full
    now, then = (
        cache_bytes.count_cache_bytes(shape, length, **choice.options) for length in lengths
    )
    return {
        "size": format_both_sizes(formula.size),
        "bytes": f"{formula.size:,}",
        "texts": _(ngettext("{count:,} text", "{count:,} texts", choice.texts)),
        "tokens": _(ngettext("{count:,} token", "{count:,} tokens", choice.tokens)),
        "model": verbatim(shape.id),
        "dtype": choice.dtype,
        "rate": f"{rate:,}",
        "rate_size": f" = {format_both_sizes(rate)}" if rate >= UNIT_STEPS["decimal"] else "",
        "while_no_window": _(" while no window is full") if has_window else "",
        "next": f"{then - now:,}",
        "remarks": list_remarks(choice),
    }


def name_stored(shape: ModelShape) -> str:
    """What the formula multiplies: keys and values of heads, a latent, or several things."""
    kinds = {group.kind for group in shape.require_groups()} - {"index"}  # counted by itself
    if not kinds:
        return "none"
    if kinds == {"full"}:
        return "heads"
    return "latent" if kinds == {"latent"} else "mixed"


def list_remarks(choice: CacheChoice) -> str:
    """What there is to say besides, and what is left out."""
    shape, remarks = choice.shape, []
    beside = cache_bytes.count_extra_bytes(shape, choice.tokens, choice.texts)
    if note := cache_bytes.FORMATS[choice.dtype].note:
        remarks.append(f"**{choice.dtype}:** {_(note)}.")
    if note := warn_beyond_context(replace(shape, id=Message(N_("it"), {})), choice.tokens):
        remarks.append(_(note))
    if beside:
        remarks.append(
            _(
                "Kept besides, and not counted above: {size} (states, indexes); {total} in all.",
                size=format_both_sizes(beside),
                total=format_both_sizes(choice.explain().size + beside),
            )
        )
    remarks += [
        _(
            "**{layers}, {kind}:** their states have the same size for any text.",
            layers=_(ngettext("{count:,} layer", "{count:,} layers", group.count)),
            kind=group.state_note,
        )
        for group in shape.require_groups()
        if group.kind == "recurrent" and group.state
    ]
    remarks += [_("**Left out:** {gap}.", gap=gap) for gap in shape.gaps]
    if shape.has_learned_sinks:
        remarks.append(_("Its heads have [learned sinks](idle_heads): nothing in the cache."))
    if not choice.explain().size:
        remarks.append(
            _("Nothing is kept: this model reads its text at once and does not generate.")
        )
    return "\n".join(f"- {remark}" for remark in remarks)


MARKUP = re.compile(r"[\\`*_\[\]<>|~$^:#]")


def show_sources(text: Prose, shape: ModelShape) -> None:
    """Where the model's numbers are from, for whoever wants to check them."""
    text(
        "origin",
        verified=_(shape.verified),
        means=_(VERIFICATIONS[shape.verified]),
        sources="; ".join(map(_, shape.sources)),
        notes=MARKUP.sub(r"\\\g<0>", "\n\n".join(map(_, shape.notes))),
    )


ORIGIN = N_("formula: bytes of keys and values that each layer must keep")
# A sentence that changed with the model would have the browser build the picture anew.
ALT = N_("What each layer holds, a bar for each; the text below says it for every kind of layer.")
MAX_LISTED = 6


def show_layers(text: Prose, choice: CacheChoice, _unused: Deployment | None) -> None:
    """Which layers hold the bytes, if they are not all alike; a question, then a bar for each."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(_("Explained on:"))
        for path in list_lessons(choice.shape):
            st.page_link(path)
    model = verbatim(choice.shape.id)
    caches = list_group_caches(choice.shape, choice.tokens, **choice.options)
    names = name_caches(caches)
    told = [
        _(
            "{layers} of {kind}: {tokens}, {size} each",
            layers=_(ngettext("{count:,} layer", "{count:,} layers", part.group.count)),
            kind=name,
            tokens=_(ngettext("{count:,} token", "{count:,} tokens", part.tokens)),
            size=format_both_sizes(part.size // part.group.count),
        )
        for part, name in names.items()
    ]
    if len(caches) < 2:
        alike = told[0] if told else _("no layer keeps anything")
        text("layers_alike", alike=alike, model=model)
        return
    text("layers", model=model, groups=list_groups(names))
    largest, total = max(caches, key=lambda part: part.size), sum(part.size for part in caches)
    asked = {
        "kind": names[largest],
        "count": _(ngettext("{count:,} layer", "{count:,} layers", largest.group.count)),
        "layers": sum(part.group.count for part in caches),
        "tokens": _(ngettext("{count:,} token", "{count:,} tokens", choice.tokens)),
    }
    if not ask_veiled(text, "layers", f"{100 * largest.size / total:.1f} %", **asked):
        return
    from explainers.charts.bars import draw_layer_bars, make_layer_rows  # after the number

    ordered, is_order_known = cache_bytes.list_layer_caches(choice.shape, caches)
    rows = make_layer_rows([(names[p], p.tokens, p.size // p.group.count) for p in ordered])
    show_chart(draw_layer_bars, rows, ALT, "layers", ORIGIN)
    held = {"most": format_both_sizes(largest.size), "each": "; ".join(told[:MAX_LISTED])}
    text(f"layers_in_{'order' if is_order_known else 'groups'}", **held)


def list_groups(names: dict[GroupCache, str]) -> str:
    """The groups of layers, without what they hold: that is the question."""
    counted = [
        _(
            "{layers} of {kind}",
            layers=_(ngettext("{count:,} layer", "{count:,} layers", part.group.count)),
            kind=name,
        )
        for part, name in names.items()
    ]
    if (rest := len(counted) - MAX_LISTED) > 0:
        counted[MAX_LISTED:] = [_("{count:,} other kinds", count=rest)]
    return "; ".join(counted)


LIMIT_NAMES = {"bandwidth": N_("bandwidth"), "compute": N_("computing")}
NONE = "–"


def show_gpus(text: Prose, choice: CacheChoice, deployment: Deployment | None) -> None:
    """The same texts on every GPU of the list: a line of a table for each kind."""
    if deployment is None or not deployment.shape.parameters:
        text("gpus_unknown")
    elif deployment.shape.architecture == "encoder":
        text("gpus_encoder", model=deployment.shape.id)
    else:
        plans = capacity_plan.plan_every_gpu(deployment, choice.tokens, choice.texts)
        context = deployment.shape.context
        text(
            "gpus_seen",
            rows="\n".join(map(make_row, plans)),
            model=deployment.shape.id,
            texts=_(ngettext("{count:,} text", "{count:,} texts", choice.texts)),
            tokens=f"{choice.tokens:,}",
            most=f"{capacity_plan.GPU_NUMBERS[-1]}",
            context=f"{context:,}" if context else _("a length that is not listed"),
            weights=_(cache_bytes.find_format(deployment.weight_dtype).name),
            dtype=f"{deployment.cache_dtype}",
            single=f"{sum(plan.gpus == 1 for plan in plans)}",
            kinds=f"{len(plans)}",
        )
    show_source(capacity_plan.plan_every_gpu, capacity_plan.find_fewest_gpus)


def make_row(plan: GpuPlan) -> str:
    """A kind of GPU: how many, for how many texts, what is left, how fast, how long a text."""
    longest = _("any length") if plan.longest_on_one is None else f"{plan.longest_on_one:,}"
    longest = NONE if plan.longest_on_one == 0 else longest
    name = f"{plan.gpu.name}, {keep_units_together(format_size(plan.gpu.memory_bytes))}"
    if plan.gpus is None:
        return f"| {name} | {NONE} | {NONE} | {NONE} | {NONE} | {longest} |"
    users = _("any number") if plan.users is None else f"{plan.users:,}"
    left = keep_units_together(format_size(plan.free_bytes_per_gpu))
    speed = capacity_plan.round_fraction(plan.tokens_per_second, 0) if plan.tokens_per_second else 0
    limit = f"{_(LIMIT_NAMES[plan.limit])}: {speed:,}"
    return f"| {name} | **{plan.gpus}** | {users} | {left} | {limit} | {longest} |"


def show_flags(text: Prose, choice: CacheChoice, deployment: Deployment | None) -> None:
    """The chosen point as flags of an engine, and what they hold for."""
    engine = controls.flags_engine()
    if deployment is None or not deployment.shape.parameters:
        text("flags_unknown")
    else:
        command = make_command(deployment, choice.tokens, choice.texts, engine)
        told: dict[str, object] = {
            "engine": engine,
            "dtype": str(deployment.cache_dtype),
            "model": deployment.shape.id,
        }
        if command is None:
            text(f"flags_{find_obstacle(deployment, choice.tokens, engine)}", **told)
        else:
            language = "python" if engine == TRANSFORMERS else "bash"
            st.code(command.code, language=language, wrap_lines=True)
            # Both as they are typed: of 0.90 no language makes 0,90.
            rows = [
                f"| `{flag.name}` | `{flag.value}` | {_(flag.reason)} |" for flag in command.flags
            ]
            told |= {
                "rows": "\n".join(rows),
                "tokens": f"{command.tokens:,}",
                "texts": _(ngettext("{count:,} text", "{count:,} texts", command.texts)),
                "weights": _(cache_bytes.find_format(deployment.weight_dtype).name),
                "gpus": f"{deployment.gpus} × {deployment.gpu.name}",
            }
            text("flags_seen", **told)
    show_source(make_command, count_engine_room, count_engine_text)
