"""The cards: three replacements of a head, what a head writes, and the reader's own pair."""

from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, NamedTuple

import streamlit as st
from torch import Tensor

from explainers.chapters.common.background_job import offer_job, watch_for_result
from explainers.chapters.common.choose_real_model import BY_MODEL, obtain_model
from explainers.chapters.common.measured_heads import (
    CODE_ROLE,
    SHARES,
    judge_share,
    name_head,
    show_token,
    write_estimate,
    write_grey,
)
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
from explainers.models.probes import NUM_TEXTS
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
    measure_head,
    replace_output,
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
from explainers.ui.prediction import revealed
from explainers.ui.session import WRITER_SHOWN
from explainers.ui.source import show_source
from explainers.ui.takeaway_files import hand_over
from explainers.ui.text.language import fragment
from explainers.ui.text.numbers import PERCENT, write_percent
from explainers.ui.untrusted_text import show_spaces, verbatim

if TYPE_CHECKING:
    from explainers.models.load import RealModel


MISLED = SAMPLE[0]
"""The head of the question: zero says that it matters."""
CHANCE = N_("whether any other words would do the same")
SPEED, WHICH = N_("how fast the model is"), N_("which layer the head is in")


def read_ways(shown: Shown, place: Place) -> dict[str, Estimate]:
    """What each replacement of a head costs, as it was measured beforehand."""
    rises = shown.ablations.rises[(slice(None), *place)]  # (kinds, texts)
    return {kind: summarise(row) for kind, row in zip(KINDS, rises, strict=True)}


@fragment
def ask_zero(text: Prose, shown: Shown) -> None:
    """Zeros cost a lot: how much of that is left with the mean?"""
    rises = shown.ablations.rises[(slice(None), *MISLED)]
    title = _("What replacing {head} costs", head=name_head(*MISLED))
    hand_over("rises", title, compare_replacements, rises=rises)
    found = read_ways(shown, MISLED)
    answer = judge_share(found[MEAN].mean / found[ZERO].mean)
    told = describe_ways(shown, MISLED) | {"texts": f"{NUM_TEXTS}"}
    if revealed(text, "zero", SHARES, answer, **told):
        text("zero_seen", **told)
        draw_ways(shown, MISLED, "misled")


def show_ways(text: Prose, shown: Shown, place: Place) -> None:
    """Three replacements of the chosen head; how many heads matter by each, and by zeros alone."""
    text("ways", texts=NUM_TEXTS)
    draw_ways(shown, place, "ways")
    text("ways_seen", **describe_ways(shown, place))
    clear = find_costly(shown.ablations.rises)  # (kinds, layers, heads)
    by = dict(zip(KINDS, clear, strict=True))
    only = by[ZERO] & ~by[MEAN] & ~by[RESAMPLE]
    counted = {**by, "only": only, "every": clear.all(dim=0)}
    counts = {name: f"{int(one.sum())}" for name, one in counted.items()}
    text("ways_counted", **counts, all=f"{only.numel()}")
    show_source(replace_output, measure_head, that=CODE_ROLE)
    show_source(summarise)


def describe_ways(shown: Shown, place: Place) -> dict[str, str]:
    """The head, its rises with their errors, and a row of a table; for the text."""
    found = read_ways(shown, place)
    told = {kind.replace(" ", "_"): write_estimate(one) for kind, one in found.items()}
    cells = [f"{_(kind)} | {write_grey(one)}" for kind, one in found.items()]
    return {"head": name_head(*place), "rows": "\n".join(f"| {c} |" for c in cells), **told}


def draw_ways(shown: Shown, place: Place, key: str) -> None:
    """A dot for each text, and the mean with its error, for each replacement."""
    from explainers.charts.curves import Axis, draw_text_rises

    found, rises = read_ways(shown, place), shown.ablations.rises[(slice(None), *place)]
    rows: list[tuple[str, float, float | None, float | None]] = []
    for (kind, one), row in zip(found.items(), rises.tolist(), strict=True):
        rows += [(kind, rise, None, None) for rise in row]
        away = CLEAR * one.error
        rows.append((kind, one.mean, one.mean - away, one.mean + away))
    table = tabulate(rows, ["kind", "x", "low", "high"])
    title = N_("loss rises by, nats per token")
    told = "; ".join(f"{_(kind)} {write_estimate(one)}" for kind, one in found.items())
    alt = _("What replacing {head} costs: {told}", head=name_head(*place), told=told)
    show_chart(draw_text_rises, table, alt, key, shown.origin, x=Axis(title))


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


class LayerWriting(NamedTuple):
    """What the heads of a layer write: after which tokens, for which answers, its numbers.

    `labels` are the tokens that they promote, by their ids.
    """

    tokens: list[str]
    answers: tuple[str, str]
    written: Writing
    labels: dict[int, str]


def read_writing(shown: Shown, layer: int, prompt: str) -> LayerWriting | None:
    """After the running prompt, as it came with the app; nothing for any other prompt."""
    shipped = read_shipped_writings()
    if prompt != PAIR.prompt or not shipped:
        return None
    one = Writing(*(part[layer] for part in shipped.writing))
    return LayerWriting(shown.patching.tokens[0], shown.answers, one, shipped.labels)


@st.cache_data(show_spinner=False, max_entries=16, hash_funcs=BY_MODEL)
def compute_live(loaded: "RealModel", prompt: str, layer: int) -> LayerWriting:
    """After the reader's prompt. Raises ModelError with a reason."""
    decoder = find_decoder(loaded)
    stream = read_stream(decoder, encode_prompt(loaded, prompt))
    answers = find_likeliest(decoder, stream)
    one = compute_writing(decoder, stream, layer, answers)
    ids = sorted({*one.ids.flatten().tolist(), *answers, *stream.ids[0].tolist()})
    labels = dict(zip(ids, label_ids(loaded.tokenizer, ids), strict=True))
    first, second = (show_token(labels[answer]) for answer in answers)
    tokens = [labels[token] for token in stream.ids[0].tolist()]
    return LayerWriting(tokens, (first, second), one, labels)


def show_writing(text: Prose, shown: Shown, place: Place) -> None:
    """What the chosen head writes, token by token, and what that promotes."""
    from explainers.charts.bars import draw_pushes

    text("writes")
    (layer, head), prompt = place, written_prompt()
    found, origin = read_writing(shown, layer, prompt), shown.origin
    if not found:
        if not (loaded := obtain_model(MODEL, "written")):
            return
        try:
            found = compute_live(loaded, prompt, layer)
        except ModelError as error:
            st.error(verbatim(_(get_message(error))), icon=":material/error:")
            return
        origin = describe_live_run(loaded)
    weights, leads = found.written.weights[head], found.written.leads[head]
    added = weights * leads  # to the lead of the first answer (keys,)
    numbers = zip(found.tokens, weights, leads, added, strict=True)
    rows = [
        f"| {at} {_spell(token)} | {write_percent(float(weight))} | {_sign(lead)} | {_sign(part)} |"
        for at, (token, weight, lead, part) in enumerate(numbers)
    ]
    first, second = map(verbatim, found.answers)
    table, picture = st.columns(2)
    with table:
        told = {"head": name_head(*place), "rows": "\n".join(rows), "total": _sign(added.sum())}
        text("writes_sum", **told, first=first, second=second)
    names = [f"{at} {show_token(token)}" for at, token in enumerate(found.tokens)]
    usual = names[int(added.abs().argmax())]  # which adds most, or takes most
    begin_again(WRITER_SHOWN, place, written_source)
    ends = [*range(DRAWN), *range(-DRAWN, 0)]
    with picture:  # a bar for each of the tokens that gain most and that lose most
        source = names.index(replace(written_source, default=usual)(names))
        promoted = [found.labels[token] for token in found.written.ids[head][source].tolist()]
        words = [show_spaces(promoted[end]) for end in ends]
        logits = found.written.logits[head][source][ends].tolist()
        bars = tabulate({"place": range(len(words)), "token": words, "logits": logits})
        listed = "; ".join(f"{word} {_sign(one)}" for word, one in zip(words, logits, strict=True))
        alt = _("What the head adds to the logits of next tokens: {listed}", listed=listed)
        show_chart(draw_pushes, bars, alt, "promoted", origin, length=len(words))
    text(
        "writes_seen",
        source=_spell(found.tokens[source]),
        most=", ".join(_spell(token) for token in promoted[:3]),
        least=", ".join(_spell(token) for token in promoted[:-4:-1]),
        listed=str(DRAWN),
    )
    show_source(compute_writing, write_by_key, compute_promoted, that=CODE_ROLE)


def _spell(token: str) -> str:
    return verbatim(show_token(token).replace("|", "¦"))


def _sign(value: float | Tensor) -> str:
    return f"{float(value):+.2f}".replace("-", "−")


USUAL = "When Mary and John went to the store, {giver} gave a drink to"
first_prompt = TextLine("prompt_a", N_("First prompt"), USUAL.format(giver="John"), 200)
second_prompt = TextLine("prompt_b", N_("Second prompt"), USUAL.format(giver="Mary"), 200)
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
