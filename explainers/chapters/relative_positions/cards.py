"""The cards: all words moved, ALiBi's penalties, and what happens past the trained length."""

import math
from fractions import Fraction
from random import Random

import torch
from torch import Tensor

from explainers.attention import masks
from explainers.attention.position_bias import alibi_bias, alibi_slopes, biased_attention
from explainers.attention.rotary import angles
from explainers.attention.stretching import (
    find_slowed_share,
    interpolate,
    interpolate_slow_pairs,
    raise_base,
    sharpen,
)
from explainers.chapters.common.score_matrix import choose_pair, keep_allowed
from explainers.chapters.relative_positions import compute, hero
from explainers.chapters.relative_positions.compute import RotaryHead
from explainers.charts.matrix import Matrix, make_pair_matrix
from explainers.charts.theme import HEAD_AXIS, KEY_AXIS, QUERY_AXIS
from explainers.messages import N_
from explainers.toys import examples
from explainers.toys.layers import Tokens
from explainers.toys.rotary_layers import (
    FURTHER,
    LENGTHS,
    NOWHERE,
    NTK,
    PAIRS,
    PI,
    PLAIN,
    ROTARY,
    SEEDS,
    TRAINED,
    WAYS,
    YARN,
    find_speeds,
    read_longer_results,
)
from explainers.toys.sentence import SENTENCE
from explainers.translations import _
from explainers.ui import page
from explainers.ui.controls import controls
from explainers.ui.figure.chart import show_chart
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Figure, Panel, orient_panels
from explainers.ui.page import Prose
from explainers.ui.page_parts.check_yourself import Recall
from explainers.ui.prediction import revealed
from explainers.ui.provenance import formula, random_weights
from explainers.ui.source import show_source
from explainers.ui.takeaway_files import hand_over, run_and_hand_over
from explainers.ui.text.numbers import bound_rounding, write_decimals

LONGEST_TEXT = LENGTHS[-1]
FACTOR = LONGEST_TEXT / TRAINED
PER_ROW = 8
NAMES = {
    PLAIN: N_("RoPE as trained"),
    PI: N_("position interpolation"),
    NTK: N_("NTK-aware"),
    YARN: N_("YaRN"),
}
ARC, BEFORE = N_("angles in training"), N_("at the trained length")
KNOWN, NEW = N_("at the end of the longer text"), N_("at its end: a new angle")


def ask_scores(text: Prose, head: RotaryHead, shift: int) -> None:
    """What moving all words does to every score, asked first and then drawn."""
    far = compute.SHIFTS[-1]
    shown = shift or far
    shifts = (*sorted({*compute.SHIFTS, shown}),)
    rotary, added = compute.shift_words(head, shifts)
    answers, answer = compute.ANSWERS, compute.find_answer(added)
    if not revealed(text, "rotary", answers, answer, shift=far, pairs=len(head.tokens) ** 2):
        return
    largest = [(each - each[0]).abs().max().item() for each in (rotary, added)]
    changes = {"rotary": bound_rounding(largest[0]), "added": f"{largest[1]:.2f}"}
    text("side_by_side", shift=shown, far=far, **changes)
    figure = draw_all_pairs(head, rotary, added, shifts.index(shown))
    show_figure(figure, hero.name_origin(head), "rotary")
    inputs = {"head": head, "shift": shown}
    hand_over("turning", _("All words moved along"), compute.compute_moved_text, **inputs)


def draw_all_pairs(head: RotaryHead, rotary: Tensor, added: Tensor, place: int) -> Figure:
    """The scores of all words after one shift, and what it changed, rotated and added."""
    limit = max(rotary.abs().max().item(), added.abs().max().item())
    since = _("new − old, since all words moved")
    rotated, summed = _("q · k ÷ √d_k, both rotated"), _("q · k ÷ √d_k, from x + positions")
    turning = _("RoPE rotates queries and keys")
    adding = _("Positions added to x, as on the page Tokens and positions")
    shown = {
        N_("scores with RoPE"): (rotary[place], rotated, turning),
        N_("change with RoPE"): (rotary[place] - rotary[0], since, ""),
        N_("scores with added positions"): (added[place], summed, adding),
        N_("change with added positions"): (added[place] - added[0], since, ""),
    }
    axes = head.tokens, head.tokens, QUERY_AXIS, KEY_AXIS
    panels = [
        Panel(name, Matrix(_(name), formula, numbers.tolist(), *axes, limit=limit), heading=heading)
        for name, (numbers, formula, heading) in shown.items()
    ]
    alt = _("The scores of all words with RoPE and with added positions, and how they changed.")
    return Figure(orient_panels(panels, page.has_queries_down()), alt)


def show_alibi(text: Prose, tokens: Tokens) -> None:
    """What ALiBi takes off a score: by head and distance, and from one head's weights."""
    text("alibi")
    seed = page.read_seed()
    shown = run_and_hand_over("alibi", "ALiBi", compute.compute_alibi, tokens=tokens, seed=seed)
    slope = shown["slopes"]
    slopes = [str(Fraction(one)) for one in slope.tolist()]  # powers of two: exact
    distances = torch.arange(len(tokens), device=slope.device)
    penalties = Matrix(
        _("penalty"),
        _("− slope · distance, added to the score"),
        (-slope[:, None] * distances).tolist(),
        [f"{head}: {one}" for head, one in enumerate(slopes)],
        [str(n) for n in distances.tolist()],
        HEAD_AXIS,
        _("distance"),
    )
    mask = masks.build(masks.causal, len(tokens), len(tokens))
    said = {"without": "", "with ALiBi": _("slope {slope}", slope=slopes[0])}
    titles = _("without, head {head}", head=0), _("with ALiBi, head {head}", head=0)
    weights = []
    for (name, remark), title in zip(said.items(), titles, strict=True):
        first = f"{name}, head 0"
        allowed = keep_allowed(shown[first], mask)
        matrix = make_pair_matrix(title, remark, allowed, tokens, "weights")
        weights.append(Panel(first, matrix, small=True))
    panels = [Panel("penalty", penalties), *orient_panels(weights, page.has_queries_down())]
    alt = _("What each head takes off for distance, and the first head's weights without and with.")
    show_figure(Figure(panels, alt), random_weights(seed, slope.device), "alibi")
    text("alibi_slopes", heads=len(slopes), slopes=", ".join(slopes))
    show_source(alibi_slopes, alibi_bias, biased_attention)


def compute_turns(way: str) -> dict[str, Tensor]:
    """How far each pair turns from one position to the next, and until two positions.

    In radians, each (pairs,), slowed down in one of the ways, so that the longer text fits.
    """
    speed = find_speeds(ROTARY, way, FACTOR)
    at = {"until the trained length": speed * TRAINED, "until the end": speed * LONGEST_TEXT}
    return {"from one position to the next": speed, **at}


def find_new_angles(way: str) -> list[bool]:
    """Is a pair's angle at the end outside of what training had? A full turn has all."""
    _speed, _trained, asked = compute_turns(way).values()
    seen = compute_turns(PLAIN)["until the trained length"]
    bounds = zip(asked.tolist(), seen.tolist(), strict=True)
    return [most < math.tau and end > most * (1 + 1e-5) for end, most in bounds]


def show_past_length(text: Prose) -> None:
    """Where the pairs of a head are past the trained length, also if they are slowed down."""
    control = controls.pair_speeds
    way = dict(zip(control.options, WAYS, strict=True))[control()]
    is_new = find_new_angles(way)
    named = {
        "trained": f"{TRAINED}",
        "length": f"{LONGEST_TEXT}",
        "pairs": f"{PAIRS}",
        "way": _(NAMES[way]),
        "new": f"{sum(is_new)}",
        "sharper": write_decimals(sharpen(FACTOR)),
    }
    text("past_length", **named)
    show_dials(way, is_new, named)
    hand_over("turns", _("Pairs past the trained length"), compute_turns, way=way)
    text("past_length_seen", **named)
    found = read_longer_results()
    losses = {each: found[ROTARY, each, 0].average(LONGEST_TEXT)[0] for each in WAYS}
    losses["pi_further"] = found[ROTARY, PI, FURTHER].average(LONGEST_TEXT)[0]
    losses["nowhere"] = found[NOWHERE, PLAIN, 0].average(TRAINED)[0]
    written = {name: write_decimals(loss) for name, loss in losses.items()}
    text("losses", **named, **written, further=f"{FURTHER}", seeds=f"{len(SEEDS)}")
    show_source(interpolate, raise_base, find_slowed_share, interpolate_slow_pairs, sharpen)


def show_dials(way: str, is_new: list[bool], named: dict[str, str]) -> None:
    """A dial for each pair: all that training had, and where both lengths end."""
    from explainers.charts.curves import draw_dials_in_rows, make_dial_rows

    speed, before, end = (each.tolist() for each in compute_turns(way).values())
    seen = compute_turns(PLAIN)["until the trained length"].tolist()
    dials = []
    for n, is_beyond in enumerate(is_new):
        degrees = math.degrees(speed[n])
        written = write_decimals(degrees, 1 if degrees >= 1 else 2)
        turns = {ARC: seen[n], BEFORE: before[n], NEW if is_beyond else KNOWN: end[n]}
        dials.append((f"{written}°" if degrees >= 0.005 else "≈ 0°", turns))
    series = ARC, BEFORE, KNOWN, NEW
    alt = _(
        "{pairs} dials, {way}: at position {length}, {new} have an angle that training never had.",
        pairs=named["pairs"],
        way=named["way"],
        length=named["length"],
        new=named["new"],
    )
    table = make_dial_rows(dials, PER_ROW, series)
    shape = {"columns": PER_ROW, "lines": PAIRS // PER_ROW, "series": series}
    origin = formula(_("positions times speed"), torch.device("cpu"))
    show_chart(draw_dials_in_rows, table, alt, "past length", origin, **shape)


def recall_far_score(draw: Random) -> Recall:
    """One score at the beginning of a text, and the same two words much further on."""
    start, far = draw.randint(0, 9), 100 * draw.randint(1, 9)
    words = tuple(SENTENCE.split())
    head = compute.draw_rotary_head(words, draw.randint(0, 99))
    rotary, _added = compute.shift_words(head, (start, start + far))
    before, after = rotary[:, *choose_pair(words)].tolist()
    asking, asked = (start + at for at in choose_pair(words))
    places = {
        "asking": asking,
        "asked": asked,
        "now_asking": asking + far,
        "now_asked": asked + far,
    }
    given = {name: f"{place}" for name, place in places.items()}
    return Recall(round(after, 2), {**given, "score": write_decimals(before)}, tolerance=0.005)


def recall_rotation(draw: Random) -> Recall:
    """How far one of the head's pairs is rotated at some position."""
    number, position = draw.randint(2, 4), draw.randint(3, 60)
    angle = angles(torch.tensor([position]), compute.TURNED_DIM, examples.LONGEST)
    given = {"number": f"{number}", "position": f"{position}"}
    return Recall(angle[0, number - 1].item(), given, tolerance=1e-4)
