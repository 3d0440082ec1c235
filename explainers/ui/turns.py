"""Many come at once: their first pictures are drawn one by one, and all that follows later.

A lecturer turns to another page, and fifty phones ask for it in the same second. Runs side by side
share one interpreter, so all of them would end last. In turns, half of the readers wait half as
long, and nobody waits for what somebody else has not scrolled to.
"""

import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from streamlit.runtime.scriptrunner_utils.script_run_context import get_run_yield_check

LONGEST_TURN = 0.25
"""Seconds after which the others no longer wait for a picture, which goes on beside them."""
LONGEST_WAIT = 3.0
"""Seconds after which the rest of a page no longer gives way."""
LOOK_EVERY = 0.05
"""Seconds after which a run that waits looks whether it was told to stop meanwhile."""


class Turns:
    """Whose first picture is drawn now, and who waits for it; a turn belongs to a thread."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._queue: deque[int] = deque()
        self._begun = 0.0

    def take(self) -> None:
        """Wait until nobody who came before is without a picture, and begin."""
        me = threading.get_ident()
        with self._changed:
            self._leave(me)
            self._queue.append(me)
            if self._queue[0] == me:
                self._begun = time.monotonic()
            try:
                while me in self._queue and self._queue[0] != me:
                    left = self._begun + LONGEST_TURN - time.monotonic()
                    if left > 0:
                        self._look_up(left)
                    else:
                        self._leave(self._queue[0])
            except BaseException:  # the run ends here
                self._leave(me)
                raise

    def give_way(self, held: "Turns") -> None:
        """The first picture is drawn: go on when nobody waits for one any more.

        `held` are the turns of parts of pages. The picture is in such a part, whose turn is given
        back: the next picture is in one as well, and would wait for it.
        """
        me = threading.get_ident()
        if me in self._queue:
            held.end()
        with self._changed:
            if me in self._queue:
                self._leave(me)
                self.wait()

    def wait(self) -> None:
        """Return when nobody waits for a picture, or after a while: what is no page waits here."""
        end = time.monotonic() + LONGEST_WAIT
        with self._changed:
            while self._queue and (left := end - time.monotonic()) > 0:
                self._look_up(left)

    def end(self) -> None:
        """The page is drawn."""
        with self._changed:
            self._leave(threading.get_ident())

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Have a turn for a block; who has one already is not asked to wait again."""
        if threading.get_ident() in self._queue:
            yield
            return
        self.take()
        try:
            yield
        finally:
            self.end()

    def _look_up(self, left: float) -> None:
        """Wait for a change, but not for long: Streamlit ends a run here that is to stop."""
        self._changed.wait(min(left, LOOK_EVERY))
        if check := get_run_yield_check():
            check()

    def _leave(self, one: int) -> None:
        if one not in self._queue:
            return
        is_first = self._queue[0] == one
        self._queue.remove(one)
        if is_first:
            self._begun = time.monotonic()
            self._changed.notify_all()


class Pace:
    """So many a second, and a number of them at once: how long to put off what comes too often."""

    def __init__(self, each_second: float, at_once: int) -> None:
        self._every, self._grace = 1 / each_second, at_once / each_second
        self._due = 0.0

    def count(self, weight: float = 1.0) -> float:
        """Count another one; seconds until it may be served."""
        now = time.monotonic()
        self._due = max(self._due, now) + weight * self._every
        return max(0.0, self._due - self._grace - now)


first_pictures = Turns()
fragments = Turns()
"""Parts of pages that run again because a choice changed: short, and many at once in a class."""
