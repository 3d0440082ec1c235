"""The plan that the page shows: another model changes its picture, and little of what is below."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import streamlit as st

from explainers.chapters.cache_memory.choose_cache import CacheChoice
from explainers.chapters.cache_memory.gpu_fit import Hardware, deploy_or_warn
from explainers.chapters.cache_memory.takeaway import take_choice
from explainers.memory.serving import Deployment
from explainers.ui.page_parts.go_deeper import open_card
from explainers.ui.session import PLAN, PLAN_BELOW


@dataclass(frozen=True)
class Plan:
    """What is chosen; there is no `choice` while a config.json is missing or wrong."""

    choice: CacheChoice | None
    hardware: Hardware
    deployment: Deployment | None

    @property
    def below(self) -> object:
        """What is drawn below depends on this: other models and, if one is open, a card."""
        is_open = st.session_state.get(open_card.key) is not None
        choice, hardware = self.choice, self.hardware
        texts = choice and (choice.tokens, choice.texts, choice.dtype)
        return texts, hardware.gpu, hardware.gpus, self if is_open else None


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
    plan = Plan(choice, hardware, deploy_or_warn(choice, hardware) if choice else None)
    st.session_state[PLAN] = plan
    if st.session_state[PLAN_BELOW] not in (None, plan.below):
        st.rerun()
    take_choice(choice, plan.deployment)
    return plan


def read_plan() -> Plan:
    """The plan that was made last."""
    plan: Plan = st.session_state[PLAN]
    return plan
