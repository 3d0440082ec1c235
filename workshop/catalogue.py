"""Translations, one file per language: `assets/text/<language>.po`.

python -m workshop.catalogue                 what is new comes in empty, what is gone goes
python -m workshop.catalogue --check         say in a line what is not translated yet
python -m workshop.catalogue merge PAGE FILE a page's sections, from a Markdown file
"""

import argparse
import io
import json
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po, write_po

from explainers.folders import ROOT
from explainers.translations import ENGLISH, TEXTS, load_sections, split_sections
from explainers.ui.untrusted_text import make_title

ExtractedText = tuple[int, str, str | tuple[str, str], list[str]]
"""Line, function that would have been called, its arguments, and comments: Babel's own form."""
COUNT_SOURCE = "n_params_exact: "
"""So begins what the app says of the source of a number; all other sources are quoted."""


def extract_markdown(
    file: BinaryIO, _keywords: Any, _comments: Collection[str], options: Any
) -> Iterator[ExtractedText]:
    """Every section of a page's text; its context is `<page>/<section>`."""
    page = Path(file.name).stem
    for line, (name, text) in enumerate(split_sections(file.read().decode()).items(), start=1):
        yield line, "pgettext", (f"{page}/{name}", text), []


def extract_data(
    file: BinaryIO, _keywords: Any, _comments: Collection[str], options: Any
) -> Iterator[ExtractedText]:
    """Titles of claims and exercises, the sizes of claims, and notes on published models."""
    rows = json.load(file)
    for line, row in enumerate(rows if isinstance(rows, list) else [], start=1):
        for text in _list_texts(row):
            yield line, "gettext", text, []


def _list_texts(row: dict[str, Any]) -> Iterator[str]:
    module, _, function_name = row.get("check", row.get("make", "")).partition(".")
    if function_name and module != "write":  # functions are called by their names in every language
        yield make_title(function_name)
    if "check" in row:
        yield row["part"]
    for size in row.get("parameters", ()) if "check" in row else ():
        yield size["label"]
        yield from (value for value in size["values"] if _is_word(value))
    if "sources" in row and "family" in row:  # a published model
        yield from [row["notes"]] if "notes" in row else []
        yield from (source for source in row["sources"] if source.startswith(COUNT_SOURCE))


def _is_word(value: object) -> bool:
    """Numbers and names of models are the same in every language."""
    return isinstance(value, str) and value.replace(" ", "").isalpha()


EXTRACTORS: list[tuple[str, Any]] = [
    ("contents.py", "python"),
    ("pages/**.py", "python"),
    ("explainers/**.py", "python"),
    ("explainers/**.js", "javascript"),
    ("assets/text/en/*.md", extract_markdown),
    ("assets/*.json", extract_data),
]
KEYWORDS: dict[str, Any] = {
    "_": None,
    "N_": None,
    # Errors and notes mark their text themselves.
    **dict.fromkeys(("BusyError", "HubUnreachableError", "InputError", "MissingFieldError")),
    **dict.fromkeys(("ModelError", "RefusedModelError")),
    "add_note": None,
    "gettext": None,
    "ngettext": (1, 2),
    "pgettext": ((1, "c"), 2),
    # The code that makes an exercise is shown, so nothing stands in it for translators alone.
    "Setting": (2,),
    # A row of the table of masks: its name, and what its number is, where it has one.
    "Mask": {None: (1,), 5: (3,)},
}
FOLDERS = {"", "pages", "explainers", "assets"}
HEADER = """# {name}
msgid ""
msgstr ""
"Language: {language}\\n"
"Content-Type: text/plain; charset=utf-8\\n"
"Content-Transfer-Encoding: 8bit\\n"
"Plural-Forms: {plurals}\\n"

"""
"""Without the dates that the format knows: they would change with every run."""
Translations = dict[tuple[str | None, Any], Any]
"""(context or None, English): translation; both are pairs where the text depends on a number."""


def build_template(language: str = ENGLISH) -> Catalog:
    """All texts that the app has now, with the files in which they stand."""
    catalogue = Catalog(locale=language)
    texts = extract_from_dir(
        ROOT,
        EXTRACTORS,
        keywords=KEYWORDS,
        strip_comment_tags=True,
        directory_filter=_is_source_folder,
    )
    for file, line, text, _, context in texts:
        if text:
            catalogue.add(text, "", [(file, line)], context=context)
    return catalogue


def read_translations(path: Path) -> Translations:
    """What a file has translated."""
    with path.open("rb") as file:
        entries = read_po(file, locale=path.stem)
    return {(e.context, e.id): e.string for e in entries if e.id and e.string and any(e.string)}


def format_catalogue(path: Path, words: Translations) -> str:
    """The file with these translations and all texts that there are now, the missing ones empty.

    Without the lines where texts stand it changes only when they do.
    """
    with path.open(encoding="utf-8") as file:
        name = file.readline().strip("# \n")
    catalogue = build_template(path.stem)
    for entry in catalogue:
        if entry.id:
            entry.string = words.get((entry.context, entry.id), "")
    entries = io.BytesIO()
    write_po(entries, catalogue, 0, sort_by_file=True, include_lineno=False, omit_header=True)
    header = HEADER.format(name=name, language=path.stem, plurals=catalogue.plural_forms)
    return header + entries.getvalue().decode()


def read_page_sections(page: str, file: Path) -> Translations:
    """The sections of a page in another language, from a file of the same form as the page's."""
    english = load_sections(page)
    texts = split_sections(file.read_text(encoding="utf-8"))
    unknown = set(texts) - set(english)
    if unknown:
        raise SystemExit(f"{page} has no sections {', '.join(sorted(unknown))}")
    return {(f"{page}/{name}", english[name]): text for name, text in texts.items()}


def find_missing(path: Path) -> list[Any]:
    """The texts that a language has not, so that English is shown."""
    translations = read_translations(path)
    return [e.id for e in build_template() if e.id and (e.context, e.id) not in translations]


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--language", help="the file's name: assets/text/<it>.po; else all of them")
    parser.add_argument("--check", action="store_true", help="change nothing")
    commands = parser.add_subparsers(dest="command")
    merge = commands.add_parser("merge")
    merge.add_argument("page")
    merge.add_argument("file", type=Path)
    arguments = parser.parse_args()
    pattern = f"{arguments.language}.po" if arguments.language else "*.po"
    for path in sorted(TEXTS.glob(pattern)):
        if not arguments.check:
            words = read_translations(path)
            if arguments.command == "merge":
                words |= read_page_sections(arguments.page, arguments.file)
            path.write_text(format_catalogue(path, words), encoding="utf-8")
        untranslated = find_missing(path)
        print(f"{path.name}: {len(untranslated)} texts are not translated and shown in English")


def _is_source_folder(folder: str) -> bool:
    first, *_inner = (*Path(folder).relative_to(ROOT).parts, "")
    return first in FOLDERS


if __name__ == "__main__":
    main()
