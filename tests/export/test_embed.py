"""One picture as one file: how large it is, and what it does in a frame of somebody's page."""

import json
import re
import shutil
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from explainers.export.embed import write_embed
from explainers.export.one_file import (
    HEROES,
    MOST,
    STYLE,
    drop_unused,
    squeeze_style,
    subtract,
    write_script,
)
from explainers.export.visit import PAGES
from tests.golden.kept import load_models, read_kept
from tests.heroes.scenes import ROOMS, SCENES
from tests.support.scripts import SCRIPTS, run_script

LIVE = "https://attention.example/app"
FRAME = """<!doctype html><meta http-equiv="Content-Security-Policy"
  content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; frame-src *">
<iframe src="masks.html?theme=dark&lang=vi&rule=prefix&word=4" sandbox="allow-scripts allow-popups"
  style="width: 900px; height: 300px"></iframe>
<script>
addEventListener("message", ({ data, source }) => {
  const frame = document.querySelector("iframe");
  if (source === frame.contentWindow && data.subject === "lti.frameResize")
    frame.style.height = `${data.height}px`;
});
</script>"""
FITS = """() => new Promise((done) => {
  const look = () => document.documentElement.scrollHeight <= innerHeight
    ? done() : requestAnimationFrame(look);
  look();
})"""


@pytest.fixture(scope="module")
def masks(tmp_path_factory):
    file = tmp_path_factory.mktemp("embed") / "masks.html"
    file.write_text(write_embed("masks", ["en", "vi"], LIVE, "mask=window"), encoding="utf-8")
    return file


def say_at_first(page):
    """The sentence that was recorded. A file asks its reader first, as study mode does."""
    views = read_kept(PAGES[page], SCENES)
    usual, study = (f"{link}, {ROOMS[1280]} px" for link in ("as it opens", "study mode"))
    return dict(views.get(study, views[usual])[1][:1])["says"]


@pytest.mark.rotating(8)
@pytest.mark.parametrize("page", PAGES)
def test_a_file_opens_from_a_folder_and_says_what_the_app_says(page, quiet_page, tmp_path):
    load_models()
    file = tmp_path / f"{page}.html"
    file.write_text(write_embed(page, ["en", "vi"], LIVE), encoding="utf-8")
    assert file.stat().st_size <= MOST
    quiet_page.goto(file.as_uri())
    expect(quiet_page.locator(".hero[aria-label]")).to_be_visible()
    says = say_at_first(page)
    expect(quiet_page.locator(".hero .says")).to_have_text(says, use_inner_text=False)
    assert quiet_page.faults == []
    assert quiet_page.asked == [file.as_uri()]


def test_a_file_lives_in_a_frame(masks, served, quiet_page):
    """With a sandbox, in a page that may load nothing: it wears and says what its address asks
    for, and its frame becomes as high as it is."""
    address, folder = served
    shutil.copy(masks, folder)
    (folder / "frame.html").write_text(FRAME, encoding="utf-8")
    quiet_page.goto(f"{address}/frame.html")
    frame = quiet_page.frame_locator("iframe")
    expect(frame.locator(".hero .says")).to_contain_text("Mặt nạ tiền tố")
    expect(frame.locator("body")).to_have_css("background-color", "rgb(15, 18, 22)")
    link = frame.locator(".source a")
    expect(link).to_have_attribute("href", f"{LIVE}/masks?rule=prefix&word=4")
    [inner] = quiet_page.frames[1:]
    inner.evaluate(FITS)
    frame.locator(".experiments .card button").nth(2).click()
    expect(frame.locator(".experiments .card.on")).to_have_count(1)
    expect(link).to_have_attribute("href", re.compile("rule=chunk"))
    inner.evaluate(FITS)
    assert quiet_page.faults == []
    assert all(url.startswith(address) for url in quiet_page.asked)


def test_a_file_opens_with_choices_and_refuses_what_cannot_be(masks, quiet_page):
    quiet_page.goto(masks.as_uri())
    expect(quiet_page.locator(".hero .says")).to_contain_text("The window mask hides")
    quiet_page.goto(f"{masks.as_uri()}?{urlencode({'rule': '<b>x</b>', 'word': '99'})}")
    notice = quiet_page.locator(".needs-app")
    expect(notice).to_contain_text("The link asks for rule = <b>x</b>. Use one of full, causal")
    expect(notice).to_contain_text("The link asks for word = 99.")
    expect(quiet_page.locator(".hero .says")).to_contain_text("The causal mask hides")
    quiet_page.goto(f"{masks.as_uri()}?text=My+cat")
    live = f"{LIVE}/masks?text=My+cat"
    expect(notice.locator("a")).to_have_attribute("href", live)
    assert quiet_page.faults == []


def test_a_copy_says_where_the_app_is_and_no_folder(masks, quiet_page):
    quiet_page.goto(masks.as_uri())
    with quiet_page.expect_download() as saved:
        quiet_page.get_by_role("button", name="Copy as picture").click()
    assert saved.value.path().read_bytes().startswith(b"\x89PNG")
    address = quiet_page.locator(".source a").get_attribute("href")
    assert address == f"{LIVE}/masks?rule=window"
    assert quiet_page.faults == []


def test_another_language_is_told_by_what_is_other():
    english = {"title": "Masks", "data": {"texts": {"a": "one", "b": "two"}, "rows": [1, 2]}}
    other = {"title": "Mặt nạ", "data": {"texts": {"a": "một", "b": "two"}, "rows": [1, 2]}}
    changes = subtract(other, english)
    assert changes == {"title": "Mặt nạ", "data": {"texts": {"a": "một"}}}
    module = (SCRIPTS / "static" / "answers.js").as_uri()
    both = f"{json.dumps(english)}, {json.dumps(changes)}"
    script = f'import {{ merge }} from "{module}"; console.log(JSON.stringify(merge({both})));'
    assert json.loads(run_script(script)) == other


def test_a_style_keeps_the_classes_that_scripts_name():
    style = ".hero .says{a:b}\n.gone .says{a:b}\n.tall-3,.gone{a:b}\n@media print{.gone{a:b}}\n"
    kept = drop_unused(style, 'element("hero says"); `tall-${count}`', "deck")
    assert kept == ".hero .says{a:b}\n.tall-3,.gone{a:b}\n@media print{.gone{a:b}}"


@pytest.mark.parametrize("kind", HEROES)
def test_a_file_has_all_of_its_own_picture_s_style(kind):
    root, script = kind.replace("_", "-"), write_script(kind)
    own = re.findall(rf"^\.{root} [^{{}}]*\{{[^{{}}]*\}}", squeeze_style(STYLE), re.MULTILINE)
    assert [rule for rule in own if json.dumps(rule)[1:-1] not in script] == []


def test_the_app_offers_its_picture_as_a_file(visit, quiet_page, tmp_path):
    """With the choices of now; of what a server draws it has what is shown."""
    app = visit("masks", rule="window")
    app.radio("prefix").click()
    app.expect_said("prefix mask")
    app.press("Embed")
    line = app.hero.get_by_label("HTML for your page")
    expect(line).to_have_value(re.compile('<iframe src="masks.html" title="Masks"'))
    with app.page.expect_download() as saved:
        app.hero.get_by_role("link", name="Save masks.html").click()
    file = tmp_path / saved.value.suggested_filename
    saved.value.save_as(file)
    assert file.stat().st_size <= MOST
    quiet_page.goto(f"{file.as_uri()}?theme=dark")
    says = quiet_page.locator(".hero .says")
    expect(says).to_have_text(app.says.inner_text(), use_inner_text=True)
    source = quiet_page.locator(".source a")
    expect(source).to_have_attribute("href", f"{app.address}/masks?rule=prefix")
    quiet_page.get_by_role("radio", name="untrained").click()
    expect(quiet_page.locator(".needs-app")).to_contain_text("This choice needs the app")
    expect(quiet_page.get_by_role("radio", name="trained", exact=True)).to_be_checked()
    assert quiet_page.faults == []
