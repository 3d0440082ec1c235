"""Pictures of pixels for charts: too many cells for single marks are drawn as one image."""

import base64
import io

from PIL import Image

from explainers.charts.colours import compute_colour
from explainers.charts.matrix import Matrix
from explainers.charts.theme import Theme


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
