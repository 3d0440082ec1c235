"""A long text in one layer of a model: read in the background, kept as packed bytes."""

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from explainers.lessons.inspector.packing import planes
from explainers.lessons.inspector.running import cut, inputs
from explainers.lessons.inspector.seen import on_key
from explainers.lessons.inspector.words import labels_of, merged, words_of
from explainers.models.call import Layer
from explainers.turns import Work

if TYPE_CHECKING:
    from explainers.models.load import Loaded


class Enough(Exception):  # noqa: N818 - nothing went wrong
    """The layer that was asked for has been read, or nobody wants it any more."""


@dataclass(frozen=True)
class Read:
    """All heads of a layer on one text, in pieces or in words."""

    planes: bytes
    tokens: list[str]
    on_first: list[float]
    group_size: int


@dataclass(eq=False)
class LongRead(Work):
    """The first `length` tokens of a text, as far as `layer`; the layers behind are not run."""

    loaded: "Loaded | None"
    """Given back when it is over: a visitor keeps this work, and should not keep the model."""
    text: str
    length: int
    layer: int
    done: int = 0
    count: int = 0
    pieces: Read | None = None
    words: Read | None = None
    _taken: tuple[Tensor, Tensor] | None = None
    _group_size: int = 1

    @property
    def share(self) -> float:
        return self.done / (self.layer + 1)

    @property
    def is_complete(self) -> bool:
        return self.words is not None

    def _work(self) -> None:
        loaded, self.loaded = self.loaded, None
        if loaded:
            self._read(loaded)

    def _read(self, loaded: "Loaded") -> None:
        from explainers.models.reading import read
        from explainers.models.run import run

        ids, tokens = read(loaded, cut(loaded, self.text, self.length)[0])
        self.count = len(tokens)
        with contextlib.suppress(Enough):
            run(loaded.model, read=self._take, **inputs(loaded.model, ids))
        if self._taken is None:
            return
        weights, mask = self._taken
        self._taken = None  # the matrices are large, and their packed bytes are all that is drawn
        group = self._group_size
        on_first = on_key(weights, 0).tolist()
        self.pieces = Read(planes(weights, ~mask.expand_as(weights)), list(tokens), on_first, group)
        words = torch.tensor(words_of(loaded, self.text, len(tokens)))
        together = merged(weights, words)
        unseen = merged(mask.float(), words) == 0
        named = labels_of(tokens, words.tolist())
        self.words = Read(planes(together, unseen.expand_as(together)), named, on_first, group)

    def _take(self, layer: Layer) -> None:
        self.done += 1
        if self.is_stopped:
            raise Enough
        if layer.kind != "cross" and layer.number == self.layer:
            self._taken = layer.weights[0].float().cpu(), layer.mask[0].cpu()
            self._group_size = layer.query.shape[1] // layer.key.shape[1]
            raise Enough
