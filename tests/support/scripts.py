"""Functions of ours that run in the browser, run without one."""

import shutil
import subprocess

from tests.support.opening import ROOT

DENO = shutil.which("deno") or str(ROOT / ".venv" / "bin" / "deno")
"""It checks the types of our scripts as well."""
SCRIPTS = ROOT / "explainers" / "ui" / "browser"


def run_script(script: str) -> str:
    """What Deno prints."""
    command = [DENO, "run", "--quiet", "--no-config", "--allow-read", "-"]
    return subprocess.run(
        command, input=script, capture_output=True, text=True, check=True, timeout=60
    ).stdout
