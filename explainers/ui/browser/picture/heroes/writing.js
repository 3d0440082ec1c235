// A model writes: each token with its candidates, the words that were looked at, and the cache that grows.

/** @import { HeroData, Mark, Sentence } from "../kit.js" */
/** @import { Settings, Step } from "./writing_chances.js" */

import { formatSize } from "../../common/sizes.js";
import { _, flow, grouped, Hero, localNumber, markRange, percent, readable } from "../kit.js";
import { computeChances } from "./writing_chances.js";

/**
 * @typedef {object} Numbers
 * @property {string[]} prompt in tokens
 * @property {Step[]} steps
 * @property {number[]} heats the temperatures above 0
 * @property {number[]} shares the offered top-p
 * @property {Record<string, string[]>} scales what each slider offers, by its name in the link
 * @property {Record<string, string>} drawn with which settings the text was written
 */
/** @typedef {[left: number, top: number, width: number]} Place */

const ROWS = 7, STEP = 27, RIGHT = 352, GAP = 30, NAME = 112, VALUE = 56, CACHE = 92, ALL = "all", EVERY = "every";
const SLIDERS = 32 + (ROWS + 1) * STEP, SLIDER = 34, CANDIDATES = SLIDERS + 3 * SLIDER + 2; // from the top of the candidates

/** @extends {Hero<HeroData & Numbers>} */
export class Writing extends Hero {
  get at() { return Math.min(Number(this.choices.write_step), this.data.steps.length - 1); }
  get step() { return this.data.steps[this.at]; }
  /** Where the last token stands that was read before this one was written. */
  get query() { return this.data.prompt.length + this.at - 1; }
  get tokens() { return [...this.data.prompt, ...this.data.steps.map(({ token }) => token)]; }

  /** @returns {Settings} */
  get settings() {
    const { write_heat: heat, write_k: count, write_p: share } = this.choices;
    return { temperature: Number(heat), topK: count === EVERY ? 0 : Number(count), topP: Number(share) };
  }

  get isAsDrawn() { return Object.entries(this.data.drawn).every(([key, value]) => String(this.choices[key]) === value); }

  /** The looks of this token, each with the colour of its head. */
  get looks() {
    const heads = [...new Set(this.step.looks.map(([, , head]) => head))];
    return this.step.looks.map(([word, weight, head, row]) => ({ word, weight, head, row, hue: `var(--head${heads.indexOf(head) % 8})` }));
  }

  /** @override */
  get leastInClass() { return 15; }

  /** The head whose whole row is shown, if there is one. */
  get looked() { return this.looks.find(({ head }) => head === this.choices.write_head); }

  /** @override @returns {Mark[]} */
  marks() {
    const { stage, looks } = this, { room } = stage, isBeside = room >= 760, isHalf = !isBeside && room >= 560, wide = isBeside ? room - RIGHT - GAP : room, half = room * 0.44;
    const text = this.placeWords(wide, room < 560 ? 17 : 20), heads = looks.filter(({ head }, at) => looks.findIndex((one) => one.head === head) === at);
    const high = 34 * Math.ceil((96 + heads.length * 88) / wide), below = text.foot + high + 12;
    /** @type {Place} */
    const candidates = isBeside ? [wide + GAP, 4, RIGHT] : [0, below, isHalf ? room - half - GAP : room];
    /** @type {Place} */
    const cache = isBeside ? [0, Math.max(below, 250), wide] : isHalf ? [room - half, below, half] : [0, below + CANDIDATES + 16, room];
    stage.resize(room, Math.max(candidates[1] + CANDIDATES, cache[1] + CACHE + 54));
    return [
      {
        key: "heads", class: "writing-heads", box: [0, text.foot, wide, high], parts: [
          { tag: "button", is: { chosen: !this.looked }, text: _("all heads"), click: () => this.choose({ write_head: ALL }) },
          ...heads.map(({ head, hue }) => ({
            tag: "button", is: { chosen: head === this.looked?.head }, text: head, style: { "--hue": hue }, click: () => this.choose({ write_head: this.looked?.head === head ? ALL : head }),
          })),
        ],
      },
      ...this.markCandidates(candidates), ...this.markWords(text), ...this.markCache(cache), ...this.markSliders(candidates),
    ];
  }

  /** Where words stand, in lines. @param {number} room @param {number} size */
  placeWords(room, size) {
    const { tokens } = this, pitch = size + 34, widths = this.stage.widths(tokens.map(show), size, 600).map((wide) => wide + 3);
    const words = flow(widths, tokens.map((token) => (/^\s/.test(token) ? size * 0.26 : 0)), room);
    const places = words.map(({ x, line }, at) => ({ x, y: 6 + line * pitch, wide: widths[at] }));
    return { places, size, foot: places[places.length - 1].y + pitch };
  }

  /** The text; below each word how much it was looked at. @param {ReturnType<typeof this.placeWords>} text @returns {Mark[]} */
  markWords({ places, size }) {
    const { data, looks, looked } = this;
    return this.tokens.flatMap(/** @returns {Mark[]} */ (token, at) => {
      const { x, y, wide } = places[at], step = at - data.prompt.length, isWritten = step >= 0, look = looked ?? looks.find(({ word }) => word === at);
      const key = `${at} ${isWritten ? "written" : ""} ${token}`, style = { "--hue": look?.hue ?? "transparent" };
      const seen = (looked ? looked.row[at] : look?.weight) ?? 0, isSeen = seen >= 0.005;
      return [
        {
          key: `word ${key}`, class: "writing-word", is: { chosen: step === this.at, query: at === this.query }, text: show(token),
          style: { "font-size": `${size}px` }, box: [x, y, wide, size + 8], opacity: step > this.at ? 0.38 : 1,
          ...(isWritten ? { tag: "button", class: "writing-word written", click: () => this.choose({ write_step: step, write_head: ALL }) } : {}),
        },
        { key: `mark ${key}`, class: "writing-mark", style, box: [x + 1, y + size + 9, wide - 2, 1.5 + 6 * seen], opacity: isSeen ? 1 : 0 },
        { key: `share ${key}`, class: "text writing-share", style, text: percent(seen), at: [x + wide / 2, y + size + 23, 15], opacity: isSeen && wide > 18 ? 1 : 0 },
      ];
    });
  }

  /** A column for each step: keys and values of all tokens read so far. @param {Place} place @returns {Mark[]} */
  markCache([left, top, room]) {
    const { data: { steps }, step } = this, most = steps[steps.length - 1].bytes, wide = Math.min(26, room / steps.length), foot = top + 28 + CACHE;
    const each = steps.length > 1 ? steps[1].bytes - steps[0].bytes : most, told = { size: formatSize(step.bytes), count: step.bytes / each, each: formatSize(each) };
    return [
      { key: "cache", class: "text writing-title", text: _("KV cache after each token"), at: [left, top + 10, 15], hold: "left" },
      { key: "size", class: "text writing-size", text: _("{size}: {count} tokens × {each}", told), at: [left, foot + 14, 15], hold: "left" },
      ...steps.flatMap(({ bytes }, at) => ["keys", "values"].map((kind, above) => /** @type {Mark} */ ({
        key: `${kind} ${at}`, class: `writing-${kind}`, is: { chosen: at === this.at }, opacity: at <= this.at ? 1 : 0.22,
        box: [left + at * wide, foot - ((above + 1) * CACHE * bytes) / most / 2, wide - 3, (CACHE * bytes) / most / 2],
      }))),
    ];
  }

  /** The most probable tokens, as the model has them and as they can be drawn. @param {Place} place @returns {Mark[]} */
  markCandidates([left, top, width]) {
    const { step, data } = this, { chances, own } = computeChances(step, this.settings, data.heats, data.shares);
    const listed = step.candidates.slice(0, ROWS).map(([text, logit], at) => ({ text, model: step.probability * Math.exp(logit - step.logit), chance: chances[at], isIt: at === step.place, opacity: 1 }));
    if (step.place >= ROWS) listed.push({ text: step.token, model: step.probability, chance: own, isIt: true, opacity: 1 });
    const scale = (width - NAME - VALUE) / Math.max(...listed.map(({ model, chance }) => Math.max(model, chance))), from = left + NAME;
    while (listed.length <= ROWS) listed.push({ text: "", model: 0, chance: 0, isIt: false, opacity: 0 });
    return [
      { key: "candidates", class: "text writing-title", text: _("Candidates for this token"), at: [left, top + 10, 15], hold: "left" },
      ...listed.flatMap(/** @returns {Mark[]} */ ({ text, model, chance, isIt, opacity }, at) => {
        const y = top + 26 + at * STEP, end = Math.max(2, model * scale), out = chance === 0;
        return [
          { key: `name ${at}`, class: "text", is: { chosen: isIt, out }, text: show(text), at: [from - 8, y + STEP / 2, 15], opacity, hold: "right" },
          { key: `bar ${at}`, class: "writing-bar", is: { chosen: isIt }, box: [from, y + 3, chance * scale, STEP - 6], opacity: out ? 0 : opacity },
          { key: `own ${at}`, class: "writing-own", box: [from, y + 3, end, STEP - 6], opacity },
          { key: `value ${at}`, class: "text", is: { out }, text: percent(chance), at: [from + Math.max(end, chance * scale) + 6, y + STEP / 2, 15], opacity, hold: "left" },
        ];
      }),
    ];
  }

  /** What changes the candidates. @param {Place} place @returns {Mark[]} */
  markSliders([left, top, width]) {
    const { data: { scales, drawn } } = this;
    return Object.entries({ write_heat: _("temperature"), write_k: _("top-k"), write_p: _("top-p") }).map(/** @returns {Mark} */ ([key, name], at) => {
      const chosen = String(this.choices[key]);
      const slide = markRange((value) => this.choose({ [key]: this.data.scales[key][value] }), scales[key].indexOf(chosen), { min: 0, max: scales[key].length - 1 });
      return {
        key: `slider ${key}`, tag: "label", class: "writing-slider", is: { drawn: chosen === drawn[key] }, box: [left, top + SLIDERS + at * SLIDER, width, 32],
        parts: [{ text: name }, slide, { tag: "output", text: chosen === EVERY ? _("all") : localNumber(chosen) }],
      };
    });
  }

  /** @override @returns {Sentence} */
  sentence() {
    const { step, data, looks, settings } = this, { own, count } = computeChances(step, settings, data.heats, data.shares);
    const look = this.looked ?? looks[0], row = look?.row ?? [], far = this.looked ? row.indexOf(Math.max(...row)) : look?.word ?? 0;
    const values = {
      token: show(step.token), model: percent(step.probability), share: percent(own), count: grouped(count), query: show(this.tokens[this.query]),
      word: show(this.tokens[far] ?? ""), weight: percent(row[far] ?? 0), head: look?.head ?? "", bytes: formatSize(step.bytes),
    };
    if (!this.isAsDrawn) return { name: own ? "hero_changed" : "hero_cut", values };
    return { name: count === 1 ? "hero_only" : "hero_drawn", values };
  }

  /** @override */
  describe() {
    const { chances } = computeChances(this.step, this.settings, this.data.heats, this.data.shares);
    const candidates = this.step.candidates.map(([text], at) => `${show(text)} ${percent(chances[at])}`).join(", ");
    return `${candidates}; ${this.looks.map(({ word, weight, head }) => `${head} ${show(this.tokens[word])} ${percent(weight)}`).join(", ")}; ${formatSize(this.step.bytes)}`;
  }
}

/** @param {string} token */
const show = (token) => readable(token) || "·";
