"""One module as its text: which names it binds, and what the text behind a name needs."""

import ast
import functools
import importlib
import inspect
import symtable
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

OURS = "explainers"
ALLOWED = {*sys.stdlib_module_names, "torch"}
BUILTINS = set(vars(importlib.import_module("builtins")))


class NotPlainError(Exception):
    """A function that needs more than Python, torch and other functions of ours."""


class Definition(NamedTuple):
    """A function, class or constant as it stands in its module, decorators and remarks with it."""

    module: str
    names: tuple[str, ...]
    line: int
    text: str


@dataclass(frozen=True)
class Import:
    """`import module`, or `from module import name`, under the name that it got."""

    module: str
    name: str
    bound: str

    @property
    def is_ours(self) -> bool:
        return self.module.split(".")[0] == OURS

    @property
    def text(self) -> str:
        known = self.name or self.module.split(".")[0]
        renamed = f" as {self.bound}" if self.bound != known else ""
        if not self.name:
            return f"import {self.module}{renamed}"
        return f"from {self.module} import {self.name}{renamed}"


@dataclass(frozen=True)
class Module:
    """What a module's names stand for."""

    name: str
    remark: str
    definitions: dict[str, Definition]
    imports: dict[str, Import]


@functools.cache
def read_module(name: str) -> Module:
    """Read a module of ours; what is imported for a type checker only is never run."""
    text = inspect.getsource(importlib.import_module(name))
    tree, lines = ast.parse(text), text.splitlines()
    definitions: dict[str, Definition] = {}
    imports: dict[str, Import] = {}
    for node, following in zip(tree.body, [*tree.body[1:], None], strict=True):
        imports |= {found.bound: found for found in _imported(node)}
        names = tuple(_bound(node))
        definition = Definition(name, names, node.lineno, _text(lines, node, following))
        definitions |= dict.fromkeys(names, definition)
    return Module(name, (ast.get_docstring(tree) or name).strip(), definitions, imports)


def _imported(node: ast.stmt) -> Iterator[Import]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield Import(alias.name, "", alias.asname or alias.name.split(".")[0])
    elif isinstance(node, ast.ImportFrom) and node.module != "__future__":
        for alias in node.names:
            yield Import(node.module or "", alias.name, alias.asname or alias.name)


def _bound(node: ast.stmt) -> Iterator[str]:
    match node:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Assign(targets=targets):
            for target in targets:
                yield from (part.id for part in ast.walk(target) if isinstance(part, ast.Name))
        case ast.AnnAssign(target=ast.Name(id=name), value=value) if value:
            yield name


def _text(lines: list[str], node: ast.stmt, following: ast.stmt | None) -> str:
    """The lines of a definition; a constant's docstring stands behind it."""
    decorators = [one.lineno for one in getattr(node, "decorator_list", [])]
    start, end = min([node.lineno, *decorators]), node.end_lineno or node.lineno
    is_constant = isinstance(node, ast.Assign | ast.AnnAssign)
    if is_constant and isinstance(following, ast.Expr) and _is_text(following.value):
        end = following.end_lineno or end
    while start > 1 and lines[start - 2].startswith("#"):
        start -= 1
    return "\n".join(lines[start - 1 : end])


def _is_text(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def needed(text: str) -> set[str]:
    """The names that a text takes from its module: no argument, no local variable, no builtin."""
    table = symtable.symtable(text, "a definition", "exec")
    return set(_global_names(table)) - BUILTINS


def _global_names(table: symtable.SymbolTable) -> Iterator[str]:
    for symbol in table.get_symbols():
        is_global = table.get_type() == "module" or symbol.is_global()
        if is_global and symbol.is_referenced():
            yield symbol.get_name()
    for child in table.get_children():
        yield from _global_names(child)


def attributes(text: str, module: str) -> set[str]:
    """What a text takes from a module that it knows by this name: `masks.build` → build."""
    tree, asked = ast.parse(text), set()
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name == module:
                asked.add(attribute)
    return asked


def hidden_imports(text: str) -> list[str]:
    """Packages that a function imports while it runs, other than those that are allowed."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names = names or [alias.name for alias in node.names]
            found += [name for name in names if name.split(".")[0] not in ALLOWED]
    return found
