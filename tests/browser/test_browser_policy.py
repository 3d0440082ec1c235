"""What the content security policy forbids; that no page of the app wants any of it.

Each test with a browser holds the second, where it is: its console says what a page was refused.
"""

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
    """Were somebody's script to run on a page, it could not tell anybody what it read; nor is what
    a visitor typed told to the site where a link leads."""
    page, heard = reader.new_page(), []

    def hear(route):
        heard.append(route.request.headers.get("referer"))
        route.abort()

    page.route(f"{ELSEWHERE}**", hear)
    page.goto(f"{address}/masks?text=a+private+sentence")
    page.locator(".hero").first.wait_for()
    assert [page.evaluate(REFUSED, [act, ELSEWHERE]) for act in ACTS] == list(ACTS)
    assert not heard
    with page.expect_event("requestfailed"):
        page.evaluate("(there) => { location.href = there; }", ELSEWHERE)
    assert heard == [None]
    page.close()
