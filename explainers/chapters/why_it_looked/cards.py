"""The cards: a weight's sum, what removing does to it and by role, and a weight of one's own."""

from random import Random
from typing import TYPE_CHECKING, Any

import streamlit as st
import torch
from torch import Tensor

from explainers.chapters.common.choose_real_model import (
    BY_MODEL,
    choose_name,
    obtain_model,
    tell_failure,
)
from explainers.chapters.common.measured_heads import name_head
from explainers.chapters.common.recording import describe_live_run
from explainers.chapters.why_it_looked.hero import (
    Explained,
    Found,
    describe_cell,
    explain_cell,
    read_text,
)
from explainers.charts.matrix import Matrix
from explainers.messages import N_
from explainers.models.registry import ModelError
from explainers.models.score_sources import Cell, predict_weight, remove_into_head, rerun_changes
from explainers.models.shipped_measurements import ALIKE, ALL, RoleResult, read_roles
from explainers.models.token_text import read_words
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Figure, Panel
from explainers.ui.page import Prose
from explainers.ui.page_parts.check_yourself import Recall
from explainers.ui.prediction import revealed
from explainers.ui.source import show_source
from explainers.ui.takeaway_files import run_and_hand_over
from explainers.ui.text.language import fragment
from explainers.ui.text.numbers import PERCENT, join_rows, write_percent

if TYPE_CHECKING:
    from explainers.models.load import RealModel


ANSWERS = HARDLY, HALF, NOTHING_LEFT = (
    N_("hardly less than before"),
    N_("about half of it"),
    N_("almost nothing"),
)


def remove_key_source(scores: Tensor, key: int, parts: Tensor, source: int) -> dict[str, Tensor]:
    """The parts (sources,) sum to the key's score; without one of them the key scores less."""
    without = scores.clone()
    without[key] = without[key] - parts[source]
    return {
        "sum of the parts": parts.sum(),
        "weights": scores.softmax(-1),
        "weights without the source": without.softmax(-1),
    }


def hand_over_weight(one: Explained) -> None:
    """The weight that the picture shows, without the key's first source, for the page's files."""
    run_and_hand_over(
        "weight",
        _("Head {which}: a weight without one source", which=name_head(one.layer, one.head)),
        remove_key_source,
        scores=torch.tensor(one.scores, dtype=torch.double),
        key=one.key,
        parts=torch.tensor(one.parts[controls.RAW][1], dtype=torch.double),
        source=one.rank(controls.RAW, 1)[0],
    )


@fragment
def ask_writer(text: Prose, first: Explained, origin: str) -> None:
    """Without what one head wrote into one key: how much of the weight is left?"""
    share = first.removals[controls.FIRST_SOURCE].measured / first.weight
    answer = NOTHING_LEFT if share < 1 / 4 else HALF if share < 3 / 4 else HARDLY
    if revealed(text, "writer", ANSWERS, answer, **describe_removals(first)):
        draw_removals(first, origin, "removed asked")


def show_removals(text: Prose, shown: Explained, origin: str, code_role: str) -> None:
    """Predicted, on the way into the head, and in the whole pass."""
    text("removing", **describe_removals(shown))
    draw_removals(shown, origin, "removed")
    show_source(remove_key_source)
    show_source(predict_weight, remove_into_head, rerun_changes, that=code_role)


def describe_removals(one: Explained) -> dict[str, str]:
    """The slots of the sentences about what is removed."""
    removal = one.removals[controls.FIRST_SOURCE]
    return describe_cell(one) | {
        "source": one.name(removal.places[0]),
        "predicted": write_percent(removal.predicted),
        "measured": write_percent(removal.measured),
        "others": write_percent(removal.others),
    }


def draw_removals(one: Explained, origin: str, key: str) -> None:
    """The weight as it is, predicted, into the head only, in the whole pass, and without others."""
    columns = (_("as it is"), _("predicted"), _("this head only"), _("whole pass"), _("at random"))
    shown = controls.FIRST_SOURCE, controls.KEY_THREE, controls.QUERY_THREE
    values = [[one.weight, *one.removals[name][2:]] for name in shown]
    rows = _("key: first"), _("key: first 3"), _("query: first 3")
    matrix = Matrix(
        _("weight"),
        _("without the sources at the left"),
        values,
        rows,
        columns,
        _("removed"),
        "",
        "weights",
        decimals=3,
    )
    alt = _("The weight without its largest sources: predicted, measured, and with others removed.")
    show_figure(Figure([Panel("removed", matrix)], alt), origin, key)


def show_sum(text: Prose, one: Explained) -> None:
    """The sum of all parts of each side, and the score."""
    query, key = (f"{sum(parts):.3f}" for parts in one.parts[controls.RAW])
    count, score = len(one.sources), f"{one.score:.3f}"
    text("how", count=count, query_sum=query, key_sum=key, score=score)


def recall_rest(draw: Random) -> Recall:
    """What the others give, where the first parts and the score are known."""
    first, second, rest = draw.randint(30, 60), draw.randint(10, 29), draw.randint(5, 25)
    score = first + second - rest
    numbers = {"first": first, "second": second, "score": score}
    given = {name: f"{number / 10:.1f}" for name, number in numbers.items()}
    return Recall(-rest / 10, given, tolerance=0.01)


def recall_alike(draw: Random) -> Recall:
    """A source that gives the same to all keys moves no weight."""
    scores = torch.tensor([draw.randint(-20, 20) / 10 for _key in range(4)], dtype=torch.double)
    alike = draw.randint(2, 9)
    gap = (scores + alike).softmax(-1)[0] - scores.softmax(-1)[0]
    points = abs(round(100 * gap.item(), 6))
    return Recall(points, {"alike": f"{alike}"}, tolerance=0.4, unit=PERCENT)


SHOWN = "query", "query, others", "key", "key, others"
HOLDS = 0.8
"""Below this share of its weights, a role is shown as one for which it does not hold."""


def show_roles(text: Prose) -> None:
    """How often it holds, by the role of the head; nothing where this machine's model is another.

    A row for each role: in which share of its weights they fall, bold where it does not hold.
    """
    results = read_roles()
    if not results:
        return

    def find_lower(one: RoleResult) -> float:
        return min(one.share("query"), one.share("key"))

    everything, alike = (next(one for one in results if one.role == role) for role in (ALL, ALIKE))
    failing = sorted((one for one in results if find_lower(one) < HOLDS), key=find_lower)
    shares = {
        "query": everything.share("query"),
        "raw": alike.share("query, raw"),
        "query_others": everything.share("query, others"),
        "key": everything.share("key"),
        "key_others": everything.share("key, others"),
        "alike_query": alike.share("query"),
        "alike_key": alike.share("key"),
        "into_query": alike.share("query, into the head"),
        "into_key": alike.share("key, into the head"),
        "worst_key": failing[0].share("key"),
        "worst_others": failing[0].share("key, others"),
    }
    told = {
        "count": f"{everything.cells:,}",
        "worst": _(failing[0].role),
        "roles": ", ".join(_(one.role) for one in failing),
        **{name: write_percent(share) for name, share in shares.items()},
    }
    text("roles", **told)
    head = (
        *(_("role of the head"), _("weights"), _("query: first 3"), _("query: 3 at random")),
        *(_("key: first 3"), _("key: 3 at random")),
    )
    rows = [f"| {' | '.join(head)} |", f"|---|{'---:|' * (len(head) - 1)}"]
    for one in results:
        cells = {way: write_percent(one.share(way)) for way in SHOWN}
        for way in ("query", "key"):
            cells[way] = f"**{cells[way]}**" if one.share(way) < HOLDS else cells[way]
        rows.append(f"| {' | '.join([_(one.role), _(f'{one.cells:,}'), *cells.values()])} |")
    st.markdown(join_rows(rows))


FEWEST_TOKENS = 3


def choose_own() -> Found | None:
    """The controls, and the weight that they choose, at first the row's largest past the first.

    Nothing while the model is being loaded; and with a message, if the model or the text is not
    one that can be split.
    """
    with st.container(horizontal=True):
        named, written = choose_name(), controls.looked_text()
    if not (loaded := obtain_model(named, "chosen")):
        return None
    try:
        with st.spinner(_("The model reads the text, part by part …")):
            run, tokens = _read_once(loaded, written)
    except (ModelError, ValueError, RuntimeError) as error:
        tell_failure(error)
        return None
    last = max(FEWEST_TOKENS, len(tokens)) - 1
    with st.container(horizontal=True, vertical_alignment="bottom"):
        layer = controls.looked_layer(0, len(run.layers) - 1)
        head = controls.looked_head(0, len(run.layers[0].query) - 1)
        query = controls.looked_query(2, last)
        key = controls.looked_key(-1, last)
        is_merged = controls.whole_words()
    if len(tokens) < FEWEST_TOKENS:
        st.info(_("Type a text of at least {count} tokens.", count=FEWEST_TOKENS))
        return None
    row = run.layers[layer].weights[head, query, 1:query]
    is_seen = 0 <= key <= query  # else the largest, as where none is chosen
    cell = Cell(layer, head, query, key if is_seen else 1 + int(row.argmax()))
    explained, origin = _explain_once(loaded, written, cell, run, tokens), describe_live_run(loaded)
    if not is_merged:
        return Found(explained, origin, [*range(len(tokens))], tuple(tokens))
    words = read_words(loaded, written, tuple(tokens))
    return Found(explained, origin, [*words.numbers], words.spelled)


_keep_reading = st.cache_resource(show_spinner=False, max_entries=2, ttl=600, hash_funcs=BY_MODEL)
_read_once = _keep_reading(read_text)


@st.cache_resource(show_spinner=False, max_entries=8, ttl=600, hash_funcs=BY_MODEL)
def _explain_once(
    loaded: "RealModel", written: str, cell: Cell, _run: Any, _tokens: list[str]
) -> Explained:
    return explain_cell(_run, cell, _tokens)
