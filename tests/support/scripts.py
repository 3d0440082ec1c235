"""Functions of ours that run in the browser, run without one."""

import shutil
import subprocess

from tests.support.opening import ROOT

SCRIPTS = ROOT / "explainers" / "ui" / "browser"


def run_script(script: str) -> str:
    """What Deno prints; it is what checks the types of our scripts as well."""
    deno = shutil.which("deno") or ROOT / ".venv" / "bin" / "deno"
    command = [str(deno), "run", "--quiet", "--no-config", "--allow-read", "-"]
    return subprocess.run(
        command, input=script, capture_output=True, text=True, check=True, timeout=60
    ).stdout
