// @ts-check
// A prompt twice, each token in the colour of its loss, and what may come next: as the model is, and changed.

/** @import { HeroData, Sentence } from "../hero.js" */
/** @import { Dress } from "../palette.js" */
/** @import { Rgb } from "../../common/colours.js" */

import { channels, chooseInk, gradient, mix } from "../../common/colours.js";
import { element } from "../../common/elements.js";
import { digits } from "../../common/numbers.js";
import { _ } from "../../common/words.js";
import { Hero } from "../hero.js";
import { percent } from "../sentence.js";
import { Words } from "../words.js";

/** @typedef {{ token: string, chances: number[] }} Next a token, and its probability as the model is and changed */
/**
 * @typedef {object} Numbers
 * @property {string[]} tokens
 * @property {[number[], number[]]} losses of every token but the first, in nats
 * @property {Next[]} next
 * @property {Record<string, string>} said slots of the sentence
 * @property {string} sentence its name
 */
/** @typedef {Numbers & { ahead: Record<string, Numbers> }} Sent what the server computed, and of every change what is known without */
/** @typedef {{ name: HTMLElement, bar: HTMLElement, share: HTMLElement }} Row */

const SIDES = 2, ROWS = 5, PAD = 4, CARET = 14;

/** @extends {Hero<HeroData & Sent>} */
export class WhatIf extends Hero {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    root.classList.add("what-if");
    /** @type {number | null} the token that is pointed at, and the one that was clicked */
    this.pointed = this.followed = null;
    /** @type {Rgb[]} */
    this.ramp = [];
    this.legend = this.stage.add("div", "what-if-legend");
    this.sides = Array.from({ length: SIDES }, () => ({ title: this.stage.add("div", "text what-if-side"), mean: this.stage.add("div", "text what-if-mean"), caret: this.stage.add("div", "what-if-caret") }));
    this.words = new Words(this.stage, {
      label: _("Token whose loss is shown"),
      choose: (place) => { this.pointed = null; this.followed = place; this.update(); },
      peek: (place) => { if (place !== this.pointed) { this.pointed = place; this.update(); } },
    });
    this.told = this.stage.add("div", "text what-if-told");
    this.titles = this.names.map((title) => this.stage.add("div", "text", title));
    /** @type {Row[][]} */
    this.rows = Array.from({ length: SIDES }, (_side, side) => Array.from({ length: ROWS }, () => ({
      name: this.stage.add("div", "text what-if-name"), bar: this.stage.add("div", `what-if-bar side${side}`), share: this.stage.add("div", "text"),
    })));
    this.textShown = "";
  }

  /** What is chosen: from the server, or known before it answers. @returns {Numbers} */
  get chosen() {
    const { what_if: change } = this.choices;
    return change === this.data.choices.what_if ? this.data : this.data.ahead[String(change)] ?? this.data;
  }

  /** @override @param {string} key @param {import("../hero.js").Choice} value */
  knows(key, value) { return key === "what_if" && String(value) in this.data.ahead; }

  get names() { return [_("as it is"), _("changed")]; }
  /** The strongest colour, of both sides. */
  get most() { return Math.max(1, ...this.chosen.losses.flat()); }

  /** A token on one of the sides: pointed at, clicked, or at first the one whose loss rises most, where it is changed. */
  get shown() {
    const { losses: [before, after], tokens } = this.chosen, rises = after.map((loss, at) => loss - before[at]);
    const worst = rises.indexOf(Math.max(...rises)) + 1;
    return this.pointed ?? this.followed ?? tokens.length + worst;
  }

  /** @override */
  renew() {
    const { tokens } = this.data, shown = JSON.stringify(tokens);
    if (shown === this.textShown) return false;
    this.textShown = shown;
    this.pointed = this.followed = null;
    this.words.renew(this.names.flatMap(() => tokens.map(readable)));
    return true;
  }

  /** @override @param {Dress} dress */
  dressed({ look, background }) { this.ramp = [background, channels(look.wrong)]; }

  /** @override */
  place() {
    const { stage, chosen: data } = this, isPhone = stage.room < 560;
    this.writeLegend(isPhone);
    stage.put(this.legend, { x: 0, y: 0, width: stage.room, height: 24 });
    const middle = this.placeSide(0, 30, isPhone), bottom = this.placeSide(1, middle + 8, isPhone) + 12;
    this.colour();
    stage.write(this.told, 0, bottom, 15, data.tokens.length > 1 ? 1 : 0, 0, "left");
    const top = bottom + 30, wide = stage.room / SIDES, step = isPhone ? 25 : 27;
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

  /** The prompt as it would be written, beside what its side is called. @param {number} side @param {number} top @param {boolean} isPhone */
  placeSide(side, top, isPhone) {
    const { stage, chosen: data } = this, { title, mean, caret } = this.sides[side], size = isPhone ? 16 : 19, line = size + 16, high = line - 5;
    const texts = data.tokens.map(readable), widths = stage.widths(texts, size, 600), hasLosses = data.losses[side].length > 0;
    title.textContent = this.names[side];
    mean.textContent = hasLosses ? _("mean {loss}", { loss: data.said[side ? "after_loss" : "before_loss"] }) : "";
    const long = Math.max(...stage.widths([...this.names, ...this.sides.map((one) => one.mean.textContent ?? "")], 15, 600)) + 18;
    const [titleLong] = stage.widths([this.names[side]], 15, 600), left = isPhone ? 0 : long;
    stage.write(title, 0, top + (isPhone ? 8 : high / 2), 15, 1, 0, "left");
    stage.write(mean, isPhone ? titleLong + 12 : 0, top + (isPhone ? 8 : high / 2 + 19), 15, 1, 0, "left");
    let x = left, y = top + (isPhone ? 20 : 0);
    data.tokens.forEach((token, place) => {
      const gap = x === left ? 0 : /^\s/.test(token) ? 6 : 1, wide = widths[place] + 2 * PAD;
      if (x + gap + wide > stage.room - CARET && x > left) { x = left; y += line; }
      else x += gap;
      const button = this.words.buttons[side * data.tokens.length + place];
      stage.put(button, { x, y, width: wide, height: high });
      Object.assign(button.style, { fontSize: `${size}px`, lineHeight: `${high}px` });
      x += wide;
    });
    stage.put(caret, { x: x + 6, y: y + 3, width: 3, height: high - 6 });
    return Math.max(y + line, top + (isPhone ? 0 : 46));
  }

  /** Each token in the colour of its loss, and the numbers of the one that is pointed at, which is framed on both sides. */
  colour() {
    const { chosen: data, words, ramp, most } = this, count = data.tokens.length, at = this.shown % count;
    if (!ramp.length) return;
    words.show({
      chosen: this.followed ?? this.shown, shown: this.shown, hidden: words.buttons.map(() => false),
      names: words.buttons.map((_button, place) => this.tellLoss(place % count)),
    });
    words.buttons.forEach((button, place) => {
      const loss = place % count ? data.losses[Math.floor(place / count)][(place % count) - 1] : 0, rgb = mix(ramp, loss / most);
      button.style.setProperty("--loss", `rgb(${rgb})`);
      button.style.setProperty("--ink", chooseInk(rgb));
      button.classList.toggle("first", place % count === 0);
      button.classList.toggle("asks", place % count === at);
    });
    this.told.textContent = this.tellLoss(at);
  }

  /** A token with both of its losses. @param {number} at */
  tellLoss(at) {
    const token = readable(this.chosen.tokens[at] ?? "");
    if (!at) return _("“{token}”: the first token has no loss", { token });
    const [before, after] = this.chosen.losses.map((side) => digits(side[at - 1]));
    return _("“{token}”: loss {before}, changed {after}", { token, before, after });
  }

  /** @param {boolean} isPhone */
  writeLegend(isPhone) {
    const bar = element("i", "what-if-ramp"), text = isPhone ? _("loss") : _("Loss: how improbable the model found each token");
    bar.style.background = gradient(this.ramp.length ? this.ramp : [[255, 255, 255], [255, 255, 255]]);
    this.legend.replaceChildren(element("span", "", text), element("span", "", digits(0, 0)), bar, element("span", "", digits(this.most)));
  }

  /** @override @returns {Sentence} */
  sentence() {
    return { name: this.chosen.sentence, values: this.chosen.said };
  }

  /** @override */
  describe() {
    const { next, tokens, losses } = this.chosen;
    const told = next.map(({ token, chances }) => `${readable(token)}: ${chances.map(percent).join(", ")}`);
    const lost = tokens.slice(1).map((token, at) => `${readable(token)} ${digits(losses[0][at])}; ${digits(losses[1][at])}`);
    return `${told.join("; ")}. ${lost.join("; ")}`;
  }
}

/** @param {string} token */
function readable(token) {
  return token.trim() || token.replace(/ /g, "␣").replace(/\n/g, "↵");
}
