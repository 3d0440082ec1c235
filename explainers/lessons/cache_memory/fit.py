"""Whether the texts fit, how long they may be, and how fast those that fit could be at the most."""

from collections.abc import Iterable

import streamlit as st

from explainers.lessons.cache_memory.asked import Chosen
from explainers.lessons.wording import so_many
from explainers.memory.serving import (
    Deployment,
    free_on_each,
    longest_context,
    users,
    weight_bytes,
    weights_on_each,
)
from explainers.memory.serving_working import context_line, memory_lines
from explainers.memory.sizes import both
from explainers.memory.speed import compute_bound_batch, tokens_per_second
from explainers.memory.speed_working import decimals, speed_lines
from explainers.memory.working import context_note
from explainers.ui.language import said, translated
from explainers.ui.prose import Prose

ENCODER = "encoder"
"""The architecture that reads a text at once and generates none."""


def show_fit(text: Prose, chosen: Chosen, deployment: Deployment) -> None:
    """Memory, length and speed; no speed of what does not fit."""
    if not deployment.shape.parameters:
        text("no_parameters")
        return
    tokens, texts = chosen.tokens, chosen.texts
    readers, longest = users(deployment, tokens), longest_context(deployment, texts)
    text(
        f"fit_{verdict(deployment, readers, texts)}",
        gpus=f"{deployment.gpus} × {deployment.gpu.name}",
        weights=both(weight_bytes(deployment)),
        readers=said("any number") if readers is None else f"{readers:,}",
        texts=f"{texts:,}",
        tokens=so_many(tokens, "token"),
        free=both(abs(free_on_each(deployment))),
        each=both(weights_on_each(deployment)),
        memory=both(deployment.gpu.memory),
        usable=said(
            "{percent} % of {memory}",
            percent=deployment.percent,
            memory=both(deployment.gpu.memory),
        ),
        overhead=both(deployment.overhead),
    )
    if deployment.shape.architecture == ENCODER:
        show_lines(memory_lines(deployment, tokens))
        return
    length = said("without limit") if longest is None else so_many(longest, "token")
    beyond = "" if longest is None else context_note(deployment.shape, longest)
    text("longest", texts=so_many(texts, "text"), longest=length, beyond=beyond)
    lines = [*memory_lines(deployment, tokens), context_line(deployment, texts)]
    served = texts if readers is None else min(texts, readers)
    if served:
        show_speed(text, deployment, tokens, served)
        lines += speed_lines(deployment, tokens, served)
    else:
        text("no_speed", tokens=so_many(tokens, "token"))
    show_lines(lines)


def show_lines(lines: Iterable[str]) -> None:
    """The arithmetic, to be read and copied."""
    st.code("\n".join(map(translated, lines)), language=None, wrap_lines=True)


def verdict(deployment: Deployment, readers: int | None, texts: int) -> str:
    """What to say first: there is room, for too few, or none at all, and why."""
    if weights_on_each(deployment) > deployment.gpu.memory:
        return "weights_too_large"
    if free_on_each(deployment) < 0:
        return "no_room"
    if deployment.shape.architecture == ENCODER:
        return "encoder"
    return "yes" if readers is None or readers >= texts else "too_many"


def show_speed(text: Prose, deployment: Deployment, tokens: int, served: int) -> None:
    """The limit for as many texts as there is room for."""
    turn = compute_bound_batch(deployment, tokens)
    text(
        "limits",
        texts=so_many(served, "text"),
        tokens=so_many(tokens, "token"),
        speed=f"{decimals(tokens_per_second(deployment, tokens, served)):,}",
        turn=said("for no number of texts")
        if turn is None
        else said("from {count:,} texts on", count=turn),
    )
    if served > 1 and deployment.shape.active_parameters:
        text("mixture", texts=so_many(served, "text"))
    if deployment.shape.architecture == "encoder-decoder":
        text("both_halves")
