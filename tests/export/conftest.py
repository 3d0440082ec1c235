"""Files behind a plain server."""

import pytest
from starlette.staticfiles import StaticFiles

from tests.deploy.replicas import serve_in_thread


@pytest.fixture
def served(tmp_path):
    """A plain server of a folder: its address, and the folder."""
    with serve_in_thread(StaticFiles(directory=tmp_path)) as server:
        yield f"http://127.0.0.1:{server.config.port}", tmp_path
