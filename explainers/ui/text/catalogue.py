"""Catalogues of translations: read for `gettext`, and brought up to date by this command.

python -m explainers.ui.text.catalogue                 what is new comes in empty, what is gone goes
python -m explainers.ui.text.catalogue merge PAGE FILE a page's sections, from a Markdown file
python -m explainers.ui.text.catalogue fill FILE       what another .po file has translated
"""

import argparse
import io
from gettext import GNUTranslations
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from explainers.ui.text.language import TEXTS

HEADER = """# {name}
msgid ""
msgstr ""
"Language: {language}\\n"
"Content-Type: text/plain; charset=utf-8\\n"
"Content-Transfer-Encoding: 8bit\\n"

"""
"""Without the dates that the format knows: they would change with every run."""
Translated = dict[tuple[str | None, str], str]


def translations(path: Path) -> GNUTranslations:
    """The words of a file, ready to be looked up; what is not translated is missing."""
    compiled = io.BytesIO()
    write_mo(compiled, read(path))
    compiled.seek(0)
    return GNUTranslations(compiled)


def read(path: Path) -> Catalog:
    """All entries of a file."""
    with path.open("rb") as file:
        return read_po(file)


def words_of(path: Path) -> Translated:
    """(name of its section or None, English): translation, if there is one."""
    found = ((entry.context, entry.id, entry.string) for entry in read(path) if entry.id)
    return {(name, str(text)): str(words) for name, text, words in found if words}


def written(path: Path, words: Translated) -> str:
    """The file with these translations and all texts that there are now, the missing ones empty.

    Without the lines where texts stand it changes only when they do.
    """
    from explainers.ui.text.collected import texts

    with path.open(encoding="utf-8") as file:
        name = file.readline().strip("# \n")
    catalog = Catalog()
    for text in texts():
        said = words.get((text.name, text.text), "")
        catalog.add(text.text, said, [(text.file, text.line)], context=text.name)
    entries = io.BytesIO()
    write_po(entries, catalog, 0, sort_by_file=True, include_lineno=False, omit_header=True)
    return HEADER.format(name=name, language=path.stem) + entries.getvalue().decode()


def sections_of(page: str, file: Path) -> Translated:
    """The sections of a page in another language, from a file of the same form as the page's."""
    from explainers.ui.page import read_sections, sections

    english = sections(page)
    found = read_sections(file.read_text(encoding="utf-8"))
    unknown = set(found) - set(english)
    if unknown:
        raise SystemExit(f"{page} has no sections {', '.join(sorted(unknown))}")
    return {(f"{page}/{name}", english[name]): text for name, text in found.items()}


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--language", default="vi", help="the file's name: assets/text/<it>.po")
    commands = parser.add_subparsers(dest="command")
    merge = commands.add_parser("merge")
    merge.add_argument("page")
    merge.add_argument("file", type=Path)
    commands.add_parser("fill").add_argument("file", type=Path)
    asked = parser.parse_args()
    path = TEXTS / f"{asked.language}.po"
    words = words_of(path)
    if asked.command == "merge":
        words |= sections_of(asked.page, asked.file)
    if asked.command == "fill":
        words |= words_of(asked.file)
    path.write_text(written(path, words), encoding="utf-8")
    texts = [entry for entry in read(path) if entry.id]
    lacking = sum(1 for entry in texts if not entry.string)
    print(f"{path.name}: {len(texts)} texts, {lacking} not translated")


if __name__ == "__main__":
    main()
