"""What some functions need of our modules, pasted one below the other into one file."""

import ast
import functools
import importlib
import importlib.util
import inspect
import symtable
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from explainers.takeaway.literals import literal

OURS, TEACHING = "explainers", "explainers.attention"
ALLOWED = {*sys.stdlib_module_names, "torch"}
BUILTINS = set(vars(importlib.import_module("builtins")))
Given = Mapping[Callable[..., Any], Any]
"""A function without arguments that reads our files, and what it gave, as far as it is needed."""
RETURNS = '''def {name}():
    """What the page read from a file of its own, as far as it is needed here."""
    return {result}'''
HERE = "sys.modules[__name__]  # what these modules define stands in this file"


class NotPlainError(Exception):
    """A function that needs more than Python, torch and other functions of ours."""


class Import(NamedTuple):
    """`import module`, or `from module import name`."""

    module: str
    name: str

    @property
    def package(self) -> str:
        """Who wrote it."""
        return self.module.split(".")[0]

    @property
    def source(self) -> str:
        """The module that is read: `from package import module` reads another one."""
        inner = f"{self.module}.{self.name}"
        return inner if self.is_ours and is_module(inner) else self.module

    @property
    def is_ours(self) -> bool:
        return self.package == OURS


class Module(NamedTuple):
    """The text of a module by the names that it defines, and what it imports under which names."""

    remark: str
    texts: dict[str, str]
    imports: dict[str, Import]


class Part(NamedTuple):
    """What one module contributes to the file."""

    module: str
    remark: str
    text: str


@dataclass
class Paste:
    """All that is needed: a module that teaches is taken whole, of others what is used."""

    given: Given
    libraries: Sequence[str] = ()
    texts: dict[str, set[str]] = field(default_factory=dict)
    """By module."""
    imports: set[Import] = field(default_factory=set)
    namespaces: set[str] = field(default_factory=set)
    """Names of modules whose names are used behind a dot."""
    meanings: dict[str, str] = field(default_factory=dict)

    def add(self, module: str, name: str) -> None:
        """Take the definition of a name, and all that it needs."""
        here = read_module(module)
        if name in here.imports:
            return self.follow(here.imports[name], "")
        if name not in here.texts:
            raise NotPlainError(f"{module} does not define {name} by itself")
        text = write_result(self.given, module, name) or here.texts[name]
        if self.meanings.setdefault(name, text) != text:
            raise NotPlainError(f"{name} of {module} means something else in another module")
        if text in self.texts.setdefault(module, set()):
            return None
        self.texts[module].add(text)
        for one in list_imports(ast.parse(text)):
            self.follow(one, text)
        for other in sorted(list_needed(text)):
            if other in here.imports:
                self.follow(here.imports[other], text)
            else:
                self.add(module, other)
        for other in here.texts if module.startswith(TEACHING) else ():
            self.add(module, other)
        return None

    def follow(self, one: Import, text: str) -> None:
        """Take what a text imports, if it is ours."""
        if one.source != one.module:
            self.namespaces.add(one.name)
            for name in sorted(list_attributes(text, one.name)):
                self.add(one.source, name)
        elif one.is_ours:
            self.add(one.module, one.name)
        elif one.package in {*ALLOWED, *self.libraries}:
            self.imports.add(one)
        else:
            raise NotPlainError(f"{one.name or one.module} comes from {one.module}")

    def sort_modules(self) -> Iterator[str]:
        """Each after those that it imports."""
        seen: set[str] = set()

        def visit(module: str) -> Iterator[str]:
            if module not in seen:
                seen.add(module)
                for one in read_module(module).imports.values():
                    if one.is_ours:
                        yield from visit(one.source)
                if module in self.texts:
                    yield module

        for module in list(self.texts):
            yield from visit(module)

    def write_imports(self) -> str:
        """A line for each module that something comes from, and our own under their names."""
        lines: dict[str, list[str]] = {}
        own = {Import("sys", "")} if self.namespaces else set[Import]()
        for one in sorted(self.imports | own, key=lambda one: (bool(one.name), one)):
            first = f"from {one.module} import " if one.name else f"import {one.module}"
            lines.setdefault(first, []).append(one.name)
        names = [f"{name} = " for name in sorted(self.namespaces)]
        written = [first + ", ".join(one) for first, one in lines.items()]
        return "\n".join([*written, *(["", "".join(names) + HERE] if names else [])])


def paste(
    functions: Sequence[Callable[..., Any]], given: Given, libraries: Sequence[str] = ()
) -> tuple[str, list[Part]]:
    """Imports, then one part for each module; of what is `given`, the result.

    Nothing else is imported than Python, torch, and the `libraries` that a page says it needs.
    """
    made, parts = Paste(given, libraries), []
    for function in functions:
        made.add(function.__module__, function.__name__)
    written = set[str]()
    for module in made.sort_modules():
        here = read_module(module)
        texts = [write_result(given, module, name) or text for name, text in here.texts.items()]
        own = [text for text in dict.fromkeys(texts) if text in made.texts[module] - written]
        written.update(own)
        if own:
            parts.append(Part(module, here.remark, "\n\n\n".join(own)))
    return made.write_imports(), parts


@functools.cache
def read_module(name: str) -> Module:
    """Read a module of ours; what is imported for a type checker only is never run."""
    text = inspect.getsource(importlib.import_module(name))
    tree, lines = ast.parse(text), text.splitlines()
    words, _, _example = (ast.get_docstring(tree) or name).partition("\n\n>>> ")
    found = Module(words.strip(), {}, {})
    nodes = [node for node in tree.body if not isinstance(node, ast.Expr)]
    starts = [find_start(lines, node) for node in nodes]
    for node, start, end in zip(nodes, starts, [*starts[1:], len(lines)], strict=True):
        if isinstance(node, ast.Import | ast.ImportFrom):
            imports = list_imports(node)
            found.imports.update({one.name or one.package: one for one in imports})
        names = list_names(node)
        found.texts.update(dict.fromkeys(names, "\n".join(lines[start:end]).rstrip()))
    return found


def find_start(lines: list[str], node: ast.stmt) -> int:
    """The index of the first line of a definition, with its decorators and the remark above it."""
    start = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", []))]) - 1
    while start and lines[start - 1].startswith("#"):
        start -= 1
    return start


def is_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # what stands before the last dot is a module, not a package
        return False


def list_imports(tree: ast.AST) -> Iterator[Import]:
    """Everything that is imported somewhere in a text."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (Import(alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (Import(node.module or "", alias.name) for alias in node.names)


def list_names(node: ast.stmt) -> tuple[str, ...]:
    """The names that a definition gives a meaning to."""
    match node:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return (name,)
        case ast.Assign(targets=targets):
            parts = [part for target in targets for part in ast.walk(target)]
            return tuple(part.id for part in parts if isinstance(part, ast.Name))
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr()):
            return (name,)
    return ()


def list_needed(text: str) -> set[str]:
    """The names that a text takes from its module: no argument, no local variable, no builtin."""

    def visit(table: symtable.SymbolTable) -> Iterator[str]:
        for symbol in table.get_symbols():
            if symbol.is_referenced() and (table.get_type() == "module" or symbol.is_global()):
                yield symbol.get_name()
        for child in table.get_children():
            yield from visit(child)

    return set(visit(symtable.symtable(text, "a definition", "exec"))) - BUILTINS


def list_attributes(text: str, module: str) -> set[str]:
    """What a text takes from a module that it knows by this name: `masks.build` → build."""
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Attribute)]
    return {node.attr for node in nodes if ast.unparse(node.value) == module}


def write_result(given: Given, module: str, name: str) -> str:
    """A function that gives what the page read, if it is known; else nothing."""
    results = {(one.__module__, one.__name__): result for one, result in given.items()}
    if (module, name) not in results:
        return ""
    result = textwrap.indent(literal(results[module, name]), "    ").lstrip()
    return RETURNS.format(name=name, result=result)
