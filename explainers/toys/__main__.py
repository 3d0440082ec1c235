"""`python -m explainers.toys` makes the shipped weights and their report; 90 configurations.

`--check` trains one configuration again and compares its weights with those in the file.
"""

import argparse
import sys

from explainers.toys.training_report import check_weights, make_weights

if __name__ == "__main__":
    parser = argparse.ArgumentParser("python -m explainers.toys", description=__doc__)
    parser.add_argument("--check", action="store_true", help="train one again and compare")
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    if options.check:
        sys.exit(
            0 if check_weights() else "Other numbers: another processor or torch, or a change."
        )
    make_weights(options.processes)
