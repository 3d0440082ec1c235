"""From a key press to the new picture on screen, for our pages and for the bare app.

All servers run and all pages are open at the same time. They take turns, one change each, so that
whatever else the machine does meets all of them alike. Motion is off, as for the heroes.
"""

import re
from contextlib import ExitStack
from typing import NamedTuple

from playwright.sync_api import Page

from benchmarks import report
from benchmarks.browser import ROOT, bare_options, chromium, server, visit, wait_until_healthy
from benchmarks.walkers import SPAN, Chip, Chooser, Slider, Walker
from explainers.ui.controls import controls

WARM_UP, RUNS = 5, 3
"""Changes that are not counted; and how often everything is measured."""
BARE, STRICT = "bare app", "bare app, our server options"


class Target(NamedTuple):
    """A slider of a page, and which of the page's pictures count, if not all of them.

    With `options` it is a list in which they are chosen in turn; "" takes the last one away. With
    the role "radiogroup" it is a row of buttons.
    """

    link: str
    label: str | re.Pattern[str]
    pictures: str | None = None
    options: tuple[str, ...] = ()
    role: str = "slider"


# Of the first pages, what stands below the first picture: `heroes` has its controls.
SHOWN = "predict=false"
D_K, LONGEST = controls.head_dim.label, controls.wave_base.label
# Its name goes on with its value; a colon begins the name of the other d_k.
ROOT_D_K = re.compile(f"^{controls.root_head_dim.label}(?!:)")
# The first picture has a slider of that name, in small letters.
TILES = re.compile(f"^{controls.tile_count.label}")
PAGES = {
    "tokens: wavelength": Target(f"/tokens?{SHOWN}&deep=waves", LONGEST),
    "query_key_value: d_k": Target(f"/query_key_value?{SHOWN}&deep=parameters", D_K),
    "scores: d_k": Target(f"/scores?{SHOWN}&deep=steps", D_K),
    "scores: root, rows of weights": Target(f"/scores?{SHOWN}", ROOT_D_K, ".figure"),
    "scores: root, all pictures": Target(f"/scores?{SHOWN}", ROOT_D_K),
    "masks: layers": Target(f"/masks?{SHOWN}&deep=reach", controls.layers.label),
    "shared_heads: latent": Target(f"/shared_heads?{SHOWN}&deep=latent", controls.latent_dim.label),
    # Its charts below do not depend on the model: the first picture does.
    "cache_memory: model": Target(
        f"/cache_memory?{SHOWN}", controls.model.label, ".hero", ("gpt-oss-20b", "gemma-3-4b")
    ),
    "cache_memory: sixth model": Target(
        f"/cache_memory?{SHOWN}", controls.compared_models.label, options=("gpt-oss-120b", "")
    ),
    "long_sequences: blocks": Target(
        f"/long_sequences?{SHOWN}&kv_block=1", controls.block_count.label
    ),
    "long_sequences: tiles": Target(f"/long_sequences?{SHOWN}&tile_mask=full&deep=tiles", TILES),
    # The sentence changes with the picture, when the model has read the text.
    "what_if: change": Target(
        f"/what_if?{SHOWN}", controls.what_if.label, ".hero .says", role="radiogroup"
    ),
}


def walker_of(page: Page, target: Target) -> Walker:
    """Whoever changes the control of an open page."""
    if target.options:
        box = page.get_by_role("combobox", name=target.label).first
        return Chooser(page, box, target.pictures, options=target.options)
    if target.role == "radiogroup":
        row = page.get_by_role("radiogroup", name=target.label)
        return Chip(page, row.locator("[aria-checked=true]"), target.pictures)
    slider = page.get_by_role("slider", name=target.label).first
    return Slider(page, slider, target.pictures)


def walk(changes: int) -> tuple[str, dict[str, Walker]]:
    """The browser's version, and who walked: every page is changed in turn."""
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
            page = stack.enter_context(visit(browser, address + target.link, is_still=True))
            walkers[name] = walker_of(page, target)
        for change in range(WARM_UP + changes):
            for name, walker in walkers.items():
                took = walker.walk(name)
                if change >= WARM_UP:
                    walker.times.append(took)
        return browser.version, walkers


def measure(changes: int) -> str:
    """The report's section: of each control the worst of `RUNS` runs."""
    runs = [walk(changes) for _run in range(RUNS)]
    rows = []
    for name in runs[0][1]:
        worst = max((one for _, one in runs), key=lambda one: one[name].p50 / one[BARE].p50)
        rows.append(worst[name].row(name, worst[BARE], worst[STRICT]))
    return report.section(
        "Latency",
        runs[0][0],
        f"Milliseconds from the key press on a slider, or the Enter in a list, to the frame "
        f"after the last change of a picture, {changes} changes of each page in turn after "
        f"{WARM_UP} that do not count, in {RUNS} runs; of each control the run in which it took "
        f"longest beside the bare app. A slider walks {SPAN} steps up and down. The bare app "
        f"has one slider and one Altair heat map of 7 × 7, without torch, and Streamlit's own "
        f"defaults; the second reference is the same app with our server options (no garbage "
        f"collection after a rerun).",
        " page, control | p50 | p95 | p50 ÷ bare | p95 ÷ bare "
        "| p50 ÷ bare, our options | p95 ÷ bare, our options ",
        rows,
    )


if __name__ == "__main__":
    arguments = report.options(__doc__, 40, "changes")
    report.publish(measure(arguments.changes), arguments.write)
