// @ts-check
// The cards of a wall: a sentence each, and a stamp with two sides of which one is seen.

import { element } from "../../common/elements.js";

/** @typedef {import("../stage.js").Stage} Stage */
/** @typedef {import("../stage.js").Box} Box */
/** @typedef {{ box: Box, size: number }} Slot */

const GAP = 10;
/** A sign of its own for each verdict: colours alone are not told apart by all. @type {Record<string, string>} */
const SIGNS = { "holds": "✓", "holds with a condition": "±", "does not hold": "✗", "not reproducible": "∅" };
/** @type {Record<string, string>} */
const KINDS = { "holds": "holds", "holds with a condition": "condition", "does not hold": "fails", "not reproducible": "lost" };

/** The class that has a verdict's colour. @param {string} verdict */
export function kindOf(verdict) { return KINDS[verdict] ?? "down"; }

/** @param {string} verdict */
export function signOf(verdict) { return SIGNS[verdict] ?? "?"; }

export class Card {
  /** @param {Stage} stage @param {string} text @param {() => void} open */
  constructor(stage, text, open) {
    this.stage = stage;
    this.text = text;
    this.root = stage.add("div", "claims-card");
    this.button = this.root.appendChild(element("button", "claims-text"));
    this.words = this.button.appendChild(element("span"));
    this.words.append(...text.split("`").map((part, at) => (at % 2 ? element("code", "", part) : document.createTextNode(part))));
    this.button.onclick = open;
    this.stamp = this.root.appendChild(element("span", "claims-stamp"));
    this.stamp.setAttribute("aria-hidden", "true");
    this.stamp.append(element("i", "back", "?"), (this.front = element("i", "front")));
  }

  /**
   * @param {Slot} slot
   * @param {{ verdict: string, told: string, isOpen: boolean, isSeen: boolean }} state nothing as the verdict: face down
   */
  place({ box, size }, { verdict, told, isOpen, isSeen }) {
    this.stage.put(this.root, box, isSeen ? 1 : 0);
    this.root.classList.toggle("open", isOpen);
    this.root.dataset.verdict = kindOf(verdict);
    this.stamp.classList.toggle("turned", Boolean(verdict));
    if (verdict) this.front.textContent = signOf(verdict);
    this.button.style.setProperty("--size", `${size}px`);
    this.button.setAttribute("aria-label", told ? `${this.text} ${told}` : this.text);
    this.button.setAttribute("aria-current", String(isOpen));
    this.button.tabIndex = isOpen ? 0 : -1;
    this.button.title = isOpen ? "" : this.text;
  }
}

/**
 * Places of the open card and of so many others, in rows below and beside it.
 * @param {number} room @param {number} top @param {number} others @param {number} letters of the open sentence
 * @param {boolean} isJudged then there is nothing to click on it any more
 */
export function placeCards(room, top, others, letters, isJudged) {
  const isPhone = room < 560, columns = isPhone ? 2 : 3, tall = isPhone ? 98 : room < 860 ? (isJudged ? 94 : 122) : 86;
  const wide = (room - GAP * (columns - 1)) / columns, beside = columns - 2;
  const large = isPhone ? 18 : room < 860 ? 19 : 22, size = Math.max(16, large - (letters > 70 ? 2 : 0) - (letters > 100 ? 2 : 0));
  const deep = isPhone ? (isJudged ? 156 : 286) : 2 * tall + GAP;
  const open = { box: { x: 0, y: top, width: 2 * wide + GAP, height: deep }, size };
  const slots = Array.from({ length: others }, (_, at) => {
    const isBeside = at < 2 * beside, below = at - 2 * beside;
    const row = isBeside ? at : Math.floor(below / columns), column = isBeside ? 2 : below % columns;
    const y = isBeside ? top + row * (tall + GAP) : top + deep + GAP + row * (tall + GAP);
    return { box: { x: column * (wide + GAP), y, width: wide, height: tall }, size: isPhone ? 13 : 14 };
  });
  const last = slots.at(-1)?.box;
  return { open, slots, bottom: Math.max(top + deep, last ? last.y + last.height : 0) };
}
