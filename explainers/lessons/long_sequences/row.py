"""One row of the sentence, read block by block: what is kept, corrected, and equal at each step."""

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from explainers.attention.online_softmax import Running, read_row
from explainers.attention.steps import softmax
from explainers.lessons.mask_lab import Lab
from explainers.phrase import phrase

SCORES, WEIGHTS, OUTPUT = phrase("scores"), phrase("weights"), phrase("output")
RUNNING, POWERS = phrase("running"), phrase("powers")
TABLES = (RUNNING, POWERS, WEIGHTS, OUTPUT)
COLUMNS = (phrase("largest"), phrase("correction"), phrase("total"))
Numbers = list[list[float | None]]


@dataclass(frozen=True)
class Row:
    """The scores of one word, read `block` keys at a time."""

    lab: Lab
    word: int
    block: int

    @cached_property
    def steps(self) -> list[Running]:
        """What is known after each block."""
        word = slice(self.word, self.word + 1)
        return read_row(self.lab.scores[word], self.lab.views.value, self.block)

    def seen(self, step: int) -> int:
        """How many keys have been read after a block."""
        return min((step + 1) * self.block, len(self.lab.tokens))

    @property
    def scores(self) -> Tensor:
        """(kv_len,)"""
        return self.lab.scores[self.word]

    def powers(self, step: int) -> Tensor:
        """e to the (score − largest so far), for the keys that have been read."""
        return torch.exp(self.scores[: self.seen(step)] - self.steps[step].largest[0])

    def weights(self, step: int) -> Tensor:
        """The same, divided by the total so far."""
        return self.powers(step) / self.steps[step].total[0]

    @property
    def difference(self) -> float:
        """The largest from softmax over what was read, of any weight after any block."""
        return max(
            (self.weights(step) - softmax(self.scores[: self.seen(step)])).abs().max().item()
            for step in range(len(self.steps))
        )

    @property
    def output_difference(self) -> float:
        """The largest from attention's own output of this word, when all has been read."""
        return (self.steps[-1].output[0] - self.lab.run.output[self.word]).abs().max().item()

    @property
    def corrected(self) -> int:
        """How many blocks brought a larger score than all before them; the first does not count."""
        return sum(bool(step.correction < 1) for step in self.steps[1:])

    @property
    def names(self) -> list[str]:
        """The steps, counted."""
        return [f"{n}" for n in range(1, len(self.steps) + 1)]

    def table(self, name: str) -> Numbers:
        """One of TABLES as it is in the end: a line for each block that was read."""
        length = len(self.lab.tokens)
        if name == RUNNING:
            known = [(s.largest, s.correction, s.total) for s in self.steps]
            numbers: Numbers = [[one.item() for one in line] for line in known]
            numbers[0][COLUMNS.index("correction")] = None  # there was nothing to correct
            return numbers
        if name == OUTPUT:
            return [step.output[0].tolist() for step in self.steps]
        some = self.powers if name == POWERS else self.weights
        lines = [some(step).tolist() for step in range(len(self.steps))]
        return [line + [None] * (length - len(line)) for line in lines]

    def so_far(self, read: int) -> dict[str, list[list[float]]]:
        """All tables and the scores after so many blocks; 0 where there is nothing yet."""
        tables = {name: self.table(name)[:read] for name in TABLES}
        numbers = {name: [[v or 0.0 for v in line] for line in t] for name, t in tables.items()}
        return {SCORES: [self.scores[: self.seen(read - 1)].tolist()], **numbers}
