// A picture at the top of a page that belongs to one word of the sentence: chosen, or pointed at.

import { _ } from "../common/words.js";
import { Hero } from "./hero.js";
import { percent } from "../common/numbers.js";
import { Words } from "./words.js";

/**
 * @typedef {import("./hero.js").HeroData & { tokens: string[], ownPositions?: number[], ownSaid?: Record<"share" | "one" | "several", string> }} WordHeroData
 * `ownPositions`: of tokens that are a real model's own; a choice hides them, and no weight changes;
 * `ownSaid`: what is said of them then
 */

export const MARKS = "marks"; // the choice that hides them

/** @template {WordHeroData} Data @extends {Hero<Data>} */
export class WordHero extends Hero {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    /** @type {number | null} */
    this.pointed = null;
    this.wordsShown = "";
    /** @type {Words | undefined} of those pictures that have them */
    this.words = undefined;
  }

  /** Other words than before: then none is pointed at. @override @param {boolean} isFirst */
  renew(isFirst) {
    const shown = this.data.tokens.join("\0");
    if (!isFirst && shown === this.wordsShown) return false;
    this.wordsShown = shown;
    this.pointed = null;
    this.scene.own = this.ownPositions;
    if (this.words) this.renewWords(this.words);
    return true;
  }

  /** The words, where they come when one walks through the picture with the keyboard; `choice` in the link. */
  addWords(label = _("The word whose query is used"), choice = "word") {
    return new Words(this.stage, {
      label,
      choose: (place) => { this.pointed = null; this.choose({ [choice]: place }); },
      peek: (place) => this.peek(place),
    });
  }

  get asker() { return this.pointed ?? this.chosen; }

  /** The word that is chosen; for a token that is hidden, the nearest word. */
  get chosen() {
    const place = Math.min(Number(this.choices.word), this.data.tokens.length - 1), { seen } = this;
    return seen.find((one) => one >= place) ?? seen[seen.length - 1];
  }

  get ownPositions() { return this.data.ownPositions ?? []; }
  get hidesOwn() { return this.ownPositions.length > 0 && this.choices[MARKS] === "hidden"; }

  /** Where words stand that are drawn. */
  get seen() {
    const hidden = this.hidesOwn ? this.ownPositions : [];
    return [...this.data.tokens.keys()].filter((place) => !hidden.includes(place));
  }

  /** New words; those that are a real model's own can be hidden. @param {Words} words */
  renewWords(words) {
    words.renew(this.data.tokens);
    for (const place of this.ownPositions) words.buttons[place].classList.add("models-own");
  }

  /** @override */
  get keysBelow() { return [MARKS]; }

  /** @override */
  update() {
    this.root.classList.toggle("hides-own", this.hidesOwn);
    super.update();
  }

  /** How the word divides its attention: a row for each head. @returns {number[][]} */
  divided() { return []; }

  /** Words that are seen, the one with the largest weight first. @param {number[]} weights */
  rank(weights) {
    return this.seen.map((place) => ({ place, word: this.data.tokens[place], weight: weights[place] })).sort((a, b) => b.weight - a.weight);
  }

  /** What a sentence says of the two words that get most. @param {number[]} weights */
  tellMost(weights) {
    const [first, second] = this.rank(weights);
    return { first: first.word, first_share: percent(first.weight), second: second?.word ?? "", second_share: percent(second?.weight ?? 0) };
  }

  /** Which sentence is true of the two largest weights. @param {number[]} weights */
  nameMost(weights) {
    const [{ weight: first }, { weight: second } = { weight: 0 }] = this.rank(weights);
    if (first >= 0.8 || second < 0.1) return first >= 0.5 ? "hero_one" : "hero_spread";
    return first + second >= 0.6 ? "hero_two" : "hero_spread";
  }

  /** What each word gives to each. @param {number[][]} weights @param {(weight: number) => string} write */
  tellGiven(weights, write = percent) {
    const { seen, data: { tokens } } = this;
    return seen.map((asker) => _("{word} gives {shares}", { word: tokens[asker], shares: seen.map((place) => `${tokens[place]} ${write(weights[asker][place])}`).join(", ") })).join(". ");
  }

  /** Where each head looks from a word. @param {number[][][]} weights of each head @param {number} asker */
  tellHeads(weights, asker) {
    const { seen, data: { tokens } } = this;
    const heads = weights.map((rows, head) => {
      const most = seen.reduce((best, place) => (rows[asker][place] > rows[asker][best] ? place : best));
      return _("head {head}: {word} {share}", { head, word: tokens[most], share: percent(rows[asker][most]) });
    });
    return `${tokens[asker]}: ${heads.join(", ")}`;
  }

  /** What hidden tokens get, so that nobody misses it in the sum. @override */
  aside() {
    const { ownPositions: own, data: { tokens, ownSaid: said } } = this, rows = this.divided();
    if (!this.hidesOwn || !said || !rows.length) return "";
    const shares = own.map((place) => ({ token: tokens[place], share: rows.reduce((sum, row) => sum + row[place], 0) / rows.length }));
    const told = new Intl.ListFormat(document.documentElement.lang || "en").format(shares.map(({ token, share }) => said.share.replace("{share}", percent(share)).replace("{token}", token)));
    return said[rows.length > 1 ? "several" : "one"].replace("{shares}", told);
  }

  /** The words as a mark. @param {(place: number) => import("./words.js").Told} tell */
  markWords(tell) {
    const words = /** @type {Words} */ (this.words ??= this.addWords());
    if (!words.buttons.length) this.renewWords(words);
    return words.mark(this.chosen, this.asker, tell);
  }

  /** @param {number | null} place */
  peek(place) {
    if (place === this.pointed) return;
    this.pointed = place;
    this.update();
  }
}
