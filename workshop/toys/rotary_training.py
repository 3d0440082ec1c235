"""Trains the small weights that have RoPE, and measures on held-out sentences what they learned."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy, one_hot

from explainers import kept
from explainers.attention import masks
from explainers.attention.cache.decoding import through
from explainers.attention.cache.kv_cache import empty_cache, read
from explainers.attention.rotary import angles, rotary_attention
from explainers.attention.scaled_dot_product import Attention
from explainers.attention.single_head import project
from explainers.kept import Kept
from explainers.toys.examples import LONGEST, make_generator
from explainers.toys.grammar import GRAMMARS, NUM_WORDS, join_list
from explainers.toys.layers import MAX_NEWS_TOKENS, ReadableHead, name_weights
from explainers.toys.rotary_layers import (
    FINDER,
    FINDER_D_MODEL,
    FINDER_HEAD_DIM,
    PARTS,
    ROTARY_SEED,
    WRITER,
    WRITER_D_MODEL,
    WRITER_HEAD_DIM,
    WRITER_LAYERS,
    Writer,
    name_rotary_part,
)
from explainers.toys.training import (
    BATCH_SIZE,
    POOL_SENTENCES,
    START_BIAS,
    START_SCALE,
    TEST_SENTENCES,
    Batch,
    draw_pool,
)
from workshop.keep import keep, write_tensors
from workshop.toys.readable_training import MEASURED, format_rows, name_command

ROTARY_STEPS, ROTARY_LEARNING_RATE = 1_200, 1e-2
WEIGHT_DECAY = {FINDER: 0.1, WRITER: 0.0}
"""Without it the scores of the finder grow large, by an amount that is the same for all keys."""
MEASURED_SEEDS = 0, 1
"""The first is kept; the other one tells how much of what it does is chance."""
TRAINED_AGAIN = "trained again"


class TwoSentences(NamedTuple):
    """Texts of two sentences each, one after the other (texts, length), padded at their ends.

    A word fits words of the other sentence as well: which one it belongs to, only places tell.
    """

    words: Tensor
    related: Tensor
    """(texts, length, length), True where the first token is related to the second."""
    is_real: Tensor
    """True where a token is no padding."""

    @property
    def mask(self) -> Tensor:
        """Who may look at whom (texts, length, length); padding is seen by itself alone."""
        return self.is_real[:, None] | torch.eye(self.words.shape[-1], dtype=torch.bool)

    @property
    def targets(self) -> Tensor:
        """1 for each word that a token shall name (texts, length, words)."""
        named = self.related.float() @ one_hot(self.words, NUM_WORDS).float()
        return named.clamp(max=1)  # a word may stand in both sentences


def join_sentences(pool: Batch, first: Tensor, second: Tensor) -> TwoSentences:
    """Sentences at some places of a pool, each with another one behind it."""
    pairs = [[part[places] for part in pool] for places in (first, second)]
    words, related, lengths = zip(*pairs, strict=True)
    is_real = torch.cat([torch.arange(MAX_NEWS_TOKENS) < n[:, None] for n in lengths], dim=-1)
    order = (~is_real).long().argsort(dim=-1, stable=True)  # all padding behind all words
    apart = torch.zeros_like(related[0])
    rows = [torch.cat(row, dim=-1) for row in ((related[0], apart), (apart, related[1]))]
    texts = torch.arange(len(first))[:, None, None]
    in_order = torch.cat(rows, dim=-2)[texts, order[:, :, None], order[:, None]]
    joined = torch.cat(words, dim=-1).gather(-1, order)
    return TwoSentences(joined, in_order, is_real.gather(-1, order))


def attend_to_related(finder: ReadableHead, task: TwoSentences, turns: float = 1.0) -> Attention:
    """What the head makes of texts; with `turns` of 0 nothing tells it where words stand."""
    places = torch.arange(task.words.shape[-1])
    angle = turns * angles(places, FINDER_HEAD_DIM, LONGEST)
    views = project(finder.embedding[task.words], finder.head)
    return rotary_attention(*views, task.mask, angle)


def compute_finder_loss(finder: ReadableHead, task: TwoSentences) -> Tensor:
    """Binary cross-entropy per token, summed over all words; the mean over what is no padding."""
    scores = finder.score_words(attend_to_related(finder, task).output)
    losses = binary_cross_entropy_with_logits(scores, task.targets, reduction="none").sum(dim=-1)
    return losses[task.is_real].mean()


def score_next_words(writer: Writer, words: Tensor, num_layers: int = WRITER_LAYERS) -> Tensor:
    """Logits of each next word (..., length, words), by the first layers or by all."""
    x, layers = writer.embedding[words], writer.layers[:num_layers]
    caches = [empty_cache(x, layer) for layer in layers]
    return writer.score_words(through(x, layers, caches, partial(read, rule=masks.causal)).output)


def compute_writer_loss(writer: Writer, batch: Batch, num_layers: int = WRITER_LAYERS) -> Tensor:
    """Cross-entropy of each next word that is there, in nats."""
    logits = score_next_words(writer, batch.words, num_layers)[:, :-1]
    is_there = find_next_words(batch)
    return cross_entropy(logits[is_there], batch.words[:, 1:][is_there])


def find_next_words(batch: Batch) -> Tensor:
    """True where a word follows (batch, length − 1)."""
    return torch.arange(1, MAX_NEWS_TOKENS) < batch.lengths[:, None]


def draw_finder_parts(seed: int) -> list[Tensor]:
    """Untrained tensors of the head, in the order of its `PARTS`."""
    draw = _make_drawing(FINDER, seed)
    return [
        START_SCALE * draw(NUM_WORDS, FINDER_D_MODEL),
        *(draw(FINDER_D_MODEL, FINDER_HEAD_DIM) / FINDER_D_MODEL**0.5 for _ in range(3)),
        draw(FINDER_HEAD_DIM, NUM_WORDS) / FINDER_HEAD_DIM**0.5,
        torch.full((NUM_WORDS,), START_BIAS),
    ]


def draw_writer_parts(seed: int) -> list[Tensor]:
    """Untrained tensors of the layers, in the order of their `PARTS`."""
    draw, parts = _make_drawing(WRITER, seed), []
    parts.append(draw(NUM_WORDS, WRITER_D_MODEL))
    for _layer in range(WRITER_LAYERS):
        parts += [draw(WRITER_D_MODEL, WRITER_HEAD_DIM) / WRITER_D_MODEL**0.5 for _ in range(3)]
        parts.append(draw(WRITER_HEAD_DIM, WRITER_D_MODEL) / WRITER_HEAD_DIM**0.5)
    last = draw(WRITER_D_MODEL, NUM_WORDS) / WRITER_D_MODEL**0.5
    return [*parts, last, torch.zeros(NUM_WORDS)]


def _make_drawing(kind: str, seed: int) -> Callable[[int, int], Tensor]:
    seeded = make_generator("rotary", kind, seed)
    return lambda rows, columns: torch.randn(rows, columns, generator=seeded)


def train_rotary(kind: str, seed: int, language: str, steps: int = ROTARY_STEPS) -> list[Tensor]:
    """What was learned after some batches, in the order of `PARTS`, rounded to 16 bits."""
    torch.set_num_threads(1)
    drawn = draw_finder_parts(seed) if kind == FINDER else draw_writer_parts(seed)
    parts = [part.requires_grad_() for part in drawn]
    adam = torch.optim.AdamW(parts, ROTARY_LEARNING_RATE, weight_decay=WEIGHT_DECAY[kind])
    draws, words = make_generator("batches", seed), GRAMMARS[language].words
    pool = draw_pool(False, language)
    for _step in range(steps):
        first, second = torch.randint(POOL_SENTENCES, (2, BATCH_SIZE), generator=draws)
        if kind == FINDER:
            finder = ReadableHead.from_parts(words, parts)
            loss = compute_finder_loss(finder, join_sentences(pool, first, second))
        else:
            writer = Writer.from_parts(words, parts)
            loss = compute_writer_loss(writer, Batch(*(part[first] for part in pool)))
        adam.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        adam.step()
    return [part.detach().half() for part in parts]


def name_parts(learned: Mapping[str, Sequence[Tensor]]) -> dict[str, Tensor]:
    """The parts of each kind under the names that they have in the file."""
    return {
        name_rotary_part(kind, name): part
        for kind, parts in learned.items()
        for name, part in zip(PARTS[kind], parts, strict=True)
    }


@dataclass(frozen=True)
class RotaryRow:
    """What one seed learned, on held-out sentences."""

    seed: int
    found: float
    """Tokens whose largest weight is on a related word."""
    found_unturned: float
    """The same where nothing is turned."""
    loss: float
    """Of the next word, in nats."""
    loss_first_layer: float
    """Without the second layer."""
    loss_of_pairs: float
    """Of a table that counted, in the sentences of the training, which word follows which."""


@torch.no_grad()
def measure_rotary(seed: int, finder: ReadableHead, writer: Writer, language: str) -> RotaryRow:
    """Test both on held-out sentences."""
    held_out = draw_pool(True, language)
    task, shares = join_sentences(held_out, *torch.arange(TEST_SENTENCES).chunk(2)), []
    for turns in (1.0, 0.0):
        weights = attend_to_related(finder, task, turns).weights
        is_right = task.related.gather(-1, weights.argmax(dim=-1, keepdim=True))
        shares.append(is_right[task.is_real].float().mean().item())
    losses = [compute_writer_loss(writer, held_out, n).item() for n in (WRITER_LAYERS, 1)]
    numbers = *shares, *losses, _measure_pairs(language)
    return RotaryRow(seed, *(round(number, 4) for number in numbers))


def _measure_pairs(language: str) -> float:
    """What counted pairs of words lose; each pair is counted once more than it was seen."""
    pool, held_out = (draw_pool(one, language) for one in (False, True))
    is_there, counts = find_next_words(pool), torch.ones(NUM_WORDS, NUM_WORDS)
    pairs = pool.words[:, :-1][is_there], pool.words[:, 1:][is_there]
    counts.index_put_(pairs, torch.ones(len(pairs[0])), accumulate=True)
    is_there = find_next_words(held_out)
    logits = counts.log()[held_out.words[:, :-1][is_there]]
    return cross_entropy(logits, held_out.words[:, 1:][is_there]).item()


def train_and_measure(
    seed: int, language: str, steps: int = ROTARY_STEPS
) -> tuple[dict[str, Tensor], RotaryRow]:
    """The tensors of one seed by name, and how they do, rounded as they are."""
    print(f"weights with RoPE, {language}, seed {seed}", flush=True)
    learned = {kind: train_rotary(kind, seed, language, steps) for kind in PARTS}
    finder, writer = ([part.float() for part in parts] for parts in learned.values())
    words = GRAMMARS[language].words
    both = ReadableHead.from_parts(words, finder), Writer.from_parts(words, writer)
    return name_parts(learned), measure_rotary(seed, *both, language)


def make_rotary_weights(language: str) -> None:
    """Train both on the words of a language; keep one seed, and how all of them did."""
    found = {seed: train_and_measure(seed, language) for seed in MEASURED_SEEDS}
    shipped, rows = found[ROTARY_SEED][0], [row for _tensors, row in found.values()]
    made = (
        f"{ROTARY_STEPS:,} batches of {BATCH_SIZE}, AdamW {ROTARY_LEARNING_RATE}, "
        f"torch {torch.__version__}, one thread"
    )
    command, name = name_command("--rotary", language), name_weights("rotary", language)
    write_tensors(name, shipped, {"words": join_list(GRAMMARS[language].words)})
    tolerance = {MEASURED: 2e-3, TRAINED_AGAIN: 0.02}
    keep(Kept(name, made, command, tolerance, {"rows": [asdict(row) for row in rows]}))


def read_rotary_rows(language: str) -> list[RotaryRow]:
    """What was measured of each seed."""
    return [RotaryRow(**row) for row in kept.read(name_weights("rotary", language)).numbers["rows"]]


def check_rotary(language: str) -> bool:
    """Train the kept seed again: does it do as well as what is kept?

    Another processor's roundings make a training like another seed's: what it does may be as far
    outside of the measured seeds as these are from each other, and the tolerance more.
    """
    rows, more = read_rotary_rows(language), kept.read(name_weights("rotary", language)).tolerance
    _tensors, again = train_and_measure(ROTARY_SEED, language)
    is_near = True
    for name, number in list(asdict(again).items())[1:]:
        shipped = [getattr(row, name) for row in rows]
        room = max(shipped) - min(shipped) + more[TRAINED_AGAIN]
        is_allowed = min(shipped) - room <= number <= max(shipped) + room
        print(name, number, shipped, "as kept" if is_allowed else "TOO FAR")
        is_near &= is_allowed
    return is_near


LANGUAGES = {"en": "English", "vi": "Vietnamese"}
ROTARY_SECTION = """
# What weights with RoPE learned: {language} words

{made}. Made by `python -m workshop.toys --rotary --language {code}`, never by hand.

A head with d_model {width} and d_k {head_dim} sees all words of two sentences, one after the other,
and names the related ones; its weights decay by {decay} times the step. Two causal layers with
d_model {writer_width} and a head of d_k {writer_dim} say which word comes next. On held-out
sentences: tokens whose largest weight is on a related word, and the same where nothing is turned;
the loss of the next word in nats, without the second layer, and of a table that counted which word
follows which. Pages show seed {shown}.

`--rotary --check` trains it again. Another processor's roundings make a training like another
seed's: each number may be as far outside of these as they are from each other, and {room} more.

| seed | tokens: largest | nothing turned | next word: loss | first layer alone | counted pairs |
|---|---|---|---|---|---|
"""


def format_rotary_section() -> str:
    """The section of the report, as Markdown; the last line of a table is the mean of all seeds."""
    return "".join(map(_format_table, GRAMMARS))


def _format_table(language: str) -> str:
    rows, file = read_rotary_rows(language), kept.read(name_weights("rotary", language))
    section = ROTARY_SECTION.format(
        made=file.origin,
        language=LANGUAGES[language],
        code=language,
        width=FINDER_D_MODEL,
        head_dim=FINDER_HEAD_DIM,
        writer_width=WRITER_D_MODEL,
        writer_dim=WRITER_HEAD_DIM,
        decay=WEIGHT_DECAY[FINDER],
        room=file.tolerance[TRAINED_AGAIN],
        shown=ROTARY_SEED,
    )
    return section + format_rows(rows)
