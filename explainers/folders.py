"""Where the files of this project lie that are not Python."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
INSTALLED_ASSETS = Path(__file__).parent / "assets"
"""Where `pip install .` puts the few that a notebook needs."""
ASSETS = INSTALLED_ASSETS if INSTALLED_ASSETS.is_dir() else ROOT / "assets"
PAGES = ROOT / "pages"
