"""Claims about reading few keys: losses that a model was measured with."""

from explainers.chapters.claims.claim_table import CONDITION, FAILS, HOLDS, Finding, make_finding
from explainers.models.indexers import KEPT, ORACLE, OWN, PROSE, TWICE, read_files
from explainers.ui.text.numbers import NO_WORSE, judge_rise, name_thresholds

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
