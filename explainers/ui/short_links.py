"""Short links: `?go=…` stands for a page with all its choices, while this server runs."""

import hashlib
import threading
from base64 import b32encode
from collections import OrderedDict
from typing import NamedTuple

import streamlit as st

MOST, LONGEST, SHORTEST = 1000, 2000, 6
"""Links that are kept, letters of one, and letters of its short form."""


class Link(NamedTuple):
    """A page's place in the address, and its choices as they stand there."""

    place: str
    query: str


class ShortLinks:
    """The last `MOST` links that somebody wanted shorter."""

    def __init__(self) -> None:
        self._links: OrderedDict[str, Link] = OrderedDict()
        self._lock = threading.Lock()

    def keep(self, link: Link) -> str:
        """The code of a link, always the same one; "" for one that is too long to be kept."""
        if len(link.query) > LONGEST:
            return ""
        digest = hashlib.sha256("?".join(link).encode()).digest()
        letters = b32encode(digest).decode().lower().strip("=")
        with self._lock:
            sizes = range(SHORTEST, len(letters) + 1)
            # Two links may begin alike, also because somebody tried until they did.
            code = next(c for n in sizes if self._links.get(c := letters[:n], link) == link)
            self._links[code] = link
            self._links.move_to_end(code)
            while len(self._links) > MOST:
                self._links.popitem(last=False)
        return code

    def find(self, code: str) -> Link | None:
        """The link that the code stands for, if it is still kept."""
        with self._lock:
            return self._links.get(code)


@st.cache_resource(show_spinner=False)
def short_links() -> ShortLinks:
    """Those of this server, for all of its visitors."""
    return ShortLinks()
