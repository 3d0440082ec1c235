"""Fields of a config.json: one thing under its several names, or an error that says which."""

from typing import Any

from explainers.memory.checks import shown

LARGEST = 10**9
"""No published field is near this; above it, something else was copied into the field."""


class Fields:
    """A configuration whose text model may be nested inside; `notes` say what was assumed."""

    def __init__(self, config: dict[str, Any]) -> None:
        self.notes: list[str] = []
        nested = config.get("text_config")
        self.config = {**config, **nested} if isinstance(nested, dict) else config
        if self.config is not config:
            self.notes.append("Only the text model (text_config) is counted.")

    def find(self, *names: str, least: int = 1, largest: int = LARGEST) -> int | None:
        """The first of the names that has a number, checked; nothing if none has."""
        for name in names:
            value = self.config.get(name)
            if value is None:
                continue
            whole = isinstance(value, int) and not isinstance(value, bool)
            if not whole or not least <= value <= largest:
                raise ValueError(
                    f"{name} must be a whole number from {least} to {largest:,}, not {shown(value)}"
                )
            return int(value)
        return None

    def number(self, *names: str, largest: int = LARGEST) -> int:
        """As `find`, and it must be there."""
        found = self.find(*names, largest=largest)
        if found is None:
            others = f" (or {', '.join(names[1:])})" if names[1:] else ""
            raise ValueError(f"config.json lacks {names[0]}{others}")
        return found

    def flag(self, name: str, default: bool = False) -> bool:
        """True or false; the default where it is not said."""
        value = self.config.get(name, default)
        if not isinstance(value, bool | None):
            raise ValueError(f"{name} must be true or false, not {shown(value)}")
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
            raise ValueError(f"{name} must be a list of names, not {shown(value)}")
        return value

    def num_heads(self) -> int:
        """The query heads (of the decoder)."""
        names = ["num_attention_heads", "n_head", "num_heads", "n_heads"]
        if self.flag("is_encoder_decoder"):
            names = ["decoder_attention_heads", *names]
        return self.number(*names)

    def num_kv_heads(self) -> int:
        """The KV heads; Falcon's multi_query means one, whatever else the file says."""
        num_heads = self.num_heads()
        if self.flag("multi_query") and not self.flag("new_decoder_architecture"):
            return 1
        found = self.find("num_key_value_heads", "num_kv_heads", "n_head_kv")
        if found is None:
            self.notes.append(f"No KV heads are given: each of the {num_heads} heads has its own.")
            return num_heads
        if num_heads % found:
            raise ValueError(
                f"num_attention_heads {num_heads} cannot share num_key_value_heads {found}"
            )
        return found

    def head_dim(self) -> int:
        """Given, or the width divided by the heads, which is said."""
        found = self.find("head_dim", "d_kv", "kv_channels")
        if found is not None:
            return found
        num_heads, d_model = self.num_heads(), self.number("hidden_size", "n_embd", "d_model")
        if d_model % num_heads:
            raise ValueError(
                f"config.json lacks head_dim, and {d_model} (hidden_size) does not divide by "
                f"{num_heads} heads"
            )
        self.notes.append(
            f"head_dim is not given: {d_model} ÷ {num_heads} = {d_model // num_heads}."
        )
        return d_model // num_heads
