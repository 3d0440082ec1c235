// @ts-check
// Why a head looks at one token: the parts of its score, and its weight without some of them.

/** @import { HeroData, Sentence } from "../hero.js" */

import { digits } from "../../common/numbers.js";
import { _ } from "../../common/words.js";
import { Hero } from "../hero.js";
import { percent } from "../sentence.js";

/** @typedef {{ bars: [string, number][], rest: [number, number, number] }} Side names and parts of the first sources; of all others how many, what they add and take away */
/** @typedef {{ sides: [Side, Side], sum: number }} Parts */
/** @typedef {{ removed: string[], side: number, places: number, weights: number[], said: Record<string, string> }} Removal as it is, predicted, measured, without others */
/**
 * @typedef {object} Cell
 * @property {string[]} tokens
 * @property {number} query
 * @property {number} key
 * @property {number[]} row
 * @property {Record<string, Parts>} parts by the kind of the bars
 * @property {Record<string, Removal>} removals
 * @property {Record<string, string>} said
 * @property {boolean} isBefore is the key the token before the query?
 */
/** @typedef {{ name: HTMLElement, bar: HTMLElement, part: HTMLElement }} Row */

const SHOWN = 8, ARC = 56, LABEL = 130, STEP = 21, RESULTS = 4;

/** @extends {Hero<HeroData & { cells: Record<string, Cell>, raw: string }>} */
export class Why extends Hero {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    root.classList.add("why");
    const { stage } = this;
    /** @type {{ token: HTMLElement, share: HTMLElement, arc: Element }[]} */
    this.words = [];
    this.titles = ["query", "key"].map((role) => stage.add("div", `text why-title ${role}`));
    /** @type {Row[][]} */
    this.sides = ["query", "key"].map((role) => Array.from({ length: SHOWN + 1 }, () => ({
      name: stage.add("div", "text why-name"), bar: stage.add("div", `why-bar ${role}`), part: stage.add("div", "text"),
    })));
    this.sums = [0, 1].map(() => stage.add("div", "text why-sum"));
    this.results = [_("as it is"), _("predicted"), _("measured"), _("as many at random, measured")].map((label, at) => ({
      label: stage.add("div", "text", label), bar: stage.add("div", `why-weight result${at}`), share: stage.add("div", "text"),
    }));
    this.worded = "";
  }

  get cell() { return this.data.cells[String(this.choices.why_cell)] ?? Object.values(this.data.cells)[0]; }
  get parts() { return this.cell.parts[String(this.choices.why_parts)]; }
  get removal() { return this.cell.removals[String(this.choices.why_removed)]; }

  /** Nodes for the tokens of this text. */
  word() {
    const shown = JSON.stringify(this.cell.tokens);
    if (shown === this.worded) return;
    this.worded = shown;
    for (const { token, share, arc } of this.words) for (const node of [token, share, arc]) node.remove();
    this.words = this.cell.tokens.map((text) => ({
      token: this.stage.add("div", "text why-token", text.trim() || "␣"), share: this.stage.add("div", "text why-share"), arc: this.stage.draw("path", "why-arc"),
    }));
  }

  /** @override */
  place() {
    this.word();
    const { stage } = this, isPhone = stage.room < 560, top = this.placeWords(isPhone ? 14 : 20) + 22;
    const wide = isPhone ? stage.room : stage.room / 2 - 14;
    const ends = [0, 1].map((side) => this.placeSide(side, isPhone ? 0 : side * (wide + 28), isPhone && side ? top + (SHOWN + 3.4) * STEP : top, wide));
    stage.resize(stage.room, this.placeResults(Math.max(...ends) + 12, isPhone));
  }

  /** The text, and where the head looks. @param {number} size */
  placeWords(size) {
    const { stage, cell } = this, isPhone = size < 16, gap = size * 0.42;
    const texts = this.words.map(({ token }) => token.textContent ?? ""), read = texts.slice(0, isPhone ? cell.query + 1 : texts.length);
    const long = stage.widths(read, size, 600), all = long.reduce((sum, one) => sum + one + gap, 0); // a phone has no room for what the head cannot see
    const shrunk = Math.min(1, stage.room / all);
    let x = (stage.room - all * shrunk) / 2;
    const middles = long.map((one) => { const at = x + (one * shrunk) / 2; x += (one + gap) * shrunk; return at; });
    this.words.forEach(({ token, share, arc }, at) => {
      const weight = cell.row[at] ?? 0, isSeen = weight >= 0.005 && at <= cell.query;
      token.classList.toggle("query", at === cell.query);
      token.classList.toggle("key", at === cell.key && at !== cell.query);
      const x = middles[at] ?? 0, isDrawn = at < middles.length;
      stage.write(token, x, ARC + size * 0.7, size * shrunk, at <= cell.query ? 1 : isDrawn ? 0.45 : 0);
      share.textContent = percent(weight);
      stage.write(share, x, ARC + size * 1.4 + 10, Math.max(13, 14 * shrunk), isSeen ? 1 : 0);
      const from = middles[cell.query], to = x, high = Math.min(ARC - 6, 14 + Math.abs(from - to) * 0.3);
      arc.setAttribute("d", `M${from} ${ARC} C${from} ${ARC - high * 1.3} ${to} ${ARC - high * 1.3} ${to} ${ARC}`);
      arc.setAttribute("stroke-width", String(1 + 12 * weight));
      arc.setAttribute("opacity", isSeen && at !== cell.query ? "1" : "0");
    });
    return ARC + size * 1.4 + 20;
  }

  /** The bars of one side: the first sources, all others together, and the sum. @param {number} side @param {number} left @param {number} top @param {number} wide */
  placeSide(side, left, top, wide) {
    const { stage, cell, parts, removal } = this, { bars, rest } = parts.sides[side];
    const token = cell.tokens[side ? cell.key : cell.query].trim() || "␣";
    this.titles[side].textContent = side ? _("What wrote the key of “{token}”", { token }) : _("What wrote the query of “{token}”", { token });
    stage.write(this.titles[side], left, top + 9, wide < 400 ? 15 : 16, 1, 0, "left");
    const shown = [...bars, /** @type {[string, number]} */ ([_("the other {count}", { count: rest[0] }), rest[1] + rest[2]])];
    const all = parts.sides.flatMap((one) => [...one.bars.map(([, part]) => part), one.rest[1] + one.rest[2]]);
    const most = Math.max(...all, 0.01), least = Math.min(...all, 0);
    const names = Math.min(wide * 0.34, Math.max(...stage.widths(shown.map(([name]) => name), 15, 600)) + 16), scale = Math.max(20, wide - names - LABEL) / (most - least), zero = left + names - least * scale;
    this.sides[side].forEach((row, at) => {
      const one = shown[at], isRest = at === shown.length - 1, y = top + 24 + at * STEP;
      const isGone = !isRest && removal?.side === side && removal.removed.includes(one?.[0] ?? "");
      row.name.textContent = one?.[0] ?? "";
      row.part.textContent = one ? (isRest ? `${signed(rest[1])} ${signed(rest[2])}` : signed(one[1])) : "";
      for (const node of [row.bar, row.name, row.part]) node.classList.toggle("gone", isGone);
      row.bar.classList.toggle("rest", isRest);
      const part = one?.[1] ?? 0, length = Math.max(1.5, scale * Math.abs(part));
      stage.write(row.name, left + names - 6, y + STEP / 2, 15, one ? 1 : 0, 0, "right");
      stage.put(row.bar, { x: part < 0 ? zero - length : zero, y: y + 3, width: length, height: STEP - 5 }, one ? 1 : 0);
      stage.write(row.part, zero + (part < 0 ? 0 : length) + 6, y + STEP / 2, 15, one ? 1 : 0, 0, "left");
    });
    const end = top + 24 + shown.length * STEP + STEP / 2 + 3;
    this.sums[side].textContent = this.choices.why_parts === this.data.raw
      ? _("together {sum}: the score", { sum: digits(parts.sum) })
      : _("together {sum}: the score, less the other keys' average", { sum: digits(parts.sum) });
    stage.write(this.sums[side], left, end, wide < 400 ? 14 : 15, 1, 0, "left");
    return end + 12;
  }

  /** The weight without what is removed: predicted, measured, and without as many others. @param {number} top @param {boolean} isPhone */
  placeResults(top, isPhone) {
    const { stage, cell, removal } = this, left = isPhone ? 150 : 250, room = stage.room - left - 60, step = 22;
    const weights = removal ? removal.weights : [cell.row[cell.key]];
    this.results.forEach(({ label, bar, share }, at) => {
      const isSeen = at < weights.length ? 1 : 0, y = top + at * step, weight = weights[at] ?? 0;
      stage.write(label, left - 8, y + step / 2, isPhone ? 13 : 15, isSeen, 0, "right");
      stage.put(bar, { x: left, y: y + 3, width: Math.max(2, room * weight), height: step - 6 }, isSeen);
      share.textContent = percent(weight);
      stage.write(share, left + Math.max(2, room * weight) + 6, y + step / 2, 15, isSeen, 0, "left");
    });
    return top + RESULTS * step;
  }

  /** @override @returns {Sentence} */
  sentence() {
    const { cell, parts, removal } = this;
    if (removal) return { name: "hero_removed", values: { ...cell.said, ...removal.said } };
    const [source, part] = parts.sides[1].bars[0], isRaw = this.choices.why_parts === this.data.raw;
    const name = `hero_${cell.isBefore ? "position" : "content"}${isRaw ? "" : "_compared"}`;
    return { name, values: { ...cell.said, source, part: signed(part), sum: digits(parts.sum) } };
  }

  /** @override */
  describe() {
    const { parts, cell, removal } = this;
    const sides = parts.sides.map(({ bars, rest }) => [...bars.map(([name, part]) => `${name} ${signed(part)}`), `${_("the other {count}", { count: rest[0] })} ${signed(rest[1])} ${signed(rest[2])}`].join(", "));
    return `${sides.join("; ")}. ${(removal?.weights ?? [cell.row[cell.key]]).map(percent).join(", ")}`;
  }
}

/** @param {number} part */
function signed(part) {
  return `${part < 0 ? "−" : "+"}${digits(Math.abs(part))}`;
}
