"""A folder of its own for the files of translators."""

import pytest

from explainers.translation import translator


@pytest.fixture
def folder(tmp_path, monkeypatch):
    caches = translator.load_translator, translator.load_pieces
    monkeypatch.setattr(translator, "FIRST_FILE", tmp_path / "translator.safetensors")
    monkeypatch.setattr(translator, "OTHERS_FILE", tmp_path / "translator_seeds.safetensors")
    for kept in caches:
        kept.cache_clear()
    yield tmp_path
    for kept in caches:
        kept.cache_clear()
