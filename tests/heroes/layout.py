"""What can be wrong with a scene: small letters, texts over each other or out of their picture."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from tests.golden.links import HOSTILE
from tests.heroes.scenes import TOLD, measure

SMALLEST = 13
"""Pixels of letters in a picture."""
OF_LONG_SENTENCES = {"masked-head": 11, "shelves-word": 11.8, "tiles-name": 11}
"""Names of rows and columns that shrink with a long sentence, down to this."""
WRAPPED = {"why-invitation"}
"""Texts that the stylesheet breaks into lines."""
MARGIN = 12
"""Pixels beside a picture that are its own: a phone's window has 16."""
TALL = 0.7
"""Of a letter's size: what of a line is ink, from a capital's head to its foot."""
PLACE = re.compile(
    r"translate\((-?[\d.]+)px, (-?[\d.]+)px\) translate\((-?\d+)%?, -50%\)(?P<turned> rotate)?"
)


@dataclass(frozen=True)
class Text:
    """A text of a picture and its box, in pixels."""

    words: str
    names: tuple[str, ...]
    size: float
    left: float
    top: float
    right: float
    bottom: float

    def covers(self, other: "Text") -> bool:
        """Whether ink lies over ink; how bold letters are is only guessed, to some pixels."""
        beside = min(self.right, other.right) - max(self.left, other.left)
        below = min(self.bottom, other.bottom) - max(self.top, other.top)
        return beside > 4 and below > 2


def list_texts(sent: list[tuple[str, Any]]) -> Iterator[Text]:
    """The texts that a scene's stage was told to write in one line, upright and seen."""
    nodes = sent[len(TOLD) :]
    made_of_parts = {place.rpartition(" ")[0] for place, (text, *_) in nodes if text}
    for place, rest in nodes:
        way, _, node = place.rpartition(" ")
        if way != "div.stage" or place in made_of_parts:
            continue
        words, style, *_others = rest
        found = PLACE.match(style.get("transform", ""))
        if not found or found["turned"] or not words.strip() or "font-size" not in style:
            continue
        if float(style.get("opacity", 1)) < 0.2:
            continue
        x, y, size = float(found[1]), float(found[2]), float(style["font-size"][:-2])
        wide = sum(map(measure, words)) * size / 100
        left = x + wide * int(found[3]) / 100
        tall = TALL * size / 2
        yield Text(words, tuple(node.split(".")[1:]), size, left, y - tall, left + wide, y + tall)


def list_faults(sent: list[tuple[str, Any]]) -> Iterator[str]:
    """What is wrong with a scene, in words."""
    told = dict(sent[: len(TOLD)])
    texts = list(list_texts(sent))
    for one in texts:
        least = min((OF_LONG_SENTENCES.get(name, SMALLEST) for name in one.names), default=SMALLEST)
        if one.size < least:
            yield f"“{one.words}” has letters of {one.size} px: {one.names}"
        outside = one.left < -MARGIN or one.right > told["room"] + MARGIN
        outside |= one.top < -MARGIN or one.bottom > told["height"] + MARGIN
        if outside and not WRAPPED & set(one.names):
            yield f"“{one.words}” stands out of its picture: {one}"
    for one, other in combinations(texts, 2):
        if one.covers(other):
            yield f"“{one.words}” lies over “{other.words}”: {one} {other}"
    if not told["says"].strip() or "{{" in told["says"].replace(HOSTILE, ""):
        yield f"its sentence is “{told['says']}”"
