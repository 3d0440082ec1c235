"""Trains the translators and writes their weights."""

import functools
import io
import math
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import sentencepiece
import torch
from safetensors.torch import save_file
from torch import Tensor
from torch.nn.functional import cross_entropy

from explainers.attention.decoder_block import Attend
from explainers.attention.dropout import drop
from explainers.attention.scaled_dot_product import Attention, attention
from explainers.toys.examples import make_generator
from explainers.translation.corpus import (
    BEGIN,
    END,
    PAD,
    TRAINING_SENTENCES,
    PaddedIds,
    encode_sources,
    pad_rows,
    vietnamese_vocabulary,
)
from explainers.translation.model import D_MODEL, NUM_LAYERS, PLAIN_ATTENTION, Model, list_shapes
from explainers.translation.translator import (
    NUM_PIECES,
    PIECES_KEY,
    SEEDS,
    BrokenWeightsError,
    find_file,
    join_words,
    load_translator,
    read_tensors,
)
from workshop.translation.training_set import draw_training_set

BATCH_SIZE, STEPS = 96, 9_000
LEARNING_RATE, WARM_UP_STEPS, LOWEST_RATE = 2e-3, 300, 0.02
"""The learning rate rises in `WARM_UP_STEPS`, then falls along a cosine to this share."""
HIDDEN_SHARE = 0.35
"""The share of syllables in the decoder's input that are hidden at random.

Else it guesses the second syllable of a word from the first, and need not look at the source.
"""
DROPPED_SHARE = 0.1
"""The dropout of weights of cross-attention, so that the model relies on no single one."""


class Batch(NamedTuple):
    """Sentences of nearly equal length: sources, the decoder's input, and its targets."""

    source: PaddedIds
    decoder_input: Tensor
    targets: Tensor


@functools.lru_cache(maxsize=1)
def make_batches(num_sentences: int) -> tuple[Batch, ...]:
    """The training set, sorted by length and cut into batches."""
    pairs = sorted(
        draw_training_set(num_sentences), key=lambda pair: (len(pair.target), len(pair.source))
    )
    batches = []
    for first in range(0, len(pairs), BATCH_SIZE):
        batch_pairs = pairs[first : first + BATCH_SIZE]
        targets = [vietnamese_vocabulary().encode(pair.target) for pair in batch_pairs]
        batches.append(
            Batch(
                encode_sources(pair.source for pair in batch_pairs),
                pad_rows([[BEGIN, *target] for target in targets]).ids,
                pad_rows([[*target, END] for target in targets]).ids,
            )
        )
    return tuple(batches)


def compute_loss(
    model: Model, batch: Batch, decoder_input: Tensor, attend: Sequence[Attend] = PLAIN_ATTENTION
) -> Tensor:
    """Mean cross-entropy of the next syllable, without padding."""
    logits = model.predict(decoder_input, model.encode(batch.source), attend).logits
    return cross_entropy(logits.flatten(0, 1), batch.targets.flatten(), ignore_index=PAD)


def make_dropout_attention(generator: torch.Generator) -> Attend:
    """Attention with dropout on its weights."""

    def attend(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Attention:
        scores, weights, _ = attention(query, key, value, mask)
        dropped = drop(weights, DROPPED_SHARE, generator)
        return Attention(scores, dropped, dropped @ value)

    return attend


def schedule_rate(step: int, steps: int) -> float:
    """The learning rate of a step."""
    decay = LOWEST_RATE + (1 - LOWEST_RATE) * (1 + math.cos(math.pi * step / steps)) / 2
    return LEARNING_RATE * min(1, (step + 1) / WARM_UP_STEPS) * decay


class Training:
    """The training of one seed, from random weights on."""

    def __init__(
        self, seed: int, steps: int = STEPS, num_sentences: int = TRAINING_SENTENCES
    ) -> None:
        self.steps, self.steps_done = steps, 0
        self.parameters = {
            name: parameter.requires_grad_() for name, parameter in draw_parameters(seed).items()
        }
        self._model, self._batches = (
            Model.from_parameters(self.parameters),
            make_batches(num_sentences),
        )
        self._adam = torch.optim.AdamW(
            self.parameters.values(), LEARNING_RATE, (0.9, 0.98), weight_decay=1e-4, fused=True
        )
        self._seeded = make_generator("training the translator", seed)
        self._attend = make_dropout_attention(self._seeded)
        self._order: list[int] = []

    def step(self) -> float:
        """Learn from one batch; returns the loss before the step."""
        if not self._order:
            self._order = torch.randperm(len(self._batches), generator=self._seeded).tolist()
        batch = self._batches[self._order.pop()]
        random_numbers = torch.rand(batch.decoder_input.shape, generator=self._seeded)
        is_hidden = (random_numbers < HIDDEN_SHARE) & (batch.decoder_input != BEGIN)
        decoder_input = batch.decoder_input.masked_fill(is_hidden, PAD)
        loss = compute_loss(self._model, batch, decoder_input, (self._attend,) * NUM_LAYERS)
        self._adam.param_groups[0]["lr"] = schedule_rate(self.steps_done, self.steps)
        parameters = list(self.parameters.values())
        for parameter, gradient in zip(
            parameters, torch.autograd.grad(loss, parameters), strict=True
        ):
            parameter.grad = gradient
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        self._adam.step()
        self.steps_done += 1
        return loss.item()

    def export_parameters(self) -> dict[str, Tensor]:
        """All parameters as they are now, in the 16 bits that are shipped."""
        return {name: parameter.detach().half() for name, parameter in self.parameters.items()}


PIECE_SENTENCES = 20_000
"""How many training sentences the word pieces are learned from."""
BAR_WIDTH = 40
PROGRESS_STEPS = 20
"""The progress is printed after every so many steps."""
TRAINING_SUMMARY = (
    f"{STEPS:,} batches of {BATCH_SIZE} out of {TRAINING_SENTENCES:,} sentences, "
    f"AdamW {LEARNING_RATE}, torch {torch.__version__}, one thread"
)


def train_seed(
    seed: int, steps: int = STEPS, num_sentences: int = TRAINING_SENTENCES
) -> Mapping[str, Tensor]:
    """The trained parameters of one seed; one thread makes every run give the same sums."""
    torch.set_num_threads(1)
    print(f"seed {seed}: writing {num_sentences:,} sentences", file=sys.stderr, flush=True)
    training = Training(seed, steps, num_sentences)
    started = time.monotonic()
    for step in range(1, steps + 1):
        loss = training.step()
        if step % PROGRESS_STEPS == 0 or step == steps:
            _print_progress(seed, step, steps, loss, time.monotonic() - started)
    return training.export_parameters()


def make_weights(seed: int, steps: int = STEPS, num_sentences: int = TRAINING_SENTENCES) -> None:
    """Train a seed and write it into its file beside the other seeds there."""
    parameters = train_seed(seed, steps, num_sentences)
    piece_model = (
        train_pieces(_list_texts(min(PIECE_SENTENCES, num_sentences))) if seed == SEEDS[0] else b""
    )
    save_seed(seed, parameters, piece_model)


def _list_texts(num_sentences: int) -> list[str]:
    return [
        " ".join(text)
        for pair in draw_training_set(num_sentences)
        for text in (pair.source, pair.target)
    ]


def _print_progress(seed: int, step: int, steps: int, loss: float, seconds: float) -> None:
    bar = "█" * (BAR_WIDTH * step // steps)
    seconds_left = seconds / step * (steps - step)
    print(
        f"\rseed {seed} {bar:░<{BAR_WIDTH}} {step}/{steps}, loss {loss:.3f}, "
        f"about {seconds_left:.0f} s left ",
        end="\n" if step == steps else "",
        file=sys.stderr,
        flush=True,
    )


def draw_parameters(seed: int) -> dict[str, Tensor]:
    """Untrained parameters: random (Glorot and Bengio 2010), gains 1, shifts and biases 0."""
    return {name: draw_parameter(name, shape, seed) for name, shape in list_shapes().items()}


def draw_parameter(name: str, shape: tuple[int, ...], seed: int) -> Tensor:
    if len(shape) == 1:
        return torch.ones(shape) if name.endswith("gain") else torch.zeros(shape)
    seeded_generator = make_generator("translator", seed, name)
    if "." not in name:
        return torch.randn(shape, generator=seeded_generator) / D_MODEL**0.5
    limit = (6 / sum(shape)) ** 0.5
    return (2 * torch.rand(shape, generator=seeded_generator) - 1) * limit


def save_seed(seed: int, parameters: Mapping[str, Tensor], piece_model: bytes = b"") -> None:
    """Put the weights of a seed into its file, in 16 bits; other seeds in it stay."""
    file, prefix = find_file(seed), f"{seed}."
    try:
        stored_tensors = read_tensors(file)
    except BrokenWeightsError:
        stored_tensors = {}
    tensors = {
        name: tensor for name, tensor in stored_tensors.items() if not name.startswith(prefix)
    }
    tensors |= {prefix + name: tensor.detach().half() for name, tensor in parameters.items()}
    if piece_model:
        tensors[PIECES_KEY] = torch.frombuffer(bytearray(piece_model), dtype=torch.uint8)
    save_file({name: tensors[name] for name in sorted(tensors)}, file, {"words": join_words()})
    file.chmod(0o644)  # safetensors leaves it to its owner alone
    load_translator.cache_clear()


def train_pieces(lines: Iterable[str]) -> bytes:
    """A model of word pieces, learned from sentences of both languages; the same every time."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines),
        model_writer=model,
        model_type="bpe",
        vocab_size=NUM_PIECES,
        character_coverage=1.0,
        normalization_rule_name="identity",
        num_threads=1,
        minloglevel=2,
    )
    return model.getvalue()
