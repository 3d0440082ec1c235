"""A sentence that people write: judged by the reader, computed, and its sizes changed."""

import streamlit as st

from explainers.claims.finding import VERDICTS, Finding
from explainers.claims.rows import Claim, Parameter, claims
from explainers.ui import claim_controls
from explainers.ui.kinds import Choice
from explainers.ui.predict import revealed
from explainers.ui.prose import Prose, sections
from explainers.ui.source import show_source

ICONS = dict(zip(VERDICTS, ("check_circle", "rule", "cancel", "help"), strict=True))


def title(claim_id: str) -> str:
    """The claim's name for readers and for links."""
    return claim_id.replace("_", " ")


def choose_claim(text: Prose, part: str) -> Claim:
    """One of the part's sentences, all of them in sight."""
    text(f"part_{part}")
    offered = {title(claim.id): claim for claim in claims().values() if claim.part == part}
    written = sections(text.page)
    captions = [written[f"claim_{claim.id}"] for claim in offered.values()]
    return offered[claim_controls.claim(tuple(offered), captions)]


def show_claim(text: Prose, claim: Claim) -> None:
    """Judge, see what comes out, and change what the sentence speaks of."""
    st.header(title(claim.id).capitalize())
    text(f"claim_{claim.id}")
    with st.spinner("Computing it again", show_time=False):
        own = computed(claim, tuple(claim.as_written.values()))
    if not revealed(text, "verdict", VERDICTS, own.verdict, about=claim.id):
        return
    with st.container(horizontal=True):
        values = tuple(_chosen(claim, parameter) for parameter in claim.parameters)
    finding = computed(claim, values)
    st.markdown(f"### :material/{ICONS[finding.verdict]}: {finding.verdict.capitalize()}")
    text(f"found_{claim.id}", **finding.numbers)
    if values != tuple(claim.as_written.values()):
        said = ", ".join(f"{p.label} {written(p.default)}" for p in claim.parameters)
        text("changed", own=said, verdict=own.verdict)
    show_source(claim.check)
    st.page_link(f"pages/{claim.page}.py", label="The page on this", icon=":material/menu_book:")


@st.cache_data(max_entries=256, show_spinner=False, hash_funcs={Claim: lambda claim: claim.id})
def computed(claim: Claim, values: tuple[object, ...]) -> Finding:
    """What comes out for these choices, in the order of the claim's parameters."""
    names = (parameter.name for parameter in claim.parameters)
    return claim.check(**dict(zip(names, values, strict=True)))


def _chosen(claim: Claim, parameter: Parameter) -> object:
    """The reader's value; it stands in the link under the names of the claim and of the size."""
    options = {written(value): value for value in parameter.values}
    key = f"{claim_controls.SIZE}{claim.id}_{parameter.name}"
    own = Choice(key, parameter.label, written(parameter.default), tuple(options))
    return options[own()]


def written(value: object) -> str:
    """131072 as 131,072."""
    return f"{value:,}" if isinstance(value, int) else str(value)
