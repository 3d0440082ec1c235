"""A model on GPUs: what is chosen, whether the texts fit, how long they may be, how fast it is."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from explainers.chapters.cache_memory.choose_cache import CacheChoice, choose_options, list_models
from explainers.memory import serving
from explainers.memory.cache_bytes import (
    BLOCK_SIZE,
    FORMATS,
    count_bytes_per_token,
    list_group_caches,
)
from explainers.memory.cache_formula import format_both_sizes, warn_beyond_context
from explainers.memory.capacity_plan import (
    estimate_tokens_per_second,
    explain_speed,
    find_compute_bound_batch,
    round_fraction,
)
from explainers.memory.model_shapes import ModelShape
from explainers.memory.sharding import SPLITS
from explainers.messages import ngettext
from explainers.translations import _, translate_error
from explainers.ui.controls import controls
from explainers.ui.controls.name_controls import pick_name
from explainers.ui.page import Prose
from explainers.ui.page_parts.go_deeper import open_card
from explainers.ui.session import MENU_DRAWN, PLAN, PLAN_BELOW, visitor
from explainers.ui.takeaway_files import hand_over, take
from explainers.ui.untrusted_text import verbatim

WEIGHT_FORMATS = [name for name, format_ in FORMATS.items() if not format_.residual]
MAX_MILLIONS = 10**8


@dataclass(frozen=True)
class Hardware:
    """What a model is to run on; `weight_dtype` is how it would be loaded."""

    gpu: serving.Gpu
    gpus: int
    weight_dtype: str
    percent: int
    overhead: int | None
    split: str


@dataclass(frozen=True)
class Menu:
    """The menu of what is seldom changed; until it was opened once, nothing of it is drawn.

    Its fields would take half of the time of every change of the picture.
    """

    box: Any
    is_drawn: bool

    def ask(self, control: Any, *possible: Any) -> Any:
        """What is chosen, by the control or, before that is drawn, by the link."""
        return control(*possible, is_drawn=self.is_drawn)

    def place(self) -> Any:
        """Where what is chosen side by side is drawn, if it is."""
        if not self.is_drawn:
            return nullcontext()
        return self.box.container(horizontal=True, vertical_alignment="bottom")


def choose_first() -> tuple[str, serving.Gpu, Menu]:
    """(model, GPU, menu of all else), beside each other.

    The picture changes some of the menu while it is closed.
    """
    with st.container(key="hero-controls", horizontal=True, vertical_alignment="bottom"):
        name = pick_name(controls.model, list_models())
        gpu = serving.read_gpus()[pick_name(controls.gpu, list(serving.read_gpus()))]
        box = st.popover(
            _("More"),
            icon=":material/tune:",
            help=_("Texts, GPUs, formats"),
            key="more",
            on_change="rerun",
        )
    visit, is_open = visitor().visit, bool(box.open)
    drawn_in, was_open = st.session_state.get(MENU_DRAWN, ((), True))
    is_drawn = is_open or drawn_in == visit
    if is_drawn:
        st.session_state[MENU_DRAWN] = visit, is_open
    for control in () if was_open else (controls.tokens, controls.texts, controls.gpus):
        control.stay()
    return name, gpu, Menu(box, is_drawn)


def choose_rest(
    menu: Menu, shape: ModelShape | None, gpu: serving.Gpu
) -> tuple[CacheChoice | None, Hardware]:
    """What the menu has: the texts, how many such GPUs and how they are used, and how the cache is
    stored."""
    with menu.place():
        tokens, texts = menu.ask(controls.tokens), menu.ask(controls.texts)
    with menu.place():
        number = int(menu.ask(controls.gpus))
        default = controls.weight_dtype.default
        weights = menu.ask(controls.weight_dtype, [default, *WEIGHT_FORMATS], default)
        percent = menu.ask(controls.usable_percent, 1, 100)
        overhead = menu.ask(controls.overhead_gib, 0, 1_000)
        split = menu.ask(controls.gpu_split, SPLITS, controls.gpu_split.default)
    hardware = Hardware(gpu, number, weights, percent, overhead * serving.GIB or None, split)
    if not shape:
        return None, hardware
    with menu.place():
        return choose_options(shape, tokens, texts, menu.ask), hardware


def make_deployment(choice: CacheChoice, hardware: Hardware) -> serving.Deployment:
    """The model on the GPUs; ValueError where it cannot be split over them.

    A number of parameters is asked for where none is published; 0 leaves it open.
    """
    shape = choice.shape
    if not shape.parameters:
        count = controls.parameters(0, MAX_MILLIONS) * 10**6 or None
        shape = replace(shape, parameters=count, has_exact_parameters=False)
    weights = hardware.weight_dtype
    if weights not in FORMATS:
        weights = serving.find_weight_format(shape)
    return serving.Deployment(
        shape,
        hardware.gpu,
        hardware.gpus,
        weights,
        choice.dtype,
        hardware.overhead,
        hardware.percent,
        BLOCK_SIZE,
        choice.source_tokens,
        hardware.split,
    )


ENCODER = "encoder"
"""The architecture that reads a text at once and generates none."""


def judge_fit(
    deployment: serving.Deployment, tokens: int, texts: int
) -> tuple[str, dict[str, str]]:
    """What to say first (there is room, for too few, or none at all, and why), and its numbers."""
    readers = serving.count_users(deployment, tokens)
    each = serving.count_weight_bytes_per_gpu(deployment)
    free = serving.count_free_bytes_per_gpu(deployment)
    if each > deployment.gpu.memory_bytes:
        verdict = "weights_too_large"
    elif free < 0:
        verdict = "no_room"
    elif deployment.shape.architecture == ENCODER:
        verdict = "encoder"
    else:
        verdict = "yes" if readers is None or readers >= texts else "too_many"
    memory = format_both_sizes(deployment.gpu.memory_bytes)
    return verdict, {
        "gpus": f"{deployment.gpus} × {deployment.gpu.name}",
        "weights": format_both_sizes(serving.count_weight_bytes(deployment)),
        "readers": _("any number") if readers is None else f"{readers:,}",
        "texts": f"{texts:,}",
        "tokens": _(ngettext("{count:,} token", "{count:,} tokens", tokens)),
        "free": format_both_sizes(abs(free)),
        "each": format_both_sizes(each),
        "memory": memory,
        "usable": _("{percent} % of {memory}", percent=deployment.percent, memory=memory),
        "overhead": format_both_sizes(deployment.reserved),
    }


def limit_speed(deployment: serving.Deployment, tokens: int, num_served: int) -> dict[str, str]:
    """The limit for so many texts; for none there is no more to say than how long they are."""
    of_texts = {
        "texts": _(ngettext("{count:,} text", "{count:,} texts", num_served)),
        "tokens": _(ngettext("{count:,} token", "{count:,} tokens", tokens)),
    }
    if not num_served:
        return of_texts
    speed = round_fraction(estimate_tokens_per_second(deployment, tokens, num_served))
    turning_point = find_compute_bound_batch(deployment, tokens)
    return of_texts | {
        "speed": f"{speed:,}",
        "turn": _("For any number of texts, reading weights and caches takes longer than computing")
        if turning_point is None
        else _(
            "From {count:,} texts on, computing with the weights takes longer than reading them",
            count=turning_point,
        ),
    }


def show_serving(text: Prose, choice: CacheChoice, deployment: serving.Deployment | None) -> None:
    """What there is to say of memory, length and speed, with its arithmetic, to be copied, if it is
    known; no speed of what does not fit."""
    text("serving")
    if not deployment:
        return
    if not deployment.shape.parameters:
        text("fit_unknown")
        return
    tokens, texts = choice.tokens, choice.texts
    verdict, told = judge_fit(deployment, tokens, texts)
    text(f"fit_{verdict}", **told)
    lines = [*serving.explain_memory(deployment, tokens)]
    if deployment.shape.architecture != ENCODER:
        longest, beyond = _("without limit"), ""
        if (count := serving.find_longest_context(deployment, texts)) is not None:
            longest = _(ngettext("{count:,} token", "{count:,} tokens", count))
            beyond = warn_beyond_context(deployment.shape, count)
        of_texts = _(ngettext("{count:,} text", "{count:,} texts", texts))
        text("fit_longest", texts=of_texts, longest=longest, beyond=beyond)
        lines.append(serving.explain_longest_context(deployment, texts))
        readers = serving.count_users(deployment, tokens)
        num_served = texts if readers is None else min(texts, readers)  # as there is room for
        limits = limit_speed(deployment, tokens, num_served)
        text("fit_limits" if num_served else "fit_no_speed", **limits)
        if num_served > 1 and deployment.shape.active_parameters:
            text("fit_mixture", **limits)
        if num_served and deployment.shape.architecture == "encoder-decoder":
            text("fit_both_halves")
        if num_served:
            lines += explain_speed(deployment, tokens, num_served)
    st.code("\n".join(map(_, lines)), language=None, wrap_lines=True)


Numbers = dict[str, int | str | list[int] | None]


def compute_cache(choice: CacheChoice) -> Numbers:
    """The bytes with their working, per token, and in each group of layers."""
    working = choice.explain()
    return {
        "bytes": working.size,
        "working": "\n".join(working.lines),
        "bytes per token": count_bytes_per_token(choice.shape, choice.dtype),
        "groups of layers": [
            one.size for one in list_group_caches(choice.shape, choice.tokens, **choice.options)
        ],
    }


def compute_fit(deployment: serving.Deployment, tokens: int, texts: int) -> Numbers:
    """Weights, what one text takes, what is free, how many texts fit and how long they may be."""
    return {
        "bytes of all weights": serving.count_weight_bytes(deployment),
        "free on each": serving.count_free_bytes_per_gpu(deployment),
        "a text on each": serving.count_text_bytes_per_gpu(deployment, tokens),
        "texts that fit": serving.count_users(deployment, tokens),
        "longest": serving.find_longest_context(deployment, texts),
    }


@dataclass(frozen=True)
class Plan:
    """What is chosen; there is no `choice` while a config.json is missing or wrong."""

    choice: CacheChoice | None
    hardware: Hardware
    deployment: serving.Deployment | None

    @property
    def below(self) -> object:
        """What is drawn below depends on this: other models and, if one is open, a card."""
        is_open = st.session_state.get(open_card.key) is not None
        choice, hardware = self.choice, self.hardware
        texts = choice and (choice.tokens, choice.texts, choice.dtype)
        split = hardware.gpus, hardware.split
        return texts, hardware.gpu, split, self if is_open else None


@contextmanager
def whole_page() -> Iterator[None]:
    """While the whole page is drawn, nothing below the picture shows an older plan."""
    st.session_state[PLAN_BELOW] = None
    yield
    st.session_state[PLAN_BELOW] = read_plan().below


def make_plan(choice: CacheChoice | None, hardware: Hardware) -> Plan:
    """The plan, for the page and its takeaway; where it cannot be, a message says why.

    Where something below shows another one, the whole page is drawn.
    """
    deployment = None
    try:
        deployment = make_deployment(choice, hardware) if choice else None
    except ValueError as error:  # it cannot be split over the GPUs
        st.warning(verbatim(translate_error(error)), icon=":material/edit_note:")
    st.session_state[PLAN] = plan = Plan(choice, hardware, deployment)
    if st.session_state[PLAN_BELOW] not in (None, plan.below):
        st.rerun()
    take("cache")
    take("fit")
    if choice:
        hand_over("cache", _("The bytes of the cache"), compute_cache, choice=choice)
    if choice and deployment and deployment.shape.parameters:
        given = {"deployment": deployment, "tokens": choice.tokens, "texts": choice.texts}
        hand_over("fit", _("What fits on the GPUs"), compute_fit, **given)
    return plan


def read_plan() -> Plan:
    """The plan that was made last."""
    plan: Plan = st.session_state[PLAN]
    return plan
