"""Every trained translator beside the aligners without a network, on the same test sentences."""

import statistics

from explainers.translation.corpus import TEST_SENTENCES
from explainers.translation.evaluation_report import read_report
from explainers.translations import _
from explainers.ui.figure.chart import show_chart
from explainers.ui.text.numbers import write_percent

NAMES = {"hmm": "HMM", "ibm2": "IBM Model 2", "ibm1": "IBM Model 1"}
"""The aligners in the picture; the diagonal, which is wrong most of the time, has no bar."""


def show_aligners() -> tuple[str, dict[str, str]]:
    """A bar for each; the section of the text that its numbers allow, and these numbers."""
    from explainers.charts.bars import draw_bars, make_amount_rows  # not before it is asked for

    evaluation = read_report().evaluation
    baselines = evaluation.baselines.best
    rates = {seed: result.aer for seed, result in evaluation.seeds.items()}
    bars = [(_("attention, seed {seed}", seed=seed), rate) for seed, rate in rates.items()]
    bars += [(name, baselines[key]) for key, name in NAMES.items()]
    shown = [(name, round(100 * rate, 1)) for name, rate in bars]
    listed = "; ".join(f"{name} {rate}" for name, rate in shown)
    alt = _("Alignment errors in percent: {listed}", listed=listed)
    origin = _("{count} test sentences, kept with the app", count=f"{2 * TEST_SENTENCES:,}")
    title = _("alignment error rate, %")
    rows = make_amount_rows(shown)
    show_chart(draw_bars, rows, alt, "aligners", origin, length=len(rows), x_title=title)
    return choose_section(rates, baselines["hmm"]), {
        "sentences": f"{2 * TEST_SENTENCES:,}",
        "mean": write_percent(evaluation.average("aer"), 1),
        "best": write_percent(min(rates.values()), 1),
        "worst": write_percent(max(rates.values()), 1),
        "worse": f"{sum(rate >= baselines['hmm'] for rate in rates.values())}",
        "seeds": f"{len(rates)}",
        "worst_seed": f"{max(rates, key=lambda seed: rates[seed])}",
        **{key: write_percent(baselines[key], 1) for key in baselines},
    }


def choose_section(rates: dict[int, float], hmm: float) -> str:
    """Whether the HMM is better on average, than some seeds or than none: a section of the text."""
    if statistics.mean(rates.values()) >= hmm:
        return "aligners_hmm_better"
    return "aligners_all_better" if max(rates.values()) < hmm else "aligners_some_worse"
