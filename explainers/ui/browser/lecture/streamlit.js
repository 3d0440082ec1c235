// All that a lecture knows of the page that Streamlit draws around it. A test fails when one of
// these finds nothing any more.

export const PARTS = {
  app: "[data-testid=stApp]",
  sidebar: "[data-testid=stSidebar]",
  header: "[data-testid=stHeader]",
  scroller: "[data-testid=stMain]",
  block: "[data-testid=stMainBlockContainer]",
  pageLink: "[data-testid=stSidebarNavLink]",
  chart: "[data-testid=stVegaLiteChart]",
  markdown: "[data-testid=stMarkdownContainer]",
  anchor: "[data-testid=stHeaderActionElements]", // of a heading
};
const STATE = "data-test-script-state", IDLE = "notRunning"; // of the app
export const WATCHED = [STATE];
const NAMED = "[class*=st-key-screen-]"; // parts that the server names
const KEPT = `${NAMED}, .st-key-sentence, [class*="st-key-hero-controls"]`; // and what a page offers to choose

const PRINTED = "[data-lecture-printed]"; // of a handout

/** What is around the screens goes, and they stand below each other: no box of Streamlit's holds them. */
export const FRAME = `
html[data-lecturing] :is(${PARTS.sidebar}, ${PARTS.header}) { display: none !important; }
@media screen {
html[data-lecturing] ${PARTS.scroller} { overflow: hidden; scroll-behavior: auto; }
html[data-lecturing] ${PARTS.block} { position: relative; box-sizing: border-box; flex: none; width: 100%; max-width: none; min-height: 0;
  height: 100dvh; padding: var(--lecture-bar) 0 var(--lecture-foot) !important; overflow: hidden auto;
  display: flex; flex-direction: column; flex-wrap: nowrap; align-items: center; justify-content: safe center; gap: var(--lecture-gap); }
${keepOnly(KEPT)}
html[data-lecturing]:not([data-lecture-controls]) ${PARTS.block} :is(.st-key-sentence, [class*="st-key-hero-controls"]):not(${NAMED} *) { display: none !important; }
html[data-lecturing] ${PARTS.block} ${NAMED}:not(${NAMED} *) { flex: none; box-sizing: border-box; width: 95.5%; left: 2.25%; }
html[data-lecturing] ${PARTS.block} ${NAMED} ${PARTS.chart}, html[data-lecturing] ${PARTS.block} ${NAMED} ${PARTS.chart} svg { overflow: visible !important; }
html[data-lecturing] ${PARTS.block} ${NAMED} ${PARTS.markdown} { margin-bottom: 0; text-align: inherit; }
html[data-lecturing] ${PARTS.block} ${PARTS.anchor} { display: none; }
}
@media print {
html[data-lecturing] :is(${PARTS.app}, ${PARTS.scroller}) { position: static !important; display: block; height: auto; overflow: visible; }
html[data-lecturing] ${PARTS.block} { display: flex; flex-direction: column; gap: 10px; padding: 0; max-width: none; }
${keepOnly(PRINTED)}
}`;

/** A copy of a screen in another window has no block around it. */
export const SMALL = `.miniature-page ${PARTS.markdown} { margin-bottom: 0; text-align: inherit; } .miniature-page ${PARTS.anchor} { display: none; }
`;

/**
 * Streamlit measures a chart's box as it is seen, and draws the chart so wide before it is enlarged.
 * @param {string} at what is enlarged @param {number} zoom
 */
export function narrowChart(at, zoom) {
  return `${at} ${PARTS.chart} { width: ${(100 / zoom).toFixed(2)}% !important; }`;
}

/** Hide all else, and take away the boxes around it. @param {string} what */
function keepOnly(what) {
  return `html[data-lecturing] ${PARTS.block} :has(${what}):not(${what}, :is(${what}) *) { display: contents !important; }
html[data-lecturing] ${PARTS.block} :not(:has(${what}), ${what}, :is(${what}) *) { display: none !important; }`;
}

/** Is nothing computed any more for this page? */
export function isIdle() {
  return one(PARTS.app)?.getAttribute(STATE) === IDLE;
}

/** What was named is in here. */
export function findBlock() {
  return one(PARTS.block);
}

/** Another page is seen from its beginning. */
export function toTop() {
  one(PARTS.scroller)?.scrollTo(0, 0);
}

/** What the theme has: the colours of letters and of the page. */
export function readColours() {
  const app = one(PARTS.app);
  return app && getComputedStyle(app);
}

/** The links to all pages, in their order. */
export function listPageLinks() {
  return [.../** @type {NodeListOf<HTMLAnchorElement>} */ (document.querySelectorAll(PARTS.pageLink))];
}

/** Everything in the main part that the server named, but for names inside of others. */
export function listNamed() {
  const found = /** @type {HTMLElement[]} */ ([...findBlock()?.querySelectorAll(NAMED) ?? []]);
  return found.filter((node) => !node.parentElement?.closest(NAMED));
}

/** The switch of the sidebar by which a lecture begins and ends. */
export function findSwitch() {
  return /** @type {HTMLInputElement | null} */ (document.querySelector(".st-key-lecture input"));
}

/** @param {string} selector */
function one(selector) {
  return /** @type {HTMLElement | null} */ (document.querySelector(selector));
}
