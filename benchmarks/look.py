"""`look` beside BertViz and CircuitsVis, on the same weights: size, and time to paint.

SmolLM2 on 64, 256, 1,024 and 4,096 tokens. The others come from elsewhere: `pip install --no-deps
bertviz==1.4.1 ipython circuitsvis==1.43.3 importlib_metadata==7.2.1 zipp`; BertViz' scripts by `npm
install d3@5.7.0 jquery@2.1.4 requirejs@2.3.6`, and the folder by `SCRIPTS=`.
"""

import importlib
import importlib.util
import math
import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Browser, TimeoutError

from benchmarks import report
from benchmarks.browser import chromium
from explainers.chapters.common.recording import cut_text
from explainers.models.attention_hook import run_model
from explainers.models.load import RealModel, load_model
from explainers.models.registry import WHEEL_MODELS
from explainers.models.token_text import tokenise_text
from explainers.notebook.look import look_at_weights, make_look
from explainers.translations import TEXTS

LENGTHS, LAYER, PAINTABLE = (64, 256, 1_024, 4_096), 18, 256
"""Above so many tokens the others are not painted: they draw each weight, millions in a browser."""
PATIENCE = 200
"""Seconds to wait for a picture, here and in the report."""
FILES = {
    "require.min.js": "requirejs/require.js",
    "d3.min.js": "d3/dist/d3.min.js",
    "jquery.min.js": "jquery/dist/jquery.min.js",
}
RIVALS = {
    "BertViz": "() => document.querySelector('svg line')",
    "CircuitsVis": """() => {
        const last = [...document.querySelectorAll("canvas")].at(-1);
        return last?.getContext("2d").getImageData(0, 0, last.width, last.height).data.some(Boolean)
    }""",
}
"""When their pictures are there: a first line, a last map with something on it."""
PAINTED = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


def read_shipped_text() -> str:
    """More than 4,096 tokens of prose, some of it again and again."""
    texts = [(TEXTS / name).read_text(encoding="utf-8") for name in ("passages.txt", "corpus.txt")]
    return " ".join(" ".join(texts * 4).split())


class Output(NamedTuple):
    """What a notebook would be given, and how long making it took."""

    html: str
    seconds: float


def ours(loaded: RealModel, length: int) -> Output:
    """Every head of every layer, the model's run included; heads are not measured."""
    text = cut_text(loaded, read_shipped_text(), length)[0]
    began = time.perf_counter()
    html = make_look(loaded.model, loaded.tokenizer, text, names=False)._repr_html_()
    return Output(html, time.perf_counter() - began)


def take_given(loaded: RealModel, length: int, whose: list[str]) -> dict[str, Output]:
    """A layer's weights that were computed beforehand: by us, and as others show them."""
    ids, tokens = tokenise_text(loaded, cut_text(loaded, read_shipped_text(), length)[0])
    kept = run_model(
        loaded.model, input_ids=ids, record=lambda one: one.layer_index == LAYER and one.weights
    ).layers
    [weights] = [one.contiguous() for one in kept if one is not False]
    drawn = {}
    for name in whose:
        package = importlib.import_module(name.lower()) if name in RIVALS else None
        began = time.perf_counter()
        if name == "BertViz":
            view = package.head_view([weights], list(tokens), html_action="return")  # type: ignore[union-attr]
            html = str(view.data)
        elif name == "CircuitsVis":
            heads = importlib.import_module("circuitsvis.attention").attention_heads
            html = heads(weights[0], list(tokens)).local_src
        else:
            html = look_at_weights([weights], list(tokens))._repr_html_()
        drawn[name] = Output(html, time.perf_counter() - began)
    return drawn


def paint(browser: Browser, whose: str, html: str, scripts: Path) -> float:
    """Seconds from opening a file with it to the painted picture; infinity if it takes too long."""
    with (
        tempfile.TemporaryDirectory() as folder,
        browser.new_context(viewport={"width": 1280, "height": 900}) as visitor,
    ):
        file, page = Path(folder) / "page.html", visitor.new_page()
        file.write_text(f"<!doctype html><meta charset=utf-8>{html}", encoding="utf-8")
        for asked, script in FILES.items():
            path = scripts / script
            page.route(f"**/{asked}", lambda route, _, path=path: route.fulfill(path=path))
        began = time.perf_counter()
        page.set_default_timeout(1000 * PATIENCE)
        try:
            page.goto(file.as_uri())
            if whose in RIVALS:
                page.wait_for_function(RIVALS[whose])
            else:
                page.frame_locator("iframe").locator(".look.painted").wait_for()
            page.evaluate(PAINTED)
        except TimeoutError:
            return math.inf
        return time.perf_counter() - began


def measure(runs: int, scripts: Path) -> str:
    """The report's section."""
    loaded, before = load_model(WHEEL_MODELS[0].id), report.load()
    found = [name for name in RIVALS if importlib.util.find_spec(name.lower())]
    rows = []
    with chromium() as browser:
        for length in LENGTHS:
            made = {("look", "all 270 heads"): ours(loaded, length)}
            if length < LENGTHS[-1]:
                drawn = take_given(loaded, length, ["look", *found])
                made |= {(name, f"layer {LAYER}, given"): one for name, one in drawn.items()}
            painted: dict[tuple[str, str], list[float]] = {what: [] for what in made}
            for _ in range(runs):  # in turn: what else the machine does meets all of them
                for what, one in made.items():
                    is_hopeless = what[0] in RIVALS and length > PAINTABLE
                    if not is_hopeless and math.inf not in painted[what]:
                        painted[what].append(paint(browser, what[0], one.html, scripts))
            rows += [_row(", ".join(what), length, made[what], painted[what]) for what in made]
        version = browser.version
    remarks = (
        "SmolLM2-135M-Instruct, heads not measured. Made once: all 270 heads with the model's run, "
        "else of the same weights. Painted: from opening a file to the picture, "
        f"medians of {runs}, all in turn, waited for {PATIENCE} s. BertViz draws a line for each "
        "weight, CircuitsVis a rectangle, look maps, and lines for one row. Above "
        f"{PAINTABLE} tokens the others were not painted, and at 4,096 not made: BertViz would "
        "write gigabytes. Above 256, look sends an overview and one layer in full, or as many of "
        "its heads as 20 million weights. Aims: at 256 tokens at most 6.5 MB, painted in 2 s and "
        "in a tenth of BertViz' time; 4,096 in 3 s. "
        f"Load of the machine before and after: {before:.1f}, {report.load():.1f}."
    )
    head = " picture | tokens | MB | s to make it | s to paint it "
    return report.section("look beside BertViz", version, remarks, head, rows)


def _row(name: str, tokens: int, made: Output, painted: list[float]) -> str:
    shown = f"{statistics.median(painted):.2f}" if painted else "not tried"
    shown = f"over {PATIENCE}" if math.inf in painted else shown
    size = len(made.html.encode()) / 1e6
    return f" {name} | {tokens:,} | {size:.1f} | {made.seconds:.2f} | {shown} "


if __name__ == "__main__":
    chosen = report.options(__doc__, 3, "runs")
    report.publish(measure(chosen.runs, Path(os.environ.get("SCRIPTS", "."))), chosen.write)
