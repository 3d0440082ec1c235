"""A shape comment is a claim: run the function and hold each comment to what happened."""

import ast
import inspect
import io
import math
import re
import sys
import textwrap
import tokenize
from contextlib import contextmanager
from functools import partial

SHAPES = re.compile(r"\([^()]+\)(?:, \([^()]+\))*")
TEACHING = "explainers.attention"


def check_shapes(function, sizes, *arguments):
    """Call the function; each tensor in it and its private helpers must be as commented.

    `sizes` gives the size of every axis word, and under "..." the leading axes of this call, so
    that a comment that leaves an axis out is as wrong as one that exchanges two. A public function
    that is called on the way is held by a call of its own.
    """
    held: list[str] = []
    _holding(function, partial(_hold, held, sizes))(*arguments)
    delegates = any(_is_teaching(function, name) for name in function.__code__.co_names)
    assert held or delegates, f"{function.__name__} states no shape"


def _is_teaching(function, name):
    called = function.__globals__.get(name)
    return inspect.isfunction(called) and called.__module__.startswith(TEACHING)


def _hold(held, sizes, place, comment, names, tensors):
    assert SHAPES.fullmatch(comment), f"{place}: ({comment}) is no shape"
    shapes = re.findall(r"\(([^()]+)\)", comment)
    assert len(shapes) == len(names), f"{place}: {len(shapes)} shapes for {names}"
    for name, shape, tensor in zip(names, shapes, tensors, strict=True):
        stated, actual = _stated(shape, sizes, place), tuple(tensor.shape)
        assert actual == stated, f"{place}: {name} is {actual}, its comment says ({shape})"
        held.append(place)


@contextmanager
def watch_shapes(function, sizes):
    """The same of a function that a compiler calls: it is watched. Gives what was held."""
    source, first = _source(function)
    comments = _comments(source)
    found = {
        first - 1 + node.lineno: (node, comments.pop(node.end_lineno))
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Assign) and node.end_lineno in comments
    }
    assert not comments, f"{function.__name__}: {comments} stand behind no assignment"
    ran = function.__code__.co_filename, function.__name__
    held: list[str] = []
    done, before = 0, sys.gettrace()

    def watch(frame, _event, _given):
        return see if (frame.f_code.co_filename, frame.f_code.co_name) == ran else None

    def see(frame, _event, _given):
        nonlocal done
        if done in found:
            node, comment = found[done]
            names, place = _names(node), f"{function.__name__}, line {node.lineno} of it"
            tensors = [frame.f_locals[name] for name in names]
            _hold(held, sizes, place, comment, names, tensors)
        done = frame.f_lineno
        return see

    sys.settrace(watch)
    try:
        yield held
    finally:
        sys.settrace(before)
    assert len(set(held)) == len(found), "a line with a comment did not run"


def _stated(shape, sizes, place):
    axes = [axis.strip() for axis in shape.removesuffix(",").split(",")]
    known = [_size(axis, sizes, place) for axis in axes]
    return tuple(size for axis in known for size in (axis if isinstance(axis, tuple) else (axis,)))


def _size(axis, sizes, place):
    """Of one axis, or of several laid side by side, as in heads·head_dim."""
    factors = axis.split("·")
    unknown = [factor for factor in factors if factor not in sizes and not factor.isdigit()]
    assert not unknown, f"{place}: nobody knows the axis {unknown}"
    known = [int(factor) if factor.isdigit() else sizes[factor] for factor in factors]
    return known[0] if len(known) == 1 else math.prod(known)


def _holding(function, hold):
    """The same function, calling `hold` after every assignment that has a shape comment."""
    source, first = _source(function)
    comments = _comments(source)
    tree = _AfterAssignment(function.__name__, comments).visit(ast.parse(source))
    ast.increment_lineno(ast.fix_missing_locations(tree), first - 1)
    assert not comments, f"{function.__name__}: {comments} stand behind no assignment"
    namespace = dict(function.__globals__, hold=hold)
    for name in function.__code__.co_names:
        if name.startswith("_") and _is_teaching(function, name):
            namespace[name] = _holding(namespace[name], hold)
    exec(compile(tree, function.__code__.co_filename, "exec"), namespace)
    return namespace[function.__name__]


def _source(function):
    """Its text, and the line of the file where that begins."""
    lines, first = inspect.getsourcelines(function)
    return textwrap.dedent("".join(lines)), first


def _comments(source):
    """The comments that state a shape, by their lines."""
    return {
        token.start[0]: token.string.removeprefix("#").strip()
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT and re.match(r"#\s*\(", token.string)
    }


def _names(node):
    """Of all that an assignment sets."""
    return [target.id for target in getattr(node.targets[0], "elts", node.targets)]


class _AfterAssignment(ast.NodeTransformer):
    def __init__(self, function, comments):
        self.function, self.comments = function, comments

    def visit_Assign(self, node):
        comment = self.comments.pop(node.end_lineno, None)
        if comment is None:
            return node
        names = _names(node)
        place = f"{self.function}, line {node.lineno} of it"
        held = f"hold({place!r}, {comment!r}, {names!r}, ({', '.join(names)},))"
        return [node, *ast.parse(held).body]
