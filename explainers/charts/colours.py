"""What colour a cell has and what ink is legible on it; and a whole matrix as one image."""

import base64
import io
from collections.abc import Sequence

from PIL import Image

from explainers.charts.matrix import Matrix
from explainers.charts.theme import Theme, rgb


def image_uri(matrix: Matrix, theme: Theme, size: tuple[int, int]) -> str:
    """The whole matrix as one PNG of `size` (width, height), for matrices of too many marks."""
    pixels = bytes(
        channel for row in matrix.values for value in row for channel in pixel(value, matrix, theme)
    )
    image = Image.frombytes("RGB", matrix.shape[::-1], pixels).resize(
        size, Image.Resampling.NEAREST
    )
    stored = io.BytesIO()
    image.save(stored, "PNG")
    return "data:image/png;base64," + base64.b64encode(stored.getvalue()).decode()


def ramp(matrix: Matrix, theme: Theme) -> Sequence[str]:
    """The colours from the lowest to the highest number."""
    return theme.weight_ramp if matrix.kind == "weights" else theme.signed_ramp


def stops(matrix: Matrix) -> Sequence[float]:
    """The numbers that the colours of the ramp stand for."""
    low, high = matrix.domain
    return (low, high) if matrix.kind == "weights" else (low, 0, high)


def ink(rgb: Sequence[int]) -> str:
    """Black or white, whichever stands out against the cell: at least 4.5 to 1 on any colour."""
    return "#000000" if luminance(rgb) > 0.179 else "#ffffff"


def luminance(rgb: Sequence[int]) -> float:
    """Relative luminance (WCAG 2.2)."""
    linear = [c / 255 / 12.92 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in rgb]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def pixel(value: float | None, matrix: Matrix, theme: Theme) -> tuple[int, ...]:
    """The colour of one cell, interpolated as Vega does it."""
    if value is None:
        return rgb(theme.background)
    low, high = matrix.domain
    colours = ramp(matrix, theme)
    place = min(max((value - low) / (high - low), 0.0), 1.0) * (len(colours) - 1)
    step = min(int(place), len(colours) - 2)
    return tuple(
        round(a + (b - a) * (place - step))
        for a, b in zip(rgb(colours[step]), rgb(colours[step + 1]), strict=True)
    )
