"""What a page shows before anything is clicked: its picture, in any window, theme and language."""

import pytest
from playwright.sync_api import TimeoutError

from tests.support.browser_fixtures import PAGES

SIZES = ((1280, 800), (1024, 768), (390, 844))
LEAST = {"top": 260, "width": 0.4, "height": 250, "digits": 13, "bottom": 800, "phone": 844}
"""The lowest place of the picture's top and its least height and digits, in pixels; its width as a
share of the window; and where its sentence ends at the latest in a window of 1280 × 800, and on a
phone."""
SCROLLED = {"kv_cache": 910, "long_sequences": 930, "growing_memory": 1050, "why_it_looked": 890}
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


@pytest.mark.parametrize("path", PAGES.values())
@pytest.mark.parametrize("spoken", ["en", "vi"])
def test_the_picture_comes_first(stroll, path, spoken):
    """Each size meets each theme, and each of both each language."""
    one = stroll(path, lang=spoken, predict="true")
    large, projector, phone = SIZES
    in_themes = {"light": [large, phone], "dark": [projector]}
    if spoken == "vi":
        in_themes = {"light": [projector], "dark": [large, phone]}
    for scheme, sizes in in_themes.items():
        one.page.emulate_media(color_scheme=scheme)
        for width, height in sizes:
            one.page.set_viewport_size({"width": width, "height": height})
            least = LEAST | {"phone": SCROLLED.get(path, LEAST["phone"])}
            try:  # until what moves has come to its place
                one.page.wait_for_function(f"(least) => ({IS_SEEN})(({HERO})(), least)", arg=least)
            except TimeoutError:
                pytest.fail(f"{width} × {height}, {scheme}: {one.page.evaluate(HERO)}")


MOST = {"height": 3000, "headings": 6, "words": 500, "matrices": 5, "prose": 640, "choices": 4}
"""What a page shows before anything is unfolded: pixels of height at 1,280, headings, words, and
matrices of digits; how wide its paragraphs are below the picture; and what can be chosen above the
picture: the sentence, its examples and its builder are one choice."""
MOST_OF_START = MOST | {"height": 2400}
"""The start page is shorter: its height is counted down to the wall of all pages."""
EXTENT = """() => {
  const page = document.querySelector('[data-testid=stMainBlockContainer]');
  const heroes = [...page.querySelectorAll('[data-testid=stBidiComponentIsolated]')]
    .map((host) => host.shadowRoot.querySelector('.hero')).filter(Boolean);
  const said = heroes.flatMap((hero) => [...hero.querySelectorAll('.says, .hint')]);
  const isSeen = (heading) => heading.offsetParent && heading.innerText.trim();
  const words = [page, ...said].flatMap((one) => one.innerText.match(/\\p{L}{2,}/gu) ?? []);
  const { scrollHeight, scrollTop } = document.querySelector('[data-testid=stMain]');
  const wall = page.querySelector('.st-key-wall')?.getBoundingClientRect().top;
  const shadows = [...page.querySelectorAll('[data-testid=stBidiComponentIsolated]')];
  const { top } = heroes[0].querySelector('.stage').getBoundingClientRect();
  const seen = { opacityProperty: true, visibilityProperty: true };
  const isAbove = (node) => node.checkVisibility(seen) &&
    node.getBoundingClientRect().bottom <= top + 6;
  const kinds = ['TextInput', 'Selectbox', 'Button', 'ButtonGroup', 'Popover', 'Checkbox'];
  const named = kinds.map((kind) => `[data-testid=st${kind}]`).join(', ');
  const widgets = [...page.querySelectorAll(named)];
  const ofSentence = '.st-key-text, .st-key-preset, [class*=st-key-build]';
  const frame = '.st-key-page-top';
  const choices = [
    ...widgets.filter((one) => !one.closest(`${ofSentence}, ${frame}`)),
    page.querySelector(ofSentence),
    ...shadows.filter((host) => host.shadowRoot.querySelector('.picker')),
    ...heroes[0].querySelectorAll('.bar > :is(.chips, .film, .dials-slide)'),
  ].filter((one) => one && isAbove(one));
  return { height: wall ? wall + scrollTop : scrollHeight,
    matrices: shadows.flatMap((host) => [...host.shadowRoot.querySelectorAll('.panel')])
      .filter((panel) => panel.querySelector('td.cell')?.innerText.trim()).length,
    headings: [...page.querySelectorAll('h1, h2, h3')].filter(isSeen).length,
    prose: Math.max(...[...page.querySelectorAll('.st-key-hero, .stMarkdown p')]
      .map((one, at, all) => all.slice(0, at).some((before) => before.matches('.st-key-hero'))
        && !one.matches('.st-key-hero') ? one.offsetWidth : 0)),
    choices: choices.length, words: words.length };
}"""


@pytest.mark.parametrize("path", PAGES.values())
def test_a_page_is_short_before_anything_is_unfolded(stroll, path):
    one = stroll(path, size=(1280, 800), lang="en", predict="true")
    extent = one.page.evaluate(EXTENT)
    most = MOST if path else MOST_OF_START
    assert {name: extent[name] for name in most if extent[name] > most[name]} == {}
    assert extent["words"] > 100
    assert extent["choices"] == 4 or path != "kv_cache", "its sentence, a player, and two of chips"
