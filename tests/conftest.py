"""What tests share."""

import pytest
from hypothesis import settings

from benchmarks.browser import chromium

# How long an example takes says something about the machine and nothing about the code.
settings.register_profile("house", deadline=None)
settings.load_profile("house")


@pytest.fixture(scope="session")
def browser():
    """The system's Chromium."""
    with chromium() as running:
        yield running
