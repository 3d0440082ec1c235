"""`look` beside BertViz' head view, on the same model: size of the output, and time to paint it.

SmolLM2 on 64, 256, 1,024 and 4,096 tokens. BertViz and its scripts come from elsewhere: `pip
install --no-deps bertviz==1.4.1 ipython`, `npm install d3@5.7.0 jquery@2.1.4 requirejs@2.3.6`, and
the folder by `SCRIPTS=`. It is given its weights; ours runs the model first, or is given the same.
"""

import importlib
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Browser, Page

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
"""Above so many tokens BertViz is not painted: a line for each weight, millions in a browser."""
PATIENCE = 400_000
FILES = {
    "require.min.js": "requirejs/require.js",
    "d3.min.js": "d3/dist/d3.min.js",
    "jquery.min.js": "jquery/dist/jquery.min.js",
}
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


def take_given(
    loaded: RealModel, length: int, layers: Callable[[int], bool], is_ours: bool
) -> Output:
    """Some layers from weights that were computed beforehand: by us, or in BertViz' head view."""
    ids, tokens = tokenise_text(loaded, cut_text(loaded, read_shipped_text(), length)[0])
    kept = run_model(
        loaded.model, input_ids=ids, record=lambda one: layers(one.layer_index) and one.weights
    ).layers
    weights = [one.contiguous() for one in kept if one is not False]
    view = None if is_ours else importlib.import_module("bertviz").head_view
    began = time.perf_counter()
    if view:
        html = str(view(weights, list(tokens), html_action="return").data)
    else:
        html = look_at_weights(weights, list(tokens))._repr_html_()
    return Output(html, time.perf_counter() - began)


def paint(browser: Browser, html: str, scripts: Path | None) -> float:
    """Seconds from opening a file with it to the painted picture."""
    with (
        tempfile.TemporaryDirectory() as folder,
        browser.new_context(viewport={"width": 1280, "height": 900}) as visitor,
    ):
        file, page = Path(folder) / "page.html", visitor.new_page()
        file.write_text(f"<!doctype html><meta charset=utf-8>{html}", encoding="utf-8")
        for asked, script in FILES.items() if scripts else ():
            path = (scripts or Path()) / script
            page.route(f"**/{asked}", lambda route, _, path=path: route.fulfill(path=path))
        began = time.perf_counter()
        page.goto(file.as_uri(), timeout=PATIENCE)
        _wait(page, is_ours=scripts is None)
        return time.perf_counter() - began


def _wait(page: Page, is_ours: bool) -> None:
    if is_ours:
        page.frame_locator("iframe").locator(".look.painted").wait_for(timeout=PATIENCE)
    else:
        page.wait_for_function("() => document.querySelector('svg line')", timeout=PATIENCE)
    page.evaluate(PAINTED)


def measure(runs: int, scripts: Path | None) -> str:
    """The report's section."""
    loaded, before = load_model(WHEEL_MODELS[0].id), report.load()
    rows = []
    with chromium() as browser:
        for length in LENGTHS:
            made = [ours(loaded, length) for _ in range(runs)]
            painted = [paint(browser, one.html, None) for one in made]
            rows.append(_row("look, all 270 heads", length, made, painted))
            if length == LENGTHS[-1]:
                continue  # of lines for its weights, BertViz would write gigabytes
            kinds = {f"layer {LAYER}, given": lambda layer: layer == LAYER}
            if length == LENGTHS[0]:
                kinds["all layers, given"] = lambda _layer: True
            for name, layers in kinds.items():
                for whose in ("look", "BertViz") if scripts else ("look",):
                    made = [
                        take_given(loaded, length, layers, whose == "look") for _ in range(runs)
                    ]
                    is_painted = whose == "look" or length <= PAINTABLE
                    used = None if whose == "look" else scripts
                    painted = [paint(browser, one.html, used) for one in made if is_painted]
                    rows.append(_row(f"{whose}, {name}", length, made, painted))
        version = browser.version
    remarks = (
        f"SmolLM2-135M-Instruct, {runs} runs each, medians; without the measuring of heads. Made: "
        "look runs the model first, unless both were given the same weights. Painted: from opening "
        "a file to the picture. BertViz draws a line for each weight, look draws maps, and lines "
        f"for one row. Above {PAINTABLE} tokens BertViz was not painted. Above 256, look sends an "
        "overview and one layer in full, or as many of its heads as 20 million weights. Aims: at "
        "256 tokens at most 6.5 MB, painted in 2 s and in a tenth of BertViz' time; 4,096 in 3 s. "
        f"Load of the machine before and after: {before:.1f}, {report.load():.1f}."
    )
    head = " picture | tokens | MB | s to make it | s to paint it "
    return report.section("look beside BertViz", version, remarks, head, rows)


def _row(name: str, tokens: int, made: list[Output], painted: list[float]) -> str:
    size = len(made[0].html.encode()) / 1e6
    seconds = statistics.median(one.seconds for one in made)
    shown = f"{statistics.median(painted):.2f}" if painted else "not tried"
    return f" {name} | {tokens:,} | {size:.1f} | {seconds:.2f} | {shown} "


if __name__ == "__main__":
    chosen = report.options(__doc__, 3, "runs")
    given = os.environ.get("SCRIPTS")
    report.publish(measure(chosen.runs, Path(given) if given else None), chosen.write)
