"""Trained memories of both rules, with new keys and with keys that come again."""

from explainers.chapters.growing_memory.memory_training_job import NAMES
from explainers.messages import N_
from explainers.toys.pair_memory import HEAD_DIM, OVERWRITE, REPEATED, SOFTMAX, SUM
from explainers.toys.pair_results import SEEDS, TESTED_COUNTS, MemoryRow, read_results
from explainers.translations import _
from explainers.ui.figure.chart import show_chart
from explainers.ui.text.numbers import write_percent

MOST = TESTED_COUNTS[-1]
ANSWERS = N_("more than twice as many"), N_("about as many"), N_("less than half as many")
Results = dict[tuple[tuple[str, ...], bool], MemoryRow]
COMPARED = SUM, OVERWRITE, SOFTMAX


def load_results() -> Results:
    """What every model found, as it was shipped."""
    return read_results()


def average_share(found: Results, rule: str, has_repeats: bool) -> float:
    """Of a model of one layer, on the longest texts: the mean over the seeds."""
    return found[(rule,), has_repeats].average(MOST)


def answer_comparison(found: Results) -> str:
    """Among the answers: overwriting compared with sums, where all keys differ."""
    ratio = average_share(found, OVERWRITE, False) / average_share(found, SUM, False)
    return ANSWERS[0 if ratio > 2 else 2 if ratio < 0.5 else 1]


def name_shares(found: Results) -> dict[str, str]:
    """The shares of both tasks, for a text."""
    shares = {
        f"{rule}_{'again' if has_repeats else 'new'}": write_percent(
            average_share(found, rule, has_repeats)
        )
        for rule in COMPARED
        for has_repeats in (False, True)
    }
    counts = {"pairs": MOST, "dim": HEAD_DIM, "seeds": len(SEEDS), "repeated": REPEATED}
    return shares | {name: f"{count}" for name, count in counts.items()}


def show_shares(found: Results) -> None:
    """A bar for each rule and task."""
    from explainers.charts.bars import draw_bars, make_amount_rows

    tasks = {False: N_("all keys differ"), True: N_("keys come again")}
    shares = [
        (
            _("{task}: {rule}", task=_(tasks[has_repeats]), rule=_(NAMES[rule])),
            round(100 * average_share(found, rule, has_repeats)),
        )
        for has_repeats in tasks
        for rule in COMPARED
    ]
    listed = ", ".join(f"{name} {share}" for name, share in shares)
    alt = _("Percent of the answers that are right: {listed}", listed=listed)
    origin = _("trained beforehand, seeds 0 to {last}, kept with the app", last=SEEDS[-1])
    title = _("right answers, %")
    rows = make_amount_rows(shares)
    show_chart(draw_bars, rows, alt, "trained memories", origin, length=len(rows), x_title=title)
