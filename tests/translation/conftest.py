"""A folder of its own for the files of translators."""

import pytest

from explainers.translation import weights_file, word_pieces


@pytest.fixture
def folder(tmp_path, monkeypatch):
    first, caches = (
        tmp_path / "translator.safetensors",
        (weights_file.load_translator, word_pieces.load_pieces),
    )
    for module in (weights_file, word_pieces):
        monkeypatch.setattr(module, "FIRST_FILE", first)
    monkeypatch.setattr(weights_file, "OTHERS_FILE", tmp_path / "translator_seeds.safetensors")
    for kept in caches:
        kept.cache_clear()
    yield tmp_path
    for kept in caches:
        kept.cache_clear()
