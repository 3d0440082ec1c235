"""A link for an audience: as a QR code, and short enough to be typed."""

import hashlib
import threading
from base64 import b32encode
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit, urlunsplit

import streamlit as st

from explainers.folders import PAGES
from explainers.translations import _
from explainers.ui.session import UNKNOWN_SHORT_LINK, visitor
from explainers.ui.untrusted_text import shorten, verbatim

MOST_LINKS, LONGEST_LINK, SHORTEST_CODE = 1000, 2000, 6
"""Links that are kept, letters of one, and letters of its short form."""


class Link(NamedTuple):
    """A page's place in the address, and its choices as they stand there."""

    place: str
    query: str


class ShortLinks:
    """The last `MOST_LINKS` links that somebody wanted shorter."""

    def __init__(self) -> None:
        self._links: dict[str, Link] = {}
        self._lock = threading.Lock()

    def keep(self, link: Link) -> str:
        """The code of a link, always the same one; "" for one that is too long to be kept."""
        if len(link.query) > LONGEST_LINK:
            return ""
        digest = hashlib.sha256("?".join(link).encode()).digest()
        letters = b32encode(digest).decode().lower().strip("=")
        with self._lock:
            sizes = range(SHORTEST_CODE, len(letters) + 1)
            # Two links may begin alike, also because somebody tried until they did.
            code = next(c for n in sizes if self._links.get(c := letters[:n], link) == link)
            self._links.pop(code, None)
            self._links[code] = link  # the last one
            if len(self._links) > MOST_LINKS:
                del self._links[next(iter(self._links))]
        return code

    def find(self, code: str) -> Link | None:
        """The link that the code stands for, if it is still kept."""
        with self._lock:
            return self._links.get(code)


@st.cache_resource(show_spinner=False)
def get_short_links() -> ShortLinks:
    """The short links of this server, which all of its visitors share."""
    return ShortLinks()


LONGEST_CODE_TEXT = 400
"""Letters: a code of more has squares that a phone at the back of a room cannot tell apart."""
RIM_WIDTH = 4
SHORT_LINK_KEY = "go"
EMBEDDING_OPTIONS = "embed", "embed_options"
"""How the page that was shared stands in another one; Streamlit lets nobody else say so."""
LOCAL_HOSTS = "localhost", "127.0.0.1", "::1", "0.0.0.0"  # noqa: S104 - only compared


def follow_short_link() -> None:
    """Open the page that a short link stands for, before anything is drawn; or tell that none is.

    What else the link says holds on.
    """
    code = st.query_params.pop(SHORT_LINK_KEY, None)
    link = get_short_links().find(code) if code else None
    if link:
        asked = parse_qs(link.query, keep_blank_values=True)
        choices = {name: asked[name] for name in asked if name.lower() not in EMBEDDING_OPTIONS}
        places = list_places()
        st.switch_page(places.get(link.place, places[""]), query_params=choices)
    if code is not None:
        st.session_state[UNKNOWN_SHORT_LINK] = visitor().visit, code
    visit, unknown = st.session_state.get(UNKNOWN_SHORT_LINK, (None, ""))
    if unknown and visit == visitor().visit:
        notice = _(
            "The short link {code} is not known here: it was never made, or this server has been "
            "started again since. Ask for the full link.",
            code=verbatim(shorten(unknown)),
        )
        st.info(notice, icon=":material/link_off:")


def list_places() -> dict[str, str]:
    """Where each page is in the address, and its file; the first one is at none."""
    first, *others = sorted(PAGES.glob("*.py"))
    places = {"": first, **{path.stem.partition("_")[2]: path for path in others}}
    return {place: f"{PAGES.name}/{path.name}" for place, path in places.items()}


def share_address(browser_address: str, place: str) -> dict[str, Any]:
    """The code, the link to type and notes for the browser's address of the page at `place`."""
    address = urlsplit(browser_address)
    root = address.path.removesuffix(place)
    code = get_short_links().keep(Link(place, address.query))
    short = urlunsplit((address.scheme, address.netloc, root, f"go={code}", "")) if code else ""
    full = urlunsplit((address.scheme, address.netloc, address.path, address.query, ""))
    notes = [note_local_host(address.hostname)] if address.hostname in LOCAL_HOSTS else []
    # The full link also works when this server has been started again.
    link = full if len(full) <= LONGEST_CODE_TEXT else short
    if not link:
        notes.append(_("This link is too long for a code: send it instead."))
    path, side = draw_code(link) if link else ("", 0)
    return {
        "asked": browser_address,
        "side": side,
        "path": path,
        "links": [short or full],
        "notes": notes,
    }


def note_local_host(host: str) -> str:
    """Why an audience cannot open a link to this host."""
    return _(
        "Others cannot open this address: {host} is their own computer. Start the server "
        "with --server.address 0.0.0.0 and open this page by your computer's name or "
        "number in the network; then this link is for everybody there.",
        host=host,
    )


def draw_code(link: str) -> tuple[str, int]:
    """The code's dark squares as a path, and its side with the rim."""
    import segno  # only a lecture shares, and it takes 40 ms

    code = segno.make(link, error="m", micro=False, boost_error=False)
    rows = [
        f"M{column + RIM_WIDTH} {row + RIM_WIDTH}h1v1h-1z"
        for row, line in enumerate(code.matrix)
        for column, is_dark in enumerate(line)
        if is_dark
    ]
    return "".join(rows), len(code.matrix) + 2 * RIM_WIDTH
