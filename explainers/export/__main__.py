"""Write the course as files: `python -m explainers.export site`; or one picture as one file:
`python -m explainers.export --embed masks --choices "mask=window" masks.html`."""

import argparse
import html
import logging
import os
import sys
from pathlib import Path

LIVE = "http://localhost:8501"


def main(asked: list[str] | None = None, called: str = "python -m explainers.export") -> int:
    """Write what is asked for; 1 if it cannot be. `called` is what was typed before it."""
    told = (__doc__ or "").replace("python -m explainers.export", called)
    parser = argparse.ArgumentParser(prog=called, description=told)
    parser.add_argument("to", type=Path, help="the file, or the folder of the site")
    parser.add_argument("--embed", metavar="PAGE", help="write this page's picture as one file")
    parser.add_argument("--choices", default="", help='the file opens with them: "rule=window"')
    parser.add_argument("--languages", default="en,vi", help="the first is the usual one")
    parser.add_argument("--pages", default="", help="those of the site, of all: masks,scores")
    parser.add_argument("--live", default=os.environ.get("ATTENTION_LIVE", LIVE))
    options = parser.parse_args(asked)
    if not options.live.startswith(("https://", "http://")):
        parser.error(
            f"no app can be at {options.live!r}; give its address by --live or ATTENTION_LIVE"
        )
    from explainers.export.visit import PAGES  # the help needs no Streamlit
    from explainers.ui.text.language import list_languages

    if unknown := {*options.languages.split(",")} - {*list_languages()}:
        known = ", ".join(list_languages())
        parser.error(f"there is no language {min(unknown)!r}; use some of {known}")
    pages = options.pages.split(",") if options.pages else [*PAGES]
    for page in [options.embed] if options.embed else pages:
        if page not in PAGES:
            parser.error(f"there is no page {page!r}; use some of {', '.join(PAGES)}")
    logging.disable(logging.WARNING)  # Streamlit's, of a page that nobody visits
    try:
        return _write_embed(options) if options.embed else _write_site(options, pages)
    finally:
        logging.disable(logging.NOTSET)


def _write_site(options: argparse.Namespace, pages: list[str]) -> int:
    from explainers.export.site import Site

    site = Site(options.to, options.languages.split(","), options.live.rstrip("/"))
    for name, size in site.write(pages).items():
        print(f"{name}: {size / 1000:.0f} kB")
    return 0


def _write_embed(options: argparse.Namespace) -> int:
    from explainers.export.embed import ChoiceError, write_embed
    from explainers.export.one_file import FRAME

    live = options.live.rstrip("/")
    try:
        file = write_embed(options.embed, options.languages.split(","), live, options.choices)
    except ChoiceError as error:
        print(error, file=sys.stderr)
        return 1
    options.to.write_text(file, encoding="utf-8")
    print(f"{options.to}: {len(file.encode()) / 1000:.0f} kB", file=sys.stderr)
    print(FRAME.format(address=html.escape(options.to.name), title=html.escape(options.embed)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
