"""A client that is no browser: what it makes up costs little, and the page stands as it was."""

import re
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
def log(tmp_path_factory):
    return tmp_path_factory.mktemp("odd values") / "log"


@pytest.fixture(scope="module")
def address(log):
    with serve(log) as server:
        yield server.address


def pictures(answer):
    """What the components are sent, without the count of what was heard."""
    return [
        re.sub(r'"echo":\d+', "", one.bytes.decode()) for one in answer.of_kind("bidi_component")
    ]


@pytest.mark.rotating(3)
@pytest.mark.parametrize("page", ["scores", "cache_memory", "cross_attention"])
@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
def test_a_widget_keeps_its_default(address, log, page, odd):
    """In a session's first run, and when Streamlit knows its widgets."""
    forger = Forger(address)
    fresh = forger.run(page)
    fits = FITS.get(next(iter(odd)), ())  # for such a widget it is a value like another
    asked = {i: odd for i, kind in fresh.widgets.items() if kind not in PLAIN + fits}
    assert len(asked) > 4
    before = log.read_text()
    known, stranger = forger.run(page, values=asked), Forger(address)
    new = stranger.run(page, values=asked)
    for answer in (known, new):
        assert not answer.of_kind("exception")
        assert pictures(answer) == pictures(fresh)
    assert "Traceback" not in log.read_text().removeprefix(before)
    forger.close()
    stranger.close()


@pytest.mark.parametrize(
    ("message", "code"), [(b"x" * (2**20 + 1), 1009), (b"\xff" * 100, 1002)], ids=["long", "none"]
)
def test_what_is_too_long_or_no_message_ends_its_session(address, message, code):
    forger = Forger(address)
    with pytest.raises(ConnectionClosed) as closed:
        forger.send(message)
    assert closed.value.rcvd
    assert closed.value.rcvd.code == code
    assert Forger(address).run("masks").elements  # others go on
