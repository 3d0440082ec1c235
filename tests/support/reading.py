"""What a page says and draws, as numbers and text that a test can compare."""

import json
from base64 import b64decode
from collections.abc import Mapping
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest
from torch import Tensor

from explainers.ui.figure.linked_matrices import HIDDEN
from tests.support.opening import components, pictures


def said(visit: AppTest) -> str:
    """All texts of the page, on one line; spaces that do not break are spaces."""
    return " ".join("\n".join(markdown.value for markdown in visit.main.markdown).split())


def find_way_on(visit: AppTest) -> Any:
    """The button below a page that leads to the next one."""
    [found] = [one for one in visit.main.button if one.label.startswith(("Next:", "Done"))]
    return found


def figures(visit: AppTest) -> list[dict[str, Any]]:
    """What is sent for every linked picture."""
    sent = [json.loads(picture)[0] for picture in pictures(visit) if picture.startswith("[")]
    return [data for data in sent if "panels" in data]


def figure(visit: AppTest, first: str) -> dict[str, Any]:
    """What is sent for the linked picture that begins with this panel."""
    [found] = [data for data in figures(visit) if data["panels"][0]["id"] == first]
    return found


def heroes(visit: AppTest) -> list[dict[str, Any]]:
    """What is sent for the pictures at the top of the page: one, or none."""
    sent = [json.loads(picture)[0] for picture in components(visit) if picture.startswith("[{")]
    return [data for data in sent if "looks" in data]


def hero(visit: AppTest) -> dict[str, Any]:
    """What is sent for the page's first picture."""
    [found] = heroes(visit)
    return found


def panels(visit: AppTest, first: str) -> dict[str, Any]:
    """Its panels, by their ids."""
    return {panel["id"]: panel for panel in figure(visit, first)["panels"]}


def sizes(visit: AppTest) -> tuple[int, list[int]]:
    """The d_k that is chosen in the one picture that has a slider for it, and all that may be."""
    [slider] = [data["view_slider"] for data in figures(visit) if data["view_slider"]]
    offered = [int(label) for label in slider["labels"]]
    return offered[slider["index"]], offered


def values(found: Mapping[str, Any], *ids: str) -> list[float]:
    """The numbers of some panels, one after the other; blank is 0. A large one comes packed."""
    sent = [found[name]["values"] for name in ids]
    flat = [unpacked(one) if "steps" in one else [v for line in one for v in line] for one in sent]
    return [v or 0.0 for numbers in flat for v in numbers]


def unpacked(sent: Mapping[str, Any]) -> list[float | None]:
    """The numbers of a large picture, of 16 bits each, the low byte first."""
    steps = memoryview(b64decode(sent["steps"])).cast("h")
    return [None if step == HIDDEN else step * sent["unit"] for step in steps]


def close(numbers: Tensor, within: float = 1e-5) -> Any:
    """What flat numbers should be, but for rounding."""
    return pytest.approx(numbers.flatten().tolist(), abs=within)
