// @ts-check
// What a lecturer reaches for: a dark screen, a light on one row, the list of keys, a number to jump to.

/** @import { Lecture } from "./lecture.js" */

import { element } from "../common/elements.js";

const DIGITS_WITHIN = 4000; // milliseconds in which a number is finished by Enter
const BAND = 34; // pixels above and below the pointer, where there is no row of numbers

/** What a key lays above the screen, and takes away again. */
export class Above {
  /** @param {string} name its class */
  constructor(name) {
    this.root = document.body.appendChild(element("div", name));
    this.root.hidden = true;
  }

  isOpen() { return !this.root.hidden; }
  close() { this.root.hidden = true; }
  open() { this.root.hidden = false; }

  turn() {
    if (this.isOpen()) this.close();
    else this.open();
  }
}

/** A dark screen: all look at the lecturer. */
export class Blank extends Above {
  constructor() {
    super("lecture-blank");
    this.root.onclick = () => this.close();
  }
}

/** All but the row under the pointer is dimmed. */
export class Spotlight extends Above {
  constructor() {
    super("lecture-spotlight");
    this.move = (/** @type {PointerEvent} */ event) => this.light(event.clientX, event.clientY);
  }

  /** @override */
  close() {
    super.close();
    removeEventListener("pointermove", this.move);
  }

  /** @override */
  open() {
    super.open();
    addEventListener("pointermove", this.move);
    this.light(innerWidth / 2, innerHeight / 2);
  }

  /** @param {number} x @param {number} y */
  light(x, y) {
    let node = document.elementFromPoint(x, y);
    while (node?.shadowRoot) {
      const inner = node.shadowRoot.elementFromPoint(x, y);
      if (!inner || inner === node) break;
      node = inner;
    }
    const row = node?.closest("tr, .strip, p, li, label")?.getBoundingClientRect();
    const [top, bottom] = row && row.height < innerHeight / 3 ? [row.top - 4, row.bottom + 4] : [y - BAND, y + BAND];
    this.root.style.setProperty("--top", `${top}px`);
    this.root.style.setProperty("--bottom", `${bottom}px`);
  }
}

/** Which key does what. */
export class Help extends Above {
  /** @param {Lecture} lecture */
  constructor(lecture) {
    super("lecture-sheet lecture-help");
    this.lecture = lecture;
    this.root.setAttribute("role", "dialog");
    this.root.onclick = () => this.close();
  }

  /** @override */
  open() {
    const { words } = this.lecture, list = element("dl");
    for (const [keys, what] of words.keys) list.append(element("dt", "", keys), element("dd", "", what));
    this.root.setAttribute("aria-label", words.help);
    this.root.replaceChildren(element("h2", "", words.help), list);
    super.open();
  }
}

/** A screen's number, typed digit by digit. */
export class Digits {
  constructor() {
    this.typed = "";
    this.timer = 0;
  }

  /** @param {string} digit */
  type(digit) {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => { this.typed = ""; }, DIGITS_WITHIN);
    this.typed = `${this.typed}${digit}`.slice(-3);
    return this.typed;
  }

  /** The number, once; 0 if none was typed. */
  take() {
    const number = Number(this.typed);
    this.typed = "";
    return number;
  }
}
