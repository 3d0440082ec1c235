"""The proxy and the replicas, started once for all tests of this folder."""

import contextlib

import pytest

from tests.deploy.replicas import NAMES, NGINX, Proxy, Replica


@contextlib.contextmanager
def run_proxy(folder, warm="1", is_lonely=False):
    """nginx and two replicas behind it; one that is warm has imported all it needs."""
    if not NGINX:
        pytest.skip("There is no nginx here, and it could not be installed.")
    (folder / "nginx").mkdir()
    replicas = {name: Replica(folder / name, ATTENTION_WARM=warm) for name in NAMES}
    started = [] if is_lonely else list(replicas.values())
    for replica in started:
        replica.start()
    running = Proxy(folder / "nginx", replicas)
    running.start()
    try:
        for replica in started:
            replica.wait()
        yield running
    finally:
        running.stop()
        for replica in started:
            replica.stop()


@pytest.fixture
def lonely_proxy(tmp_path):
    with run_proxy(tmp_path, is_lonely=True) as running:
        yield running


@pytest.fixture(scope="session")
def proxy(tmp_path_factory):
    with run_proxy(tmp_path_factory.mktemp("deploy"), warm="") as running:
        yield running


@pytest.fixture(scope="session")
def warm_proxy(tmp_path_factory):
    """nginx and two replicas that draw a page at once."""
    with run_proxy(tmp_path_factory.mktemp("warm")) as running:
        yield running
