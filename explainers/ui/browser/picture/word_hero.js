// @ts-check
// A picture at the top of a page that belongs to one word of the sentence: chosen, or pointed at.

import { _ } from "../common/words.js";
import { Hero } from "./hero.js";
import { Words } from "./words.js";

/** @typedef {import("./hero.js").HeroData & { tokens: string[] }} WordHeroData */

/** @template {WordHeroData} Data @extends {Hero<Data>} */
export class WordHero extends Hero {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    /** @type {number | null} */
    this.pointed = null;
    this.wordsShown = "";
  }

  /** The words, where they come when one walks through the picture with the keyboard. */
  addWords() {
    return new Words(this.stage, {
      label: _("The word whose query is used"),
      choose: (place) => { this.pointed = null; this.choose({ word: place }); },
      peek: (place) => this.peek(place),
    });
  }

  get asker() { return this.pointed ?? Math.min(Number(this.choices.word), this.data.tokens.length - 1); }

  /** @param {number | null} place */
  peek(place) {
    if (place === this.pointed) return;
    this.pointed = place;
    this.update();
  }

  /** Is it another sentence than before? Then no word is pointed at. @param {boolean} isFirst */
  hasNewWords(isFirst) {
    const shown = this.data.tokens.join("\0");
    if (!isFirst && shown === this.wordsShown) return false;
    this.wordsShown = shown;
    this.pointed = null;
    return true;
  }
}
