"""The app as a container host makes and runs it: the Dockerfile's own commands, without Docker.

Every answer has its headers, and every page comes with its style, in one piece.
"""

import json
import os
import re
import shlex
import subprocess
import sys
import threading
import tomllib
from fnmatch import fnmatch
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml
from starlette.responses import HTMLResponse, PlainTextResponse, StreamingResponse
from starlette.testclient import TestClient, WebSocketDenialResponse

from app import app
from explainers.models.registry import READ_FOLDERS_VARIABLE
from explainers.ui import browser_files, headers
from explainers.ui.headers import HEADERS, SafeHeaders, StyledPages
from tests.deploy.replicas import ask, free_port, serve

ROOT = Path(__file__).parents[2]
CONFIG = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
SPACE = "https://someone-attention.hf.space"
UPGRADE = {
    "Connection": "Upgrade", "Upgrade": "websocket",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version": "13",
}  # fmt: skip
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
REQUIREMENTS = (ROOT / "requirements.txt").read_text(encoding="utf-8")
FRONT_MATTER = yaml.safe_load((ROOT / "README.md").read_text(encoding="utf-8").split("---\n")[1])


def instruction(name):
    """What stands behind an instruction of the Dockerfile, the last if there are several."""
    return re.findall(rf"^{name} (.*)", DOCKERFILE, re.MULTILINE)[-1]


def command(name):
    """The command of CMD or HEALTHCHECK CMD, with this Python for the image's."""
    python, *arguments = json.loads(instruction(name))
    assert python == "python"
    return [sys.executable, *arguments]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with serve(tmp_path_factory.mktemp("hosting") / "log", command("CMD")) as running:
        yield running


def test_the_health_check_tells_a_running_server_from_a_dead_one(server):
    for port, is_well in ((free_port(), False), (server.port, True)):
        environment = {**os.environ, "PORT": str(port)}
        run = subprocess.run(command("HEALTHCHECK CMD"), env=environment, capture_output=True)
        assert (run.returncode == 0) == is_well


def test_every_response_carries_the_headers(server):
    for path, method, status in (
        ("/", "GET", 200),
        ("/scores", "GET", 200),
        ("/_stcore/health", "GET", 200),
        ("/media/nothing", "GET", 404),
        ("/_stcore/health", "DELETE", 405),
    ):
        response = ask(server.port, path, method)
        assert response.status == status, path
        assert all(response.headers[name.decode()] == value.decode() for name, value in HEADERS)
        policy = response.headers["Content-Security-Policy"]
        assert "frame-ancestors 'self' https://huggingface.co https://*.hf.space" in policy
        assert "script-src 'self' 'sha256-" in policy


SCRIPTS = f"/_stcore/bidi-components/{browser_files.name_package()}.picture-picture"
SCRIPT = f"{SCRIPTS}/picture/picture.js"


def test_a_page_in_a_frame_of_a_course_is_that_page_alone(server, browser):
    """And a browser keeps the scripts until they change: their address changes with them."""
    asked, tab = [], browser.new_page(viewport={"width": 1280, "height": 900})
    tab.on("requestfinished", lambda request: asked.append(request.url))
    for query, is_alone in (("?embed=true", False), ("", True)):
        tab.goto(f"{server.address}/tokens{query}")
        tab.get_by_role("heading", name="Tokens and positions", exact=True).wait_for()
        tab.locator(".st-key-one-sentence").wait_for()
        tab.get_by_role("button", name="Notebook").first.wait_for()
        assert tab.get_by_test_id("stSidebar").is_visible() == is_alone
        assert tab.get_by_role("button", name="Settings").is_visible() == is_alone
        if is_alone:
            tab.locator(".st-key-way-on").wait_for()
        assert tab.locator(".st-key-way-on").count() == is_alone
    tab.close()
    paths = {urlsplit(url).path for url in asked}
    files = {path for path in paths if browser_files.is_our_file(path)}
    assert SCRIPT in files
    for path in {*files, "/"}:
        kept = ask(server.port, path).headers["Cache-Control"]
        assert ("immutable" in kept) == (path in files), "all else is asked for again"
    assert "immutable" not in str(ask(server.port, f"{SCRIPT}-that-is-not-there").headers)


def test_all_of_the_app_lies_below_a_path_that_a_setting_names(tmp_path):
    """As `streamlit run` reads it. A host's probe asks at the root all the same."""
    base = {"STREAMLIT_SERVER_BASE_URL_PATH": "/course/attn/"}
    with serve(tmp_path / "log", command("CMD"), **base) as below:
        for path, status in (
            ("/", 404),
            ("/_stcore/health", 200),
            ("/course/attn/_stcore/health", 200),
            (f"/course/attn/?text={'x' * 9000}", 414),
            *(("/course/attn/health/follow", 200), ("/health/follow", 404)),
            *(("/course/health/follow", 404), ("/other/follow/abcdef", 404)),
        ):
            assert ask(below.port, path).status == status, path


def test_who_may_frame_the_app_is_a_setting(monkeypatch):
    monkeypatch.setenv(headers.FRAMES, "")
    assert headers.read_frames() == "'self' https://huggingface.co https://*.hf.space"
    monkeypatch.setenv(headers.FRAMES, "'self'  https://*.school.example:8443")
    assert headers.read_frames() == "'self' https://*.school.example:8443"


@pytest.mark.parametrize("sites", ["*", "http://a.b", "https://a.b; script-src *", "https://a.b/c"])
def test_what_is_no_site_ends_the_server(sites, monkeypatch):
    monkeypatch.setenv(headers.FRAMES, sites)
    with pytest.raises(SystemExit, match=f"{headers.FRAMES}: .* is neither 'self' nor a site"):
        headers.read_frames()


@pytest.mark.parametrize(
    ("host", "origin", "status"),
    [
        ("localhost:8501", "http://localhost:8501", 200),
        ("127.9.9.9", None, 200),
        ("[::1]:8501", "http://[::1]:8501", 200),
        ("foreign.example:8501", None, 403),
        ("127.0.0.1.foreign.example", None, 403),
        ("localhost", "https://foreign.example", 403),
        ("localhost", "null", 403),
        ("[", None, 403),
    ],
)
@pytest.mark.parametrize("kind", ["http", "websocket"])
def test_where_files_are_read_only_this_computer_asks(host, origin, status, kind, monkeypatch):
    """A foreign site could call itself by this computer's address, and read the answers."""
    assert headers.READ_FOLDERS == READ_FOLDERS_VARIABLE
    given = {"host": host, **({"origin": origin} if origin else {})}

    words = headers.LOCAL_ONLY if status == 403 else "read"
    for is_needed, answer in (("1", (status, words)), ("0", (200, "read"))):
        monkeypatch.setenv(headers.READ_FOLDERS, is_needed)
        client = TestClient(headers.LocalHosts(PlainTextResponse("read")))
        if kind == "http":
            told = client.get("/", headers=given)
        else:
            with pytest.raises(WebSocketDenialResponse) as refused:  # the app accepts none
                client.websocket_connect("/", headers=given).__enter__()
            told = refused.value
        assert (told.status_code, told.text) == answer


def test_any_host_may_serve_and_only_its_own_pages_connect(server):
    for host, origin, status in (
        ("localhost:8501", "http://localhost:8501", 101),
        ("someone-attention.hf.space", SPACE, 101),
        ("someone-attention.hf.space", "https://elsewhere.example", 403),
    ):
        said = {**UPGRADE, "Host": host, "Origin": origin}
        response = ask(server.port, "/_stcore/stream", headers=said)
        assert response.status == status, origin
        assert response.headers["Referrer-Policy"] == "same-origin"


def test_the_settings_hold_wherever_the_server_is_started(tmp_path):
    code = (
        "import explainers.ui.server; from streamlit import config; "
        "print(config.get_option('runner.postScriptGC'), config.get_option('client.toolbarMode'))"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    run = [sys.executable, "-c", code]
    told = subprocess.run(run, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert told.stdout.split() == ["False", "viewer"], told.stderr


def test_the_settings_keep_what_is_promised():
    assert CONFIG["browser"] == {"gatherUsageStats": False, "serverAddress": "localhost"}
    assert CONFIG["client"]["showErrorDetails"] == "none"
    assert CONFIG["client"]["showErrorLinks"] is False
    assert CONFIG["logger"]["enableRich"] is False
    server = CONFIG["server"]
    assert server["maxUploadSize"] <= server["maxWidgetStateSize"] < server["maxMessageSize"] <= 50
    assert server["fileWatcherType"] == "none"
    assert server["enableStaticServing"] is False


def test_a_wait_for_a_script_ends_when_a_browser_has_it():
    """PyTorch is imported when the first visitor's browser can draw the first picture."""
    script = "picture/heroes/waited_for.js"
    waiting = threading.Thread(target=browser_files.await_fetch, args=(script, 60))
    waiting.start()
    waiting.join(0.05)
    assert waiting.is_alive()
    app = TestClient(SafeHeaders(PlainTextResponse("drawn")))
    drawn = app.get(f"/a/course{SCRIPTS}/{script}")
    assert (drawn.text, "immutable" in drawn.headers["cache-control"]) == ("drawn", True)
    waiting.join(10)
    assert not waiting.is_alive()


def test_the_image_is_made_for_a_space():
    environment = dict(pair.split("=", 1) for pair in shlex.split(instruction("ENV")))
    assert instruction("EXPOSE") == environment["PORT"] == str(FRONT_MATTER["app_port"])
    [(uid, user)] = re.findall(r"useradd .*--uid (\d+) (\w+)", DOCKERFILE)
    assert uid == "1000"
    assert instruction("USER") == user
    assert environment["HOME"] == f"/home/{user}"
    copied = "COPY --chown=user "
    steps = f"{copied}requirements.txt", "pip install", f"{copied}. .", "explainers.models fetch"
    assert [*steps] == sorted(steps, key=DOCKERFILE.index)


def run_steps(tmp_path, step, failing="", **arguments):
    """What a RUN of the Dockerfile does, with a Python that only tells how it was called."""
    [script] = [
        text.replace("\\\n", " ")
        for text in re.findall(r"(?m)^RUN ((?:.*\\\n)*.*)", DOCKERFILE)
        if step in text
    ]
    python = tmp_path / "python"
    python.write_text(
        f'#!/bin/sh\necho "python $*"\ncase "$*" in *"{failing or "nothing"}"*) exit 1;; esac\n'
    )
    python.chmod(0o755)
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}", **arguments}
    done = subprocess.run(
        ["sh", "-c", script], capture_output=True, text=True, cwd=ROOT, env=environment
    )
    calls = [line for line in done.stdout.splitlines() if line.startswith("python ")]
    return done.returncode, calls, done.stderr


def test_every_package_comes_by_its_hash_or_from_torchs_own_index(tmp_path):
    plain = "python -m pip install --no-cache-dir --user --no-deps"
    locked = [f"{plain} --require-hashes -r requirements{kind}.lock" for kind in ("", "-torch")]
    status, calls, _ = run_steps(tmp_path, "pip install")
    assert (status, calls) == (0, [*locked, "python -m pip check"])
    status, calls, _ = run_steps(tmp_path, "pip install", TORCH_INDEX="https://index.example/cpu")
    torch = next(line for line in REQUIREMENTS.splitlines() if line.startswith("torch=="))
    small = f"{plain} --index-url https://index.example/cpu {torch}"
    assert (status, calls) == (0, [locked[0], small, "python -m pip check"])
    assert run_steps(tmp_path, "pip install", failing="requirements.lock")[0] == 1
    for file in ("Dockerfile", "Makefile", "deploy/compose.yaml"):
        assert "extra-index" not in (ROOT / file).read_text().lower().replace("_", "-"), file


def test_an_image_without_its_models_is_made_only_for_who_asks(tmp_path):
    assert run_steps(tmp_path, "explainers.models fetch")[::2] == (0, "")
    failing = {"step": "explainers.models fetch", "failing": "fetch"}
    for wished, expected in ({}, 1), ({"WITHOUT_MODELS": ""}, 1), ({"WITHOUT_MODELS": "1"}, 0):
        status, _calls, said = run_steps(tmp_path, **failing, **wished)
        assert status == expected
        assert "could not be fetched or loaded" in said
        assert "--build-arg WITHOUT_MODELS=1" in said


def test_the_image_holds_what_runs():
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    ignored = [line for line in lines if line and not line.startswith("#")]
    files = "app.py", "contents.py", "requirements.txt", ".streamlit/config.toml"
    needed = [ROOT / file for file in files]
    for folder in ("pages", "explainers", "assets/text"):
        needed += [p for p in (ROOT / folder).rglob("*.*") if "__pycache__" not in p.parts]
    for path in needed:
        place = path.relative_to(ROOT)
        covers = [p for p in ignored for part in (place, *place.parents) if fnmatch(str(part), p)]
        assert not covers, f"{place} is left out by {covers}"


STYLE = Path(headers.__file__).with_name("page_style.css").read_text(encoding="utf-8")
PAGE = "<html><head></head><body>ô</body></html>"


@pytest.mark.parametrize(
    ("address", "packed"), [("/", "identity"), ("/masks", "identity"), ("/masks?lang=vi", "gzip")]
)
def test_streamlits_page_has_the_style_at_its_end(address, packed):
    answer = TestClient(app).get(address, headers={"accept-encoding": packed})
    assert answer.text.count(f"<style>{STYLE}</style></body>") == 1
    assert answer.headers.get("content-encoding", "identity") == packed
    assert not {"etag", "last-modified"} & {*answer.headers}, "of a file that has no such style"


@pytest.mark.parametrize(
    ("answer", "is_styled"),
    [
        (HTMLResponse(PAGE), True),
        (StreamingResponse((PAGE[:20], PAGE[20:]), media_type="text/html"), True),
        (PlainTextResponse(PAGE), False),
        (HTMLResponse(PAGE, 404), False),
    ],
)
def test_only_a_page_is_styled_and_all_of_it_arrives(answer, is_styled):
    got = TestClient(StyledPages(answer)).get("/")
    assert got.text == (
        PAGE.replace("</body>", f"<style>{STYLE}</style></body>") if is_styled else PAGE
    )
    assert TestClient(StyledPages(HTMLResponse(PAGE))).head("/").headers["content-length"] == "41"
