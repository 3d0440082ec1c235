"""From a key press to the new picture on screen, for our pages and for the bare app.

All servers run and all pages are open at the same time. They take turns, one change each, so that
whatever else the machine does meets all of them alike.
"""

import re
from contextlib import ExitStack
from typing import NamedTuple

from playwright.sync_api import Page

from benchmarks import report
from benchmarks.browser import ROOT, bare_options, chromium, server, visit, wait_until_healthy
from benchmarks.walkers import SPAN, Chooser, Slider, Walker
from explainers.chapters.masks.masks_compared import DRAGGED
from explainers.ui.controls import controls

WARM_UP = 5
"""Changes that are not counted."""
BARE, STRICT = "bare app", "bare app, our server options"


class Target(NamedTuple):
    """A slider of a page, and which of the page's pictures count, if not all of them.

    With `options` it is a list in which they are chosen in turn; "" takes the last one away.
    """

    link: str
    label: str | re.Pattern[str]
    pictures: str | None = None
    options: tuple[str, ...] = ()


SHOWN = "predict=false"
D_K, LONGEST, MERGES = (c.label for c in (controls.head_dim, controls.wave_base, controls.merges))
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
    "05 window": Target(f"/masks?{SHOWN}", DRAGGED.label),
    "05 layers": Target(f"/masks?{SHOWN}", controls.layers.label),
    "06 d_k": Target(f"/many_heads?{SHOWN}", D_K),
    "06 dropout": Target(f"/many_heads?{SHOWN}", controls.dropout.label),
    "07 latent": Target(f"/shared_heads?{SHOWN}", controls.latent_dim.label),
    "08 words read": Target(f"/kv_cache?{SHOWN}", controls.word_count.label),
    "07 places": Target(f"/shared_heads?{SHOWN}", controls.shift.label),
    "09 model": Target(
        f"/cache_memory?{SHOWN}", controls.model.label, options=("gpt-oss-20b", "gemma-3-4b")
    ),
    "09 sixth model": Target(
        f"/cache_memory?{SHOWN}", controls.compared_models.label, options=("gpt-oss-120b", "")
    ),
    "10 blocks": Target(f"/long_sequences?{SHOWN}&kv_block=1", controls.block_count.label),
    "10 tiles": Target(f"/long_sequences?{SHOWN}&tile_mask=full", controls.tile_count.label),
    "10 keys": Target(f"/long_sequences?{SHOWN}", controls.cross_kv.label),
    "11 syllables": Target(f"/cross_attention?{SHOWN}", controls.written_syllables.label),
    "11 word left out": Target(
        f"/cross_attention?{SHOWN}&instead=a+word+less",
        controls.left_out_word.label,
        options=("1: CEO", "2: announced"),
    ),
}


def walker_of(page: Page, target: Target) -> Walker:
    """Whoever changes the control of an open page."""
    if target.options:
        box = page.get_by_role("combobox", name=target.label).first
        return Chooser(page, box, target.pictures, options=target.options)
    slider = page.get_by_role("slider", name=target.label).first
    return Slider(page, slider, target.pictures)


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
            walkers[name] = walker_of(page, target)
        for change in range(WARM_UP + changes):
            for walker in walkers.values():
                took = walker.step()
                if change >= WARM_UP:
                    walker.times.append(took)
        references = walkers[BARE], walkers[STRICT]
        return report.section(
            "Latency",
            browser.version,
            f"Milliseconds from the key press on a slider, or the Enter in a list, to the frame "
            f"after the last change of a picture, {changes} changes of each page in turn after "
            f"{WARM_UP} that do not count. A slider walks {SPAN} steps up and down. The bare app "
            f"has one slider and one Altair heat map of 7 × 7, without torch, and Streamlit's own "
            f"defaults; the second reference is the same app with our server options (no garbage "
            f"collection after a rerun).",
            " page, control | p50 | p95 | p50 ÷ bare | p95 ÷ bare "
            "| p50 ÷ bare, our options | p95 ÷ bare, our options ",
            [walker.row(name, *references) for name, walker in walkers.items()],
        )


if __name__ == "__main__":
    arguments = report.options(__doc__, 40, "changes")
    report.publish(measure(arguments.changes), arguments.write)
