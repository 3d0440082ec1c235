"""A chart in the visitor's language: its titles, its legend and the words among its data."""

from functools import partial
from typing import TYPE_CHECKING, Any

from explainers.ui.language import ENGLISH, in_language, language, translated

if TYPE_CHECKING:  # pandas takes most of a second to import
    import pandas as pd

OURS = "series", "kind", "name", "model"
"""Columns whose words are ours, or names; all others may hold the reader's words."""
TITLES, WORDS = ("title", "text", "subtitle"), ("domain", "values")


def rows_in_words(rows: "pd.DataFrame") -> "pd.DataFrame":
    """The data of a chart with its own words said; numbers and tokens stay."""
    if language() == ENGLISH:
        return rows
    said = {name: rows[name].map(_word) for name in OURS if name in rows}
    return rows.assign(**said)


def _word(value: Any) -> Any:
    return translated(value) if isinstance(value, str) else value


def chart_in_words(spec: Any, spoken: str) -> Any:
    """A specification of Vega-Lite with its words said."""
    if spoken == ENGLISH:
        return spec
    if isinstance(spec, list):
        return [chart_in_words(part, spoken) for part in spec]
    if not isinstance(spec, dict):
        return spec
    said = {key: _part(key, part, spoken) for key, part in spec.items()}
    for tip in said.get("tooltip", ()) if isinstance(said.get("tooltip"), list) else ():
        tip.setdefault("title", in_language(spoken, tip.get("field", "")))
    return said


def _part(key: str, part: Any, spoken: str) -> Any:
    say = partial(in_language, spoken)
    if key in TITLES and isinstance(part, str):
        return say(part)
    if key in TITLES + WORDS and isinstance(part, list):
        return [say(word) if isinstance(word, str) else word for word in part]
    return chart_in_words(part, spoken)
