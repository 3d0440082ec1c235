"""The real models that come with the tests, where this machine has them."""

import os

import pytest

STORE = os.environ.get("ATTENTION_MODELS")
"""As the tests begin: a fixture of a module puts another one in its place while its tests run."""


def real(model_id):
    """A model that `make test` has fetched, as far as this machine has a network."""
    from explainers.models.load import is_on_disk, load_model  # torch, which not every test needs

    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("ATTENTION_MODELS", raising=False)
        if STORE:
            patch.setenv("ATTENTION_MODELS", STORE)
        if not is_on_disk(model_id):
            pytest.skip(f"no {model_id} here: python -m explainers.models fetch says why")
        return load_model(model_id)
