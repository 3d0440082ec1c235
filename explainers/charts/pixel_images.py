"""The colour of a matrix cell, legible digits on it, and images of such cells."""

import base64
import io
from collections.abc import Sequence

from PIL import Image

from explainers.charts.matrix import Matrix
from explainers.charts.theme import Theme, mix_colours, parse_colour


def choose_ramp(matrix: Matrix, theme: Theme) -> Sequence[str]:
    """The colours from the lowest to the highest number."""
    return theme.weight_ramp if matrix.kind == "weights" else theme.signed_ramp


def list_stops(matrix: Matrix) -> Sequence[float]:
    """The numbers that the colours of `choose_ramp` stand for."""
    low, high = matrix.domain
    return (low, high) if matrix.kind == "weights" else (low, 0, high)


def choose_ink(rgb: Sequence[int]) -> str:
    """Black or white, whichever stands out against the cell: at least 4.5 to 1 on any colour."""
    return "#000000" if compute_luminance(rgb) > 0.179 else "#ffffff"


def compute_luminance(rgb: Sequence[int]) -> float:
    """Relative luminance (WCAG 2.2)."""
    linear = [c / 255 / 12.92 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in rgb]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def compute_colour(value: float | None, matrix: Matrix, theme: Theme) -> tuple[int, ...]:
    """The colour of one cell, interpolated as Vega does it."""
    if value is None:
        return parse_colour(theme.background)
    low, high = matrix.domain
    colours = choose_ramp(matrix, theme)
    position = min(max((value - low) / (high - low), 0.0), 1.0) * (len(colours) - 1)
    step = min(int(position), len(colours) - 2)
    low_colour, high_colour = map(parse_colour, colours[step : step + 2])
    return mix_colours(low_colour, high_colour, position - step)


def encode_image(image: Image.Image) -> str:
    """An image as the address of a PNG that holds its own data."""
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()


def draw_matrix_image(matrix: Matrix, theme: Theme, size: tuple[int, int]) -> str:
    """A whole matrix as one PNG of `size` (width, height)."""
    pixels = bytes(
        channel
        for row in matrix.values
        for value in row
        for channel in compute_colour(value, matrix, theme)
    )
    image = Image.frombytes("RGB", matrix.shape[::-1], pixels)
    return encode_image(image.resize(size, Image.Resampling.NEAREST))
