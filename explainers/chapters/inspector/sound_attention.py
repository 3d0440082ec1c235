"""A model that hears: the sound, what it writes, and where in time its decoder looks."""

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile
from torch import Tensor

from explainers.chapters.common.choose_real_model import obtain_model
from explainers.chapters.common.recording import describe_live_run
from explainers.messages import N_
from explainers.models.encoder_decoder import Transcription, transcribe
from explainers.models.sound import (
    CLICKS,
    MOST_BYTES,
    SAMPLE_RATE,
    SWEEP,
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
from explainers.ui.text.numbers import bound_rounding
from explainers.ui.untrusted_text import shorten, show_spaces, verbatim

if TYPE_CHECKING:
    import pandas as pd

    from explainers.models.load import RealModel


MODEL = "openai/whisper-tiny"
MICROPHONE, FILE = N_("microphone"), N_("WAV file")
SYNTHETIC = {SWEEP: "sweep", CLICKS: "clicks"}
"""Sounds that are computed here, and what their texts are called."""
CODE = (transcribe,)


@dataclass(frozen=True)
class Listener:
    """A model that reads sound."""

    loaded: "RealModel"

    @property
    def seconds(self) -> float:
        """Of sound, as many as it reads at a time."""
        seconds: float = self.loaded.feature_extractor.chunk_length
        return seconds

    def describe(self) -> dict[str, str]:
        """Which one it is, and how finely it reads."""
        positions = self.loaded.model.config.max_source_positions
        return {
            "which": verbatim(self.loaded.name),
            "parameters": f"{self.loaded.num_parameters:,}",
            "positions": f"{positions:,}",
            "step": f"{1_000 * self.seconds / positions:g}",
            "seconds": f"{self.seconds:g}",
        }


def find_listener(loaded: "RealModel | None") -> Listener | None:
    """A model, if it reads sound."""
    return Listener(loaded) if loaded and loaded.feature_extractor else None


def offer_listener() -> Listener | None:
    """A sound that is computed here, and a small model that reads it: not all have one."""
    st.audio(encode_wave(synthesise_sound(SWEEP, 0).samples))
    return find_listener(obtain_model(MODEL, "listening"))


def choose_sound() -> tuple[str, UploadedFile | None]:
    """Which sound; and the file, of one that the reader records or chooses."""
    kind, file = controls.sound((*SYNTHETIC, MICROPHONE, FILE)), None
    if kind == MICROPHONE:
        file = st.audio_input(_("Say something"), sample_rate=SAMPLE_RATE, key="recorded sound")
    elif kind == FILE:
        most = MOST_BYTES // 2**20
        label = _("A WAV file, at most {most} MiB", most=most)
        file = st.file_uploader(label, "wav", key="uploaded sound", max_upload_size=most)
    return kind, file


class Heard(NamedTuple):
    """As much of a sound as a model reads at a time: samples (n,), and seconds that are left."""

    samples: Tensor
    left_out: float


def cut_or_explain(listener: Listener, kind: str, file: UploadedFile | None) -> Heard | None:
    """The sound that was chosen; nothing without one, and a message for what is none."""
    try:
        if kind in SYNTHETIC:
            sound = synthesise_sound(kind, page.read_seed())
        elif file is None:
            return None
        else:
            check_size(file.size)  # before it is read
            sound = read_wave(file.getvalue())
    except SoundError as error:
        st.error(verbatim(_(error.args[0])), icon=":material/error:")
        return None
    left_out = sound.seconds_left_out + max(0.0, sound.seconds - listener.seconds)
    return Heard(sound.samples[: round(listener.seconds * SAMPLE_RATE)], left_out)


class Written(NamedTuple):
    """What a model wrote about a sound."""

    loaded: "RealModel"
    samples: Tensor
    found: Transcription

    def describe(self) -> dict[str, object]:
        """The text, and how far our attention is from the model's own."""
        return {
            "written": verbatim("".join(self.found.tokens)) or "∅",
            "count": len(self.found.tokens),
            "difference": bound_rounding(self.found.difference),
            "which": verbatim(self.loaded.name),
        }


def transcribe_or_explain(listener: Listener, samples: Tensor) -> Written | None:
    """Play the sound, and let the model write; nothing, and a message, if it cannot read it."""
    st.audio(encode_wave(samples))
    loaded, digest = listener.loaded, hashlib.sha256(samples.numpy().tobytes()).hexdigest()
    try:
        with st.spinner(_("The model listens …")):
            found = _transcribe(loaded.name, id(loaded), digest, samples, loaded)
            return Written(loaded, samples, found)
    except Exception as error:  # a model from a folder or the hub may raise anything
        why = verbatim(shorten(translate_error(error), 300))
        st.error(_("Nothing can be shown: {why}", why=why), icon=":material/error:")
        return None


@st.cache_data(show_spinner=False, max_entries=4)
def _transcribe(
    name: str, which: int, digest: str, _samples: Tensor, _loaded: "RealModel"
) -> Transcription:
    """Once for a model (`which` of this name) and a sound (`digest` names it)."""
    return transcribe(_loaded, _samples)


def draw_weights(written: Written) -> dict[str, object]:
    """The weights of one head or of all over the sound's time, and the last token's in numbers."""
    from explainers.charts.pixel_images import (  # a page is there before it needs altair
        draw_sound,
        make_sound_rows,
    )

    loaded, samples, found = written
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
    table = tabulate_tokens(found, weights, labels, len(loud))
    show_chart(draw_sound, rows, alt, "heard", describe_live_run(loaded), table=table, tokens=count)
    last, label = weights[-1], labels[-1]
    return {
        "layer": layer,
        "whose": which,
        "token": verbatim(label),
        "positions": f"{positions:,}",
        "total": f"{last.sum():.4f}",
        "most": f"{last.max():.4f}",
        "at": f"{found.seconds_per_position * int(last.argmax()):.2f}",
        "after": f"{100 * weights[:, len(loud) :].sum(dim=1).mean():.1f}",
    }


def tabulate_tokens(
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
