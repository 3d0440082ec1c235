// A screen as a small still picture in the lecturer's second window: a copy of what stands on the page,
// with the styles that it wears there. It is as wide as the class's window, and then made smaller.

/** @import { Lecture } from "./lecture.js" */
/** @import { Screen } from "./screens.js" */

import { element } from "../common/elements.js";
import { isPicture } from "./screens.js";

const SPOKEN = ["try", "slow"]; // there the picture's own sentence is not shown: style.css
const LETTERS = 1.5, PICTURE = 1.8; // zooms on a screen whose size is not known yet

const TABLES = "table { color: inherit; font: inherit; }"; // a window without an address is in quirks mode

/** The styles of the page, without those that choose a screen. @param {Lecture} lecture */
export function copyStyles({ look, sheets }) {
  const worn = [...document.styleSheets, ...document.adoptedStyleSheets].filter((sheet) => sheet !== look.sheet && sheet !== sheets[0]);
  return element("style", "", worn.map(readRules).join("\n"));
}

/** @param {CSSStyleSheet} sheet */
function readRules(sheet) {
  try {
    return [...sheet.cssRules].map(({ cssText }) => cssText).join("\n");
  } catch {
    return ""; // of another site
  }
}

/** @param {Lecture} lecture @param {Screen} screen @param {number} step */
export function makeMiniature(lecture, screen, step) {
  const box = element("div", "miniature"), page = box.appendChild(element("div", "miniature-page"));
  box.setAttribute("aria-hidden", "true"); // its words stand below
  Object.assign(page.style, { width: `${innerWidth}px`, height: `${innerHeight}px` });
  page.style.setProperty("--lecture-says", SPOKEN.includes(screen.kindAt(step)) ? "none" : "block");
  const [, size] = [...lecture.sizes].find(([name]) => name.startsWith(`${screen.id} ${step} -1 `)) ?? [];
  for (const part of screen.parts(step)) {
    const copied = /** @type {HTMLElement} */ (page.appendChild(copy(part.node)));
    copied.style.zoom = String(isPicture(part) ? size?.picture ?? lecture.zooms.get(part.at) ?? PICTURE : size?.text ?? LETTERS);
    if (part.kind === "try") [...copied.children].forEach((child, place) => page.insertBefore(wrap(child, copied), place ? null : page.firstChild));
    if (part.kind === "try") copied.remove();
  }
  return box;
}

/** Of an experiment the title stands above the picture, and what happens below it. @param {Element} child @param {HTMLElement} part */
function wrap(child, part) {
  const wrapped = /** @type {HTMLElement} */ (part.cloneNode());
  wrapped.append(child);
  return wrapped;
}

/** As large as its box allows. @param {Element} box in its window */
export function fitMiniature(box) {
  const page = /** @type {HTMLElement} */ (box.firstElementChild), room = box.clientWidth / innerWidth;
  for (const part of /** @type {HTMLCollectionOf<HTMLElement>} */ (page.children)) // what was never shown may be too wide, or too high
    if (part.scrollWidth > part.clientWidth + 1) part.style.zoom = String((Number(part.style.zoom) * part.clientWidth) / part.scrollWidth);
  const most = Math.max(page.scrollHeight / innerHeight, 1);
  page.style.transform = `scale(${room / most})`;
  page.style.height = `${innerHeight * most}px`;
  page.style.left = `${(box.clientWidth * (1 - 1 / most)) / 2}px`;
}

/** A node with all that is in it, also what selectors of the page do not reach. @param {Node} node @returns {Node} */
function copy(node) {
  const made = node.cloneNode();
  if (node instanceof HTMLCanvasElement && node.width && node.height) /** @type {HTMLCanvasElement} */ (made).getContext("2d")?.drawImage(node, 0, 0);
  if (node instanceof Element && node.shadowRoot) {
    const root = /** @type {Element} */ (made).attachShadow({ mode: "open" });
    root.append(element("style", "", [TABLES, ...[...node.shadowRoot.styleSheets, ...node.shadowRoot.adoptedStyleSheets].map(readRules)].join("\n")));
    for (const child of node.shadowRoot.childNodes) root.append(copy(child));
  }
  for (const child of node.childNodes) made.appendChild(copy(child));
  return made;
}
