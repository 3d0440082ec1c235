// @ts-check
// One of two shelves: a row of K and of V for each word, a tick for each time that it was computed,
// and below them a bar in which all ticks are added up.

/** @import { ShelfPlace } from "./shelves_places.js" */

import { element } from "../../common/elements.js";
import { _, grouped } from "../../common/words.js";
import { Strip } from "../strip.js";

/** @typedef {import("../stage.js").Stage} Stage */
/** @typedef {{ key: Strip, value: Strip, band: HTMLElement, word: HTMLElement | null }} Row */
/**
 * @typedef {object} Shown
 * @property {number} step
 * @property {number[]} computed how many rows at each step, the last of those that there are
 * @property {boolean[]} wrong rows that are not what they should be
 * @property {number} wait milliseconds until new ticks fall into the bar; 0 if nothing moves
 */
/** @typedef {Record<"cache" | "key" | "value" | "sum", string[]>} ShelfNames bold, and what is said quietly behind it */

const SETTLES = 300; // milliseconds that ticks fall before their number counts
const GAPS = 4; // pixels of a row in the bar that can be told from the next one

export class Shelf {
  /** @param {Stage} stage @param {boolean} isAgain does it compute all rows again? */
  constructor(stage, isAgain) {
    this.stage = stage;
    this.isAgain = isAgain;
    const own = isAgain ? "again" : "";
    this.boards = stage.draw("path", "shelves-boards");
    this.before = stage.draw("path", `shelves-ticks ${own}`);
    this.now = stage.draw("path", `shelves-ticks now ${own}`);
    const named = (/** @type {string} */ name) => {
      const node = stage.add("div", `shelves-${name} ${own}`);
      node.append(element("b"), element("span"));
      return node;
    };
    this.names = { cache: named("title"), key: named("name key"), value: named("name value"), sum: named("label"), steps: named("name steps") };
    this.trough = stage.add("div", "shelves-trough");
    this.total = stage.add("div", `shelves-total ${own}`);
    /** @type {Row[]} */
    this.rows = [];
    /** @type {HTMLElement[]} */
    this.parts = [];
    this.landing = 0;
  }

  /** @param {ShelfNames} names */
  name(names) {
    for (const [kind, [bold, quiet = ""]] of Object.entries(names)) {
      const node = this.names[/** @type {keyof ShelfNames} */ (kind)];
      node.children[0].textContent = bold;
      node.children[1].textContent = quiet;
    }
  }

  /** @param {string[]} tokens @param {boolean} hasWords are they written here, or by another? */
  renew(tokens, hasWords) {
    for (const { key, value, band, word } of this.rows) for (const node of [key.node, value.node, band, word]) node?.remove();
    for (const part of this.parts) part.remove();
    const { stage } = this;
    this.rows = tokens.map((token) => ({
      band: stage.add("div", "shelves-band"),
      key: new Strip(stage, "key", "key"), value: new Strip(stage, "value", "value"),
      word: hasWords ? stage.add("div", "text shelves-word", token) : null,
    }));
    this.parts = tokens.map(() => stage.add("div", `shelves-part ${this.isAgain ? "again" : ""}`));
  }

  /** What does not change with the step. @param {ShelfPlace} plan @param {number} side */
  settle(plan, side) {
    const { stage, names } = this, [x, y] = plan.corners[side], { isStacked, width } = plan;
    const above = y + (isStacked ? 4 : 32), high = 20;
    const put = (/** @type {HTMLElement} */ node, /** @type {number} */ left, /** @type {number} */ wide, /** @type {number} */ at, opacity = 1) =>
      stage.put(node, { x: x + left, y: at, width: wide, height: high }, opacity);
    put(names.cache, 0, isStacked ? plan.key + 20 : width, y);
    put(names.key, plan.key, plan.strip, above);
    put(names.value, plan.value, plan.strip, above);
    const free = width - plan.value - plan.strip / 2 - stage.widths([_("value V")], 15, 700)[0] / 2 - 12;
    const steps = [_("computed at step →"), _("step →")].find((text) => stage.widths([text], 13, 400)[0] <= free) ?? "";
    names.steps.children[1].textContent = steps;
    put(names.steps, width - free, free, above, isStacked ? 0 : 1);
    stage.put(names.sum, { x, y: y + plan.bar - 5, width: plan.key - 12, height: plan.thick + 10 });
    const rows = this.rows.length, right = x + plan.value + plan.strip + 5, left = x + plan.key - 5, air = (plan.pitch - plan.high) / 2;
    const board = (/** @type {number} */ row) => `M${left} ${(y + plan.top + plan.pitch * row - air).toFixed(1)}H${right}`;
    const sides = [left, right].map((at) => `M${at} ${y + plan.top - air}V${(y + plan.top + plan.pitch * rows - air).toFixed(1)}`);
    this.boards.setAttribute("d", this.isAgain ? "" : [...this.rows.map((_row, row) => board(row + 1)), ...sides].join(""));
  }

  /** @param {ShelfPlace} plan @param {number} side @param {Shown} shown */
  place(plan, side, { step, computed, wrong, wait }) {
    const { stage } = this, [x, y] = plan.corners[side];
    const isNew = (/** @type {number} */ row) => row > step - computed[step];
    this.rows.forEach(({ key, value, band, word }, row) => {
      const isThere = row <= step, top = y + plan.top + plan.pitch * row, box = { y: top, width: plan.strip, height: plan.high };
      for (const [strip, left] of /** @type {[Strip, number][]} */ ([[key, plan.key], [value, plan.value]])) {
        strip.node.classList.toggle("new", isThere && isNew(row) && !this.isAgain);
        strip.node.classList.toggle("again", isThere && this.isAgain);
        stage.put(strip.node, { ...box, x: x + left }, isThere ? 1 : 0);
      }
      band.classList.toggle("again", this.isAgain);
      band.classList.toggle("wrong", wrong[row]);
      const air = (plan.pitch - plan.high) / 2, isMarked = this.isAgain || wrong[row];
      stage.put(band, { x: x + plan.key - 5, y: top - air, width: plan.value + plan.strip - plan.key + 10, height: plan.pitch }, isThere && isMarked ? 1 : 0);
      if (!word) return;
      word.classList.toggle("asks", row === step);
      word.classList.toggle("later", !isThere);
      stage.write(word, x + plan.words, top + plan.high / 2, plan.size, 1, 0, "right");
    });
    this.placeTicks(plan, side, step, computed);
    this.placeBar(plan, side, step, computed, wait);
  }

  /** A tick for each row, in the column of the step. @param {ShelfPlace} plan @param {number} side @param {number} step @param {number[]} computed */
  placeTicks(plan, side, step, computed) {
    const [x, y] = plan.corners[side], wide = Math.max(0.8, plan.tick - 2);
    const paths = ["", ""];
    for (let at = 0; at <= step; at++) for (let row = at - computed[at] + 1; row <= at; row++) {
      const left = x + plan.ticks + plan.tick * at + 1, top = y + plan.top + plan.pitch * row;
      paths[at === step ? 1 : 0] += `M${left.toFixed(1)} ${top.toFixed(1)}h${wide.toFixed(1)}v${plan.high.toFixed(1)}h${(-wide).toFixed(1)}z`;
    }
    this.before.setAttribute("d", paths[0]);
    this.now.setAttribute("d", paths[1]);
  }

  /** @param {ShelfPlace} plan @param {number} side @param {number} step @param {number[]} computed @param {number} wait */
  placeBar(plan, side, step, computed, wait) {
    const { stage } = this, [x, y] = plan.corners[side], { unit, thick } = plan, isFine = unit < GAPS;
    const all = (plan.width - plan.key) - 12, bar = { x: x + plan.key, y: y + plan.bar, height: thick };
    stage.put(this.trough, { ...bar, width: Math.min(all, unit * (computed.length * (computed.length + 1)) / 2) });
    let sum = 0;
    this.parts.forEach((part, at) => {
      const rows = computed[at], isThere = at <= step;
      part.style.setProperty("--unit", `${unit.toFixed(3)}px`);
      part.classList.toggle("fine", isFine);
      part.classList.toggle("now", at === step);
      if (isThere) stage.put(part, { ...bar, x: bar.x + unit * sum, width: Math.max(0.5, unit * rows - (isFine ? 0 : 1.5)) }, 1, at === step ? wait : 0);
      else stage.put(part, { x: x + plan.ticks + plan.tick * at, y: y + plan.top + plan.pitch * (at - rows + 1), width: plan.tick, height: plan.pitch * rows }, 0);
      if (isThere) sum += rows;
    });
    const write = () => { this.total.textContent = grouped(sum); };
    clearTimeout(this.landing);
    if (wait) this.landing = window.setTimeout(write, wait + SETTLES); else write();
    stage.write(this.total, bar.x + unit * sum + 8, bar.y + thick / 2, plan.isStacked ? 20 : 28, 1, wait, "left");
  }
}
