"""What is looked at on a page: its first picture, its extent, what axe finds, what stands out."""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import TimeoutError

PATIENCE = 10_000
"""Milliseconds in which a picture where nothing moves stands."""
LARGE, PROJECTOR, PHONE = (1280, 800), (1024, 768), (390, 844)

SENTENCE_ON_A_PHONE = """() => {
  const box = document.querySelector('.stMainBlockContainer > * > * > .st-key-sentence');
  if (!box) return null;
  const place = (node) => node.getBoundingClientRect(), field = place(box.querySelector('input'));
  const below = place(box).top - place(document.querySelector('.st-key-hero')).bottom;
  const name = place(box.querySelector('label')).height;
  const isRight = below >= 0 && below < 40 && field.width > 300 && name > 10;
  return isRight ? null : { below, width: field.width, name };
}"""
"""Null where it is right; some pages have the field above the picture, beside a choice."""
LEAST = {"top": 260, "width": 0.4, "height": 250, "digits": 13, "bottom": 800, "phone": 844}
"""The lowest place of the picture's top and its least height and digits, in pixels; its width as a
share of the window; and where its sentence ends at the latest in a window of 1280 × 800, and on a
phone."""
SCROLLED = {"kv_cache": 910, "long_sequences": 930, "growing_memory": 1010, "why_it_looked": 890}
SCROLLED |= {"head_gallery": 1160, "does_it_matter": 950, "writing": 1120}
"""Pages whose picture has too many parts for one screen of a phone: where the sentence ends."""
IS_SEEN = """(seen, least) => seen.top <= least.top && seen.width >= least.width &&
  seen.height >= least.height && seen.digits >= least.digits && !seen.scrolls &&
  (innerWidth < 1280 || seen.bottom <= least.bottom) &&
  (innerWidth > 560 || seen.bottom <= least.phone) &&
  seen.folded && seen.says && !seen.says.includes('{{')"""

HERO = """() => {
  const host = [...document.querySelectorAll('[data-testid=stBidiComponentIsolated]')]
    .find((one) => one.shadowRoot.querySelector('.hero'));
  const stage = host.shadowRoot.querySelector('.stage');
  const { top, width, height } = stage.getBoundingClientRect();
  const seen = (node) => {
    for (let at = node; at instanceof Element; at = at.parentElement) {
      const style = getComputedStyle(at);
      if (style.opacity < 0.2 || style.display === 'none') return false;
    }
    return true;
  };
  const digits = [...stage.querySelectorAll('*')].filter((node) =>
    [...node.childNodes].some((one) => one.nodeType === 3 && /[0-9]/.test(one.data)) && seen(node));
  const main = document.querySelector('[data-testid=stMain]');
  const sentence = host.shadowRoot.querySelector('.says'), says = sentence.textContent;
  const { bottom } = sentence.getBoundingClientRect();
  const sizes = digits.map((node) => parseFloat(getComputedStyle(node).fontSize));
  const scrolls = main.scrollWidth > main.clientWidth, smallest = Math.min(...sizes);
  const chips = [...host.shadowRoot.querySelectorAll('.bar > .chips')];
  const folded = innerWidth > 560 || chips.every((one) => !one.offsetParent);
  const told = { scrolls, folded, says };
  return { top, bottom, width: width / innerWidth, height, digits: smallest, ...told };
}"""


MOST = {"height": 3000, "headings": 6, "words": 500, "matrices": 5, "prose": 640, "choices": 3}
"""What a page shows before anything is unfolded: pixels of height at 1,280, headings, words, and
matrices of digits; how wide its paragraphs are below the picture; and what can be chosen above the
picture: the sentence and its examples are one choice."""
MOST_OF_START = MOST | {"height": 2400}
"""The start page is shorter."""
HAS_COME = """() => [...document.querySelectorAll('.st-key-hero > *')]
  .every((one) => getComputedStyle(one).opacity !== '0')"""
"""A picture fades in; what cannot be seen yet is not counted among the choices."""
EXTENT = """() => {
  const page = document.querySelector('[data-testid=stMainBlockContainer]');
  const heroes = [...page.querySelectorAll('[data-testid=stBidiComponentIsolated]')]
    .map((host) => host.shadowRoot.querySelector('.hero')).filter(Boolean);
  const said = heroes.flatMap((hero) => [...hero.querySelectorAll('.says, .hint')]);
  const isSeen = (heading) => heading.offsetParent && heading.innerText.trim();
  const words = [page, ...said].flatMap((one) => one.innerText.match(/\\p{L}{2,}/gu) ?? []);
  const { scrollHeight } = document.querySelector('[data-testid=stMain]');
  const shadows = [...page.querySelectorAll('[data-testid=stBidiComponentIsolated]')];
  const { top } = heroes[0].querySelector('.stage').getBoundingClientRect();
  const seen = { opacityProperty: true, visibilityProperty: true };
  const isAbove = (node) => node.checkVisibility(seen) &&
    node.getBoundingClientRect().bottom <= top + 6;
  const kinds = ['TextInput', 'Selectbox', 'Button', 'ButtonGroup', 'Popover', 'Checkbox'];
  const named = kinds.map((kind) => `[data-testid=st${kind}]`).join(', ');
  const widgets = [...page.querySelectorAll(named)];
  const ofSentence = '.st-key-text, .st-key-preset';
  const frame = '.st-key-page-top';
  const choices = [
    ...widgets.filter((one) => !one.closest(`${ofSentence}, ${frame}`)),
    page.querySelector(ofSentence),
    ...shadows.filter((host) => host.shadowRoot.querySelector('.picker')),
    ...heroes[0].querySelectorAll('.bar > :is(.chips, .film, .dials-slide)'),
  ].filter((one) => one && isAbove(one));
  return { height: scrollHeight,
    matrices: shadows.flatMap((host) => [...host.shadowRoot.querySelectorAll('.panel')])
      .filter((panel) => panel.querySelector('td.cell')?.innerText.trim()).length,
    headings: [...page.querySelectorAll('h1, h2, h3')].filter(isSeen).length,
    prose: Math.max(...[...page.querySelectorAll('.st-key-hero, .stMarkdown p')]
      .map((one, at, all) => all.slice(0, at).some((before) => before.matches('.st-key-hero'))
        && !one.matches('.st-key-hero') ? one.offsetWidth : 0)),
    choices: choices.length, words: words.length };
}"""

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
      const unseen = child.matches('[data-testid=stSlider] input, [inert]'); // Streamlit's; folded
      const outside = width && (right > innerWidth + 1 || left < -1);
      if (outside && !unseen) found.push(child.outerHTML.slice(0, 200));
      if (!scrolls(child) && !child.inert) look(child);
    }
  };
  look(main);
  if (document.documentElement.scrollWidth > innerWidth) found.push('the document scrolls');
  if (main.scrollWidth > main.clientWidth) found.push('the page scrolls');
  return found;
}"""
"""What stands out of the window; what scrolls within itself may be wider."""

COLOURS = """() => [
  ...[...document.querySelectorAll('[data-testid=stBidiComponentIsolated]')].flatMap((host) =>
    [...host.shadowRoot.querySelectorAll('td.cell')].map((cell) => cell.style.backgroundColor)),
  ...[...document.querySelectorAll('.vega-embed :is(svg, canvas)')].map((chart) =>
    chart.style.backgroundColor),
].filter(Boolean)"""
"""Of the cells of matrices and of what charts stand on."""

SENTENCES = """() => [...document.querySelectorAll('[data-testid=stMain] p')]
  .map((one) => one.innerText.trim()).filter((said) => said.length > 60)"""
"""What a page says below its picture."""


FOCUS = """() => {
  let one = document.activeElement;
  while (one?.shadowRoot?.activeElement) one = one.shadowRoot.activeElement;
  if (!one?.closest('.hero')) return null;
  const app = getComputedStyle(document.querySelector('[data-testid=stApp]'));
  const { outlineStyle, outlineWidth, outlineColor, boxShadow } = getComputedStyle(one);
  const isClear = /^rgba.*, 0\\)|\\/ 0\\)/.test(outlineColor);
  const isDrawn = outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2 && !isClear
    && outlineColor !== app.backgroundColor;
  return [one.outerHTML.slice(0, 150), isDrawn || / 0px 0px 0px [2-9]/.test(boxShadow)];
}"""
"""What of the first picture has the keyboard, and whether it has an outline that can be seen."""
BLUR = """() => {
  document.activeElement.blur();
  document.querySelector('[data-testid=stMain]').scrollTop = 0;
}"""


def list_what_hides_the_focus(visit, _path=""):
    """By Tab through the first picture: each stop shows that it has the keyboard."""
    press, found, seen = visit.page.keyboard.press, [], 0
    visit.hero.first.locator("button:visible").first.focus()
    press("Shift+Tab")
    press("Tab")
    while focused := visit.page.evaluate(FOCUS):
        node, is_outlined = focused
        found += [] if is_outlined else [f"has no outline in focus: {node}"]
        seen += 1
        press("Tab")
    visit.page.evaluate(BLUR)
    return found if seen else ["nothing in the picture is reached by Tab"]


def list_faults_at_sight(visit, path):
    """What is wrong with the first picture, when all has come to its place."""
    seen = f"(least) => ({IS_SEEN})(({HERO})(), least)"
    least = LEAST | {"phone": SCROLLED.get(path, LEAST["phone"])}
    try:
        visit.page.wait_for_function(seen, arg=least, timeout=PATIENCE)
    except TimeoutError:
        return [f"the picture: {visit.page.evaluate(HERO)}"]
    return []


def list_what_stands_out(visit, _path=""):
    return [f"stands out: {node}" for node in visit.page.evaluate(OUTSIDE)]


def list_what_is_far(visit, _path=""):
    """On a phone the field for a sentence comes after the picture, with its name, in full width."""
    far = visit.page.evaluate(SENTENCE_ON_A_PHONE)
    return [f"the field for a sentence: {far}"] if far else []


def list_what_is_too_much(visit, path):
    """What is longer, or more, than a page may show before anything is unfolded."""
    visit.page.wait_for_function(HAS_COME)
    extent, most = visit.page.evaluate(EXTENT), MOST if path else MOST_OF_START
    found = [f"{name}: {extent[name]}" for name in most if extent[name] > most[name]]
    if extent["words"] <= 100:
        found.append(f"only {extent['words']} words: were they read at all?")
    if path == "kv_cache" and extent["choices"] != 3:
        found.append("its choices are its sentence, a player, and one of chips")
    return found


def violations(visit, _path=""):
    """What axe-core finds, in shadow roots as well, and Streamlit has not brought along."""
    if not visit.page.evaluate("'axe' in globalThis"):
        visit.page.evaluate(Axe().axe_script)
    return visit.page.evaluate(BROKEN, STREAMLITS_OWN)
