"""Training from the first step to the shipped file."""

import sys
import time
from collections.abc import Mapping

import torch
from torch import Tensor

from explainers.translation import pieces
from explainers.translation.corpus import training_set
from explainers.translation.kept import SEEDS, keep
from explainers.translation.loop import BATCH_SIZE, RATE, SENTENCES, STEPS, Training

PIECES_FROM = 20_000
"""How many sentences of the training set the pieces of words are learned from."""
BAR = 40
EVERY = 20
"""How many steps pass until the progress is printed again."""
MADE = (
    f"{STEPS:,} batches of {BATCH_SIZE} out of {SENTENCES:,} sentences, AdamW {RATE}, "
    f"torch {torch.__version__}, one thread"
)


def train(seed: int, steps: int = STEPS, sentences: int = SENTENCES) -> Mapping[str, Tensor]:
    """All parts of one seed; one thread, so that the sums come out the same again."""
    torch.set_num_threads(1)
    print(f"seed {seed}: writing {sentences:,} sentences", file=sys.stderr, flush=True)
    training = Training(seed, steps, sentences)
    started = time.monotonic()
    for step in range(1, steps + 1):
        loss = training.step()
        if step % EVERY == 0 or step == steps:
            _progress(seed, step, steps, loss, time.monotonic() - started)
    return training.learned()


def make(seed: int, steps: int = STEPS, sentences: int = SENTENCES) -> None:
    """Train a seed and put it into its file; what others are in that file stay there."""
    learned = train(seed, steps, sentences)
    cut = pieces.train(_lines(min(PIECES_FROM, sentences))) if seed == SEEDS[0] else b""
    keep(seed, learned, cut)


def _lines(sentences: int) -> list[str]:
    return [" ".join(s) for pair in training_set(sentences) for s in (pair.source, pair.target)]


def _progress(seed: int, step: int, steps: int, loss: float, seconds: float) -> None:
    bar = "█" * (BAR * step // steps)
    left = seconds / step * (steps - step)
    print(
        f"\rseed {seed} {bar:░<{BAR}} {step}/{steps}, loss {loss:.3f}, about {left:.0f} s left ",
        end="\n" if step == steps else "",
        file=sys.stderr,
        flush=True,
    )
