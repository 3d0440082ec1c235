"""From a slider's key press to the new picture on screen, for our pages and for the bare app.

All servers run and all pages are open at the same time. They take turns, one change each, so that
whatever else the machine does meets all of them alike.
"""

import re
import statistics
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import NamedTuple

from playwright.sync_api import Locator, Page

from benchmarks import report
from benchmarks.browser import (
    ROOT,
    bare_options,
    chromium,
    latency,
    moments,
    server,
    visit,
    wait_until_healthy,
)
from explainers.ui import controls, length_controls

WARM_UP, SPAN = 5, 8
"""Changes that are not counted; steps that a slider walks up before it walks down again."""
BARE, STRICT = "bare app", "bare app, our server options"


class Target(NamedTuple):
    """A slider of a page, and which of the page's pictures count, if not all of them."""

    link: str
    label: str | re.Pattern[str]
    pictures: str | None = None


SHOWN = "predict=false"
D_K, LONGEST, MERGES = (c.label for c in (controls.head_dim, controls.longest, controls.merges))
# Its name goes on with its value; a colon begins the name of the other d_k.
ROOT_D_K = re.compile(f"^{controls.root_head_dim.label}(?!:)")
# A merge may leave the reader's sentence as it was; the list of merges always changes.
TOKENS = "[data-testid=stVegaLiteChart], [data-testid=stCode]"
PAGES = {
    "01 d_k": Target(f"/?{SHOWN}", D_K),
    "02 merges": Target(f"/tokens?{SHOWN}&unit=byte+pairs", MERGES, TOKENS),
    "02 wavelength": Target(f"/tokens?{SHOWN}", LONGEST),
    "03 d_k": Target(f"/query_key_value?{SHOWN}", D_K),
    "04 d_k": Target(f"/scores?{SHOWN}", D_K),
    "04 temperature": Target(f"/scores?{SHOWN}", controls.temperature.label),
    "04 root: rows of weights": Target(f"/scores?{SHOWN}", ROOT_D_K, ".figure"),
    "04 root: all pictures": Target(f"/scores?{SHOWN}", ROOT_D_K),
    "05 window": Target(f"/masks?{SHOWN}", controls.window.label),
    "05 layers": Target(f"/masks?{SHOWN}", controls.layers.label),
    "06 d_k": Target(f"/many_heads?{SHOWN}", D_K),
    "06 dropout": Target(f"/many_heads?{SHOWN}", controls.dropout.label),
    "07 latent": Target(f"/shared_heads?{SHOWN}", controls.latent_dim.label),
    "08 words read": Target(f"/kv_cache?{SHOWN}", controls.words_read.label),
    "07 places": Target(f"/shared_heads?{SHOWN}", controls.shift.label),
    "10 blocks": Target(f"/long_sequences?{SHOWN}&kv_block=1", length_controls.blocks_read.label),
    "10 tiles": Target(f"/long_sequences?{SHOWN}", length_controls.tile.label),
    "10 keys": Target(f"/long_sequences?{SHOWN}", length_controls.cross_kv.label),
}


@dataclass
class Walker:
    """One open page, and the slider that is moved on it, one step at a time."""

    page: Page
    slider: Locator
    pictures: str | None
    times: list[float] = field(default_factory=list)
    up: bool = True

    def __post_init__(self) -> None:
        moments(self.page)
        self.slider.wait_for()
        value, low, high = self._state()
        self.high = min(high, value + SPAN)
        self.low = max(low, self.high - SPAN)

    def step(self) -> float:
        """Milliseconds that one change took."""
        value, _, _ = self._state()
        if not self.low < value < self.high:
            self.up = value <= self.low
        self.page.bring_to_front()
        self.slider.focus()
        return latency(self.page, "ArrowRight" if self.up else "ArrowLeft", self.pictures)

    def _state(self) -> tuple[int, int, int]:
        return self.slider.evaluate("input => [+input.value, +input.min, +input.max]")

    @property
    def p50(self) -> float:
        return statistics.median(self.times)

    @property
    def p95(self) -> float:
        return statistics.quantiles(self.times, n=20, method="inclusive")[-1]

    def row(self, name: str, *references: "Walker") -> str:
        ratios = [f"{self.p50 / r.p50:.2f} | {self.p95 / r.p95:.2f}" for r in references]
        return " | ".join([f" {name}", f"{self.p50:.0f} | {self.p95:.0f}", *ratios]) + " "


def measure(changes: int) -> str:
    """The report's section."""
    minimal = ROOT / "benchmarks" / "minimal_app.py"
    with ExitStack() as stack:
        bare = stack.enter_context(server(minimal, stack.enter_context(bare_options())))
        strict = stack.enter_context(server(minimal, ROOT))
        ours = stack.enter_context(server(ROOT / "app.py", ROOT))
        browser = stack.enter_context(chromium())
        targets = {BARE: (bare, Target("/", "Factor")), STRICT: (strict, Target("/", "Factor"))}
        targets |= {name: (ours, target) for name, target in PAGES.items()}
        walkers = {}
        for name, (address, target) in targets.items():
            wait_until_healthy(address)
            page = stack.enter_context(visit(browser, address + target.link))
            slider = page.get_by_role("slider", name=target.label).first
            walkers[name] = Walker(page, slider, target.pictures)
        for change in range(WARM_UP + changes):
            for walker in walkers.values():
                took = walker.step()
                if change >= WARM_UP:
                    walker.times.append(took)
        references = walkers[BARE], walkers[STRICT]
        return report.section(
            "Latency",
            browser.version,
            f"Milliseconds from the key press on a slider to the frame after the last change of "
            f"a picture, {changes} changes of each page in turn after {WARM_UP} that do not count. "
            f"A slider walks {SPAN} steps up and down. The bare app has one slider and one Altair "
            f"heat map of 7 × 7, without torch, and Streamlit's own defaults; the second reference "
            f"is the same app with our server options (no garbage collection after a rerun).",
            " page, slider | p50 | p95 | p50 ÷ bare | p95 ÷ bare "
            "| p50 ÷ bare, our options | p95 ÷ bare, our options ",
            [walker.row(name, *references) for name, walker in walkers.items()],
        )


if __name__ == "__main__":
    arguments = report.options(__doc__, 40, "changes")
    report.publish(measure(arguments.changes), arguments.write)
