"""What `look` returns: shown by a notebook, kept as a file, and its weights as numbers."""

import csv
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from explainers.models.registry import GivenError

if TYPE_CHECKING:
    from explainers.models.head_scores import HeadScores
    from explainers.notebook.packed_heads import Array, HeadPacker, Shape
    from explainers.notebook.still import Panel

HEIGHT = 700
"""Pixels of the frame in a notebook; its corner can be dragged."""
MOST_ROWS = 2_000_000
"""Of a table."""
MOST_PANELS = 12
"""Heads side by side in a picture to save."""
COLUMNS = ["layer", "head", "query", "key", "weight", "query_token", "key_token"]
FORMATS = ".html, .svg, .pdf, .png, .csv, .parquet, .npy, .npz"
SHOWN = {
    "heads": "",
    "mean": "Each square is the mean of a layer's heads. No head was measured.",
    "rollout": (
        "Rollout multiplies the layers' mean weights, half of each row left with its own token "
        "(Abnar and Zuidema 2020). It knows no values, no MLPs and no signs: it is no measure of "
        "what the output depends on."
    ),
}
"""What a picture shows of each layer, and what is to be said of that."""
Place = tuple[int, int]
"""A layer and a head, each counted from 0."""


@dataclass(frozen=True, eq=False)
class Look:
    """A picture of all heads: shown by a notebook, and a whole HTML document in `page`."""

    summary: str
    page: str
    scores: "HeadScores | None" = None
    """Of the heads, if they were measured: for `names` of the next call, which then is quick."""
    weights: "dict[Place, Array]" = field(default_factory=dict, repr=False)
    """`weights[layer, head]` is (q_len, kv_len), float32, of each head that is in full."""
    masks: "dict[int, Array]" = field(default_factory=dict, repr=False)
    """`masks[layer]` is boolean (q_len, kv_len), True where a query may attend."""
    tokens: tuple[Sequence[str], Sequence[str]] = ((), ())
    """Those of the queries, and those of the keys."""
    offset: int | None = 0
    """The first query's place among the keys; None where they are two texts."""
    parts: Sequence[tuple[str, int]] = ()
    """The names of the text's parts, and the tokens at which they begin."""
    opening: Place = (0, 0)
    """The head that is shown first."""
    still: str = field(default="", repr=False)
    """The same as an SVG: all heads, and the one that is shown first."""

    @property
    def num_bytes(self) -> int:
        """What it adds to a notebook."""
        return len(self._repr_html_().encode())

    def _repr_html_(self) -> str:
        from explainers.notebook.single_file import frame_page

        return frame_page(self.page, HEIGHT, embed_still(self.still, self.summary))

    def __repr__(self) -> str:
        return f"{self.summary}, {self.num_bytes / 1e6:.1f} MB"

    def save(self, path: str | Path, heads: Collection[Place] = ()) -> Path:
        """Write a file of the kind that its name ends in, and return its path.

        .html is the whole picture. .svg, .pdf and .png (both by the package vl-convert-python) are
        `heads`, pairs of a layer and a head, side by side; without them the one that opens it.
        .csv and .parquet (by pandas) are tables with a row for each weight that a mask allows, .npz
        holds an array for each head, .npy one array (layers, heads, q_len, kv_len): of `heads`, or
        of all that are in full. Raises ModelError for another kind, and for what is not in full.
        """
        file = Path(path)
        kind = file.suffix.lower()
        heads = [(layer, head) for layer, head in heads]
        for layer, head in heads:
            if (layer, head) not in self.weights:
                raise GivenError(
                    f"Layer {layer}, head {head} is not in this picture in full: name it in "
                    f"look(…, layers=[({layer}, {head})])."
                )
        if kind == ".html":
            file.write_text(self.page, encoding="utf-8")
        elif kind in (".svg", ".pdf", ".png"):
            file.write_bytes(convert_svg(self._draw(heads or [self.opening]), kind))
        elif kind in (".npy", ".npz"):
            self._save_arrays(file, heads or self.weights)
        elif kind in (".csv", ".parquet"):
            self._save_table(file, heads or self.weights)
        else:
            raise GivenError(f"A picture is saved as {FORMATS}: not as {file.name}.")
        return file

    def _draw(self, heads: Collection[Place]) -> str:
        from explainers.notebook.still import draw_svg

        if len(heads) > MOST_PANELS:
            raise GivenError(
                f"A picture has at most {MOST_PANELS} heads side by side: these are {len(heads)}."
            )
        return draw_svg(self.summary, [self.make_panel(place) for place in heads])

    def make_panel(self, place: Place) -> "Panel":
        """One head as a still draws it."""
        from explainers.notebook.still import Panel

        title = f"layer {place[0]}, head {place[1]}"
        borders = [start for _name, start in self.parts if start]
        return Panel(
            title, self.weights[place], self.masks[place[0]], *self.tokens, self.offset, borders
        )

    def _save_arrays(self, file: Path, heads: Collection[Place]) -> None:
        import numpy as np

        if file.suffix.lower() == ".npz":
            named = {f"layer{layer}_head{head}": self.weights[layer, head] for layer, head in heads}
            np.savez_compressed(file, allow_pickle=False, **named)
            return
        layers = sorted({layer for layer, _head in heads})
        rows = [sorted(head for at, head in heads if at == layer) for layer in layers]
        if layers != list(range(len(layers))) or any(row != rows[0] for row in rows):
            counts = [len(row) for row in rows[:8]]
            raise GivenError(
                f"One array holds all heads of all layers; here layers {layers[:8]} have {counts} "
                "heads: save them as .npz."
            )
        stacked = np.stack(
            [np.stack([self.weights[at, head] for head in rows[0]]) for at in layers]
        )
        np.save(file, stacked, allow_pickle=False)

    def _save_table(self, file: Path, heads: Collection[Place]) -> None:
        count = sum(int(self.masks[layer].sum()) for layer, _head in heads)
        if count > MOST_ROWS:
            raise GivenError(
                f"A table has at most {MOST_ROWS:,} rows; these weights would be {count:,}: name "
                "some heads, save(path, heads=[(3, 0)]), or save them as .npz."
            )
        if file.suffix.lower() == ".parquet":
            try:
                import pandas as pd

                pd.DataFrame(self._list_rows(heads), columns=COLUMNS).to_parquet(file, index=False)
            except ImportError as error:
                raise GivenError(
                    f"A .parquet file needs pandas and pyarrow ({error}): save a .csv."
                ) from None
            return
        with file.open("w", encoding="utf-8", newline="") as opened:
            csv.writer(opened).writerows(chain([COLUMNS], self._list_rows(heads)))

    def _list_rows(self, heads: Collection[Place]) -> Iterator[tuple[Any, ...]]:
        """A row of a table for each weight that is allowed."""
        asking, asked = self.tokens
        for layer, head in heads:
            weights = self.weights[layer, head]
            for query, key in zip(*self.masks[layer].nonzero(), strict=True):
                weight = float(weights[query, key])
                yield layer, head, int(query), int(key), weight, asking[query], asked[key]


def convert_svg(svg: str, kind: str) -> bytes:
    """An SVG as what a file of this kind holds."""
    if kind == ".svg":
        return svg.encode()
    try:
        import vl_convert
    except ImportError:
        raise GivenError(
            f"A {kind} file needs the package vl-convert-python: save an .svg."
        ) from None
    return vl_convert.svg_to_pdf(svg) if kind == ".pdf" else vl_convert.svg_to_png(svg, scale=2)


def embed_still(still: str, summary: str) -> str:
    """The still as an image, in which no script could run; "" if there is none."""
    style = f"max-width:100vw;max-height:{HEIGHT}px;grid-area:1/1"
    image = f'<img alt="{escape(summary)}" style="{style}" src="data:image/svg+xml,{quote(still)}">'
    return image if still else ""


def make_picture(
    data: dict[str, Any], packer: "HeadPacker", scores: "HeadScores | None" = None
) -> Look:
    """The picture of these numbers, still and to be played with."""
    from explainers.charts.theme import THEMES
    from explainers.notebook.single_file import write_page
    from explainers.notebook.still import draw_svg

    offset, first = packer.shape.offset, packer.find_opening()[0]
    told = {
        "summary": summarise(data, packer.shape),
        "weights": packer.kept,
        "masks": packer.allowed,
        "tokens": (data["queries"] or data["tokens"][offset:], data["tokens"]),
        "offset": offset,
        "parts": data["parts"],
        "opening": (first.layer, first.head),
    }
    picture = Look(page="", scores=scores, **told)
    still = draw_svg(
        picture.summary, [picture.make_panel(picture.opening)], packer.thumbs, is_small=True
    )
    looks = {name: theme.describe_look() for name, theme in THEMES.items()}
    image = embed_still(still, picture.summary)
    data = data | {"looks": looks}
    page = write_page(picture.summary, "look/look.js", "look/style.css", data, image)
    return replace(picture, page=page, still=still)


def summarise(data: dict[str, Any], shape: "Shape") -> str:
    """What is in a picture, in one line."""
    count = sum(layer["heads"] for layer in data["layers"])
    what = {"heads": f"{count} heads", "mean": f"means of {count} layers"}
    said = f"{data['model']}: {what.get(data['show'], f'rollout over {count} layers')}"
    if shape.offset is None:
        return f"{said}, {shape.queries} queries on {shape.keys} keys"
    asking = "" if not shape.offset else f", the last {shape.queries} queries"
    merged = f", merged into {shape.keys} words" if shape.keys < data["pieces"] else ""
    return f"{said} on {data['pieces']} tokens{merged}{asking}"
