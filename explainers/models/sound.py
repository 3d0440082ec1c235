"""Sound as numbers: read from a WAV file or computed here, never longer than a model can hear."""

import io
import math
import wave
from typing import NamedTuple

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from explainers.messages import N_

SAMPLE_RATE = 16_000
"""Numbers per second, as models hear."""
MOST_SECONDS = 30
MOST_BYTES = 2**20
"""Of a file, as many as the server takes: half a minute at `RATE`, mono, in 16 bits."""
FILE_RATES = range(4_000, 192_001)
SWEEP, CLICKS = N_("tone sweep"), N_("clicks")
SYNTHETIC_SECONDS = 4


class SoundError(Exception):
    """Why a file is no sound that can be heard here, in words for the reader."""


class Sound(NamedTuple):
    """samples (n,), mono, between -1 and 1, `RATE` a second; seconds that were too long for it."""

    samples: Tensor
    seconds_left_out: float

    @property
    def seconds(self) -> float:
        return len(self.samples) / SAMPLE_RATE


def check_size(size: int) -> None:
    """Refuse a file of too many bytes, before they are taken."""
    if size > MOST_BYTES:
        raise SoundError(
            N_("The file has more than {most} MiB: cut it.", most=f"{MOST_BYTES / 2**20:g}")
        )


def read_wave(data: bytes) -> Sound:
    """The first half minute of a WAV file, its channels averaged."""
    check_size(len(data))
    try:
        with wave.open(io.BytesIO(data)) as file:
            channels, width, rate, num_samples, *_ = file.getparams()
            if channels not in (1, 2) or width not in (1, 2, 3, 4) or rate not in FILE_RATES:
                raise SoundError(
                    N_(
                        "This WAV file has {channels} channels of {bits} bits, {rate} a second. "
                        "Read are mono and stereo, 8 to 32 bits, 4,000 to 192,000 a second.",
                        channels=channels,
                        bits=8 * width,
                        rate=f"{rate:,}",
                    )
                )
            raw = file.readframes(min(num_samples, MOST_SECONDS * rate))
    except (wave.Error, EOFError, RuntimeError) as error:
        raise SoundError(
            N_("This is no WAV file of plain numbers (PCM): {why}.", why=str(error) or "cut off")
        ) from None
    num_bytes = len(raw) // (channels * width) * channels * width  # without a sample cut off
    samples = resample(decode_samples(raw[:num_bytes], width).view(-1, channels).mean(dim=1), rate)
    if not len(samples):
        raise SoundError(N_("There is no sound in this file."))
    seconds_in_file = (len(data) - 44) / (channels * width * rate)  # a header may claim anything
    return Sound(samples, max(0.0, min(num_samples / rate, seconds_in_file) - MOST_SECONDS))


def decode_samples(raw: bytes, width: int) -> Tensor:
    """The numbers of a WAV file: of so many bytes each, the lowest first; 8 bits have no sign."""
    parts = torch.frombuffer(bytearray(raw) or bytearray(width), dtype=torch.uint8)
    parts = parts.view(-1, width)[: len(raw) // width].long()
    places = 2 ** (8 * torch.arange(width))
    samples, half = (parts * places).sum(dim=1), 2 ** (8 * width - 1)
    signed = samples - half if width == 1 else samples - 2 * half * (samples >= half)
    return signed.float() / half


def resample(samples: Tensor, rate: int) -> Tensor:
    """As many a second as a model hears: each a weighted mean of its neighbours."""
    num_samples = round(len(samples) * SAMPLE_RATE / rate)
    if rate == SAMPLE_RATE or not num_samples:
        return samples[:num_samples]
    row = samples[None, None, None]  # as an image of one row
    return F.interpolate(row, size=(1, num_samples), mode="bilinear", antialias=True)[0, 0, 0]


def synthesise_sound(kind: str, seed: int) -> Sound:
    """A tone that rises, or eight clicks at times that are drawn; no speech."""
    time = torch.arange(SYNTHETIC_SECONDS * SAMPLE_RATE) / SAMPLE_RATE
    if kind == SWEEP:
        low, octaves = 200.0, 3.0
        turns = low * SYNTHETIC_SECONDS / (octaves * math.log(2))
        phase = turns * (2 ** (octaves * time / SYNTHETIC_SECONDS) - 1)
        return Sound(0.5 * torch.sin(2 * math.pi * phase), 0.0)
    draw = torch.Generator().manual_seed(seed)
    starts = torch.rand(8, generator=draw) * (SYNTHETIC_SECONDS - 0.5)
    noise = torch.randn(len(time), generator=draw)
    elapsed = time[:, None] - starts
    decay = torch.where(elapsed >= 0, torch.exp(-elapsed / 0.02), 0.0).sum(dim=1)
    return Sound((0.3 * noise * decay).clamp(-1, 1), 0.0)


def encode_wave(samples: Tensor) -> bytes:
    """A WAV file of 16 bits, to be played."""
    integers = (samples.clamp(-1, 1) * 32_767).round().to(torch.int16)
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setparams((1, 2, SAMPLE_RATE, len(integers), "NONE", ""))
        file.writeframes(integers.numpy().astype("<i2").tobytes())
    return buffer.getvalue()


def measure_loudness(samples: Tensor, step: int) -> Tensor:
    """The root of the mean square of every `step` samples."""
    padded = F.pad(samples, (0, -len(samples) % step))
    return padded.view(-1, step).square().mean(dim=1).sqrt()
