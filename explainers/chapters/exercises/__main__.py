"""Functions to write: `python -m explainers.chapters.exercises start FILE`, then `check FILE`."""

import argparse
import importlib.util
import sys
from pathlib import Path

from explainers.chapters.exercises.write import HOLES, find_fault, make_template


def main(arguments: list[str]) -> int:
    """0 if all is right. The file is run: it is the learner's own, on the learner's machine."""
    parser = argparse.ArgumentParser(
        prog="python -m explainers.chapters.exercises", description=__doc__
    )
    parser.add_argument("what", choices=("start", "check"))
    parser.add_argument("file", type=Path)
    asked = parser.parse_args(arguments)
    return (start if asked.what == "start" else check)(asked.file)


def start(file: Path) -> int:
    """Write the file with the holes, and never over another one."""
    try:
        with file.open("x", encoding="utf-8") as opened:
            opened.write(make_template(file.name))
    except FileExistsError:
        print(f"{file} is there already; choose another name, or check it.")
        return 2
    print(
        f"{file} has {len(HOLES)} holes to fill. "
        f"Then: python -m explainers.chapters.exercises check {file}"
    )
    return 0


def check(file: Path) -> int:
    """Compare each function with ours on numbers of many sizes."""
    if not file.is_file():
        print(f"There is no {file}; python -m explainers.chapters.exercises start {file} makes it.")
        return 2
    try:
        spec = importlib.util.spec_from_file_location("written", file)
        if spec is None or spec.loader is None:
            raise ValueError("its name must end in .py")
        written = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(written)
    except Exception as wrong:  # whatever the learner's file raises is for the learner to read
        print(f"{file} cannot be read: {type(wrong).__name__}: {wrong}")
        return 2
    right = 0
    for name, hole in HOLES.items():
        function = getattr(written, name, None)
        fault = find_fault(hole, function) if callable(function) else "there is no such function"
        right += not fault
        print(f"{'✗' if fault else '✓'} {name}{': ' if fault else ''}{fault}")
    print(f"{right} of {len(HOLES)}")
    return 0 if right == len(HOLES) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
