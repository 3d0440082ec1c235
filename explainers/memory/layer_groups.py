"""A model as its cache sees it: groups of layers that keep the same things for each token."""

from dataclasses import dataclass

from explainers.memory.sizes import divides, whole
from explainers.messages import N_, Message

KINDS = ("full", "sliding", "chunked", "latent", "cross", "recurrent", "index")
WITH_HEADS = ("full", "sliding", "chunked", "cross")
WITH_WINDOW = ("sliding", "chunked")


@dataclass(frozen=True)
class State:
    """What a recurrent layer keeps instead of a cache: its size does not depend on the text."""

    name: str
    elements: int
    dtype: str = "bfloat16"


@dataclass(frozen=True)
class LayerGroup:
    """`count` layers of one kind; a field that the kind does not have stays 0 or empty."""

    kind: str
    count: int
    num_kv_heads: int = 0
    head_dim: int = 0
    window: int | None = None
    latent_dim: int = 0
    rope_dim: int = 0
    token_bytes: int = 0
    state: tuple[State, ...] = ()
    state_note: str = ""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(
                N_(
                    "kind must be one of {kinds}, not {kind!r}",
                    kinds=", ".join(KINDS),
                    kind=self.kind,
                )
            )
        whole("count", self.count)
        needed = ["num_kv_heads", "head_dim"] if self.kind in WITH_HEADS else []
        needed += ["window"] if self.kind in WITH_WINDOW else []
        needed += ["latent_dim", "rope_dim"] if self.kind == "latent" else []
        needed += ["head_dim"] if self.kind == "index" else []
        for field in needed:
            said = N_("{field} of a {kind} layer", field=field, kind=self.kind)
            whole(said, getattr(self, field))
        if self.window is not None and self.kind not in WITH_WINDOW:
            raise ValueError(
                N_("a {kind} layer has no window; sliding and chunked layers have", kind=self.kind)
            )

    @property
    def vectors(self) -> tuple[tuple[int, int], ...]:
        """(heads, head_dim) of what one layer keeps for one token: K and V, or one latent."""
        if self.kind == "latent":
            return ((1, self.latent_dim + self.rope_dim),)
        return ((self.num_kv_heads, self.head_dim),) * 2 if self.kind in WITH_HEADS else ()


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
    parameters: int | None = None
    parameters_are_exact: bool = False
    active_parameters: int | None = None
    dtype: str = "bfloat16"
    full_layers: tuple[int, ...] = ()
    verified: str = "yours"
    sources: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        whole("num_heads", self.num_heads)
        whole("d_model", self.d_model)
        for group in self.groups or ():
            if group.kind in WITH_HEADS:
                divides("KV heads", group.num_kv_heads, "query heads", self.num_heads)

    def known_groups(self) -> tuple[LayerGroup, ...]:
        """The groups, or a refusal to guess them."""
        if self.groups is None:
            raise ValueError(
                N_("{model}: which of its layers keep what is not published", model=self.id)
            )
        return self.groups

    @property
    def gaps(self) -> tuple[str, ...]:
        """What is left out of every total because nobody published it."""
        return tuple(
            N_(
                "{count} recurrent layers: {note}",
                count=group.count,
                note=Message(group.state_note, {}),
            )
            for group in self.groups or ()
            if group.kind == "recurrent" and not group.state
        )
