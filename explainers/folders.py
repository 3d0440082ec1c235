"""Where the files of this project lie that are not Python, and what its pages are called."""

import functools
import re
from pathlib import Path

PACKAGE = Path(__file__).parent
ROOT = PACKAGE if (PACKAGE / "assets").is_dir() else PACKAGE.parent
"""Pages and assets lie beside this package, or, where `pip install` put them, in it."""
ASSETS = ROOT / "assets"
PAGES = ROOT / "pages"


@functools.cache
def read_titles() -> dict[str, str]:
    """The English title of each page by the stem of its file, in the order of reading."""
    table = (ROOT / "contents.py").read_text(encoding="utf-8")
    return dict(re.findall(r'"pages/(\w+)\.py": N_\("(.+?)"\)', table))
