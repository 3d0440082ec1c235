"""All heads of one layer on 1,024 tokens, BertViz on 64, and the inspector from a second start.

SmolLM2's weights are computed beforehand; then from the click, or from BertViz' call, to the
picture painted. BertViz and its scripts come from elsewhere: `pip install --no-deps bertviz==1.4.1
ipython`, `npm install d3@5.7.0 jquery@2.1.4 requirejs@2.3.6`, and the folder by `SCRIPTS=`.
"""

import importlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page
from safetensors.torch import save_file
from torch import Tensor

from benchmarks import report, resident
from benchmarks.browser import ROOT, chromium, server, wait_until_healthy
from explainers.chapters.common.recording import cut_text
from explainers.chapters.inspector.long_text import read_shipped_text
from explainers.models.attention_hook import run_model
from explainers.models.load import RealModel, load_model
from explainers.models.registry import WHEEL_MODELS, resolve_folder
from explainers.models.token_text import tokenise_text

LONG, SHORT, LAYERS = 1_024, 64, (0, 1, 18)
PATIENCE = 120_000
FILES = {
    "require.min.js": "requirejs/require.js",
    "d3.min.js": "d3/dist/d3.min.js",
    "jquery.min.js": "jquery/dist/jquery.min.js",
}
PAINTED = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
TILES = """() => [...document.querySelectorAll('[data-testid=stBidiComponentIsolated]')].some(
  (host) => host.shadowRoot?.querySelector('.tiles.panel'))"""
PLAIN = """
import sys, torch, transformers
torch.set_num_threads(1)
tokenizer = transformers.AutoTokenizer.from_pretrained(sys.argv[1])
model = transformers.AutoModelForCausalLM.from_pretrained(sys.argv[1], dtype=torch.float32)
ids = tokenizer("The CEO announced record earnings on Friday", return_tensors="pt").input_ids
with torch.no_grad():
    model(ids)
"""


def weights_of(loaded: RealModel, length: int) -> list[Tensor]:
    """(heads, tokens, tokens) of the measured layers."""
    ids = tokenise_text(loaded, cut_text(loaded, read_shipped_text(), length)[0]).ids
    found = run_model(
        loaded.model, input_ids=ids, record=lambda one: one.layer_index in LAYERS and one.weights
    )
    return [one[0].contiguous() for one in found.layers if one is not False]


def ours(browser: Browser, weights: Tensor) -> tuple[float, float]:
    """Seconds from the click to the painted picture, and megabytes on the way to it."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "weights.safetensors"
        save_file({"weights": weights}, file)
        os.environ["WEIGHTS"] = str(file)
        with server(ROOT / "benchmarks" / "tiles_app.py", ROOT) as address:
            wait_until_healthy(address)
            with browser.new_context(viewport={"width": 1280, "height": 900}) as visitor:
                page, received = visitor.new_page(), list[int]()
                page.on("websocket", lambda s: s.on("framereceived", lambda d: _count(received, d)))
                page.goto(address)
                button = page.get_by_role("button", name="Draw")
                button.wait_for(timeout=PATIENCE)
                page.wait_for_timeout(2_000)  # what the page still fetches is no part of it
                received.clear()
                began = time.perf_counter()
                button.click()
                return _until(page, TILES, began), sum(received) / 1e6


def bertviz(browser: Browser, weights: Tensor, scripts: Path) -> tuple[float, float]:
    """The same for BertViz' head view."""
    view = importlib.import_module("bertviz").head_view
    names = [f"t{place}" for place in range(weights.shape[-1])]
    with browser.new_context(viewport={"width": 1280, "height": 900}) as visitor:
        page = visitor.new_page()
        for asked, file in FILES.items():
            page.route(
                f"**/{asked}", lambda route, _, file=file: route.fulfill(path=scripts / file)
            )
        began = time.perf_counter()
        html = str(view([weights[None]], names, html_action="return").data)
        page.set_content(f"<body>{html}</body>", timeout=PATIENCE)
        taken = _until(page, "() => document.querySelector('svg line')", began)
        return taken, len(html.encode()) / 1e6


def second_start(browser: Browser) -> float:
    """Seconds from a new process to the inspector's first picture, the model being on the disk."""
    began = time.perf_counter()
    with server(ROOT / "app.py", ROOT) as address:
        wait_until_healthy(address)
        with browser.new_context(viewport={"width": 1280, "height": 900}) as visitor:
            page = visitor.new_page()
            page.goto(f"{address}/inspector?predict=false", wait_until="commit")
            return _until(page, TILES, began)


def plain_start() -> float:
    """Seconds of a new process that loads the model by transformers and runs it once."""
    began = time.perf_counter()
    folder = str(resolve_folder(WHEEL_MODELS[0].id))
    subprocess.run([sys.executable, "-c", PLAIN, folder], check=True, capture_output=True)
    return time.perf_counter() - began


def _count(received: list[int], frame: Any) -> None:
    received.append(len(frame))


def _until(page: Page, condition: str, began: float) -> float:
    page.wait_for_function(condition, timeout=PATIENCE)
    page.evaluate(PAINTED)
    return time.perf_counter() - began


def measure(runs: int, scripts: Path | None) -> str:
    """The report's section."""
    loaded = load_model(WHEEL_MODELS[0].id)
    rows, before = [], report.load()
    with chromium() as browser:
        long, short = weights_of(loaded, LONG), weights_of(loaded, SHORT)
        for layer, matrix, small in zip(LAYERS, long, short, strict=True):
            # They take turns, so that whatever else the machine does meets both alike.
            found = [
                (ours(browser, matrix), scripts and bertviz(browser, small, scripts))
                for _ in range(runs)
            ]
            mine, theirs = (list(side) for side in zip(*found, strict=True))
            rows.append(_row(f"ours, layer {layer}", LONG, mine))
            if scripts:
                rows.append(_row(f"BertViz, layer {layer}", SHORT, theirs))
        starts = [(plain_start(), second_start(browser)) for _ in range(runs)]
        version = browser.version
    plain, page = (statistics.median(times) for times in zip(*starts, strict=True))
    remarks = (
        f"SmolLM2-135M-Instruct, {runs} runs each, medians. Weights are computed beforehand. "
        f"From a new process to the inspector's first picture: {page:.1f} s; a new process that "
        f"loads the model by transformers and runs it once: {plain:.1f} s; ratio "
        f"{page / plain:.2f}. Load of the machine before and after: {before:.1f}, "
        f"{report.load():.1f}."
    )
    head = " picture | tokens | s to the picture | MB "
    return report.section("All heads of a layer", version, remarks, head, rows)


def _row(name: str, tokens: int, found: list[tuple[float, float]]) -> str:
    seconds, megabytes = (statistics.median(numbers) for numbers in zip(*found, strict=True))
    return f" {name} | {tokens:,} | {seconds:.2f} | {megabytes:.1f} "


if __name__ == "__main__":
    chosen = report.options(__doc__, 3, "runs")
    given = os.environ.get("SCRIPTS")
    report.publish(resident.measure(chosen.runs), chosen.write)
    report.publish(measure(chosen.runs, Path(given) if given else None), chosen.write)
