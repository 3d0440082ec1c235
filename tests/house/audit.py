"""Asks for known holes in the packages that are pinned: `python -m tests.house.audit`.

Where nobody can be asked, or nobody answers in time, it says so, and nothing has failed.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
PATIENCE = float(os.environ.get("ATTENTION_AUDIT_SECONDS", "30"))
COMMAND = [
    *(sys.executable, "-m", "pip_audit", "--disable-pip", "--no-deps"),
    *("--format", "json", "--progress-spinner", "off", "--timeout", "5"),
]


def audit(files: list[Path], patience: float = PATIENCE) -> int:
    """1 if there is a known hole that a newer version mends, else 0."""
    texts = [file.read_text(encoding="utf-8") for file in files]
    pins = sorted({pin for text in texts for pin in re.findall(r"(?m)^[\w.-]+==[^\\\n]+", text)})
    try:
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write("\n".join(pins))
            file.flush()
            command = [*COMMAND, "--requirement", file.name]
            told = subprocess.run(command, capture_output=True, text=True, timeout=patience)
        packages = json.loads(told.stdout)["dependencies"]
    except (subprocess.TimeoutExpired, ValueError):
        packages = []
    packages = [one for one in packages if "skip_reason" not in one]
    if not packages:
        print("pip-audit: left out, nobody answers who knows of holes in packages.")
        return 0
    holes = [(one, hole) for one in packages for hole in one["vulns"]]
    for one, hole in holes:
        fixed = ", ".join(hole["fix_versions"]) or "no version yet"
        print(f"pip-audit: {one['name']} {one['version']}: {hole['id']}, mended in {fixed}")
    print(f"pip-audit: {len(packages)} of {len(pins)} packages are known, with {len(holes)} holes.")
    return 1 if any(hole["fix_versions"] for _one, hole in holes) else 0


if __name__ == "__main__":
    sys.exit(audit([ROOT / "requirements.lock", ROOT / "requirements.txt"]))
