"""From some functions to all the definitions that they use, wherever in our code these stand."""

import importlib.util
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from explainers.takeaway.bindings import (
    ALLOWED,
    Definition,
    Import,
    NotPlainError,
    attributes,
    hidden_imports,
    needed,
    read_module,
)
from explainers.takeaway.literals import literal

Given = Mapping[Callable[..., Any], Any]
"""A function without arguments that reads our files, and what it gave, as far as it is needed."""
RETURNS = '''def {name}():
    """What the page read from a file of its own, as far as it is needed here."""
    return {result}'''


@dataclass
class Closure:
    """What has been found so far, and under which names it is used."""

    definitions: dict[tuple[str, int], Definition] = field(default_factory=dict)
    given: dict[tuple[str, str], Definition] = field(default_factory=dict)
    imports: dict[str, Import] = field(default_factory=dict)
    aliases: dict[str, tuple[str, str]] = field(default_factory=dict)
    """New name: the module and the name there."""
    namespaces: dict[str, tuple[str, set[str]]] = field(default_factory=dict)
    """Name of a module: the module and what is used of it."""


def closure(functions: Sequence[Callable[..., Any]], given: Given) -> Closure:
    """Everything that the functions need to run; of what is `given`, the result."""
    found = Closure()
    for function, result in given.items():
        name, home = function.__name__, read_module(function.__module__)
        text = RETURNS.format(name=name, result=textwrap.indent(literal(result), "    ").lstrip())
        own = home.definitions[name]._replace(text=text)
        found.given[function.__module__, name] = own
    for function in functions:
        _define(found, function.__module__, function.__name__)
    return found


def _define(found: Closure, module: str, name: str) -> None:
    """Take the definition of a name, and then of all the names in its text."""
    here = read_module(module)
    if name in here.imports:
        return _take(found, here.imports[name], "")
    if name not in here.definitions:
        raise NotPlainError(f"{module} does not define {name} by itself")
    definition = found.given.get((module, name), here.definitions[name])
    key = module, definition.line
    if key in found.definitions:
        return None
    found.definitions[key] = definition
    if hidden := hidden_imports(definition.text):
        raise NotPlainError(f"{name} of {module} needs {', '.join(hidden)}")
    for other in sorted(needed(definition.text) - set(definition.names)):
        if other in here.imports:
            _take(found, here.imports[other], definition.text)
        else:
            _define(found, module, other)
    return None


def _take(found: Closure, imported: Import, text: str) -> None:
    """Follow an import: what is ours is written in, the rest must be Python's own, or torch."""
    if not imported.is_ours:
        if imported.module.split(".")[0] not in ALLOWED:
            raise NotPlainError(f"{imported.bound} comes from {imported.module}")
        found.imports[imported.bound] = imported
        return
    module = f"{imported.module}.{imported.name}"
    if is_module(module):
        used = attributes(text, imported.bound)
        home, so_far = found.namespaces.setdefault(imported.bound, (module, set()))
        if home != module:
            raise NotPlainError(f"{imported.bound} would mean {home} as well as {module}")
        so_far.update(used)
        for name in sorted(used):
            _define(found, module, name)
        return
    if imported.bound != imported.name:
        found.aliases[imported.bound] = imported.module, imported.name
    _define(found, imported.module, imported.name)


def is_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # what stands before the last dot is a module, not a package
        return False
