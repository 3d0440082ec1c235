"""What some functions need of our modules, and values, as the text of one file."""

import ast
import functools
import importlib
import importlib.util
import inspect
import symtable
import sys
import textwrap
from array import array
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from inspect import isfunction
from types import MappingProxyType
from typing import Any, NamedTuple

WIDTH = 92
READABLE = 600
"""More numbers than this are packed: nobody reads them."""
MOST = 40_000
"""Of what a page shows, no more numbers than this are written into its file."""
Names = Mapping[int, str]
"""By the `id` of a record that is written once and used more often: what it is called."""
NO_NAMES: Names = MappingProxyType({})


def is_numbers(value: Any) -> bool:
    """Is it a tensor, or something else with a shape?"""
    return hasattr(value, "shape") and hasattr(value, "tolist")


def literal(value: Any, names: Names = NO_NAMES) -> str:
    """Python text of a value; `repr` escapes quotes, line breaks and signs that are not drawn.

    A record that has a name is written as its name.
    """
    if is_numbers(value):
        return _tensor(value)
    return _nested(value, names)


def _tensor(value: Any) -> str:
    if value.numel() > READABLE and value.is_floating_point():
        shape, numbers = ", ".join(map(str, value.shape)), array("f", value.flatten().tolist())
        if sys.byteorder == "big":
            numbers.byteswap()
        packed = textwrap.fill(b64encode(numbers.tobytes()).decode(), WIDTH)
        return f'floats(\n    """\n{packed}\n""",\n    {shape},\n)'
    if value.dim() == 2 and str(value.dtype) == "torch.bool":
        rows = ["".join("01"[allowed] for allowed in row) for row in value.tolist()]
        return 'truths(\n    """\n' + "\n".join(f"    {row}" for row in rows) + '\n    """\n)'
    kind = "" if value.is_floating_point() else f", dtype={value.dtype}"
    return f"torch.tensor({literal(value.tolist())}{kind})"


def _nested(value: Any, names: Names) -> str:
    """One line where it fits, else a line for each entry."""

    def each(values: Iterable[Any]) -> list[str]:
        return [literal(one, names) for one in values]

    if isfunction(value):
        return value.__name__
    if is_record(value):
        return names.get(id(value)) or call(*call_for(value), names)
    if isinstance(value, Mapping):
        pairs = zip(each(value), each(value.values()), strict=True)
        return _listed("{", [f"{k}: {v}" for k, v in pairs], "}")
    if isinstance(value, frozenset):
        return f"frozenset({literal(sorted(value))})"
    if isinstance(value, tuple):
        return _listed("(", each(value), ",)" if len(value) == 1 else ")")
    if isinstance(value, Sequence) and not isinstance(value, str):
        return _listed("[", each(value), "]")
    if isinstance(value, bool | int | str | None):
        return repr(value)
    if isinstance(value, float):
        short = f"{value:.9g}"  # nine digits tell every float32 from its neighbours
        return f"float({short!r})" if short.strip("-") in ("inf", "nan") else repr(float(short))
    raise TypeError(f"{type(value).__name__} is not a plain value")


def call(function: Callable[..., Any], given: Mapping[str, Any], names: Names = NO_NAMES) -> str:
    """A call with what is given to it."""
    told = [f"{name}={literal(value, names)}" for name, value in given.items()]
    return _listed(f"{function.__name__}(", told, ")")


def _listed(begin: str, entries: Sequence[str], end: str) -> str:
    line = begin + ", ".join(entries) + end
    if len(line) <= WIDTH and "\n" not in line:
        return line
    if begin not in "[(" or any(one.startswith(("[", "(")) or "\n" in one for one in entries):
        return begin + "\n" + "".join(f"{_indented(one)},\n" for one in entries) + end[-1]
    lines = [""]
    for entry in entries:  # as many on each line as there is room for
        if len(lines[-1]) + len(entry) > WIDTH:
            lines.append("")
        lines[-1] += f"{entry}, "
    return begin + "\n ".join(lines).removesuffix(", ").replace(", \n", ",\n") + end


def is_record(value: Any) -> bool:
    """Is it an instance of a dataclass, which can be written as a call?"""
    return is_dataclass(value) and not isinstance(value, type)


def call_for(record: Any) -> tuple[Callable[..., Any], dict[str, Any]]:
    """What makes a record again, and what that is given: its class, unless it says otherwise."""
    if hasattr(record, "as_call"):
        return record.as_call()
    chosen = [one.name for one in fields(record) if getattr(record, one.name) != one.default]
    return type(record), {name: getattr(record, name) for name in chosen}


def callables(value: Any) -> Iterator[Callable[..., Any]]:
    """The classes and functions that a value names when it is written out."""
    if isfunction(value):
        yield value
    elif is_record(value):
        yield call_for(value)[0]
    for _unused, part in parts(value):
        yield from callables(part)


def parts(value: Any) -> Iterable[tuple[str, Any]]:
    """What a value is written with, each part under its name if it has one."""
    if is_record(value):
        return call_for(value)[1].items()
    if isinstance(value, Mapping):
        return value.items()
    return [("", one) for one in value] if isinstance(value, list | tuple) else ()


def _indented(text: str) -> str:
    return textwrap.indent(text, "    ")


def keep_first_rows(value: Any) -> Any:
    """The numbers as far as a file holds them: the first rows of what is very large."""
    if not is_numbers(value) or value.numel() <= MOST:
        return value
    return value[: max(1, MOST * len(value) // value.numel())]


def entries(values: Mapping[str, Any]) -> str:
    """A dict with a line, or some, for each of its entries."""
    return (
        "{\n" + "".join(f"{_indented(f'{k!r}: {literal(v)}')},\n" for k, v in values.items()) + "}"
    )


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
            nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Attribute)]
            for name in sorted({n.attr for n in nodes if ast.unparse(n.value) == one.name}):
                self.add(one.source, name)  # `masks.build` → build
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


def write_result(given: Given, module: str, name: str) -> str:
    """A function that gives what the page read, if it is known; else nothing."""
    results = {(one.__module__, one.__name__): result for one, result in given.items()}
    if (module, name) not in results:
        return ""
    result = textwrap.indent(literal(results[module, name]), "    ").lstrip()
    return RETURNS.format(name=name, result=result)
