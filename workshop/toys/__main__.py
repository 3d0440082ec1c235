"""`python -m workshop.toys` makes the shipped weights and their report; 90 configurations.

They learn the words of one language, which can be chosen. The readable head comes with them, and
with `--readable` alone; so do the weights that have RoPE, with `--rotary`. `--idle` makes the heads
that often want nothing, `--memories` measures what trained memories find again, `--longer` what
models do past their trained length. `--check` trains a part of each file again and compares it with
the file; what is allowed comes from `--tolerance`. With `--memories`, `--longer` or `--rotary` it
checks those alone.
"""

import argparse
import sys

from explainers.toys.grammar import GRAMMARS
from workshop.toys import weight_check
from workshop.toys.measure_longer_texts import check_longer_results, make_longer_results
from workshop.toys.measure_memories import check_results, make_results
from workshop.toys.readable_training import make_readable_weights
from workshop.toys.rotary_training import check_rotary, make_rotary_weights
from workshop.toys.train_heads import make_weights, write_markdown
from workshop.toys.train_idle_heads import make_idle_weights, write_idle_markdown

if __name__ == "__main__":
    parser = argparse.ArgumentParser("python -m workshop.toys", description=__doc__)
    parser.add_argument("--check", action="store_true", help="train a part again and compare")
    parser.add_argument("--readable", action="store_true", help="make the readable head alone")
    parser.add_argument("--rotary", action="store_true", help="make the weights with RoPE alone")
    parser.add_argument("--memories", action="store_true", help="measure the memories alone")
    parser.add_argument("--longer", action="store_true", help="measure past the trained length")
    parser.add_argument("--idle", action="store_true", help="make the heads that want nothing")
    parser.add_argument("--tolerance", action="store_true", help="measure what --check allows")
    parser.add_argument("--language", choices=[*GRAMMARS], default="en")
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    if options.check:
        if options.longer:
            is_same = check_longer_results()
        elif options.rotary:
            is_same = check_rotary(options.language)
        else:
            is_same = check_results() if options.memories else weight_check.check_all_weights()
        sys.exit(0 if is_same else "Other numbers than those in the file: something has changed.")
    if options.memories:
        make_results()
    elif options.longer:
        make_longer_results(options.processes)
    elif options.tolerance:
        weight_check.measure_tolerances()
    elif options.idle:
        make_idle_weights()
        write_idle_markdown()
    elif options.rotary:
        make_rotary_weights(options.language)
    else:
        if not options.readable:
            make_weights(options.processes, options.language)
            make_rotary_weights(options.language)
        make_readable_weights(options.language)
    write_markdown()
