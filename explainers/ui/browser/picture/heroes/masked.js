// @ts-check
// What a mask does: the weights of all words under it, and how one word's attention is shared out
// again among the words that it may still look at.

/** @import { HeroData, Sentence } from "../hero.js" */
/** @import { Line } from "../lanes.js" */
/** @import { GridPlace } from "./masked_grid.js" */
/** @import { SharesPlace } from "./masked_shares.js" */

import { element, shape } from "../../common/elements.js";
import { _ } from "../../common/words.js";
import { ArcStrip } from "../arc_strip.js";
import { writeArcPath, chooseArcWidth } from "../arcs.js";
import { WordHero } from "../word_hero.js";
import { poster } from "../lanes.js";
import { percent, seenPercent } from "../sentence.js";
import { CAUSAL, FULL, readCells, readRow, softmax, writeCells } from "./masked_drawing.js";
import { MaskedGrid } from "./masked_grid.js";
import { MaskedShares } from "./masked_shares.js";

/** @typedef {number[][]} Matrix */
/**
 * @typedef {object} Frame a mask with one value of its number
 * @property {number[]} allowed of each row, a bit for each word that it may look at, the lowest for the first
 * @property {Matrix} weights
 */
/**
 * @typedef {object} Mask a row of the table of masks: attention/masks.py
 * @property {string} name
 * @property {string} subject what a sentence calls it
 * @property {string} parameter the name of its number in words; "" if it has none
 * @property {number} least
 * @property {Frame[]} frames one for each value of its number, from the least on
 */
/**
 * @typedef {object} Numbers
 * @property {string[]} tokens
 * @property {Matrix} scores that all masks begin with
 * @property {Matrix} full the weights without a mask
 * @property {Mask[]} masks
 * @property {string} own what the mask that the reader draws is called among the choices
 * @property {string} ownSubject
 */
/** @typedef {{ subject: string, allowed: boolean[][], weights: Matrix }} Shown */
/** @typedef {{ left: number, top: number, width: number, base: number, high: number, line: Line, isUpright: boolean }} Strip */
/** @typedef {{ start: number, width: number, top: number, isBeside: boolean }} Room */
/** @typedef {{ grid: GridPlace, strip: Strip, shares: SharesPlace | null }} Plan */

const HEIGHT = 424, HEAD = 64, LARGEST = 56, BESIDE = 600, NUMBERS = 122; // pixels; below BESIDE the strip is below the cells
const SAME = 0.005, LITTLE = 0.005; // of a weight: what is written alike, and what as less than 1 %

/** @extends {WordHero<HeroData & Numbers>} */
export class Masked extends WordHero {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    /** @type {{ key: string, data: unknown, shown: Shown } | undefined} what was computed last */
    this.known = undefined;
    root.classList.add("masked");
    /** @type {number | null} */
    this.column = null;
    this.drawn = "";
    this.ghosts = this.stage.draw("g", "masked-ghosts");
    this.shares = new MaskedShares(this.stage);
    /** @type {HTMLElement[]} */
    this.shutters = [];
    /** @type {HTMLElement[]} */
    this.befores = [];
    this.arcs = new ArcStrip(this.stage);
    this.grid = new MaskedGrid(this.stage, {
      click: (row, column) => this.click(row, column),
      peek: (row, column) => this.peek(row, column),
    });
    this.words = this.addWords();
    this.slide = element("label", "masked-slide");
    this.slideName = this.slide.appendChild(element("span"));
    this.slider = this.slide.appendChild(element("input"));
    this.slider.type = "range";
    this.slideValue = this.slide.appendChild(element("output"));
    this.slider.oninput = () => this.choose({ [this.mask?.name ?? ""]: Number(this.slider.value) });
    this.starts = element("div", "masked-starts");
    this.starts.append(element("span", "", _("Click a cell to forbid or allow it.")));
    for (const [start, name] of [[FULL, _("allow all")], [CAUSAL, _("only earlier words")]]) {
      const button = this.starts.appendChild(element("button", "", name));
      button.onclick = () => this.choose({ cells: start });
    }
  }

  // What is chosen.

  get count() { return this.data.tokens.length; }
  get isOwn() { return String(this.choices.rule) === this.data.own; }
  get mask() { return this.data.masks.find(({ name }) => name === String(this.choices.rule)); }
  /** The mask's number, or the largest that differs in this text. @param {Mask} mask */
  number({ name, least, frames }) {
    return Math.min(Number(this.choices[name] ?? least), least + frames.length - 1);
  }

  /** The mask, and what it leaves. @returns {Shown} */
  get shown() {
    const { tokens, scores, masks, own, ownSubject } = this.data, { rule, cells } = this.choices, side = tokens.length;
    const mask = this.mask, number = mask ? this.number(mask) : 0;
    const key = [tokens.join("\0"), rule, cells, number].join("\n");
    if (this.known?.key === key && this.known.data === this.data) return this.known.shown;
    /** @type {Shown} */
    let shown;
    if (String(rule) === own || !mask) {
      const allowed = readCells(String(cells), side);
      shown = { subject: ownSubject, allowed, weights: scores.map((row, i) => softmax(row, allowed[i])) };
    } else {
      const frame = mask.frames[number - mask.least];
      shown = { subject: mask.subject, allowed: frame.allowed.map((bits) => readRow(bits, side)), weights: frame.weights };
    }
    this.known = { key, data: this.data, shown };
    return shown;
  }

  /** @override @param {number | null} row @param {number | null} [column] */
  peek(row, column = null) {
    if (row === this.pointed && column === this.column) return;
    Object.assign(this, { pointed: row, column });
    this.root.classList.add("quick");
    this.update();
  }

  /** A cell of one's own mask is turned; of another, its row is chosen. @param {number} row @param {number} column */
  click(row, column) {
    this.pointed = null;
    if (!this.isOwn || column < 0) return this.choose({ word: row });
    const cells = readCells(String(this.choices.cells), this.count);
    cells[row][column] = !cells[row][column];
    this.choose({ word: row, cells: writeCells(cells) });
  }

  // Nodes.

  /** @override */
  offer() {
    super.offer();
    if (this.slide.parentNode === this.bar) return;
    this.bar.append(this.slide, this.starts);
    this.below.replaceChildren(...["weights", "marks"].flatMap((key) => this.chips.get(key)?.root ?? []));
  }

  /** @override @param {boolean} isFirst */
  renew(isFirst) {
    if (!this.hasNewWords(isFirst)) return false;
    const { tokens } = this.data;
    this.column = null;
    for (const node of [...this.shutters, ...this.befores]) node.remove();
    this.shutters = tokens.map(() => this.stage.add("div", "masked-shutter"));
    this.befores = tokens.map(() => this.stage.add("div", "text masked-before"));
    this.ghosts.replaceChildren(...tokens.map(() => shape("path", { class: "masked-ghost" })));
    this.arcs.renew(tokens.length);
    this.shares.renew(tokens);
    this.grid.renew(tokens, _("Weights of all words under the mask"));
    this.words.renew(tokens);
    const { shares, grid, arcs } = this;
    this.markOwn([this.words.buttons, this.shutters, this.befores, this.ghosts.children, arcs.arcs.children, arcs.shares, shares.ribbons.children, ...grid.columns()],
      shares.bars.map((bar) => bar.map(({ part }) => part)));
    return true;
  }

  // Places.

  /** @override */
  measure() {
    const { stage } = this, { tokens } = this.data, isBeside = stage.room >= BESIDE;
    const names = Math.max(...stage.widths(tokens, 15), stage.widths([_("looks at →")], 13, 400)[0]) + 14;
    const left = Math.min(names, stage.room * 0.3), angle = isBeside ? -40 : -90;
    const longest = Math.max(...stage.widths(tokens, 14)), head = isBeside ? Math.min(HEAD, longest * 0.65 + 22) : Math.min(130, longest + 14);
    const wide = isBeside ? stage.room * 0.455 - left : stage.room - left - 4;
    const side = Math.floor(Math.min(LARGEST, wide / tokens.length, (isBeside ? HEIGHT - head : 245) / tokens.length));
    const below = head + side * tokens.length, start = isBeside ? left + side * tokens.length + 44 : 0;
    const strip = { start, width: stage.room - start, top: isBeside ? 0 : below + 22, isBeside };
    const words = poster(stage, tokens, isBeside ? 26 : 22, [start - 12, -12]); // its own air is not needed here
    const grid = { left, top: head, side, angle };
    this.plan = words ? this.acrossPlan(grid, strip, words, below) : this.uprightPlan(grid, strip);
    stage.resize(stage.room, Math.max(below + 4, this.bottom(this.plan)));
  }

  /** @param {GridPlace} grid @param {Room} room @param {Line} words @param {number} below @returns {Plan} */
  acrossPlan(grid, { start, width, top, isBeside }, words, below) {
    const high = isBeside ? 150 : 82, base = top + (isBeside ? 186 : 108);
    const strip = { left: start, top, width, base, high, line: words, isUpright: false };
    if (!isBeside) return { grid, strip, shares: null };
    const names = Math.max(...this.stage.widths([_("before"), _("after")], 14, 400)) + 12;
    const shares = { left: start + names, width: width - names - 2, top: Math.max(base + 106, below - 104), thick: 30, gap: 44 };
    return { grid, strip, shares };
  }

  /** Words below each other, where a line is too short for them. @param {GridPlace} grid @param {Room} room @returns {Plan} */
  uprightPlan(grid, { start, width, top, isBeside }) {
    const { tokens } = this.data, pitch = Math.max(17, Math.min(48, (isBeside ? HEIGHT - 40 : 300) / tokens.length));
    const size = Math.min(20, Math.floor(pitch * 0.72)), widths = this.stage.widths(tokens, size);
    const centres = tokens.map((_word, place) => top + 16 + pitch * (place + 0.5));
    const base = Math.max(50, width - Math.max(...widths) - NUMBERS);
    const strip = { left: start, top, width, base: start + base, high: base * 0.72, line: { size, widths, centres }, isUpright: true };
    return { grid, strip, shares: null };
  }

  /** @param {Plan} plan */
  bottom({ strip, shares }) {
    if (shares) return shares.top + 2 * shares.thick + shares.gap + 4;
    return strip.isUpright ? Math.max(...strip.line.centres) + 20 : strip.base + 88;
  }

  layout() { return /** @type {Plan} */ (this.plan); }

  /** @override */
  goal() {
    const { weights } = this.shown, { asker } = this;
    return { cells: weights, row: [weights[asker]], was: [this.data.full[asker]], asker: [[this.layout().strip.line.centres[asker]]] };
  }

  /** @override */
  place() {
    const { grid, strip, shares } = this.layout(), { tokens, full } = this.data, { allowed, weights } = this.shown, { asker } = this;
    const state = { tokens, allowed, asker, column: this.column, isDrawing: this.isOwn, weights };
    this.grid.place(grid, state);
    this.shares.place(shares, allowed[asker], tokens);
    const { line: words, base, isUpright } = strip, { size } = words;
    const far = Math.max(...words.widths), sizes = this.fitShares(strip, allowed[asker], weights[asker]);
    const told = this.stage.widths(full[asker].map(seenPercent), size < 16 ? 13 : 15);
    // Of two that would lie over each other the larger one is told.
    const yields = (/** @type {number} */ one, /** @type {number} */ other) => !isUpright && full[asker][other] > full[asker][one] &&
      Math.abs(words.centres[other] - words.centres[one]) < (told[other] + told[one]) / 2 + 3;
    tokens.forEach((_word, place) => {
      const centre = words.centres[place], wide = words.widths[place], [now, was] = [weights[asker][place], full[asker][place]];
      const [x, y] = isUpright ? [base + 12 + wide / 2, centre] : [centre, base + size * 0.5 + 10];
      this.stage.write(this.words.buttons[place], x, y, size);
      const box = { x: x - wide / 2 - 5, y: y - size * 0.74, width: wide + 10, height: size * 1.48 };
      this.stage.put(this.shutters[place], box, allowed[asker][place] ? 0 : 1);
      const after = isUpright ? [base + far + 26, centre] : [centre, y + size * 0.74 + 16];
      const isTiny = size < 16;
      this.stage.write(this.arcs.shares[place], after[0], after[1], sizes[place], allowed[asker][place] && sizes[place] ? 1 : 0, 0, isUpright ? "left" : "middle");
      const before = this.befores[place], isOther = Math.abs(now - was) >= SAME || !allowed[asker][place];
      before.textContent = seenPercent(was);
      const at = isUpright ? [after[0] + 52, centre] : [centre, after[1] + 22];
      const isTold = isOther && !(yields(place, place - 1) || yields(place, place + 1));
      this.stage.write(before, at[0], at[1], isTiny ? 13 : 15, isTold ? 1 : 0, 0, isUpright ? "left" : "middle");
    });
    this.words.show({
      chosen: this.chosen,
      shown: asker,
      names: tokens.map((token, place) => `${token}, ${allowed[asker][place] ? seenPercent(weights[asker][place]) : _("forbidden")}`),
      hidden: allowed[asker].map((isAllowed, place) => !isAllowed && place !== asker),
    });
    this.placeChoices();
  }

  /**
   * How large shares are written: where words are short, a small one gives way to its neighbour.
   * @param {Strip} strip @param {boolean[]} allowed @param {ArrayLike<number>} now
   */
  fitShares({ line, isUpright }, allowed, now) {
    const sizes = line.centres.map((_centre, place) => Number(line.size < 16 ? 13 : now[place] < 0.05 ? 15 : 19));
    const widths = this.stage.widths(sizes.map((_size, place) => seenPercent(now[place])), 1);
    for (let place = 1; place < sizes.length && !isUpright; place++) {
      if (!allowed[place] || !allowed[place - 1]) continue;
      const need = (widths[place] * sizes[place] + widths[place - 1] * sizes[place - 1]) / 2 + 5;
      const fits = (line.centres[place] - line.centres[place - 1]) / need, pair = [place - 1, place], small = pair.filter((at) => now[at] < 0.05);
      if (fits < 1) for (const at of small.length ? small : pair) sizes[at] = small.length ? 0 : Math.max(13, Math.floor(sizes[at] * fits));
    }
    return sizes;
  }

  /** The choice that belongs to this mask: its number, or where a drawing starts. */
  placeChoices() {
    const { mask } = this, hasNumber = Boolean(mask?.parameter);
    this.slide.hidden = !hasNumber;
    this.starts.hidden = !this.isOwn;
    if (!mask || !hasNumber) return;
    const number = String(this.number(mask));
    this.slideName.textContent = mask.parameter;
    this.slider.min = String(mask.least);
    this.slider.max = String(mask.least + mask.frames.length - 1);
    if (this.slider.value !== number) this.slider.value = number;
    this.slideValue.textContent = number;
  }

  /** @override */
  paint() {
    const { grid, strip, shares } = this.layout(), { allowed } = this.shown, { tween, asker } = this;
    this.grid.paint((row) => tween.row("cells", row), allowed, grid.side);
    const now = tween.row("row", 0), was = tween.row("was", 0), from = tween.row("asker", 0)[0];
    const { centres } = strip.line, form = { centres, asker: from, base: strip.base - 4, high: strip.high, scale: 0.8, even: 0, isUpright: strip.isUpright };
    this.arcs.paint(now, form, (place) => allowed[asker][place]);
    const span = strip.isUpright ? this.stage.height : strip.width * 0.82;
    const hides = allowed[asker].includes(false);
    [...this.ghosts.children].forEach((node, place) => {
      const ghost = /** @type {SVGElement} */ (node);
      ghost.setAttribute("d", writeArcPath({ from, to: centres[place], base: form.base, high: strip.high, span, isUpright: strip.isUpright }));
      ghost.style.strokeWidth = (chooseArcWidth(was[place], strip.isUpright ? 19 : 27) * 0.8).toFixed(2);
      ghost.style.opacity = hides && was[place] >= 0.01 ? "1" : "0";
    });
    this.shares.paint(shares, was, now, allowed[asker]);
  }

  // In words.

  /** @override */
  divided() { return [this.shown.weights[this.asker]]; }

  /** @override @returns {Sentence} */
  sentence() {
    const { tokens, full } = this.data, { subject, allowed, weights } = this.shown, { asker } = this;
    const was = full[asker], now = weights[asker], left = allowed[asker].filter(Boolean).length;
    const lost = was.reduce((sum, weight, place) => sum + (allowed[asker][place] ? 0 : weight), 0);
    const gains = now.map((weight, place) => (allowed[asker][place] ? weight - was[place] : -Infinity));
    const largest = (/** @type {number[]} */ row) => this.seen.reduce((best, place) => (row[place] > row[best] ? place : best));
    const most = left === tokens.length || lost < LITTLE ? largest(now) : largest(gains);
    const values = {
      mask: subject, word: tokens[asker], hidden: `${tokens.length - left}`, words: `${tokens.length}`, lost: percent(lost),
      first: tokens[most], before: percent(was[most]), after: percent(now[most]),
    };
    const name = nameSentence(allowed, asker, lost);
    const classes = { word: "query", lost: "weight", before: "weight", after: "weight", first: "weight" };
    return { name: name === "hero_nothing" && this.hidesOwn ? "hero_hidden" : name, values, classes };
  }

  /** @override */
  describe() {
    const { tokens } = this.data, { allowed, weights } = this.shown;
    return this.seen.map((row) => {
      const seen = this.seen.map((place) => (allowed[row][place] ? `${tokens[place]} ${seenPercent(weights[row][place])}` : "")).filter(Boolean);
      return `${tokens[row]}: ${seen.join(", ")}`;
    }).join("; ");
  }
}

/** Which sentence is true of a row. @param {boolean[][]} allowed @param {number} asker @param {number} lost */
function nameSentence(allowed, asker, lost) {
  const row = allowed[asker], left = row.filter(Boolean).length;
  if (!left) return "hero_refused";
  if (left === row.length) return "hero_nothing";
  if (left === 1 && row[asker]) return "hero_itself";
  return lost < LITTLE ? "hero_little" : "hero_shared";
}
