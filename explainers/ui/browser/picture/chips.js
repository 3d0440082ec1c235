// A choice of the picture's own: a few words beside each other, one of them chosen; or a number on a slider.

/** @import { Mark } from "./scene.js" */

import { element, setText } from "../common/elements.js";
import { AROUND, take } from "../common/keys.js";
import { _ } from "../common/words.js";

export class Chips {
  /**
   * @param {HTMLElement} root
   * @param {{ label: string, name?: string, options: { value: string, label: string }[], choose: (value: string) => void }} options `name`: what they are told by, where nothing is written before them
   */
  constructor(root, { label, name = label, options, choose }) {
    this.root = root.appendChild(element("div", "chips"));
    this.label = label;
    if (label) this.root.append(element("span", "label", label));
    const group = this.root.appendChild(element("div", "group", "", { role: "radiogroup" }));
    if (name) group.setAttribute("aria-label", name);
    this.buttons = options.map(({ value, label: text }) => {
      const button = group.appendChild(element("button", "", text, { role: "radio", onclick: () => choose(value) }));
      return Object.assign(button, { value });
    });
    group.addEventListener("keydown", (event) => {
      const by = take(event, AROUND);
      if (!by) return;
      const at = this.buttons.findIndex((button) => button.getAttribute("aria-checked") === "true");
      const next = this.buttons[(at + by + this.buttons.length) % this.buttons.length];
      next.focus(); // first: after a change it would lay out the page at once, and again with the frame
      next.click();
    });
  }

  /** @param {string} value */
  show(value) {
    for (const button of this.buttons) {
      const isChosen = button.value === value;
      if (button.ariaChecked === String(isChosen)) continue; // what has the focus would style the page anew
      button.ariaChecked = String(isChosen);
      button.tabIndex = isChosen ? 0 : -1;
    }
  }

  /** What is chosen, in words. */
  get told() {
    const chosen = this.buttons.find((button) => button.getAttribute("aria-checked") === "true")?.textContent ?? "";
    return this.label ? `${this.label}: ${chosen}` : chosen;
  }
}

/** On a phone the choices are folded away: a button says what is chosen, and unfolds them. */
export class Sheet {
  /** @param {HTMLElement} hero */
  constructor(hero) {
    this.root = element("button", "change", "", { "aria-expanded": "false" });
    this.name = this.root.appendChild(element("b"));
    this.chosen = this.root.appendChild(element("span"));
    this.root.onclick = () => this.root.setAttribute("aria-expanded", String(hero.classList.toggle("changing")));
  }

  /** @param {Chips[]} chips those that are in sight */
  show(chips) {
    const now = chips.filter(({ root }) => !root.hidden).map(({ told }) => told).join(" · ");
    setText(this.chosen, now);
    this.name.textContent ||= _("Change");
  }
}

/** A slider alone, as a part of a mark: what its reader does, where it stands, its other attributes. @param {(value: number) => void} drag @param {number} value @param {Mark["attributes"]} attributes @returns {Partial<Mark>} */
export function markRange(drag, value, attributes) {
  return { tag: "input", attributes: { type: "range", ...attributes }, value, made: (range) => Object.assign(range, listensTo(drag)) };
}

/** A slider alone. @param {(value: number) => void} drag @param {Record<string, string>} [attributes] */
export const makeRange = (drag, attributes) => element("input", "", "", { type: "range", ...attributes, ...listensTo(drag) });

/** Its keys are its own. @param {(value: number) => void} drag */
const listensTo = (drag) => ({
  oninput: (/** @type {any} */ { target }) => drag(Number(target.value)),
  onkeydown: (/** @type {Event} */ event) => event.stopPropagation(),
});

/** A slider with its name at the left and its number at the right. */
export class Slide {
  /** @param {HTMLElement} root @param {(value: number) => void} drag */
  constructor(root, drag) {
    this.root = root.appendChild(element("label", "dials-slide"));
    this.name = this.root.appendChild(element("span"));
    this.range = this.root.appendChild(makeRange(drag));
    this.output = this.root.appendChild(element("output"));
  }

  /** @param {string} name @param {number} least @param {number} most @param {number} value @param {string} told */
  show(name, least, most, value, told) {
    this.name.textContent = name;
    this.range.setAttribute("aria-label", name);
    this.range.min = String(least);
    this.range.max = String(most);
    if (this.range.value !== String(value)) this.range.value = String(value);
    this.range.setAttribute("aria-valuetext", told);
    this.output.textContent = value > 0 && least < 0 ? `+${value}` : String(value).replace("-", "−");
  }
}
