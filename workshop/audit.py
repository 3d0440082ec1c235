"""Asks for known holes in the packages that are pinned: `python -m workshop.audit`.

It ends as it found out: nothing is known (0), a hole that a newer version mends (1), or nobody
answered in time who knows (2). `ATTENTION_AUDIT_UNANSWERED=1` lets the last one pass, as loudly.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from explainers.folders import ROOT

LOCKS = [ROOT / f"requirements{kind}.lock" for kind in ("", "-torch")]
FINE, HOLE, UNANSWERED = 0, 1, 2
MAY_BE_UNANSWERED = "ATTENTION_AUDIT_UNANSWERED"
PATIENCE = float(os.environ.get("ATTENTION_AUDIT_SECONDS", "30"))
COMMAND = [
    *(sys.executable, "-m", "pip_audit", "--disable-pip", "--no-deps"),
    *("--format", "json", "--progress-spinner", "off", "--timeout", "5"),
]


def audit(files: list[Path], patience: float = PATIENCE) -> int:
    """Say what is known of each pinned package; how the process ends."""
    texts = [file.read_text(encoding="utf-8") for file in files]
    pins = sorted({pin for text in texts for pin in re.findall(r"(?m)^[\w.-]+==[^\\\n]+", text)})
    try:
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write("\n".join(pins))
            file.flush()
            command = [*COMMAND, "--requirement", file.name]
            told = subprocess.run(  # noqa: S603 - pins of our own files
                command, capture_output=True, text=True, timeout=patience
            )
        packages = json.loads(told.stdout)["dependencies"]
    except (subprocess.TimeoutExpired, ValueError):
        packages = []
    unknown = [one["name"] for one in packages if "skip_reason" in one]
    known = [one for one in packages if "skip_reason" not in one]
    holes = [(one, hole) for one in known for hole in one["vulns"]]
    for one, hole in holes:
        fixed = ", ".join(hole["fix_versions"]) or "no version yet"
        print(f"pip-audit: {one['name']} {one['version']}: {hole['id']}, mended in {fixed}")
    if known:
        print(f"pip-audit: {len(known)} packages are known, with {len(holes)} holes.")
    if any(hole["fix_versions"] for _one, hole in holes):
        return HOLE
    return FINE if known and not unknown else tell_unanswered(unknown if known else [])


def tell_unanswered(unknown: list[str]) -> int:
    """Say that packages were not checked, and what lets that pass."""
    is_allowed = os.environ.get(MAY_BE_UNANSWERED) == "1"
    print("=" * 80)
    if unknown:
        print(f"pip-audit: NOT CHECKED, nobody knows them: {', '.join(unknown)}.")
    else:
        print("pip-audit: NOTHING WAS CHECKED: nobody answers who knows of holes in packages.")
    print(
        f"This passes only because {MAY_BE_UNANSWERED}=1. Ask again where there is a network."
        if is_allowed
        else f"Ask again where there is a network, or set {MAY_BE_UNANSWERED}=1 to go on without."
    )
    print("=" * 80)
    return FINE if is_allowed else UNANSWERED


if __name__ == "__main__":
    sys.exit(audit(LOCKS))
