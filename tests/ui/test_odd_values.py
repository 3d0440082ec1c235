"""A client that is no browser: what it makes up costs little, and the page stands as it was."""

from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed

from tests.deploy.replicas import serve
from tests.support.forged import Forger

ODD: dict[str, dict[str, Any]] = {
    "a number": {"double_value": 3.0},
    "not a number": {"double_value": float("nan")},
    "a whole number": {"int_value": 3},
    "a word": {"string_value": "nonsense"},
    "yes": {"bool_value": True},
    "names": {"string_array_value": ["no", "such", "name"]},
    "numbers": {"double_array_value": [1e300, float("nan")]},
    "deep JSON": {"json_value": "[" * 20_000},
    "no JSON": {"json_value": "}"},
    "bytes": {"bytes_value": b"\xff"},
}
PLAIN = ("button", "bidi_component", "expander", "popover", "download_button")
"""Elements whose values make nothing by themselves, or are the pictures."""
FITS: dict[str, tuple[str, ...]] = {
    "double_value": ("number_input",),
    "int_value": ("number_input",),
    "string_value": ("text_input", "text_area"),
    "bool_value": ("checkbox",),
}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with serve(tmp_path_factory.mktemp("odd values") / "log") as running:
        yield running


@pytest.mark.rotating(3)
@pytest.mark.parametrize("page", ["scores", "cache_memory", "cross_attention"])
@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
def test_a_widget_keeps_its_default(server, page, odd):
    """In a session's first run, and when Streamlit knows its widgets."""
    forger, stranger = Forger(server.address), Forger(server.address)
    fresh = forger.run(page)
    fits = FITS.get(next(iter(odd)), ())  # for such a widget it is a value like another
    asked = {i: odd for i, kind in fresh.widgets.items() if kind not in PLAIN + fits}
    assert len(asked) > 4
    before = server.log.read_text()
    for one in (forger, stranger):
        answer = one.run(page, values=asked)
        one.close()
        assert not answer.of_kind("exception")
        assert answer.pictures == fresh.pictures
    assert "Traceback" not in server.log.read_text().removeprefix(before)


@pytest.mark.parametrize(
    ("message", "code"), [(b"x" * (2**20 + 1), 1009), (b"\xff" * 100, 1002)], ids=["long", "none"]
)
def test_what_is_too_long_or_no_message_ends_its_session(server, message, code):
    forger = Forger(server.address)
    with pytest.raises(ConnectionClosed) as closed:
        forger.send(message)
    assert closed.value.rcvd
    assert closed.value.rcvd.code == code
    assert Forger(server.address).run("masks").elements  # others go on
