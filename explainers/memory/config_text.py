"""The JSON object in a text that somebody pasted, or a sentence that says what it is instead."""

import json
import re
from collections import Counter
from typing import Any

from explainers.memory.checked_fields import wrong_value_error
from explainers.memory.weight_files import STORED, BrokenFileError, count_elements
from explainers.messages import N_, InputError, Message

MAX_CHARACTERS = 1_000_000
"""Characters; the longest published config.json has a tenth of this."""
MAX_DEPTH, MAX_PARTS = 32, 50_000
"""Objects and lists inside one another; these, texts and commas: before anything is built."""
_PART = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[{}\[\],]', re.DOTALL)
"""A text that does not end is a part as well: each character is looked at once."""
NAME = re.compile(r"[\w./-]{1,120}")
"""A text like this is no file, but may be what a model is called."""
ADDRESS = re.compile(r"https?://[\w.-]+/([\w.-]+/[\w.-]+)(?:[/?]\S*)?")
"""Where a hub shows a model, or one of its files: owner and name come first."""
TO_JSON = (
    "python -c 'import json, sys, yaml; print(json.dumps(yaml.safe_load(sys.stdin)))' < config.yaml"
)
"""What makes JSON of YAML, where PyYAML is installed."""
OTHER_FILES = (
    (
        re.compile(
            r"INFO:gguf|\* (?:Loading|File is|Dumping)|\d+: +\[*\w+\]* +\||llama_model_loader:"
        ),
        N_("it describes a GGUF file for people. Paste what gguf-dump --json prints"),
    ),
    (re.compile(r"---\s|[\w-]+:(?:\s|$)"), N_("it looks like YAML. Convert it: {command}")),
    (re.compile(r"<"), N_("it looks like a web page: copy the file itself, as raw text")),
    (re.compile(r"\{\s*'"), N_("it has ' where JSON has \": print it with json.dumps")),
    (re.compile(r"version \S*git-lfs"), N_("it only points to a large file")),
    (re.compile(r"\S+Config\s*[{(]"), N_("it is printed by Python: take the part in {braces}")),
    (re.compile(r"https?://"), N_("it is an address: copy the file that is there, or owner/name")),
    (re.compile(r"```|//|/\*"), N_("there is more around it: take the part in {braces}")),
    (re.compile(r"\[\w+\]|\w+\s*="), N_("it looks like TOML or a script")),
)
"""How another file begins, and what to say of it."""
NEIGHBOURS = {
    "weight_map": "model.safetensors.index.json",
    "peft_type": "adapter_config.json",
    "_class_name": "model_index.json",
    "added_tokens": "tokenizer.json",
    "tokenizer_class": "tokenizer_config.json",
    "feature_extractor_type": "preprocessor_config.json",
    "image_processor_type": "preprocessor_config.json",
    "do_sample": "generation_config.json",
    "eos_token_id": "generation_config.json",
}
"""A field by which a file beside config.json is known, where nothing says how large a model is."""
GGUF_ARCHITECTURE = "general.architecture"
GGUF_FIELDS = {
    "block_count": "num_hidden_layers", "embedding_length": "hidden_size",
    "context_length": "max_position_embeddings", "attention.head_count": "num_attention_heads",
    "attention.head_count_kv": "num_key_value_heads", "attention.key_length": "head_dim",
    "attention.value_length": "v_head_dim", "vocab_size": "vocab_size",
    "feed_forward_length": "intermediate_size",
}  # fmt: skip
"""What llama.cpp calls the fields of a config.json, after the name of the architecture."""
GGUF_LATENT = {
    "attention.kv_lora_rank": "kv_lora_rank", "attention.q_lora_rank": "q_lora_rank",
    "rope.dimension_count": "qk_rope_head_dim", "attention.value_length_mla": "v_head_dim",
}  # fmt: skip
"""The same of DeepSeek's latent."""
GGUF_HEAD_LENGTHS = {"attention.key_length", "attention.value_length"}
GGUF_TYPES = {"gemma3": "gemma3_text", "gpt-oss": "gpt_oss", "deepseek2": "deepseek_v3"}
GGUF_WINDOWS = {"gemma2": 2, "gemma3": 6, "gpt-oss": 2}
"""Of so many layers one has no window, the last."""
GGUF_FORMATS = {
    0: "float32", 1: "float16", 2: "q4_0", 3: "q4_1", 7: "q8_0", 8: "q5_0", 9: "q5_1",
    32: "bfloat16",
}  # fmt: skip
"""`general.file_type`: the format of most weights, where all have one that is known here."""
SIZES = re.compile(r"hidden|layer|head|dim$|n_embd|d_model|config$|model_type")


def take_name(text: str) -> str:
    """The name of a model in its address on a hub; any other text as it is, without spaces."""
    address = ADDRESS.fullmatch(text.strip())
    return address[1] if address else text.strip()


def parse_object(text: str) -> dict[str, Any]:
    """The JSON object in the text; the error tells a text cut short from one that is no JSON."""
    if len(text) > MAX_CHARACTERS:
        raise InputError(
            "config.json has more than {most:,} characters: is it another file?",
            most=MAX_CHARACTERS,
        )
    if not text.strip():
        raise InputError("config.json is empty")
    text = text.removeprefix("\ufeff")  # what some editors put before a text
    _refuse_bomb(text)
    try:
        value = json.loads(text)
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        half = Message(N_("it has half of a sign"), {})
        raise InputError("config.json cannot be read: {why}", why=half) from None
    except json.JSONDecodeError as error:
        raise ValueError(explain_error(text, error)) from None
    except ValueError as error:  # a number of more digits than Python reads
        raise InputError("config.json cannot be read: {why}", why=str(error)) from None
    if not isinstance(value, dict):
        raise wrong_value_error(N_("an object in {braces}", braces="{…}"), "config.json", value)
    value = translate_gguf(value)
    if not any(map(SIZES.search, value)) and (known := NEIGHBOURS.keys() & value.keys()):
        name = next(name for field, name in NEIGHBOURS.items() if field in known)
        raise InputError("this is {name}: take the config.json beside it", name=name)
    return value


def translate_gguf(config: dict[str, Any]) -> dict[str, Any]:
    """The fields of a config.json for the metadata of a GGUF file; any other file as it is.

    What has no translation keeps its name.
    """
    metadata, tensors = config.get("metadata"), config.get("tensors")  # as gguf-dump --json has it
    config = metadata if isinstance(metadata, dict) and GGUF_ARCHITECTURE in metadata else config
    if GGUF_ARCHITECTURE not in config:
        return config
    plain = {
        name: field["value"] if isinstance(field, dict) and "value" in field else field
        for name, field in config.items()
    }
    name = plain[GGUF_ARCHITECTURE]
    if not isinstance(name, str):
        raise wrong_value_error(N_("a text"), GGUF_ARCHITECTURE, name)
    own = {key.removeprefix(f"{name}."): plain[key] for key in plain if key.startswith(f"{name}.")}
    fields: dict[str, Any] = {"model_type": GGUF_TYPES.get(name, name)}
    names = GGUF_FIELDS
    if name == "deepseek2":  # its lengths of a key and a value are those of a latent
        names = {key: names[key] for key in names.keys() - GGUF_HEAD_LENGTHS} | GGUF_LATENT
    fields |= {names.get(key, f"{name}.{key}"): value for key, value in own.items()}
    if isinstance(fields.get("num_key_value_heads"), list):
        fields["num_key_value_heads_per_layer"] = fields.pop("num_key_value_heads")
    if isinstance(fields.get("intermediate_size"), list):
        del fields["intermediate_size"]  # no class has one for each layer
    window, layers = own.get("attention.sliding_window"), own.get("block_count")
    if window and name in GGUF_WINDOWS and isinstance(layers, int) and 0 < layers <= MAX_PARTS:
        del fields[f"{name}.attention.sliding_window"]
        of_period = ["sliding_attention"] * (GGUF_WINDOWS[name] - 1) + ["full_attention"]
        kinds = (of_period * layers)[:layers]
        fields |= {"sliding_window": window, "layer_types": kinds}
    fields["rope_scaling"] = {
        "type": own.get("rope.scaling.type"),
        "factor": own.get("rope.scaling.factor"),
        "original_max_position_embeddings": own.get("rope.scaling.original_context_length"),
    }
    if (file_type := plain.get("general.file_type")) is not None:
        known = GGUF_FORMATS.get(file_type) if isinstance(file_type, int) else None
        fields["quantization_config"] = {"quant_method": known or f"GGUF file type {file_type}"}
    if isinstance(tensors, dict):
        fields[STORED] = counts = Counter[str]()
        for tensor in tensors.values():
            try:
                counts[str(tensor["type"])] += count_elements(tensor["shape"])
            except (TypeError, KeyError, BrokenFileError):
                expected = N_("an object in {braces}", braces="{…}")
                raise wrong_value_error(expected, "tensors", tensor) from None
    return fields


def explain_error(text: str, error: json.JSONDecodeError) -> str:
    """What is wrong with a text that is no JSON, and what to do about it."""
    position = N_("line {line}, column {column}", line=error.lineno, column=error.colno)
    if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
        return N_("config.json breaks off at {where}: was all of it copied?", where=position)
    if error.msg == "Extra data" and text[error.pos :].lstrip(", \r\n\t")[:1] in ("{", "["):
        return N_("two files are pasted here: the second begins at {where}", where=position)
    start = text.lstrip()[:200]
    for sign, words in OTHER_FILES:
        begins = sign.match(start)
        if begins and error.pos <= len(text) - len(text.lstrip()) + begins.end():
            why = Message(words, {"braces": "{…}", "command": TO_JSON})
            return N_("config.json is not JSON: {why}", why=why)
    if not text[error.pos].isascii():  # curly quotes, spaces of a word processor
        return N_(
            "config.json is not JSON: {sign} at {where} does not belong there. Copy the file as "
            "plain text.",
            sign=repr(text[error.pos]),
            where=position,
        )
    return N_("config.json is not JSON: {why} at {where}", why=error.msg, where=position)


def _refuse_bomb(text: str) -> None:
    """A short text may unfold into more memory than the server has: what is built is counted."""
    depth = 0
    for count, part in enumerate(_PART.finditer(text)):
        depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(part[0], 0)
        if depth > MAX_DEPTH:
            too_deep = Message(N_("it is nested too deeply"), {})
            raise InputError("config.json cannot be read: {why}", why=too_deep)
        if count >= MAX_PARTS:
            raise InputError(
                "config.json has more than {most:,} parts: is it another file?", most=MAX_PARTS
            )
