"""The inspector with a model that hears: where it looks, and what is no sound."""

import json
import shutil
from pathlib import Path
from unittest import mock

import pytest
import torch
from torch.testing import assert_close

from explainers.chapters.inspector import sound_attention
from explainers.chapters.inspector.sound_attention import FILE, MICROPHONE
from explainers.charts.pixel_images import LINE_HEIGHT, LOUDNESS_LINES, draw_sound, make_sound_rows
from explainers.charts.theme import LIGHT
from explainers.models import load as loading_module
from explainers.models import model_files, registry
from explainers.models.comparison import make_eager_twin
from explainers.models.encoder_decoder import MOST_TRANSCRIBED, transcribe
from explainers.models.load import load_model
from explainers.models.registry import ModelError
from explainers.models.sound import CLICKS, SAMPLE_RATE, encode_wave, read_wave, synthesise_sound
from tests.models.test_sound import riff
from tests.support import saved_whisper
from tests.support.opening import PAGES, opened
from tests.support.reading import said
from tests.support.saved_whisper import NAMES, SECONDS, VOCABULARY

PAGE = next(page for page in PAGES if page.stem == "17_inspector")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A tiny Whisper in a folder of the reader's own machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ATTENTION_MODELS", str(tmp_path_factory.mktemp("store")))
        patch.setenv(registry.READ_FOLDERS_VARIABLE, "1")
        patch.setattr(loading_module, "_models", {})
        yield saved_whisper.save(tmp_path_factory.mktemp("its own") / "tiny-whisper")


@pytest.fixture(scope="module")
def whisper(folder):
    """In memory, so that no page has to load it."""
    return load_model(str(folder))


@pytest.fixture
def changed(folder, tmp_path):
    """A copy that a test may spoil."""
    return Path(shutil.copytree(folder, tmp_path / "changed"))


NO_SOUNDS = {
    "no WAV file": b"no sound",
    "unknown format: 3": riff(form=3, bits=32),
    "6 channels": riff(channels=6),
    "no sound in this file": riff(data=b""),
    "more than 1 MiB": riff(data=bytes(2**20)),
}


def visited(folder, **link):
    return opened(PAGE, {"real_model": str(folder), **link})


def told(visit):
    return "\n".join(note.value for note in [*visit.error, *visit.warning, *visit.info])


def test_what_is_recorded_is_what_transformers_computes(whisper):
    samples = synthesise_sound(CLICKS, 3).samples
    found = transcribe(whisper, samples)
    assert len(found.tokens) <= MOST_TRANSCRIBED
    assert found.difference < 1e-5
    features = whisper.feature_extractor(
        samples.numpy(), sampling_rate=SAMPLE_RATE, return_tensors="pt"
    )
    twin, ids = make_eager_twin(whisper.model), [VOCABULARY[token] for token in found.tokens]
    with torch.no_grad():
        first = twin(**features, decoder_input_ids=torch.tensor([[1]])).logits[0, 0]
        language = 2 + int(first[2:4].argmax())
        before = [1, language, VOCABULARY[NAMES[-1]], VOCABULARY["<|notimestamps|>"]]
        given = torch.tensor([[*before, *ids[:-1]]])
        theirs = twin(**features, decoder_input_ids=given, output_attentions=True)
    assert_close(found.weights, torch.cat(theirs.cross_attentions)[:, :, len(before) - 1 :])
    never = [*range(1, 5), VOCABULARY["<|0.00|>"], VOCABULARY["<|0.02|>"]]
    logits = theirs.logits[0, len(before) - 1 :]
    logits[:, never] = -torch.inf
    logits[0, 0] = -torch.inf  # it may not end before it began
    assert logits.argmax(dim=-1).tolist() == ids, "always the likeliest that it may write"


def test_the_page_shows_weights_over_seconds_and_keeps_the_head(folder, whisper):
    link = {"over_heads": "false", "sound_layer": "2", "sound_head": "1"}
    visit = visited(folder, sound=CLICKS, seed="3", **link)
    assert not visit.text_input, "it gets a sound and no sentence"
    weights = transcribe(whisper, synthesise_sound(CLICKS, 3).samples).weights[2]
    row = weights[1, -1]
    assert f"the largest, {row.max():.4f}, lies at {0.02 * int(row.argmax()):.2f} s" in said(visit)
    assert f"gets {100 * weights[1, :, 200:].sum(dim=1).mean():.1f} % of all weight" in said(visit)
    visit.toggle(key="over_heads").set_value(True).run()
    assert f"the largest, {weights[:, -1].mean(dim=0).max():.4f}" in said(visit)
    visit.run()
    visit.toggle(key="over_heads").set_value(False).run()
    assert visit.number_input(key="sound_head").value == 1


@pytest.mark.usefixtures("whisper")
@pytest.mark.parametrize("kind", [MICROPHONE, FILE])
def test_a_sound_of_the_reader(folder, kind):
    visit = visited(folder, sound=kind)
    assert "There is no sound yet" in said(visit)
    place = visit.get("audio_input" if kind == MICROPHONE else "file_uploader")[0]
    long = torch.cat([synthesise_sound(CLICKS, 3).samples, torch.zeros(3 * SAMPLE_RATE)])
    place.set_value(("it.wav", encode_wave(long), "audio/wav")).run()
    assert not visit.exception
    assert f"The model reads {SECONDS} seconds at a time: 2.0 more are left out" in said(visit)


@pytest.mark.usefixtures("whisper")
def test_a_file_that_is_no_sound_is_told(folder):
    """Also one that is too large, before it is read."""
    visit = visited(folder, sound=FILE)
    for why, data in NO_SOUNDS.items():
        uploader = visit.get("file_uploader")[0]
        with mock.patch.object(sound_attention, "read_wave", wraps=read_wave) as reading:
            uploader.set_value(("it.wav", data, "audio/wav")).run()
        assert not visit.exception
        assert why in told(visit)
        assert reading.called == (len(data) <= 2**20)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"chunk_length": 10**9}, "chunk_length in its .* is none that can be"),
        ({"n_fft": 10**9}, "n_fft in its"),
        ({"hop_length": 0}, "hop_length in its"),
        ({"feature_size": 11}, "does not fit its model"),
        ({"auto_map": {"AutoFeatureExtractor": "code.It"}}, "code of its own"),
        ("[" * 100_000, "is not JSON"),
    ],
)
def test_a_feature_extractor_that_fits_not_is_refused(changed, changes, why):
    file = changed / model_files.SOUND_SETTINGS_FILE
    is_text = isinstance(changes, str)
    whole = changes if is_text else json.dumps({**json.loads(file.read_text()), **changes})
    file.write_text(whole)
    with pytest.raises(ModelError, match=why):
        load_model(str(changed))


def test_a_model_that_could_hear_is_told_what_it_lacks(changed):
    (changed / model_files.SOUND_SETTINGS_FILE).unlink()
    load_model(str(changed))
    assert "reads sound or pictures in a way that this page" in told(visited(changed))


@pytest.mark.usefixtures("whisper")
def test_what_fails_while_it_listens_is_told(folder, monkeypatch):
    broken = mock.Mock(side_effect=RuntimeError("<b>no</b>"))
    monkeypatch.setattr(sound_attention, "transcribe", broken)
    visit = visited(folder, sound=CLICKS, seed="4")
    assert not visit.exception
    assert "Nothing can be shown" in told(visit)


def test_the_picture_has_a_line_for_each_token_and_one_axis_of_seconds():
    weights, loud = [[0.0, 0.75, 0.25], [1.0, 0.0, 0.0]], [0.1, 0.0, 0.3]
    rows = make_sound_rows(weights, ["a", " b"], loud, 0.02, LIGHT)
    assert list(rows["line"]) == ["0 a", "1  b", "2 ", "3 loudness", "4 "]
    assert list(rows["at"][:2]) == [0.02, 0.0]
    assert list(rows["most"][:2]) == [0.75, 1.0]
    assert set(rows["end"]) == {0.06}
    assert draw_sound(rows, LIGHT, 2).to_dict()["height"] == LINE_HEIGHT * (2 + LOUDNESS_LINES)


def test_a_model_without_room_to_write_is_refused(whisper, monkeypatch):
    monkeypatch.setattr(whisper.model.config, "max_target_positions", 4)
    with pytest.raises(ModelError, match="can write nothing"):
        transcribe(whisper, synthesise_sound(CLICKS, 3).samples)
