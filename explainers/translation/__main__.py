"""`python -m explainers.translation train` makes the shipped translators, `evaluate` tests them.

Training takes some minutes of one core for each of the three seeds. `evaluate` computes everything
from the shipped weights; `--json` prints the means over the seeds as one line.
"""

import argparse

from explainers.translation import report
from explainers.translation.measure import evaluate
from explainers.translation.train import MADE, make
from explainers.translation.weights_file import SEEDS, BrokenWeightsError

if __name__ == "__main__":
    asked = argparse.ArgumentParser("python -m explainers.translation", description=__doc__)
    commands = asked.add_subparsers(dest="command", required=True)
    train = commands.add_parser("train", help="learn, write the weights and the report")
    train.add_argument("--seed", type=int, choices=SEEDS, help="this one only, without a report")
    test = commands.add_parser("evaluate", help="measure the shipped weights")
    test.add_argument("--json", action="store_true", help="one line, the mean over the seeds")
    test.add_argument("--report", action="store_true", help="write the report beside the weights")
    options = asked.parse_args()
    try:
        if options.command == "train":
            for seed in SEEDS if options.seed is None else (options.seed,):
                make(seed)
            if options.seed is None:
                report.save(evaluate(), MADE)
        else:
            evaluation = evaluate()
            if options.report:
                report.save(evaluation, MADE)
            print(evaluation.line() if options.json else report.readable(evaluation, MADE))
    except BrokenWeightsError as error:
        asked.exit(1, f"{error}\n")
