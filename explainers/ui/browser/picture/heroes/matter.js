// @ts-check
// What one head's output from another prompt changes, for every head; and the heads that change most.

/** @import { HeroData, Sentence } from "../hero.js" */

import { element } from "../../common/elements.js";
import { digits } from "../../common/numbers.js";
import { _ } from "../../common/words.js";
import { Hero } from "../hero.js";
import { percent } from "../sentence.js";
import { HeadMap } from "./gallery_map.js";

/**
 * @typedef {object} Numbers heads are in order, layer by layer
 * @property {[string, string, string]} keys the choices of a layer, of a head of it, and of what is shown
 * @property {number} layers
 * @property {number} heads of each layer
 * @property {[string[], string[]]} prompts in tokens
 * @property {[string, string]} answers
 * @property {[number, number]} leads of the first answer over the second, in each prompt
 * @property {number[]} effects of every head: 0 the first prompt's answer, 1 the second one's
 * @property {number[]} chance the largest effect of random words on each head
 * @property {boolean[]} passes is its own effect larger than any of random words?
 * @property {number} draws of random words
 * @property {number} lucky how many heads would pass by chance
 * @property {number[]} direct what each head adds to the first lead
 */
/** @typedef {{ name: HTMLElement, bar: HTMLElement, tick: HTMLElement, value: HTMLElement }} Row */
/** @typedef {{ zero: number, scale: number, end: number }} Axis where 0 is drawn, how long 1 is, and the last number */

const ROWS = 7, STEP = 27, AXIS = 24, BARS = 330, GAP = 26, NAME = 68, VALUE = 62, PATCHED = "patched";

/** @extends {Hero<HeroData & Numbers>} */
export class Matter extends Hero {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    root.classList.add("gallery", "matter");
    this.prompts = [0, 1].map(() => this.stage.add("div", "matter-prompt"));
    this.title = this.stage.add("div", "text gallery-title");
    this.ends = [0, 1].map(() => ({ line: this.stage.add("div", "matter-line"), name: this.stage.add("div", "text quiet") }));
    this.legend = this.stage.add("div", "matter-legend");
    this.map = new HeadMap(this.stage, (layer, head) => this.follow(layer, head));
    /** @type {Row[]} */
    this.rows = Array.from({ length: ROWS }, () => ({
      name: this.stage.add("button", "matter-name"), bar: this.stage.add("div", "matter-bar"),
      tick: this.stage.add("div", "gallery-chance"), value: this.stage.add("div", "text"),
    }));
    this.shownFor = "";
  }

  get chosen() { return Number(this.choices[this.data.keys[0]]) * this.data.heads + Number(this.choices[this.data.keys[1]]); }
  get isPatched() { return String(this.choices[this.data.keys[2]]) === PATCHED; }
  get numbers() { return this.isPatched ? this.data.effects : this.data.direct; }

  /** @param {number} layer @param {number} head */
  follow(layer, head) { this.choose({ [this.data.keys[0]]: layer, [this.data.keys[1]]: head }); }

  /** @param {number} place */
  nameOf(place) { return `L${Math.floor(place / this.data.heads)}.H${place % this.data.heads}`; }

  /** Does a head do more than random words? @param {number} place */
  passes(place) { return !this.isPatched || this.data.passes[place]; }

  /** @param {number} value */
  write(value) { return this.isPatched ? `${value < 0 ? "−" : ""}${percent(Math.abs(value))}` : `${value < 0 ? "−" : "+"}${digits(Math.abs(value))}`; }

  /** @override */
  renew() {
    const { data } = this, shown = JSON.stringify([data.layers, data.heads, data.prompts]);
    if (shown === this.shownFor) return false;
    this.shownFor = shown;
    this.map.renew(data.layers, data.heads);
    return true;
  }

  /** @override */
  place() {
    const { data, stage, numbers } = this, room = stage.room, isPhone = room < 560, isBeside = room >= 760;
    const top = this.placePrompts(isPhone, data.prompts[0].length > 8 && room < 900);
    const wide = isBeside ? room - BARS - GAP : room, largest = Math.max(1e-9, ...numbers.map(Math.abs));
    const hues = numbers.map((value) => this.hueOf(value, largest));
    const told = numbers.map((value) => this.write(value));
    const end = this.map.place({ top, wide, chosen: this.chosen, hues, lit: hues.map(() => true), told, letters: 14 });
    this.map.cells.forEach((row, head) => row.forEach((cell, layer) => {
      cell.classList.toggle("matter-chance", !this.passes(layer * data.heads + head));
    }));
    this.legend.replaceChildren(...this.listLegend());
    stage.put(this.legend, { x: 0, y: end + 6, width: wide, height: isPhone ? 66 : 24 });
    const foot = end + (isPhone ? 80 : 34);
    const below = this.placeRows(isBeside ? wide + GAP : 0, isBeside ? top : foot, isBeside ? BARS : room, largest);
    stage.resize(room, Math.max(foot, below));
  }

  listLegend() {
    if (!this.isPatched) return [element("span", "more", _("adds to the lead")), element("span", "less", _("takes from it"))];
    return [
      element("span", "more", _("towards the other answer")), element("span", "less", _("away from it")),
      element("span", "chance", _("no more than random words")),
    ];
  }

  /** Both prompts, and by how much each prefers its answer. @param {boolean} isPhone @param {boolean} isLong */
  placePrompts(isPhone, isLong) {
    const { data, stage } = this, differs = data.prompts[0].map((token, at) => token !== data.prompts[1][at]), step = isLong ? 56 : isPhone ? 30 : 32, isNarrow = stage.room < 620;
    this.prompts.forEach((node, which) => {
      const words = data.prompts[which].map((token, at) => element("span", differs[at] ? "other" : "", token));
      const lead = digits(Math.abs(data.leads[which])), answer = data.answers[which], other = data.answers[1 - which];
      const said = isNarrow ? _("{answer} leads by {lead}", { answer, lead }) : _("the logit of {answer} is {lead} above that of {other}", { answer, lead, other });
      node.replaceChildren(...words, element("b", "", ` ▸ ${said}`));
      stage.put(node, { x: 0, y: 6 + which * step, width: stage.room, height: step });
    });
    return 2 * step + 14;
  }

  /** The heads that change most, and the chosen one. @param {number} left @param {number} top @param {number} width @param {number} largest */
  placeRows(left, top, width, largest) {
    const { data, stage, numbers, chosen } = this;
    const most = numbers.map((_value, place) => place).sort((one, other) => Math.abs(numbers[other]) - Math.abs(numbers[one])).slice(0, ROWS);
    const listed = most.includes(chosen) ? most : [...most.slice(0, ROWS - 1), chosen];
    this.title.textContent = this.isPatched ? _("largest effects; line: random words") : _("largest direct effects, logits");
    stage.write(this.title, left, top + 12, 15, 1, 0, "left");
    const { zero, scale, end } = this.placeAxis(left, top + 21, width, listed.map((place) => numbers[place] ?? 0));
    this.rows.forEach(({ name, bar, tick, value }, at) => {
      const place = listed[at], y = top + 24 + AXIS + at * STEP, number = numbers[place] ?? 0, long = Math.max(2, Math.abs(number) * scale);
      const isSeen = place === undefined ? 0 : 1, chance = data.chance[place] ?? 0;
      name.textContent = isSeen ? this.nameOf(place) : "";
      name.classList.toggle("chosen", place === chosen);
      name.onclick = () => this.follow(Math.floor(place / data.heads), place % data.heads);
      stage.put(name, { x: left, y, width: NAME - 8, height: STEP - 3 }, isSeen);
      bar.style.setProperty("--hue", this.hueOf(number < 0 ? -largest : largest, largest));
      bar.classList.toggle("matter-chance", !this.passes(place));
      stage.put(bar, { x: number < 0 ? zero - long : zero, y: y + 4, width: long, height: STEP - 11 }, isSeen);
      const isDrawn = this.isPatched && isSeen && chance <= end ? 1 : 0, mark = zero + (number < 0 ? -chance : chance) * scale;
      stage.put(tick, { x: mark - 1, y: y + 1, width: 3, height: STEP - 5 }, mark < left + NAME ? 0 : isDrawn);
      value.textContent = this.write(number);
      stage.write(value, left + width - 4, y + STEP / 2 - 1, 15, isSeen, 0, "right");
    });
    return top + 24 + AXIS + ROWS * STEP + 6;
  }

  /** What the bars are measured on: 0 is the first answer, all of the way the second one. @param {number} left @param {number} y @param {number} width @param {number[]} shown @returns {Axis} */
  placeAxis(left, y, width, shown) {
    const { stage, isPatched, data } = this, low = Math.min(0, ...shown), end = Math.max(isPatched ? 1 : 0, ...shown);
    const scale = (width - NAME - VALUE) / Math.max(1e-9, end - low), zero = left + NAME - low * scale;
    const [first, last] = this.ends, tall = AXIS + ROWS * STEP - 15;
    first.name.textContent = isPatched ? data.answers[0] : "0";
    last.name.textContent = isPatched ? data.answers[1] : "";
    [{ ...first, x: zero, isSeen: 1 }, { ...last, x: zero + scale, isSeen: isPatched ? 1 : 0 }].forEach(({ line, name, x, isSeen }) => {
      stage.put(line, { x: x - 1, y: y + AXIS - 4, width: 1, height: tall }, isSeen);
      stage.write(name, x, y + AXIS / 2, 14, isSeen);
    });
    return { zero, scale, end };
  }

  /** @param {number} value @param {number} largest */
  hueOf(value, largest) {
    const share = Math.round(100 * Math.min(1, Math.abs(value) / largest) ** 0.6);
    return `color-mix(in srgb, var(${value < 0 ? "--below" : "--head0"}) ${share}%, var(--st-background-color))`;
  }

  /** @override @returns {Sentence} */
  sentence() {
    const { data, chosen } = this, effect = data.effects[chosen];
    const values = {
      head: this.nameOf(chosen), share: percent(Math.abs(effect)), chance: percent(data.chance[chosen]), draws: String(data.draws), lucky: String(data.lucky),
      first: data.answers[0], second: data.answers[1], lead: digits(data.leads[0]), direct: this.write(data.direct[chosen]),
      passed: String(data.passes.filter(Boolean).length), all: String(data.effects.length),
    };
    if (!this.isPatched) return { name: "hero_direct", values };
    if (!this.passes(chosen)) return { name: "hero_nothing", values };
    return { name: effect < 0 ? "hero_against" : "hero_towards", values };
  }

  /** @override */
  describe() {
    return this.numbers.map((value, place) => `${this.nameOf(place)} ${this.write(value)}`).join("; ");
  }
}
