"""Can this model be changed here? Its heads, or a word on why not."""

from typing import TYPE_CHECKING

import streamlit as st

from explainers.lessons.wording import told
from explainers.models.effect import Shape, shape_of
from explainers.ui.plain import shortened, verbatim

if TYPE_CHECKING:
    from explainers.models.load import Loaded


def shape_or_told(loaded: "Loaded") -> Shape | None:
    """A model that does not say what comes next has nothing to compare."""
    try:
        return _shape(loaded.name, id(loaded), loaded)
    except Exception as error:  # a model from a folder or the hub may raise anything
        st.warning(verbatim(shortened(told(error), 300)), icon=":material/block:")
        return None


@st.cache_data(show_spinner=False, max_entries=12)
def _shape(named: str, which: int, _loaded: "Loaded") -> Shape:
    """Once for a model (`which` of this name)."""
    return shape_of(_loaded)
