"""What a page hands over: a function of ours, what went in, and what the page shows of it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from explainers.takeaway.closure import Given
from explainers.takeaway.literals import bounded, entries, records
from explainers.takeaway.written import written


@dataclass(frozen=True)
class Recipe:
    """One picture, or some that belong together.

    `function(**inputs)` gives a dict in which stands, under the same names, all that is `shown`;
    with a `start` it is `function(*start(**inputs), **options)`. Inputs are plain values, or
    tensors where numbers come from weights. Nothing is converted before a file is asked for.
    """

    title: str
    function: Callable[..., Mapping[str, Any]]
    inputs: Mapping[str, Any]
    shown: Mapping[str, Any]
    start: Callable[..., tuple[Any, ...]] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    given: Callable[[], Given] = dict
    """What functions that read our files gave."""
    remark: str = ""
    """What a reader must know to understand the numbers, as the page says it."""

    @property
    def functions(self) -> list[Callable[..., Any]]:
        """What is called, in this order: classes of inputs, functions."""
        given = [*self.inputs.values(), *self.options.values()]
        made = [kind for value in given for kind in records(value)]
        return [*made, *([self.start] if self.start else []), self.function]

    @property
    def call(self) -> str:
        """The call as a line of Python, and the line before it."""
        if not self.start:
            return f"computed = {self.function.__name__}(**inputs)"
        first = f"start = {self.start.__name__}(**inputs)\n"
        if not self.options:
            return f"{first}computed = {self.function.__name__}(*start)"
        options = f"options = {entries(self.options)}\n"
        return f"{first}{options}computed = {self.function.__name__}(*start, **options)"


Made = Recipe | Callable[[], Recipe]
"""A recipe, or what makes one that takes too long to have it ready before it is asked for."""


class Cell(NamedTuple):
    """A part of a file: Markdown, or code."""

    kind: Literal["markdown", "code"]
    text: str


class Words(NamedTuple):
    """What a file says around its code, in the reader's language."""

    title: str
    made_from: str
    needs: str
    functions: str
    own: str
    nothing: str


def cells(words: Words, link: str, parts: Sequence[Made]) -> Iterator[Cell]:
    """A page's file from top to bottom: what it is, our functions, and each picture computed."""
    recipes = [part if isinstance(part, Recipe) else part() for part in parts]
    if not recipes:
        yield Cell("markdown", f"# {words.title}\n\n{words.nothing}")
        return
    from explainers.takeaway.inside import (  # torch: not when the app starts
        floats,
        same_numbers,
        truths,
    )

    called = [function for recipe in recipes for function in recipe.functions]
    given = {function: result for recipe in recipes for function, result in recipe.given().items()}
    ours = written([floats, truths, same_numbers, *dict.fromkeys(called)], given)
    yield Cell("markdown", f"# {words.title}\n\n{words.made_from} <{link}>\n\n{words.needs}")
    yield Cell("code", ours.imports)
    yield Cell("markdown", f"## {words.functions}\n\n{words.own}")
    for chapter in ours.chapters:
        yield Cell("markdown", f"`{chapter.module.replace('.', '/')}.py`\n\n{chapter.remark}")
        yield Cell("code", chapter.text)
    for recipe in recipes:
        yield from _computed(recipe)


def _computed(recipe: Recipe) -> Iterator[Cell]:
    shown = {name: bounded(numbers) for name, numbers in recipe.shown.items()}
    yield Cell("markdown", f"## {recipe.title}\n\n{recipe.remark}".rstrip())
    yield Cell("code", f"inputs = {entries(recipe.inputs)}")
    yield Cell("code", recipe.call)
    yield Cell("code", f"shown = {entries(shown)}\n\nsame_numbers(computed, shown)")
