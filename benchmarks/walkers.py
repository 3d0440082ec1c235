"""Visitors who change one control of an open page again and again, and how long it took."""

import statistics
from dataclasses import dataclass, field

from playwright.sync_api import Error, Locator, Page

from benchmarks.browser import answer, latency, moments

SPAN = 8
"""Steps that a slider walks up before it walks down again."""


@dataclass
class Walker:
    """One open page, and the control that is changed on it, one step at a time."""

    page: Page
    control: Locator
    pictures: str | None
    times: list[float] = field(default_factory=list, kw_only=True)

    def __post_init__(self) -> None:
        moments(self.page)
        self.control.wait_for()

    def step(self) -> float:
        """Milliseconds that one change took."""
        raise NotImplementedError

    def walk(self, name: str) -> float:
        """One step; an error says which control it was."""
        try:
            return self.step()
        except Error as error:
            error.add_note(f"when this was changed: {name}")
            raise

    @property
    def p50(self) -> float:
        return statistics.median(self.times)

    @property
    def p95(self) -> float:
        return statistics.quantiles(self.times, n=20, method="inclusive")[-1]

    def row(self, name: str, *references: "Walker") -> str:
        ratios = [f"{self.p50 / r.p50:.2f} | {self.p95 / r.p95:.2f}" for r in references]
        return " | ".join([f" {name}", f"{self.p50:.0f} | {self.p95:.0f}", *ratios]) + " "


@dataclass
class Slider(Walker):
    """Walks up and down."""

    up: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        value, low, high = self._state()
        self.high = min(high, value + SPAN)
        self.low = max(low, self.high - SPAN)

    def step(self) -> float:
        value, _, _ = self._state()
        if not self.low < value < self.high:
            self.up = value <= self.low
        self.page.bring_to_front()
        self.control.focus()
        return latency(self.page, "ArrowRight" if self.up else "ArrowLeft", self.pictures)

    def _state(self) -> tuple[int, int, int]:
        return self.control.evaluate("input => [+input.value, +input.min, +input.max]")


@dataclass
class Hand(Walker):
    """Changes a picture that the browser draws by itself, with an arrow key: there and back."""

    scripts: list[float] = field(default_factory=list, kw_only=True)
    """Milliseconds of script in each change."""
    is_back: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        # A slider that stands at its end has only the way back.
        self.is_back = self.control.evaluate("({ value, max }) => Boolean(max) && value === max")

    def step(self) -> float:
        self.page.bring_to_front()
        self.control.focus()
        key = "ArrowLeft" if self.is_back else "ArrowRight"
        took, script = answer(self.page, key, self.pictures)
        self.is_back = not self.is_back
        self.scripts.append(script)
        return took

    def scripts_row(self) -> str:
        """What scripts took in the changes that count, as the row's last columns."""
        counted = self.scripts[-len(self.times) :]
        return f"| {statistics.median(counted):.1f} | {max(counted):.1f} "


@dataclass
class Chooser(Walker):
    """Types each option's name in turn, and takes the last one away where there is none."""

    options: tuple[str, ...] = field(kw_only=True)
    place: int = 0

    def step(self) -> float:
        option = self.options[self.place % len(self.options)]
        self.place += 1
        self.page.bring_to_front()
        self.control.click()
        if option:
            self.control.fill(option)
        return latency(self.page, "Enter" if option else "Backspace", self.pictures)


@dataclass
class Chip(Walker):
    """Goes to the next of a row of buttons and back; `control` is the one that is chosen."""

    is_back: bool = False

    def step(self) -> float:
        self.page.bring_to_front()
        self.control.focus()
        took = latency(self.page, "ArrowLeft" if self.is_back else "ArrowRight", self.pictures)
        self.is_back = not self.is_back
        return took
