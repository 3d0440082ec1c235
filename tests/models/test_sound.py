"""Sound as numbers: what a WAV file holds, what is computed, and files that are none."""

import io
import math
import struct
import tomllib
import wave
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from explainers.models import sound
from explainers.models.sound import (
    CLICKS,
    MOST_BYTES,
    MOST_SECONDS,
    SAMPLE_RATE,
    SWEEP,
    SoundError,
    encode_wave,
    measure_loudness,
    read_wave,
    resample,
    synthesise_sound,
)

ROOT = Path(__file__).parents[2]


def file_of(samples, width=2, channels=1, rate=SAMPLE_RATE):
    """A WAV file of whole numbers, channel by channel."""
    stored = io.BytesIO()
    with wave.open(stored, "wb") as file:
        file.setparams((channels, width, rate, 0, "NONE", ""))
        for one in samples:
            number = one + 128 if width == 1 else one
            file.writeframes(number.to_bytes(width, "little", signed=width > 1))
    return stored.getvalue()


def riff(form=1, channels=1, rate=SAMPLE_RATE, bits=16, data=b"\0\0" * 8, claimed=None):
    """The bytes of a WAV file, its header saying anything."""
    layout = struct.pack("<HHIIHH", form, channels, rate, 0, channels * bits // 8, bits)
    size = len(data) if claimed is None else claimed
    body = b"WAVEfmt " + struct.pack("<I", 16) + layout + b"data" + struct.pack("<I", size) + data
    return b"RIFF" + struct.pack("<I", len(body) & 0xFFFFFFFF) + body


@pytest.mark.parametrize("width", [1, 2, 3, 4])
def test_a_file_is_read_number_by_number(width):
    half = 2 ** (8 * width - 1)
    whole = [0, 1, -1, half - 1, -half, half // 2]
    expected = torch.tensor([one / half for one in whole])
    assert torch.equal(read_wave(file_of(whole, width)).samples, expected)
    stereo = [one for pair in zip(whole, reversed(whole), strict=True) for one in pair]
    found = read_wave(file_of(stereo, width, channels=2)).samples
    assert_close(found, (expected + expected.flip(0)) / 2)


def test_what_is_written_is_read():
    samples = synthesise_sound(CLICKS, 3).samples
    found = read_wave(encode_wave(samples))
    assert found.seconds_left_out == 0
    assert_close(found.samples, samples, atol=1 / 2**14, rtol=0)


@pytest.mark.parametrize("rate", [8_000, 44_100])
def test_another_rate_is_the_same_sound(rate):
    def tone(hertz, rate):
        return torch.sin(2 * math.pi * hertz * torch.arange(rate) / rate)

    found = resample(tone(100, rate), rate)
    assert len(found) == SAMPLE_RATE
    # Each sample stands for the middle of its time, not for its beginning.
    shifted = (torch.arange(SAMPLE_RATE) + 0.5) / SAMPLE_RATE - 0.5 / rate
    expected = torch.sin(2 * math.pi * 100 * shifted)
    assert_close(found[50:-50], expected[50:-50], atol=0.02, rtol=0)
    if rate > 40_000:
        high = resample(tone(16_000, rate), rate)[50:-50]
        assert high.abs().max() < 0.1, "it must not come back as a deep one"


def test_half_a_minute_is_heard_and_the_rest_is_said():
    long = read_wave(riff(rate=4_000, bits=8, data=bytes(4_000 * (MOST_SECONDS + 3))))
    assert long.seconds == MOST_SECONDS
    assert long.seconds_left_out == pytest.approx(3)
    claiming = read_wave(riff(data=b"\1\0" * SAMPLE_RATE, claimed=2**32 - 1))
    assert claiming.seconds == 1
    assert claiming.seconds_left_out == 0, "a header may claim anything"


def test_a_large_file_is_refused_before_it_is_opened(monkeypatch):
    """The server takes as much, and a recording of half a minute fits."""
    monkeypatch.setattr(sound.wave, "open", pytest.fail)
    with pytest.raises(SoundError, match="more than 1 MiB"):
        read_wave(bytes(MOST_BYTES + 1))
    monkeypatch.undo()
    settings = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    assert settings["server"]["maxUploadSize"] * 2**20 == MOST_BYTES
    assert len(encode_wave(torch.zeros(MOST_SECONDS * SAMPLE_RATE))) < MOST_BYTES


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "no WAV file"),
        (b"ID3" + b"\xff" * 500, "no WAV file"),
        (riff()[:30], "no WAV file"),
        (riff(form=3, bits=32), "no WAV file"),
        (riff(form=0xFFFE), "no WAV file"),
        (riff(channels=6), "6 channels of 16 bits"),
        (riff(bits=64), "64 bits"),
        (riff(rate=1), "1 a second"),
        (riff(rate=2**31), "a second"),
        (riff(data=b""), "no sound"),
        (riff(data=b"\0"), "no sound"),
    ],
)
def test_what_is_no_sound_is_told(data, why):
    with pytest.raises(SoundError, match=why):
        read_wave(data)


@given(st.binary(max_size=200), st.integers(0, 60))
def test_no_bytes_break_it(noise, place):
    whole = bytearray(riff(data=b"\1\2" * 40))
    whole[place : place + len(noise)] = noise
    try:
        found = read_wave(bytes(whole))
    except SoundError:
        return
    assert 0 < found.seconds <= MOST_SECONDS
    assert found.samples.isfinite().all()


def test_sounds_that_are_made():
    assert torch.equal(synthesise_sound(CLICKS, 1).samples, synthesise_sound(CLICKS, 1).samples)
    assert not torch.equal(synthesise_sound(CLICKS, 1).samples, synthesise_sound(CLICKS, 2).samples)
    rising = synthesise_sound(SWEEP, 0).samples
    turns = (rising[1:] * rising[:-1] < 0).float().chunk(4)
    second = [float(part.sum()) / 2 for part in turns]  # of whole turns in each second
    assert second[0] == pytest.approx(200 * 4 / (3 * math.log(2)) * (2**0.75 - 1), abs=2)
    assert second == sorted(second)
    for kind in (SWEEP, CLICKS):
        assert synthesise_sound(kind, 0).samples.abs().max() <= 1


def test_loudness_is_the_root_of_the_mean_square():
    samples = torch.tensor([3.0, 4.0, 0.0, 0.0, 2.0])
    assert_close(measure_loudness(samples, 2), torch.tensor([math.sqrt(12.5), 0.0, math.sqrt(2)]))
