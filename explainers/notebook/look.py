"""`look(…)`: every head of your own model, or of weights you have, in a notebook as one picture.

`report(…)` writes the same as one HTML file to send. Nothing is fetched, then or later: scripts,
styles and weights are inside. torch and transformers are imported when a model is looked at; for
weights numpy is enough.

>>> look_at_weights([[[[1, 0], [0.5, 0.5]], [[1, 0], [0.2, 0.8]]]], ["a", "b"]).summary
'Weights: 2 heads on 2 tokens'
"""

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explainers.models.registry import GivenError
from explainers.notebook.head_picture import Look

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from explainers.models.head_scores import HeadScores
    from explainers.notebook.head_picture import Place

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
    """What `look` returns of a model."""
    from explainers.notebook.model_heads import look_at_model
    from explainers.notebook.read_texts import Wanted

    answer = wanted.pop("answer", "")
    ids = answer.tolist() if hasattr(answer, "tolist") else answer
    asked = Wanted(text, answer=ids, layers=layers, by_word=by_word, **wanted)
    return look_at_model(model, tokenizer, asked, names)


def look_at_weights(
    weights: Any,
    tokens: Any,
    key_tokens: Any = None,
    title: str = "",
    layers: "Collection[int | Place]" = (),
    show: str = "heads",
) -> Look:
    """What `look` returns of weights (layers, heads, q_len, kv_len) that are given."""
    from explainers.notebook.given_weights import are_steps, list_layers, read_tokens
    from explainers.notebook.head_picture import SHOWN, make_picture
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
