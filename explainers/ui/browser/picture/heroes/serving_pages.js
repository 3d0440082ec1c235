// @ts-check
// One memory in pages, and the tables of two prompts that point into it, step by step.

/** @import { Sentence } from "../hero.js" */
/** @import { Serving } from "./serving.js" */

import { element, shape } from "../../common/elements.js";
import { _ } from "../../common/words.js";

/**
 * @typedef {object} Moment the memory after a step
 * @property {string[][]} slots of each page, as far as they are filled
 * @property {number[]} users texts that point at each page
 * @property {number[]} others pages of other texts
 * @property {[number[], number[]]} tables pages of both prompts, in order
 * @property {[number, number]} filled slots of both
 * @property {number} copied rows
 */

const ENTRY = 30, SPACE = 8, PAGE = { height: 82, onPhone: 96, gap: 14 }, BETWEEN = 50, TITLE = 92;

export class PagesView {
  /** @param {Serving} hero */
  constructor(hero) {
    this.hero = hero;
    this.root = hero.addView("pages");
    this.lines = /** @type {SVGSVGElement} */ (this.root.appendChild(shape("svg", { class: "serving-lines", "aria-hidden": "true" })));
    this.paths = [0, 1].map((prompt) => this.lines.appendChild(shape("path", { class: `serving-pointers prompt${prompt}` })));
    this.titles = [1, 2].map((number) => this.root.appendChild(element("div", "text serving-name strong", _("table of prompt {number}", { number }))));
    /** @type {HTMLElement[]} */
    this.pages = [];
    /** @type {HTMLElement[][]} entries of both tables */
    this.entries = [[], []];
    /** @type {string[]} */
    this.names = [1, 2, 3, 4, 5].map((step) => _("{count} of {all}", { count: String(step), all: "5" }));
  }

  frames() { return this.names; }

  get moment() { return this.hero.data.pages[this.hero.frame] ?? this.hero.data.pages[0]; }

  place() {
    const { hero, moment } = this, { stage } = hero, { room } = stage, isPhone = room < 560;
    const across = isPhone ? 3 : room < 760 ? 4 : 6, tall = isPhone ? PAGE.onPhone : PAGE.height, count = moment.slots.length, rows = Math.ceil(count / across);
    const wide = (room - (across - 1) * PAGE.gap) / across, left = isPhone ? 0 : TITLE + 60;
    const step = Math.min(ENTRY + SPACE, (room - left) / 8), memory = (isPhone ? 24 : 0) + ENTRY + BETWEEN;
    const below = memory + rows * (tall + PAGE.gap) - PAGE.gap + BETWEEN, ends = [isPhone ? 24 : 0, below];
    this.placePages(across, wide, memory, tall);
    this.titles.forEach((title, prompt) => stage.write(title, 0, isPhone ? (prompt ? below + ENTRY + 14 : 10) : ends[prompt] + ENTRY / 2, 15, 1, 0, "left"));
    moment.tables.forEach((table, prompt) => {
      this.fillTable(prompt, table, left, ends[prompt], step);
      this.paths[prompt].setAttribute("d", table.map((page, at) => {
        const x = left + at * step + ENTRY / 2, y = ends[prompt] + (prompt ? 0 : ENTRY);
        const px = (page % across) * (wide + PAGE.gap) + wide * (prompt ? 0.6 : 0.4), row = Math.floor(page / across);
        const py = memory + row * (tall + PAGE.gap) + (prompt ? tall : 0), half = (y + py) / 2;
        return `M${x.toFixed(1)} ${y}C${x.toFixed(1)} ${half} ${px.toFixed(1)} ${half} ${px.toFixed(1)} ${py}`;
      }).join(""));
    });
    const height = below + ENTRY + (isPhone ? 26 : 4);
    this.lines.setAttribute("viewBox", `0 0 ${room} ${height}`);
    stage.put(/** @type {HTMLElement} */ (/** @type {unknown} */ (this.lines)), { x: 0, y: 0, width: room, height });
    return height;
  }

  /** @param {number} across @param {number} wide @param {number} top @param {number} tall */
  placePages(across, wide, top, tall) {
    const { moment, hero: { stage, data } } = this, { slots, users, others } = moment;
    while (this.pages.length < slots.length) {
      const page = this.root.appendChild(element("div", "serving-page"));
      page.append(element("b", "number"), element("span", "users"), element("div", "slots"));
      this.pages.push(page);
    }
    this.pages.forEach((page, at) => {
      const inside = slots[at], isOther = others.includes(at), isShared = !isOther && users[at] > 1;
      page.hidden = !inside;
      if (!inside) return;
      const [number, count, rows] = page.children;
      number.textContent = String(at + 1);
      count.textContent = isOther ? _("another text") : isShared ? _("used by {count}", { count: users[at] }) : users[at] ? "" : _("free");
      const words = Array.from({ length: data.block }, (_slot, slot) => element("span", inside[slot] ? "full" : "", inside[slot] ?? ""));
      rows.replaceChildren(...words);
      page.classList.toggle("other", isOther);
      page.classList.toggle("shared", isShared);
      page.classList.toggle("free", users[at] === 0);
      page.classList.toggle("second", !isOther && moment.tables[1].includes(at) && !isShared);
      stage.put(page, { x: (at % across) * (wide + PAGE.gap), y: top + Math.floor(at / across) * (tall + PAGE.gap), width: wide, height: tall });
    });
  }

  /** @param {number} prompt @param {number[]} table @param {number} left @param {number} y @param {number} step */
  fillTable(prompt, table, left, y, step) {
    const entries = this.entries[prompt];
    while (entries.length < table.length) entries.push(this.root.appendChild(element("div", `serving-entry prompt${prompt}`)));
    entries.forEach((entry, at) => {
      entry.hidden = at >= table.length;
      entry.textContent = String((table[at] ?? 0) + 1);
      this.hero.stage.put(entry, { x: left + at * step, y, width: ENTRY, height: ENTRY });
    });
  }

  paint() {}

  /** @returns {Sentence} */
  sentence() {
    const { moment, hero } = this, { data, frame } = hero, pages = data.pages;
    const [first, second] = moment.tables, own = first.filter((page) => !second.includes(page));
    const before = pages[Math.max(0, frame - 1)].tables, freed = before[0].filter((page) => !second.includes(page)).length;
    const together = new Set([...first, ...second]).size;
    const values = {
      first: String(data.tokens[0].length), shared: String(pages[1].filled[1]), copied: String(moment.copied), freed: String(freed),
      pages: String([first.length, second.length, own.length, together, together][frame]), alone: String(first.length + second.length),
    };
    const name = frame === 2 && !moment.copied ? "hero_pages_2_new" : `hero_pages_${frame}`;
    return { name, values, classes: { pages: "key", freed: "key" } };
  }

  describe() {
    const { tables, slots } = this.moment;
    return tables.map((table, prompt) => `${prompt + 1}: ${table.map((page) => `${page + 1} (${slots[page].join(" ")})`).join(", ")}`).join(". ");
  }
}
