"""Attention tile by tile on the sentence: asked, drawn, and every number explained."""

from collections.abc import Callable

from explainers import working
from explainers.attention import masks
from explainers.attention.steps import hide, softmax
from explainers.attention.tiled import read_tile, tiled_attention
from explainers.lessons.arithmetic import arithmetic_of
from explainers.lessons.long_sequences.tiles import HELD, ORDER, Tiles
from explainers.lessons.mask_lab import Lab
from explainers.lessons.taken import long_sequences as taken
from explainers.lessons.wording import less_than
from explainers.ui import length_controls
from explainers.ui.clicks import show_clickable
from explainers.ui.language import said, translated
from explainers.ui.panels import Cell, Slider
from explainers.ui.predict import revealed
from explainers.ui.prose import Prose
from explainers.ui.source import show_source
from explainers.working import Working


def show_tiles(text: Prose, lab: Lab, rule: str, asked: tuple[int, int]) -> None:
    """The order in which tiles are read, the only scores that exist, the output as it grows."""
    tiles = Tiles(lab, masks.RULES[rule], asked)
    rows, columns = tiles.blocks
    words, count = len(lab.tokens), len(tiles.steps)
    if rows > asked[0] or columns > asked[1]:
        text("tiles_larger", words=words, rows=rows, columns=columns)
    if not foretold(text, tiles, rule):
        return
    control = length_controls.tile
    place = min(control(), count - 1)
    labels = [said("{count} of {all}", count=n + 1, all=count) for n in range(count)]
    slider = Slider(control.label, labels, place, lambda turned: control.put(turned + 1), True)
    alt = said(
        "The tiles in their order, the scores of the tile at the slider, and the output so far."
    )
    explain = _arithmetic(tiles, place + 1)
    show_clickable(tiles.panels(place + 1), explain, lab.origin, "tiles", alt, slider)
    done = {"output so far": tiles.output(place + 1), "tiled": tiles.output(count)}
    taken.tiles(lab, rule, tiles.blocks, place + 1, done)
    text(
        "tiles_seen",
        difference=less_than(tiles.difference),
        most=rows * columns,
        all=words**2,
        rows=rows,
        columns=columns,
        count=tiles.count,
        read=count,
        skipped=tiles.count - count,
    )
    show_source(tiled_attention, read_tile)


def foretold(text: Prose, tiles: Tiles, rule: str) -> bool:
    """Has the reader said how many tiles are skipped?"""
    count, read = tiles.count, len(tiles.steps)
    rows, columns = tiles.blocks
    return revealed(
        text,
        "tiles",
        ["0", *(f"{count // part}" for part in (4, 3, 2))],
        f"{count - read}",
        words=len(tiles.lab.tokens),
        mask=translated(rule),
        rows=rows,
        columns=columns,
        count=count,
        read=read,
    )


def _arithmetic(tiles: Tiles, read: int) -> Callable[[Cell], Working]:
    lab = tiles.lab
    of_scores = arithmetic_of(lab.one_head)

    def explain(cell: Cell) -> Working:
        i, j, what = cell.row, cell.column, f"{cell.panel}[{cell.row}, {cell.column}]"
        if cell.panel == HELD:
            return of_scores(Cell("scores", i, j))
        if cell.panel == ORDER:
            tile = tiles.order()[i][j]
            line = said("nobody in this tile may look at anybody: it is skipped")
            if tile:
                line = said("tile {number:g}", number=tile)
            return working.given(tile or 0.0, what, line)
        seen = tiles.seen(read)
        if not seen[i].any():
            blank = said("{cell} is blank: this row has read nothing yet.", cell=what)
            return working.given(0.0, what, blank)
        weights = softmax(hide(lab.scores, seen)[i])
        value = tiles.output(read)[i, j].item()
        return working.dot_product(weights.tolist(), lab.views.value[:, j].tolist(), value, what)

    return explain
