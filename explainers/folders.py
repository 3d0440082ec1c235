"""Where the files of this project lie that are not Python."""

from pathlib import Path

PACKAGE = Path(__file__).parent
ROOT = PACKAGE if (PACKAGE / "assets").is_dir() else PACKAGE.parent
"""Pages and assets lie beside this package, or, where `pip install` put them, in it."""
ASSETS = ROOT / "assets"
PAGES = ROOT / "pages"
