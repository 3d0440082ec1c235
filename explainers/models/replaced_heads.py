"""A head's output replaced: by zeros, a mean, another text's; by that on another prompt.

Zero is an output that the model never met; the mean of other places, and the output on another
text, are closer to what later layers expect (Wang et al. 2022; Chan et al. 2022).

Patching takes the output on another prompt (Vig et al. 2020): does the next token follow? Beside
each effect stands a null: the same places of the prompt filled with random words.

>>> rise = summarise(torch.tensor([0.0, 1.0, 2.0, 3.0, 4.0]))
>>> rise.mean, round(rise.error, 3)  # the standard error of the mean
(2.0, 0.707)
"""

import math
import random
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from explainers.job_queue import Job
from explainers.messages import N_
from explainers.models.changes import compute_losses
from explainers.models.layer_by_layer import (
    Decoder,
    DirectEffects,
    Stream,
    compute_direct_effects,
    find_decoder,
    go_on,
    read_stream,
)
from explainers.models.load import load_model
from explainers.models.registry import ModelError
from explainers.models.token_text import spell_token

if TYPE_CHECKING:
    from explainers.models.load import RealModel

ZERO, MEAN, RESAMPLE = N_("zero"), N_("mean"), N_("resample")
KINDS = ZERO, MEAN, RESAMPLE
"""What stands in for the head's output: nothing, its mean, or what it wrote in another text."""
CLEAR = 2.0
"""Standard errors that a mean must be away from 0 to be called different from it."""


class Baseline(NamedTuple):
    """Texts as the model reads them: `means` of each layer (heads, head_dim), losses (texts,)."""

    stream: Stream
    means: list[Tensor]
    losses: Tensor


class Estimate(NamedTuple):
    """A mean over texts, and its standard error."""

    mean: float
    error: float

    @property
    def is_clear(self) -> bool:
        """Is the mean at least two standard errors away from 0?"""
        return abs(self.mean) >= CLEAR * self.error


def compute_text_losses(decoder: Decoder, end: Tensor, ids: Tensor) -> Tensor:
    """The mean loss of each text (texts,), in nats per token; one text at a time, for memory."""
    return torch.cat(
        [
            compute_losses(decoder.compute_logits(one[None]).log_softmax(-1), own[None]).mean(-1)
            for one, own in zip(end, ids, strict=True)
        ]
    )


def replace_output(baseline: Baseline, layer: int, head: int, kind: str) -> Tensor:
    """The outputs of a layer (texts, tokens, heads, head_dim) with one head's replaced."""
    outputs = baseline.stream.heads[layer].clone()
    outputs[:, :, head] = {
        ZERO: torch.zeros_like(outputs[:, :, head]),
        MEAN: baseline.means[layer][head].expand_as(outputs[:, :, head]),
        RESAMPLE: outputs[:, :, head].roll(-1, dims=0),
    }[kind]
    return outputs


def measure_head(decoder: Decoder, baseline: Baseline, place: tuple[int, int], kind: str) -> Tensor:
    """By how much each text's loss rises (texts,), in nats per token; `place`: layer and head."""
    outputs = replace_output(baseline, *place, kind)
    end = go_on(decoder, baseline.stream, place[0], outputs)
    with torch.no_grad():
        losses = compute_text_losses(decoder, end, baseline.stream.ids)
    return losses - baseline.losses


def summarise(rises: Tensor) -> Estimate:
    """Mean and standard error over texts (texts,)."""
    return Estimate(float(rises.mean()), float(rises.std()) / math.sqrt(len(rises)))


def find_costly(rises: Tensor) -> Tensor:
    """Where the loss rises by at least two standard errors; rises (…, texts), True or False (…)."""
    error = rises.std(dim=-1) / math.sqrt(rises.shape[-1])
    return rises.mean(dim=-1) >= CLEAR * error


LEAST_LEAD = 3.0
"""Nats: with a smaller lead, dividing by the difference of both makes noise look large."""
MOST_TOKENS = 32
"""Of a prompt: each head takes a run from its layer to the end."""
DRAWS = 19
"""Prompts of random words, for the null: where the other prompt's word does no more than any word,
its effect is the largest of all 20 in one of 20 heads."""


class Pair(NamedTuple):
    """Two prompts, and the next token that each should have."""

    prompt: str
    other: str
    answer: str
    other_answer: str


class ReadPair(NamedTuple):
    """A pair in tokens: both texts (1, tokens), both answers, and the lead of the first in each."""

    stream: Stream
    other: Stream
    answers: tuple[int, int]
    leads: tuple[float, float]

    @property
    def changed(self) -> Tensor:
        """Where the prompts differ (tokens,), True or False."""
        return self.stream.ids[0] != self.other.ids[0]


class Patching(NamedTuple):
    """effects (layers, heads): 0 the first prompt's lead, 1 the other's.

    null (draws, layers, heads): absolute effects of random words; `tokens` of both prompts.
    """

    tokens: tuple[list[str], list[str]]
    leads: tuple[float, float]
    effects: Tensor
    null: Tensor
    direct: DirectEffects

    @property
    def chance(self) -> Tensor:
        """The most that random words did at each head (layers, heads)."""
        return self.null.amax(dim=0)

    @property
    def passes(self) -> Tensor:
        """Which heads do more than any random word did at the same head (layers, heads)."""
        return self.effects.abs() > self.chance

    @property
    def lucky(self) -> float:
        """How many heads would pass if the other prompt's word were one more random word."""
        return self.effects.numel() / (1 + len(self.null))


def read_pair(loaded: "RealModel", decoder: Decoder, pair: Pair) -> ReadPair:
    """Read both prompts; ModelError, with the reason, for a pair that cannot be compared."""
    ids, other_ids = (encode_prompt(loaded, text) for text in (pair.prompt, pair.other))
    if ids.shape != other_ids.shape:
        raise ModelError(
            "The prompts have {count} and {other} tokens. Choose two of the same length: "
            "heads are exchanged position by position.",
            count=ids.shape[1],
            other=other_ids.shape[1],
        )
    answers = _encode_answer(loaded, pair.answer), _encode_answer(loaded, pair.other_answer)
    stream, other = (read_stream(decoder, one) for one in (ids, other_ids))
    leads = _lead(decoder, stream.end, answers), _lead(decoder, other.end, answers)
    refuse_small_leads(float(leads[0]), float(leads[1]))
    return ReadPair(stream, other, answers, (float(leads[0]), float(leads[1])))


def refuse_small_leads(lead: float, other_lead: float) -> None:
    """ModelError unless each prompt clearly prefers its own answer."""
    if lead < LEAST_LEAD or other_lead > -LEAST_LEAD:
        raise ModelError(
            "The lead of the first answer is {lead:.2f} nats after the first prompt and "
            "{other:.2f} after the second. It must be at least {least:g}, and at most "
            "−{least:g}: otherwise noise looks large.",
            lead=lead,
            other=other_lead,
            least=LEAST_LEAD,
        )


def patch_pair(
    loaded: "RealModel",
    decoder: Decoder,
    pair: Pair,
    seed: int = 0,
    report: Callable[[int], None] = lambda _: None,
) -> Patching:
    """Exchange every head, then again with random words; `report` is given each layer's number."""
    read = read_pair(loaded, decoder, pair)
    effects = patch_heads(decoder, read, read.other, report)
    null = []
    for ids in draw_null(loaded, read, seed):
        null.append(patch_heads(decoder, read, read_stream(decoder, ids), report).abs())
    tokens = tuple(
        [spell_token(loaded.tokenizer, one) for one in stream.ids[0].tolist()]
        for stream in (read.stream, read.other)
    )
    direct = compute_direct_effects(decoder, read.stream, read.answers)
    return Patching((tokens[0], tokens[1]), read.leads, effects, torch.stack(null), direct)


def patch_heads(
    decoder: Decoder, read: ReadPair, source: Stream, report: Callable[[int], None] = lambda _: None
) -> Tensor:
    """Each head's output at all positions taken from `source`, one head at a time (layers, heads).

    0 leaves the first prompt's lead, 1 gives the second prompt's.
    """
    clean, other = read.leads
    rows = []
    for layer in range(decoder.num_layers):
        own, taken = read.stream.heads[layer], source.heads[layer]
        outputs = own.repeat(decoder.num_heads, 1, 1, 1)
        for head in range(decoder.num_heads):
            outputs[head, :, head] = taken[0, :, head]
        leads = _lead(decoder, go_on(decoder, read.stream, layer, outputs), read.answers)
        rows.append((leads - clean) / (other - clean))
        report(layer)
    return torch.stack(rows)


def draw_null(loaded: "RealModel", read: ReadPair, seed: int) -> list[Tensor]:
    """The first prompt with random words where the second one differs; each (1, tokens)."""
    words = list_words(loaded)
    draw = random.Random(seed)  # noqa: S311
    count = int(read.changed.sum())
    prompts = []
    for _ in range(DRAWS):
        ids = read.stream.ids.clone()
        ids[0, read.changed] = torch.tensor(draw.choices(words, k=count), device=ids.device)
        prompts.append(ids)
    return prompts


def list_words(loaded: "RealModel") -> list[int]:
    """Tokens that are a whole word with its space; all ordinary ones where there are none."""
    tokenizer = loaded.tokenizer
    special = set(tokenizer.all_special_ids)
    ordinary = [one for one in range(len(tokenizer)) if one not in special]
    texts = tokenizer.batch_decode([[one] for one in ordinary])
    words = [
        token
        for token, said in zip(ordinary, texts, strict=True)
        if said[:1] == " " and said[1:].isalpha()
    ]
    return words or ordinary


@torch.no_grad()
def _lead(decoder: Decoder, end: Tensor, answers: tuple[int, int]) -> Tensor:
    """The logit of the first answer minus that of the second, after the last token (texts,)."""
    logits = decoder.compute_logits(end[:, -1])
    return logits[:, answers[0]] - logits[:, answers[1]]


def encode_prompt(loaded: "RealModel", text: str) -> Tensor:
    """Its ids (1, tokens); ModelError if there are none, or too many to wait for."""
    ids = loaded.tokenizer(text)["input_ids"]
    if not ids:
        raise ModelError("A prompt needs at least one token.")
    if len(ids) > MOST_TOKENS:
        raise ModelError("A prompt may have {most} tokens here.", most=MOST_TOKENS)
    return torch.tensor([ids], device=loaded.model.device)


def _encode_answer(loaded: "RealModel", answer: str) -> int:
    """An answer is one token, with the space before it."""
    ids = loaded.tokenizer(f" {answer.strip()}", add_special_tokens=False)["input_ids"]
    if len(ids) != 1 or not answer.strip():
        raise ModelError(
            "An answer must be one token; “{answer}” has {count}.", answer=answer, count=len(ids)
        )
    return int(ids[0])


class PairRequest(NamedTuple):
    """A pair of prompts, and the seed of the random words."""

    model: str
    pair: Pair
    seed: int


PatchingJob = Job[PairRequest, str, Patching]
"""It reports in words how many layers have been run."""


def make_patching_job(request: PairRequest) -> PatchingJob:
    """Every head exchanged, and as often again with random words."""
    return Job(request, _patch)


def _patch(job: PatchingJob) -> Patching:
    loaded = load_model(job.subject.model)
    decoder = find_decoder(loaded)
    job.total = decoder.num_layers * (1 + DRAWS)

    def report(_: int) -> None:
        job.report(N_("{done} of {all} layers", done=len(job.reports) + 1, all=job.total))

    return patch_pair(loaded, decoder, job.subject.pair, job.subject.seed, report)
