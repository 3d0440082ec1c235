"""Every page in both themes, on a projector and on a phone, for eyes and for screen readers."""

import pytest
from axe_playwright_python.sync_playwright import Axe

from explainers.charts.theme import THEMES
from tests.support.browser_fixtures import PAGES, WINDOW, Visit

PROJECTOR, PHONE = (1024, 768), (390, 844)

STREAMLITS_OWN = {
    "list": "[data-testid=stSidebarNavItems]",
    "listitem": "[data-testid=stSidebarNavItems] *",
}
"""axe's rule: the elements that break it without our doing.

list, listitem: the navigation puts the titles of its sections between the items of its list.
"""

BROKEN = """(own) => axe.run(document, { resultTypes: ['violations'], elementRef: true }).then(
  (found) => found.violations.flatMap((rule) => rule.nodes
    .filter((node) => !(own[rule.id] && node.element.matches(own[rule.id])))
    .map((node) => [rule.id, node.html.slice(0, 200), node.failureSummary])))"""

OUTSIDE = """() => {
  const main = document.querySelector('[data-testid=stMain]'), found = [];
  const scrolls = (e) => /auto|scroll|hidden/.test(getComputedStyle(e).overflowX);
  const look = (node) => {
    for (const child of node.shadowRoot?.children ?? node.children) {
      const { left, right, width } = child.getBoundingClientRect();
      const unseen = child.matches('[data-testid=stSlider] input'); // Streamlit's
      const outside = width && (right > innerWidth + 1 || left < -1);
      if (outside && !unseen) found.push(child.outerHTML.slice(0, 200));
      if (!scrolls(child)) look(child);
    }
  };
  look(main);
  if (document.documentElement.scrollWidth > innerWidth) found.push('the document scrolls');
  if (main.scrollWidth > main.clientWidth) found.push('the page scrolls');
  return found;
}"""
"""What stands out of the window; what scrolls within itself may be wider."""

COLOURS = """() => [
  getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor,
  ...[...document.querySelectorAll('[data-testid=stBidiComponentIsolated]')].flatMap((host) =>
    [...host.shadowRoot.querySelectorAll('td.cell')].map((cell) => cell.style.backgroundColor)),
  ...[...document.querySelectorAll('.vega-embed :is(svg, canvas)')].map((chart) =>
    chart.style.backgroundColor),
]"""

WATCH = """() => {
  const hosts = '[data-testid=stBidiComponentIsolated]';
  globalThis.worn = new Set();
  const look = () => {
    for (const host of document.querySelectorAll(hosts)) {
      const colour = host.shadowRoot.querySelector('.hero')?.style.getPropertyValue('--query');
      if (colour) globalThis.worn.add(colour);
    }
    requestAnimationFrame(look);
  };
  look();
}"""
"""In every frame from now on: the colour of queries in every first picture."""


def each_page(test):
    return pytest.mark.parametrize("path", PAGES.values(), ids=PAGES)(test)


def shown(visit: Visit, size):
    """A page in a window of another size, drawn anew."""
    visit.page.set_viewport_size({"width": size[0], "height": size[1]})
    visit.page.evaluate(
        "() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))"
    )
    return visit.ready()


@each_page
def test_every_look_of_a_page(visit, path):
    """One visit, by night on a phone first: a page that is loaded in a small window may grow."""
    one = visit(path, scheme="dark", size=PHONE)
    assert one.page.evaluate(OUTSIDE) == []
    assert violations(shown(one, PROJECTOR)) == []
    assert one.page.evaluate(COLOURS)[0] == "rgb(15, 18, 22)"
    one.page.emulate_media(color_scheme="light")
    one.page.wait_for_function(f"() => ({COLOURS})()[0] === 'rgb(255, 255, 255)'")
    assert shown(one, PROJECTOR).page.evaluate(OUTSIDE) == []
    assert violations(shown(one, WINDOW)) == []


def violations(visit):
    """What axe-core finds, in shadow roots as well, and Streamlit has not brought along."""
    if not visit.page.evaluate("'axe' in globalThis"):
        visit.page.evaluate(Axe().axe_script)
    return visit.page.evaluate(BROKEN, STREAMLITS_OWN)


@pytest.mark.parametrize("path", ["", "scores"])
def test_pictures_follow_the_theme(visit, path):
    light, dark = visit(path), visit(path, scheme="dark")
    in_light, in_dark = light.page.evaluate(COLOURS), dark.page.evaluate(COLOURS)
    different = [a != b for a, b in zip(in_light, in_dark, strict=True)]
    assert sum(different) > 0.9 * len(different)
    assert different[0]
    assert all(different[-3:])
    assert [panel[0] for panel in light.drawn()] == [panel[0] for panel in dark.drawn()]


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
def test_a_picture_wears_the_theme_from_its_first_frame(visit, theme):
    one = visit("tokens", scheme=theme.name)
    one.page.evaluate(WATCH)
    one.turn_to("scores")
    assert one.page.evaluate("() => [...globalThis.worn]") == [theme.query]


def test_a_question_is_asked_on_a_phone(visit):
    one = visit("", scheme="dark", size=PHONE, predict="true")
    assert one.page.evaluate(OUTSIDE) == []
    assert violations(one) == []
