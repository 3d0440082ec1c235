"""Size a KV cache: `python -m explainers.memory llama-3.1-8b --tokens 131072 --batch 8 --gpu H100`.

The same numbers as on the page *Cache calculator* and from `explainers.memory.cache_report`.
"""

import argparse
import json
import re
import sys
from dataclasses import asdict
from decimal import Decimal
from pathlib import Path

from explainers.memory.cache_bytes import FORMATS
from explainers.memory.cache_formula import format_both_sizes
from explainers.memory.cache_report import (
    ENGINES,
    CacheReport,
    FitReport,
    PlanReport,
    find_model,
    report_cache,
)
from explainers.memory.config_text import MAX_CHARACTERS, NAME, take_name
from explainers.memory.model_shapes import MULTIPLIERS, ModelShape, list_model_ids
from explainers.memory.read_config import read_config
from explainers.memory.serving import GIB, read_gpus
from explainers.memory.sharding import HEADS, SPLITS
from explainers.messages import SaidError
from explainers.models.config_defaults import find_class_defaults
from explainers.models.registry import is_hub_id

PARAMETERS = re.compile(r"(\d+(?:\.\d+)?)([MBT]?)", re.IGNORECASE)
OWN_ARGUMENTS = "model", "json", "fetch", "list"
"""All others are those of `report_cache`."""
BAD_INPUT = 2
"""Exit status, as argparse has it for arguments that it refuses."""


def main(arguments: list[str] | None = None, called: str = "python -m explainers.memory") -> int:
    """Print a report; 0 if there is one, 2 and a sentence on standard error if there is none.

    `called` is what was typed before the arguments.
    """
    parser = make_parser(called)
    chosen = parser.parse_args(arguments)
    if chosen.list:
        print("models:", *list_model_ids(), sep="\n  ")
        print("gpus:", *read_gpus(), sep="\n  ")
        return 0
    if not chosen.model:
        parser.error("name a model or a config.json, or ask for --list")
    choices = {name: value for name, value in vars(chosen).items() if name not in OWN_ARGUMENTS}
    if chosen.overhead is not None:
        choices["overhead"] = chosen.overhead * GIB
    try:
        report = report_cache(read_model(chosen.model, chosen.fetch), **choices)
    except (ValueError, SaidError) as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return BAD_INPUT
    print(json.dumps(asdict(report), indent=1) if chosen.json else write_report(report))
    return 0


def make_parser(called: str) -> argparse.ArgumentParser:
    """The arguments, with the defaults of the page."""
    example = f"{called} llama-3.1-8b --tokens 131072 --batch 8 --gpu H100"
    parser = argparse.ArgumentParser(prog=called, description=f"Size a KV cache: {example}")
    add = parser.add_argument
    add(
        "model",
        nargs="?",
        help="id of a published model, a config.json, its folder, a .gguf file, or -",
    )
    add("--tokens", type=read_count, default=131_072, help="length of each text (131072)")
    add("--batch", type=read_count, default=1, help="how many texts at once (1)")
    add("--gpu", default="", help="a GPU's id, such as h100: does it fit? any: which, how many?")
    add("--gpus", type=int, default=1, help="how many of them (1)")
    engines = ", ".join(ENGINES)
    add(
        "--flags",
        dest="engine",
        default="",
        metavar="ENGINE",
        help=f"flags for the GPU to copy: {engines}",
    )
    add(
        "--cache-dtype",
        dest="dtype",
        default="",
        choices=FORMATS,
        metavar="FORMAT",
        help="bfloat16, or as published",
    )
    add("--weight-dtype", default="", choices=FORMATS, metavar="FORMAT", help="as published")
    add("--parameters", type=read_parameters, metavar="8B", help="where they are not published")
    add("--source-tokens", type=int, metavar="N", help="tokens that an encoder read")
    add("--split", default=HEADS, choices=SPLITS, help="what GPUs divide (heads)")
    add("--ways", type=int, default=0, metavar="N", help="… how many ways; heads over the rest")
    add("--overhead", type=int, metavar="GIB", help="activations, buffers … (by a formula)")
    add("--percent", type=int, default=90, help="part of a GPU that may be used (90)")
    add("--page", dest="block", type=int, default=16, metavar="N", help="tokens in a page (16)")
    add("--json", action="store_true", help="every number, in bytes")
    add(
        "--fetch",
        action="store_true",
        help="read owner/name or its address from the hub: config.json, and how many weights",
    )
    add("--list", action="store_true", help="the models and GPUs that are known")
    return parser


def read_count(text: str) -> int:
    """A whole number such as 131072, or 131,072 as the page and the report write it."""
    try:
        return int(re.sub(r",(?=\d{3}(?!\d))", "", text))
    except ValueError:
        message = f"{text[:40]!r} is no whole number such as 131072 or 131,072"
        raise argparse.ArgumentTypeError(message) from None


def read_parameters(text: str) -> int:
    """A number of parameters such as 8B, 400M or 8030261248."""
    match = PARAMETERS.fullmatch(text)
    multiplier = MULTIPLIERS.get(match[2].upper(), 1) if match else 0
    if match is None or not (count := int(Decimal(match[1]) * multiplier)):
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is no number such as 8B or 400M")
    return count


def read_model(name: str, may_fetch: bool) -> ModelShape:
    """A published model, a file, what comes from standard input, or from the hub if asked for."""
    if may_fetch:
        from explainers.models.hub import fetch_config, fetch_weights  # torch, as nothing else here

        name = take_name(name)
        return read_config(fetch_config(name), find_class_defaults, stored=fetch_weights(name))
    if name == "-":
        pasted = sys.stdin.read(MAX_CHARACTERS + 1)
        if not NAME.fullmatch(pasted.strip()):
            return read_config(pasted, find_class_defaults)
        name = pasted.strip()
    try:
        return find_model(name, find_class_defaults)
    except ValueError as error:
        if not NAME.fullmatch(name) or Path(name).exists():
            raise
        asked = name if is_hub_id(name) else "owner/name"
        raise ValueError(f"{error}; {asked} --fetch reads a config.json from the hub") from None


def write_report(report: CacheReport) -> str:
    """The numbers as lines to be read, and the flags of an engine if they were asked for."""
    lines = [
        f"{report.model}: {report.batch:,} × {report.tokens:,} tokens, cache in {report.dtype}",
        *report.working,
    ]
    if report.extra_bytes:
        lines.append(f"besides: {format_both_sizes(report.extra_bytes)} of states and indexes")
        lines.append(f"in all: {report.total_bytes:,} bytes = {write(report.total_bytes)}")
    lines += [f"LEFT OUT: {gap}" for gap in report.left_out]
    lines += write_fit(report.fit) if report.fit else []
    lines += map(write_plan, report.plans)
    if report.command:
        command = report.command
        lines += ["", command.code, ""]
        lines += [f"{flag.name} {flag.value}: {flag.reason}" for flag in command.flags]
    elif report.no_command:
        lines.append(f"no flags: {report.no_command}")
    return "\n".join([*lines, *(f"note: {note}" for note in report.notes)])


def write_fit(fit: FitReport) -> list[str]:
    """Whether it fits, for how many texts, how long and how fast."""
    users = "any number of" if fit.texts_that_fit is None else f"{fit.texts_that_fit:,}"
    longest = "any length" if fit.longest_context is None else f"{fit.longest_context:,} tokens"
    lines = [
        f"{fit.gpus} × {fit.gpu}: weights in {fit.weight_dtype} {write(fit.weight_bytes)}; "
        f"left for caches on each {write(fit.free_bytes_per_gpu)}",
        f"such texts that fit at once: {users}; longest, with so many texts: {longest}",
    ]
    if fit.tokens_per_second is not None:
        lines.append(f"at most {fit.tokens_per_second:,} tokens a second, with what fits")
    return lines


def write_plan(plan: PlanReport) -> str:
    """The fewest GPUs of a kind, and what else there is room for."""
    longest = "any length" if plan.longest_on_one is None else f"{plan.longest_on_one:,} tokens"
    alone = f"one alone holds a text of {longest}" if plan.longest_on_one != 0 else ""
    if plan.gpus is None:
        return f"{plan.gpu}: not even 16 are enough" + (f"; {alone}" if alone else "")
    users = "any number of" if plan.texts_that_fit is None else f"{plan.texts_that_fit:,}"
    noun = "text" if plan.texts_that_fit == 1 else "texts"
    speed = (
        "" if plan.tokens_per_second is None else f", {plan.tokens_per_second:,} tokens/s at most"
    )
    return "; ".join(
        filter(
            None, [f"{plan.gpus} × {plan.gpu}: {users} such {noun}{speed} ({plan.limit})", alone]
        )
    )


def write(size: int) -> str:
    """Bytes in both units, with a minus sign where too little is left."""
    return f"−{format_both_sizes(-size)}" if size < 0 else format_both_sizes(size)


if __name__ == "__main__":
    sys.exit(main())
