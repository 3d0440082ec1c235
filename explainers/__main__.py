"""What this package does from a command line: `attention`, where it is installed.

attention memory CONFIG …     how many bytes a KV cache takes, and which GPU holds it
attention look WHAT TEXT …    all heads of a model, or weights of a .npy file, in one picture
attention export FOLDER …     the pages as files that need no server
attention serve …             the pages in a browser; the options are those of `streamlit run`

Each tells its options by --help.
"""

import argparse
import json
import os
import runpy
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from explainers.folders import ASSETS, ROOT
from explainers.models.registry import READ_FOLDERS_VARIABLE, ModelError

PROJECT = "attention-step-by-step"
EXTRAS = {"memory": "transformers", "look": "transformers", "export": "app", "serve": "app"}
"""Of each command the extra with all that it may need."""
BAD_INPUT = 2
"""Exit status, as argparse has it for arguments that it refuses."""


def main(arguments: list[str] | None = None) -> int:
    """Run a command; what it returns is how the process ends: 2 if it cannot be done."""
    name, *rest = (sys.argv[1:] if arguments is None else arguments) or ["--help"]
    if name not in EXTRAS:
        is_asked = name in ("-h", "--help")
        said = __doc__ if is_asked else f"There is no command {name[:40]!r}.\n\n{__doc__}"
        print(said, file=sys.stdout if is_asked else sys.stderr)
        return 0 if is_asked else BAD_INPUT
    try:
        if EXTRAS[name] == "app":
            find_app()
        if name in ("look", "serve"):
            return draw_heads(rest) if name == "look" else serve(rest)
        own = import_module(f"{__package__}.{name}.__main__")
        return int(own.main(rest, f"attention {name}"))
    except (ModelError, OSError) as error:
        problem = str(error)
    except ImportError as error:
        if not error.name or error.name.split(".")[0] == __package__:
            raise  # a fault of ours
        problem = f"{error.name} is not installed: pip install '{PROJECT}[{EXTRAS[name]}]'"
    print(f"attention {name}: {problem}", file=sys.stderr)
    return BAD_INPUT


def draw_heads(arguments: list[str]) -> int:
    """`look`: write the picture that a notebook would show; numpy is enough for given weights."""
    parser = argparse.ArgumentParser(
        prog="attention look", description="Write all heads on a text as one picture."
    )
    add = parser.add_argument
    add(
        "what",
        help="a .npy file of weights (layers, heads, q_len, kv_len); or a model: its folder, or "
        "owner/name of one that is on this machine",
    )
    add("text", help="of weights: tokens with spaces between, or a .json list; of a model: any")
    add("--keys", help="tokens of the keys, where weights look at another text")
    add("--to", default="heads.html", type=Path, help="its end says what: .html, .svg, .csv …")
    add("--names", action="store_true", help="measure what a model's heads do, on fixed texts")
    asked = parser.parse_args(arguments)
    from explainers.notebook.look import look

    if asked.what.endswith(".npy"):
        keys = read_tokens(asked.keys) if asked.keys else None
        picture = look(weights=asked.what, tokens=read_tokens(asked.text), key_tokens=keys)
    else:
        from explainers.models.load import is_on_disk, load_model

        os.environ.setdefault(READ_FOLDERS_VARIABLE, "1")  # whoever types this owns the machine
        if not is_on_disk(asked.what):
            way = f"python -m explainers.models fetch {asked.what}"
            raise ModelError(
                "{name} is not on this machine; to bring it: {way}", name=asked.what, way=way
            )
        model = load_model(asked.what)
        picture = look(model.model, model.tokenizer, asked.text, names=asked.names)
    print(picture.save(asked.to))
    return 0


def read_tokens(text: str) -> list[str]:
    """Tokens of a .json file, which may have spaces in them, or with spaces between."""
    if not text.endswith(".json"):
        return text.split()
    try:
        tokens = json.loads(Path(text).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError("{file} is no file of JSON: {error}", file=text, error=error) from None
    if not isinstance(tokens, list) or not all(isinstance(one, str) for one in tokens):
        raise ModelError('{file} holds no list of tokens, such as ["The", " cat"].', file=text)
    return tokens


def serve(arguments: list[str]) -> int:
    """`serve`: until the process is told to end."""
    sys.argv = ["streamlit", "run", str(ROOT / "app.py"), *arguments]
    runpy.run_module("streamlit", run_name="__main__")
    return 0


def find_app() -> None:
    """Raise ImportError where the app's packages, or its weights, are not there."""
    for package in ("streamlit", "altair"):
        if find_spec(package) is None:
            raise ImportError(name=package)
    if not (ASSETS / "weights").is_dir():
        raise ImportError(name=f"{PROJECT}-weights")


if __name__ == "__main__":
    sys.exit(main())
