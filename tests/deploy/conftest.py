"""The proxy and the replicas, started once for all tests of this folder."""

import contextlib

import pytest

from tests.deploy.replicas import NAMES, NGINX, Proxy, Replica


@contextlib.contextmanager
def run_proxy(folder):
    """nginx, and replicas that nobody has started."""
    if not NGINX:
        pytest.skip("There is no nginx here, and it could not be installed.")
    (folder / "nginx").mkdir()
    replicas = {name: Replica(folder / name, ATTENTION_WARM="1") for name in NAMES}
    running = Proxy(folder / "nginx", replicas)
    running.start()
    try:
        yield running
    finally:
        running.stop()


@pytest.fixture
def lonely_proxy(tmp_path):
    """nginx, and behind it nothing."""
    with run_proxy(tmp_path) as running:
        yield running


@pytest.fixture(scope="session")
def proxy(tmp_path_factory):
    """nginx and two replicas behind it."""
    with run_proxy(tmp_path_factory.mktemp("deploy")) as running:
        replicas = running.replicas.values()
        for replica in replicas:
            replica.start()
        try:
            for replica in replicas:
                replica.wait()
            yield running
        finally:
            for replica in replicas:
                replica.stop()
