"""What the chosen head writes, token by token of a prompt, and the next tokens it promotes."""

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import streamlit as st
from torch import Tensor

from explainers.chapters.common.measured_heads import name_head
from explainers.chapters.does_it_matter.hero import Shown
from explainers.messages import N_, get_message
from explainers.models.layer_by_layer import find_decoder, read_stream
from explainers.models.output_circuit import Writing, compute_writing, find_likeliest
from explainers.models.patching import encode_prompt
from explainers.models.registry import ModelError
from explainers.models.shipped_ablations import Place
from explainers.models.shipped_writings import PAIR, read_shipped_writings
from explainers.models.token_text import label_ids
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.controls.name_controls import Choice, TextLine
from explainers.ui.figure.chart import show_chart
from explainers.ui.text.numbers import write_percent
from explainers.ui.untrusted_text import show_spaces, verbatim

if TYPE_CHECKING:
    from explainers.models.load import RealModel

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
        return _compute(loaded.name, id(loaded), prompt, place, loaded)
    except ModelError as error:
        st.error(verbatim(_(get_message(error))), icon=":material/error:")
        return None


@st.cache_data(show_spinner=False, max_entries=16)
def _compute(name: str, which: int, prompt: str, place: Place, _loaded: "RealModel") -> HeadWriting:
    """Once for a model (`which` of this name), a prompt and a head."""
    decoder = find_decoder(_loaded)
    stream = read_stream(decoder, encode_prompt(_loaded, prompt))
    answers = find_likeliest(decoder, stream)
    one = compute_writing(decoder, stream, place[0], answers)
    ids = sorted({*one.ids.flatten().tolist(), *answers, *stream.ids[0].tolist()})
    labels = dict(zip(ids, label_ids(_loaded.tokenizer, ids), strict=True))
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


def describe_writing(found: HeadWriting) -> dict[str, str]:
    """A row for each token, and their sum, for the text."""
    numbers = zip(found.tokens, found.weights, found.leads, found.added, strict=True)
    rows = [
        f"| {at} {_spell(token)} | {write_percent(float(weight))} | {_sign(lead)} | {_sign(part)} |"
        for at, (token, weight, lead, part) in enumerate(numbers)
    ]
    return {
        "head": found.head,
        "rows": "\n".join(rows),
        "total": _sign(found.added.sum()),
        "first": verbatim(found.answers[0]),
        "second": verbatim(found.answers[1]),
    }


def choose_source(found: HeadWriting) -> int:
    """Which token all of the weight goes to; at first the one that adds most, or takes most."""
    names = [f"{at} {token.strip() or show_spaces(token)}" for at, token in enumerate(found.tokens)]
    usual = names[int(found.added.abs().argmax())]
    return names.index(replace(written_source, default=usual)(names))


def draw_promoted(found: HeadWriting, source: int, origin: str) -> dict[str, str]:
    """A bar for each of the tokens that gain most and that lose most; and words for the text."""
    import pandas as pd  # the first paint needs no tables

    from explainers.charts.bars import draw_pushes

    ends = [*range(DRAWN), *range(-DRAWN, 0)]
    words = [show_spaces(found.promoted[source][end]) for end in ends]
    logits = found.logits[source][ends].tolist()
    rows = pd.DataFrame({"place": range(len(words)), "token": words, "logits": logits})
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
