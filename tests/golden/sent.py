"""What a visitor's browser was sent, as plain values: every element, and what can be taken away."""

import inspect
import io
import json
import math
import re
import zlib
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Iterator
from typing import Any

from PIL import Image
from streamlit.dataframe_util import convert_arrow_bytes_to_pandas_df
from streamlit.testing.v1 import AppTest

from explainers.takeaway.modules import paste
from explainers.takeaway.recipe import Recipe
from explainers.ui.session import TAKEAWAY
from tests.support.opening import elements, read_data

DIGITS = 5
"""Of a number: more than any picture prints, fewer than processors agree in."""
OF_ONE_PROCESS = {
    "id", "form_id", "element_id", "proto_id", "hash", "url", "fragment_id", "src",
    "deferred_file_id", "set_value", "raw_value",
}  # fmt: skip
"""Fields in which Streamlit names what it sends, in each process by other names, and in which it
says in which of a page's first runs a widget got its value, and which."""
TYPED = {"text_input", "text_area"}
"""Whose value is sent only when the server has put it there: what was typed, the browser knows."""
PACKED = re.compile(r"(?:data:image/png;base64,)?[A-Za-z0-9+/]{80,}={0,2}")
OF_THE_CODE = re.compile(r"(?<=[a-z])-[0-9a-f]{12}(?=\.)")
"""In the names of files that a browser keeps: a digest of what is in them."""
PASTED: set[tuple[Any, ...]] = set()
"""Functions of files that could be written."""
FOLLOWERS = "follow-follow"
"""The component that has followers go where a lecture goes."""
DIGEST = "digest"
"""By which the browser knows a picture again: of all digits, also those that rounding changes."""


def read_sent(visit: AppTest, has_file: bool = True) -> Iterator[tuple[str, Any]]:
    """(what it is, plain value) of each element, in reading order; then the parts of a file."""
    for part in ("sidebar", "main"):
        for element in elements(getattr(visit, part)):
            if getattr(element, "proto", None) is not None:
                yield f"{part} {element.type}", _read_element(element)
    if has_file and TAKEAWAY in visit.session_state:
        for part, recipes in visit.session_state[TAKEAWAY].parts.items():
            for made in recipes:
                recipe = made() if callable(made) else made
                _check_recipe(recipe)
                numbers = {name: simplify(value) for name, value in recipe.shown.items()}
                yield f"file {part}", {"title": recipe.title, "shown": numbers}


def _check_recipe(recipe: Recipe) -> None:
    """Its function takes what it is given, and can be written into a file that needs nothing."""
    inspect.signature(recipe.function).bind(**recipe.inputs)
    if tuple(recipe.functions) not in PASTED:
        paste(recipe.functions, recipe.given(), recipe.libraries)
        PASTED.add(tuple(recipe.functions))


def _read_element(element: Any) -> Any:
    proto = element.proto
    if element.type == "bidi_component":
        data = simplify(read_data(element))
        if proto.component_name.endswith(FOLLOWERS):
            del data["places"]  # those of all pages: a new one would change every page's
        return {"component": simplify(proto.component_name), "data": data}
    left_out = OF_ONE_PROCESS | ({"value"} if element.type in TYPED else set())
    fields = {name.name: value for name, value in proto.ListFields() if name.name not in left_out}
    return {name: _read_field(value) for name, value in fields.items()}


def _read_field(value: Any) -> Any:
    if hasattr(value, "DESCRIPTOR"):
        inner = {field.name: one for field, one in value.ListFields()}
        return {name: _read_field(one) for name, one in inner.items() if name not in OF_ONE_PROCESS}
    if isinstance(value, bytes):
        return _read_table(value)
    if isinstance(value, str) and value[:1] in "{[":
        try:
            return simplify(json.loads(value))  # a chart's specification
        except json.JSONDecodeError:
            return value
    if isinstance(value, str | bool | int | float):
        return simplify(value)
    if hasattr(value, "items"):
        return {str(name): _read_field(one) for name, one in sorted(value.items())}
    return [_read_field(one) for one in value]


def _read_table(table: bytes) -> Any:
    """Columns of numbers and words, as Streamlit sends a table."""
    frame = convert_arrow_bytes_to_pandas_df(table).reset_index()
    return [[str(name), simplify(frame.iloc[:, place])] for place, name in enumerate(frame.columns)]


def simplify(value: Any) -> Any:
    """Plain values: numbers with `DIGITS` digits, and what was packed unpacked."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    match value:
        case {"unit": float(unit), "steps": str(steps)}:
            numbers = memoryview(b64decode(steps)).cast("h")
            return {"unpacked": simplify([None if n == -32768 else n * unit for n in numbers])}
        case dict():
            return {str(key): simplify(one) for key, one in value.items() if key != DIGEST}
        case list() | tuple():
            return [simplify(one) for one in value]
        case str() if PACKED.fullmatch(value):
            return _unpack(value)
        case str():
            return OF_THE_CODE.sub("", value)
        case bool() | int() | None:
            return value
        case float():
            return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else str(value)
        case set() | frozenset():
            raise TypeError(f"a set is sent, in an order of its own in each process: {value}")
    return str(type(value).__name__)


def _unpack(text: str) -> Any:
    """The numbers of what was packed: pixels, planes of bytes that were compressed, or bytes."""
    try:
        data = b64decode(text.rpartition(",")[2], validate=True)
    except NotBase64:
        return text
    if "," in text:
        return {"pixels": list(Image.open(io.BytesIO(data)).convert("RGBA").tobytes())}
    try:
        data = zlib.decompress(data)
    except zlib.error:
        return {"bytes": list(data)}
    low, high = data[: len(data) // 2], data[len(data) // 2 :]
    return {"planes": [one + 256 * other for one, other in zip(low, high, strict=True)]}
