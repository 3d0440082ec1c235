"""What averaging costs: trained heads, their averages, and random weights, on unseen sentences."""

from dataclasses import replace
from typing import NamedTuple

import streamlit as st
import torch

from explainers import trained
from explainers.attention.grouped_query import average_kv_heads
from explainers.trained import Configuration, Learned
from explainers.training.batch import Batch, given
from explainers.training.loop import attend, fresh, mean_loss, parts_of, pool
from explainers.training.task import WORDS

TESTS = 250
"""A quarter of the held-out sentences: the page waits for them."""


class Examined(NamedTuple):
    """The loss, and how many words a word names although they are not asked for."""

    loss: float
    wrong: float


def averaged(own: Configuration, num_kv_heads: int, seed: int) -> Learned:
    """The shipped heads of a configuration, with keys and values averaged in groups."""
    known = on_cpu(trained.learned(own, seed), own)
    return replace(known, layer=average_kv_heads(known.layer, num_kv_heads))


def on_cpu(known: Learned, own: Configuration) -> Learned:
    """Where training runs, whatever the pages' device is."""
    return Learned.of(known.words, (part.cpu() for part in parts_of(known)), own.head_dim)


@torch.no_grad()
def examined(known: Learned, rule: str) -> Examined:
    """How a layer does on sentences that training never sees."""
    task = given(Batch(*(part[:TESTS] for part in pool(True))), rule)
    named = known.named(attend(known, task.words, task.mask).output) > 0
    wrong = (named & (task.asked == 0)).sum(dim=-1) * task.real
    return Examined(mean_loss(known, task).item(), (wrong.sum() / task.real.sum()).item())


@st.cache_data(show_spinner=False, max_entries=200)
def compared(own: Configuration, num_kv_heads: int, seed: int) -> tuple[Examined, ...]:
    """Keys and values of each head's own; and shared: averaged, random, trained from the start."""
    known = on_cpu(trained.learned(own, seed), own)
    shared = own._replace(num_kv_heads=num_kv_heads)
    at_random = Learned.of(WORDS, fresh(shared, seed), own.head_dim)
    from_start = on_cpu(trained.learned(shared, seed), shared)
    some = known, averaged(own, num_kv_heads, seed), at_random, from_start
    return tuple(examined(one, own.rule) for one in some)
