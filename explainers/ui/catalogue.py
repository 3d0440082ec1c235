"""Catalogues of translations, as `gettext` reads them."""

import io
from gettext import GNUTranslations
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po


def translations(path: Path) -> GNUTranslations:
    """The words of a file, ready to be looked up; what is not translated is missing."""
    compiled = io.BytesIO()
    write_mo(compiled, catalogue(path))
    compiled.seek(0)
    return GNUTranslations(compiled)


def catalogue(path: Path) -> Catalog:
    """All entries of a file."""
    with path.open("rb") as file:
        return read_po(file, locale=path.stem)
