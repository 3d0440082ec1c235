// What a lecturer reaches for: a dark screen, a light on one row, the list of keys, a number to jump to.

import { element } from "../common/elements.js";
import { _ } from "../common/words.js";

const DIGITS_WITHIN = 4000; // milliseconds in which a number is finished by Enter
const BAND = 34; // pixels above and below the pointer, where there is no row of numbers

/** What a key lays above the screen, and takes away again. */
export class Above {
  /** @param {string} name its class */
  constructor(name) {
    this.root = document.body.appendChild(element("div", name, "", { hidden: "" }));
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

/** A button that never has the focus: keys go on to the page. @param {string} text @param {() => void} act @param {string} [name] its class */
export const makeSideButton = (text, act, name) => element("button", name, text, { onclick: act, onmousedown: (event) => event.preventDefault() });

/** @returns {[string, string][]} */
const listKeys = () => [
  ["→  ␣  PageDown", _("next screen, or what comes out")],
  ["←  PageUp", _("the screen before")],
  ["1 2 ⏎", _("the screen with this number")],
  ["O", _("all screens: jump, leave out, change the order")],
  ["K", _("the code that ran")],
  ["C", _("the controls of the picture")],
  ["S", _("a light on the row under the pointer")],
  ["B", _("a dark screen")],
  ["+  −", _("larger, smaller")],
  ["Q", _("a code that opens this screen on a phone")],
  ["P", _("presenter view in a second window; with lesson=45 in the link, minutes left")],
  ["H", _("handout: this page on one sheet, as PDF")],
  ["?", _("this list")],
  ["Esc", _("back, and out of the lecture")],
];

/** Which key does what. */
export class Help extends Above {
  constructor() {
    super("lecture-sheet lecture-help");
    this.root.setAttribute("role", "dialog");
    this.root.onclick = () => this.close();
  }

  /** @override */
  open() {
    const list = element("dl"), title = _("Keys in a lecture");
    for (const [keys, what] of listKeys()) list.append(element("dt", "", keys), element("dd", "", what));
    this.root.setAttribute("aria-label", title);
    this.root.replaceChildren(element("h2", "", title), list);
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
