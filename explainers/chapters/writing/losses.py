"""What a smaller cache costs: rows thrown away, keys and values in few bits, loss by loss."""

from collections.abc import Mapping
from random import Random

from torch import Tensor

from explainers.messages import N_
from explainers.models.cache_losses import (
    BEFORE,
    BITS,
    CHANNEL,
    FEWER_ROWS,
    FEWEST_SINKS,
    FULL,
    GROUP,
    KEYS,
    NUM_TEXTS,
    RING,
    ROWS,
    SCORED,
    SHORT_RING,
    SHORT_SINKS,
    SINKS,
    TOKEN,
    VALUES,
    count_bits,
    name_rounding,
)
from explainers.models.head_ablation import Estimate, summarise
from explainers.models.shipped_writing import ShippedWriting
from explainers.translations import _
from explainers.ui.figure.chart import show_chart
from explainers.ui.page_parts.check_yourself import Recall
from explainers.ui.text.numbers import write_percent

Losses = Mapping[str, Tensor]
"""By saving: (texts,), in nats per token."""
LITTLE, HALF, MOST = N_("less than a third"), N_("about half"), N_("more than two thirds")
SHARES = LITTLE, HALF, MOST
SEEN = 0.0005
"""Nats: what is less is written as 0."""
FEWEST_BITS = min(BITS)
RINGS = RING, SINKS, SHORT_RING, SHORT_SINKS
WAYS = {
    (KEYS, TOKEN): N_("keys per token"),
    (KEYS, CHANNEL): N_("keys per channel"),
    (KEYS, BEFORE): N_("keys per channel, before RoPE"),
    (VALUES, TOKEN): N_("values per token"),
    (VALUES, CHANNEL): N_("values per channel"),
}
ROUNDED = tuple(name_rounding(part, way, FEWEST_BITS) for part, way in WAYS)
ONE_STEP = N_("one large number makes the step of its group coarse")


def name_saving(name: str) -> str:
    """What is saved, for the reader."""
    rings = {
        FULL: _("all rows"),
        RING: _("the newest {rows} rows", rows=ROWS),
        SINKS: _(
            "the first {first} + the newest {rows}", first=FEWEST_SINKS, rows=ROWS - FEWEST_SINKS
        ),
        SHORT_RING: _("the newest {rows} rows", rows=FEWER_ROWS),
        SHORT_SINKS: _(
            "the first {first} + the newest {rows}",
            first=FEWEST_SINKS,
            rows=FEWER_ROWS - FEWEST_SINKS,
        ),
    }
    if name in rings:
        return rings[name]
    part, way, bits = next(
        (part, way, bits)
        for part, way in WAYS
        for bits in BITS
        if name == name_rounding(part, way, bits)
    )
    return _("{what}, {bits} bits", what=_(WAYS[part, way]), bits=bits)


def estimate_rise(losses: Losses, name: str) -> Estimate:
    """By how much the loss rises, text by text, in nats per token."""
    return summarise(losses[name] - losses[FULL])


def share_saved(losses: Losses) -> float:
    """How much of the ring's rise is gone if it keeps the first rows."""
    return 1 - estimate_rise(losses, SINKS).mean / estimate_rise(losses, RING).mean


def answer_sinks(losses: Losses) -> str:
    """In which of three ranges that is."""
    share = share_saved(losses)
    return MOST if share > 2 / 3 else HALF if share > 1 / 3 else LITTLE


def draw_losses(losses: Losses, origin: str, key: str = "losses") -> None:
    """Rings, and the coarsest rounding: the rise of each with its standard error."""
    import pandas as pd

    from explainers.charts.bars import draw_rises

    names = [name for name in (*RINGS, *ROUNDED) if name in losses]
    found = [estimate_rise(losses, name) for name in names]
    rows = pd.DataFrame(
        [
            (name_saving(name), one.mean, one.mean - one.error, one.mean + one.error)
            for name, one in zip(names, found, strict=True)
        ],
        columns=["name", "rise", "low", "high"],
    )
    said = "; ".join(
        f"{name_saving(name)}: {write_rise(one)}" for name, one in zip(names, found, strict=True)
    )
    alt = _("By how much the loss rises, in nats per token. {said}", said=said)
    show_chart(draw_rises, rows, alt, key, origin, x_title=N_("loss rises by, nats per token"))


def describe_losses(losses: Losses) -> dict[str, str]:
    """For the text."""
    told = {
        f"{name.replace(' ', '_').lower()}": f"{float(row.mean()):.2f}"
        for name, row in losses.items()
    }
    return {
        **told,
        "rise": write_rise(estimate_rise(losses, SINKS)),
        "share": write_percent(share_saved(losses)),
        "held": f"{ROWS}",
        "newest": f"{ROWS - FEWEST_SINKS}",
        "sinks": f"{FEWEST_SINKS}",
        "texts": f"{NUM_TEXTS}",
        "predicted": f"{NUM_TEXTS * SCORED:,}",
        "group": f"{GROUP}",
    }


def list_rounded(losses: Losses) -> str:
    """Rows of a table: what is rounded, and the rise at 8, 4 and 2 bits."""
    rows = []
    for (part, way), label in WAYS.items():
        cells = [write_grey(estimate_rise(losses, name_rounding(part, way, bits))) for bits in BITS]
        rows.append(f"| {_(label)} | {' | '.join(cells)} |")
    return "\n".join(rows)


def describe_shape(shipped: ShippedWriting) -> dict[str, str]:
    """What a token adds to the cache, and how uneven channels are; for the text."""
    layers, kv_heads, head_dim, number = shipped.shape
    key, value = shipped.spread.tolist()
    return {
        "layers": f"{layers}",
        "kv_heads": f"{kv_heads}",
        "head_dim": f"{head_dim}",
        "number": f"{number}",
        "row": f"{2 * layers * kv_heads * head_dim * number:,}",
        "spread_key": f"{key:.0f}",
        "spread_value": f"{value:.0f}",
    }


def list_bits() -> dict[str, str]:
    """What a number really takes, for the text."""
    return {f"bits_{bits}": f"{count_bits(bits):g}" for bits in BITS}


def write_rise(one: Estimate) -> str:
    """Mean ± standard error; from 1 on with two decimals, as 1.672 is a thousand in some places."""
    places = 2 if abs(one.mean) >= 1 else 3
    return f"{one.mean:+.{places}f} ± {one.error:.{places}f}".replace("-", "−")


def write_grey(one: Estimate) -> str:
    """Grey where the mean is less than two standard errors from 0."""
    is_seen = one.is_clear and abs(one.mean) >= SEEN
    return f"**{write_rise(one)}**" if is_seen else f":gray[{write_rise(one)}]"


def recall_bytes(draw: Random) -> Recall:
    """A token's bytes in a cache."""
    layers, kv_heads, head_dim = (
        draw.choice((8, 12, 16)),
        draw.choice((2, 4)),
        draw.choice((32, 64)),
    )
    given = {"layers": f"{layers}", "kv_heads": f"{kv_heads}", "head_dim": f"{head_dim}"}
    return Recall(2 * layers * kv_heads * head_dim * 2, given, unit="B")


def recall_channel(_draw: Random) -> Recall:
    """Why rounding within a token harms keys."""
    wrong = [N_("a token has more numbers than a channel"), N_("keys are computed before values")]
    return Recall(ONE_STEP, {}, [wrong[0], ONE_STEP, wrong[1]])
