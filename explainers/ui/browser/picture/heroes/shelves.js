// @ts-check
// Two shelves: a text is read word by word with a KV cache and without one. With it nothing moves but
// the new row; without it every row is computed again.

/** @import { Choice, HeroData, Sentence } from "../hero.js" */
/** @import { Dress } from "../palette.js" */
/** @import { ShelfPlace } from "./shelves_places.js" */

import { element, shape } from "../../common/elements.js";
import { digits } from "../../common/numbers.js";
import { _, grouped } from "../../common/words.js";
import { Hero } from "../hero.js";
import { isStill } from "../motion.js";
import { makeSignedRamp } from "../palette.js";
import { Film } from "../player.js";
import { Strip } from "../strip.js";
import { Words } from "../words.js";
import { Acts } from "./shelves_motion.js";
import { placeShelves } from "./shelves_places.js";
import { Shelf } from "./shelves_side.js";

/** @typedef {number[][]} Rows */
/** @typedef {Record<"query" | "key" | "value", Rows>} Stored what a layer computed for each word as it was read */
/**
 * @typedef {object} Again what a layer computes at a step if every word sees later words
 * @property {Rows} key
 * @property {Rows} value
 * @property {number[]} wrong stored rows that are other rows now
 * @property {number} difference the largest of a stored number
 */
/**
 * @typedef {object} Numbers
 * @property {string[]} tokens
 * @property {Stored[]} layers
 * @property {{ computed: [number, number], read: number, bytes: number, difference: number }[]} steps
 *   of one layer; with the cache and without it
 * @property {Again[][]} again of each layer, at each step
 */

const FULL = "full";
const KINDS = /** @type {const} */ (["key", "value"]);
const STEP = 1150; // milliseconds in which all of a step is seen
const FALLS = 380; // milliseconds until a step's ticks fall

/** @extends {Hero<HeroData & Numbers>} */
export class Shelves extends Hero {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    root.classList.add("shelves");
    this.wordsShown = "";
    this.stepShown = NaN;
    this.isForward = false;
    this.acts = new Acts();
    this.shelves = [false, true].map((isAgain) => new Shelf(this.stage, isAgain));
    const titles = [[_("With a cache"), _("computed once, then stored")], [_("Without a cache"), _("computed again at every step")]];
    this.shelves.forEach((shelf, side) => shelf.name({ cache: titles[side], key: [_("key K")], value: [_("value V")], sum: [_("rows computed"), _("so far")] }));
    this.lines = this.stage.draw("g", "shelves-lines");
    this.query = new Strip(this.stage, "query", "query");
    this.query.node.classList.add("shelves-query");
    this.asking = this.stage.add("div", "text shelves-asking", _("query"));
    this.words = new Words(this.stage, {
      label: _("The word that is read"),
      choose: (place) => { this.film.pause(); this.choose({ words_read: this.told(place) }); },
      peek: () => {},
    });
    this.counts = root.insertBefore(element("div", "shelves-counts"), this.says);
    this.counters = [_("rows computed in this step"), _("stored rows read"), _("bytes stored"), _("largest difference between both")].map((name) => {
      const count = this.counts.appendChild(element("div")), line = count.appendChild(element("div"));
      const parts = [element("b"), element("span"), element("b", "again"), element("span")];
      line.append(...parts);
      count.append(element("span", "", name));
      return parts;
    });
    this.film = new Film(this.bar, _("Step"), (frame) => this.wind(frame), { play: _("Play"), pause: _("Pause") });
    this.film.paused = () => { if (this.data) this.choose({ words_read: this.told(this.step) }); };
  }

  // What is chosen.

  get count() { return this.data.tokens.length; }
  /** The last word that was read, from 0. */
  get step() { return Math.max(1, Math.min(this.count, Number(this.choices.words_read))) - 1; }
  get layer() { return Number(this.choices.cache_layer) - 1; }
  get isFull() { return this.choices.cache_mask === FULL; }
  get again() { return this.data.again[this.layer][this.step]; }
  /** How much of its time a step has. */
  get pace() { return this.film.isPlaying ? Math.min(1, this.film.dwell / STEP) : 1; }

  /** How the server hears of a step: of the last one as in a text of any length. @param {number} step */
  told(step) { return step === this.count - 1 ? this.data.usual.words_read : step + 1; }

  /** A step of the film; the server hears of the last one. @param {number} frame */
  wind(frame) {
    if (!this.film.isPlaying) return this.choose({ words_read: this.told(frame) });
    this.choices.words_read = frame + 1;
    this.update();
  }

  /** While it plays, the film knows best where it is. @override @param {Record<string, Choice>} choices */
  obey(choices) {
    const read = this.choices.words_read;
    super.obey(choices);
    if (this.film.isPlaying) this.choices.words_read = read;
  }

  /** @override */
  offer() {
    super.offer();
    if (this.film.root.parentElement !== this.bar) this.bar.prepend(this.film.root);
  }

  /** @override */
  update() {
    this.isForward = this.step === this.stepShown + 1 && !isStill() && !document.hidden;
    this.root.classList.toggle("quick", !this.isForward);
    this.says.setAttribute("aria-live", this.film.isPlaying ? "off" : "polite");
    if (!this.isForward && this.step !== this.stepShown) this.acts.stop();
    this.film.show(this.step, true);
    super.update();
    if (this.isForward && this.plan) {
      const lines = [...this.lines.children], { shelves } = this, query = this.query.node;
      this.acts.perform(this.plan, this.step, this.pace, { shelves, query, lines });
    }
    this.isForward = false;
    this.stepShown = this.step;
  }

  // Nodes.

  /** @override @param {boolean} isFirst */
  renew(isFirst) {
    const { tokens } = this.data, shown = tokens.join("\0");
    if (!isFirst && shown === this.wordsShown) return false;
    this.wordsShown = shown;
    this.stepShown = NaN;
    this.acts.stop();
    if (!isFirst) this.film.stop();
    this.shelves.forEach((shelf) => shelf.renew(tokens, shelf.isAgain));
    this.stage.root.append(this.query.node); // it flies over the rows
    this.lines.replaceChildren(...tokens.map(() => shape("path", { class: "shelves-line" })));
    this.words.renew(tokens);
    this.film.offer(tokens.map((_token, place) => _("{step} of {all}", { step: place + 1, all: tokens.length })));
    return true;
  }

  /** @override @param {Dress} dress */
  dressed({ look, background }) {
    this.ramps = { query: makeSignedRamp(background, look.query, look.below), key: makeSignedRamp(background, look.key, look.below), value: makeSignedRamp(background, look.value, look.below) };
  }

  // Places.

  /** @override */
  measure() {
    const { stage, data } = this, rows = data.steps.reduce((sum, { computed }) => sum + computed[1], 0);
    this.plan = placeShelves(stage, data.tokens, rows);
    stage.resize(stage.room, this.plan.height);
    this.root.classList.toggle("dense", this.plan.pitch < 18);
  }

  /** @override */
  place() {
    const plan = /** @type {ShelfPlace} */ (this.plan), { data, step, stage } = this;
    const wait = this.isForward ? FALLS * this.pace : 0, wrong = new Set(this.isFull ? this.again.wrong : []);
    this.shelves.forEach((shelf, side) => {
      shelf.settle(plan, side);
      const computed = data.steps.map((one) => one.computed[side]);
      shelf.place(plan, side, { step, computed, wait, wrong: data.tokens.map((_token, row) => side === 0 && wrong.has(row)) });
    });
    const [x, y] = plan.corners[0];
    this.words.buttons.forEach((button, row) => stage.write(button, x + plan.words, y + plan.top + plan.pitch * row + plan.high / 2, plan.size, 1, 0, "right"));
    const names = data.tokens.map((token, row) => _("word {place}: {word}", { place: row + 1, word: token }));
    this.words.show({ chosen: step, shown: step, names, hidden: data.tokens.map((_token, row) => row > step) });
    stage.write(this.asking, x + plan.key - 10, y + 42, 15, plan.isStacked ? 0 : 1, 0, "right");
    this.placeLines(plan);
    this.placeQuery(plan);
    this.writeCounts();
  }

  /** A dotted line to every stored row that the query reads. @param {ShelfPlace} plan */
  placeLines(plan) {
    const [x, y] = plan.corners[0], at = x + plan.key - 8, { step } = this;
    [...this.lines.children].forEach((line, row) => {
      const far = (step - row) / Math.max(1, this.count - 1), out = at - (plan.gutter - 12) * (0.34 + 0.66 * far) * 1.333;
      const [from, to] = [step, row].map((one) => y + plan.top + plan.pitch * one + plan.high / 2);
      line.setAttribute("d", `M${at} ${from}C${out} ${from} ${out} ${to} ${at} ${to}`);
      /** @type {SVGElement} */ (line).style.opacity = row < step ? "1" : "0";
    });
  }

  /** Where the query is when nothing moves: it has been used, and is not there. @param {ShelfPlace} plan */
  placeQuery(plan) {
    const [x, y] = plan.corners[0];
    this.stage.put(this.query.node, { x: x + plan.key, y: y + plan.top + plan.pitch * this.step, width: plan.strip, height: plan.high }, 0);
  }

  writeCounts() {
    const { computed: [kept, all], read, bytes } = this.data.steps[this.step];
    const numbers = [[kept, all], [read, 0], [bytes, 0]].map((both) => both.map(grouped));
    [...numbers, [this.difference, ""]].forEach(([yes, no], at) => {
      const parts = this.counters[at], texts = [yes, no && _("with"), no, no && _("without")];
      parts.forEach((part, place) => { part.textContent = texts[place]; });
    });
  }

  /** Of what is stored from what is computed again, so far. */
  get difference() {
    const most = this.isFull ? this.again.difference : Math.max(...this.data.steps.slice(0, this.step + 1).map((one) => one.difference));
    return most === 0 ? "0" : this.isFull ? digits(most) : most.toExponential(0);
  }

  /** @override */
  goal() {
    const stored = this.data.layers[this.layer], { again, count } = this;
    /** @type {Record<string, Rows>} */
    const goal = { query: stored.query };
    for (const kind of KINDS) {
      goal[`${kind}0`] = stored[kind];
      goal[`${kind}1`] = this.isFull ? [...again[kind], ...stored[kind].slice(again[kind].length, count)] : stored[kind];
    }
    return goal;
  }

  /** @override */
  paint() {
    const { ramps, tween } = this, stored = this.data.layers[this.layer];
    if (!ramps) return;
    for (const kind of KINDS) {
      const limit = Math.max(...stored[kind].flat().map(Math.abs)) * 0.9;
      this.shelves.forEach((shelf, side) => shelf.rows.forEach((row, place) => row[kind].fill(tween.row(`${kind}${side}`, place), limit, ramps[kind])));
    }
    const asking = tween.row("query", this.step);
    this.query.fill(asking, Math.max(...stored.query.flat().map(Math.abs)) * 0.9, ramps.query);
  }

  // In words.

  /** @param {number} count */
  rows(count) { return count === 1 ? _("1 row") : _("{count} rows", { count: count.toLocaleString("en") }); }

  /** @override @returns {Sentence} */
  sentence() {
    const { data, step, count } = this, { computed: [kept, all], read } = data.steps[step];
    const sum = (/** @type {number} */ side) => data.steps.slice(0, step + 1).reduce((total, one) => total + one.computed[side], 0).toLocaleString("en");
    const values = {
      step: `${step + 1}`, word: data.tokens[step], words: `${count}`, layer: `${this.layer + 1}`,
      new_rows: this.rows(kept), kept_rows: this.rows(read), again_rows: this.rows(all), rows: sum(0), rows_again: sum(1),
      stored: this.rows(step + 1), wrong: `${this.again.wrong.length}`, difference: this.difference,
    };
    return { name: this.nameSentence(), values, classes: { word: "query", again_rows: "wrong", rows_again: "wrong", wrong: "wrong" } };
  }

  nameSentence() {
    if (this.step === 0) return "hero_first";
    if (this.isFull) return this.again.wrong.length ? "hero_wrong" : "hero_right";
    if (this.step < this.count - 1) return "hero_seen";
    return this.difference === "0" ? "hero_last" : "hero_close";
  }

  /** @override */
  describe() {
    const { data, layer } = this, stored = data.layers[layer];
    this.shelves.forEach((shelf, side) => shelf.rows.forEach((row, place) => {
      for (const kind of KINDS) {
        const numbers = side && this.isFull ? (this.again[kind][place] ?? stored[kind][place]) : stored[kind][place];
        row[kind].describe(`${kind === "key" ? _("key K") : _("value V")}, ${data.tokens[place]}`, numbers);
        row[kind].node.title = row[kind].node.getAttribute("aria-label") ?? "";
      }
    }));
    return data.steps.map(({ computed: [kept, all] }, place) => _("{place} {word}: {kept} with the cache, {all} without", {
      place: place + 1, word: data.tokens[place], kept: this.rows(kept), all: this.rows(all),
    })).join("; ");
  }
}
