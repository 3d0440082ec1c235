// A prompt twice, each token in the colour of its loss, and what may come next: as the model is, and changed.

/** @import { Choice, HeroData, Mark, Sentence } from "../kit.js" */

import { _, channels, chooseInk, digits, flow, gradient, Hero, mix, percent, readable, Words } from "../kit.js";

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

const ROWS = 5, PAD = 4, CARET = 14;

/** @extends {Hero<HeroData & Sent>} */
export class WhatIf extends Hero {
  words = new Words(this.stage, {
    label: _("Token whose loss is shown"),
    choose: (place) => this.follow({ pointed: null, followed: place }),
    peek: (place) => place !== this.pointed && this.follow({ pointed: place }),
  });
  /** @type {number | null} the token that is pointed at */
  pointed = null;
  /** @type {number | null} the token that was clicked */
  followed = null;
  /** @type {import("../../common/colours.js").Rgb[]} */
  ramp = [];

  /** What is shown: from the server, or known before it answers. @returns {Numbers} */
  get now() {
    const { what_if: change } = this.choices;
    return change === this.data.choices.what_if ? this.data : this.data.ahead[String(change)] ?? this.data;
  }

  /** @override @param {string} key @param {Choice} value */
  knows(key, value) { return key === "what_if" && String(value) in this.data.ahead; }

  get names() { return [_("as it is"), _("changed")]; }
  /** The strongest colour, of both sides. */
  get most() { return Math.max(1, ...this.now.losses.flat()); }

  /** A token on one of the sides: pointed at, clicked, or at first the one whose loss rises most, where it is changed. */
  get shown() {
    const { losses: [before, after], tokens } = this.now, rises = after.map((loss, at) => loss - before[at]);
    return this.pointed ?? this.followed ?? tokens.length + rises.indexOf(Math.max(...rises)) + 1;
  }

  /** @param {{ pointed: number | null, followed?: number }} place */
  follow(place) { Object.assign(this, place).update(); }

  /** @override */
  renew() {
    const { tokens } = this.data;
    if (!this.scene.isOther(tokens)) return false;
    this.pointed = this.followed = null;
    this.words.renew(this.names.flatMap(() => tokens.map(readable)));
    return true;
  }

  /** @override @param {import("../palette.js").Dress} dress */
  dressed({ look, background }) { this.ramp = [background, channels(look.wrong)]; }

  /** @override @returns {Mark[]} */
  marks() {
    const plan = this.placeSides(), { isPhone, tops, bottom } = plan, ramp = { tag: "i", class: "what-if-ramp", style: { background: gradient(this.ramp) } };
    return [
      {
        key: "legend", class: "what-if-legend", box: [0, 0, this.stage.room, 24],
        parts: [{ text: isPhone ? _("loss") : _("Loss: how improbable the model found each token") }, { text: digits(0, 0) }, ramp, { text: digits(this.most) }],
      },
      ...tops.flatMap((_top, side) => this.markSide(side, plan)),
      this.markTokens(plan),
      { key: "told", class: "text what-if-told", text: this.tellLoss(this.shown), at: [0, bottom, 15], hold: "left", opacity: this.now.tokens.length > 1 ? 1 : 0 },
      ...tops.flatMap((_top, side) => this.markNext(side, plan)),
    ];
  }

  /** Each prompt as it would be written, beside what its side is called; below them, what may come next. */
  placeSides() {
    const { stage, names, now: { tokens, losses, said } } = this, { room } = stage, isPhone = room < 560;
    const size = isPhone ? 16 : 19, line = size + 16, height = line - 5, step = isPhone ? 25 : 27;
    const means = losses.map((side, at) => (side.length ? _("mean {loss}", { loss: said[at ? "after_loss" : "before_loss"] }) : ""));
    const widths = stage.widths(tokens.map(readable), size, 600).map((width) => width + 2 * PAD), left = isPhone ? 0 : Math.max(...stage.widths([...names, ...means], 15, 600)) + 18;
    const words = flow(widths, tokens.map((token) => (/^\s/.test(token) ? 6 : 1)), room - CARET - left);
    const boxes = words.map((word, at) => ({ x: left + word.x, y: (isPhone ? 20 : 0) + word.line * line, width: widths[at], height })), { x, y, width } = boxes[boxes.length - 1];
    const high = Math.max(y + line, isPhone ? 0 : 46), tops = [30, 38 + high], bottom = tops[1] + high + 12;
    stage.resize(room, bottom + 56 + ROWS * step);
    return { isPhone, size, height, step, means, boxes, caret: { x: x + width + 6, y: y + 3 }, tops, bottom };
  }

  /** @param {number} side @param {ReturnType<typeof this.placeSides>} plan @returns {Mark[]} */
  markSide(side, { isPhone, means, height, caret, tops: { [side]: top } }) {
    const text = this.names[side], [wide] = this.stage.widths([text], 15, 600);
    return [
      { key: `side ${side}`, class: "text what-if-side", text, at: [0, top + (isPhone ? 8 : height / 2), 15], hold: "left" },
      { key: `mean ${side}`, class: "text what-if-mean", text: means[side], at: isPhone ? [wide + 12, top + 8, 15] : [0, top + height / 2 + 19, 15], hold: "left" },
      { key: `caret ${side}`, class: "what-if-caret", box: [caret.x, top + caret.y, 3, height - 6] },
    ];
  }

  /** Each token in the colour of its loss; the one that is pointed at is framed on both sides. @param {ReturnType<typeof this.placeSides>} plan @returns {Mark} */
  markTokens({ size, boxes, tops }) {
    const { stage, shown, words, ramp, most, now: { losses } } = this, count = boxes.length;
    const mark = words.mark(this.followed ?? shown, -1, (place) => ({ name: this.tellLoss(place), is: { first: place % count === 0, asks: place % count === shown % count } }));
    words.buttons.forEach((button, place) => {
      const at = place % count, side = Math.floor(place / count), { y, height, ...box } = boxes[at], rgb = mix(ramp, at ? losses[side][at - 1] / most : 0);
      stage.put(button, { ...box, y: tops[side] + y, height });
      Object.assign(button.style, { fontSize: `${size}px`, lineHeight: `${height}px` });
      button.style.setProperty("--loss", `rgb(${rgb})`);
      button.style.setProperty("--ink", chooseInk(rgb));
    });
    return mark;
  }

  /** What may come next, the most probable first. @param {number} side @param {ReturnType<typeof this.placeSides>} plan @returns {Mark[]} */
  markNext(side, { isPhone, step, bottom }) {
    const wide = this.stage.room / 2, end = wide * (side + (isPhone ? 0.4 : 0.26)), room = wide * (isPhone ? 0.6 : 0.74) - (isPhone ? 52 : 84);
    const next = this.now.next.map(({ token, chances }) => ({ token, chance: chances[side] })).sort((one, other) => other.chance - one.chance);
    return [
      { key: `title ${side}`, class: "text", text: this.names[side], at: [end + 8, bottom + 30, 15], hold: "left" },
      ...next.slice(0, ROWS).flatMap(({ token, chance }, at) => {
        const top = bottom + 50 + at * step, middle = top + step / 2, long = Math.max(2, room * chance);
        return /** @type {Mark[]} */ ([
          { key: `name ${side} ${at}`, class: "text what-if-name", text: readable(token), at: [end, middle, isPhone ? 15 : 17], hold: "right" },
          { key: `bar ${side} ${at}`, class: `what-if-bar side${side}`, box: [end + 8, top + 4, long, step - 8] },
          { key: `share ${side} ${at}`, class: "text", text: percent(chance), at: [end + 14 + long, middle, 15], hold: "left" },
        ]);
      }),
    ];
  }

  /** A token with both of its losses. @param {number} place on one of the sides */
  tellLoss(place) {
    const { tokens, losses } = this.now, at = place % tokens.length, token = readable(tokens[at] ?? "");
    if (!at) return _("“{token}”: the first token has no loss", { token });
    const [before, after] = losses.map((side) => digits(side[at - 1]));
    return _("“{token}”: loss {before}, changed {after}", { token, before, after });
  }

  /** @override @returns {Sentence} */
  sentence() { return { name: this.now.sentence, values: this.now.said }; }

  /** @override */
  describe() {
    const { next, tokens, losses } = this.now;
    const told = next.map(({ token, chances }) => `${readable(token)}: ${chances.map(percent).join(", ")}`);
    const lost = tokens.slice(1).map((token, at) => `${readable(token)} ${digits(losses[0][at])}; ${digits(losses[1][at])}`);
    return `${told.join("; ")}. ${lost.join("; ")}`;
  }
}
