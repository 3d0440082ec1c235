"""The cards of the page: what a smaller cache costs, and the reader's own prompt gone on with."""

from collections.abc import Mapping, Sequence
from itertools import count
from random import Random
from statistics import median

import streamlit as st
import torch
from torch import Tensor

from explainers.attention.cache.compression import (
    round_in_channels,
    round_in_groups,
    round_in_tokens,
)
from explainers.chapters.common.background_job import describe_words, offer_job, watch_for_result
from explainers.chapters.common.choose_real_model import obtain_model
from explainers.chapters.common.measured_heads import CODE_ROLE, write_estimate, write_grey
from explainers.chapters.common.recording import describe_live_run
from explainers.chapters.writing.hero import LABELS, OWN, choose_own, written_text
from explainers.messages import N_
from explainers.models import changes, written_tokens
from explainers.models.replaced_heads import Estimate, summarise
from explainers.models.shipped_measurements import MODEL, PROMPT, ShippedWriting, WrittenText
from explainers.models.written_tokens import Sampling, WritingJob, WritingRequest, Written
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.controls.name_controls import TextLine
from explainers.ui.controls.number_controls import Counter, StepSlider, WholeNumber
from explainers.ui.figure.chart import show_chart, tabulate
from explainers.ui.page import Prose
from explainers.ui.page_parts.check_yourself import Recall
from explainers.ui.prediction import revealed
from explainers.ui.source import show_source
from explainers.ui.text.language import fragment
from explainers.ui.text.numbers import write_percent
from explainers.ui.untrusted_text import verbatim

Losses = Mapping[str, Tensor]
"""By saving: (texts,), in nats per token."""
LITTLE, HALF, MOST = N_("less than a third"), N_("about half"), N_("more than two thirds")
SHARES = LITTLE, HALF, MOST
FEWEST_BITS = min(changes.BITS)
RINGS = changes.RING, changes.SINKS, changes.SHORT_RING, changes.SHORT_SINKS
WAYS = {
    (changes.KEYS, changes.TOKEN): N_("keys per token"),
    (changes.KEYS, changes.CHANNEL): N_("keys per channel"),
    (changes.KEYS, changes.BEFORE): N_("keys per channel, before RoPE"),
    (changes.VALUES, changes.TOKEN): N_("values per token"),
    (changes.VALUES, changes.CHANNEL): N_("values per channel"),
}
ROUNDED = {changes.name_rounding(*way, FEWEST_BITS): label for way, label in WAYS.items()}
ONE_STEP = N_("one large number makes the step of its group coarse")


def name_saving(name: str) -> str:
    """What is saved, for the reader."""
    if name in ROUNDED:
        return _("{what}, {bits} bits", what=_(ROUNDED[name]), bits=FEWEST_BITS)
    held = changes.ROWS if name in (changes.RING, changes.SINKS) else changes.FEWER_ROWS
    if name in (changes.RING, changes.SHORT_RING):
        return _("the newest {rows} rows", rows=held)
    first = changes.FEWEST_SINKS
    return _("the first {first} + the newest {rows}", first=first, rows=held - first)


def estimate_rise(losses: Losses, name: str) -> Estimate:
    """By how much the loss rises, text by text, in nats per token."""
    return summarise(losses[name] - losses[changes.FULL])


def share_saved(losses: Losses) -> float:
    """How much of the ring's rise is gone if it keeps the first rows."""
    return 1 - estimate_rise(losses, changes.SINKS).mean / estimate_rise(losses, changes.RING).mean


@fragment
def ask_sinks(text: Prose, losses: Losses, origin: str) -> None:
    """A window harms; how much of that is gone with the first four tokens?

    Then rings, and the coarsest rounding: the rise of each with its standard error.
    """
    from explainers.charts.bars import draw_rises

    told, share = describe_losses(losses), share_saved(losses)
    answer = MOST if share > 2 / 3 else HALF if share > 1 / 3 else LITTLE
    if not revealed(text, "sinks", SHARES, answer, **told):
        return
    names = [name for name in (*RINGS, *ROUNDED) if name in losses]
    found = {name_saving(name): estimate_rise(losses, name) for name in names}
    rows = tabulate(
        [(n, one.mean, one.mean - one.error, one.mean + one.error) for n, one in found.items()],
        ["name", "rise", "low", "high"],
    )
    said = "; ".join(f"{name}: {write_estimate(one)}" for name, one in found.items())
    alt = _("By how much the loss rises, in nats per token. {said}", said=said)
    title = N_("loss rises by, nats per token")
    show_chart(draw_rises, rows, alt, "losses", origin, x_title=title)
    text("losses", **told)


def describe_losses(losses: Losses) -> dict[str, str]:
    """For the text."""
    means = {name.replace(" ", "_").lower(): row.mean() for name, row in losses.items()}
    return {
        **{name: f"{float(mean):.2f}" for name, mean in means.items()},
        "rise": write_estimate(estimate_rise(losses, changes.SINKS)),
        "share": write_percent(share_saved(losses)),
        "held": f"{changes.ROWS}",
        "newest": f"{changes.ROWS - changes.FEWEST_SINKS}",
        "sinks": f"{changes.FEWEST_SINKS}",
        "texts": f"{changes.NUM_TEXTS}",
        "predicted": f"{changes.NUM_TEXTS * changes.SCORED:,}",
        "group": f"{changes.GROUP}",
    }


def show_rounding(text: Prose, shipped: ShippedWriting) -> None:
    """Keys and values in few bits: what is rounded, and the rise at 8, 4 and 2 bits."""
    losses, rows = shipped.losses, []
    for (part, way), label in WAYS.items():
        cells = [
            write_grey(estimate_rise(losses, changes.name_rounding(part, way, bits)))
            for bits in changes.BITS
        ]
        rows.append(f"| {_(label)} | {' | '.join(cells)} |")
    told = describe_losses(losses) | describe_shape(shipped)
    told |= {f"bits_{bits}": f"{changes.count_bits(bits):g}" for bits in changes.BITS}
    text("rounding", rows="\n".join(rows), **told)
    show_source(round_in_groups, round_in_tokens, round_in_channels, that=CODE_ROLE)
    show_source(changes.RoundedRows, changes.measure_text, that=CODE_ROLE)


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


def recall_bytes(draw: Random) -> Recall:
    """A token's bytes in a cache."""
    layers, kv_heads = draw.choice((8, 12, 16)), draw.choice((2, 4))
    head_dim = draw.choice((32, 64))
    given = {"layers": f"{layers}", "kv_heads": f"{kv_heads}", "head_dim": f"{head_dim}"}
    return Recall(2 * layers * kv_heads * head_dim * 2, given, unit="B")


def recall_channel(_draw: Random) -> Recall:
    """Why rounding within a token harms keys."""
    wrong = [N_("a token has more numbers than a channel"), N_("keys are computed before values")]
    return Recall(ONE_STEP, {}, [wrong[0], ONE_STEP, wrong[1]])


own_prompt = TextLine("own_prompt", N_("Prompt"), PROMPT, 300)
own_heat = StepSlider("own_heat", N_("Temperature"), 0.8, written_tokens.TEMPERATURES)
own_count = StepSlider(
    "own_k", N_("Top-k (0: all tokens)"), 0, tuple(sorted(written_tokens.TOP_KS))
)
own_share = StepSlider("own_p", N_("Top-p"), 0.95, written_tokens.TOP_PS)
own_seed = Counter("own_seed", N_("Seed"), 0)
own_length = WholeNumber("own_length", N_("Tokens to write"), 16, 4, 32)
controls.register(own_prompt, own_heat, own_count, own_share, own_seed, own_length)
JOB = "writing: own"
SERIES = N_("with the cache"), N_("without")
"""Tokens before one that was written, and its seconds with the cache and without."""


def find_written() -> Mapping[str, WrittenText]:
    """The reader's text, if one was written during this visit; a switch where it is shown, if a
    word of its prompt has several tokens."""
    job: WritingJob | None = st.session_state.get(JOB)
    if not job or job.result is None or not is_long(job.result):
        return {}
    wanted, found = job.subject, job.result
    is_merged = (
        found.words and written_text.resolve_among([*LABELS]) == OWN and controls.whole_words()
    )
    prompt, steps = (found.words, found.merged) if is_merged else (found.prompt, found.steps)
    return {OWN: WrittenText(prompt, wanted.sampling, wanted.seed, steps)}


def is_long(found: Written) -> bool:
    """Are there two tokens that came from the cache, and were timed? A text can end at once."""
    return len(found.seconds_without) > 2


SETTINGS = {"temperature": 0.8, "count": 10, "share": 0.9}
"""For the file: a temperature, a top-k and a top-p that change all candidates."""
DRAWS = 8


def sample_candidates(
    logits: list[float], temperature: float, count: int, share: float
) -> dict[str, Tensor]:
    """Probabilities of candidates, step by step; and some draws."""
    heated = written_tokens.heat(torch.tensor(logits), temperature)
    best = written_tokens.keep_top_k(heated, count)
    nucleus = written_tokens.keep_top_p(best, share)
    generator = torch.Generator().manual_seed(0)
    return {
        "temperature": heated.softmax(dim=-1),
        "top-k": best.softmax(dim=-1),
        "top-p": nucleus.softmax(dim=-1),
        "drawn": written_tokens.draw(nucleus.expand(DRAWS, -1), generator),
    }


def show_own(text: Prose) -> None:
    """A prompt of the reader's, written in the background, timed both ways."""
    text("own")
    if not (loaded := obtain_model(MODEL, "chosen")):
        return
    prompt, drawn = own_prompt(), []
    for column, control in zip(st.columns(3), (own_heat, own_count, own_share), strict=True):
        with column:
            drawn.append(float(control()))
    sampling = Sampling(drawn[0], int(drawn[1]), drawn[2])
    with st.container(horizontal=True, vertical_alignment="bottom"):
        seed, length = own_seed(0, 999), own_length()
    wanted = WritingRequest(MODEL, prompt, length, sampling, seed)
    job = written_tokens.make_writing_job(wanted)
    shown = offer_job(JOB, _("Write"), job, icon=":material/edit:")
    found = watch_for_result(JOB, shown, _("Writing"), describe_words)
    if not found:
        return
    if not is_long(found):
        text("own_short")
        return
    if st.button(_("Show it in the picture above"), icon=":material/arrow_upward:"):
        choose_own()
        st.rerun()  # the picture is not in the card that is drawn again
    # the first token came after the whole prompt had been read, both times
    with_cache, without = [step.seconds for step in found.steps[1:]], found.seconds_without[1:]
    told = {
        "text": verbatim(found.text),
        "count": f"{len(found.steps)}",
        "with_cache": f"{1000 * median(with_cache):.0f}",
        "without": f"{1000 * median(without):.0f}",
        "times": f"{median(without) / median(with_cache):.1f}",
        "last": f"{len(found.prompt) + len(found.steps) - 1}",
    }
    text("own_seen", **told)
    draw_times(len(found.prompt) + 1, with_cache, without, describe_live_run(loaded))
    show_source(written_tokens.write_tokens, written_tokens.count_bytes)


def draw_times(
    start: int, with_cache: Sequence[float], without: Sequence[float], origin: str
) -> None:
    """Two lines over the number of tokens before the timed one, from `start` on."""
    from explainers.charts.curves import Axis, draw_curve

    points = list(zip(count(start), with_cache, without, strict=False))
    rows = tabulate(
        [
            (length, 1000 * seconds, _(series), False)
            for length, *both in points
            for series, seconds in zip(SERIES, both, strict=True)
        ],
        ["x", "y", "series", "reference"],
    )
    said = "; ".join(
        f"{length}: {1000 * cached:.0f} / {1000 * again:.0f}" for length, cached, again in points
    )
    alt = _("Milliseconds for each token, with the cache / without it. {said}", said=said)
    ticks = tuple(length for length, *_both in points)[:: 1 + len(points) // 12]
    x, y = Axis(N_("tokens before it"), ticks=ticks), Axis(N_("milliseconds for a token"))
    show_chart(draw_curve, rows, alt, "own times", origin, x=x, y=y, series=SERIES)
