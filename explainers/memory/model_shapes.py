"""The shape of a model, groups of layers that keep the same things, and published shapes.

>>> [group] = find_shape("llama-3.1-8b").groups
>>> group.count, group.num_kv_heads, group.head_dim
(32, 8, 128)
"""

import functools
import json
from dataclasses import dataclass, fields
from decimal import Decimal
from typing import Any

from explainers.folders import ASSETS
from explainers.memory.checked_fields import check_divides, check_one_of, check_whole, shorten_value
from explainers.messages import N_, InputError, Message

LAYER_KINDS: dict[str, tuple[str, ...]] = {
    "full": ("num_kv_heads", "head_dim"),
    "sliding": ("num_kv_heads", "head_dim", "window"),
    "chunked": ("num_kv_heads", "head_dim", "window"),
    "latent": ("latent_dim", "rope_dim"),
    "compressed": ("head_dim", "window"),
    "cross": ("num_kv_heads", "head_dim"),
    "recurrent": (),
    "index": ("head_dim",),
}
"""Kinds of layers, and the fields that each must have."""
KINDS_WITH_HEADS = [kind for kind, needs in LAYER_KINDS.items() if "num_kv_heads" in needs]
KINDS_WITH_WINDOW = ("sliding", "chunked")
"""What is beyond the window is gone; compressed layers keep it in merged rows."""


@dataclass(frozen=True)
class RecurrentState:
    """What a recurrent layer keeps instead of a cache: its size does not depend on the text."""

    name: str
    elements: int
    dtype: str = "bfloat16"


@dataclass(frozen=True)
class LayerGroup:
    """`count` layers of one kind; a field that the kind does not have stays 0 or empty.

    `ratio` tokens are merged into one row; `token_bytes` is set where a row has a format of its
    own.
    """

    kind: str
    count: int
    num_kv_heads: int = 0
    head_dim: int = 0
    window: int | None = None
    latent_dim: int = 0
    rope_dim: int = 0
    token_bytes: int = 0
    ratio: int = 0
    state: tuple[RecurrentState, ...] = ()
    state_note: str = ""

    def __post_init__(self) -> None:
        check_one_of("kind", self.kind, LAYER_KINDS)
        check_whole("count", self.count)
        for field in LAYER_KINDS[self.kind]:
            name = N_("{field} of a {kind} layer", field=field, kind=self.kind)
            check_whole(name, getattr(self, field))
        check_whole("ratio", self.ratio, 0)
        if self.window is not None and "window" not in LAYER_KINDS[self.kind]:
            raise InputError(
                "a {kind} layer has no window; sliding and chunked layers have", kind=self.kind
            )

    @property
    def vectors(self) -> tuple[tuple[int, int], ...]:
        """(heads, head_dim) of a row of one layer: K and V, or one that serves as both."""
        if self.kind == "latent":
            return ((1, self.latent_dim + self.rope_dim),)
        if self.kind == "compressed":
            return ((1, self.head_dim),)
        return ((self.num_kv_heads, self.head_dim),) * 2 if self.kind in KINDS_WITH_HEADS else ()

    def count_rows(self, tokens: int) -> int:
        """How many rows a layer has for a text: of all tokens, or as many as its window lets in.

        A chunked layer starts anew after each chunk; on its way there it needs a whole one.
        """
        newest = tokens if self.window is None else min(tokens, self.window)
        if self.kind == "index" and self.ratio:
            return tokens // self.ratio
        return newest + tokens // self.ratio if self.ratio else newest


@dataclass(frozen=True)
class ModelShape:
    """Everything the calculators know of a model; `groups` is None where nobody published them."""

    id: str
    groups: tuple[LayerGroup, ...] | None
    num_heads: int
    d_model: int
    family: str = ""
    architecture: str = "decoder"
    attention: str = ""
    context: int | None = None
    encoder_context: int | None = None
    nope_dim: int = 0
    value_dim: int = 0
    query_latent_dim: int = 0
    parameters: int | None = None
    has_exact_parameters: bool = False
    active_parameters: int | None = None
    dtype: str = "bfloat16"
    cache_dtype: str = "bfloat16"
    full_layers: tuple[int, ...] = ()
    verified: str = "yours"
    sources: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    has_learned_sinks: bool = False
    """Does each head have a learned score for looking at nothing? It takes no place in a cache."""
    vocabulary: int | None = None
    has_tied_embeddings: bool = False
    ffn_dim: int = 0
    """Width of the feed-forward layer of a model without experts; 0 where it is not known."""

    def __post_init__(self) -> None:
        check_whole("num_heads", self.num_heads)
        has_heads = any(group.kind in KINDS_WITH_HEADS for group in self.groups or ())
        # Of layers without KV heads d_model says nothing, and may be unknown.
        check_whole("d_model", self.d_model, 0 if self.groups and not has_heads else 1)
        for group in self.groups or ():
            if group.kind in KINDS_WITH_HEADS:
                check_divides("KV heads", group.num_kv_heads, "query heads", self.num_heads)

    def require_groups(self) -> tuple[LayerGroup, ...]:
        """The groups of layers; raises ValueError where nobody published them."""
        if self.groups is None:
            raise InputError(
                "{model}: which of its layers keep what is not published", model=self.id
            )
        return self.groups

    @property
    def gaps(self) -> tuple[str, ...]:
        """What is left out of every total because nobody published it."""
        return tuple(
            N_(
                "{count} recurrent layers: {note}",
                count=group.count,
                note=note if isinstance(note := group.state_note, Message) else Message(note, {}),
            )
            for group in self.unknown_groups
        )

    @property
    def unknown_groups(self) -> tuple[LayerGroup, ...]:
        """Layers that keep a state whose size is not known."""
        return tuple(
            group for group in self.groups or () if group.kind == "recurrent" and not group.state
        )


MODEL_FILE = ASSETS / "models.json"
MULTIPLIERS = {"M": 10**6, "B": 10**9, "T": 10**12}


def find_shape(model: str) -> ModelShape:
    """The shape of the published model with that id; raises ValueError for an unknown one."""
    shapes = read_shapes()
    if not isinstance(model, str) or model not in shapes:
        raise InputError(
            "there is no model {model}; there are {models}",
            model=shorten_value(model),
            models=", ".join(shapes),
        )
    return shapes[model]


def list_model_ids() -> tuple[str, ...]:
    """The ids of all published models, family by family."""
    return tuple(read_shapes())


@functools.cache
def read_shapes() -> dict[str, ModelShape]:
    """All shapes by id, read from the file once."""
    entries = json.loads(MODEL_FILE.read_text(encoding="utf-8"))
    return {entry["id"]: parse_shape(entry) for entry in entries}


def parse_shape(entry: dict[str, Any]) -> ModelShape:
    """A shape from an entry of the file; what the calculators do not use stays in the file."""
    groups = [
        LayerGroup(**{**one, "state": tuple(RecurrentState(**s) for s in one.get("state", ()))})
        for one in entry.get("groups", ())
    ]
    exact = entry.get("parameters")
    known = {name: entry[name] for name in entry.keys() & {one.name for one in fields(ModelShape)}}
    return ModelShape(
        **known
        | {
            "groups": tuple(groups) if "groups" in entry else None,
            "parameters": exact or parse_stated_number(entry.get("parameters_stated")),
            "has_exact_parameters": exact is not None,
            "active_parameters": parse_stated_number(entry.get("active_parameters_stated")),
            "full_layers": tuple(entry.get("full_layers", ())),
            "sources": tuple(entry["sources"]),
            "notes": (entry["notes"],) if "notes" in entry else (),
            "has_learned_sinks": entry.get("learned_sinks", False),
            "has_tied_embeddings": bool(entry.get("tied_embeddings")),
        }
    )


def parse_stated_number(text: str | None) -> int | None:
    """A stated number of parameters such as `3.88B (text)`, as 3,880,000,000."""
    if text is None:
        return None
    digits, multiplier = text.split()[0][:-1], MULTIPLIERS[text.split()[0][-1]]
    return int(Decimal(digits) * multiplier)
