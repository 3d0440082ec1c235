"""Where the files of this project lie that are not Python."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
ASSETS = ROOT / "assets"
PAGES = ROOT / "pages"
