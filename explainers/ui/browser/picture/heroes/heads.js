// @ts-check
// Heads under each other, each in a colour of its own: where one word looks.

/** @import { Choice, Hero as Base, HeroData, Sentence } from "../hero.js" */

import { element } from "../../common/elements.js";
import { _ } from "../../common/words.js";
import { ArcStrip } from "../arc_strip.js";
import { WordHero } from "../word_hero.js";
import { placeHeads } from "./heads_places.js";
import { isWord, percent } from "../sentence.js";

/**
 * @typedef {object} Layer heads; small ones all have equally many parameters
 * @property {number[][][]} weights of each head
 * @property {number[][][]} parts for each word, the product of what any two of them add to its output
 */
/**
 * @typedef {object} Numbers
 * @property {string[]} tokens
 * @property {Record<string, Layer>} layers by their numbers of heads
 */
/**
 * @typedef {object} Row of the picture: a head, or the single head above them
 * @property {ArcStrip} strip
 * @property {HTMLElement} name
 * @property {HTMLElement} line
 * @property {HTMLButtonElement} lamp
 */

const HUES = 8, TOLD = "4"; // of several layers, the one whose heads tell which words the sentence is about
const SEEN = 0.05; // smaller weights are not written beside their arcs

/** @extends {WordHero<HeroData & Numbers>} */
export class Heads extends WordHero {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    root.classList.add("heads");
    /** @type {HTMLElement[]} */
    this.guides = [];
    this.rows = [this.row(-1)];
    this.words = this.addWords();
  }

  /** @param {number} head @returns {Row} */
  row(head) {
    const lamp = this.stage.add("button", "heads-lamp");
    lamp.setAttribute("role", "switch");
    lamp.append(element("span"));
    lamp.style.setProperty("--hue", `var(--head${Math.max(0, head) % HUES})`);
    lamp.onclick = () => this.turn(head);
    const name = this.stage.add("div", "text heads-name", head < 0 ? _("single head") : _("head {head}", { head }));
    name.style.setProperty("--hue", head < 0 ? "var(--quiet)" : `var(--head${head % HUES})`);
    return { strip: new ArcStrip(this.stage, head < 0 ? "--below" : head % HUES), name, line: this.stage.add("div", "baseline"), lamp };
  }

  // What is chosen.

  get count() { return Number(this.choices.heads); }
  get layer() { return this.data.layers[String(this.choices.heads)]; }
  /** Is there one that was trained with a single head, to be compared? */
  get single() { return this.count > 1 ? this.data.layers["1"] : undefined; }
  /** @param {number} head */
  isOff(head) { return this.off.includes(head); }
  /** A digit for each, hexadecimal where there are more than ten. */
  get off() { return [...String(this.choices.off)].map((digit) => parseInt(digit, 16)); }
  /** Is this row of the picture shown? @param {number} row */
  isShown(row) { return row === 0 ? this.single !== undefined : row <= this.count; }

  /** @param {number} head */
  turn(head) {
    const off = new Set(String(this.choices.off));
    const digit = head.toString(16);
    if (!off.delete(digit)) off.add(digit);
    this.choose({ off: [...off].sort().join("") });
  }

  /** Other heads are all on. @override @param {Record<string, Choice>} some */
  choose(some) {
    super.choose("heads" in some ? { off: "", ...some } : some);
  }

  // Nodes and places.

  /** @override @param {boolean} isFirst */
  renew(isFirst) {
    if (!this.hasNewWords(isFirst)) return false;
    const { tokens } = this.data;
    for (const guide of this.guides) guide.remove();
    this.guides = tokens.map(() => this.stage.add("div", "heads-guide"));
    this.words.renew(tokens);
    const most = Math.max(...Object.keys(this.data.layers).map(Number));
    while (this.rows.length <= most) this.rows.push(this.row(this.rows.length - 1));
    for (const { strip } of this.rows) strip.renew(tokens.length);
    this.markOwn([this.words.buttons, this.guides, ...this.rows.flatMap(({ strip }) => [strip.arcs.children, strip.shares])]);
    return true;
  }

  /** @override */
  measure() {
    this.plan = placeHeads(this.stage, this.data.tokens, this.count, this.single !== undefined);
  }

  /** @override */
  place() {
    this.measure();
    const { stage, data, asker } = this, plan = this.layout();
    this.rows.forEach((row, at) => this.placeRow(row, at));
    this.guides.forEach((guide, place) => {
      const isAsker = place === asker, top = plan.rows[this.single ? 0 : 1].top;
      guide.classList.toggle("asks", isAsker);
      stage.put(guide, { x: plan.centres[place] - (isAsker ? 1 : 0.5), y: top, width: isAsker ? 2 : 1, height: plan.foot - top });
    });
    this.words.show({ chosen: this.chosen, shown: asker, names: data.tokens.map((_word, place) => this.tellWord(place)), hidden: data.tokens.map(() => false) });
    this.words.buttons.forEach((button, place) => {
      button.classList.toggle("slanted", plan.isSlanted);
      stage.write(button, plan.centres[place], plan.wordDepth, plan.size, 1, 0, plan.isSlanted ? "right" : "middle", plan.turn);
    });
  }

  /** @param {Row} row @param {number} at */
  placeRow({ strip, name, line, lamp }, at) {
    const { stage } = this, plan = this.layout(), place = plan.rows[at], head = at - 1;
    const isShown = this.isShown(at), isOff = at > 0 && this.isOff(head), shown = isShown ? 1 : 0, isGhost = at === 0;
    const weights = this.weightsOf(at), first = plan.centres[0], last = plan.centres[plan.centres.length - 1];
    strip.arcs.style.opacity = String(!isShown ? 0 : isOff ? 0.14 : isGhost ? 0.6 : 1);
    stage.put(line, { x: first - 8, y: place.base, width: last - first + 16, height: 1 }, shown);
    const wide = stage.widths(weights.map(percent), plan.digits);
    // Of two that would lie over each other the larger one is told.
    const yields = (/** @type {number} */ seen, /** @type {number} */ other) => weights[other] > weights[seen] &&
      Math.abs(plan.centres[other] - plan.centres[seen]) < (wide[other] + wide[seen]) / 2;
    strip.shares.forEach((share, seen) => {
      const isTold = isShown && weights[seen] >= SEEN && !yields(seen, seen - 1) && !yields(seen, seen + 1);
      stage.write(share, plan.centres[seen], place.base + 10, plan.digits, isTold ? (isOff ? 0.35 : 1) : 0);
    });
    name.classList.toggle("off", isOff);
    stage.write(name, 2, place.title, isGhost ? 13 : 15, shown, 0, "left");
    lamp.classList.toggle("on", !isOff);
    lamp.setAttribute("aria-checked", String(!isOff));
    lamp.setAttribute("aria-label", _("head {head}", { head }));
    stage.put(lamp, { x: plan.lamp, y: place.right - 17, width: 44, height: 34 }, isGhost ? 0 : shown);
  }

  layout() { return /** @type {NonNullable<typeof this.plan>} */ (this.plan); }

  // Numbers.

  /** @param {number} at which row of the picture */
  weightsOf(at) {
    const { asker, count } = this;
    const weights = at === 0 ? this.single?.weights[0] : at <= count ? this.layer.weights[at - 1] : undefined;
    return weights?.[asker] ?? this.data.tokens.map(() => 0);
  }

  /** @override @returns {Record<string, number[][]>} */
  goal() {
    const { plan } = this;
    if (!plan) return {};
    const asker = plan.centres[this.asker];
    return {
      weights: this.rows.map((_row, at) => this.weightsOf(at)),
      centres: [plan.centres],
      form: plan.rows.map(({ base, high, scale }) => [asker, base, high, scale]),
    };
  }

  /** @override */
  paint() {
    const { tween } = this;
    if (!this.plan || !tween.blocks.form) return;
    const centres = tween.row("centres", 0);
    this.rows.forEach(({ strip }, at) => {
      const [asker, base, high, scale] = tween.row("form", at);
      strip.paint(tween.row("weights", at), { centres, asker, base, high, scale, even: 0, isUpright: false }, () => true);
    });
  }

  // Words.

  /** Which head looks most at a word, and how much. @param {number} place */
  best(place) {
    const weights = this.layer.weights.map((rows) => rows[this.asker][place]), weight = Math.max(...weights);
    return { head: weights.indexOf(weight), weight };
  }

  /** @override */
  divided() { return this.layer.weights.map((rows) => rows[this.asker]); }

  /** @override @returns {Sentence} */
  sentence() {
    const { asker, count, single } = this, { tokens } = this.data;
    const [first, second] = this.seenMost(), a = first === undefined ? null : this.best(first), b = second === undefined ? null : this.best(second);
    const share = (/** @type {number | undefined} */ place) => (place === undefined ? "" : percent((single ?? this.layer).weights[0][asker][place]));
    const values = {
      word: tokens[asker], heads: String(count), off: this.off.join(", "), change: percent(this.change()),
      first: first === undefined ? "" : tokens[first], second: second === undefined ? "" : tokens[second],
      first_single: share(first), second_single: share(second),
      first_head: String(a?.head ?? ""), second_head: String(b?.head ?? ""), first_share: percent(a?.weight ?? 0), second_share: percent(b?.weight ?? 0),
    };
    const hue = (/** @type {{ head: number } | null} */ one) => (one && count > 1 ? `hue${one.head % HUES}` : "");
    const classes = { word: "query", first: hue(a), first_share: hue(a), first_head: hue(a), second: hue(b), second_share: hue(b), second_head: hue(b) };
    return { name: this.sentenceName(a, b), values, classes };
  }

  /** How long what the heads that are off have added is, compared with the word's whole output. */
  change() {
    const parts = this.layer.parts[this.asker], every = [...parts.keys()];
    const square = (/** @type {number[]} */ heads) => heads.reduce((sum, a) => sum + heads.reduce((row, b) => row + (parts[a]?.[b] ?? 0), 0), 0);
    return Math.sqrt(Math.max(0, square(this.off)) / Math.max(1e-9, square(every)));
  }

  /** The two words at which heads look most, the word itself and a model's own apart, in the order of the sentence. */
  seenMost() {
    const { data, asker } = this, { weights } = data.layers[TOLD] ?? this.layer, left = [asker, ...this.ownPositions];
    const most = (/** @type {number} */ place) => Math.max(...weights.map((rows) => rows[asker][place]));
    const places = [...data.tokens.keys()].filter((place) => !left.includes(place) && isWord(data.tokens[place]));
    return places.sort((a, b) => most(b) - most(a)).slice(0, 2).sort((a, b) => a - b);
  }

  /** @param {{ head: number } | null} a @param {{ head: number } | null} b */
  sentenceName(a, b) {
    const off = this.off.length;
    if (off) return off === this.count ? "hero_all_off" : "hero_off";
    if (!a || !b) return "hero_alone";
    if (this.count === 1) return "hero_single";
    if (!this.single) return "hero_heads";
    return a.head === b.head ? "hero_together" : "hero_apart";
  }

  /** What a word is told as: where each head looks from it. @param {number} asker */
  tellWord(asker) {
    const { tokens } = this.data;
    const heads = this.layer.weights.map((rows, head) => {
      const most = this.seen.reduce((best, place) => (rows[asker][place] > rows[asker][best] ? place : best));
      return _("head {head}: {word} {share}", { head, word: tokens[most], share: percent(rows[asker][most]) });
    });
    return `${tokens[asker]}: ${heads.join(", ")}`;
  }

  /** @override */
  describe() { return this.seen.map((asker) => this.tellWord(asker)).join(". "); }
}
