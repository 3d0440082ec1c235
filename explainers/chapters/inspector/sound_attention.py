"""A model that hears: the sound, what it writes, and where in time its decoder looks."""

import hashlib
from typing import TYPE_CHECKING

import streamlit as st
from torch import Tensor

from explainers.chapters.common.recording import describe_live_run
from explainers.messages import N_
from explainers.models.encoder_decoder import Transcription, transcribe
from explainers.models.sound import (
    CLICKS,
    MOST_BYTES,
    SAMPLE_RATE,
    SWEEP,
    Sound,
    SoundError,
    check_size,
    encode_wave,
    measure_loudness,
    read_wave,
    synthesise_sound,
)
from explainers.translations import _, translate_error
from explainers.ui import page
from explainers.ui.controls import controls
from explainers.ui.figure.chart import read_theme, show_chart
from explainers.ui.page import Prose
from explainers.ui.source import show_source
from explainers.ui.text.numbers import bound_rounding
from explainers.ui.untrusted_text import shorten, show_spaces, verbatim

if TYPE_CHECKING:
    import pandas as pd

    from explainers.models.load import RealModel


MICROPHONE, FILE = N_("microphone"), N_("WAV file")
ALL = SWEEP, CLICKS, MICROPHONE, FILE


def given_sound(text: Prose, loaded: "RealModel") -> Tensor | None:
    """The samples that this model hears at a time, or a word on why there are none."""
    positions = loaded.model.config.max_source_positions
    seconds = loaded.feature_extractor.chunk_length
    text(
        "listening",
        which=verbatim(loaded.name),
        parameters=f"{loaded.num_parameters:,}",
        positions=f"{positions:,}",
        step=f"{1_000 * seconds / positions:g}",
        seconds=f"{seconds:g}",
    )
    kind = controls.sound(ALL)
    try:
        found = _made(text, kind) if kind in (SWEEP, CLICKS) else _brought(text, kind)
    except SoundError as error:
        st.error(verbatim(_(error.args[0])), icon=":material/error:")
        return None
    if found is None:
        return None
    left_out = found.seconds_left_out + max(0.0, found.seconds - seconds)
    samples = found.samples[: round(seconds * SAMPLE_RATE)]
    if left_out > 0:
        text("sound_cut", seconds=f"{seconds:g}", more=f"{left_out:.1f}")
    st.audio(encode_wave(samples))
    return samples


def play_ready_sound(text: Prose) -> None:
    """A sound that is computed here, for a reader whose model that reads sound is missing."""
    text("listening_ready")
    st.audio(encode_wave(synthesise_sound(SWEEP, 0).samples))


def _made(text: Prose, kind: str) -> Sound:
    seed = page.read_seed() if kind == CLICKS else 0
    text(f"made_{'sweep' if kind == SWEEP else 'clicks'}", seed=seed)
    return synthesise_sound(kind, seed)


def _brought(text: Prose, kind: str) -> Sound | None:
    """What the reader recorded or chose; it is weighed before it is read."""
    if kind == MICROPHONE:
        file = st.audio_input(_("Say something"), sample_rate=SAMPLE_RATE, key="recorded sound")
    else:
        most = MOST_BYTES // 2**20
        label = _("A WAV file, at most {most} MiB", most=most)
        file = st.file_uploader(label, "wav", key="uploaded sound", max_upload_size=most)
    if file is None:
        text("no_sound")
        return None
    check_size(file.size)
    return read_wave(file.getvalue())


def show_heard(text: Prose, loaded: "RealModel", samples: Tensor) -> None:
    """What the model writes, and the weights of one head or of all over the sound's time."""
    try:
        digest = hashlib.sha256(samples.numpy().tobytes()).hexdigest()
        with st.spinner(_("The model listens …")):
            found = once_heard(loaded.name, id(loaded), digest, samples, loaded)
    except Exception as error:  # a model from a folder or the hub may raise anything
        why = verbatim(shorten(translate_error(error), 300))
        st.error(_("Nothing can be shown: {why}", why=why), icon=":material/error:")
        return
    written = verbatim("".join(found.tokens))
    text("written", written=written or "∅", count=len(found.tokens))
    _show_weights(text, loaded, found, samples)
    text("equal_heard", difference=bound_rounding(found.difference), which=verbatim(loaded.name))
    show_source(transcribe)


@st.cache_data(show_spinner=False, max_entries=4)
def once_heard(
    name: str, which: int, digest: str, _samples: Tensor, _loaded: "RealModel"
) -> Transcription:
    """Once for a model (`which` of this name) and a sound (`digest` names it)."""
    return transcribe(_loaded, _samples)


def _show_weights(text: Prose, loaded: "RealModel", found: Transcription, samples: Tensor) -> None:
    from explainers.charts.pixel_images import (  # a page is there before it needs altair
        draw_sound,
        make_sound_rows,
    )

    layers, heads, count, positions = found.weights.shape
    with st.container(horizontal=True, vertical_alignment="bottom"):
        layer = controls.sound_layer(0, layers - 1)
        is_mean = controls.mean_over_heads()
        head = None if is_mean else controls.sound_head(0, heads - 1)
    weights = found.weights[layer].mean(dim=0) if head is None else found.weights[layer, head]
    loud = measure_loudness(samples, round(found.seconds_per_position * SAMPLE_RATE))[:positions]
    sounding = weights[:, : len(loud)]
    labels = [show_spaces(token) for token in found.tokens]
    given = sounding.tolist(), labels, loud.tolist(), found.seconds_per_position
    rows = make_sound_rows(*given, read_theme(), _("loudness"))
    which = _("layer {layer}, mean of its heads", layer=layer)
    if head is not None:
        which = _("layer {layer}, head {head}", layer=layer, head=head)
    alt = _(
        "Cross-attention of {model}, {head}: for each written token, where in the sound.",
        model=loaded.name,
        head=which,
    )
    table = table_of(found, weights, labels, len(loud))
    show_chart(draw_sound, rows, alt, "heard", describe_live_run(loaded), table=table, tokens=count)
    last = count - 1
    text(
        "looked",
        layer=layer,
        whose=which,
        token=verbatim(labels[last]),
        positions=f"{positions:,}",
        total=f"{weights[last].sum():.4f}",
        most=f"{weights[last].max():.4f}",
        at=f"{found.seconds_per_position * int(weights[last].argmax()):.2f}",
        after=f"{100 * weights[:, len(loud) :].sum(dim=1).mean():.1f}",
    )


def table_of(
    found: Transcription, weights: Tensor, labels: list[str], sounding: int
) -> "pd.DataFrame":
    """Of so many numbers, for each token: where its largest weight lies, and what lies behind."""
    import pandas as pd

    best = weights.max(dim=-1)
    columns = {
        "token": labels,
        "second_of_largest_weight": [
            found.seconds_per_position * place for place in best.indices.tolist()
        ],
        "largest_weight": best.values.tolist(),
        "sum_of_row": weights.sum(dim=-1).tolist(),
        "on_the_silence_after_the_sound": weights[:, sounding:].sum(dim=-1).tolist(),
    }
    return pd.DataFrame(columns)
