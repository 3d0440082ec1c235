"""Number formats of a cache: bits per element, and the scales that groups of them share."""

from dataclasses import dataclass

from explainers.memory.field_checks import check_whole
from explainers.messages import N_


@dataclass(frozen=True)
class NumberFormat:
    """A number format: the bits of one element, and of what a group of elements shares."""

    name: str
    bits: int
    group: int | None = None
    shared_bits: int = 0
    per_head: bool = False
    residual: int = 0
    note: str = ""

    def __post_init__(self) -> None:
        check_whole("bits", self.bits)
        check_whole("residual", self.residual, 0)
        check_whole("shared_bits", self.shared_bits, 0)
        if self.group is not None:
            check_whole("group", self.group)

    def count_groups(self, heads: int, head_dim: int) -> int:
        """How many groups of elements, each with a scale, one vector has; a partial one counts."""
        if self.per_head:
            return heads
        return -(-heads * head_dim // self.group) if self.group else 0

    def count_vector_bytes(self, heads: int, head_dim: int) -> int:
        """Bytes of one token's keys (or values) in one layer, rounded up to whole ones."""
        shared = self.count_groups(heads, head_dim) * self.shared_bits
        return -(-heads * head_dim * self.bits // 8) + -(-shared // 8)


def make_grouped_format(
    bits: int, group: int = 64, zero_bits: int = 16, residual: int = 0
) -> NumberFormat:
    """A format of whole numbers whose groups share a 16-bit scale and a zero point."""
    name = f"int{bits}, groups of {group}"
    return NumberFormat(name, bits, group, 16 + zero_bits, residual=residual)


BFLOAT16 = NumberFormat("bfloat16", 16)
SCALE_NOTE = N_("llama.cpp: blocks of 32 elements share a scale")
SCALE_AND_MINIMUM_NOTE = N_("llama.cpp: blocks of 32 elements share a scale and a minimum")
FORMATS = {
    number_format.name: number_format
    for number_format in [
        NumberFormat("float32", 32),
        BFLOAT16,
        NumberFormat("float16", 16),
        NumberFormat("fp8", 8, note=N_("one scale for a whole tensor, not counted")),
        NumberFormat("int8", 8, note=N_("one scale for a whole tensor, not counted")),
        NumberFormat(
            "fp8_per_head", 8, None, 32, True, note=N_("vLLM: a scale for each token and head")
        ),
        NumberFormat(
            "int8_per_head", 8, None, 32, True, note=N_("vLLM: a scale for each token and head")
        ),
        NumberFormat(
            "int4", 4, 64, 32, note=N_("groups of 64 share a 16-bit scale and zero point")
        ),
        NumberFormat(
            "int4_residual",
            4,
            64,
            32,
            residual=128,
            note=N_("as int4; the newest 128 in 16 bits"),
        ),
        NumberFormat(
            "int2_residual", 2, 32, 32, residual=128, note=N_("KIVI: scale and minimum of 32")
        ),
        NumberFormat("nvfp4", 4, 16, 8, note=N_("vLLM: an 8-bit scale for 16 elements")),
        NumberFormat(
            "mxfp4", 4, 32, 8, note=N_("weights of gpt-oss's experts: an 8-bit scale for 32")
        ),
        NumberFormat("q8_0", 8, 32, 16, note=SCALE_NOTE),
        NumberFormat("q5_1", 5, 32, 32, note=SCALE_AND_MINIMUM_NOTE),
        NumberFormat("q5_0", 5, 32, 16, note=SCALE_NOTE),
        NumberFormat("q4_1", 4, 32, 32, note=SCALE_AND_MINIMUM_NOTE),
        NumberFormat("q4_0", 4, 32, 16, note=SCALE_NOTE),
    ]
}


def find_format(dtype: str | NumberFormat) -> NumberFormat:
    """The format of that name; a format is returned as it is."""
    if isinstance(dtype, NumberFormat):
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
