"""A store of models that holds nothing yet, and one small model in it."""

import pytest

from explainers.models import load, registry
from tests.support import saved_models

ID = "someone/tiny-model"


@pytest.fixture
def store(monkeypatch, tmp_path):
    monkeypatch.setenv("ATTENTION_MODELS", str(tmp_path / "store"))
    monkeypatch.setenv(registry.READ_FOLDERS_VARIABLE, "1")
    monkeypatch.setattr(load, "_models", {})
    return tmp_path / "store"


@pytest.fixture
def folder(store):
    return saved_models.llama(registry.locate_folder(ID))
