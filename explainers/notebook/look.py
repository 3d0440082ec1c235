"""`look(…)`: every head of your own model, or of weights you have, in a notebook as one picture.

`report(…)` writes the same as one HTML file to send. Nothing is fetched, then or later: scripts,
styles and weights are inside. torch and transformers are imported when a model is looked at; for
weights numpy is enough.

>>> look_at_weights([[[[1, 0], [0.5, 0.5]], [[1, 0], [0.2, 0.8]]]], ["a", "b"]).summary
'Weights: 2 heads on 2 tokens'
>>> find_wrong_text(3)
'Pass a text, a str: this is int.'
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explainers.messages import N_, get_message
from explainers.models.registry import GivenError, ModelError, RefusedModelError
from explainers.notebook.head_picture import SHOWN, Look, make_picture

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from explainers.models.head_scores import HeadScores
    from explainers.models.load import RealModel
    from explainers.notebook.given import Wanted
    from explainers.notebook.head_picture import Place
    from explainers.notebook.packed_heads import HeadPacker

LONGEST_TITLE = 200
"""Letters that are sent."""


def look(
    model: "PreTrainedModel | None" = None,
    tokenizer: "PreTrainedTokenizerBase | None" = None,
    text: Any = "",
    *,
    weights: Any = None,
    tokens: Any = None,
    key_tokens: Any = None,
    title: str = "",
    pair: str = "",
    answer: Any = "",
    attention: str = "",
    layers: "Collection[int | Place]" = (),
    names: "bool | HeadScores" = True,
    by_word: bool = False,
    show: str = "heads",
) -> Look:
    """All heads on a text, and one of them enlarged, as a picture for a notebook.

    `look(weights=…, tokens=…)` shows weights (layers, heads, q_len, kv_len) that you have: of
    numpy, torch or JAX, a list of layers, a .npy file, or what transformers returns as attentions,
    also step by step from `generate`. `tokens` are those of the queries; where the keys are of
    another text, `key_tokens` are theirs. `title` says what it is.

    `look(model, tokenizer, text)` runs a model of transformers that our attention can be put into;
    it is the same afterwards. One that attends in a class of its own is shown with the weights that
    this class reports, if it does. The text is one `str`, or a chat as a list of messages. `pair`
    is a second text beside it. `answer` is what the model wrote to it, as a text or ids, or how
    many tokens it is to write now. Of an encoder–decoder, `attention` is "encoder", "decoder" or
    "cross". A processor will do as a tokenizer; names and folders are not loaded.

    Up to 256 tokens all heads are sent in full, above that (4,096 at most) as an overview, with
    the layers that you name, or pairs of a layer and a head, in full; by default it is the most
    telling head, and its layer if that is not too long. `show` may be "mean" (of each layer's
    heads) or "rollout" (Abnar and Zuidema 2020). With `names` every head is first measured on
    fixed texts (Olsson et al. 2022; Voita et al. 2019): False leaves that out, and scores that were
    measured before (`Look.scores`) are taken as they are. `by_word` merges the tokens of a word:
    weights to them are added up, of those from them the mean is shown. Prints how large it is.

    Raises ModelError, a sentence with the reason, for anything else that it is given.
    """
    if weights is not None:
        picture = look_at_weights(weights, tokens, key_tokens, title, layers, show)
    else:
        wanted = {"pair": pair, "answer": answer, "attention": attention, "show": show}
        picture = make_look(model, tokenizer, text, layers, names, by_word, **wanted)
    print(picture)
    return picture


def report(
    model: "PreTrainedModel",
    tokenizer: "PreTrainedTokenizerBase",
    text: Any,
    path: str | Path,
    **options: Any,
) -> Path:
    """Write what `look` shows of a model as one HTML file, and return its path.

    The options are `look`'s. The file needs no network.
    """
    file = Path(path)
    file.write_text(make_look(model, tokenizer, text, **options).page, encoding="utf-8")
    return file


def make_look(
    model: Any,
    tokenizer: Any,
    text: Any,
    layers: "Collection[int | Place]" = (),
    names: "bool | HeadScores" = True,
    by_word: bool = False,
    **wanted: Any,
) -> Look:
    """What `look` returns of a model, which is the same afterwards."""
    from explainers.notebook.given import Wanted

    answer = wanted.pop("answer", "")
    ids = answer.tolist() if hasattr(answer, "tolist") else answer
    asked = Wanted(text, answer=ids, layers=layers, by_word=by_word, **wanted)
    with keep_threads():
        from explainers.models.borrowed_model import borrow_model

        tokenizer = getattr(tokenizer, "tokenizer", tokenizer)  # a processor's
        if problem := find_problem(model, tokenizer, asked):
            raise GivenError(problem)
        try:
            with borrow_model(model, tokenizer) as borrowed:
                return draw_heads(borrowed, asked, names)
        except RefusedModelError as error:
            return draw_own_weights(error, model, tokenizer, asked)


def look_at_weights(
    weights: Any,
    tokens: Any,
    key_tokens: Any = None,
    title: str = "",
    layers: "Collection[int | Place]" = (),
    show: str = "heads",
) -> Look:
    """What `look` returns of weights (layers, heads, q_len, kv_len) that are given."""
    from explainers.notebook.given import are_steps, list_layers, read_tokens
    from explainers.notebook.packed_heads import MOST_OFF, HeadPacker, choose_side, to_array

    given = list_layers(weights)
    sizes = tuple(given[0].shape[1:])
    shape, queries, keys = read_tokens(sizes, tokens, key_tokens, are_steps(weights))
    heads = sum(layer.shape[0] for layer in given) if show == "heads" else len(given)
    packer = HeadPacker(shape, choose_side(shape, heads), in_full=layers, show=show)
    for place, layer in enumerate(given):
        try:
            packer.add_layer(place, to_array(layer))
        except (TypeError, ValueError) as error:
            raise GivenError(f"Layer {place} holds no numbers: {error!s}") from None
    unnamed = SHOWN[show] or "These weights were given. No head was measured."
    low, high = packer.sums
    if min(low, 2 - high) < 1 - MOST_OFF:
        unnamed += f" Their rows add up to {low:.2f} to {high:.2f}, not to 1."
    told = {"kind": "given", "parts": [], "pieces": shape.keys, "unnamed": unnamed, "words": {}}
    return make_picture(
        packer.describe(title[:LONGEST_TITLE] or "Weights", queries, keys) | told, packer
    )


def find_problem(model: Any, tokenizer: Any, wanted: "Wanted") -> str:
    """What to pass in the place of what is no model, tokenizer or text; "" if all is well."""
    from explainers.models.borrowed_model import unwrap_model

    if problem := find_wrong_model(model):
        return problem
    unwrap_model(model)  # raises ModelError itself
    if isinstance(tokenizer, str | Path):
        return f"Pass the tokenizer itself: AutoTokenizer.from_pretrained({str(tokenizer)!r})."
    if not callable(tokenizer) or not hasattr(tokenizer, "convert_ids_to_tokens"):
        return f"{type(tokenizer).__name__} is not a tokenizer of the library transformers."
    answer = wanted.answer if isinstance(wanted.answer, str) else ""
    wrong = map(find_wrong_text, (wanted.text, wanted.pair or "", answer))
    return next(filter(None, wrong), "")


def find_wrong_model(model: Any) -> str:
    """What to pass in the place of a name, a folder or a model without weights."""
    if isinstance(model, str | Path) and (Path(model) / "adapter_config.json").is_file():
        return (
            f"{Path(model).name} holds an adapter: pass PeftModel.from_pretrained(model, folder), "
            "with the model that it was trained for."
        )
    if isinstance(model, str | Path):
        return f"Pass the model itself: AutoModel.from_pretrained({str(model)!r})."
    if isinstance(model, type):
        kind = model.__name__
        return f"{kind} is a class: pass what {kind}.from_pretrained(…) returns."
    parameters = model.parameters() if hasattr(model, "modules") else ()
    is_elsewhere = hasattr(model, "_hf_hook")  # accelerate brings weights when they are needed
    if any(one.is_meta for one in parameters) and not is_elsewhere:
        return f"{type(model).__name__} has no weights (its device is “meta”): load them first."
    return ""


def find_wrong_text(text: Any) -> str:
    """What to pass in the place of several texts, a chat, ids or half a character."""
    kind = type(text).__name__
    first = next(iter(text), None) if isinstance(text, list | tuple) else None
    if isinstance(first, str):
        return f"Pass one text at a time: this is a list of {len(text)}."
    if first is not None and all(isinstance(one, Mapping) for one in text):
        return ""  # a chat
    if first is not None or isinstance(text, Mapping) or hasattr(text, "tolist"):
        return f"Pass a text, not its ids ({kind}): tokenizer.decode(ids) writes it."
    if not isinstance(text, str):
        return f"Pass a text, a str: this is {kind}."
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        return "This text has half a character (a surrogate by itself): leave it out."
    return ""


def draw_own_weights(refusal: ModelError, model: Any, tokenizer: Any, wanted: "Wanted") -> Look:
    """The weights that a model's own class reports, and named so; raises the refusal if none."""
    from explainers.models.borrowed_model import describe_model, keep_model, unwrap_model

    own = describe_model(unwrap_model(model), tokenizer)
    with keep_model(own.model):
        data, packer = record_heads(own, wanted, partial(run_own_attention, refusal))
    data["model"] += ", its own attention"
    said = N_("These are the weights of the model's own attention. No head was measured.")
    data["unnamed"] = f"{said} {SHOWN[wanted.show]}".strip()
    return make_picture(data | {"words": {}}, packer)


def draw_heads(
    loaded: "RealModel",
    wanted: "Wanted",
    names: "bool | HeadScores" = True,
    words: Mapping[str, str] | None = None,
) -> Look:
    """The same of a model that has our attention already, as the app's have."""
    from explainers.models.head_scores import name_heads

    data, packer = record_heads(loaded, wanted)
    scores, unnamed = None, SHOWN[wanted.show]
    if wanted.show == "heads":
        scores, unnamed = find_scores(loaded, names)
    are_named = scores and data["kind"] in ("self", "encoder")
    data |= {"roles": name_heads(scores) if scores and are_named else [], "unnamed": unnamed}
    return make_picture(data | {"words": dict(words or {})}, packer, scores)


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
    borrowed: "RealModel", wanted: "Wanted", run: Callable[..., Any] | None = None
) -> "tuple[dict[str, Any], HeadPacker]":
    """Run a model that has our attention on a text; what the picture is drawn from, as JSON.

    `run` is another way to run it, as `run_model` does. Raises ModelError for a text without
    tokens or with too many, and for a model that reads none.
    """
    from explainers.models.attention_hook import run_model
    from explainers.notebook.given import read_texts
    from explainers.notebook.packed_heads import HeadPacker, Shape, choose_side

    model = borrowed.model
    if model.main_input_name != "input_ids":
        raise ModelError(
            "{model} reads something else than text. Weights that it returned can be shown: "
            "look(weights=…, tokens=…).",
            model=borrowed.name,
        )
    read = read_texts(borrowed, wanted)
    for name in ("input_ids", "decoder_input_ids"):
        check_ids(borrowed, read.inputs.get(name, read.inputs["input_ids"]))
    asking = read.queries or read.keys
    shape = Shape(len(asking), len(read.keys), None if read.queries else 0)
    packer = HeadPacker(
        shape,
        choose_side(shape, count_heads(model.config, wanted.show)),
        read.kind,
        wanted.layers,
        read.query_words,
        read.key_words,
        wanted.show,
    )
    try:
        (run or run_model)(model, record=packer, **read.inputs)
    except ValueError as error:
        message = N_("{model}: {error}", model=borrowed.name, error=get_message(error))
        raise ModelError(message) from error
    told = {"pieces": read.pieces, "parts": read.parts, "kind": read.kind}
    return packer.describe(borrowed.name, read.queries, read.keys) | told, packer


def run_own_attention(refusal: ModelError, model: Any, record: "HeadPacker", **inputs: Any) -> None:
    """Let a model's own classes compute, and pack the weights that they report; it is then in
    evaluation.

    Raises the refusal where these are none: no squares, or rows that do not sum to 1.
    """
    import torch

    from explainers.notebook.packed_heads import MOST_OFF, to_array

    if record.kind == "cross" or any(hasattr(one, "set_attention_type") for one in model.modules()):
        raise refusal  # BigBird becomes another model on a short text, and stays so
    try:
        with torch.no_grad():
            output = model.eval()(**inputs, output_attentions=True)
    except Exception:  # whatever another library's code may raise
        raise refusal from None
    name = "encoder_attentions" if record.kind == "encoder" else "attentions"
    layers = [to_array(layer[0]) for layer in getattr(output, name, None) or ()]
    square = tuple(inputs["input_ids"].shape[1:]) * 2
    if not layers or not all(
        weights.shape[1:] == square and abs(weights.sum(axis=-1) - 1).max() < MOST_OFF
        for weights in layers
    ):
        raise refusal
    for index, weights in enumerate(layers):
        record.add_layer(index, weights)


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


def count_heads(config: Any, show: str) -> int:
    """About how many squares a picture has, as far as the model's configuration says."""
    sizes = (getattr(config, name, 1) for name in ("num_hidden_layers", "num_attention_heads"))
    layers, heads = (size if isinstance(size, int) else max(size, default=1) for size in sizes)
    return int(layers * heads) if show == "heads" else int(layers)


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
