"""One head against many at equal parameters: what training made of them."""

import statistics
from random import Random

from explainers.attention.multi_head import parameters
from explainers.attention.single_head import projection_parameters
from explainers.messages import N_
from explainers.toys.grammar import choose_grammar, read_running
from explainers.toys.layers import D_MODEL, NUM_HEADS, Configuration, list_head_dims
from explainers.toys.training_report import ReportRow, format_mean_and_spread, read_report
from explainers.translations import _, get_language
from explainers.ui.figure.chart import show_chart
from explainers.ui.page_parts.check_yourself import Recall
from explainers.ui.provenance import learned_numbers
from explainers.ui.text.numbers import PERCENT, write_percent

WIDE, GPT3 = 512, 12_288
"""The widths of the models of Vaswani et al. 2017 and Brown et al. 2020."""
ANSWERS = (N_("about as many"), N_("about half of them"), N_("fewer than a quarter of them"))


def make_equal_heads(num_heads: int) -> Configuration:
    """Heads that have as many numbers together as one head of full width."""
    return Configuration(num_heads, num_heads, D_MODEL // num_heads, "full")


def classify_accuracy(accuracy: float) -> str:
    """Which of the answers an accuracy is."""
    return ANSWERS[0 if accuracy > 0.75 else 1 if accuracy >= 0.25 else 2]


def score_single_heads() -> dict[int, float]:
    """For each d_k of a single head, the share of verbs it is right about."""
    sizes = {size: Configuration(1, 1, size, "full") for size in list_head_dims(1)}
    return {size: statistics.mean(_read_row(one).verb_accuracy) for size, one in sizes.items()}


def count_operations(q_len: int, d_model: int, num_heads: int, head_dim: int) -> int:
    """Multiplications and additions of one layer over a sentence, without the softmax."""
    projected = 4 * q_len * d_model * num_heads * head_dim
    compared_and_mixed = 2 * num_heads * q_len * q_len * head_dim
    return 2 * (projected + compared_and_mixed)


def count_named_verbs() -> dict[str, str]:
    """For how many verbs one head and four heads name all related words, and the best one head."""
    right = {heads: statistics.mean(_read_row_of_heads(heads).verb_accuracy) for heads in NUM_HEADS}
    most = max(score_single_heads().values())
    shares = {"one": right[1], "four": right[4], "most": most}
    return {name: write_percent(share) for name, share in shares.items()}


def answer_contrast() -> str:
    """Which of the answers one head comes to."""
    return classify_accuracy(statistics.mean(_read_row_of_heads(1).verb_accuracy))


def show_trainings() -> None:
    """A dot for each training: for how many verbs it names all related words and no others."""
    import pandas as pd

    from explainers.charts.curves import Axis, draw_dots

    trials = [
        (heads, right) for heads in NUM_HEADS for right in _read_row_of_heads(heads).verb_accuracy
    ]
    rows = pd.DataFrame([(f"{heads}", 100 * right) for heads, right in trials], columns=["x", "y"])
    alt = _(
        "For how many verbs each training names all related words: {one} with one head, {four} "
        "with four.",
        **count_named_verbs(),
    )
    axes = {"x": Axis(_("heads")), "y": Axis(_("verbs with all related words, %"))}
    origin = learned_numbers(
        _("related words, {count} seeds", count=len(_read_row_of_heads(1).loss))
    )
    show_chart(draw_dots, rows, alt, "trainings", origin, **axes)


def count_costs() -> dict[str, object]:
    """What equal parameters cost and bring, divided among one head or many."""
    tokens = len(read_running(get_language()).tokens)
    projected = projection_parameters(GPT3, GPT3, GPT3)
    return {
        "words": tokens,
        "d_model": D_MODEL,
        "parameters": f"{parameters(D_MODEL, 1, 1, D_MODEL):,}",
        "wide": f"{parameters(WIDE, 1, 1, WIDE):,}",
        "gpt3": f"{parameters(GPT3, 1, 1, GPT3):,}",
        "gpt3_projected": f"{projected:,}",
        "gpt3_millions": round(projected / 1e6),
        "gpt3_width": f"{GPT3:,}",
        "operations": f"{count_operations(tokens, D_MODEL, 1, D_MODEL):,}",
        "weights": ", ".join(f"{heads * tokens**2}" for heads in NUM_HEADS),
        "seeds": len(_read_row_of_heads(1).loss),
        "rows": "\n".join(_write_line(_read_row_of_heads(heads)) for heads in NUM_HEADS),
    }


def _read_row_of_heads(num_heads: int) -> ReportRow:
    return _read_row(make_equal_heads(num_heads))


def _read_row(configuration: Configuration) -> ReportRow:
    """What heads learned that know the words of the visitor's language."""
    return read_report(choose_grammar(get_language()))[configuration]


def _write_line(row: ReportRow) -> str:
    """A line of the table."""
    accuracies = [format_mean_and_spread(numbers) for numbers in (row.accuracy, row.verb_accuracy)]
    return f"| {' | '.join(map(str, [row.num_heads, row.head_dim, *accuracies]))} |"


def recall_remaining_share(draw: Random) -> Recall:
    """What one head can give a second word at most."""
    share = draw.randrange(35, 95, 5)
    return Recall(100 - share, {"share": f"{share}"}, unit=PERCENT)


def recall_layer_numbers(draw: Random) -> Recall:
    """As many numbers with few large heads as with many small ones."""
    head_dim, heads = draw.choice([8, 16, 32]), draw.choice([2, 4, 8])
    d_model = head_dim * heads
    given = {"d_model": f"{d_model}", "heads": f"{heads}"}
    answer = parameters(d_model, heads, heads, head_dim)
    return Recall(answer, given, worked={"d_k": f"{head_dim}"})
