"""What the tests of all pages share."""

import pytest
import torch

from explainers.chapters.what_if import cards
from explainers.models import load
from explainers.models.head_scores import ROLES, HeadScores
from explainers.models.registry import locate_folder
from explainers.ui.controls.controls import SMALLEST
from tests.support import saved_models

MANY_PASSES = {"15_serving", "19_what_if"}
"""Pages that let a model read a text several times, whatever the text is."""


@pytest.fixture
def no_models(monkeypatch, tmp_path):
    """A machine without real models; what a test saves in this folder is all there is."""
    monkeypatch.setenv("ATTENTION_MODELS", str(tmp_path))
    monkeypatch.setattr(load, "_models", {})
    return tmp_path


@pytest.fixture
def quick(page, monkeypatch, tmp_path):
    """A model of five words where a real one would read for most of a test's time."""
    if page.stem not in MANY_PASSES:
        return
    monkeypatch.setenv("ATTENTION_MODELS", str(tmp_path))
    saved_models.llama(locate_folder(SMALLEST), longest=64)
    monkeypatch.setattr(cards, "find_known_scores", lambda _: make_up_scores())


@pytest.fixture(scope="module")
def small_models(tmp_path_factory):
    """A model of five words, and no other."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ATTENTION_MODELS", str(tmp_path_factory.mktemp("models")))
        saved_models.llama(locate_folder(SMALLEST), longest=64)
        yield


def make_up_scores():
    """Scores of 2 layers of 6 heads, of which one head has each role."""
    names = [role.score_name for role in ROLES]
    measured = {f"natural: {what}": torch.zeros(2, 6) for what in ("distance", "offset")}
    for probe in ("repeated", "natural"):
        for name in names:
            measured[f"{probe}: {name}"] = torch.zeros(2, 6)
            measured[f"{probe}: {name}, shuffled"] = torch.full((2, 6), 0.1)
            measured[f"{probe}: {name}, counterexample"] = torch.full((2, 6, 5), torch.nan)
    for place, name in enumerate(names):
        measured[f"repeated: {name}"][divmod(place, 6)] = 0.9
    return HeadScores(measured)
