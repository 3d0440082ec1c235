"""`look(model, tokenizer, text)`: every head of your own model in a notebook, as one picture.

`report(…)` writes the same as one HTML file to send. Nothing is fetched, then or later: scripts,
styles and weights are inside. torch and transformers are imported when one of the two is called.
"""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from explainers.models.head_scores import HeadScores
    from explainers.models.load import RealModel

HEIGHT = 700
"""Pixels of the frame in a notebook; its corner can be dragged."""


@dataclass(frozen=True)
class Look:
    """A picture of all heads: shown by a notebook, and a whole HTML document in `page`."""

    summary: str
    page: str
    scores: "HeadScores | None" = None
    """Of the heads, if they were measured: for `names` of the next call, which then is quick."""

    @property
    def num_bytes(self) -> int:
        """What it adds to a notebook."""
        return len(self._repr_html_().encode())

    def _repr_html_(self) -> str:
        from explainers.notebook.single_file import frame_page

        return frame_page(self.page, HEIGHT)

    def __repr__(self) -> str:
        return f"{self.summary}, {self.num_bytes / 1e6:.1f} MB"


def look(
    model: "PreTrainedModel",
    tokenizer: "PreTrainedTokenizerBase",
    text: str,
    *,
    layers: Collection[int] = (),
    names: "bool | HeadScores" = True,
    by_word: bool = False,
) -> Look:
    """All heads of a model on a text, and one of them enlarged, as a picture for a notebook.

    The model is any of transformers that our attention can be put into; it is the same afterwards.
    Of an encoder–decoder it is the encoder. Up to 256 tokens all heads are sent in full, above
    that (1,024 at most) as an overview, with the layers that you name in full; by default it is
    the one with the most telling head. With `names` every head is first measured on fixed texts
    (Olsson et al. 2022; Voita et al. 2019): False leaves that out, and scores that were measured
    before (`Look.scores`) are taken as they are. `by_word` merges the pieces of a word: weights
    to them are added up, of those from them the mean is shown. Prints how large the picture is.

    Raises ModelError, a sentence with the reason, for a model or a text that it does not know.
    """
    picture = make_look(model, tokenizer, text, layers, names, by_word)
    print(picture)
    return picture


def report(
    model: "PreTrainedModel",
    tokenizer: "PreTrainedTokenizerBase",
    text: str,
    path: str | Path,
    *,
    layers: Collection[int] = (),
    names: "bool | HeadScores" = True,
    by_word: bool = False,
) -> Path:
    """Write what `look` shows as one HTML file, and return its path. It needs no network."""
    file = Path(path)
    page = make_look(model, tokenizer, text, layers, names, by_word).page
    file.write_text(page, encoding="utf-8")
    return file


def make_look(
    model: Any,
    tokenizer: Any,
    text: str,
    layers: Collection[int] = (),
    names: "bool | HeadScores" = True,
    by_word: bool = False,
    words: Mapping[str, str] | None = None,
) -> Look:
    """What `look` returns; `words` are translations of what the picture says."""
    with keep_threads():
        from explainers.models.borrowed_model import borrow_model

        with borrow_model(model, tokenizer) as borrowed:
            return draw_heads(borrowed, text, layers, names, by_word, words)


def draw_heads(
    loaded: "RealModel",
    text: str,
    layers: Collection[int] = (),
    names: "bool | HeadScores" = True,
    by_word: bool = False,
    words: Mapping[str, str] | None = None,
) -> Look:
    """The same of a model that has our attention already, as the app's have."""
    from explainers.notebook.head_names import find_scores, name_heads

    data = record_heads(loaded, text, layers, by_word)
    scores, unnamed = find_scores(loaded, names)
    data |= {"roles": name_heads(scores) if scores else [], "unnamed": unnamed}
    return write_look(data | {"words": dict(words or {})}, scores)


def record_heads(
    borrowed: "RealModel", text: str, layers: Collection[int] = (), by_word: bool = False
) -> dict[str, Any]:
    """Run a model that has our attention on a text; what the picture is drawn from, as JSON.

    Raises ModelError for a text without tokens or with too many, and for a model that reads none.
    """
    from explainers.messages import N_, get_message
    from explainers.models.attention_hook import run_model
    from explainers.models.borrowed_model import make_inputs
    from explainers.models.registry import ModelError
    from explainers.models.token_text import find_words, tokenise_text
    from explainers.notebook.packed_heads import HeadPacker, choose_side

    model = borrowed.model
    if model.main_input_name != "input_ids":
        raise ModelError(N_("{model} reads something else than text.", model=borrowed.name))
    ids, tokens = tokenise_text(borrowed, text)
    num_pieces = len(tokens)
    words = find_words(borrowed, text, tokens) if by_word else None
    tokens = words.spelled if words else tokens
    side = choose_side(len(tokens), count_heads(model.config))
    kind = "encoder" if model.config.is_encoder_decoder else "self"
    packer = HeadPacker(len(tokens), kind, side, layers, words.numbers if words else ())
    try:
        run_model(model, record=packer, **make_inputs(model, ids))
    except ValueError as error:
        message = N_("{model}: {error}", model=borrowed.name, error=get_message(error))
        raise ModelError(message) from error
    packer.finish()
    missing = sorted(set(layers) - set(range(len(packer.layers))))
    if missing:
        raise ModelError(
            N_(
                "{model} has layers 0 to {last}: there is no layer {missing}.",
                model=borrowed.name,
                last=len(packer.layers) - 1,
                missing=missing[0],
            )
        )
    is_in_order = all(a < b for a, b in zip(packer.names, packer.names[1:], strict=False))
    return {
        "model": borrowed.name,
        "kind": kind,
        "tokens": list(tokens),
        "pieces": num_pieces,
        "side": side,
        # A model that uses one layer several times gives them all one index.
        "names": packer.names if is_in_order else list(range(len(packer.names))),
        "layers": packer.layers,
        "full": packer.full,
        "masks": packer.masks,
        "telling": [[row.layer, row.head, row.query] for row in packer.find_opening()],
    }


def count_heads(config: Any) -> int:
    """About how many heads a model has, as far as its configuration says."""
    sizes = (getattr(config, name, 1) for name in ("num_hidden_layers", "num_attention_heads"))
    layers, heads = (size if isinstance(size, int) else max(size, default=1) for size in sizes)
    return int(layers * heads)


def write_look(data: dict[str, Any], scores: "HeadScores | None") -> Look:
    """The picture of these numbers, and what is in it in one line."""
    from explainers.notebook.single_file import write_page

    count = sum(layer["heads"] for layer in data["layers"])
    drawn, pieces = len(data["tokens"]), data["pieces"]
    merged = f", merged into {drawn} words" if drawn < pieces else ""
    summary = f"{data['model']}: {count} heads on {pieces} tokens{merged}"
    page = write_page(summary, "look/look.js", "look/style.css", data | {"looks": read_looks()})
    return Look(summary, page, scores)


def read_looks() -> dict[str, Any]:
    """The colours of both themes."""
    from explainers.charts.theme import THEMES

    return {name: theme.describe_look() for name, theme in THEMES.items()}


@contextmanager
def keep_threads() -> Iterator[None]:
    """As many threads for torch as before: the app, which shares our modules, sets one."""
    import torch

    count = torch.get_num_threads()
    import explainers.device  # noqa: F401 - sets them when it is imported for the first time

    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(count)
