// @ts-check
// A model writes: each token with its candidates, the words that were looked at, and the cache that grows.

/** @import { HeroData, Sentence } from "../hero.js" */
/** @import { Settings, Step } from "./writing_chances.js" */

import { element } from "../../common/elements.js";
import { formatSize } from "../../common/sizes.js";
import { _, grouped, localNumber } from "../../common/words.js";
import { Hero } from "../hero.js";
import { percent } from "../sentence.js";
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
/** @typedef {{ name: HTMLElement, own: HTMLElement, bar: HTMLElement, value: HTMLElement }} Row */
/** @typedef {{ box: HTMLElement, output: HTMLElement, range: HTMLInputElement }} Slider */

const ROWS = 7, STEP = 27, RIGHT = 352, GAP = 30, NAME = 112, VALUE = 56, CACHE = 92, ALL = "all", EVERY = "every";

/** @extends {Hero<HeroData & Numbers>} */
export class Writing extends Hero {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    root.classList.add("writing");
    const { stage } = this;
    /** @type {{ word: HTMLElement, mark: HTMLElement, share: HTMLElement }[]} */
    this.words = [];
    this.heads = stage.add("div", "writing-heads");
    this.titles = [_("Candidates for this token"), _("KV cache after each token")].map((text) => stage.add("div", "text writing-title", text));
    /** @type {Row[]} */
    this.rows = Array.from({ length: ROWS + 1 }, () => ({
      name: stage.add("div", "text"), bar: stage.add("div", "writing-bar"), own: stage.add("div", "writing-own"), value: stage.add("div", "text"),
    }));
    /** @type {Map<string, Slider>} */
    this.sliders = new Map();
    /** @type {{ keys: HTMLElement, values: HTMLElement }[]} */
    this.columns = [];
    this.size = stage.add("div", "text writing-size");
    this.shownFor = "";
  }

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

  /** @override */
  renew() {
    const shown = JSON.stringify([this.data.prompt, this.data.steps.map(({ token }) => token), this.data.scales]);
    if (shown === this.shownFor) return false;
    this.shownFor = shown;
    const { stage, data } = this;
    for (const { word, mark, share } of this.words) for (const node of [word, mark, share]) node.remove();
    this.words = this.tokens.map((text, at) => {
      const step = at - data.prompt.length, isWritten = step >= 0, word = stage.add(isWritten ? "button" : "div", isWritten ? "writing-word written" : "writing-word", show(text));
      if (isWritten) word.onclick = () => this.choose({ write_step: step, write_head: ALL });
      return { word, mark: stage.add("div", "writing-mark"), share: stage.add("div", "text writing-share") };
    });
    for (const { keys, values } of this.columns) for (const node of [keys, values]) node.remove();
    this.columns = data.steps.map(() => ({ keys: stage.add("div", "writing-keys"), values: stage.add("div", "writing-values") }));
    for (const { box } of this.sliders.values()) box.remove();
    const names = { write_heat: _("temperature"), write_k: _("top-k"), write_p: _("top-p") };
    this.sliders = new Map(Object.entries(names).map(([key, name]) => [key, this.makeSlider(key, name)]));
    return true;
  }

  /** @param {string} key @param {string} name @returns {Slider} */
  makeSlider(key, name) {
    const box = this.stage.add("label", "writing-slider"), range = element("input"), output = element("output"), steps = this.data.scales[key];
    box.append(element("span", "", name), range, output);
    Object.assign(range, { type: "range", min: "0", max: String(steps.length - 1) });
    range.oninput = () => this.choose({ [key]: steps[Number(range.value)] });
    range.onkeydown = (event) => event.stopPropagation();
    return { box, range, output };
  }

  /** @override */
  place() {
    const { stage } = this, { room } = stage, isBeside = room >= 760, isHalf = !isBeside && room >= 560;
    const wide = isBeside ? room - RIGHT - GAP : room, below = this.placeHeads(this.placeWords(wide, room < 560 ? 17 : 20), wide);
    const half = room * 0.44;
    if (isBeside) return stage.resize(room, Math.max(this.placeCache(Math.max(below, 250), 0, wide), this.placeCandidates(wide + GAP, 4, RIGHT)));
    const foot = this.placeCandidates(0, below, isHalf ? room - half - GAP : room);
    stage.resize(room, isHalf ? Math.max(foot, this.placeCache(below, room - half, half)) : this.placeCache(foot + 16, 0, room));
  }

  /** The text in lines; below each word how much it was looked at. @param {number} room @param {number} size */
  placeWords(room, size) {
    const { stage, data, looks } = this, high = size + 34, chosen = this.looked;
    const texts = this.tokens.map(show), long = stage.widths(texts, size, 600), space = size * 0.26;
    let x = 0, line = 0;
    this.words.forEach(({ word, mark, share }, at) => {
      const gap = /^\s/.test(this.tokens[at]) && x ? space : 0, wide = long[at] + 3;
      if (x + gap + wide > room && x) { x = 0; line += 1; } else x += gap;
      const step = at - data.prompt.length, y = 6 + line * high;
      const seen = chosen ? chosen.row[at] ?? 0 : looks.find((one) => one.word === at)?.weight ?? 0;
      const hue = (chosen ?? looks.find((one) => one.word === at))?.hue ?? "transparent", isSeen = seen >= 0.005 ? 1 : 0;
      word.classList.toggle("chosen", step === this.at);
      word.classList.toggle("query", at === this.query);
      word.style.fontSize = `${size}px`;
      stage.put(word, { x, y, width: wide, height: size + 8 }, step > this.at ? 0.38 : 1);
      mark.style.setProperty("--hue", hue);
      stage.put(mark, { x: x + 1, y: y + size + 9, width: wide - 2, height: 1.5 + 6 * seen }, isSeen);
      share.textContent = percent(seen);
      share.style.setProperty("--hue", hue);
      stage.write(share, x + wide / 2, y + size + 23, 15, isSeen && wide > 18 ? 1 : 0);
      x += wide;
    });
    return 6 + (line + 1) * high;
  }

  /** The head whose whole row is shown, if there is one. */
  get looked() { return this.looks.find(({ head }) => head === this.choices.write_head); }

  /** The heads that looked hardest. @param {number} top @param {number} room */
  placeHeads(top, room) {
    const { stage, looks } = this, heads = looks.filter(({ head }, at) => looks.findIndex((one) => one.head === head) === at);
    const all = element("button", this.looked ? "" : "chosen", _("all heads"));
    all.onclick = () => this.choose({ write_head: ALL });
    this.heads.replaceChildren(all, ...heads.map(({ head, hue }) => {
      const button = element("button", head === this.looked?.head ? "chosen" : "", head);
      button.style.setProperty("--hue", hue);
      button.onclick = () => this.choose({ write_head: this.looked?.head === head ? ALL : head });
      return button;
    }));
    const lines = Math.ceil((96 + heads.length * 88) / room), high = 34 * lines;
    stage.put(this.heads, { x: 0, y: top, width: room, height: high });
    return top + high + 12;
  }

  /** A column for each step: keys and values of all tokens read so far. @param {number} top @param {number} left @param {number} room */
  placeCache(top, left, room) {
    const { stage, data } = this, most = data.steps[data.steps.length - 1].bytes, wide = Math.min(26, room / data.steps.length);
    stage.write(this.titles[1], left, top + 10, 15, 1, 0, "left");
    const foot = top + 28 + CACHE;
    this.columns.forEach(({ keys, values }, at) => {
      const high = (CACHE * data.steps[at].bytes) / most / 2, seen = at <= this.at ? 1 : 0.22, place = { x: left + at * wide, width: wide - 3, height: high };
      stage.put(keys, { ...place, y: foot - high }, seen);
      stage.put(values, { ...place, y: foot - 2 * high }, seen);
      for (const node of [keys, values]) node.classList.toggle("chosen", at === this.at);
    });
    const each = data.steps.length > 1 ? data.steps[1].bytes - data.steps[0].bytes : most;
    this.size.textContent = _("{size}: {count} tokens × {each}", { size: formatSize(this.step.bytes), count: this.step.bytes / each, each: formatSize(each) });
    stage.write(this.size, left, foot + 14, 15, 1, 0, "left");
    return foot + 26;
  }

  /** The most probable tokens, as the model has them and as they can be drawn; and what changes that. @param {number} left @param {number} top @param {number} width */
  placeCandidates(left, top, width) {
    const { stage, step, data } = this, { chances, own } = computeChances(step, this.settings, data.heats, data.shares);
    const listed = step.candidates.slice(0, ROWS).map(([text, logit], at) => ({ text, model: this.ownOf(logit), chance: chances[at], isIt: at === step.place }));
    if (step.place >= ROWS) listed.push({ text: step.token, model: step.probability, chance: own, isIt: true });
    stage.write(this.titles[0], left, top + 10, 15, 1, 0, "left");
    const most = Math.max(...listed.map(({ model, chance }) => Math.max(model, chance))), scale = (width - NAME - VALUE) / most;
    this.rows.forEach(({ name, own: ghost, bar, value }, at) => {
      const one = listed[at], y = top + 26 + at * STEP, isSeen = one ? 1 : 0, { text, model, chance, isIt } = one ?? { text: "", model: 0, chance: 0, isIt: false };
      name.textContent = show(text);
      for (const node of [name, bar]) node.classList.toggle("chosen", isIt);
      for (const node of [name, value]) node.classList.toggle("out", chance === 0);
      stage.write(name, left + NAME - 8, y + STEP / 2, 15, isSeen, 0, "right");
      stage.put(ghost, { x: left + NAME, y: y + 3, width: Math.max(2, model * scale), height: STEP - 6 }, isSeen);
      stage.put(bar, { x: left + NAME, y: y + 3, width: chance * scale, height: STEP - 6 }, chance ? isSeen : 0);
      value.textContent = percent(chance);
      stage.write(value, left + NAME + Math.max(2, model * scale, chance * scale) + 6, y + STEP / 2, 15, isSeen, 0, "left");
    });
    let y = top + 26 + (ROWS + 1) * STEP + 6;
    for (const [key, { box, range, output }] of this.sliders) {
      const steps = data.scales[key], chosen = String(this.choices[key]);
      range.value = String(steps.indexOf(chosen));
      output.textContent = chosen === EVERY ? _("all") : localNumber(chosen);
      box.classList.toggle("drawn", chosen === data.drawn[key]);
      stage.put(box, { x: left, y, width, height: 32 });
      y += 34;
    }
    return y + 2;
  }

  /** A candidate's probability in the model itself. @param {number} logit */
  ownOf(logit) { return this.step.probability * Math.exp(logit - this.step.logit); }

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

/** A token as it is read. @param {string} text */
function show(text) {
  return text.trim() || text.replaceAll("\n", "↵").replaceAll(" ", "␣") || "·";
}
