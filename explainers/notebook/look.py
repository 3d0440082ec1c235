"""`look(model, tokenizer, text)`: every head of your own model in a notebook, as one picture.

`report(…)` writes the same as one HTML file to send. Nothing is fetched, then or later: scripts,
styles and weights are inside. torch and transformers are imported when one of the two is called.

>>> find_wrong_text(3)
'Pass a text, a str: this is int.'
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explainers.messages import N_, get_message
from explainers.models.registry import ModelError, RefusedModelError

if TYPE_CHECKING:
    from torch import Tensor
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
    One that attends in a class of its own is shown with the weights that this class reports, if
    it does, and the picture says so. Of an encoder–decoder it is the encoder. The text is one
    `str`: a chat is `tokenizer.apply_chat_template(messages, tokenize=False)`, and several texts
    are several calls. A processor will do as a tokenizer; names and folders are not loaded.

    Up to 256 tokens all heads are sent in full, above that (1,024 at most) as an overview, with
    the layers that you name in full; by default it is the one with the most telling head. With
    `names` every head is first measured on fixed texts (Olsson et al. 2022; Voita et al. 2019):
    False leaves that out, and scores that were measured before (`Look.scores`) are taken as they
    are. `by_word` merges the tokens of a word: weights to them are added up, of those from them
    the mean is shown. Prints how large the picture is.

    Raises ModelError, a sentence with the reason, for anything else that it is given.
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

        tokenizer = getattr(tokenizer, "tokenizer", tokenizer)  # a processor's
        if problem := find_problem(model, tokenizer, text, layers):
            raise ModelError(problem)
        try:
            with borrow_model(model, tokenizer) as borrowed:
                return draw_heads(borrowed, text, layers, names, by_word, words)
        except RefusedModelError as error:
            return draw_own_weights(error, model, tokenizer, text, layers, by_word, words)


def find_problem(model: Any, tokenizer: Any, text: Any, layers: Any) -> str:
    """What to pass in the place of what is no model, tokenizer or text; "" if all is well."""
    from explainers.models.borrowed_model import unwrap_model

    if not isinstance(layers, Collection) or not all(isinstance(one, Integral) for one in layers):
        return N_("Pass layers as whole numbers, such as layers=[0, 3].")
    if problem := find_wrong_model(model):
        return problem
    unwrap_model(model)  # raises ModelError itself
    return find_wrong_tokenizer(tokenizer) or find_wrong_text(text)


def find_wrong_model(model: Any) -> str:
    """What to pass in the place of a name, a folder or a model without weights."""

    if isinstance(model, str | Path) and (Path(model) / "adapter_config.json").is_file():
        return N_(
            "{folder} holds an adapter: pass PeftModel.from_pretrained(model, folder), with the "
            "model that it was trained for.",
            folder=Path(model).name,
        )
    if isinstance(model, str | Path):
        return N_(
            "Pass the model itself: AutoModel.from_pretrained({name}).", name=repr(str(model))
        )
    if isinstance(model, type):
        kind = model.__name__
        return N_("{kind} is a class: pass what {kind}.from_pretrained(…) returns.", kind=kind)
    kind = type(model).__name__
    parameters = model.parameters() if hasattr(model, "modules") else ()
    is_elsewhere = hasattr(model, "_hf_hook")  # accelerate brings weights when they are needed
    if any(one.is_meta for one in parameters) and not is_elsewhere:
        return N_("{kind} has no weights (its device is “meta”): load them first.", kind=kind)
    return ""


def find_wrong_tokenizer(tokenizer: Any) -> str:
    """What to pass in the place of a name, or of something that cuts no text."""

    if isinstance(tokenizer, str | Path):
        name = repr(str(tokenizer))
        return N_("Pass the tokenizer itself: AutoTokenizer.from_pretrained({name}).", name=name)
    if not callable(tokenizer) or not hasattr(tokenizer, "convert_ids_to_tokens"):
        kind = type(tokenizer).__name__
        return N_("{kind} is not a tokenizer of the library transformers.", kind=kind)
    return ""


def find_wrong_text(text: Any) -> str:
    """What to pass in the place of several texts, a chat, ids or half a character."""

    kind = type(text).__name__
    first = next(iter(text), None) if isinstance(text, list | tuple) else None
    if isinstance(first, str):
        return N_("Pass one text at a time: this is a list of {count}.", count=len(text))
    if isinstance(first, Mapping):
        return N_(
            "A chat is not one text: pass tokenizer.apply_chat_template(messages, tokenize=False)."
        )
    if first is not None or isinstance(text, Mapping) or hasattr(text, "tolist"):
        return N_("Pass a text, not its ids ({kind}): tokenizer.decode(ids) writes it.", kind=kind)
    if not isinstance(text, str):
        return N_("Pass a text, a str: this is {kind}.", kind=kind)
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        return N_("This text has half a character (a surrogate by itself): leave it out.")
    return ""


def draw_own_weights(
    refusal: ModelError,
    model: Any,
    tokenizer: Any,
    text: str,
    layers: Collection[int],
    by_word: bool,
    words: Mapping[str, str] | None,
) -> Look:
    """The weights that a model's own class reports, and named so; raises the refusal if none."""
    from explainers.models.borrowed_model import describe_model, keep_model, unwrap_model
    from explainers.notebook.packed_heads import run_own_attention

    own = describe_model(unwrap_model(model), tokenizer)
    with keep_model(own.model):
        data = record_heads(own, text, layers, by_word, partial(run_own_attention, refusal))
    data["model"] += ", its own attention"
    data["unnamed"] = N_(
        "These are the weights of the model's own attention. No head was measured."
    )
    return write_look(data | {"roles": [], "words": dict(words or {})}, None)


def draw_heads(
    loaded: "RealModel",
    text: str,
    layers: Collection[int] = (),
    names: "bool | HeadScores" = True,
    by_word: bool = False,
    words: Mapping[str, str] | None = None,
) -> Look:
    """The same of a model that has our attention already, as the app's have."""
    from explainers.models.head_scores import name_heads

    data = record_heads(loaded, text, layers, by_word)
    scores, unnamed = find_scores(loaded, names)
    data |= {"roles": name_heads(scores) if scores else [], "unnamed": unnamed}
    return write_look(data | {"words": dict(words or {})}, scores)


def find_scores(
    borrowed: "RealModel", names: "bool | HeadScores"
) -> "tuple[HeadScores | None, str]":
    """The scores that name the heads, or why there are none: given, measured, or not wanted."""
    from explainers.models.head_scores import HeadScores, measure_heads

    if names is False:
        return None, N_("Heads were not measured.")
    if isinstance(names, HeadScores):
        return names, ""
    try:
        return measure_heads(borrowed), ""
    except (ValueError, RuntimeError, ModelError) as error:
        return None, get_message(error)


def record_heads(
    borrowed: "RealModel",
    text: str,
    layers: Collection[int] = (),
    by_word: bool = False,
    run: Callable[..., Any] | None = None,
) -> dict[str, Any]:
    """Run a model that has our attention on a text; what the picture is drawn from, as JSON.

    `run` is another way to run it, as `run_model` does. Raises ModelError for a text without
    tokens or with too many, and for a model that reads none.
    """
    from explainers.models.attention_hook import run_model
    from explainers.models.borrowed_model import make_inputs
    from explainers.models.token_text import find_words, tokenise_text
    from explainers.notebook.packed_heads import HeadPacker, choose_side

    model = borrowed.model
    if model.main_input_name != "input_ids":
        raise ModelError("{model} reads something else than text.", model=borrowed.name)
    ids, tokens = tokenise_text(borrowed, text)
    check_ids(borrowed, ids)
    num_pieces = len(tokens)
    words = find_words(borrowed, text, tokens) if by_word else None
    tokens = words.spelled if words else tokens
    side = choose_side(len(tokens), count_heads(model.config))
    kind = "encoder" if model.config.is_encoder_decoder else "self"
    packer = HeadPacker(len(tokens), kind, side, layers, words.numbers if words else ())
    try:
        (run or run_model)(model, record=packer, **make_inputs(model, ids))
    except ValueError as error:
        message = N_("{model}: {error}", model=borrowed.name, error=get_message(error))
        raise ModelError(message) from error
    packer.finish()
    missing = sorted(set(layers) - set(range(len(packer.layers))))
    if missing:
        raise ModelError(
            "{model} has layers 0 to {last}: there is no layer {missing}.",
            model=borrowed.name,
            last=len(packer.layers) - 1,
            missing=missing[0],
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


def check_ids(loaded: "RealModel", ids: "Tensor") -> None:
    """Raise ModelError for ids that the model has no vector for."""

    try:
        most = getattr(loaded.model.get_input_embeddings(), "num_embeddings", None)
    except NotImplementedError:  # CANINE's letters have no such table
        return
    largest = int(ids.max())
    if most is not None and largest >= most:
        raise ModelError(
            "The tokenizer has the id {id}, and {model} has vectors for {count} ids only. Is "
            "it this model's tokenizer? If you added tokens, call "
            "model.resize_token_embeddings.",
            id=largest,
            model=loaded.name,
            count=most,
        )


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
