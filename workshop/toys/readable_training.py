"""Trains the readable head from five seeds, and measures on held-out sentences what it learned."""

import functools
import statistics
from collections.abc import Sequence
from dataclasses import asdict, astuple, dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from explainers import kept
from explainers.attention.positions import sinusoidal
from explainers.attention.single_head import single_head
from explainers.kept import Kept
from explainers.toys.examples import LONGEST, make_generator
from explainers.toys.grammar import GRAMMARS, NUM_WORDS, join_list
from explainers.toys.layers import (
    FILM_SEED,
    READABLE_D_MODEL,
    READABLE_HEAD_DIM,
    READABLE_PARTS,
    READABLE_SEEDS,
    ReadableHead,
    load_readable_layer,
    name_readable_part,
    name_weights,
)
from explainers.toys.training import (
    BATCH_SIZE,
    POOL_SENTENCES,
    START_BIAS,
    START_SCALE,
    Batch,
    Task,
    build_news_mask,
    draw_pool,
    make_targets,
)
from workshop.keep import keep, write_tensors

READABLE_STEPS, READABLE_LEARNING_RATE = 3_000, 5e-3
NUM_STAGES = 40
STAGES = tuple(round(READABLE_STEPS * (n / (NUM_STAGES - 1)) ** 2) for n in range(NUM_STAGES))
"""After how many batches a stage of the film is kept: dense at first, where most happens."""
MEASURED = "measured"


def make_readable_task(batch: Batch) -> Task:
    """Under the full mask: for each token the words it is related to, whatever their side."""
    mask = build_news_mask("full", batch.lengths)[:, 0]
    before, after = make_targets(batch, "full").chunk(2, dim=-1)
    return Task(batch.words, mask, before + after, batch.lengths)


def attend_readably(learned: ReadableHead, task: Task) -> tuple[Tensor, Tensor]:
    """The head's weights (batch, length, length), and its scores of words."""
    placed = sinusoidal(task.words.shape[-1], READABLE_D_MODEL, LONGEST)
    attended = single_head(learned.embedding[task.words] + placed, learned.head, task.mask)
    return attended.weights, learned.score_words(attended.output)


def compute_readable_loss(learned: ReadableHead, task: Task) -> Tensor:
    """Binary cross-entropy per token, summed over all words; the mean over what is no padding."""
    _, scores = attend_readably(learned, task)
    losses = binary_cross_entropy_with_logits(scores, task.targets, reduction="none").sum(dim=-1)
    return (losses * task.is_real).sum() / task.is_real.sum()


def draw_readable_parts(seed: int) -> list[Tensor]:
    """Untrained tensors, in the order of `READABLE_PARTS`."""
    seeded = make_generator("readable", seed, READABLE_D_MODEL, READABLE_HEAD_DIM)

    def draw_matrix(rows: int, columns: int, spread: float) -> Tensor:
        return spread * torch.randn(rows, columns, generator=seeded)

    sizes = READABLE_D_MODEL, READABLE_HEAD_DIM
    return [
        draw_matrix(NUM_WORDS, READABLE_D_MODEL, START_SCALE),
        *(draw_matrix(*sizes, READABLE_D_MODEL**-0.5) for _ in range(3)),
        draw_matrix(READABLE_HEAD_DIM, NUM_WORDS, READABLE_HEAD_DIM**-0.5),
        torch.full((NUM_WORDS,), START_BIAS),
    ]


def train_readable_head(
    seed: int, stages: Sequence[int], language: str = "en"
) -> dict[str, Tensor]:
    """What the head knows after each of so many batches, in rising order, as tensors to ship.

    What is measured is what is shipped: weights rounded to 16 bits.
    """
    torch.set_num_threads(1)
    parts = [part.requires_grad_() for part in draw_readable_parts(seed)]
    adam = torch.optim.Adam(parts, READABLE_LEARNING_RATE)
    draws = make_generator("batches", seed)
    words = GRAMMARS[language].words
    pool, held_out = (make_readable_task(draw_pool(one, language)) for one in (False, True))
    kept: list[list[Tensor]] = []
    losses: list[float] = []
    for step in range(stages[-1] + 1):
        if step in stages:
            kept.append([part.detach().half() for part in parts])
            rounded = ReadableHead.from_parts(words, (part.float() for part in kept[-1]))
            losses.append(compute_readable_loss(rounded, held_out).item())
        choices = torch.randint(POOL_SENTENCES, (BATCH_SIZE,), generator=draws)
        batch = Task(*(part[choices] for part in pool))
        loss = compute_readable_loss(ReadableHead.from_parts(words, parts), batch)
        adam.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        adam.step()
    tensors = {
        name: torch.stack(part_of_stages)
        for name, part_of_stages in zip(READABLE_PARTS, zip(*kept, strict=True), strict=True)
    }
    tensors |= {"batches": torch.tensor(stages), "losses": torch.tensor(losses)}
    return {name_readable_part(seed, name): tensor for name, tensor in tensors.items()}


@dataclass(frozen=True)
class ReadableRow:
    """What one seed learned: shares over held-out sentences, and weights in the running one."""

    seed: int
    loss: float
    tokens_largest: float
    """Tokens whose largest weight is on a related word."""
    verbs_largest: float
    verbs_two_largest: float
    """Verbs whose two largest weights are both on related words."""
    verb_to_subject: float
    verb_to_object: float
    time_to_verb: float
    """Weights in the running sentence."""


@torch.no_grad()
def measure_readable_head(seed: int, language: str) -> ReadableRow:
    """Test what is shipped of a seed."""
    grammar = GRAMMARS[language]
    running = load_readable_layer(grammar.running.tokens, "full", seed)
    learned = running.learned
    if not isinstance(learned, ReadableHead):
        raise TypeError("a readable layer holds a readable head")
    held_out = draw_pool(True, language)
    task = make_readable_task(held_out)
    weights, _ = attend_readably(learned, task)
    two_largest = held_out.related.gather(-1, weights.topk(2, dim=-1).indices)
    is_verb = task.is_real & torch.isin(task.words, torch.tensor(grammar.verb_ids))
    in_running = single_head(*running.single()).weights
    news = grammar.running
    verb, (subject, thing) = news.verb, sorted(news.related[news.verb])
    measured = (
        compute_readable_loss(learned, task),
        two_largest[task.is_real][:, 0].float().mean(),
        two_largest[is_verb][:, 0].float().mean(),
        two_largest[is_verb].all(dim=-1).float().mean(),
        in_running[verb, subject],
        in_running[verb, thing],
        in_running[-1, verb],
    )
    return ReadableRow(seed, *(round(number.item(), 4) for number in measured))


def make_readable_weights(language: str) -> None:
    """Train all seeds on the words of a language; write what they learned and how they did."""
    tensors: dict[str, Tensor] = {}
    for seed in READABLE_SEEDS:
        print(f"readable head, seed {seed}", flush=True)
        stages = STAGES if seed == FILM_SEED else STAGES[-1:]
        tensors |= train_readable_head(seed, stages, language)
    made = (
        f"{READABLE_STEPS:,} batches of {BATCH_SIZE}, Adam {READABLE_LEARNING_RATE}, "
        f"torch {torch.__version__}, one thread"
    )
    words = join_list(GRAMMARS[language].words)
    command, name = name_command("--readable", language), name_weights("readable", language)
    write_tensors(name, tensors, {"words": words})
    rows = [asdict(measure_readable_head(seed, language)) for seed in READABLE_SEEDS]
    keep(Kept(name, made, command, {MEASURED: 2e-3}, {"rows": rows}))
    read_readable_rows.cache_clear()


@functools.cache
def read_readable_rows(language: str) -> list[ReadableRow]:
    """What was measured of each seed."""
    return [
        ReadableRow(**row) for row in kept.read(name_weights("readable", language)).numbers["rows"]
    ]


def name_command(option: str, language: str) -> str:
    """What trains on the words of a language."""
    options = [option, "" if language == "en" else f"--language {language}"]
    return " ".join(["python -m workshop.toys", *filter(None, options)])


LANGUAGES = {"en": "English", "vi": "Vietnamese"}
READABLE_SECTION = """
# What the readable head learned: {language} words

{made}. Made by `python -m workshop.toys --readable --language {code}`, never by hand.

One head with d_model 8 and d_k 4 under the full mask. It names the related words, but not on which
side they stand, with an output matrix of its own. Measured on held-out sentences: tokens, and
verbs alone, whose largest weight is on a related word, and verbs whose two largest weights both
are. The last three columns are weights in "{running}". Pages show
seed {shown} unless another one is asked for.

| seed | loss | tokens: largest | verbs: largest | verbs: two largest | {verb} → {subject} \
| {verb} → {object} | {time} → {verb} |
|---|---|---|---|---|---|---|---|
"""


def format_readable_section() -> str:
    """The section of the report, as Markdown; the last line of a table is the mean of all seeds."""
    return "".join(map(_format_table, GRAMMARS))


def _format_table(language: str) -> str:
    rows, made = read_readable_rows(language), kept.read(name_weights("readable", language)).origin
    running = GRAMMARS[language].running
    subject, thing = (running.tokens[place] for place in sorted(running.related[running.verb]))
    words = {"verb": running.tokens[running.verb], "subject": subject, "object": thing}
    words |= {"time": running.tokens[-1], "running": " ".join(running.tokens)}
    words |= {"language": LANGUAGES[language], "code": language}
    section = READABLE_SECTION.format(made=made, shown=FILM_SEED, **words)
    return section + format_rows(rows)


def format_rows(rows: Sequence[Any]) -> str:
    """Records of a seed and numbers as lines of a table, the last one their means."""
    seeds, *columns = zip(*map(astuple, rows), strict=True)
    means = "mean", *map(statistics.mean, columns)
    return "".join(
        f"| {seed} | {' | '.join(f'{number:.2f}' for number in numbers)} |\n"
        for seed, *numbers in [*zip(seeds, *columns, strict=True), means]
    )
