"""Every page comes with its style, in one piece; what is no page comes as it is."""

from pathlib import Path

import pytest
from starlette.responses import HTMLResponse, PlainTextResponse, StreamingResponse
from starlette.testclient import TestClient

from app import app
from explainers.ui import headers
from explainers.ui.headers import StyledPages

STYLE = Path(headers.__file__).with_name("page_style.css").read_text(encoding="utf-8")
PAGE = "<html><head></head><body>ô</body></html>"


@pytest.mark.parametrize(
    ("address", "packed"), [("/", "identity"), ("/masks", "identity"), ("/masks?lang=vi", "gzip")]
)
def test_streamlits_page_has_the_style_at_its_end(address, packed):
    answer = TestClient(app).get(address, headers={"accept-encoding": packed})
    assert answer.text.count(f"<style>{STYLE}</style></body>") == 1
    assert answer.headers.get("content-encoding", "identity") == packed
    assert not {"etag", "last-modified"} & {*answer.headers}, "of a file that has no such style"


@pytest.mark.parametrize(
    ("answer", "is_styled"),
    [
        (HTMLResponse(PAGE), True),
        (StreamingResponse((PAGE[:20], PAGE[20:]), media_type="text/html"), True),
        (PlainTextResponse(PAGE), False),
        (HTMLResponse(PAGE, 404), False),
    ],
)
def test_only_a_page_is_styled_and_all_of_it_arrives(answer, is_styled):
    got = TestClient(StyledPages(answer)).get("/")
    assert got.text == (
        PAGE.replace("</body>", f"<style>{STYLE}</style></body>") if is_styled else PAGE
    )
    assert TestClient(StyledPages(HTMLResponse(PAGE))).head("/").headers["content-length"] == "41"
