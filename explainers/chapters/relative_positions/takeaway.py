"""To take away: all words moved along, and the numbers that ALiBi adds to scores."""

from torch import Tensor

from explainers.chapters.common.score_matrix import name_by_head
from explainers.chapters.relative_positions.moved_pair import MovedPair
from explainers.chapters.relative_positions.past_length import PairTurns
from explainers.chapters.relative_positions.position_scores import (
    AlibiWeights,
    RotaryHead,
    ShiftedScores,
    compute_alibi,
)
from explainers.takeaway.recipe import Recipe
from explainers.translations import _
from explainers.ui.takeaway_files import take

Computed = dict[str, Tensor]


def compute_moved_pair(
    head: RotaryHead, words: tuple[int, int], apart: int, shift: int
) -> Computed:
    """The parts of one score and their sum, with RoPE and with added positions."""
    return {"parts": MovedPair.of(head, words).find(apart, shift)}


def compute_moved_text(head: RotaryHead, shift: int) -> Computed:
    """Scores with RoPE and with added positions, and how they changed since all words moved."""
    return compute_shift(ShiftedScores.of(head, (0, shift)), 1)


def compute_shift(moved: ShiftedScores, place: int) -> Computed:
    """Both kinds of scores after one of the shifts, and their change since none."""
    rotary, added = moved.rotary, moved.added
    return {
        "scores with RoPE": rotary[place],
        "change with RoPE": rotary[place] - rotary[0],
        "scores with added positions": added[place],
        "change with added positions": added[place] - added[0],
    }


def compute_with_alibi(tokens: tuple[str, ...], seed: int) -> Computed:
    """Every head's weights without ALiBi and with it."""
    return list_alibi(compute_alibi(tokens, seed))


def list_alibi(found: AlibiWeights) -> Computed:
    """The slopes, and all weights without them and with them."""
    without = name_by_head("without, head", found.without)
    return {"slopes": found.slopes, **without, **name_by_head("with ALiBi, head", found.weights)}


def take_pair(moved: MovedPair, apart: int, shift: int) -> None:
    """Two words moved along."""
    shown = {"parts": moved.find(apart, shift)}
    inputs = {"head": moved.head, "words": moved.words, "apart": apart, "shift": shift}
    take("pair", Recipe(_("Two words moved along"), compute_moved_pair, inputs, shown))


def take_turning(moved: ShiftedScores, place: int, head: RotaryHead) -> None:
    """All words moved along."""
    shown = compute_shift(moved, place)
    inputs = {"head": head, "shift": moved.shifts[place]}
    take("turning", Recipe(_("All words moved along"), compute_moved_text, inputs, shown))


def take_alibi(tokens: tuple[str, ...], seed: int, found: AlibiWeights) -> None:
    """ALiBi."""
    inputs = {"tokens": tokens, "seed": seed}
    take("alibi", Recipe("ALiBi", compute_with_alibi, inputs, list_alibi(found)))


def compute_turns(way: str) -> Computed:
    """How far each pair turns from one position to the next, and until two positions."""
    return list_turns(PairTurns.of(way))


def list_turns(found: PairTurns) -> Computed:
    """The same, in radians."""
    at = {"until the trained length": found.trained, "until the end": found.asked}
    return {"from one position to the next": found.speed, **at}


def take_turns(found: PairTurns) -> None:
    """Pairs past the trained length."""
    title, inputs = _("Pairs past the trained length"), {"way": found.way}
    take("turns", Recipe(title, compute_turns, inputs, list_turns(found)))
