// What one head's output from another prompt changes, for every head; and the heads that change most.

/** @import { HeroData, Mark, Sentence } from "../kit.js" */

import { _, digits, Hero, percent } from "../kit.js";
import { markMap } from "./gallery_map.js";

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

const ROWS = 7, STEP = 27, AXIS = 24, BARS = 330, GAP = 26, NAME = 68, VALUE = 62, PATCHED = "patched";

/** @extends {Hero<HeroData & Numbers>} */
export class Matter extends Hero {
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

  /** @override @returns {Mark[]} */
  marks() {
    const { data, stage, numbers } = this, { room } = stage, isPhone = room < 560, isBeside = room >= 760, wide = isBeside ? room - BARS - GAP : room;
    const step = data.prompts[0].length > 8 && room < 900 ? 56 : isPhone ? 30 : 32, top = 2 * step + 14, largest = Math.max(1e-9, ...numbers.map(Math.abs));
    const { marks: map, end } = this.markHeads(top, wide, largest), foot = end + (isPhone ? 80 : 34), rows = isBeside ? top : foot;
    stage.resize(room, Math.max(foot, rows + 24 + AXIS + ROWS * STEP + 6));
    return [
      ...this.markPrompts(step), this.markLegend([0, end + 6, wide, isPhone ? 66 : 24]),
      ...map, ...this.markRows(isBeside ? wide + GAP : 0, rows, isBeside ? BARS : room, largest),
    ];
  }

  /** All heads, and where they end. @param {number} top @param {number} wide @param {number} largest */
  markHeads(top, wide, largest) {
    const { data: { layers, heads }, numbers, chosen } = this, hues = numbers.map((value) => this.hueOf(value, largest));
    return markMap(this.scene, {
      top, wide, layers, heads, chosen, hues, lit: hues.map(() => true), told: numbers.map((value) => this.write(value)), letters: 14,
      choose: (layer, head) => this.follow(layer, head), chance: numbers.map((_value, place) => !this.passes(place)),
    });
  }

  /** Both prompts, and by how much each prefers its answer. @param {number} step @returns {Mark[]} */
  markPrompts(step) {
    const { data: { prompts, leads, answers }, stage: { room } } = this;
    return prompts.map(/** @returns {Mark} */ (tokens, which) => {
      const told = { lead: digits(Math.abs(leads[which])), answer: answers[which], other: answers[1 - which] };
      const said = room < 620 ? _("{answer} leads by {lead}", told) : _("the logit of {answer} is {lead} above that of {other}", told);
      const words = tokens.map((text, at) => ({ is: { other: text !== prompts[1 - which][at] }, text }));
      return { key: `prompt ${which}`, class: "matter-prompt", box: [0, 6 + which * step, room, step], parts: [...words, { key: `lead ${which}`, tag: "b", text: ` ▸ ${said}` }] };
    });
  }

  /** @param {[number, number, number, number]} box @returns {Mark} */
  markLegend(box) {
    const told = this.isPatched ? [_("towards the other answer"), _("away from it"), _("no more than random words")] : [_("adds to the lead"), _("takes from it")];
    return { key: "legend", class: "matter-legend", box, parts: told.map((text, at) => ({ class: ["more", "less", "chance"][at], text })) };
  }

  /** The heads that change most, and the chosen one. @param {number} left @param {number} top @param {number} width @param {number} largest @returns {Mark[]} */
  markRows(left, top, width, largest) {
    const { data, numbers, chosen, isPatched } = this;
    const most = numbers.map((_value, place) => place).sort((one, other) => Math.abs(numbers[other]) - Math.abs(numbers[one])).slice(0, ROWS);
    const listed = most.includes(chosen) ? most : [...most.slice(0, ROWS - 1), chosen], shown = listed.map((place) => numbers[place]);
    // 0 is the first answer, all of the way the second one.
    const low = Math.min(0, ...shown), end = Math.max(isPatched ? 1 : 0, ...shown), scale = (width - NAME - VALUE) / Math.max(1e-9, end - low), zero = left + NAME - low * scale;
    return [
      { key: "title", class: "text gallery-title", text: isPatched ? _("largest effects; line: random words") : _("largest direct effects, logits"), at: [left, top + 12, 15], hold: "left" },
      ...[zero, zero + scale].flatMap(/** @returns {Mark[]} */ (x, at) => [
        { key: `line ${at}`, class: "matter-line", box: [x - 1, top + AXIS + 17, 1, AXIS + ROWS * STEP - 15], opacity: at && !isPatched ? 0 : 1 },
        { key: `end ${at}`, class: "text quiet", text: isPatched ? data.answers[at] : at ? "" : "0", at: [x, top + 21 + AXIS / 2, 14], opacity: at && !isPatched ? 0 : 1 },
      ]),
      ...listed.flatMap(/** @returns {Mark[]} */ (place, at) => {
        const y = top + 24 + AXIS + at * STEP, number = numbers[place], isLess = number < 0, long = Math.max(2, Math.abs(number) * scale), chance = data.chance[place] ?? 0;
        const tick = zero + (isLess ? -chance : chance) * scale, isTold = isPatched && chance <= end && tick >= left + NAME;
        return [
          {
            key: `name ${at}`, tag: "button", class: "matter-name", is: { chosen: place === chosen }, text: this.nameOf(place), box: [left, y, NAME - 8, STEP - 3],
            click: () => this.follow(Math.floor(place / data.heads), place % data.heads),
          },
          {
            key: `bar ${at}`, class: "matter-bar", is: { "matter-chance": !this.passes(place) }, style: { "--hue": this.hueOf(isLess ? -largest : largest, largest) },
            box: [isLess ? zero - long : zero, y + 4, long, STEP - 11],
          },
          { key: `tick ${at}`, class: "gallery-chance", box: [tick - 1, y + 1, 3, STEP - 5], opacity: isTold ? 1 : 0 },
          { key: `value ${at}`, class: "text", text: this.write(number), at: [left + width - 4, y + STEP / 2 - 1, 15], hold: "right" },
        ];
      }),
    ];
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
