"""A number that is chosen from a list of usual ones, or typed."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from explainers.ui.kinds import URL
from explainers.ui.links import Control
from explainers.ui.plain import shortened, verbatim

_DIGITS = re.compile(r"[0-9]{1,18}|[0-9]{1,3}(,[0-9]{3}){1,5}")
"""Python refuses to read the longest numbers, and reads digits of other scripts."""


@dataclass(frozen=True)
class Typed(Control):
    """A whole number from 1 to `largest`; `usual` ones are offered, with their thousands apart."""

    usual: Sequence[int]
    largest: int

    def __call__(self) -> int:
        asked, allowed = self.asked(), f"a whole number from 1 to {self.largest:,}, in digits"
        options = [f"{number:,}" for number in self.usual]
        written = st.selectbox(
            self.label,
            options,
            options.index(self.default),
            key=self.key,
            bind=URL,
            help=self.help,
            accept_new_options=True,
            width=130,
        )
        self.keep(written)
        self.told(asked, written, allowed)
        number = self.read(written or "")
        if number is not None:
            return number
        instead = self.read(self.default) or 1
        st.info(
            f"{self.key} = {verbatim(shortened(written or ''))} cannot be. Allowed is {allowed}; "
            f"this is {instead:,}.",
            icon=":material/edit_off:",
        )
        return instead

    def read(self, written: str) -> int | None:
        """1000 or 1,000, but not 1,0; nothing if it is no such number."""
        if not _DIGITS.fullmatch(written.strip()):
            return None
        number = int(written.replace(",", ""))
        return number if 1 <= number <= self.largest else None
