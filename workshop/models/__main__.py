"""`python -m workshop.models check | families`: try our attention in one model, or in all."""

import argparse
import json
import sys
from typing import Any

from explainers.models.registry import ModelError
from workshop.models import families, hook_check

EQUAL, OTHERWISE, NO_MODEL = 0, 1, 2
"""How a check ends: our attention gives the same; it does not or is refused; there is no model."""


def main(arguments: list[str] | None = None) -> int:
    """Run a command; what it returns is how the process ends."""
    parser = argparse.ArgumentParser(prog="python -m workshop.models", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    check = commands.add_parser("check", help="can our attention be put inside this model?")
    check.add_argument("model", metavar="OWNER/NAME|FOLDER")
    check.add_argument("--json", action="store_true", help="print an object for other programs")
    trial = commands.add_parser("families", help="try every class of language models, tiny")
    trial.add_argument("names", nargs="*", help="only these, by their model_type")
    trial.add_argument("--write", action="store_true", help=f"to {families.FAMILIES_FILE.name}")
    trial.add_argument("--json", action="store_true", help="print a list for other programs")
    asked = parser.parse_args(arguments)
    if asked.command == "check":
        return check_one(asked.model, asked.json)
    if asked.names and asked.write:
        parser.error("what is written has all families: name none")
    return try_all(asked.names, asked.write, asked.json)


def check_one(name: str, is_json: bool) -> int:
    """Print what a check found out."""
    quiet_libraries()
    try:
        check = hook_check.check_model(name, lambda said: print(said, file=sys.stderr, flush=True))
    except ModelError as error:
        print(json.dumps({"model": name, "error": str(error)}) if is_json else error)
        return NO_MODEL
    encoded = json.dumps(hook_check.encode_check(check), indent=1)
    print(encoded if is_json else hook_check.describe_check(check))
    return EQUAL if check.is_equal else OTHERWISE


def try_all(names: list[str], is_written: bool, is_json: bool) -> int:
    """Try the families; 2 for a name that transformers does not have."""
    quiet_libraries()
    found = families.list_families()
    unknown = set(names) - {family.model_type for family in found}
    if unknown:
        print(f"no such family: {', '.join(sorted(unknown))}", file=sys.stderr)
        return NO_MODEL
    chosen = [family for family in found if not names or family.model_type in names]
    stream = sys.stderr if is_json else sys.stdout
    trials = families.try_families(
        chosen, lambda trial: print(families.describe_trial(trial), file=stream, flush=True)
    )
    if is_json:
        print(families.encode_trials(trials))
    if is_written:
        families.FAMILIES_FILE.write_text(families.write_families(trials), encoding="utf-8")
    return 0


def quiet_libraries() -> None:
    """No advice of transformers among the lines of a table."""
    from transformers import logging

    untyped: Any = logging
    untyped.set_verbosity_error()
    untyped.disable_progress_bar()


if __name__ == "__main__":
    sys.exit(main())
