// A list of many names that can be searched: one of them is chosen, or several.

/** @import { Tell } from "../common/component.js" */

import { ANSWER_WITHIN, loadStyle, mounting, served } from "../common/component.js";
import { element } from "../common/elements.js";
import { _ } from "../common/words.js";

/**
 * @typedef {object} PickerData what the server sends: ui/controls/name_controls.py
 * @property {string} key its name in the link
 * @property {string} label
 * @property {string} help what the names are; "" for nothing
 * @property {string[]} choices the names, as a link has them
 * @property {Record<string, string>} others what some of the names are called in the visitor's language
 * @property {string[]} chosen
 * @property {number} most that can be chosen; with one, another takes its place
 * @property {import("../common/words.js").Translations} words
 */

const [GAP, LEAST, MOST] = [4, 160, 340]; // pixels: from the box to the list, and the list's height

class Picker {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    this.data = /** @type {PickerData} */ (/** @type {unknown} */ (null));
    /** @type {Tell} */
    this.tell = () => {};
    this.offered = "";
    /** @type {string[]} */
    this.chosen = [];
    this.told = { chosen: "", at: -Infinity };
    this.at = 0; // of the names that are in sight, which Enter chooses
    /** @type {HTMLElement[]} */
    this.items = [];
    this.name = root.appendChild(element("label"));
    this.box = root.appendChild(element("div", "box"));
    this.input = this.box.appendChild(element("input", "", "", {
      id: "input", role: "combobox", autocomplete: "off", spellcheck: "false", "aria-autocomplete": "list", "aria-controls": "options", "aria-expanded": "false",
      oninput: () => this.open(), onblur: () => this.close(), onkeydown: (event) => this.press(event),
      onkeyup: (event) => event.stopPropagation(), onkeypress: (event) => event.stopPropagation(),
    }));
    // It stands above everything, whatever cuts its parents; as it scrolls, it would be a stop of its own.
    this.list = root.appendChild(element("div", "list", "", { popover: "manual", tabindex: -1 }));
    this.help = this.list.appendChild(element("p"));
    this.options = this.list.appendChild(element("div", "", "", { id: "options", role: "listbox" }));
    this.none = this.list.appendChild(element("p"));
    this.name.htmlFor = "input";
    this.box.addEventListener("pointerdown", (event) => this.grasp(event));
    this.list.addEventListener("pointerdown", (event) => event.preventDefault()); // the field keeps the focus
    this.list.addEventListener("click", (event) => {
      const item = /** @type {HTMLElement} */ (event.target).closest("[role=option]");
      if (item) this.choose(/** @type {HTMLElement} */ (item).dataset.value ?? "");
    });
    const drawn = new WeakRef(this);
    const follow = () => drawn.deref()?.follow(); // a phone's keyboard makes the window smaller, and scrolls it
    addEventListener("scroll", follow, { capture: true, passive: true });
    addEventListener("resize", follow);
  }

  get isOne() { return this.data.most === 1; }
  get isOpen() { return this.input.getAttribute("aria-expanded") === "true"; }
  get seen() { return this.items.filter((item) => !item.hidden); }

  /** @param {PickerData} data */
  show(data) {
    this.data = data;
    const { label, help, choices, others } = data, offered = JSON.stringify([label, help, choices, others]);
    if (offered !== this.offered) this.offer();
    this.offered = offered;
    const chosen = JSON.stringify(data.chosen), isFresh = performance.now() - this.told.at < ANSWER_WITHIN;
    if (isFresh && chosen !== this.told.chosen) return; // the answer to an earlier choice
    this.told.at = -Infinity;
    if (chosen === JSON.stringify(this.chosen) && this.box.classList.contains("drawn")) return;
    this.chosen = data.chosen;
    this.draw();
  }

  offer() {
    const { label, help, choices } = this.data;
    this.name.textContent = label;
    this.options.setAttribute("aria-label", label);
    this.help.textContent = help;
    this.help.hidden = !help;
    this.items = choices.map((value, place) => {
      return element("div", "", this.nameOf(value), { "data-value": value, id: `option-${place}`, role: "option" });
    });
    this.options.replaceChildren(...this.items);
  }

  /** What is chosen: the text of the field, or a button for each name before it. */
  draw() {
    this.box.classList.add("drawn");
    for (const old of this.box.querySelectorAll("button")) old.remove();
    if (this.isOne) this.input.value = this.nameOf(this.chosen[0]);
    else this.input.before(...this.chosen.map((value) => {
      const name = this.nameOf(value);
      return element("button", "", name, { type: "button", "aria-label": _("Remove {name}", { name }), onclick: () => this.choose(value) });
    }));
  }

  /** @param {string} value */
  nameOf(value) { return this.data.others[value] ?? value; }

  /** @param {PointerEvent} event */
  grasp(event) {
    const isField = event.target === this.input;
    if (/** @type {HTMLElement} */ (event.target).closest("button")) return;
    if (!isField) event.preventDefault();
    if (this.isOpen && !isField) return this.close();
    this.input.focus({ preventScroll: true });
    if (!this.isOpen) {
      if (this.isOne) setTimeout(() => this.input.select()); // the click puts the caret first
      this.open(true);
    }
  }

  /** @param {boolean} [isWhole] every name, not those that have what is typed */
  open(isWhole = false) {
    const words = isWhole ? [] : this.input.value.toLowerCase().split(/\s+/);
    const isFull = !this.isOne && this.chosen.length >= this.data.most;
    for (const item of this.items) {
      const { value = "" } = item.dataset, text = `${value} ${item.textContent}`.toLowerCase();
      const isTaken = this.chosen.includes(value);
      item.hidden = isFull || (isTaken && !this.isOne) || !words.every((word) => text.includes(word));
      item.setAttribute("aria-selected", String(isTaken));
    }
    const { seen } = this;
    this.none.hidden = seen.length > 0;
    this.none.textContent = isFull ? _("{count} at the most: take one away first", { count: this.data.most }) : _("no such name");
    if (!this.isOpen) {
      this.input.setAttribute("aria-expanded", "true");
      this.follow();
      this.list.showPopover();
    }
    this.point(isWhole ? Math.max(0, seen.findIndex((item) => item.dataset.value === this.chosen[0])) : 0, isWhole);
  }

  /** The list to its box, where that is now. */
  follow() {
    if (!this.isOpen) return;
    const { left, top, bottom, width } = this.box.getBoundingClientRect();
    const zoom = /** @type {{ currentCSSZoom?: number }} */ (this.root).currentCSSZoom ?? 1; // a lecture's
    const below = innerHeight - bottom - 2 * GAP, isAbove = below < LEAST && top > below;
    const most = Math.min(MOST * zoom, isAbove ? top - 2 * GAP : below);
    this.list.style.cssText = `left: ${left / zoom}px; min-width: ${width / zoom}px; max-height: ${most / zoom}px;`
      + (isAbove ? `bottom: ${(innerHeight - top + GAP) / zoom}px` : `top: ${(bottom + GAP) / zoom}px`);
  }

  close() {
    if (!this.isOpen) return;
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
    this.list.hidePopover();
    this.input.value = this.isOne ? this.nameOf(this.chosen[0]) : "";
  }

  /** Which name Enter chooses. @param {number} at @param {boolean} [isFirst] then with those before and after it in sight */
  point(at, isFirst = false) {
    const { seen } = this;
    this.at = Math.max(0, Math.min(at, seen.length - 1));
    for (const item of this.items) item.classList.remove("pointed");
    const item = seen[this.at];
    if (!item) return this.input.removeAttribute("aria-activedescendant");
    item.classList.add("pointed");
    item.scrollIntoView({ block: isFirst ? "center" : "nearest" });
    this.input.setAttribute("aria-activedescendant", item.id);
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    const { key } = event;
    if (event.altKey || event.ctrlKey || event.metaKey || key === "Tab") return;
    if (key !== "Escape" || this.isOpen) event.stopPropagation(); // a letter here is no key of the page's
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 }[key];
    if (by) {
      if (this.isOpen) this.point(this.at + by);
      else this.open(true);
    } else if (key === "Enter" && this.isOpen) {
      const value = this.seen[this.at]?.dataset.value;
      if (value) this.choose(value);
    } else if (key === "Escape") this.close();
    else if (key === "Backspace" && !this.isOne && !this.input.value && this.chosen.length) this.choose(this.chosen[this.chosen.length - 1]);
    else return;
    event.preventDefault();
  }

  /** Take a name, or give it back. @param {string} value */
  choose(value) {
    const others = this.chosen.filter((one) => one !== value), isTaken = others.length < this.chosen.length;
    const chosen = this.isOne ? [value] : isTaken ? others : [...others, value];
    const isOther = !this.isOne || !isTaken;
    this.chosen = chosen;
    this.close();
    if (!isOther) return;
    this.draw();
    this.told = { chosen: JSON.stringify(chosen), at: performance.now() };
    dispatchEvent(new CustomEvent("chosen", { detail: { [this.data.key]: this.isOne ? value : chosen } })); // pictures listen
    this.tell("names", chosen);
    if (!this.isOne) this.input.focus({ preventScroll: true });
  }
}

export default served(".picker", mounting(loadStyle(new URL("style.css", import.meta.url)), Picker));
