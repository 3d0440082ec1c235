// One memory in pages, and the tables of two prompts that point into it, step by step.

/** @import { Sentence } from "../hero.js" */
/** @import { Mark } from "../scene.js" */

import { _ } from "../../common/words.js";
import { markTitle, View } from "./serving_parts.js";

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

export class PagesView extends View {
  /** @override */
  frames() { return [1, 2, 3, 4, 5].map((step) => _("{count} of {all}", { count: String(step), all: "5" })); }

  get moment() { return this.hero.data.pages[this.hero.frame] ?? this.hero.data.pages[0]; }

  /** @returns {Mark[]} */
  marks() {
    const { hero: { stage }, moment: { slots, tables } } = this, { room } = stage, isPhone = room < 560;
    const across = isPhone ? 3 : room < 760 ? 4 : 6, tall = isPhone ? PAGE.onPhone : PAGE.height;
    const wide = (room - (across - 1) * PAGE.gap) / across, left = isPhone ? 0 : TITLE + 60;
    const step = Math.min(ENTRY + SPACE, (room - left) / 8), memory = (isPhone ? 24 : 0) + ENTRY + BETWEEN;
    const below = memory + Math.ceil(slots.length / across) * (tall + PAGE.gap) - PAGE.gap + BETWEEN, ends = [isPhone ? 24 : 0, below];
    /** @param {number} page @returns {[number, number, number, number]} */
    const placePage = (page) => [(page % across) * (wide + PAGE.gap), memory + Math.floor(page / across) * (tall + PAGE.gap), wide, tall];
    stage.resize(room, below + ENTRY + (isPhone ? 26 : 4));
    const marks = slots.map((_words, page) => this.markPage(page, placePage(page)));
    tables.forEach((table, prompt) => {
      const y = ends[prompt], title = isPhone ? (prompt ? below + ENTRY + 14 : 10) : y + ENTRY / 2;
      const ways = table.map((page, at) => {
        const x = left + at * step + ENTRY / 2, from = y + (prompt ? 0 : ENTRY), [pageX, top] = placePage(page);
        const px = pageX + wide * (prompt ? 0.6 : 0.4), py = top + (prompt ? tall : 0), half = (from + py) / 2;
        return `M${x.toFixed(1)} ${from}C${x.toFixed(1)} ${half} ${px.toFixed(1)} ${half} ${px.toFixed(1)} ${py}`;
      });
      marks.push(
        { key: `pointers ${prompt}`, tag: "svg:path", class: `serving-pointers prompt${prompt}`, attributes: { d: ways.join("") } },
        markTitle(`title ${prompt}`, _("table of prompt {number}", { number: prompt + 1 }), 0, title),
        ...table.map((page, at) => /** @type {Mark} */ ({
          key: `entry ${prompt} ${at}`, class: `serving-entry prompt${prompt}`, text: String(page + 1), box: [left + at * step, y, ENTRY, ENTRY],
        })),
      );
    });
    return marks;
  }

  /** @param {number} at @param {Mark["box"]} box @returns {Mark} */
  markPage(at, box) {
    const { slots, users, others, tables } = this.moment;
    const other = others.includes(at), shared = !other && users[at] > 1, second = !other && !shared && tables[1].includes(at);
    const parts = Array.from({ length: this.hero.data.block }, (_slot, slot) => ({ class: slots[at][slot] ? "full" : "", text: slots[at][slot] ?? "" }));
    return {
      key: `page ${at}`, class: "serving-page", is: { other, shared, free: users[at] === 0, second }, box, parts: [
        { tag: "b", class: "number", text: String(at + 1) },
        { class: "users", text: other ? _("another text") : shared ? _("used by {count}", { count: users[at] }) : users[at] ? "" : _("free") },
        { tag: "div", class: "slots", parts },
      ],
    };
  }

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
