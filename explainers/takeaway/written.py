"""The text of some functions with all that they use, so that it runs where nothing of ours is."""

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from explainers.takeaway.bindings import Import, NotPlainError, read_module
from explainers.takeaway.closure import Closure, Given, closure, is_module

NAMESPACE = Import("types", "SimpleNamespace", "SimpleNamespace")


@dataclass(frozen=True)
class Chapter:
    """What one module contributes: its remark, and definitions in the order of its lines."""

    module: str
    remark: str
    text: str


@dataclass(frozen=True)
class Written:
    """Imports, then one chapter for each module; a module comes after those that it needs."""

    imports: str
    chapters: tuple[Chapter, ...]


def written(functions: Sequence[Callable[..., Any]], given: Given | None = None) -> Written:
    """Everything that the functions need, each definition once, as it stands in our files."""
    found = closure(functions, given or {})
    modules = list(dict.fromkeys(_ordered(found)))
    _refuse_two_meanings(found)
    if found.namespaces:
        found.imports[NAMESPACE.bound] = NAMESPACE
    names: set[str] = set()
    chapters = [_chapter(found, module, names) for module in modules]
    return Written(_imports(found), tuple(chapter for chapter in chapters if chapter.text))


def _imports(found: Closure) -> str:
    """A line for each module that something comes from."""
    taken: dict[str, list[str]] = {}
    for one in sorted(found.imports.values(), key=lambda one: (bool(one.name), one.text)):
        first, name, bound = one.text.partition(" import ") if one.name else (one.text, "", "")
        taken.setdefault(first, []).extend([bound] * bool(name))
    return "\n".join(
        f"{first} import {', '.join(names)}" if names else first for first, names in taken.items()
    )


def _ordered(found: Closure) -> Iterator[str]:
    """The modules that contribute, each after those that it imports."""
    contributing = {module for module, _ in found.definitions}
    contributing |= {module for module, _ in found.namespaces.values()}
    seen: set[str] = set()

    def visit(module: str) -> Iterator[str]:
        if module in seen:
            return
        seen.add(module)
        for one in read_module(module).imports.values():
            if one.is_ours:
                inner = f"{one.module}.{one.name}"
                yield from visit(inner if is_module(inner) else one.module)
        if module in contributing:
            yield module

    for module, _ in list(found.definitions):
        yield from visit(module)


def _chapter(found: Closure, module: str, names: set[str]) -> Chapter:
    """Definitions, then the other names under which later chapters use them."""
    mine = [one for (home, _), one in sorted(found.definitions.items()) if home == module]
    texts = [one.text for one in mine if not names.issuperset(one.names)]
    names.update(name for one in mine for name in one.names)
    renamed = [f"{new} = {old}" for new, (home, old) in found.aliases.items() if home == module]
    for name, (home, used) in found.namespaces.items():
        if home == module:
            fields = ", ".join(f"{one}={one}" for one in sorted(used))
            renamed.append(f"{name} = SimpleNamespace({fields})  # the module, as others call it")
    return Chapter(module, read_module(module).remark, "\n\n\n".join([*texts, *sorted(renamed)]))


def _refuse_two_meanings(found: Closure) -> None:
    """In one file a name means one thing; a constant that two modules write alike is one thing."""
    meaning = {name: f"module {home}" for name, (home, _) in found.namespaces.items()}
    for name, (home, old) in found.aliases.items():
        _say_once(meaning, name, f"{home}.{old}")
    for one in found.definitions.values():
        for name in one.names:
            _say_once(meaning, name, _value(one.text) or f"{one.module}.{name}")


def _value(text: str) -> str:
    """What a constant is; nothing for a function or a class."""
    match ast.parse(text).body[0]:
        case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
            return ast.unparse(value)
    return ""


def _say_once(meaning: dict[str, str], name: str, said: str) -> None:
    if meaning.setdefault(name, said) != said:
        raise NotPlainError(f"{name} would mean {meaning[name]} as well as {said}")
