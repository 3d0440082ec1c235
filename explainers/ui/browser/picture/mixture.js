// @ts-check
// A bar of 100 %, split by the words that a new vector is made of.

import { percent } from "./sentence.js";

const NAMED = 0.07; // the smallest share that is named, if there is room for its word
const SIZE = 15, AIR = 6; // of the letters in a part, and beside them

export class Mixture {
  /** @param {import("./stage.js").Stage} stage @param {string} label */
  constructor(stage, label) {
    this.stage = stage;
    this.label = stage.add("div", "text quiet", label);
    this.frame = stage.add("div", "mixture");
    /** @type {HTMLElement[]} */
    this.parts = [];
    /** @type {string[]} */
    this.words = [];
  }

  /** @param {string[]} words */
  renew(words) {
    for (const part of this.parts) part.remove();
    this.words = words;
    this.parts = words.map(() => this.stage.add("div", "part"));
  }

  /** @param {import("./stage.js").Box} box @param {number} opacity */
  place(box, opacity) {
    this.box = box;
    this.opacity = opacity;
    this.stage.put(this.frame, box, opacity);
    this.stage.write(this.label, box.x, box.y - 14, 14, opacity, 0, "left");
  }

  /** @param {ArrayLike<number>} weights */
  paint(weights) {
    if (!this.box) return;
    let { x } = this.box;
    const texts = this.words.map((word, place) => `${word} ${percent(weights[place])}`), needs = this.stage.widths(texts, SIZE);
    for (const [place, part] of this.parts.entries()) {
      const width = this.box.width * weights[place];
      const fits = weights[place] >= NAMED && needs[place] + AIR <= width;
      const text = fits ? texts[place] : weights[place] >= NAMED ? percent(weights[place]) : "";
      part.style.transform = `translate(${x.toFixed(2)}px, ${this.box.y}px)`;
      part.style.width = `${width.toFixed(2)}px`;
      part.style.height = `${this.box.height}px`;
      part.style.opacity = String(this.opacity);
      if (part.textContent !== text) part.textContent = text;
      x += width;
    }
  }
}
