"""The sound that a model shall hear: made here, recorded, or from a file."""

from typing import TYPE_CHECKING

import streamlit as st
from torch import Tensor

from explainers.models.sound import (
    CLICKS,
    MOST_BYTES,
    RATE,
    SWEEP,
    Sound,
    SoundError,
    made,
    read_wave,
    weigh,
    written,
)
from explainers.phrase import phrase
from explainers.ui import common, real_controls
from explainers.ui.language import said, translated
from explainers.ui.plain import verbatim
from explainers.ui.prose import Prose

if TYPE_CHECKING:
    from explainers.models.load import Loaded

MICROPHONE, FILE = phrase("microphone"), phrase("WAV file")
ALL = SWEEP, CLICKS, MICROPHONE, FILE


def given_sound(text: Prose, loaded: "Loaded") -> Tensor | None:
    """The samples that this model hears at a time, or a word on why there are none."""
    positions, seconds = loaded.model.config.max_source_positions, loaded.extractor.chunk_length
    text(
        "listening",
        which=verbatim(loaded.name),
        parameters=f"{loaded.parameters:,}",
        positions=f"{positions:,}",
        step=f"{1_000 * seconds / positions:g}",
        seconds=f"{seconds:g}",
    )
    kind = real_controls.sound(ALL)
    try:
        found = _made(text, kind) if kind in (SWEEP, CLICKS) else _brought(text, kind)
    except SoundError as error:
        st.error(verbatim(translated(error.args[0])), icon=":material/error:")
        return None
    if found is None:
        return None
    left_out = found.left_out + max(0.0, found.seconds - seconds)
    samples = found.samples[: round(seconds * RATE)]
    if left_out > 0:
        text("sound_cut", seconds=f"{seconds:g}", more=f"{left_out:.1f}")
    st.audio(written(samples))
    return samples


def _made(text: Prose, kind: str) -> Sound:
    seed = common.seed() if kind == CLICKS else 0
    text(f"made_{'sweep' if kind == SWEEP else 'clicks'}", seed=seed)
    return made(kind, seed)


def _brought(text: Prose, kind: str) -> Sound | None:
    """What the reader recorded or chose; it is weighed before it is read."""
    if kind == MICROPHONE:
        file = st.audio_input(said("Say something"), sample_rate=RATE, key="recorded sound")
    else:
        most = MOST_BYTES // 2**20
        label = said("A WAV file, at most {most} MiB", most=most)
        file = st.file_uploader(label, "wav", key="uploaded sound", max_upload_size=most)
    if file is None:
        text("no_sound")
        return None
    weigh(file.size)
    return read_wave(file.getvalue())
