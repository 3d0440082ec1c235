"""A rule that every file has to hold is one test, however many files there are."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def name(path):
    return path.relative_to(ROOT).as_posix()


def each(paths):
    """A rule is one test: it is held against every file, and names all files that break it."""

    def rule_of(holds):
        def rule():
            broken = []
            for path in paths:
                try:
                    holds(path)
                except (AssertionError, ValueError) as fault:
                    broken.append(f"{name(path)}: {fault}")
            if broken:
                pytest.fail("\n".join(broken), pytrace=False)

        rule.__name__, rule.__doc__ = holds.__name__, holds.__doc__
        return rule

    return rule_of
