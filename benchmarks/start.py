"""From `streamlit run` to the first page on screen, for our first page and for the bare app.

Every time with a new process and a visitor without a cache; files are warm, because the first
start of each does not count.
"""

import statistics
import time
from pathlib import Path

from playwright.sync_api import Browser

from benchmarks import report
from benchmarks.browser import (
    ROOT,
    bare_options,
    chromium,
    moments,
    server,
    visit,
    wait_until_healthy,
)

MOMENTS = ("server", "title", "picture")


def start(browser: Browser, script: Path, options: Path) -> dict[str, float]:
    """Seconds from the new process to each moment."""
    began = time.time()
    with server(script, options) as address:
        wait_until_healthy(address)
        healthy = time.time() - began
        with visit(browser, f"{address}/?predict=false") as page:
            painted = {name: at / 1000 - began for name, at in moments(page).items()}
    return {"server": healthy, **painted}


def measure(starts: int) -> str:
    """The report's section."""
    minimal = ROOT / "benchmarks" / "minimal_app.py"
    with bare_options() as bare, chromium() as browser:
        apps = {
            "bare app": (minimal, bare),
            "bare app, our server options": (minimal, ROOT),
            "01": (ROOT / "app.py", ROOT),
        }
        taken: dict[str, list[dict[str, float]]] = {name: [] for name in apps}
        for count in range(1 + starts):
            for name, app in apps.items():
                times = start(browser, *app)
                if count:
                    taken[name].append(times)
        version = browser.version
    medians = {
        name: {moment: statistics.median(t[moment] for t in times) for moment in MOMENTS}
        for name, times in taken.items()
    }
    rows = []
    for name, median in medians.items():
        cells = [f"{median[moment]:.2f}" for moment in MOMENTS]
        for reference in list(medians.values())[:2]:
            cells += [f"{median[m] / reference[m]:.2f}" for m in ("title", "picture")]
        rows.append(" | ".join([f" {name}", *cells]) + " ")
    return report.section(
        "Start",
        version,
        f"Seconds from the new process until the server answers, and until the title and the "
        f"picture have been painted: medians of {starts} starts of each in turn. The bare app is "
        f"that of the latencies.",
        " page | server | title | picture | title ÷ bare | picture ÷ bare "
        "| title ÷ bare, our options | picture ÷ bare, our options ",
        rows,
    )


if __name__ == "__main__":
    arguments = report.options(__doc__, 5, "starts")
    report.publish(measure(arguments.starts), arguments.write)
