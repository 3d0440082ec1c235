"""One word after the other: what a step computes, what it reads, and that nothing else is lost."""

from functools import partial

from explainers.attention.cache import append, look_up, project_at, read
from explainers.attention.decoding import recompute, through
from explainers.charts.matrix import Matrix, Values, largest
from explainers.charts.theme import FEATURE_AXIS, KEY_AXIS, TOKEN_AXIS
from explainers.lessons.kv_cache.arithmetic import explain
from explainers.lessons.kv_cache.counters import counters
from explainers.lessons.kv_cache.frames import filled, one_row, padded
from explainers.lessons.kv_cache.reading import HEAD_DIM
from explainers.lessons.kv_cache.written import Written
from explainers.lessons.mask_lab import FEWEST
from explainers.lessons.taken import kv_cache as taken
from explainers.lessons.wording import less_than
from explainers.phrase import phrase
from explainers.ui import controls
from explainers.ui.clicks import show_clickable
from explainers.ui.language import said
from explainers.ui.panels import Panel, Slider
from explainers.ui.plain import verbatim
from explainers.ui.predict import revealed
from explainers.ui.prose import Prose
from explainers.ui.source import show_source


def show_decoding(text: Prose, run: Written) -> None:
    """How many rows a step computes; then every step, under the reader's finger."""
    if len(run.tokens) >= FEWEST and not foretold(text, run):
        return
    text("decoding_seen")
    show_steps(run)
    text("proof", same=f"{max(run.row_by_row):g}", rounding=less_than(max(run.in_one_product)))
    show_source(project_at, append, look_up, read, through, recompute)


def foretold(text: Prose, run: Written) -> bool:
    """Has the reader said how many rows the last word costs?"""
    words, last = len(run.tokens), run.steps[-1].reads[-1]
    options = "1", f"{words}", f"{words * (words + 1) // 2}"
    word, answer = verbatim(run.tokens[-1]), f"{last.query.shape[-2]}"
    return revealed(text, "decoding", options, answer, last=word, before=words - 1)


def show_steps(run: Written) -> None:
    """Both layers, and how often each row was computed, a frame for each word."""
    control, words = controls.words_read, len(run.tokens)
    place = min(control(), words - 1)
    taken.decoding(run, place + 1)
    labels = [counters(run, n) for n in range(words)]
    panels = panels_of(run, place)
    slider = Slider(control.label, labels, place, lambda n: control.put(n + 1), plays=True)
    alt = said("Step by step: one row of Q, the rows of K and V that are kept, and the weights.")
    show_clickable(
        panels, partial(explain, run, panels, place), run.origin, "decoding", alt, slider
    )


def panels_of(run: Written, place: int) -> list[Panel]:
    """Every matrix, with a frame for each word; `place` is the one that is shown at first."""
    panels = [panel for layer in range(len(run.layers)) for panel in _layer(run, layer, place)]
    return [*panels, _made(run, place)]


def _layer(run: Written, layer: int, place: int) -> list[Panel]:
    reads = [step.reads[layer] for step in run.steps]
    alone = [one_row(run, n, done.query[0, 0].tolist()) for n, done in enumerate(reads)]
    keys = [filled(run, done.cache.key[0]) for done in reads]
    values = [filled(run, done.cache.value[0]) for done in reads]
    weights: list[Values] = [[padded(run, done.weights[0, 0])] for done in reads]
    number = layer + 1
    kinds = (
        ("Q", "query", said("computed, used, forgotten"), alone),
        ("K", "key", said("kept"), keys),
        ("V", "value", said("kept"), values),
    )
    columns = [str(n) for n in range(HEAD_DIM)]
    panels = []
    for name, role, formula, frames in kinds:
        limit = max(map(largest, frames))
        matrix = Matrix(
            said("layer {number}: {matrix}", number=number, matrix=name),
            formula,
            frames[place],
            run.tokens,
            columns,
            TOKEN_AXIS,
            FEATURE_AXIS,
            role=role,
            limit=limit,
        )
        heading = said("Layer {number}", number=number) if name == "Q" else ""
        named = f"layer {number}: {name}"
        panels.append(Panel(named, matrix, frames=tuple(frames), heading=heading))
    shares = Matrix(
        said("layer {number}: weights", number=number),
        said("of the new word over all that is kept: they sum to 1"),
        weights[place],
        [said("new word")],
        run.tokens,
        phrase("word"),
        KEY_AXIS,
        kind="weights",
    )
    return [*panels, Panel(f"layer {number}: weights", shares, frames=tuple(weights))]


def _made(run: Written, place: int) -> Panel:
    """With a cache a row is made once; without one, again at every later step."""
    words = len(run.tokens)
    frames: list[Values] = [
        [[1.0, step - row + 1.0] if row <= step else [None, None] for row in range(words)]
        for step in range(words)
    ]
    matrix = Matrix(
        said("times computed"),
        said("each row of K and V, so far"),
        frames[place],
        run.tokens,
        (said("cache"), said("no cache")),
        TOKEN_AXIS,
        said("way"),
        limit=words,
        places=0,
    )
    return Panel(
        "made", matrix, frames=tuple(frames), heading=said("How often each row was computed")
    )
