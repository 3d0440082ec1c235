"""What the tests of all pages share."""

import pytest

from explainers.chapters.what_if import choose_changes
from explainers.models.head_roles import ROLES
from explainers.models.registry import locate_folder
from explainers.ui.controls.controls import SMALLEST
from tests.pages.test_page_what_if import scores
from tests.support import saved_models

MANY_PASSES = {"15_serving", "19_what_if"}
"""Pages that let a model read a text several times, whatever the text is."""


@pytest.fixture
def quick(page, monkeypatch, tmp_path):
    """A model of five words where a real one would read for most of a test's time."""
    if page.stem not in MANY_PASSES:
        return
    monkeypatch.setenv("ATTENTION_MODELS", str(tmp_path))
    saved_models.llama(locate_folder(SMALLEST), longest=64)
    each = scores(**{role.score_name: [divmod(n, 6)] for n, role in enumerate(ROLES)})
    monkeypatch.setattr(choose_changes, "find_known_scores", lambda _: each)
