// A page's screens: the parts that the server named, in the order in which they stand on the page.
// What belongs on a screen follows from the names alone (ui/lecture/screens.py lists them).

import { listNamed } from "./streamlit.js";

/**
 * @typedef {object} Part
 * @property {string} kind
 * @property {string} name as a class has it: letters, digits, hyphens
 * @property {string} at its selector
 * @property {HTMLElement} node
 */

const NAME = /^st-key-screen-([a-z]+)-(.*)$/;
const ALONE = ["hero", "try", "slow", "ask", "how", "model", "end", "deeper"];
const WITH_PICTURE = ["slow", "ask", "answer", "how"]; // their picture comes after them

export class Screen {
  /** @param {Part} part what it is called by @param {Part[]} parts what is seen */
  constructor(part, parts) {
    this.kind = part.kind;
    this.name = part.name;
    /** @type {Part[][]} a question, and what comes out */
    this.steps = [parts];
    /** @type {Part[]} what is said where there is no picture */
    this.rest = [];
    /** @type {Part[]} */
    this.codes = [];
  }

  get id() { return `${this.kind} ${this.name}`; }
  get last() { return this.steps.length - 1; }

  /** @param {number} step */
  parts(step) {
    const parts = this.steps[Math.min(step, this.last)];
    return parts.some(isPicture) || step < this.last ? parts : [...parts, ...this.rest];
  }

  /** What a lecturer may say: the words of the parts, and of what is not shown. @param {number} step */
  notes(step) {
    const parts = [...this.steps[Math.min(step, this.last)].filter((part) => !isPicture(part)), ...(step === this.last ? this.rest : [])];
    return parts.map(({ node }) => node.innerText || node.textContent || "").filter(Boolean);
  }

  /** @param {number} step */
  kindAt(step) {
    return step > 0 ? "answer" : this.kind;
  }

  /** @param {number} step */
  title(step) {
    const heading = this.parts(step).map(({ node }) => findHeading(node)).find((node) => node.textContent);
    return (heading?.textContent ?? "").trim().slice(0, 120);
  }
}

/** A heading, or the question in what is said. @param {HTMLElement} node */
function findHeading(node) {
  const questions = [...node.querySelectorAll("strong")].filter(({ textContent }) => textContent?.endsWith("?"));
  return node.querySelector("h2, h3") ?? questions[0] ?? node;
}

/** @param {Part} part */
export function isPicture({ kind }) {
  return kind === "hero" || kind === "picture";
}

/** All screens of the page, and the titles of what can be added to them. */
export function listScreens() {
  /** @type {Screen[]} */
  const screens = [];
  /** @type {Part[]} */
  const questions = [];
  /** @type {Part[]} */
  const cards = [];
  /** @type {Part[]} what the page says beside its question */
  const notes = [];
  /** @type {Part | null} */
  let hero = null;
  for (const part of listNamed().map(readPart)) {
    const { kind, name } = part, last = screens[screens.length - 1];
    if (kind === "hero") hero = part;
    if (kind === "question") questions.push(part);
    else if (kind === "card") cards.push(part);
    else if (ALONE.includes(kind)) screens.push(new Screen(part, [...(kind === "hero" ? questions : kind === "try" && hero ? [hero] : []), part]));
    else if (kind === "answer" && last?.kind === "ask" && last.name === name) last.steps.push([part]);
    else if (kind === "answer") screens.push(new Screen(part, [part]));
    else if (kind === "rest" && !last) notes.push(part);
    else if (!last) continue; // "rest" of nothing
    else if (kind === "code") last.codes.push(part);
    else if (kind === "rest") last.rest.push(part);
    else if (kind === "picture" && WITH_PICTURE.includes(last.kind) && !last.steps[last.last].some(isPicture)) last.steps[last.last].push(part);
  }
  if (!screens.length && questions.length) screens.push(new Screen(questions[0], questions)); // a page that has nothing to show
  screens[0]?.rest.unshift(...notes);
  return { screens, cards };
}

/** @param {HTMLElement} node @returns {Part} */
function readPart(node) {
  const at = [...node.classList].find((name) => NAME.test(name)) ?? "";
  const [, kind, name] = NAME.exec(at) ?? ["", "", ""];
  return { kind, name, at: `.${CSS.escape(at)}`, node };
}

/** What a picture consists of, which selectors of the page do not reach. @param {Part} part */
export function findShadow({ node }) {
  return [...node.querySelectorAll("*")].find(({ shadowRoot }) => shadowRoot)?.shadowRoot ?? null;
}

/** The picture itself, once it has been drawn. @param {Part} part @returns {Element | null} */
export function findPicture(part) {
  const drawn = ".hero[aria-label], .figure:has(.panel), .cards[aria-label], .tiles";
  return findShadow(part)?.querySelector(drawn) ?? part.node.querySelector("svg.marks, canvas.marks, svg .mark-group, canvas");
}

/**
 * Tell a picture that it is shown to a class, and which of its experiments.
 * @param {Part} part @param {boolean} isShown @param {string} [experiment]
 */
export function prepare(part, isShown, experiment = "") {
  const picture = findPicture(part);
  if (!picture || !findShadow(part)) return;
  picture.toggleAttribute("data-lecture", isShown);
  picture.dispatchEvent(new CustomEvent("present", { detail: experiment }));
}
