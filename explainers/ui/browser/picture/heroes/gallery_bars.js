// @ts-check
// The scores of one head as bars: each beside what heads reach at random, and what a name needs.

/** @import { Stage } from "../stage.js" */

import { element } from "../../common/elements.js";
import { digits } from "../../common/numbers.js";
import { _ } from "../../common/words.js";

/**
 * @typedef {object} BarsState
 * @property {number} x
 * @property {number} y
 * @property {number} width
 * @property {string} title
 * @property {(number | null)[]} scores
 * @property {number[]} chance
 * @property {number[]} needed
 * @property {string[]} hues
 * @property {number[]} own names that the head has
 * @property {{ label: string, score: number, chance: number }[]} relations
 * @property {number} letters how large numbers are, and names that have room
 * @property {boolean} isBrief only the scores of the head's names, or its two best
 */

const TITLE = 24, ROW = 20, VALUE = 40, MOST_RELATIONS = 2;

export class HeadBars {
  /** @param {Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.title = stage.add("div", "text gallery-title");
    this.note = stage.add("div", "gallery-note");
    const atRandom = element("span", "", _("best at random")), needed = element("span", "", _("needed for the name"));
    this.note.append(element("i", "at-random"), atRandom, element("i", "needed"), needed);
    /** @type {{ name: HTMLElement, track: HTMLElement, bar: HTMLElement, needed: HTMLElement, chance: HTMLElement, value: HTMLElement }[]} */
    this.rows = [];
  }

  /** @param {string[]} labels */
  renew(labels) {
    for (const row of this.rows) for (const node of Object.values(row)) node.remove();
    const { stage } = this;
    this.rows = [...labels, ...Array(MOST_RELATIONS).fill("")].map((label) => ({
      name: stage.add("div", "text", label), track: stage.add("div", "gallery-track"),
      bar: stage.add("div", "gallery-bar"), needed: stage.add("div", "gallery-needed"),
      chance: stage.add("div", "gallery-chance"), value: stage.add("div", "text"),
    }));
  }

  /** Put everything to its place; returns where the bars end. @param {BarsState} state */
  place({ x, y, width, title, scores, chance, needed, hues, own, relations, isBrief, letters }) {
    const { stage, rows } = this, names = rows.map(({ name }) => name.textContent ?? "");
    const longest = Math.max(...stage.widths([...names, ...relations.map(({ label }) => label)], 1));
    const small = Math.max(14, Math.min(letters, (width * 0.58 - 10) / longest)), left = Math.min(width * 0.58, small * longest + 10);
    const long = width - left - VALUE;
    this.title.textContent = title;
    // In whole pixels: some screens round each letter up.
    const large = Math.floor(Math.min(17, (16 * width) / stage.widths([title], 17, 700)[0]));
    stage.write(this.title, x, y + TITLE / 2 - 2, large, 1, 0, "left");
    const shown = [
      ...scores.map((score, at) => ({ score, chance: chance[at], needed: needed[at], hue: hues[at], isOwn: own.includes(at), label: "" })),
      ...relations.map((one) => ({ ...one, needed: 0, hue: "var(--key)", isOwn: true })),
    ];
    const best = [...scores.keys()].sort((one, two) => (scores[two] ?? -1) - (scores[one] ?? -1));
    const kept = !isBrief ? best : own.length ? own : best.slice(0, 2);
    let line = 0;
    rows.forEach((row, at) => {
      const one = at >= scores.length || kept.includes(at) ? shown[at] : undefined;
      const top = y + TITLE + line * ROW, seen = one ? 1 : 0, score = one?.score ?? 0;
      line += seen;
      if (one?.label) row.name.textContent = one.label;
      for (const node of [row.name, row.value]) node.classList.toggle("quiet", !one?.isOwn);
      stage.write(row.name, x + left - 8, top + ROW / 2, small, seen, 0, "right");
      stage.put(row.track, { x: x + left, y: top + 3, width: long, height: ROW - 6 }, seen);
      row.bar.style.setProperty("--hue", one?.hue ?? "");
      row.bar.classList.toggle("low", !one?.isOwn);
      stage.put(row.bar, { x: x + left, y: top + 3, width: long * score, height: ROW - 6 }, seen);
      stage.put(row.needed, { x: x + left + long * (one?.needed ?? 0) - 1, y: top + 1, width: 2, height: ROW - 2 }, one?.needed ? 1 : 0);
      stage.put(row.chance, { x: x + left + long * (one?.chance ?? 0) - 1.5, y: top + 1, width: 3, height: ROW - 2 }, seen);
      row.value.textContent = one && one.score !== null ? digits(one.score) : "–";
      stage.write(row.value, x + width, top + ROW / 2, letters, seen, 0, "right");
    });
    const end = y + TITLE + line * ROW;
    stage.put(this.note, { x, y: end + 3, width, height: 22 });
    return end + 26;
  }
}
