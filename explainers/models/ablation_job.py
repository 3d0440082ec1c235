"""Switching heads off for a visitor who watches: measured if need be, then read three times."""

from dataclasses import dataclass
from pathlib import Path

from explainers.messages import N_
from explainers.models import head_scores_job
from explainers.models.ablation import (
    TEXTS_PER_ABLATION,
    Ablation,
    HeadIndex,
    draw_control_heads,
    group_heads_by_role,
    measure_ablation,
)
from explainers.models.head_scores import HeadScores
from explainers.models.head_scores_job import Scoring, UnwantedError
from explainers.models.load import load_model

ROLE = "induction"
CASES = 3
"""With all heads, without those that have the role, and without as many others."""
MOST_KEPT = 300
"""Readings in memory. Other seeds draw others; the first two cases serve them all."""

_read: dict[tuple[Path, tuple[HeadIndex, ...]], Ablation] = {}
"""For all visitors, by a model's weights. Works take turns, so only one writes at a time."""


def cases(scores: HeadScores, seed: int) -> list[tuple[HeadIndex, ...]]:
    """Which heads are off in each reading; none is made where no head has the role."""
    heads = group_heads_by_role(scores).get(ROLE)
    return [(), heads, draw_control_heads(heads, scores.shape[1], seed)] if heads else []


def recalled(named: str, seed: int) -> list[Ablation] | None:
    """All readings, if they were made before, for whomever."""
    scores = head_scores_job.kept(named)
    if not scores:
        return None
    file = head_scores_job.file_of(named)
    found = [_read.get((file, heads)) for heads in cases(scores, seed)]
    made = [one for one in found if one]
    return made if len(made) == len(found) else None


@dataclass(eq=False)
class Silencing(Scoring):
    """Heads measured if they are not yet; then both probes read three times."""

    seed: int = 0
    read: int = 0
    is_read: bool = False

    @property
    def is_complete(self) -> bool:
        return self.is_read

    @property
    def share(self) -> float:
        """Half for the measuring, half for the reading."""
        return (super().share + self.read / (TEXTS_PER_ABLATION * CASES)) / 2

    def said(self) -> str:
        """What is under way."""
        if not self.scores:
            asked = self.steps or "?"
            return N_("measuring all heads, once: layer {done} of {all}", done=self.done, all=asked)
        return N_("text {done} of {all}", done=self.read, all=TEXTS_PER_ABLATION * CASES)

    def _work(self) -> None:
        super()._work()
        if not self.scores:
            return
        loaded, file = load_model(self.named), head_scores_job.file_of(self.named)
        try:
            for heads in cases(self.scores, self.seed):
                if (file, heads) not in _read:
                    _read[file, heads] = measure_ablation(loaded, heads, self._heard)
        except UnwantedError:
            return
        self.is_read = True
        for oldest in list(_read)[:-MOST_KEPT]:
            del _read[oldest]

    def _heard(self, _: int) -> None:
        self.read += 1
        if self.is_stopped:
            raise UnwantedError
