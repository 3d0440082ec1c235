"""What tests share."""

import os

import pytest
import torch
from hypothesis import settings

from benchmarks.browser import chromium
from explainers.models.registry import WHEEL_MODELS
from explainers.translations import ENGLISH, set_language
from tests.support.real_models import real

pytest_plugins = ("tests.support.tiers", "tests.support.browser_fixtures")

if not torch.cuda.is_available():  # read when Triton is imported, and then for good
    os.environ["TRITON_INTERPRET"] = "1"

# How long an example takes says something about the machine and nothing about the code.
settings.register_profile("house", deadline=None)
settings.load_profile("house")


def pytest_collection_modifyitems(items):
    """What drives a browser can be left out by that name."""
    for item in items:
        if "browser" in item.fixturenames:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(autouse=True)
def speak_english():
    """Each test begins in it: one that writes files leaves the language of the last one behind."""
    set_language(ENGLISH)


@pytest.fixture(scope="session")
def browser():
    """The system's Chromium; in a context all pages of an app share a process and its code.

    No page is open long enough to win back what its compilers for hot code take.
    """
    with chromium("--process-per-site", "--js-flags=--no-maglev --no-opt") as running:
        yield running


@pytest.fixture(scope="session")
def smollm2():
    """SmolLM2-135M-Instruct, the real one."""
    return real(WHEEL_MODELS[0].id)


@pytest.fixture(scope="session")
def minilm():
    """all-MiniLM-L6-v2, the real one."""
    return real(WHEEL_MODELS[1].id)


@pytest.fixture(scope="session")
def smollm2_scores(smollm2):
    """What its heads do, as it is kept: that it is measured so takes long and is held at night."""
    from explainers.models.head_scores import measure_heads
    from explainers.models.shipped_measurements import read_shipped_scores

    kept = read_shipped_scores(smollm2.name)  # nothing where this machine has other weights
    return kept.scores if kept else measure_heads(smollm2)
