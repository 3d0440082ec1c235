"""Fields of a config.json: one thing under its several names, or an error that says which."""

from typing import Any

from explainers.memory.sizes import lacking, must_be, not_known
from explainers.messages import N_

LARGEST = 10**9
"""No published field is near this; above it, something else was copied into the field."""
NESTED = ("text_config", "llm_config", "language_config", "thinker_config")
"""Where models that also see or hear keep the fields of the model that writes."""
OF_ALL = ("dtype", "torch_dtype", "_name_or_path", "quantization_config")
KV_HEADS = (
    "num_key_value_heads", "num_kv_heads", "n_head_kv", "n_kv_heads", "num_query_groups",
    "num_attention_groups",
)  # fmt: skip
WIDTHS = ("hidden_size", "n_embd", "d_model", "dim", "n_embed")


class Fields:
    """A configuration whose text model may be nested inside; `notes` say what was assumed."""

    def __init__(self, config: dict[str, Any]) -> None:
        self.notes: list[str] = []
        self.config, path = config, []
        while name := next((n for n in NESTED if isinstance(self.config.get(n), dict)), None):
            outer = {field: config[field] for field in OF_ALL if field in config}
            self.config = {**outer, **self.config[name]}
            path.append(name)
        if path:
            where = " → ".join(path)
            self.notes.append(N_("Only the text model ({where}) is counted.", where=where))

    def find(self, *names: str, least: int = 1, largest: int = LARGEST) -> int | None:
        """The first of the names that has a number, checked; nothing if none has."""
        for name in names:
            value = self.config.get(name)
            if value is None:
                continue
            if type(value) is not int or not least <= value <= largest:
                what = N_(
                    "a whole number from {least} to {largest:,}", least=least, largest=largest
                )
                raise must_be(what, name, value)
            return value
        return None

    def number(self, *names: str, largest: int = LARGEST) -> int:
        """As `find`, and it must be there."""
        found = self.find(*names, largest=largest)
        if found is None:
            raise lacking(self.config, names)
        return found

    def flag(self, name: str, default: bool = False) -> bool:
        """True or false; the default where it is not said."""
        value = self.config.get(name, default)
        if not isinstance(value, bool | None):
            raise must_be(N_("true or false"), name, value)
        return default if value is None else value

    def text(self, name: str) -> str:
        """A name in the file, shortened; empty where there is none."""
        value = self.config.get(name)
        return value[:80] if isinstance(value, str) else ""

    def names(self, name: str) -> list[str] | None:
        """A list of names, such as the kind of each layer."""
        value = self.config.get(name)
        if value is None:
            return None
        if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
            raise must_be(N_("a list of names"), name, value)
        return value

    def wholes(self, name: str) -> list[int] | None:
        """A list of whole numbers, such as the places of some layers."""
        value = self.config.get(name)
        if value is None:
            return None
        if not isinstance(value, list) or not all(type(one) is int and one >= 0 for one in value):
            raise must_be(N_("a list of whole numbers"), name, value)
        return value

    def inside(self, name: str) -> "Fields | None":
        """The fields of an object in the file; nothing where there is none."""
        value = self.config.get(name)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise must_be(N_("an object in {braces}", braces="{…}"), name, value)
        return Fields(value)

    def refuse_if_there(self, name: str) -> None:
        """Better no number than one that leaves this field out."""
        if self.config.get(name):
            raise not_known(name)

    def num_heads(self) -> int:
        """The query heads (of the decoder)."""
        names = ["num_attention_heads", "n_head", "num_heads", "n_heads", "attention_heads"]
        if self.flag("is_encoder_decoder"):
            names = ["decoder_attention_heads", "num_decoder_attention_heads", *names]
        return self.number(*names)

    def num_kv_heads(self) -> int:
        """The KV heads, as each family of models writes them."""
        num_heads, found = self.num_heads(), self._said_kv_heads()
        if found is None:
            said = N_("No KV heads are given: each of the {n} heads has its own.", n=num_heads)
            self.notes.append(said)
            return num_heads
        if num_heads % found:
            raise ValueError(N_(
                "num_attention_heads {num_heads} cannot share num_key_value_heads {found}",
                num_heads=num_heads, found=found,
            ))  # fmt: skip
        return found

    def _said_kv_heads(self) -> int | None:
        """Falcon's multi_query means one, ChatGLM's may be a few, whatever else the file says."""
        if self.flag("multi_query") and not self.flag("new_decoder_architecture"):
            return 1
        if self.flag("multi_query_attention"):
            return self.number("multi_query_group_num")
        attention = self.inside("attn_config")  # MPT and DBRX
        if attention is not None:
            attention.refuse_if_there("sliding_window_size")
            if attention.text("attn_type") == "multiquery_attention":
                return 1
            if found := attention.find("kv_n_heads"):
                return found
        return self.find(*KV_HEADS)

    def head_dim(self) -> int:
        """Given, or the width divided by the heads, which is said."""
        found = self.find("head_dim", "d_kv", "kv_channels")
        if found is not None:
            return found
        num_heads, d_model = self.num_heads(), self.number(*WIDTHS)
        if d_model % num_heads:
            raise ValueError(N_(
                "config.json lacks head_dim, and {d_model} (hidden_size) does not divide by "
                "{num_heads} heads",
                d_model=d_model, num_heads=num_heads,
            ))  # fmt: skip
        given = f"{d_model} ÷ {num_heads} = {d_model // num_heads}"
        self.notes.append(N_("head_dim is not given: {division}.", division=given))
        return d_model // num_heads
