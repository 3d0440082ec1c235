"""The real models that come with the tests, where this machine has them."""

import pytest


def real(model_id):
    """A model that `make test` has fetched, as far as this machine has a network."""
    from explainers.models.load import is_on_disk, load_model  # torch, which not every test needs

    if not is_on_disk(model_id):
        pytest.skip(f"no {model_id} here: python -m explainers.models fetch says why")
    return load_model(model_id)
