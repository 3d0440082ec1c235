"""One head against many at equal parameters: what training made of them."""

import statistics

from torch import Tensor

from explainers.attention.multi_head import multi_head, parameters
from explainers.chapters.many_heads.head_panels import head_id
from explainers.charts.matrix import Matrix
from explainers.charts.theme import HEAD_AXIS, KEY_AXIS
from explainers.messages import N_, ngettext
from explainers.toys.layers import (
    D_MODEL,
    NUM_HEADS,
    SEEDS,
    Configuration,
    list_head_dims,
    load_layer,
)
from explainers.toys.sentence import SENTENCE, split_words
from explainers.toys.training_report import ReportRow, format_mean_and_spread, read_report
from explainers.translations import _
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Figure, Panel
from explainers.ui.page import Prose
from explainers.ui.prediction import revealed
from explainers.ui.provenance import trained_weights
from explainers.ui.source import show_source
from explainers.ui.text.language import fragment

WORD, SUBJECT, OBJECT = "announced", "CEO", "earnings"
WIDE = 512
"""The width of the model of Vaswani et al. 2017."""
ANSWERS = (
    N_("for about as many"),
    N_("for about half of them"),
    N_("for less than a quarter of them"),
)


def equal(num_heads: int) -> Configuration:
    """Heads that have as many numbers together as one head of full width."""
    return Configuration(num_heads, num_heads, D_MODEL // num_heads, "full")


def in_words(accuracy: float) -> str:
    """Which of the answers an accuracy is."""
    return ANSWERS[0 if accuracy > 0.75 else 1 if accuracy >= 0.25 else 2]


def single_heads() -> dict[int, float]:
    """For each d_k of a single head, the share of verbs it is right about."""
    sizes = {size: Configuration(1, 1, size, "full") for size in list_head_dims(1)}
    return {size: statistics.mean(read_report()[one].verb_accuracy) for size, one in sizes.items()}


def operations(q_len: int, d_model: int, num_heads: int, head_dim: int) -> int:
    """Multiplications and additions of one layer over a sentence, without the softmax."""
    projected = 4 * q_len * d_model * num_heads * head_dim
    compared_and_mixed = 2 * num_heads * q_len * q_len * head_dim
    return 2 * (projected + compared_and_mixed)


@fragment
def show_contrast(text: Prose) -> None:
    """Where one word looks, with one head and with several that have as many numbers together."""
    text("contrast")
    right = {heads: statistics.mean(_row(heads).verb_accuracy) for heads in NUM_HEADS}
    one, four = f"{right[1]:.0%}", f"{right[4]:.0%}"
    alone = single_heads()
    if not revealed(
        text,
        "contrast",
        ANSWERS,
        in_words(right[1]),
        one=one,
        four=four,
        d_k=equal(4).head_dim,
        single=", ".join(
            _("{verbs:.0%} with {d_k}", verbs=verbs, d_k=size) for size, verbs in alone.items()
        ),
        most=f"{max(alone.values()):.0%}",
    ):
        return
    tokens, seed = tuple(split_words(SENTENCE)), SEEDS[0]
    looks = {heads: _looks(tokens, heads, seed) for heads in NUM_HEADS}
    panels = [_panel(tokens, heads, weights) for heads, weights in looks.items()]
    alt = _(
        "Where {word} looks with 1, 2, 4 and 8 trained heads: one head divides itself.", word=WORD
    )
    origin = trained_weights(seed, 0, looks[1].device)
    show_figure(Figure(panels, alt), origin, "contrast")
    subject, target = tokens.index(SUBJECT), tokens.index(OBJECT)
    text(
        "contrast_shown",
        seeds=len(_row(1).loss),
        one=one,
        four=four,
        subject_1=f"{looks[1][:, subject].max():.2f}",
        object_1=f"{looks[1][:, target].max():.2f}",
        subject_4=f"{looks[4][:, subject].max():.2f}",
        object_4=f"{looks[4][:, target].max():.2f}",
    )


@fragment
def show_table(text: Prose) -> None:
    """What equal parameters bring, divided among one head or many."""
    tokens = len(split_words(SENTENCE))
    text(
        "table",
        words=tokens,
        d_model=D_MODEL,
        parameters=f"{parameters(D_MODEL, 1, 1, D_MODEL):,}",
        wide=f"{parameters(WIDE, 1, 1, WIDE):,}",
        operations=f"{operations(tokens, D_MODEL, 1, D_MODEL):,}",
        weights=", ".join(f"{heads * tokens**2}" for heads in NUM_HEADS),
        seeds=len(_row(1).loss),
        rows="\n".join(_line(_row(heads)) for heads in NUM_HEADS),
    )
    show_source(parameters, operations)


def _row(num_heads: int) -> ReportRow:
    return read_report()[equal(num_heads)]


def _line(row: ReportRow) -> str:
    """A line of the table."""
    accuracies = [format_mean_and_spread(numbers) for numbers in (row.accuracy, row.verb_accuracy)]
    return f"| {' | '.join(map(str, [row.num_heads, row.head_dim, *accuracies]))} |"


def _looks(tokens: tuple[str, ...], num_heads: int, seed: int) -> Tensor:
    """The row of `WORD` in each head (heads, kv_len)."""
    layer = load_layer(tokens, equal(num_heads), seed)
    return multi_head(layer.x, layer.heads, layer.mask).weights[:, tokens.index(WORD)]


def _panel(tokens: tuple[str, ...], num_heads: int, weights: Tensor) -> Panel:
    name = _(ngettext("{count:,} head", "{count:,} heads", num_heads))
    heads = [head_id(head) for head in range(num_heads)]
    axes, of = (HEAD_AXIS, KEY_AXIS), _("of d_k {d_k}", d_k=equal(num_heads).head_dim)
    return Panel(
        f"contrast of {num_heads}",
        Matrix(name, of, weights.tolist(), heads, tokens, *axes, kind="weights"),
    )
