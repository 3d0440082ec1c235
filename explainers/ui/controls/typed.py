"""A number that is chosen from a list of usual ones, or typed."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from explainers.phrase import phrase
from explainers.ui.controls.links import Control
from explainers.ui.controls.worded import URL
from explainers.ui.text.language import said
from explainers.ui.untrusted_text import shortened, verbatim

_DIGITS = re.compile(r"[0-9]{1,18}|[0-9]{1,3}(,[0-9]{3}){1,5}")
"""Python refuses to read the longest numbers, and reads digits of other scripts."""


@dataclass(frozen=True)
class Typed(Control):
    """A whole number from 1 to `largest`; `usual` ones are offered, with their thousands apart."""

    usual: Sequence[int]
    largest: int

    def __call__(self) -> int:
        asked = self.asked()
        allowed = phrase("a whole number from 1 to {largest:,}, in digits", largest=self.largest)
        options = [f"{number:,}" for number in self.usual]
        written = st.selectbox(
            options=options,
            index=options.index(self.default),
            key=self.key,
            bind=URL,
            accept_new_options=True,
            width=130,
            **self.words,
        )
        self.keep(written)
        self.told(asked, written, allowed)
        number = self.read(written or "")
        if number is not None:
            return number
        instead = self.read(self.default) or 1
        notice = said(
            "{name} = {written} cannot be. Allowed is {allowed}; this is {instead:,}.",
            name=self.key,
            written=verbatim(shortened(written or "")),
            allowed=allowed,
            instead=instead,
        )
        st.info(notice, icon=":material/edit_off:")
        return instead

    def read(self, written: str) -> int | None:
        """1000 or 1,000, but not 1,0; nothing if it is no such number."""
        if not _DIGITS.fullmatch(written.strip()):
            return None
        number = int(written.replace(",", ""))
        return number if 1 <= number <= self.largest else None
