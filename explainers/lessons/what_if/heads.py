"""Which heads are off: some that are named, all of one role, or some that are drawn."""

import random

import streamlit as st

from explainers.lessons.head_gallery.measured import named
from explainers.models.effect import Shape
from explainers.models.scoring import kept
from explainers.models.silenced import Head, by_role
from explainers.ui import common
from explainers.ui import what_controls as what
from explainers.ui.language import said


def chosen_heads(model: str, shape: Shape) -> tuple[Head, ...]:
    """The heads, as the reader chose to choose them."""
    every = {named(*head): head for head in all_heads(shape)}
    by = what.heads_by()
    if by == what.NAMED:
        return tuple(every[name] for name in what.heads(list(every)))
    if by == what.DRAWN:
        count = what.drawn(1, len(every))
        draw = random.Random(common.seed())  # noqa: S311
        return tuple(sorted(draw.sample(list(every.values()), count)))
    return _of_role(model)


def _of_role(model: str) -> tuple[Head, ...]:
    """Needs the scores of all heads, which are measured once for a model."""
    scores = kept(model)
    if not scores:
        st.caption(
            said(
                "The heads of this model have not been measured on this machine yet, so nobody "
                "knows their roles. The demonstration further down measures them, once; so does "
                "page 13."
            )
        )
        return ()
    found = by_role(scores)
    if not found:
        st.caption(said("No head of this model has earned a role."))
        return ()
    return found[what.role(list(found), next(iter(found)))]


def all_heads(shape: Shape) -> list[Head]:
    """Every head of every layer."""
    return [(layer, head) for layer, count in enumerate(shape.heads) for head in range(count)]


def names_of(heads: tuple[Head, ...]) -> str:
    """Several of them, for a sentence."""
    return ", ".join(named(*head) for head in heads)
