"""The proxy and the replicas, started once for all tests of this folder."""

import contextlib

import pytest

from tests.deploy.replicas import NAMES, NGINX, Proxy, Replica


@contextlib.contextmanager
def run_proxy(folder, warm="1"):
    """nginx, and replicas that nobody has started; one that is warm has imported all it needs."""
    if not NGINX:
        pytest.skip("There is no nginx here, and it could not be installed.")
    (folder / "nginx").mkdir()
    replicas = {name: Replica(folder / name, ATTENTION_WARM=warm) for name in NAMES}
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
    with run_proxy(tmp_path_factory.mktemp("deploy"), warm="") as running, replicas_of(running):
        yield running


@pytest.fixture(scope="session")
def warm_proxy(tmp_path_factory):
    """nginx and two replicas that draw a page at once."""
    with run_proxy(tmp_path_factory.mktemp("warm")) as running, replicas_of(running):
        yield running


@contextlib.contextmanager
def replicas_of(proxy):
    """Start them both, and end them."""
    replicas = proxy.replicas.values()
    for replica in replicas:
        replica.start()
    try:
        for replica in replicas:
            replica.wait()
        yield
    finally:
        for replica in replicas:
            replica.stop()
