"""Windows stacked in layers: which words can reach which, layer by layer."""

from collections.abc import Sequence
from typing import NamedTuple

from torch import Tensor

from explainers.attention import masks
from explainers.attention.receptive_field import reach, window_reach
from explainers.chapters.common.score_matrix import Lab, write_word_count
from explainers.chapters.masks.side_by_side import Computed
from explainers.charts.matrix import Matrix
from explainers.charts.theme import KEY_AXIS, LAYER_AXIS
from explainers.messages import N_
from explainers.takeaway.recipe import Recipe
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.figure.panels import Figure, Panel, Slider
from explainers.ui.provenance import formula
from explainers.ui.takeaway_files import take
from explainers.ui.untrusted_text import verbatim

NEVER = N_("never")
ASKED = 1
"""The word of the question, from 0: the running sentence's subject."""


def compute_reach_by_layer(width: int, words: int, layers: int) -> Tensor:
    """Which words know of which after one layer of a window, two, … (layers, words, words)."""
    return reach(masks.build(masks.sliding_window(width), words, words), layers)


def compute_reach(width: int, words: int, layers: int, most: int) -> Computed:
    """Which words know of which after some layers, and the way to what the last one knows of."""
    by_layer = compute_reach_by_layer(width, words, most)
    return {"pairs": by_layer[layers - 1].int(), "cone": trace_cone(by_layer, layers).int()}


def trace_cone(by_layer: Tensor, layers: int) -> Tensor:
    """Where what the last word knows of after `layers` has come from, the words in the last row.

    Each row is a layer, the highest first (most + 1, words): below the word itself stands what it
    reaches in one layer, in two, … Layers above hold nothing.
    """
    most, words, _keys = by_layer.shape
    cone = by_layer.new_zeros(most + 1, words)
    cone[most - layers, -1] = True
    cone[most - layers + 1 :] = by_layer[:layers, -1]
    return cone


def count_layers_needed(width: int, far: int) -> str:
    """After how many layers of a window the last of `far + 1` words knows of the first."""
    known = compute_reach_by_layer(width, far + 1, max(far, 1))[:, -1, 0].tolist()
    return str(known.index(True) + 1) if True in known else NEVER


def ask_reach(tokens: Sequence[str], width: int) -> tuple[str, dict[str, str]]:
    """After how many layers the last word can know of an early one, and what the question names."""
    last = len(tokens) - 1
    early = min(ASKED, max(last - 1, 0))
    named = {
        "width": f"{width}",
        "last": verbatim(tokens[last]),
        "early": verbatim(tokens[early]),
        "apart": write_word_count(last - early),
    }
    return count_layers_needed(width, last - early), named


class LayerReach(NamedTuple):
    """Which words know of which after each number of layers, and which number is chosen."""

    width: int
    steps: list[int]
    place: int
    by_layer: Tensor  # (steps, words, words)

    @property
    def origin(self) -> str:
        """The badge of the picture."""
        return formula(_("which words a mask lets through"), self.by_layer.device)


def find_reach(words: int, width: int) -> LayerReach:
    """Windows in as many layers as can be dragged."""
    steps = [int(step) for step in controls.layers.steps]
    by_layer = compute_reach_by_layer(width, words, len(steps))
    return LayerReach(width, steps, controls.layers(), by_layer)


def draw_reach(lab: Lab, found: LayerReach) -> Figure:
    """Of which words the last one can know after the layers of the slider, and on which ways."""
    control, tokens = controls.layers, lab.tokens
    width, steps, place, by_layer = found
    cones = [trace_cone(by_layer, step).int().tolist() for step in steps]
    cone = Matrix(
        _("what “{word}” knows of", word=tokens[-1]),
        _("each dot sees a window of dots one layer below; the words are at the bottom"),
        cones[place],
        [f"{step}" for step in reversed((0, *steps))],
        tokens,
        LAYER_AXIS,
        KEY_AXIS,
        kind="cone",
        decimals=0,
    )
    sums = [f"{n}: {n} × ({width} − 1) + 1 = {window_reach(width, n)}" for n in steps]
    labels = [_("{sum} positions", sum=one) for one in sums]
    slider = Slider(control.label, labels, place, lambda turned: control.put(steps[turned]))
    alt = _("A row of dots for each layer: lines fan out from the last word down to the words.")
    return Figure([Panel("cone", cone, frames=tuple(cones))], alt, slider=slider)


def take_reach(found: LayerReach) -> None:
    """How far windows reach."""
    width, steps, place, by_layer = found
    shown = {"pairs": by_layer[place].int(), "cone": trace_cone(by_layer, steps[place]).int()}
    sizes = {"width": width, "words": by_layer.shape[-1], "layers": steps[place]}
    sizes["most"] = len(by_layer)
    take("reach", Recipe(_("Windows stacked in layers"), compute_reach, sizes, shown))
