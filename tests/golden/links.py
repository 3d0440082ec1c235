"""The links under which a page is kept."""

from collections.abc import Iterator
from pathlib import Path

from explainers.ui.controls import controls
from tests.support.opening import cards_on, known_words, opened
from tests.support.reading import heroes

LONG = known_words(12)
UNKNOWN = "My grandmother baked a cake"
OF_EVERY_PAGE = "text", "lang", "deep", "seed", "weights"
HOSTILE = "%00<b>{{x}}’;--"
EVERYWHERE: dict[str, dict[str, str]] = {
    "as it opens": {},
    "study mode": {"predict": "true"},
    "Vietnamese": {"lang": "vi", "predict": "true"},
    "one word": {"text": "CEO"},
    "long sentence": {"text": LONG},
    "unknown words": {"text": UNKNOWN},
    "untrained": {"weights": "untrained", "seed": "7", "queries": "across"},
    "lecture": {"lecture": "true"},
}
OF_PAGE: dict[str, dict[str, dict[str, str]]] = {
    "06_many_heads": {
        "one head, Vietnamese": {"heads": "1", "lang": "vi"},
        "a head off": {"heads": "2", "off": "0"},
    },
    "09_shared_heads": {
        "what was not trained or cannot be": {
            "weights": "untrained", "seed": "3", "heads": "4", "kv_heads": "3",
            "deep": "uptraining",
        },
        "more KV heads than heads": {"weights": "untrained", "heads": "1", "kv_heads": "8"},
    },
    "10_cache_memory": {
        "windows, layer by layer": {"model": "gemma-3-27b", "deep": "layers", "texts": "3"},
        "an encoder, served": {
            "model": "whisper-tiny", "tokens": "448", "source": "300", "deep": "serving",
        },
        "latents over GPUs": {
            "model": "deepseek-v3", "gpu": "h200", "gpus": "16", "texts": "3", "deep": "serving",
        },
        "all of a server": {
            "model": "deepseek-v3", "gpu": "h200", "gpus": "8", "texts": "3", "tokens": "33000",
            "overhead": "2", "percent": "85", "split": "texts", "cache_dtype": "q8_0",
            "deep": "serving",
        },
        "no number of parameters": {"model": "glm-5", "gpu": "h200", "gpus": "8"},
        "heads that 16 cannot share": {"model": "llama-4-scout", "gpu": "h200", "gpus": "4"},
        "heads that 16 would share": {"model": "llama-4-scout", "gpus": "16"},
        "too large": {"model": "llama-3.1-405b", "deep": "flags"},
        "many texts on GPUs": {"tokens": "32768", "texts": "40", "gpus": "4", "deep": "gpus"},
        "nothing is kept": {"model": "bert-base-uncased"},
    },
    "11_long_sequences": {
        "other tiles": {
            "deep": "tiles", "tile_mask": "causal", "tile_rows": "3", "tile_columns": "2",
        },
        "another row": {"deep": "row", "row_word": "4", "kv_block": "3", "read": "2"},
    },
    "16_cross_attention": {
        "another head, scored": {"deep": "accuracy", "cross_layer": "1", "cross_head": "2"},
    },
    "17_inspector": {
        "another head, its first token left out": {
            "deep": "head", "model_layer": "1", "model_head": "4", "dim_first": "true",
            "queries": "across",
        },
        "words of an encoder": {
            "text": "An unbelievably tokenised word", "as_words": "true", "deep": "head",
            "real_model": "sentence-transformers/all-MiniLM-L6-v2",
        },
    },
    "19_what_if": {
        "words, with fewer bits": {
            "what_text": "An unbelievably tokenised word", "as_words": "true", "deep": "changing",
            "changes": "few bits",
        },
    },
}  # fmt: skip
"""By page (`05_masks`): what else it is kept under, where a choice changes what its cards say."""


def list_links(page: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """(name, link): the ones of every page, each choice of its first picture, each of its cards,
    and its own."""
    yield from EVERYWHERE.items()
    first = next(iter(heroes(opened(page))), None)
    choices = dict(first["choices"]) if first else {}
    for name, value in choices.items():
        other = find_other(first, name, value)
        if other is not None:
            yield f"{name} {other}", {name: other}
    for card in cards_on(page)[1:]:
        yield f"card {card['deep']}", card
    yield from OF_PAGE.get(page.stem, {}).items()
    yield ("hostile", dict.fromkeys((*choices, *OF_EVERY_PAGE), HOSTILE))


def find_other(hero, name, value):
    """Another value of a choice, as a link writes it: from a button below the picture, the next
    number, or a row of buttons in it."""
    offered = [one["choices"][name] for one in hero["experiments"] if name in one["choices"]]
    if isinstance(value, bool):
        offered.append(not value)
    elif isinstance(value, int):
        offered.append(value + 1)
    for control in hero["controls"]:
        if control["key"] == name:
            offered += [option["value"] for option in control["options"]]
    other = next((one for one in offered if str(one) != str(value)), None)
    return None if other is None else controls.CONTROLS_BY_KEY[name].format_for_url(other)
