"""Texts that are written in code: marked, so that they can be translated where they are shown.

The names are gettext's, which every tool knows: `N_` marks a text, `ngettext` one whose form
depends on a number. `translations.py` says them in the visitor's language.
"""

from collections.abc import Mapping


class Message(str):
    """A finished English text that still knows what it was made of: `{name}` slots, or two forms.

    With `plural`, the slot `count` decides between the template and the plural.
    """

    template: str
    slots: Mapping[str, object]
    plural: str

    def __new__(cls, template: str, slots: Mapping[str, object], plural: str = "") -> "Message":
        form = plural if plural and slots["count"] != 1 else template
        message = super().__new__(cls, form.format(**slots))
        message.template, message.slots, message.plural = template, slots, plural
        return message

    def __getnewargs__(self) -> tuple[str, Mapping[str, object], str]:  # type: ignore[override]
        return self.template, self.slots, self.plural  # caches keep it pickled


def N_(text: str, /, **slots: object) -> str:  # noqa: N802 - gettext's own name
    """Mark an English text that is translated later, its `{name}` slots filled."""
    return Message(text, slots) if slots else text


def ngettext(one: str, more: str, count: int, **slots: object) -> str:
    """Mark a text whose form depends on a number: "{count:,} layer", "{count:,} layers"."""
    return Message(one, {"count": count, **slots}, more)


def join_texts(sign: str, *texts: str) -> str:
    """Texts with a sign between them, as one that can be translated."""
    slots: dict[str, object] = {f"text{index}": text for index, text in enumerate(texts)}
    return Message(sign.join(f"{{{name}}}" for name in slots), slots)


def get_message(error: BaseException) -> str:
    """What went wrong, still a message if it was raised as one."""
    words = error.args[0] if error.args else ""
    return words if isinstance(words, Message) else str(error)


class SaidError(Exception):
    """What went wrong, in a text that is marked as with `N_` and translated where it is shown."""

    def __init__(self, text: str, /, **slots: object) -> None:
        super().__init__(Message(text, slots) if slots else text)


class InputError(SaidError, ValueError):
    """What somebody gave cannot be used, and the sentence says why."""
