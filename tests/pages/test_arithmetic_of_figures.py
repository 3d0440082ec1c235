"""The arithmetic below each figure: it comes to the number that was clicked."""

from functools import partial
from random import Random

import pytest

from explainers.chapters.common.score_matrix import Lab
from explainers.chapters.cross_attention.cards import WeightSteps
from explainers.chapters.cross_attention.hero import TranslationView
from explainers.chapters.kv_cache.cards import draw_one_step, explain_one_step
from explainers.chapters.kv_cache.reading import read_text
from explainers.chapters.long_sequences.online_row import Row, explain_cell, make_row_panels
from explainers.chapters.many_heads import Selection, draw_steps
from explainers.toys.layers import Configuration, draw_layer, load_layer
from explainers.toys.sentence import SENTENCE
from explainers.translation.corpus import RUNNING_PAIR
from explainers.translation.translator import load_translator
from explainers.ui.controls.controls import MEAN, PREDICTS, READS
from explainers.ui.figure.panels import Cell
from tests.support.translators import force
from tests.test_arithmetic import prints

TOKENS = tuple(SENTENCE.split())
MOST = 100
"""Numbers of a large figure: another hundred would be asked the same."""
UNTRAINED = draw_layer(TOKENS[:5], 11, 3, 2, "causal", seed=4)


def cached_step():
    run = read_text(TOKENS, 0)
    drawn = draw_one_step(run, 1, 4)
    return drawn, lambda cell: explain_one_step(run, drawn, 1, 4, cell)


def row_in_blocks():
    row = Row.of(Lab(draw_layer(TOKENS, 8, 1, 4, "full", seed=0), queries_down=True), 6, 3)
    return make_row_panels(row, 3), partial(explain_cell, row)


def heads(layer, off):
    one = Selection(layer, 2, off)
    return draw_steps(one), one.explain


def translated(head, rows):
    translation = force(load_translator(), RUNNING_PAIR.source, RUNNING_PAIR.target)
    view = TranslationView(translation, RUNNING_PAIR, queries_down=True)
    steps = WeightSteps(view.select(1, head, rows), 7)
    return steps.draw(), steps.explain


FIGURES = {
    "a step of a cache": cached_step,
    "a row in blocks": row_in_blocks,
    "untrained heads": lambda: heads(UNTRAINED, [2]),
    "trained heads": lambda: heads(load_layer(TOKENS, Configuration(4, 4, 16, "full"), 0), [0, 2]),
    "all heads of a translator": lambda: translated(MEAN, PREDICTS),
    "a head that predicts": lambda: translated("2", PREDICTS),
    "a head that reads": lambda: translated("2", READS),
}


@pytest.mark.parametrize("make", FIGURES.values(), ids=FIGURES)
def test_every_number_has_its_arithmetic(make):
    panels, explain = make()
    cells = [
        (Cell(panel.id, row, column), value)
        for panel in panels
        for row, line in enumerate(panel.matrix.values)
        for column, value in enumerate(line)
    ]
    for cell, value in Random(0).sample(cells, min(len(cells), MOST)):
        working = explain(cell)
        half = 0.51 * 10 ** -len(working.value.partition(".")[2])
        told = float(working.value.replace("−", "-"))
        assert told == pytest.approx(value or 0.0, abs=half), cell
        assert not value or working.value in working.lines[-1], cell
        assert prints(working) == working.value, cell
        if value is None and make is row_in_blocks:
            assert "blank" in working.lines[0], cell
