"""How many bytes numbers take in a cache, with the scales and zero points they share."""

from dataclasses import dataclass

from explainers.memory.sizes import whole
from explainers.messages import N_


@dataclass(frozen=True)
class Format:
    """A number format: the bits of one element, and of what a group of elements shares."""

    name: str
    bits: int
    group: int | None = None
    shared_bits: int = 0
    per_head: bool = False
    residual: int = 0
    note: str = ""

    def __post_init__(self) -> None:
        whole("bits", self.bits)
        whole("residual", self.residual, 0)
        whole("shared_bits", self.shared_bits, 0)
        if self.group is not None:
            whole("group", self.group)

    def groups(self, heads: int, head_dim: int) -> int:
        """How many groups share a scale in one vector; one that is not full counts as well."""
        if self.per_head:
            return heads
        return -(-heads * head_dim // self.group) if self.group else 0

    def vector_bytes(self, heads: int, head_dim: int) -> int:
        """What one token's keys (or values) of one layer take, in whole bytes."""
        shared = self.groups(heads, head_dim) * self.shared_bits
        return -(-heads * head_dim * self.bits // 8) + -(-shared // 8)


def grouped(bits: int, group: int = 64, zero_bits: int = 16, residual: int = 0) -> Format:
    """Whole numbers of a few bits; each group shares a 16-bit scale and a zero point."""
    name = f"int{bits}, groups of {group}"
    return Format(name, bits, group, 16 + zero_bits, residual=residual)


SIXTEEN = Format("bfloat16", 16)
ONE_SCALE = N_("llama.cpp: blocks of 32 elements share a scale")
WITH_MINIMUM = N_("llama.cpp: blocks of 32 elements share a scale and a minimum")
FORMATS = {
    made.name: made
    for made in [
        Format("float32", 32),
        SIXTEEN,
        Format("float16", 16),
        Format("fp8", 8, note=N_("one scale for a whole tensor, not counted")),
        Format("int8", 8, note=N_("one scale for a whole tensor, not counted")),
        Format("fp8_per_head", 8, None, 32, True, note=N_("vLLM: a scale for each token and head")),
        Format(
            "int8_per_head", 8, None, 32, True, note=N_("vLLM: a scale for each token and head")
        ),
        Format("int4", 4, 64, 32, note=N_("groups of 64 share a 16-bit scale and zero point")),
        Format(
            "int4_residual",
            4,
            64,
            32,
            residual=128,
            note=N_("as int4; the newest 128 in 16 bits"),
        ),
        Format("int2_residual", 2, 32, 32, residual=128, note=N_("KIVI: scale and minimum of 32")),
        Format("nvfp4", 4, 16, 8, note=N_("vLLM: an 8-bit scale for 16 elements")),
        Format("mxfp4", 4, 32, 8, note=N_("weights of gpt-oss's experts: an 8-bit scale for 32")),
        Format("q8_0", 8, 32, 16, note=ONE_SCALE),
        Format("q5_1", 5, 32, 32, note=WITH_MINIMUM),
        Format("q5_0", 5, 32, 16, note=ONE_SCALE),
        Format("q4_1", 4, 32, 32, note=WITH_MINIMUM),
        Format("q4_0", 4, 32, 16, note=ONE_SCALE),
    ]
}


def format_of(dtype: str | Format) -> Format:
    """The format of that name, or the one given."""
    if isinstance(dtype, Format):
        return dtype
    if not isinstance(dtype, str) or dtype not in FORMATS:
        raise ValueError(
            N_(
                "dtype must be one of {formats}, not {dtype!r}",
                formats=", ".join(FORMATS),
                dtype=dtype,
            )
        )
    return FORMATS[dtype]
