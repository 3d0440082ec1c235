"""The rules of this house. Whoever finds a better rule changes it here, in the open."""

import ast
import functools
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from tests.support.rules import each, name

ROOT = Path(__file__).parents[2]
PAGES = sorted(ROOT.glob("pages/*.py"))
EXPLAINERS = sorted(ROOT.glob("explainers/**/*.py"))
ATTENTION = sorted(ROOT.glob("explainers/attention/**/*.py"))
PRODUCT = [ROOT / "app.py", ROOT / "contents.py", *PAGES, *EXPLAINERS]
DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/*.md"))]
WORKSHOP = sorted(ROOT.glob("workshop/**/*.py"))
TOOLS = sorted([*WORKSHOP, *ROOT.glob("tests/**/*.py"), *ROOT.glob("benchmarks/*.py")])
FILES = "".join(
    f"/{path}\n"
    for top in ROOT.iterdir()
    if top.name[0] != "." or top.name in (".ci", ".streamlit")
    for path in [top, *top.rglob("*")]
)
"""Every file and folder that is ours, a line each."""
CODE = "".join(path.read_text(encoding="utf-8") for path in [*PRODUCT, *TOOLS])

RETIRED = {
    "n_head": "num_heads",
    "nh": "num_heads",
    "h": "num_heads",
    "n_kv_groups": "num_kv_heads",
    "n_query_groups": "num_kv_heads",
    "n_rep": "group_size",
    "hs": "head_dim",
    "head_size": "head_dim",
    "n_embd": "d_model",
    "att": "weights",
    "p_attn": "weights",
    "context_vec": "output",
    "B": "batch",
    "T": "q_len",
    "C": "d_model",
}
"""Words that do not come back, and what we say instead."""
COMES_WITH_CUDA = {"triton"}
"""Torch's CUDA build brings it along; without a GPU only tests need it."""
NEEDED_BY_TRANSFORMERS = {"accelerate", "gguf", "sentencepiece"}
"""To spread a model over GPUs, to read packed weights, and some tokenizers."""
USED_BY_STREAMLIT = {"httptools", "uvloop"}
"""Where they are installed: they serve faster."""
HOSTS = {"https://huggingface.co", "https://*.hf.space", "http://localhost", "http://www.w3.org"}
"""Of these the last is asked for nothing: it is in the name of SVG."""


@functools.cache
def tree(path):
    return ast.parse(path.read_text(encoding="utf-8"))


@functools.cache
def nodes(path):
    return tuple(ast.walk(tree(path)))


@functools.cache
def imports(path):
    """Full names of the modules that a file imports, wherever in it."""
    return tuple(_list_imports(path))


def _list_imports(path):
    for node in nodes(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name(path)} has a relative import"
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                is_module = (ROOT / full.replace(".", "/")).with_suffix(".py").exists()
                yield full if is_module else node.module


def third_party(paths):
    """The packages, by their names on the index, that files import from outside."""
    ours = {"app", "contents", "pages", "explainers", "workshop", "benchmarks", "tests"}
    found = {module.split(".")[0] for path in paths for module in imports(path)}
    packages = metadata.packages_distributions()
    return {packages[module][0].lower() for module in found - ours - sys.stdlib_module_names}


def pins(file):
    """name: version of every requirement here; anything but `name==version` is refused."""
    lines = [line.split("#")[0].strip() for line in (ROOT / file).read_text().splitlines()]
    form = r'^([\w-]+)==([\w.]+)(?:; sys_platform (==|!=) "(\w+)")?$'
    found = [re.findall(form, line)[0] for line in lines if line]
    return {
        name: version
        for name, version, sign, system in found
        if not sign or (sign == "==") == (system == sys.platform)
    }


@pytest.mark.parametrize(
    ("start", "heavy"),
    [
        ("app.py", {"torch", "redis", "transformers", "altair", "pandas", "babel"}),
        ("contents.py", {"torch", "transformers", "altair", "pandas", "babel"}),
        ("pages/01_start.py", {"transformers", "altair", "pandas", "babel"}),
        ("explainers/__init__.py", {"torch", "transformers", "altair", "pandas", "streamlit"}),
        ("pages/10_cache_memory.py", {"torch", "transformers", "altair", "pandas"}),
    ],
)
def test_what_is_heavy_is_imported_where_it_is_needed(start, heavy):
    ours = [module for module in imports(ROOT / start) if module.startswith("explainers")]
    code = f"import sys, {', '.join(ours)}; print(*sys.modules)"
    run = [sys.executable, "-c", code]
    loaded = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert not heavy & set(loaded.split())


@each(EXPLAINERS + WORKSHOP + PAGES)
def test_a_page_is_read_in_one_go_and_a_mechanism_fits_on_a_screen(path):
    most = 150 if path in PAGES else 100 if path in ATTENTION else 400
    assert len(path.read_text(encoding="utf-8").splitlines()) <= most


@each(ATTENTION)
def test_a_teaching_function_shows_everything_it_does(path):
    for function in nodes(path):
        if not isinstance(function, ast.FunctionDef):
            continue
        what = f"{name(path)}: {function.name}"
        decorators = {ast.unparse(decorator) for decorator in function.decorator_list}
        is_kernel = decorators == {"triton.jit"}  # all that a GPU does without a word from outside
        most = 80 if is_kernel else 20
        lines = (function.end_lineno or 0) - function.lineno
        assert lines < most, f"{what} has more than {most} lines"
        if is_kernel:
            continue
        # Two exceptions: a size is read off a shape, and rules are objects, to combine with `&`.
        agreed = {"Rule"} if path.name == "masks.py" else {"property"}
        assert decorators <= agreed, f"{what} has a decorator"
        asked = function.args
        assert asked.kwarg is None, f"{what} takes **{asked.kwarg and asked.kwarg.arg}"
        positional = [*asked.posonlyargs, *asked.args]
        optional = positional[len(positional) - len(asked.defaults) :]
        optional += [
            argument
            for argument, default in zip(asked.kwonlyargs, asked.kw_defaults, strict=True)
            if default is not None
        ]
        assert "mask" not in {argument.arg for argument in optional}, f"{what}: mask is optional"
        every = {argument.arg for argument in [*positional, *asked.kwonlyargs]}
        assert not every & {"dropout", "device", "dtype"}, f"{what} does more than its mechanism"


@each(PRODUCT + TOOLS)
def test_one_word_for_one_thing(path):
    words = set()
    for node in nodes(path):
        match node:
            case ast.Name(id=word) | ast.arg(arg=word) | ast.keyword(arg=word):
                words.add(word)
            case ast.FunctionDef(name=word) | ast.ClassDef(name=word) | ast.alias(asname=word):
                words.add(word)
            case ast.Attribute(attr=word) if word != "T":  # torch's own name for the transpose
                words.add(word)
    if path in ATTENTION:
        shapes = re.findall(r"# (\(.*\))$", path.read_text(encoding="utf-8"), re.MULTILINE)
        words |= set(re.findall(r"\w+", " ".join(shapes)))
    assert {old: new for old, new in RETIRED.items() if old in words} == {}


@each(PAGES)
def test_a_page_leaves_state_address_and_its_end_to_others(path):
    """`st.stop` ends the app's script as well, and with it the way to the next page."""
    source = path.read_text(encoding="utf-8")
    assert "session_state" not in source
    assert "query_params" not in source
    assert "st.stop(" not in source, "take explainers.ui.page.end_page"


def test_the_contents_list_every_page_once():
    assert sorted(path for path, _ in contents()) == [name(path) for path in PAGES]


def contents():
    """(path, title) of every page, in the order in which `contents.py` lists them."""
    for table in nodes(ROOT / "contents.py"):
        if isinstance(table, ast.Dict):
            pairs = zip(map(text_of, table.keys), map(text_of, table.values), strict=True)
            yield from ((path, title) for path, title in pairs if path and title)


def text_of(node):
    """The text that a piece of code is, also where it is marked to be translated, or nothing."""
    node = node.args[0] if isinstance(node, ast.Call) and node.args else node
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def test_the_readme_shows_the_way_and_lists_the_pages_as_the_contents_do():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    folders = [p for p in [*ROOT.iterdir(), *(ROOT / "explainers").iterdir()] if p.is_dir()]
    names = [f"{p.name}/" for p in folders if p.name[0] not in "._"]
    names += [p.name for p in ROOT.glob("explainers/*.py")]
    assert [n for n in names if n not in readme and n != "__init__.py"] == []
    titles = [title for _, title in contents()]  # a page need not be here at once
    listed = [t for t in re.findall(r"^\| (.*?) \|", readme, re.MULTILINE) if t in titles]
    assert listed == [title for title in titles if title in listed]
    table = readme.split(f"| {titles[0]} |")[1].split("\n\n")[0]
    assert table.count("\n") + 1 == len(listed), "every row is a page's"


SPOKEN = [*DOCUMENTS, *sorted((ROOT / "assets/text").rglob("*.md")), *ROOT.glob("assets/text/*.po")]


@each([*PRODUCT, *TOOLS, *SPOKEN])
def test_no_page_is_cited_by_its_number(path):
    """Pages move; their names and addresses stay."""
    said = path.read_text(encoding="utf-8")
    assert re.findall(r"\b(?:pages?|trang) \d+\b", said, re.IGNORECASE) == []


@each(sorted((ROOT / "assets/text/en").glob("*.md")))
def test_a_link_to_a_page_says_its_title(path):
    titles = {page.removesuffix(".py").partition("_")[2]: title for page, title in contents()}
    links = re.findall(r"\[([^]]+)\]\(([a-z_]+)\)", path.read_text(encoding="utf-8"))
    assert [text for text, address in links if titles.get(address) != text] == []


def test_make_offers_what_the_documents_promise():
    documents = "\n".join(path.read_text(encoding="utf-8") for path in DOCUMENTS)
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    promised = set(re.findall(r"(?:^ {4}|`)make ([\w-]+)", documents, re.MULTILINE))
    assert promised == set(re.findall(r"^([\w-]+):.*## ", makefile, re.MULTILINE)) - {"help"}


@each(DOCUMENTS)
def test_what_a_document_names_exists(path):
    document = path.read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)#]+)", document) if "://" not in link]
    assert [link for link in links if not (path.parent / link).exists()] == []
    code = re.findall(r"`([^`\n]+)`", document) + re.findall(r"^ {4}(.+)", document, re.MULTILINE)
    words = set(re.findall(r"[\w./-]+(?:\(\))?", "\n".join(code)))
    assert {word for word in words if not is_known(word)} == set()


def is_known(word):
    """Is there such a file, folder, module or function, if the word names one at all?"""
    if "NN_name" in word:  # whoever adds a page chooses its name
        return True
    if re.fullmatch(r"\.?[\w/-]+(\.(py|js|css|md|po|toml|txt)|/)", word):
        return f"/{word.strip('/')}\n" in FILES
    if re.fullmatch(r"(explainers|workshop|benchmarks)(\.\w+)+", word):
        return any((ROOT / word.replace(".", "/")).with_suffix(end).exists() for end in ("", ".py"))
    if word.endswith("()"):
        return f"def {word[:-2]}(" in CODE or f"class {word[:-2]}" in CODE
    return True


def test_requirements_are_what_is_imported():
    imported = third_party(PRODUCT) - COMES_WITH_CUDA
    assert set(pins("requirements.txt")) == imported | NEEDED_BY_TRANSFORMERS | USED_BY_STREAMLIT


def test_tools_are_pinned_as_well_and_what_is_pinned_is_installed():
    pinned = {**pins("requirements.txt"), **pins("requirements-dev.txt")}
    assert third_party(TOOLS) <= set(pinned)
    assert {p: metadata.version(p).split("+")[0] for p in pinned} == pinned


@each(
    [
        *PRODUCT,
        *WORKSHOP,
        *sorted(ROOT.glob("benchmarks/*.*")),
        *sorted(p for p in ROOT.glob("explainers/**/*.*") if p.suffix in (".js", ".css")),
        *(ROOT / file for file in ["Makefile", ".ci/run", ".streamlit/config.toml"]),
    ]
)
def test_nothing_needs_the_network_or_a_neighbour(path):
    source = path.read_text(encoding="utf-8")
    code = re.sub(r"(^|\s)(#|//) .*", "", source, flags=re.MULTILINE)
    assert set(re.findall(r"\w+://[^\s/:\"'`]+", code)) <= HOSTS
    assert "../shared" not in source


@each(sorted(ROOT.glob("explainers/**/*.css")))
def test_nothing_moves_for_ever(path):
    """In a tab that nobody looks at it would take a part of a core; a motion ends by itself."""
    assert "infinite" not in path.read_text(encoding="utf-8")
