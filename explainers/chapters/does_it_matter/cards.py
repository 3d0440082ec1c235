"""The cards: three replacements of a head, what a head writes, and the reader's own pair."""

from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, NamedTuple

import streamlit as st
from torch import Tensor

from explainers.chapters.common.background_job import offer_job, watch_for_result
from explainers.chapters.common.choose_real_model import BY_MODEL, obtain_model
from explainers.chapters.common.measured_heads import CODE_ROLE, name_head
from explainers.chapters.common.recording import describe_live_run
from explainers.chapters.does_it_matter.hero import OWN, Shown, make_hero
from explainers.messages import N_, get_message
from explainers.models.layer_by_layer import (
    Writing,
    compute_promoted,
    compute_writing,
    find_decoder,
    find_likeliest,
    read_stream,
    write_by_key,
)
from explainers.models.registry import ModelError
from explainers.models.replaced_heads import (
    CLEAR,
    DRAWS,
    KINDS,
    LEAST_LEAD,
    MEAN,
    MOST_TOKENS,
    RESAMPLE,
    ZERO,
    Estimate,
    Pair,
    PairRequest,
    encode_prompt,
    find_costly,
    make_patching_job,
    summarise,
)
from explainers.models.shipped_measurements import MODEL, PAIR, SAMPLE, Place, read_shipped_writings
from explainers.models.token_text import label_ids
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.controls.name_controls import Choice, TextLine
from explainers.ui.figure.chart import show_chart, tabulate
from explainers.ui.figure.hero import begin_again, show_picture
from explainers.ui.page import Prose
from explainers.ui.page_parts.check_yourself import Recall
from explainers.ui.session import WRITER_SHOWN
from explainers.ui.source import show_source
from explainers.ui.text.numbers import PERCENT, write_percent
from explainers.ui.untrusted_text import show_spaces, verbatim

if TYPE_CHECKING:
    from explainers.models.load import RealModel


SAME, HALF, NOTHING = N_("about the same"), N_("about half"), N_("almost nothing")
SHARES = SAME, HALF, NOTHING
MISLED = SAMPLE[0]
"""The head of the question: zero says that it matters."""
CHANCE = N_("whether any other words would do the same")
SPEED, WHICH = N_("how fast the model is"), N_("which layer the head is in")


class Ways(NamedTuple):
    """A head's estimates, by the three replacements; rises (kinds, texts)."""

    place: Place
    found: dict[str, Estimate]
    rises: Tensor


def read_ways(shown: Shown, place: Place) -> Ways:
    """As it was measured beforehand."""
    rises = shown.ablations.rises[(slice(None), *place)]  # (kinds, texts)
    found = {kind: summarise(row) for kind, row in zip(KINDS, rises, strict=True)}
    return Ways(place, found, rises)


def answer_mean(ways: Ways) -> str:
    """How much of the rise with zeros is left with the mean."""
    share = ways.found[MEAN].mean / ways.found[ZERO].mean
    return SAME if share > 0.75 else HALF if share > 0.25 else NOTHING


def describe_ways(ways: Ways) -> dict[str, str]:
    """The head, its rises with their errors, and a row of a table; for the text."""
    told = {kind.replace(" ", "_"): write_estimate(one) for kind, one in ways.found.items()}
    cells = [f"{_(kind)} | {write_grey(one)}" for kind, one in ways.found.items()]
    return {"head": name_head(*ways.place), "rows": "\n".join(f"| {c} |" for c in cells), **told}


def write_estimate(one: Estimate) -> str:
    """Mean ± standard error."""
    return f"{one.mean:+.3f} ± {one.error:.3f}".replace("-", "−")


def write_grey(one: Estimate) -> str:
    """Grey where the mean is less than two standard errors from 0."""
    return f"**{write_estimate(one)}**" if one.is_clear else f":gray[{write_estimate(one)}]"


def draw_ways(ways: Ways, origin: str, key: str) -> None:
    """A dot for each text, and the mean with its error, for each replacement."""
    from explainers.charts.curves import Axis, draw_text_rises

    rows: list[tuple[str, float, float | None, float | None]] = []
    for (kind, one), row in zip(ways.found.items(), ways.rises.tolist(), strict=True):
        rows += [(kind, rise, None, None) for rise in row]
        away = CLEAR * one.error
        rows.append((kind, one.mean, one.mean - away, one.mean + away))
    table = tabulate(rows, ["kind", "x", "low", "high"])
    title = N_("loss rises by, nats per token")
    told = "; ".join(f"{_(kind)} {write_estimate(one)}" for kind, one in ways.found.items())
    alt = _("What replacing {head} costs: {told}", head=name_head(*ways.place), told=told)
    show_chart(draw_text_rises, table, alt, key, origin, x=Axis(title))


def count_heads(shown: Shown) -> dict[str, str]:
    """How many heads matter by each replacement, and by zeros alone; for the text."""
    rises = shown.ablations.rises
    clear = find_costly(rises)  # (kinds, layers, heads)
    only_zero = clear[KINDS.index(ZERO)] & ~clear[KINDS.index(MEAN)] & ~clear[KINDS.index(RESAMPLE)]
    told = {kind: f"{int(one.sum())}" for kind, one in zip(KINDS, clear, strict=True)}
    return told | {
        "all": f"{only_zero.numel()}",
        "only": f"{int(only_zero.sum())}",
        "every": f"{int(clear.all(dim=0).sum())}",
    }


def recall_null(_draw: Random) -> Recall:
    """What random words are for."""
    return Recall(CHANCE, {}, [SPEED, CHANCE, WHICH])


def recall_effect(draw: Random) -> Recall:
    """How far a lead has moved, in percent of the way."""
    lead, other = draw.randint(5, 9), -draw.randint(5, 9)
    share = draw.choice([0.25, 0.5, 0.75])
    moved = lead + share * (other - lead)
    given = {"lead": f"{lead}", "other": f"−{-other}", "moved": f"{moved:g}".replace("-", "−")}
    return Recall(round(100 * share), given, unit=PERCENT)


def compare_replacements(rises: Tensor) -> dict[str, Tensor]:
    """Mean and standard error over texts; rises (replacements, texts), in nats per token."""
    error = rises.std(dim=-1) / rises.shape[-1] ** 0.5
    return {"loss rises by": rises.mean(dim=-1), "standard error": error}


DRAWN = 5
"""Of the next tokens that gain most, and of those that lose most."""

written_prompt = TextLine("written_prompt", N_("Prompt"), PAIR.prompt, 200)
written_source = Choice("written_from", N_("All of its weight on"), "")
controls.register(written_prompt, written_source)


class HeadWriting(NamedTuple):
    """One head's writing: its name, the prompt's tokens, two answers, and numbers by token.

    weights, leads (keys,); logits (keys, 20), promoted: the tokens that they are of.
    """

    head: str
    tokens: list[str]
    answers: tuple[str, str]
    weights: Tensor
    leads: Tensor
    logits: Tensor
    promoted: list[list[str]]

    @property
    def added(self) -> Tensor:
        """To the lead of the first answer (keys,)."""
        return self.weights * self.leads


def read_writing(shown: Shown, place: Place, prompt: str) -> HeadWriting | None:
    """After the running prompt, as it came with the app; nothing for any other prompt."""
    shipped = read_shipped_writings()
    if prompt != PAIR.prompt or not shipped:
        return None
    layer, head = place
    one = Writing(*(part[layer] for part in shipped.writing))
    tokens, name = shown.patching.tokens[0], name_head(*place)
    return _pick(one, head, name, tokens, shown.answers, shipped.labels)


def compute_live(loaded: "RealModel", prompt: str, place: Place) -> HeadWriting | None:
    """After the reader's prompt; for one that cannot be read, the reason stands there instead."""
    try:
        return _compute(loaded, prompt, place)
    except ModelError as error:
        st.error(verbatim(_(get_message(error))), icon=":material/error:")
        return None


@st.cache_data(show_spinner=False, max_entries=16, hash_funcs=BY_MODEL)
def _compute(loaded: "RealModel", prompt: str, place: Place) -> HeadWriting:
    decoder = find_decoder(loaded)
    stream = read_stream(decoder, encode_prompt(loaded, prompt))
    answers = find_likeliest(decoder, stream)
    one = compute_writing(decoder, stream, place[0], answers)
    ids = sorted({*one.ids.flatten().tolist(), *answers, *stream.ids[0].tolist()})
    labels = dict(zip(ids, label_ids(loaded.tokenizer, ids), strict=True))
    first, second = (labels[answer].strip() or show_spaces(labels[answer]) for answer in answers)
    tokens = [labels[token] for token in stream.ids[0].tolist()]
    return _pick(one, place[1], name_head(*place), tokens, (first, second), labels)


def _pick(
    one: Writing,
    head: int,
    name: str,
    tokens: list[str],
    answers: tuple[str, str],
    labels: dict[int, str],
) -> HeadWriting:
    promoted = [[labels[token] for token in row] for row in one.ids[head].tolist()]
    return HeadWriting(
        name, tokens, answers, one.weights[head], one.leads[head], one.logits[head], promoted
    )


def show_writing(text: Prose, shown: Shown, place: Place) -> None:
    """What the chosen head writes, token by token, and what that promotes."""
    text("writes")
    prompt = written_prompt()
    found, origin = read_writing(shown, place, prompt), shown.origin
    if not found:
        if not (loaded := obtain_model(MODEL, "written")):
            return
        found = compute_live(loaded, prompt, place)
        origin = describe_live_run(loaded)
    if found is None:
        return
    numbers = zip(found.tokens, found.weights, found.leads, found.added, strict=True)
    rows = [
        f"| {at} {_spell(token)} | {write_percent(float(weight))} | {_sign(lead)} | {_sign(part)} |"
        for at, (token, weight, lead, part) in enumerate(numbers)
    ]
    first, second = map(verbatim, found.answers)
    total = _sign(found.added.sum())
    table, picture = st.columns(2)
    with table:
        told = {"head": found.head, "rows": "\n".join(rows), "total": total}
        text("writes_sum", **told, first=first, second=second)
    names = [f"{at} {token.strip() or show_spaces(token)}" for at, token in enumerate(found.tokens)]
    usual = names[int(found.added.abs().argmax())]  # which adds most, or takes most
    begin_again(WRITER_SHOWN, place, written_source)
    with picture:
        source = names.index(replace(written_source, default=usual)(names))
        promoted = draw_promoted(found, source, origin)
    text("writes_seen", **promoted)
    show_source(compute_writing, write_by_key, compute_promoted, that=CODE_ROLE)


def draw_promoted(found: HeadWriting, source: int, origin: str) -> dict[str, str]:
    """A bar for each of the tokens that gain most and that lose most; and words for the text."""
    from explainers.charts.bars import draw_pushes

    ends = [*range(DRAWN), *range(-DRAWN, 0)]
    words = [show_spaces(found.promoted[source][end]) for end in ends]
    logits = found.logits[source][ends].tolist()
    rows = tabulate({"place": range(len(words)), "token": words, "logits": logits})
    listed = "; ".join(f"{word} {_sign(one)}" for word, one in zip(words, logits, strict=True))
    alt = _("What the head adds to the logits of next tokens: {listed}", listed=listed)
    show_chart(draw_pushes, rows, alt, "promoted", origin, length=len(words))
    return {
        "source": _spell(found.tokens[source]),
        "most": ", ".join(_spell(token) for token in found.promoted[source][:3]),
        "least": ", ".join(_spell(token) for token in found.promoted[source][:-4:-1]),
        "listed": str(DRAWN),
    }


def _spell(token: str) -> str:
    return verbatim((token.strip() or show_spaces(token)).replace("|", "¦"))


def _sign(value: float | Tensor) -> str:
    return f"{float(value):+.2f}".replace("-", "−")


first_prompt = TextLine(
    "prompt_a",
    N_("First prompt"),
    "When Mary and John went to the store, John gave a drink to",
    200,
)
second_prompt = TextLine(
    "prompt_b",
    N_("Second prompt"),
    "When Mary and John went to the store, Mary gave a drink to",
    200,
)
first_answer = TextLine("answer_a", N_("Its next word"), "Mary", 30)
second_answer = TextLine("answer_b", N_("Its next word"), "John", 30)
controls.register(first_prompt, second_prompt, first_answer, second_answer)
JOB = "matter: pair"


def show_pair(text: Prose, shown: Shown, seed: int) -> None:
    """Two prompts of the reader's, and the first picture of them."""
    text("pair", least=f"{LEAST_LEAD:g}", most=MOST_TOKENS, draws=DRAWS)
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    with left:
        prompts = first_prompt(), second_prompt()
    with right:
        answers = first_answer(), second_answer()
    if not (loaded := obtain_model(MODEL, "beside")):
        return
    job = make_patching_job(PairRequest(MODEL, Pair(*prompts, *answers), seed))
    offered = offer_job(JOB, _("Exchange every head"), job, icon=":material/swap_horiz:")
    if not offered or offered.subject != job.subject:
        return
    if found := watch_for_result(JOB, offered, _("Exchanging")):
        own = Shown(found, shown.ablations, answers, describe_live_run(loaded))
        show_picture(text, make_hero(text, own, OWN), "own matter")
