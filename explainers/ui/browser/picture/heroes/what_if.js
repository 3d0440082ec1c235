// @ts-check
// A prompt with the loss of each of its tokens, and what may come next: as the model is, and changed.

/** @import { HeroData, Sentence } from "../hero.js" */

import { element } from "../../common/elements.js";
import { digits } from "../../common/numbers.js";
import { _ } from "../../common/words.js";
import { Hero } from "../hero.js";
import { percent } from "../sentence.js";

/** @typedef {{ token: string, chances: number[] }} Next a token, and its probability as the model is and changed */
/**
 * @typedef {object} Numbers
 * @property {string[]} tokens
 * @property {[number[], number[]]} losses of every token but the first, in nats
 * @property {Next[]} next
 * @property {Record<string, string>} said slots of the sentence
 * @property {string} sentence its name
 */
/** @typedef {{ token: HTMLElement, bars: HTMLElement[] }} Shown */
/** @typedef {{ name: HTMLElement, bar: HTMLElement, share: HTMLElement }} Row */

const SIDES = 2, ROWS = 5, TALLEST = 44, BAR = 9, LINE_GAP = 14;

/** @extends {Hero<HeroData & Numbers>} */
export class WhatIf extends Hero {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    root.classList.add("what-if");
    this.legend = this.stage.add("div", "what-if-legend");
    this.caret = this.stage.add("div", "what-if-caret");
    this.titles = [_("as it is"), _("changed")].map((title) => this.stage.add("div", "text", title));
    /** @type {Shown[]} */
    this.shown = [];
    /** @type {Row[][]} */
    this.rows = Array.from({ length: SIDES }, (_side, side) => Array.from({ length: ROWS }, () => ({
      name: this.stage.add("div", "text what-if-name"), bar: this.stage.add("div", `what-if-bar side${side}`), share: this.stage.add("div", "text"),
    })));
    this.textShown = "";
  }

  /** @override */
  renew() {
    const shown = JSON.stringify(this.data.tokens);
    if (shown === this.textShown) return false;
    this.textShown = shown;
    for (const { token, bars } of this.shown) for (const node of [token, ...bars]) node.remove();
    this.shown = this.data.tokens.map((text) => ({
      token: this.stage.add("div", "text what-if-token", text.trim() || "␣"),
      bars: [0, 1].map((side) => this.stage.add("div", `what-if-bar side${side}`)),
    }));
    return true;
  }

  /** @override */
  place() {
    const { stage, data } = this, isPhone = stage.room < 560, size = isPhone ? 16 : 20;
    this.writeLegend(isPhone);
    stage.put(this.legend, { x: 0, y: 0, width: stage.room, height: 24 });
    const bottom = this.placePrompt(isPhone ? 50 : 34, size);
    const top = bottom + 26, wide = stage.room / SIDES, step = isPhone ? 25 : 27;
    this.rows.forEach((rows, side) => {
      const left = side * wide, most = data.next.slice().sort((one, other) => other.chances[side] - one.chances[side]).slice(0, ROWS);
      const nameEnd = left + wide * (isPhone ? 0.4 : 0.26), room = wide - (nameEnd - left) - (isPhone ? 52 : 84);
      stage.write(this.titles[side], nameEnd + 8, top, 15, 1, 0, "left");
      rows.forEach(({ name, bar, share }, at) => {
        const y = top + 20 + at * step, next = most[at], seen = next ? 1 : 0, chance = next?.chances[side] ?? 0;
        name.textContent = next ? readable(next.token) : "";
        share.textContent = percent(chance);
        stage.write(name, nameEnd, y + step / 2, isPhone ? 15 : 17, seen, 0, "right");
        stage.put(bar, { x: nameEnd + 8, y: y + 4, width: Math.max(2, room * chance), height: step - 8 }, seen);
        stage.write(share, nameEnd + 14 + Math.max(2, room * chance), y + step / 2, 15, seen, 0, "left");
      });
    });
    stage.resize(stage.room, top + 26 + ROWS * step);
  }

  /** The prompt as it would be written, a pair of bars above each token. @param {number} top @param {number} size */
  placePrompt(top, size) {
    const { stage, data } = this, texts = this.shown.map(({ token }) => token.textContent ?? "");
    const widths = stage.widths(texts, size, 600), tallest = Math.max(1, ...data.losses.flat());
    let x = 0, y = top;
    this.shown.forEach(({ token, bars }, place) => {
      const gap = /^\s/.test(data.tokens[place]) ? size * 0.3 : 1, long = Math.max(widths[place], 2 * BAR + 2);
      if (x + gap + long > stage.room - 20 && x > 0) { x = 0; y += TALLEST + size + LINE_GAP; }
      else x += x > 0 ? gap : 0;
      stage.write(token, x + long / 2, y + TALLEST + size * 0.7, size);
      bars.forEach((bar, side) => {
        const loss = place ? data.losses[side][place - 1] : 0, height = (TALLEST * loss) / tallest;
        stage.put(bar, { x: x + long / 2 + (side ? 1 : -BAR - 1), y: y + TALLEST - height, width: BAR, height }, place ? 1 : 0);
      });
      token.title = place ? _("loss {before}, changed {after}", { before: digits(data.losses[0][place - 1]), after: digits(data.losses[1][place - 1]) }) : "";
      x += long;
    });
    stage.put(this.caret, { x: x + 5, y: y + TALLEST + size * 0.15, width: 3, height: size * 1.15 });
    return y + TALLEST + size * 1.4;
  }

  /** @param {boolean} isPhone */
  writeLegend(isPhone) {
    const { before_loss: before, after_loss: after } = this.data.said;
    const items = [["", isPhone ? _("loss, mean:") : _("Loss: how improbable the model found each token; mean:")], ["side0", `${_("as it is")} ${before}`], ["side1", `${_("changed")} ${after}`]];
    this.legend.replaceChildren(...items.map(([name, text]) => element("span", name, text)));
  }

  /** @override @returns {Sentence} */
  sentence() {
    return { name: this.data.sentence, values: this.data.said };
  }

  /** @override */
  describe() {
    const { next, tokens, losses } = this.data;
    const told = next.map(({ token, chances }) => `${readable(token)}: ${chances.map(percent).join(", ")}`);
    const lost = tokens.slice(1).map((token, at) => `${readable(token)} ${digits(losses[0][at])}; ${digits(losses[1][at])}`);
    return `${told.join("; ")}. ${lost.join("; ")}`;
  }
}

/** @param {string} token */
function readable(token) {
  return token.trim() || token.replace(/ /g, "␣").replace(/\n/g, "↵");
}
