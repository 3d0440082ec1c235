// The words of a sentence, one of them chosen; pointing at another shows it for as long.

import { element } from "../common/elements.js";
import { AROUND, take } from "../common/keys.js";

/** @import { Mark } from "./scene.js" */
/** @import { Stage } from "./stage.js" */
/** @typedef {Pick<Mark, "at" | "hold" | "turn" | "opacity"> & { name: string, isHidden?: boolean, is?: Record<string, boolean> }} Told */

/** Is it of a model's own token, while these are hidden? @param {Element} node */
export const isUnseen = (node) => node.matches(".hides-own .models-own");

export class Words {
  /** @param {Stage} stage @param {{ label: string, choose: (place: number) => void, peek: (place: number | null) => void }} options */
  constructor(stage, { label, choose, peek }) {
    this.stage = stage;
    this.choose = choose;
    this.root = stage.root.appendChild(element("div", "words", "", { role: "radiogroup", "aria-label": label }));
    /** @type {HTMLButtonElement[]} */
    this.buttons = [];
    this.canPeek = true;
    this.root.addEventListener("pointerover", (event) => {
      if (event.pointerType === "mouse" && this.canPeek) peek(this.placeOf(event));
    });
    this.root.addEventListener("pointerout", (event) => {
      if (!this.root.contains(/** @type {Node | null} */ (event.relatedTarget))) peek(null);
    });
    this.root.addEventListener("click", (event) => {
      const place = this.placeOf(event);
      if (place !== null) choose(place);
    });
    this.root.addEventListener("keydown", (event) => this.walk(event));
  }

  /** @param {Event} event */
  placeOf(event) {
    const place = this.buttons.indexOf(/** @type {HTMLButtonElement} */ (event.target));
    return place < 0 ? null : place;
  }

  /** @param {string[]} words */
  renew(words) {
    this.root.replaceChildren();
    this.buttons = words.map((word) => this.root.appendChild(element("button", "moves", word, { role: "radio" })));
  }

  /**
   * The words as a mark: which is chosen, which is shown, and of each what it is told as, and where it stands.
   * @param {number} chosen @param {number} shown @param {(place: number) => Told} tell @returns {Mark}
   */
  mark(chosen, shown, tell, key = "words") {
    this.buttons.forEach((button, place) => {
      const { name, isHidden = false, is = {}, at, opacity, hold, turn } = tell(place);
      button.classList.toggle("asks", place === shown);
      button.classList.toggle("hidden", isHidden);
      for (const [kind, isSo] of Object.entries(is)) button.classList.toggle(kind, isSo);
      button.setAttribute("aria-checked", String(place === chosen));
      button.setAttribute("aria-label", name);
      button.tabIndex = place === chosen ? 0 : -1;
      if (at) this.stage.write(button, ...at, opacity, 0, hold, turn);
    });
    return { key, node: this.root };
  }

  /** @param {KeyboardEvent} event */
  walk(event) {
    const from = this.placeOf(event), by = from === null ? undefined : take(event, AROUND);
    if (from === null || !by) return;
    const all = this.buttons.length;
    let to = (from + by + all) % all;
    while (isUnseen(this.buttons[to]) && to !== from) to = (to + by + all) % all;
    this.buttons[to].focus(); // first: after a change it would lay out the page at once
    this.choose(to);
  }
}

/** A token as it is read, blanks and breaks as signs. @param {string} token */
export const readable = (token) => token.trim() || token.replaceAll(" ", "␣").replaceAll("\n", "↵");

/** Has it a letter or a digit, as marks have not? @param {string} token */
export const isWord = (token) => /[\p{L}\p{N}]/u.test(token);
