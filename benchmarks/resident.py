"""What a real model takes in memory: ours beside transformers alone, each in a process of its own.

Both load the same folder in float32 and read the same sentence once, with one thread.
"""

import json
import os
import statistics
import subprocess
import sys
from typing import NamedTuple

from benchmarks import report
from benchmarks.browser import ROOT
from explainers.models.registry import WHEEL_MODELS, resolve_folder
from explainers.toys.sentence import SENTENCE

NEEDED = """
import json, os, sys
import psutil, torch, transformers
torch.set_num_threads(1)
def held():
    return psutil.Process().memory_info().rss
def most():
    with open("/proc/self/status") as file:
        return next(1024 * int(line.split()[1]) for line in file if line.startswith("VmHWM"))
folder, sentence = sys.argv[1:]
"""
BARE = """
from transformers import AutoTokenizer, LlamaForCausalLM
begun = held()
tokenizer = AutoTokenizer.from_pretrained(folder)
model = LlamaForCausalLM.from_pretrained(folder, dtype=torch.float32)
ids = tokenizer(sentence, return_tensors="pt").input_ids
with torch.no_grad():
    output = model(ids)
"""
OURS = """
from transformers import AutoTokenizer, LlamaForCausalLM
from explainers.models.attention_hook import run_model
from explainers.models.load import load_model
from explainers.models.token_text import tokenise_text
begun = held()
real_model = load_model(folder)
model = real_model.model
output = run_model(model, input_ids=tokenise_text(real_model, sentence).ids)
"""
TOLD = """
weights = sum(one.nbytes for one in {id(one): one for one in model.parameters()}.values())
print(json.dumps([weights, begun, held(), most()]))
"""


class Held(NamedTuple):
    """Bytes: of the weights; in memory before the model was loaded, after one run, at the most."""

    weights: int
    begun: int
    after: int
    most: int


def measure(runs: int) -> str:
    """The report's section: the two take turns."""
    ways = {"transformers alone": BARE, "ours": OURS}
    found: dict[str, list[Held]] = {name: [] for name in ways}
    for _ in range(runs):
        for name, code in ways.items():
            found[name].append(_held(code))
    bare, ours = (_median(found[name]) for name in ways)
    rows = [_row(name, _median(found[name]), bare) for name in ways]
    remarks = (
        f"{WHEEL_MODELS[0].name}, float32, one run on “{SENTENCE}”, one thread, {runs} fresh "
        "processes each, medians. Added is what the process held after the run less what it held "
        "after its imports; ours keeps every layer's scores and weights of the run. Aim: added "
        "≤ 1.1 × what transformers alone adds, which is the weights and one run: "
        f"{(ours.after - ours.begun) / (bare.after - bare.begun):.3f}; at the most "
        f"{(ours.most - ours.begun) / (bare.most - bare.begun):.3f}."
    )
    head = " way | weights | added | added ÷ weights | added ÷ alone | at the most ÷ alone "
    return report.section("Memory of a real model", None, remarks, head, rows)


def _held(code: str) -> Held:
    run = [
        sys.executable,
        "-c",
        NEEDED + code + TOLD,
        str(resolve_folder(WHEEL_MODELS[0].id)),
        SENTENCE,
    ]
    environment = {**os.environ, "ATTENTION_READ_FOLDERS": "1"}
    done = subprocess.run(
        run, cwd=ROOT, env=environment, check=True, capture_output=True, text=True
    )
    return Held(*json.loads(done.stdout.splitlines()[-1]))


def _median(found: list[Held]) -> Held:
    return Held(*(round(statistics.median(numbers)) for numbers in zip(*found, strict=True)))


def _row(name: str, one: Held, bare: Held) -> str:
    added, most = one.after - one.begun, one.most - one.begun
    return (
        f" {name} | {one.weights / 1e6:.0f} MB | {added / 1e6:.0f} MB | {added / one.weights:.3f} "
        f"| {added / (bare.after - bare.begun):.3f} | {most / (bare.most - bare.begun):.3f} "
    )


if __name__ == "__main__":
    chosen = report.options(__doc__, 3, "runs")
    report.publish(measure(chosen.runs), chosen.write)
