"""A model that hears: what it writes, and where in the sound its decoder looks."""

import hashlib
from typing import TYPE_CHECKING

import streamlit as st
from torch import Tensor

from explainers.lessons.head_gallery.seen import live
from explainers.lessons.wording import less_than, printed, told
from explainers.models.hearing import Heard, hear
from explainers.models.sound import RATE, loudness
from explainers.ui import real_controls
from explainers.ui.language import said
from explainers.ui.picture import show_chart, theme
from explainers.ui.plain import shortened, verbatim
from explainers.ui.prose import Prose
from explainers.ui.source import show_source

if TYPE_CHECKING:
    import pandas as pd

    from explainers.models.load import Loaded


def show_heard(text: Prose, loaded: "Loaded", samples: Tensor) -> None:
    """What the model writes, and the weights of one head or of all over the sound's time."""
    try:
        digest = hashlib.sha256(samples.numpy().tobytes()).hexdigest()
        with st.spinner(said("The model listens …")):
            found = once_heard(loaded.name, id(loaded), digest, samples, loaded)
    except Exception as error:  # a model from a folder or the hub may raise anything
        why = verbatim(shortened(told(error), 300))
        st.error(said("Nothing can be shown: {why}", why=why), icon=":material/error:")
        return
    written = verbatim("".join(found.tokens))
    text("written", written=written or "∅", count=len(found.tokens))
    _show_weights(text, loaded, found, samples)
    text("equal_heard", difference=less_than(found.difference), which=verbatim(loaded.name))
    show_source(hear)


@st.cache_data(show_spinner=False, max_entries=4)
def once_heard(name: str, which: int, digest: str, _samples: Tensor, _loaded: "Loaded") -> Heard:
    """Once for a model (`which` of this name) and a sound (`digest` names it)."""
    return hear(_loaded, _samples)


def _show_weights(text: Prose, loaded: "Loaded", found: Heard, samples: Tensor) -> None:
    from explainers.charts.heard import heard, heard_rows  # a page is there before it needs altair

    layers, heads, count, positions = found.weights.shape
    with st.container(horizontal=True, vertical_alignment="bottom"):
        layer = real_controls.layer(0, layers - 1)
        is_mean = real_controls.over_heads()
        head = None if is_mean else real_controls.head(0, heads - 1)
    weights = found.weights[layer].mean(dim=0) if head is None else found.weights[layer, head]
    loud = loudness(samples, round(found.step * RATE))[:positions]
    sounding = weights[:, : len(loud)]
    labels = [printed(token) for token in found.tokens]
    given = sounding.tolist(), labels, loud.tolist(), found.step
    rows = heard_rows(*given, theme(), said("loudness"))
    which = said("layer {layer}, mean of its heads", layer=layer)
    if head is not None:
        which = said("layer {layer}, head {head}", layer=layer, head=head)
    alt = said(
        "Cross-attention of {model}, {head}: for each written token, where in the sound.",
        model=loaded.name,
        head=which,
    )
    table = table_of(found, weights, labels, len(loud))
    show_chart(heard, rows, alt, "heard", live(loaded), table=table, tokens=count)
    last = count - 1
    text(
        "looked",
        layer=layer,
        whose=which,
        token=verbatim(labels[last]),
        positions=f"{positions:,}",
        total=f"{weights[last].sum():.4f}",
        most=f"{weights[last].max():.4f}",
        at=f"{found.step * int(weights[last].argmax()):.2f}",
        after=f"{100 * weights[:, len(loud) :].sum(dim=1).mean():.1f}",
    )


def table_of(found: Heard, weights: Tensor, labels: list[str], sounding: int) -> "pd.DataFrame":
    """Of so many numbers, for each token: where its largest weight lies, and what lies behind."""
    import pandas as pd

    best = weights.max(dim=-1)
    columns = {
        "token": labels,
        "second_of_largest_weight": [found.step * place for place in best.indices.tolist()],
        "largest_weight": best.values.tolist(),
        "sum_of_row": weights.sum(dim=-1).tolist(),
        "on_the_silence_after_the_sound": weights[:, sounding:].sum(dim=-1).tolist(),
    }
    return pd.DataFrame(columns)
