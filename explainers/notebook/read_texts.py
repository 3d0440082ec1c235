"""The texts that a model reads in one picture: one, a pair, a chat, or one with its answer."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from explainers.models.registry import GivenError, ModelError
from explainers.notebook.given_weights import MOST_TOKENS

if TYPE_CHECKING:
    from explainers.models.load import RealModel

Part = tuple[str, int]
"""The name of a part of a text, and the token at which it begins."""
KINDS = {"encoder": "encoder", "decoder": "self", "cross": "cross"}
"""What an attention of an encoder–decoder is called by readers, and when it is recorded."""


@dataclass(frozen=True)
class Wanted:
    """What a picture of a model is to show: see `look`."""

    text: Any
    pair: str = ""
    answer: Any = ""
    attention: str = ""
    layers: Any = ()
    by_word: bool = False
    show: str = "heads"


@dataclass
class ReadTexts:
    """What a model is given, and the tokens of its keys; `queries` where those are other ones."""

    inputs: dict[str, Any]
    kind: str
    keys: list[str]
    queries: list[str] | None = None
    parts: list[Part] = field(default_factory=list)
    key_words: Sequence[int] = ()
    query_words: Sequence[int] = ()

    @property
    def pieces(self) -> int:
        """How many tokens the keys had before they were merged into words."""
        return len(self.key_words) or len(self.keys)


def read_texts(borrowed: "RealModel", wanted: Wanted) -> ReadTexts:
    """Cut what is wanted into the tokens of a model; ModelError if there are none, or too many."""
    read = _read_source(borrowed, wanted, choose_kind(borrowed, wanted))
    numbers, both = read.inputs["input_ids"][0].tolist(), borrowed.model.config.is_encoder_decoder
    answer = _read_answer(borrowed, read.inputs, wanted.answer) if wanted.answer else []
    if answer and both:
        of_answer = _prepare(borrowed, read.kind, answer, [])
        read.inputs["decoder_input_ids"] = of_answer.inputs["input_ids"]
        read.queries = of_answer.keys if read.kind == "cross" else None
        read.keys = of_answer.keys if read.kind == "self" else read.keys
    elif answer:
        parts = [("prompt", 0), ("answer", len(numbers))]
        read = _prepare(borrowed, read.kind, [*numbers, *answer], parts)
    if wanted.by_word:
        _merge(borrowed, wanted, read)
    return read


def choose_kind(borrowed: "RealModel", wanted: Wanted) -> str:
    """Which attention is drawn: of an encoder–decoder the cross-attention, if it has an answer."""
    if not borrowed.model.config.is_encoder_decoder:
        if wanted.attention:
            raise GivenError(f"{borrowed.name} has one kind of attention: leave attention out.")
        return "self"
    name = wanted.attention or ("cross" if wanted.answer else "encoder")
    if name not in KINDS:
        raise GivenError(f"attention is one of {', '.join(KINDS)}: not {name!r}.")
    if name != "encoder" and not wanted.answer:
        raise ModelError(
            "The decoder reads an answer: pass it as answer=…, or how many tokens to write."
        )
    return KINDS[name]


def _read_source(borrowed: "RealModel", wanted: Wanted, kind: str) -> ReadTexts:
    """One text, two of them, or a chat."""
    import torch

    from explainers.models.token_text import tokenise_text

    tokenizer = borrowed.tokenizer
    if not isinstance(wanted.text, str):
        return _prepare(borrowed, kind, *_read_chat(tokenizer, wanted.text))
    if not wanted.pair:
        ids = tokenise_text(borrowed, wanted.text, MOST_TOKENS).ids
        return _prepare(borrowed, kind, ids[0].tolist(), [])
    encoded = tokenizer(wanted.text, wanted.pair, verbose=False)
    first = len(tokenizer(wanted.text, verbose=False)["input_ids"])
    if encoded.encodings:
        first = encoded.sequence_ids(0).index(1)
    read = _prepare(borrowed, kind, encoded["input_ids"], [("A", 0), ("B", first)])
    if types := encoded.get("token_type_ids"):
        read.inputs["token_type_ids"] = torch.tensor([types], device=borrowed.model.device)
    return read


def _prepare(borrowed: "RealModel", kind: str, numbers: list[int], parts: list[Part]) -> ReadTexts:
    """These ids as a model is given them; ModelError if they are more than it reads."""
    import torch

    from explainers.models.borrowed_model import make_inputs
    from explainers.models.token_text import label_ids

    count, most = len(numbers), min(MOST_TOKENS, borrowed.context_length or MOST_TOKENS)
    if not 1 <= count <= most:
        raise ModelError(
            "{model} reads at most {most:,} tokens; this text has {count:,}.",
            model=borrowed.name,
            most=most,
            count=count,
        )
    inputs = make_inputs(borrowed.model, torch.tensor([numbers], device=borrowed.model.device))
    return ReadTexts(inputs, kind, label_ids(borrowed.tokenizer, numbers), parts=parts)


def _read_chat(tokenizer: Any, messages: Sequence[Any]) -> tuple[list[int], list[Part]]:
    """The ids of a chat in the tokenizer's template, and where its last answer begins."""
    if not getattr(tokenizer, "chat_template", None):
        raise ModelError(
            "This tokenizer has no template for a chat: set tokenizer.chat_template, so that "
            "tokenizer.apply_chat_template(messages, tokenize=False) writes the text."
        )

    def cut(some: Sequence[Any], **options: Any) -> tuple[str, list[int]]:
        try:
            text = str(tokenizer.apply_chat_template(some, tokenize=False, **options))
        except Exception as error:  # whatever a template may raise
            raise GivenError(f"The tokenizer's template refuses this chat: {error!s}") from None
        return text, tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]

    if messages[-1].get("role") != "assistant" or len(messages) == 1:
        return cut(messages, add_generation_prompt=True)[1], []
    (prompt, before), (whole, ids) = cut(messages[:-1], add_generation_prompt=True), cut(messages)
    is_begun = whole.startswith(prompt) and ids[: len(before)] == before
    return ids, [("prompt", 0), ("answer", len(before))] if is_begun else []


def _read_answer(borrowed: "RealModel", inputs: dict[str, Any], answer: Any) -> list[int]:
    """The ids of an answer: of a text, of ids, or of what the model now writes.

    A decoder's begin with the token that every answer begins with.
    """
    import torch

    model, both = borrowed.model, borrowed.model.config.is_encoder_decoder
    asked = {name: ids for name, ids in inputs.items() if name != "decoder_input_ids"}
    if isinstance(answer, int) and not isinstance(answer, bool):
        if not 1 <= answer <= MOST_TOKENS or not model.can_generate():
            raise GivenError(
                f"{borrowed.name} writes 1 to {MOST_TOKENS:,} tokens, if any at all: not {answer}."
            )
        generate: Any = model.generate  # transformers annotates it as a tensor
        with torch.no_grad():
            written = generate(**asked, max_new_tokens=answer, do_sample=False, num_beams=1)
        return written[0, 0 if both else inputs["input_ids"].shape[1] :].tolist()
    ids = answer
    if isinstance(answer, str):
        options = {"text_target": answer} if both else {"text": answer, "add_special_tokens": False}
        ids = borrowed.tokenizer(**options, verbose=False)["input_ids"]
        ids = ids[:-1] if both else ids  # of the last one nothing is predicted
    if not isinstance(ids, list | tuple) or not all(isinstance(n, int) and n >= 0 for n in ids):
        raise ModelError(
            "The answer is a text, a list of ids, or how many tokens the model is to write."
        )
    return [model.config.decoder_start_token_id or 0, *ids] if both else list(ids)


def _merge(borrowed: "RealModel", wanted: Wanted, read: ReadTexts) -> None:
    """Merge the tokens of a word, where some word has several."""
    from explainers.models.token_text import find_words, spell_words

    of_decoder = read.kind == "self" and "decoder_input_ids" in read.inputs
    ids = read.inputs["decoder_input_ids" if of_decoder else "input_ids"]
    if isinstance(wanted.text, str) and not (wanted.pair or wanted.answer):
        words = find_words(borrowed, wanted.text, read.keys)
    else:
        words = spell_words(borrowed.tokenizer, ids[0].tolist(), read.keys)
    if not words:
        return
    read.key_words = read.query_words = words.numbers
    read.parts = [
        (name, words.numbers[start]) for name, start in read.parts if start < len(words.numbers)
    ]
    read.keys = list(words.spelled)
    if read.queries:
        asking = read.inputs["decoder_input_ids"][0].tolist()
        of_answer = spell_words(borrowed.tokenizer, asking, read.queries)
        read.query_words, read.queries = of_answer.numbers, list(of_answer.spelled)
