"""Words that are written here and said elsewhere, where the reader's language is known."""


class Phrase(str):
    """A finished English text that still knows what it was made of."""

    template: str
    slots: dict[str, object]

    def __new__(cls, template: str, slots: dict[str, object]) -> "Phrase":
        made = super().__new__(cls, template.format(**slots))
        made.template, made.slots = template, slots
        return made

    def __getnewargs__(self) -> tuple[str, dict[str, object]]:  # type: ignore[override]
        return self.template, self.slots  # caches keep it pickled


def phrase(text: str, /, **slots: object) -> str:
    """An English text, its `{name}` slots filled, whose translation is found by what is written.

    Written out in the call, like what is said, so that the tool that collects texts finds it.
    """
    return Phrase(text, slots) if slots else text


def words_of(error: BaseException) -> str:
    """What went wrong, still a phrase if it was raised as one."""
    words = error.args[0] if error.args else ""
    return words if isinstance(words, Phrase) else str(error)
