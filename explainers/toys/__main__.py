"""`python -m explainers.toys` makes the shipped weights and their report; 90 configurations.

They learn the words of one language, which can be chosen. The readable head comes with them, and
with `--readable` alone. `--check` trains one configuration again and compares its weights with
those in the file.
"""

import argparse
import sys

from explainers.toys.grammar import GRAMMARS
from explainers.toys.readable_training import make_readable_weights
from explainers.toys.training_report import check_weights, make_weights, write_markdown

if __name__ == "__main__":
    parser = argparse.ArgumentParser("python -m explainers.toys", description=__doc__)
    parser.add_argument("--check", action="store_true", help="train one again and compare")
    parser.add_argument("--readable", action="store_true", help="make the readable head alone")
    parser.add_argument("--language", choices=[*GRAMMARS], default="en")
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    if options.check:
        is_same = check_weights(options.language)
        sys.exit(0 if is_same else "Other numbers: another processor or torch, or a change.")
    if not options.readable:
        make_weights(options.processes, options.language)
    make_readable_weights(options.language)
    write_markdown()
