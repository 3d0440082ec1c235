"""A real model writes token by token: how each is chosen, who looked where, and bytes; as a job.

Temperature, top-k and top-p can be changed afterwards: of the whole vocabulary, so much is kept
that the probabilities of the candidates shown are exact for every offered choice.

>>> logits = torch.tensor([1.0, 3.0, 2.0])
>>> keep_top_k(logits, 2), keep_top_p(logits, 0.6)
(tensor([-inf, 3., 2.]), tensor([-inf, 3., -inf]))
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from explainers.job_queue import Job
from explainers.messages import N_
from explainers.models.attention_hook import RecordedAttention, run_model
from explainers.models.load import load_model
from explainers.models.registry import ModelError
from explainers.models.token_text import find_words, spell_token, tokenise_text


def heat(logits: Tensor, temperature: float) -> Tensor:
    """Below 1 the best token gains, above 1 all become alike."""
    if temperature <= 0:
        raise ValueError(f"a temperature of {temperature:g} is not above 0")
    return logits / temperature


def keep_top_k(logits: Tensor, count: int) -> Tensor:
    """Only the `count` best tokens may be drawn, and those that tie with the last of them."""
    if count < 1:
        raise ValueError(f"of the best {count} tokens none can be drawn")
    least = logits.topk(min(count, logits.shape[-1]), dim=-1).values[..., -1:]
    return logits.masked_fill(logits < least, -torch.inf)


def keep_top_p(logits: Tensor, share: float) -> Tensor:
    """Only the fewest tokens that have the `share` together (nucleus; Holtzman et al. 2020, 3.1).

    From the least probable token on, whatever adds up to no more than the rest is left out.
    """
    if not 0 < share <= 1:
        raise ValueError(f"a share of {share:g} is not above 0 and at most 1")
    if share == 1:
        return logits  # a sum may be rounded to 1 before its last tokens
    ordered, order = logits.sort(dim=-1)
    is_out = ordered.softmax(dim=-1).cumsum(dim=-1) <= 1 - share
    is_out[..., -1] = False  # the best token always stays
    return logits.masked_fill(torch.empty_like(is_out).scatter_(-1, order, is_out), -torch.inf)


def draw(logits: Tensor, generator: torch.Generator) -> Tensor:
    """One token (...,), as often as its probability says: the first whose sum passes the draw.

    The generator makes one number for each token, whatever the vocabulary.
    """
    sums = logits.softmax(dim=-1).double().cumsum(dim=-1)
    luck = torch.rand(sums.shape[:-1], generator=generator, dtype=torch.float64)
    place = torch.searchsorted(sums, luck[..., None] * sums[..., -1:], right=True)
    return place[..., 0].clamp(max=logits.shape[-1] - 1)


MOST_PROMPT, MOST_WRITTEN = 256, 64


@dataclass(frozen=True)
class Sampling:
    """How the next token is chosen; a temperature of 0 takes the most probable one."""

    temperature: float = 0.0
    top_k: int = 0
    """0 for all tokens."""
    top_p: float = 1.0

    def restrict(self, logits: Tensor) -> Tensor:
        """Logits (vocabulary,) after temperature, top-k and top-p, in the order of transformers."""
        if self.temperature == 0:
            return keep_top_k(logits, 1)
        logits = heat(logits, self.temperature)
        logits = keep_top_k(logits, self.top_k) if self.top_k else logits
        return keep_top_p(logits, self.top_p)

    def choose(self, logits: Tensor, generator: torch.Generator) -> int:
        """The next token; the same generator gives the same text."""
        if self.temperature == 0:
            return int(logits.argmax())
        return int(draw(self.restrict(logits), generator))


class WrittenToken(NamedTuple):
    """One token: the weights that led to it, and what the step took."""

    token_id: int
    weights: Tensor
    """(layers, heads, tokens so far): where the heads of the last token looked."""
    cache_bytes: int
    """After this step; 0 without a cache."""
    seconds: float
    logits: Tensor
    """(vocabulary,), of which the token was chosen."""


def write_tokens(
    model: Any,
    ids: Tensor,
    count: int,
    sampling: Sampling,
    generator: torch.Generator,
    has_cache: bool = True,
) -> Iterator[WrittenToken]:
    """Write up to `count` tokens behind ids (1, tokens); ends early at a token that ends texts.

    Without a cache everything is read again for each token. ModelError for a text without tokens
    or with more than can be read.
    """
    if not 1 <= ids.shape[1] <= MOST_PROMPT:
        raise ModelError(
            "A prompt has from 1 to {most} tokens; this one has {count}.",
            most=MOST_PROMPT,
            count=ids.shape[1],
        )
    if not 1 <= count <= MOST_WRITTEN:
        raise ModelError(
            "From 1 to {most} tokens can be written, not {count}.", most=MOST_WRITTEN, count=count
        )
    ends, cache, so_far = getattr(model.generation_config, "eos_token_id", None), None, ids

    def keep_last_row(one: RecordedAttention) -> Tensor:  # (heads, tokens)
        return one.weights[0, :, -1].float().cpu()

    for _ in range(count):
        began = time.perf_counter()
        given: dict[str, Any] = {"input_ids": so_far, "use_cache": has_cache}
        if cache is not None:
            given |= {"input_ids": so_far[:, -1:], "past_key_values": cache}
        output, rows = run_model(model, record=keep_last_row, logits_to_keep=1, **given)
        cache = output.past_key_values if has_cache else None
        logits = output.logits[0, -1].float().cpu()
        chosen = sampling.choose(logits, generator)
        taken = time.perf_counter() - began
        yield WrittenToken(chosen, torch.stack(rows), count_bytes(cache), taken, logits)
        if chosen in (ends if isinstance(ends, list) else [ends]):
            return
        so_far = torch.cat([so_far, so_far.new_tensor([[chosen]])], dim=1)


def count_bytes(cache: Any) -> int:
    """What the keys and values of a cache of transformers take, in bytes."""
    if cache is None:
        return 0
    return sum(layer.keys.nbytes + layer.values.nbytes for layer in cache.layers)


TEMPERATURES: tuple[float, ...] = 0, 0.3, 0.5, 0.8, 1, 1.3, 1.6, 2
"""0 takes the most probable token."""
TOP_KS = 1, 2, 5, 10, 20, 0
"""0 for all tokens."""
TOP_PS: tuple[float, ...] = 0.5, 0.8, 0.9, 0.95, 1
NUM_LISTED, NUM_LOOKS = 20, 6
"""Candidates that are kept, as many as the largest top-k; and words that were looked at."""
DIGITS = 4


class ToldStep(NamedTuple):
    """One written token, in numbers that a file or a browser can take."""

    token: str
    probability: float
    """As the model has it, before temperature, top-k and top-p."""
    candidates: list[tuple[str, float]]
    """The most probable tokens with their logits, largest first; the largest is 0."""
    place: int
    """How many tokens are more probable than the written one: its place among the candidates."""
    logit: float
    """Its own."""
    kept: list[list[tuple[int, float]]]
    """By temperature above 0, by top-p: how many tokens may be drawn, ln of the sum of their
    e^(logit / temperature); without top-k."""
    looks: list[tuple[int, float, str, list[float]]]
    """Of the words that were looked at: which, with what weight, by which head, its whole row."""
    first_share: float
    """Of the weight of all heads together, what the first token got."""
    num_bytes: int
    seconds: float


def tell_step(step: WrittenToken, tokenizer: Any) -> ToldStep:
    """From one step; its logits are told from the largest on."""
    logits = (step.logits - step.logits.max()).double()

    def sum_kept(temperature: float, share: float) -> tuple[int, float]:
        kept = Sampling(temperature=temperature, top_p=share).restrict(logits)
        return int(kept.isfinite().sum()), round(float(kept.logsumexp(dim=-1)), DIGITS)

    best = logits.topk(min(NUM_LISTED, len(logits))).indices.tolist()
    return ToldStep(
        spell_token(tokenizer, step.token_id),
        round(step.logits.softmax(dim=-1)[step.token_id].item(), 6),
        [(spell_token(tokenizer, one), round(float(logits[one]), DIGITS)) for one in best],
        int((logits > logits[step.token_id]).sum()),
        round(float(logits[step.token_id]), DIGITS),
        [[sum_kept(one, share) for share in TOP_PS] for one in TEMPERATURES[1:]],
        list_looks(step.weights),
        round(float(step.weights[..., 0].mean()), DIGITS),
        step.cache_bytes,
        round(step.seconds, 5),
    )


def merge_prompt(weights: Tensor, words: Sequence[int]) -> Tensor:
    """Weights (..., tokens) with those of each word of the prompt added up; `words` numbers its
    tokens. What was written behind it stays token by token."""
    end = words[-1] + 1
    places = [*words, *range(end, end + weights.shape[-1] - len(words))]
    merged = weights.new_zeros(*weights.shape[:-1], places[-1] + 1)
    return merged.index_add_(-1, torch.tensor(places, device=weights.device), weights)


def list_looks(weights: Tensor) -> list[tuple[int, float, str, list[float]]]:
    """The words that some head looked at most, and that head; weights (layers, heads, tokens).

    Not the first token: heads that look for nothing look there. Nor the last, the query itself.
    """
    largest, head = weights.flatten(0, 1).max(dim=0)
    words = largest[1:-1].topk(min(NUM_LOOKS, max(0, len(largest) - 2))).indices.tolist()
    found = []
    for word in (one + 1 for one in words):
        layer, number = divmod(int(head[word]), weights.shape[1])
        row = weights[layer, number].double().round(decimals=3).tolist()
        found.append((word, row[word], f"L{layer}.H{number}", row))
    return found


class WritingRequest(NamedTuple):
    """A prompt, how many tokens to write behind it, and how they are drawn."""

    model: str
    prompt: str
    length: int
    sampling: Sampling
    seed: int


class Written(NamedTuple):
    """The prompt in tokens, and each token that was written; seconds of each without a cache.

    `words` are the prompt's, and `merged` the steps that look at them; both are empty where every
    word is one token.
    """

    prompt: list[str]
    steps: list[ToldStep]
    seconds_without: list[float]
    text: str
    words: list[str]
    merged: list[ToldStep]


WritingJob = Job[WritingRequest, str, Written]
"""It reports the text so far."""


def make_writing_job(request: WritingRequest) -> WritingJob:
    """Write with a cache, then read everything again for each token, without."""
    return Job(request, _write)


def _write(job: WritingJob) -> Written:
    wanted = job.subject
    loaded = load_model(wanted.model)
    ids, prompt = tokenise_text(loaded, wanted.prompt, MOST_PROMPT)
    words = find_words(loaded, wanted.prompt, prompt)
    job.total = 2 * wanted.length
    steps: list[ToldStep] = []
    merged: list[ToldStep] = []
    written: list[int] = []
    given = loaded.model, ids, wanted.length, wanted.sampling
    for step in write_tokens(*given, torch.Generator().manual_seed(wanted.seed)):
        steps.append(tell_step(step, loaded.tokenizer))
        if words:
            looks = list_looks(merge_prompt(step.weights, words.numbers))
            merged.append(steps[-1]._replace(looks=looks))
        written.append(step.token_id)
        job.report(str(loaded.tokenizer.decode(written)))
    job.total = 2 * len(steps)
    without: list[float] = []
    again = write_tokens(*given, torch.Generator().manual_seed(wanted.seed), has_cache=False)
    for step, cached in zip(again, written, strict=False):
        if step.token_id != cached:
            break  # two tokens were as good as equal: from here on it is another text
        without.append(step.seconds)
        job.report(N_("{done} of {all} without the cache", done=len(without), all=len(steps)))
    text, spelled = str(loaded.tokenizer.decode(written)), words.spelled if words else ()
    return Written([*prompt], steps, without, text, [*spelled], merged)
