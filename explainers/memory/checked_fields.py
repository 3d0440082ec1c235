"""Checks of what readers give, and fields of a config.json, which models name differently."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from explainers.messages import N_, InputError, Message


def check_whole(name: str, value: object, minimum: int = 1) -> int:
    """The value, if it is a whole number of at least `minimum`; raises ValueError for any other."""
    if isinstance(value, bool) or not isinstance(value, int) or value < minimum:
        raise wrong_value_error(N_("a whole number from {least} on", least=minimum), name, value)
    return value


def check_one_of(name: str, value: object, known: Iterable[str]) -> None:
    """Raise ValueError for a value that is not known, with those that are."""
    names = [*known]  # a value that has no hash is not in a list either
    if value not in names:
        raise InputError(
            "{name} must be one of {known}, not {value!r}",
            name=name,
            known=", ".join(names),
            value=value,
        )


def wrong_value_error(requirement: str, name: str, value: object) -> ValueError:
    """An error that says what a field must be, and what it is."""
    requirement_text = requirement if isinstance(requirement, Message) else Message(requirement, {})
    return InputError(
        "{name} must be {what}, not {value}",
        name=name,
        what=requirement_text,
        value=shorten_value(value),
    )


def unknown_layers_error(name: str) -> ValueError:
    """An error that names a field of layers whose cache cannot be counted here."""
    return InputError(
        "{name}: layers like these are not known here; make a model by hand", name=name
    )


def check_divides(divisor_name: str, divisor: int, number_name: str, number: int) -> None:
    """Raise ValueError if, say, 10 query heads are to share 4 KV heads."""
    if number % divisor:
        raise InputError(
            "{units} {unit} cannot share {parts} {part}",
            units=number,
            unit=Message(number_name, {}),
            parts=divisor,
            part=Message(divisor_name, {}),
        )


class MissingFieldError(InputError):
    """A field that a size is made of is not there."""


def missing_field_error(config: dict[str, Any], names: tuple[str, ...]) -> MissingFieldError:
    """An error that names a missing field, its other names, and a part of the file that has it."""
    field, other_names = names[0], ", ".join(names[1:])
    if other_names:
        field = N_("{name} (or {others})", name=field, others=other_names)
    parts_with_field = (
        name for name, value in config.items() if isinstance(value, dict) and {*names} & {*value}
    )
    part_with_field = next((name for name in parts_with_field if "encoder" not in name), None)
    if part_with_field is None:
        missing = [
            first
            for first, *others in ESSENTIAL_FIELDS[:3]
            if first != names[0] and not {first, *others} & {*config}
        ]
        return MissingFieldError(
            "config.json lacks {field}, and no class of transformers is known that fills it "
            "in: add {fields}",
            field=field,
            fields=", ".join([names[0], *missing]),
        )
    return MissingFieldError(
        "config.json lacks {field}; {inner} has it: paste that part alone",
        field=field,
        inner=part_with_field[:60],
    )


def shorten_value(value: object) -> str:
    """A value as text of at most 60 characters, for a message."""
    if isinstance(value, int) and value.bit_length() > 200:
        # Python refuses to print the longest ones.
        return Message(N_("a number of more than 60 digits"), {})
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


MAX_NUMBER = 10**9
"""No published field is near this; above it, something else was copied into the field."""
TEXT_MODEL_FIELDS = ("text_config", "llm_config", "language_config", "thinker_config")
"""Fields in which multimodal models nest the configuration of their text model."""
OUTER_FIELDS = (
    *("dtype", "torch_dtype", "_name_or_path", "quantization_config", "quantization"),
    "stored_weights",
)
"""Fields of the whole model that hold for its text model too."""
KV_HEAD_FIELDS = (
    "num_key_value_heads", "num_kv_heads", "n_head_kv", "n_kv_heads", "num_query_groups",
    "num_attention_groups",
)  # fmt: skip
WIDTH_FIELDS = ("hidden_size", "n_embd", "d_model", "dim", "n_embed")
HEAD_DIM_FIELDS = ("head_dim", "attention_head_dim", "d_kv", "kv_channels")
HEAD_COUNT_FIELDS = (
    "num_attention_heads", "n_head", "num_heads", "n_heads", "attention_heads",
    "decoder_attention_heads",
)  # fmt: skip
LAYER_COUNT_FIELDS = ("num_hidden_layers", "n_layer", "num_layers", "n_layers", "decoder_layers")
ESSENTIAL_FIELDS = (
    LAYER_COUNT_FIELDS, HEAD_COUNT_FIELDS, WIDTH_FIELDS, KV_HEAD_FIELDS, HEAD_DIM_FIELDS,
)  # fmt: skip
"""What every file has, unless it relies on a class of transformers."""
Defaults = Mapping[str, Any]
FindDefaults = Callable[[Mapping[str, Any], str], tuple[str, Defaults]]
"""From a text model's fields and the model_type around them, the name and fields of its class."""


def know_no_class(_config: Mapping[str, Any], _outer_type: str) -> tuple[str, Defaults]:
    """Nothing is known but the file."""
    return "", {}


class AskedFields(dict[str, Any]):
    """A file's fields, with the names of those that somebody looked at."""

    def __init__(self, config: dict[str, Any]) -> None:
        super().__init__(config)
        self.asked: set[str] = set()

    def get(self, name: str, default: Any = None) -> Any:
        """As of any dictionary; the name is remembered."""
        self.asked.add(name)
        return super().get(name, default)


class ConfigFields:
    """The configuration of a text model, taken out of a multimodal one where need be.

    `notes` say what was assumed on the way. What a file lacks may come from the class that reads
    it, if `find_defaults` knows that class.
    """

    def __init__(self, config: dict[str, Any], find_defaults: FindDefaults = know_no_class) -> None:
        self.notes: list[str] = []
        self.find_defaults = find_defaults
        self.outer, self.class_name, self.defaults = config, "", dict[str, Any]()
        self.config, path = AskedFields(config), list[str]()
        while name := next(
            (n for n in TEXT_MODEL_FIELDS if isinstance(self.config.get(n), dict)), None
        ):
            outer = {field: config[field] for field in OUTER_FIELDS if field in config}
            self.config = AskedFields({**outer, **self.config[name]})
            path.append(name)
        if path:
            nesting = " → ".join(path)
            self.add_note("Only the text model ({where}) is counted.", where=nesting)
        outer_type = config.get("model_type")
        outer_type = outer_type if isinstance(outer_type, str) else ""
        self.class_name, defaults = find_defaults(self.config, outer_type)
        self.defaults = dict(defaults)

    def find_number(self, *names: str, minimum: int = 1, maximum: int = MAX_NUMBER) -> int | None:
        """The first whole number found under the names, checked; None if there is none."""
        self.config.asked.update(names)
        for name in names:
            value = self.config.get(name)
            if value is None:
                continue
            if type(value) is not int or not minimum <= value <= maximum:
                requirement = N_(
                    "a whole number from {least} to {largest:,}", least=minimum, largest=maximum
                )
                raise wrong_value_error(requirement, name, value)
            return value
        if any(name in self.config for name in names):
            return None  # null was meant
        for name in names:
            value = self.defaults.get(name)
            if type(value) is int and minimum <= value <= maximum:
                if value:  # that there are none of something is no news
                    self.note_default(name, value)
                return value
        return None

    def add_note(self, text: str, /, **slots: object) -> None:
        """Say what was assumed, in a text that is marked as with `N_`."""
        self.notes.append(Message(text, slots) if slots else text)

    def note_default(self, name: str, value: object) -> None:
        """Say that a field is not in the file, and what its class takes instead."""
        self.add_note(
            "{name} is not in the file: {value}, as {class_name} of transformers fills it in.",
            name=name,
            value=value if isinstance(value, str) else shorten_value(value),
            class_name=self.class_name,
        )

    def has_any(self, *names: str) -> bool:
        """Whether the file, or else its class, sets one of the fields to more than nothing."""
        return any(self.config.get(name, self.defaults.get(name)) for name in names)

    def require_number(self, *names: str, maximum: int = MAX_NUMBER) -> int:
        """As `find_number`, but raises ValueError where no name has a number."""
        value = self.find_number(*names, maximum=maximum)
        if value is None:
            raise missing_field_error(self.config, names)
        return value

    def read_flag(self, name: str, default: bool = False) -> bool:
        """A true or false, or `default` where the field is missing."""
        filled = self.defaults.get(name) if name not in self.config else None
        if isinstance(filled, bool) and filled != default:
            self.note_default(name, filled)
            return filled
        value = self.config.get(name, default)
        if not isinstance(value, bool | None):
            raise wrong_value_error(N_("true or false"), name, value)
        return default if value is None else value

    def read_text(self, name: str) -> str:
        """A text of at most 80 characters; empty where the field is missing or no text."""
        value = self.config.get(name)
        return value[:80] if isinstance(value, str) else ""

    def read_names(self, name: str) -> list[str] | None:
        """A list of names, such as the kind of each layer; None where the field is missing."""
        value = self.config.get(name)
        if value is None:
            return None
        if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
            raise wrong_value_error(N_("a list of names"), name, value)
        return value

    def read_whole_numbers(self, name: str) -> list[int] | None:
        """A list of whole numbers, such as indices of layers; None where the field is missing."""
        value = self.config.get(name)
        if value is None and name not in self.config and (value := self.defaults.get(name)):
            self.note_default(name, value)
        if value is None:
            return None
        if not isinstance(value, list) or not all(
            type(entry) is int and entry >= 0 for entry in value
        ):
            raise wrong_value_error(N_("a list of whole numbers"), name, value)
        return value

    def read_object(self, name: str) -> "ConfigFields | None":
        """The fields of a nested object; None where the field is missing."""
        value = self.config.get(name)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise wrong_value_error(N_("an object in {braces}", braces="{…}"), name, value)
        return ConfigFields(value)

    def refuse_field(self, name: str) -> None:
        """Raise ValueError if the field is set: no size is better than one that ignores it."""
        if self.config.get(name):
            raise unknown_layers_error(name)

    def read_num_heads(self) -> int:
        """How many query heads a layer has, of the decoder if there is an encoder too."""
        names = list(HEAD_COUNT_FIELDS[:-1])
        if self.read_flag("is_encoder_decoder"):
            names = ["decoder_attention_heads", "num_decoder_attention_heads", *names]
        return self.require_number(*names)

    def read_num_kv_heads(self) -> int:
        """How many KV heads a layer has; where none are given, as many as query heads."""
        num_heads, num_kv_heads = self.read_num_heads(), self._find_num_kv_heads()
        if num_kv_heads is None:
            self.add_note("No KV heads are given: each of the {n} heads has its own.", n=num_heads)
            return num_heads
        if num_heads % num_kv_heads:
            raise InputError(
                "num_attention_heads {num_heads} cannot share num_key_value_heads {found}",
                num_heads=num_heads,
                found=num_kv_heads,
            )
        return num_kv_heads

    def _find_num_kv_heads(self) -> int | None:
        """The KV heads that a file gives, or None.

        Falcon's multi_query means one and ChatGLM's a few, whatever the other fields say.
        """
        if self.read_flag("multi_query") and not self.read_flag("new_decoder_architecture"):
            return 1
        if self.read_flag("multi_query_attention"):
            return self.require_number("multi_query_group_num")
        attention = self.read_object("attn_config")  # MPT and DBRX
        if attention is not None:
            attention.refuse_field("sliding_window_size")
            if attention.read_text("attn_type") == "multiquery_attention":
                return 1
            if num_kv_heads := attention.find_number("kv_n_heads"):
                return num_kv_heads
        return self.find_number(*KV_HEAD_FIELDS)

    def read_head_dim(self) -> int:
        """The head_dim in the file, or else d_model divided by the heads, which becomes a note."""
        head_dim = self.find_number(*HEAD_DIM_FIELDS)
        if head_dim is not None:
            return head_dim
        num_heads, d_model = self.read_num_heads(), self.require_number(*WIDTH_FIELDS)
        if d_model % num_heads:
            raise InputError(
                "config.json lacks head_dim, and {d_model} (hidden_size) does not divide by "
                "{num_heads} heads",
                d_model=d_model,
                num_heads=num_heads,
            )
        division = f"{d_model} ÷ {num_heads} = {d_model // num_heads}"
        self.add_note("head_dim is not given: {division}.", division=division)
        return d_model // num_heads
