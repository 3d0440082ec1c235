"""What every file that is taken away begins and ends with."""

from base64 import b64decode
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

RELATIVE, ABSOLUTE = 1e-4, 1e-5
"""How far the last digits may differ: another machine adds up in another order."""


def floats(packed: str, *shape: int) -> Tensor:
    """Numbers exactly as the page had them: float32 in base64, lowest byte first."""
    return torch.frombuffer(bytearray(b64decode(packed)), dtype=torch.float32).view(shape)


def truths(rows: str) -> Tensor:
    """A mask, a row per line: 1 may attend, 0 may not."""
    return torch.tensor([[sign == "1" for sign in row] for row in rows.split()])


def same_numbers(computed: Mapping[str, Any], shown: Mapping[str, Any]) -> None:
    """Print what was computed here, and fail if it is not what the page shows."""
    for name, expected in shown.items():
        print(name, "=", computed[name], "\n")
        if expected is None or isinstance(expected, str):
            if computed[name] != expected:
                raise AssertionError(f"{name}: the page shows {expected}")
            continue
        on_page = torch.as_tensor(expected, dtype=torch.float64)
        mine = torch.as_tensor(computed[name], dtype=torch.float64).cpu()
        if not on_page.numel():
            raise AssertionError(f"{name}: nothing to compare with")
        if on_page.dim():
            mine = mine[: len(on_page)]  # of a large one the file holds the first rows
        torch.testing.assert_close(mine, on_page, rtol=RELATIVE, atol=ABSOLUTE, equal_nan=True)
    print(f"The same numbers as on the page: {'; '.join(shown)}.")
