"""`python -m workshop.translation train` makes the shipped translators, `evaluate` tests them.

Training takes some twenty minutes of one core for each of the three seeds. `evaluate` computes
everything from the shipped weights; `--json` prints the means over the seeds as one line.
"""

import argparse

from explainers.translation.translator import SEEDS, BrokenWeightsError
from workshop.translation import evaluation_report
from workshop.translation.evaluation import evaluate_translators
from workshop.translation.sentences import keep_sentences
from workshop.translation.train import TRAINING_SUMMARY, make_weights
from workshop.translation.training_set import SAMPLE_FILE, format_sample

if __name__ == "__main__":
    parser = argparse.ArgumentParser("python -m workshop.translation", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    train = commands.add_parser("train", help="learn, write the weights and the report")
    train.add_argument("--seed", type=int, choices=SEEDS, help="this one only, without a report")
    test = commands.add_parser("evaluate", help="measure the shipped weights")
    test.add_argument("--json", action="store_true", help="one line, the mean over the seeds")
    test.add_argument("--report", action="store_true", help="write the report beside the weights")
    commands.add_parser(
        "sentences", help="keep the page's sentences, and print random ones into the docs"
    )
    options = parser.parse_args()
    try:
        if options.command == "train":
            for seed in SEEDS if options.seed is None else (options.seed,):
                make_weights(seed)
            if options.seed is None:
                evaluation_report.write_report(evaluate_translators(), TRAINING_SUMMARY)
        elif options.command == "sentences":
            keep_sentences()
            SAMPLE_FILE.write_text(format_sample(), encoding="utf-8")
        else:
            evaluation = evaluate_translators()
            if options.report:
                evaluation_report.write_report(evaluation, TRAINING_SUMMARY)
            print(
                evaluation.format_json()
                if options.json
                else evaluation_report.format_report(evaluation, TRAINING_SUMMARY)
            )
    except BrokenWeightsError as error:
        parser.exit(1, f"{error}\n")
