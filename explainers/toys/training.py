"""A task in which attention must fetch, and training on it: Adam (Kingma and Ba 2015).

Each token of short news names the words that it is related to. It knows only itself; who did it,
and to whom, it learns from the others. No head is told where to look. Readers watch it as a job.
"""

import functools
import hashlib
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor
from torch.func import vmap
from torch.nn.functional import binary_cross_entropy_with_logits, one_hot

from explainers import kept
from explainers.attention import masks
from explainers.attention.grouped_query import grouped_query
from explainers.attention.layer import MultiHead
from explainers.attention.multi_head import ManyHeads, multi_head
from explainers.attention.positions import sinusoidal
from explainers.job_queue import Job
from explainers.toys.examples import LONGEST, make_generator
from explainers.toys.grammar import GRAMMARS, NUM_WORDS, News, find_language
from explainers.toys.layers import (
    D_MODEL,
    MAX_NEWS_TOKENS,
    Configuration,
    TrainedHeads,
    build_mask,
    name_weights,
)

NUM_CHOICES = 4 + MAX_NEWS_TOKENS
"""How many numbers decide about a sentence: its form, its kind, and its words."""
RUNNING = frozenset(grammar.running.tokens for grammar in GRAMMARS.values())


def is_held_out(tokens: Sequence[str]) -> bool:
    """A tenth of all sentences, and the running ones, are for testing; their letters decide."""
    digest = hashlib.blake2b(" ".join(tokens).encode(), digest_size=1).digest()
    return tuple(tokens) in RUNNING or digest[0] < 26


def draw_news(language: str, count: int, held_out: bool, seeded: torch.Generator) -> list[News]:
    """Random sentences, all of them for testing or none."""
    sentences: list[News] = []
    while len(sentences) < count:
        choices = torch.randint(2**31, (count, NUM_CHOICES), generator=seeded).tolist()
        candidates = map(GRAMMARS[language].write_news, choices)
        sentences += [one for one in candidates if is_held_out(one.tokens) == held_out]
    return sentences[:count]


class Batch(NamedTuple):
    """Sentences as ids of words (batch, length), padded; padding has no target.

    `related` (batch, length, length) is True where the first token is related to the second.
    """

    words: Tensor
    related: Tensor
    lengths: Tensor


def encode_news(language: str, sentences: Sequence[News]) -> Batch:
    """The sentences as tensors."""
    word_ids = GRAMMARS[language].word_ids
    words, related = [[0] * MAX_NEWS_TOKENS for _ in sentences], []
    for n, sentence in enumerate(sentences):
        words[n][: len(sentence.tokens)] = [word_ids[token.casefold()] for token in sentence.tokens]
        related += [(n, i, j) for i, others in enumerate(sentence.related) for j in others]
    pairs = torch.zeros(len(sentences), MAX_NEWS_TOKENS, MAX_NEWS_TOKENS, dtype=torch.bool)
    pairs[tuple(torch.tensor(related).T)] = True
    lengths = torch.tensor([len(sentence.tokens) for sentence in sentences])
    return Batch(torch.tensor(words), pairs, lengths)


def build_news_mask(rule: str, lengths: Tensor) -> Tensor:
    """Who may look at whom (batch, 1, length, length); padding is seen by itself alone."""
    length = lengths[:, None, None, None]
    unpadded = masks.Rule(lambda query_pos, key_pos: (key_pos < length) | (key_pos == query_pos))
    return masks.build(masks.RULES[rule] & unpadded, MAX_NEWS_TOKENS, MAX_NEWS_TOKENS)


def make_targets(batch: Batch, rule: str) -> Tensor:
    """1 for each word that a token shall name (batch, length, 2 · words): related, not hidden.

    The words before the token come first, then those after it: to name "who" and "whom" alike
    is not enough.
    """
    visible = batch.related & build_news_mask(rule, batch.lengths)[:, 0]
    words = one_hot(batch.words, NUM_WORDS).float()
    return torch.cat([visible.tril().float() @ words, visible.triu().float() @ words], dim=-1)


class Task(NamedTuple):
    """What a loss is computed from: words, who may look at whom, targets, and true lengths."""

    words: Tensor
    mask: Tensor
    targets: Tensor
    lengths: Tensor

    @property
    def is_real(self) -> Tensor:
        """True where a token is no padding (batch, length)."""
        return torch.arange(MAX_NEWS_TOKENS) < self.lengths[..., None]


def make_task(batch: Batch, rule: str) -> Task:
    """A batch with the mask and the targets of a rule."""
    mask = build_news_mask(rule, batch.lengths)
    return Task(batch.words, mask, make_targets(batch, rule), batch.lengths)


STEPS, BATCH_SIZE, LEARNING_RATE = 600, 64, 3e-3
POOL_SENTENCES, TEST_SENTENCES = 8_000, 1_000
"""How many sentences batches are drawn from, and how many held-out ones it is tested on."""
START_SCALE = 0.5
"""Vectors and projections start at half the usual spread: heads then find their own part sooner."""
START_BIAS = -3.0
"""Where the biases start: of all words, few are related to a token."""


@functools.lru_cache(maxsize=8)
def draw_pool(held_out: bool, language: str) -> Batch:
    """The sentences to learn from, or those to test with."""
    seeded = make_generator("sentences", int(held_out))
    count = TEST_SENTENCES if held_out else POOL_SENTENCES
    return encode_news(language, draw_news(language, count, held_out, seeded))


def draw_parts(configuration: Configuration, seed: int) -> tuple[Tensor, ...]:
    """Untrained tensors, in the order of `PART_NAMES`."""
    num_heads, num_kv_heads, head_dim, _ = configuration
    seeded = make_generator("training", seed, *configuration)

    def draw_matrix(rows: int, columns: int, spread: float = 1.0) -> Tensor:
        return START_SCALE * spread * torch.randn(rows, columns, generator=seeded)

    width, kv_width = num_heads * head_dim, num_kv_heads * head_dim
    return (
        draw_matrix(NUM_WORDS, D_MODEL),
        *(draw_matrix(D_MODEL, columns, D_MODEL**-0.5) for columns in (width, kv_width, kv_width)),
        draw_matrix(width, D_MODEL, width**-0.5),
        torch.full((2 * NUM_WORDS,), START_BIAS),
    )


def list_parts(learned: TrainedHeads) -> tuple[Tensor, ...]:
    """The tensors of trained heads, in the order of `PART_NAMES`."""
    layer = learned.layer
    matrices = layer.w_query, layer.w_key, layer.w_value, layer.w_output
    return tuple(part.detach().cpu() for part in (learned.embedding, *matrices, learned.bias))


def run_heads(x: Tensor, layer: MultiHead, mask: Tensor) -> ManyHeads:
    """The pages' own attention, with as many KV heads as the layer has."""
    return (multi_head if layer.group_size == 1 else grouped_query)(x, layer, mask)


def attend(learned: TrainedHeads, words: Tensor, mask: Tensor) -> ManyHeads:
    """Attention over embedding + position; `words` are places in `learned.words`."""
    x = learned.embedding[words] + sinusoidal(words.shape[-1], D_MODEL, LONGEST)
    return run_heads(x, learned.layer, mask)


def compute_losses(learned: TrainedHeads, task: Task) -> Tensor:
    """Binary cross-entropy of every token, summed over the words it could name (batch, length)."""
    scores = learned.score_words(attend(learned, task.words, task.mask).output)
    return binary_cross_entropy_with_logits(scores, task.targets, reduction="none").sum(dim=-1)


def compute_mean_loss(learned: TrainedHeads, task: Task) -> Tensor:
    """The mean over all tokens that are no padding."""
    return (compute_losses(learned, task) * task.is_real).sum() / task.is_real.sum()


class Training:
    """Some seeds of one configuration, learning side by side, each as if it were alone.

    They learn the words of a language. They begin untrained, or, for more training, with what
    `start` has for each seed.
    """

    def __init__(
        self,
        configuration: Configuration,
        seeds: Sequence[int],
        start: Sequence[TrainedHeads] = (),
        language: str = "en",
    ) -> None:
        self.configuration, self.language = configuration, language
        initial_parts = [list_parts(heads) for heads in start] or [
            draw_parts(configuration, s) for s in seeds
        ]
        self.parts = [
            torch.stack(part_of_seeds).requires_grad_()
            for part_of_seeds in zip(*initial_parts, strict=True)
        ]
        self._adam = torch.optim.Adam(self.parts, LEARNING_RATE, fused=True)
        self._draws = [make_generator("batches", seed) for seed in seeds]
        self._losses = vmap(lambda parts, *task: compute_mean_loss(self._put(parts), Task(*task)))

    def step(self) -> list[float]:
        """Learn from one batch per seed; returns each seed's loss before it learned."""
        size = (BATCH_SIZE,)
        drawn = [torch.randint(POOL_SENTENCES, size, generator=own) for own in self._draws]
        batch = Batch(*(part[torch.cat(drawn)] for part in draw_pool(False, self.language)))
        task = make_task(batch, self.configuration.rule)
        seed_tasks = (part.view(len(self._draws), BATCH_SIZE, *part.shape[1:]) for part in task)
        losses = self._losses(self.parts, *seed_tasks)
        gradients = torch.autograd.grad(losses.sum(), self.parts)
        for part, gradient in zip(self.parts, gradients, strict=True):
            part.grad = gradient
        self._adam.step()
        return losses.tolist()

    def export_heads(self, seed_index: int) -> TrainedHeads:
        """What the seed of this index has learned so far."""
        return self._put([part[seed_index].detach().clone() for part in self.parts])

    def _put(self, parts: Sequence[Tensor]) -> TrainedHeads:
        return TrainedHeads.from_parts(
            GRAMMARS[self.language].words, parts, self.configuration.head_dim
        )


SNAPSHOTS = 24
"""How often one looks at the weights on the way."""


class TrainingRequest(NamedTuple):
    """Which heads learn, from which seed, and on which text they are watched."""

    configuration: Configuration
    seed: int
    tokens: tuple[str, ...]


@dataclass(frozen=True)
class Snapshot:
    """How the heads divided their attention after so many batches."""

    step: int
    weights: list[list[list[float]]]
    """(heads, q_len, kv_len)"""


class TrainingStep(NamedTuple):
    """What a batch came to: its losses, and perhaps how the heads attend after it.

    The first step has no batch. A second loss is that of heads which start from random weights
    beside those that do not.
    """

    losses: tuple[float, ...]
    snapshot: Snapshot | None


TrainingJob = Job[TrainingRequest, TrainingStep, tuple[TrainedHeads, ...]]
"""Its result holds the trained heads, one for each loss of a step."""


def make_training_job(request: TrainingRequest, steps: int = STEPS) -> TrainingJob:
    """A job that trains heads from random weights."""
    return Job(request, partial(train_in_steps, steps=steps), steps + 1)


def train_in_steps(
    job: TrainingJob, steps: int, begin: TrainedHeads | None = None
) -> tuple[TrainedHeads, ...]:
    """Learn from as many batches.

    Heads that start from `begin` have others beside them: the same heads learn from the same
    batches, from random weights, which shows what `begin` is worth.
    """
    configuration, seed, tokens = job.subject
    training = Training(configuration, [seed], language=find_language(tokens))
    if begin:
        parts = draw_parts(configuration, seed)
        untrained = TrainedHeads.from_parts(begin.words, parts, configuration.head_dim)
        both = [begin, untrained]
        training = Training(configuration, [seed] * 2, both, training.language)
    snapshot_interval = max(1, steps // SNAPSHOTS)
    job.report(TrainingStep((), take_snapshot(job.subject, training, 0)))
    for step in range(1, steps + 1):
        started = time.perf_counter()
        losses = training.step()
        seconds = time.perf_counter() - started
        is_snapshot_due = step % snapshot_interval == 0 or step == steps
        snapshot = take_snapshot(job.subject, training, step) if is_snapshot_due else None
        job.report(TrainingStep(tuple(losses), snapshot))
        time.sleep(seconds)  # another visitor's page gets the interpreter for as long
    return tuple(training.export_heads(seed_index) for seed_index in range(2 if begin else 1))


@torch.no_grad()
def take_snapshot(request: TrainingRequest, training: Training, step: int) -> Snapshot:
    """How the heads divide their attention over the text that is watched."""
    learned = training.export_heads(0)
    x, _ = learned.read_words(request.tokens)
    mask = build_mask(request.configuration.rule, x)
    return Snapshot(step, run_heads(x, learned.layer, mask).weights.tolist())


def list_losses(job: TrainingJob, seed_index: int = 0) -> list[float]:
    """The loss of each batch so far; heads beside the first have index 1."""
    return [step.losses[seed_index] for step in list(job.reports) if step.losses]


def list_snapshots(job: TrainingJob) -> list[Snapshot]:
    """All snapshots that were taken so far."""
    return [step.snapshot for step in list(job.reports) if step.snapshot]


@dataclass(frozen=True)
class ReportRow:
    """One configuration: a number per seed; the verbs' loss and accuracy also on their own.

    A token is right if it names all the words that it is asked for and no other; those that are
    asked for nothing are left out. `found`: does the running sentence's verb give its two largest
    weights, the largest of any head, to subject and object? None where the mask hides one of them.
    """

    num_heads: int
    num_kv_heads: int
    head_dim: int
    rule: str
    loss: list[float]
    accuracy: list[float]
    verb_loss: list[float]
    verb_accuracy: list[float]
    found: list[bool] | None

    @property
    def configuration(self) -> Configuration:
        return Configuration(self.num_heads, self.num_kv_heads, self.head_dim, self.rule)


@torch.no_grad()
def measure_heads(configuration: Configuration, seeds: Sequence[TrainedHeads]) -> ReportRow:
    """Test what several seeds learned."""
    language = find_language(seeds[0].words)
    grammar, running = GRAMMARS[language], make_running_task(configuration.rule, language)
    task = make_task(draw_pool(True, language), configuration.rule)
    real, is_asked = task.is_real, task.targets.any(dim=-1)
    is_verb = real & torch.isin(task.words, torch.tensor(grammar.verb_ids))
    row = ReportRow(*configuration, [], [], [], [], None)
    for heads in seeds:
        loss = compute_losses(heads, task)
        is_named = heads.score_words(attend(heads, task.words, task.mask).output) > 0
        is_right = (is_named == task.targets.bool()).all(dim=-1).float()
        row.loss.append(_mean(loss[real]))
        row.accuracy.append(_mean(is_right[is_asked]))
        row.verb_loss.append(_mean(loss[is_verb]))
        row.verb_accuracy.append(_mean(is_right[is_verb]))
    if running.targets[0, grammar.running.verb].sum() < 2:
        return row
    return replace(row, found=[reads_both(heads, configuration.rule) for heads in seeds])


def _mean(numbers: Tensor) -> float:
    return round(numbers.mean().item(), 4)


def make_running_task(rule: str, language: str = "en") -> Task:
    """The task of the running sentence, which nobody trained on."""
    return make_task(encode_news(language, [GRAMMARS[language].running]), rule)


def reads_both(learned: TrainedHeads, rule: str) -> bool:
    """Are the verb's two largest weights, the largest of any head, on subject and object?"""
    language = find_language(learned.words)
    task, running = make_running_task(rule, language), GRAMMARS[language].running
    weights = attend(learned, task.words, task.mask).weights[0, :, running.verb]  # (heads, q_len)
    largest = weights[:, : task.lengths[0]].amax(dim=0).topk(2).indices.tolist()
    return set(largest) == running.related[running.verb]


@functools.cache
def read_report(language: str) -> dict[Configuration, ReportRow]:
    """How the shipped heads of a language do."""
    rows = [
        ReportRow(**row) for row in kept.read(name_weights("relations", language)).numbers["rows"]
    ]
    return {row.configuration: row for row in rows}


def format_mean_and_spread(numbers: Sequence[float], places: int = 2) -> str:
    """The mean over seeds ± their standard deviation."""
    mean, spread = statistics.mean(numbers), statistics.stdev(numbers)
    return f"{mean:.{places}f} ± {spread:.{places}f}"
