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
    with watch_shapes(function, sizes) as held:
        function(*arguments)
    delegates = any(_is_teaching(function, name) for name in function.__code__.co_names)
    assert held or delegates, f"{function.__name__} states no shape"


@contextmanager
def watch_shapes(function, sizes):
    """The same of a function that somebody else calls, as a compiler does. Gives what was held."""
    found = {
        (one.__code__.co_filename, one.__name__): _commented(one) for one in _with_helpers(function)
    }
    held: list[str] = []
    before = sys.gettrace()

    def watch(frame, _event, _given):
        commented = found.get((frame.f_code.co_filename, frame.f_code.co_name))
        return _follow(commented, partial(_hold, held, sizes)) if commented else None

    sys.settrace(watch)
    try:
        yield held
    finally:
        sys.settrace(before)
    stated = {place for commented in found.values() for place, *_ in commented.values()}
    assert set(held) == stated, f"{stated - set(held)} did not run"


def _with_helpers(function):
    """The function and its private helpers, and theirs."""
    yield function
    for name in function.__code__.co_names:
        if name.startswith("_") and _is_teaching(function, name):
            yield from _with_helpers(function.__globals__[name])


def _is_teaching(function, name):
    called = function.__globals__.get(name)
    return inspect.isfunction(called) and called.__module__.startswith(TEACHING)


def _commented(function):
    """By each of its lines: an assignment with a comment, as (place, comment, names it sets)."""
    lines, first = inspect.getsourcelines(function)
    source = textwrap.dedent("".join(lines))
    comments = _comments(source)
    found: dict[int, tuple[str, str, list[str]]] = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Assign) and node.end_lineno in comments:
            names = [target.id for target in getattr(node.targets[0], "elts", node.targets)]
            place = f"{function.__name__}, line {node.lineno} of it"
            assignment = place, comments.pop(node.end_lineno), names
            span = range(node.lineno, (node.end_lineno or 0) + 1)
            found |= {first - 1 + line: assignment for line in span}
    assert not comments, f"{function.__name__}: {comments} stand behind no assignment"
    return found


def _follow(commented, hold):
    """What a call of a function tells, line by line: an assignment is held when it is over."""
    under_way = None

    def see(frame, event, _given):
        nonlocal under_way
        now = commented.get(frame.f_lineno) if event == "line" else None
        if under_way and under_way is not now:
            place, comment, names = under_way
            hold(place, comment, names, [frame.f_locals[name] for name in names])
        under_way = now
        return see

    return see


def _hold(held, sizes, place, comment, names, tensors):
    assert SHAPES.fullmatch(comment), f"{place}: ({comment}) is no shape"
    shapes = re.findall(r"\(([^()]+)\)", comment)
    assert len(shapes) == len(names), f"{place}: {len(shapes)} shapes for {names}"
    for name, shape, tensor in zip(names, shapes, tensors, strict=True):
        stated, actual = _stated(shape, sizes, place), tuple(tensor.shape)
        assert actual == stated, f"{place}: {name} is {actual}, its comment says ({shape})"
        held.append(place)


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


def _comments(source):
    """The comments that state a shape, by their lines."""
    return {
        token.start[0]: token.string.removeprefix("#").strip()
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT and re.match(r"#\s*\(", token.string)
    }
