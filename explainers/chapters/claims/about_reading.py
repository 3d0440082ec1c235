"""Claims about reading few keys, and storing few bits: losses that a model was measured with."""

from explainers.chapters.claims.claim_table import CONDITION, FAILS, HOLDS, Finding, make_finding
from explainers.models.chosen_keys import KEYS_BY_CHANNEL, KEYS_BY_TOKEN
from explainers.models.shipped_indexers import (
    FIRST,
    KEPT,
    ORACLE,
    OWN,
    PROSE,
    SHORT,
    TWICE,
    USUAL,
    read_files,
)
from explainers.ui.text.numbers import NO_WORSE, WORSE_FROM, judge_rise, name_thresholds

TEXTS = {"prose": PROSE, "the same text again": TWICE}


def few_keys_lose_nothing(kept: int, text: str) -> Finding:
    """The loss with the best keys and with all, here and with any number that was measured."""
    passage = read_files().passages[TEXTS[text]]
    rises = {
        count: loss - passage.full_loss
        for count, loss in zip(KEPT, passage.losses[ORACLE], strict=True)
    }
    loses = {count: judge_rise(rise) != NO_WORSE for count, rise in rises.items()}
    verdict = FAILS if loses[kept] else CONDITION if any(loses.values()) else HOLDS
    loss, full = f"{passage.full_loss + rises[kept]:.3f}", f"{passage.full_loss:.3f}"
    return make_finding(verdict, kept=kept, loss=loss, full=full, **name_thresholds())


def heads_need_their_own_keys(kept: int) -> Finding:
    """One set of keys for all heads, against a set for each: does a shared one cost more?"""
    shipped = read_files()
    shared = shipped.passages[PROSE].losses[ORACLE]
    rises = {count: shared[KEPT.index(count)] - shipped.numbers["own"][f"{count}"] for count in OWN}
    needs = {count: judge_rise(rise) != NO_WORSE for count, rise in rises.items()}
    verdict = (HOLDS if all(needs.values()) else CONDITION) if needs[kept] else FAILS
    own = shipped.numbers["own"][f"{kept}"]
    return make_finding(verdict, kept=kept, own=f"{own:.3f}", shared=f"{own + rises[kept]:.3f}")


def an_indexer_finds_what_matters(trained: str, text: str) -> Finding:
    """How much of what first tokens and a window lose, against the best keys, an indexer saves."""
    shipped = read_files()
    saved = {
        (how, name): _measure_saved(how, name)
        for how in ("with a repeated passage", "without")
        for name in TEXTS
    }
    here, everywhere = saved[trained, text] >= 0.5, min(saved.values()) >= 0.5
    passage, kept = shipped.passages[TEXTS[text]], _choose_kept(text)
    losses = {name: passage.losses[name][KEPT.index(kept)] for name in (ORACLE, FIRST)}
    verdict = (HOLDS if everywhere else CONDITION) if here else FAILS
    return make_finding(
        verdict,
        loss=f"{_read_loss(trained, text):.2f}",
        oracle=f"{losses[ORACLE]:.2f}",
        first=f"{losses[FIRST]:.2f}",
        kept=kept,
    )


def _choose_kept(text: str) -> int:
    return USUAL if TEXTS[text] == PROSE else SHORT


def _read_loss(trained: str, text: str) -> float:
    numbers = read_files().numbers
    found = numbers["variants"]["no repeats"] if trained == "without" else numbers["indexer"]
    loss: float = found["loss" if TEXTS[text] == PROSE else "twice"]
    return loss


def _measure_saved(trained: str, text: str) -> float:
    passage, place = read_files().passages[TEXTS[text]], KEPT.index(_choose_kept(text))
    oracle, first = (passage.losses[name][place] for name in (ORACLE, FIRST))
    return (first - _read_loss(trained, text)) / (first - oracle)


def two_bits_are_enough(bits: int, along: str, harm: str) -> Finding:
    """Keys rounded within a token or within a channel; `harm` is what is called so."""
    shipped = read_files()
    full, rounded = shipped.passages[PROSE].full_loss, shipped.numbers["rounded"]
    ways = {"a token": KEYS_BY_TOKEN, "a channel": KEYS_BY_CHANNEL}
    rises = {
        (count, way): rounded[f"{name} {count}"] - full
        for way, name in ways.items()
        for count in (2, 4)
    }
    limit = WORSE_FROM[harm]
    verdict = FAILS if rises[bits, along] >= limit else CONDITION
    verdict = HOLDS if max(rises.values()) < limit else verdict
    token, channel = (f"{full + rises[bits, way]:.2f}" for way in ways)
    numbers = {"token": token, "channel": channel, "full": f"{full:.2f}", "limit": f"{limit:g}"}
    return make_finding(verdict, bits=bits, **numbers)
