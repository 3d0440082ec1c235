// @ts-check
// Queries, keys, values: three matrices make three strips of a word's numbers, and its query is
// compared with the keys of all words.

/** @import { HeroData, Sentence } from "../hero.js" */
/** @import { Dress } from "../palette.js" */
/** @import { Places } from "./views_places.js" */

import { element, shape } from "../../common/elements.js";
import { digits } from "../../common/numbers.js";
import { _ } from "../../common/words.js";
import { chooseArcOpacity } from "../arcs.js";
import { WordHero } from "../word_hero.js";
import { makeSignedRamp } from "../palette.js";
import { PixelGrid } from "../pixel_grid.js";
import { percent } from "../sentence.js";
import { Strip } from "../strip.js";
import { writeArrowPath, findPlaces, writeLinePath } from "./views_places.js";

/** @typedef {number[][]} Matrix */
/**
 * @typedef {object} Head what one pair of choices computes
 * @property {Matrix} x
 * @property {Record<string, Matrix>} matrices by what they make
 * @property {Matrix} query
 * @property {Matrix} key
 * @property {Matrix} value
 * @property {Matrix} scores
 * @property {Matrix} weights
 */
/**
 * @typedef {object} Numbers
 * @property {string[]} tokens
 * @property {Record<string, Head>} heads by what the weights learned
 */
/** @typedef {"query" | "key" | "value"} View */

const VIEWS = /** @type {View[]} */ (["query", "key", "value"]);
const MATRICES = { query: "W_Q", key: "W_K", value: "W_V" };
const WIDEST = 32; // pixels that all lines are wide together

/** @extends {WordHero<HeroData & Numbers>} */
export class Views extends WordHero {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    root.classList.add("views");
    /** @type {{ view: View, column: number } | null} */
    this.cell = null;
    this.arrows = this.stage.draw("g", "views-arrows");
    this.own = this.stage.draw("path", "views-own");
    this.lines = this.stage.draw("g", "views-lines");
    this.askingWord = this.stage.add("div", "text views-asker");
    this.xName = this.stage.add("div", "text quiet views-note");
    this.x = new Strip(this.stage, "x", "input");
    this.blocks = VIEWS.map((view) => this.addBlock(view));
    this.title = this.stage.add("div", "text views-name", _("keys of all words"));
    this.title.style.setProperty("--role", "var(--key)");
    /** @type {Strip[]} */
    this.keys = [];
    /** @type {HTMLElement[]} */
    this.shares = [];
    this.words = this.addWords();
  }

  /** @param {View} view */
  addBlock(view) {
    const meanings = { query: _("what it looks for"), key: _("what it is found by"), value: _("what it passes on") };
    const names = { query: _("query"), key: _("key"), value: _("value") };
    const matrix = new PixelGrid(this.stage, view), strip = new Strip(this.stage, view, view);
    const matrixName = this.stage.add("div", "text views-name"), name = this.stage.add("div", "text views-name", names[view]);
    for (const node of [matrixName, name]) node.style.setProperty("--role", `var(--${view})`);
    const meaning = this.stage.add("div", "text quiet views-note", meanings[view]);
    this.listen(strip.node, view);
    return { view, matrix, strip, matrixName, name, meaning };
  }

  /** Pointing at a number of a strip, or walking through them with the arrow keys. @param {HTMLElement} node @param {View} view */
  listen(node, view) {
    node.tabIndex = 0;
    node.setAttribute("role", "slider");
    node.addEventListener("pointermove", (event) => {
      const { left, width } = node.getBoundingClientRect(), count = this.head[view][0].length;
      this.look(view, Math.max(0, Math.min(count - 1, Math.floor((count * (event.clientX - left)) / width))));
    });
    node.addEventListener("pointerleave", () => this.look(view, null));
    node.addEventListener("focus", () => { if (node.matches(":focus-visible")) this.look(view, this.cell?.view === view ? this.cell.column : 0); });
    node.addEventListener("blur", () => this.look(view, null));
    node.addEventListener("keydown", (event) => {
      const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key], count = this.head[view][0].length;
      if (!by || event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      event.stopPropagation();
      const at = this.cell?.view === view ? this.cell.column : -by;
      this.look(view, (at + by + count) % count);
    });
  }

  // What is chosen.

  get count() { return this.data.tokens.length; }
  get head() { return this.data.heads[String(this.choices.weights)]; }

  /** @param {View} view @param {number | null} column */
  look(view, column) {
    const cell = column === null ? null : { view, column };
    if (cell?.view === this.cell?.view && cell?.column === this.cell?.column) return;
    this.cell = cell;
    this.frameCell();
    this.speak();
  }

  // Nodes.

  /** @override @param {boolean} isFirst */
  renew(isFirst) {
    if (!this.hasNewWords(isFirst)) return false;
    const { tokens } = this.data;
    for (const node of [...this.keys.map((key) => key.node), ...this.shares]) node.remove();
    this.keys = tokens.map((_token, place) => {
      const key = new Strip(this.stage, "key", "key");
      key.node.classList.add("views-key");
      key.node.onclick = () => this.choose({ word: place });
      return key;
    });
    this.shares = tokens.map(() => this.stage.add("div", "text share"));
    this.lines.replaceChildren(...tokens.map(() => shape("path", { class: "views-line" })));
    this.arrows.replaceChildren(...VIEWS.flatMap(() => [shape("path", { class: "views-arrow" }), shape("path", { class: "views-arrow" })]));
    this.words.renew(tokens);
    this.markOwn([this.words.buttons, this.keys.map(({ node }) => node), this.shares, this.lines.children]);
    return true;
  }

  /** @override @param {Dress} dress */
  dressed({ look, background }) {
    const role = (/** @type {string} */ colour) => makeSignedRamp(background, colour, look.below);
    this.ramps = {
      x: makeSignedRamp(background, look.input, look.inputBelow), query: role(look.query), key: role(look.key), value: role(look.value),
    };
  }

  // Places.

  /** @override */
  measure() {
    const { stage } = this, { tokens } = this.data, { x, query } = this.head;
    const places = this.places = findPlaces(stage, tokens, { x: x[0].length, own: query[0].length });
    stage.resize(stage.room, places.height);
    this.x.isColumn = places.isColumn;
    this.x.fit(places.isColumn ? places.x.height : places.x.width, x[0].length);
    for (const { strip, view } of this.blocks) strip.fit(places.blocks[0].strip.width, this.head[view][0].length);
    for (const key of this.keys) key.fit(places.rows[0].key.width, query[0].length);
  }

  /** @override */
  place() {
    const { places, stage, head, data, asker } = this;
    if (!places) return;
    const word = data.tokens[asker], at = /** @type {[number, number]} */ (places.asker);
    this.askingWord.textContent = word;
    stage.write(this.askingWord, ...at, places.askerSize, 1, 0, places.isColumn ? "left" : "middle");
    this.xName.textContent = places.isUpright ? "x" : places.isColumn ? "x" : _("x: {count} numbers", { count: head.x[0].length });
    stage.write(this.xName, ...places.xName, 14, 1, 0, places.isUpright ? "left" : "middle");
    stage.put(this.x.node, places.x);
    this.x.describe(_("x of {word}", { word }), head.x[asker]);
    this.blocks.forEach((block, nth) => this.placeBlock(block, places, nth, word));
    stage.write(this.title, ...places.title, 15, 1, 0, "left");
    places.rows.forEach((row, place) => {
      stage.put(this.keys[place].node, row.key);
      this.keys[place].node.classList.toggle("own", place === asker);
      this.keys[place].describe(_("key of {word}", { word: data.tokens[place] }), head.key[place]);
      stage.write(this.words.buttons[place], ...row.word, places.size, 1, 0, "left");
      stage.write(this.shares[place], ...row.share, head.weights[asker][place] < 0.05 ? 15 : places.shareSize, 1, 0, "right");
    });
    this.words.show({
      chosen: this.chosen,
      shown: asker,
      hidden: data.tokens.map(() => false),
      names: data.tokens.map((token, place) => _("{word}, {share}, score {score}", {
        word: token, share: percent(head.weights[asker][place]), score: digits(head.scores[asker][place]),
      })),
    });
    this.own.setAttribute("d", writeLinePath(places.blocks[1].strip, places.rows[asker].key, 0, places.isUpright));
    this.frameCell();
  }

  /** @param {ReturnType<Views["addBlock"]>} block @param {Places} places @param {number} nth @param {string} word */
  placeBlock({ view, matrix, strip, matrixName, name, meaning }, places, nth, word) {
    const { stage, head } = this, at = places.blocks[nth], own = head[view][this.asker];
    matrixName.textContent = MATRICES[view];
    stage.put(matrix.node, at.matrix);
    stage.put(strip.node, at.strip);
    stage.write(matrixName, ...at.matrixName, 15);
    stage.write(name, ...at.name, 16);
    stage.write(meaning, ...(at.meaning ?? at.name), 14, at.meaning ? 1 : 0);
    matrix.describe(_("{name}: {rows} rows, {columns} columns", { name: MATRICES[view], rows: head.x[0].length, columns: own.length }));
    const names = { query: _("query of {word}", { word }), key: _("key of {word}", { word }), value: _("value of {word}", { word }) };
    strip.describe(names[view], own);
    const [toMatrix, toStrip] = [...this.arrows.children].slice(2 * nth, 2 * nth + 2);
    toMatrix.setAttribute("d", writeArrowPath(places.x, places.isUpright ? { ...at.matrix, y: at.matrix.y - 18 } : at.matrix, places.isUpright));
    toStrip.setAttribute("d", writeArrowPath(at.matrix, places.isUpright ? { ...at.strip, y: at.strip.y - 18 } : at.strip, places.isUpright));
  }

  /** The column of a matrix that makes the number one points at. */
  frameCell() {
    for (const { view, matrix, strip } of this.blocks) {
      const count = this.head[view][0].length, column = this.cell?.view === view ? this.cell.column : null;
      matrix.frame(column, count);
      strip.cells.forEach((cell, at) => cell.classList.toggle("pointed", at === column));
      strip.node.setAttribute("aria-valuemin", "0");
      strip.node.setAttribute("aria-valuemax", String(count - 1));
      strip.node.setAttribute("aria-valuenow", String(column ?? 0));
      strip.node.setAttribute("aria-valuetext", digits(this.head[view][this.asker][column ?? 0]));
    }
    this.root.classList.toggle("multiplies", this.cell !== null);
  }

  // Numbers.

  /** @override @returns {Record<string, number[][]>} */
  goal() {
    if (!this.places) return {};
    const { head, asker } = this, { query, key, value } = head.matrices;
    return {
      x: [head.x[asker]], query: [head.query[asker]], key: [head.key[asker]], value: [head.value[asker]], keys: head.key,
      w_query: query, w_key: key, w_value: value, weights: [head.weights[asker]],
    };
  }

  /** @override */
  paint() {
    const { tween, ramps, places, head } = this;
    if (!ramps || !places || !tween.blocks.x) return;
    const top = (/** @type {Matrix} */ rows) => Math.max(1e-9, ...rows.flat().map(Math.abs));
    this.x.fill(tween.row("x", 0), 0.8 * top(head.x), ramps.x);
    for (const { view, matrix, strip } of this.blocks) {
      strip.places = top(head[view]) < 9.95 ? 1 : 0;
      strip.fill(tween.row(view, 0), top(head[view]), ramps[view]);
      const rows = head.matrices[view].map((_row, nth) => tween.row(`w_${view}`, nth));
      matrix.fill(rows, top(head.matrices[view]), ramps[view]);
    }
    this.keys.forEach((key, place) => key.fill(tween.row("keys", place), top(head.key), ramps.key));
    this.paintLines(tween.row("weights", 0), places);
  }

  /** @param {ArrayLike<number>} weights @param {Places} places */
  paintLines(weights, places) {
    const query = places.blocks[0].strip, full = Math.min(WIDEST, query.height);
    let at = -full / 2;
    [...this.lines.children].forEach((node, place) => {
      const line = /** @type {SVGElement} */ (node), weight = weights[place], width = full * weight;
      // On a phone the lines turn to the right: those to the last words start at the left.
      const offset = places.isUpright ? -(at + width / 2) : at + width / 2;
      line.setAttribute("d", writeLinePath(query, places.rows[place].key, offset, places.isUpright));
      line.style.strokeWidth = Math.max(1.2, width).toFixed(2);
      line.style.opacity = chooseArcOpacity(weight).toFixed(3);
      at += width;
      const text = percent(weight), share = this.shares[place];
      if (share.textContent !== text) share.textContent = text;
      share.classList.toggle("low", weight < 0.05);
    });
  }

  // Words.

  /** @override */
  divided() { return [this.head.weights[this.asker]]; }

  /** @override @returns {Sentence} */
  sentence() {
    const { data, head, asker, cell } = this, { tokens } = data, weights = head.weights[asker];
    const ranked = this.seen.map((place) => ({ weight: weights[place], place })).sort((a, b) => b.weight - a.weight), [first, second] = ranked;
    const values = {
      word: tokens[asker], first: tokens[first.place], first_share: percent(first.weight),
      second: second ? tokens[second.place] : "", second_share: percent(second?.weight ?? 0),
      score: digits(head.scores[asker][first.place]), count: String(head.x[0].length),
      matrix: cell ? MATRICES[cell.view] : "", column: String(cell?.column ?? ""), value: cell ? digits(head[cell.view][asker][cell.column]) : "",
    };
    const classes = { word: "query", first: "weight", first_share: "weight", second: "weight", second_share: "weight", matrix: cell?.view ?? "", value: cell?.view ?? "" };
    return { name: this.sentenceName(first.weight, second?.weight ?? 0), values, classes };
  }

  /** @param {number} first the largest weight @param {number} second */
  sentenceName(first, second) {
    if (this.cell) return "hero_cell";
    if (this.hidesOwn) return "hero_hidden";
    if (this.choices.weights === "untrained") return "hero_untrained";
    if (first >= 0.8 || second < 0.1) return first >= 0.5 ? "hero_one" : "hero_spread";
    return first + second >= 0.6 ? "hero_two" : "hero_spread";
  }

  /** @override */
  describe() {
    const { tokens } = this.data;
    return this.seen.map((asker) => {
      const shares = this.seen.map((place) => `${tokens[place]} ${percent(this.head.weights[asker][place])}`).join(", ");
      return _("{word} gives {shares}", { word: tokens[asker], shares });
    }).join(". ");
  }
}
