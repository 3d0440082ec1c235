"""The real models that come with the tests, where this machine has them."""

import json
import os
from contextlib import contextmanager

import pytest

STORE = os.environ.get("ATTENTION_MODELS")
"""As the tests begin: a fixture of a module puts another one in its place while its tests run."""


@contextmanager
def as_tests_began():
    """With the models of this machine, whatever a fixture has put in their place by now."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("ATTENTION_MODELS", raising=False)
        if STORE:
            patch.setenv("ATTENTION_MODELS", STORE)
        yield


def need(model_id):
    """There is nothing to test without this model."""
    from explainers.models.load import is_on_disk  # torch, which not every test needs

    if not is_on_disk(model_id):
        pytest.skip(f"no {model_id} here: python -m explainers.models fetch says why")


def real(model_id):
    """A model that `make test` has fetched, as far as this machine has a network."""
    from explainers.models.load import load_model

    with as_tests_began():
        need(model_id)
        return load_model(model_id)


def list_far(now, stored, allowed):
    """Which numbers that are measured now are further from those that are kept than is allowed."""
    from workshop.models.measure_indexers import list_differences

    measured = json.loads(json.dumps(now))
    return [name for name, far in list_differences(measured, stored) if far > allowed]
