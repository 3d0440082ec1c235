"""What a file answers to a link, without a browser."""

import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.support.scripts import DENO

SCRIPT = Path(__file__).with_name("answer.js")


def answer(sent: Mapping[str, Any], links: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """For each link the picture's data, or None, and what is refused of it."""
    done = subprocess.run(
        [DENO, "run", "--quiet", "--no-config", "--allow-read", str(SCRIPT)],
        input=json.dumps({"sent": sent, "links": links}),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]
