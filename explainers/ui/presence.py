"""Whether a visitor is still there: a tab that was closed wants nothing any more."""

import time

from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

GRACE = 10.0
"""Seconds for which a tab may be away: a phone loses its network for moments."""


class Presence:
    """Called from any thread, says whether the tab that made it is connected, or was just now."""

    def __init__(self) -> None:
        context = get_script_run_ctx(suppress_warning=True)
        self._session = context.session_id if context else ""
        self._seen = time.monotonic()

    def __call__(self) -> bool:
        now = time.monotonic()
        if not runtime.exists() or runtime.get_instance().is_active_session(self._session):
            self._seen = now
        return now - self._seen < GRACE
