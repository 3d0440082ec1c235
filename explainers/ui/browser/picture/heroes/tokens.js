// @ts-check
// Letters, the tokens that cover them, and a vector below each token. Merges are learned one by one:
// two tokens beside each other become one.

/** @import { HeroData, Sentence } from "../hero.js" */
/** @import { Dress } from "../palette.js" */
/** @import { Line, Places } from "./tokens_places.js" */

import { element } from "../../common/elements.js";
import { _ } from "../../common/words.js";
import { Hero } from "../hero.js";
import { makeSignedRamp } from "../palette.js";
import { Film } from "../player.js";
import { Strip } from "../strip.js";
import { ID, placeLetters, POSITION } from "./tokens_places.js";

/** @typedef {[string, string, number, number]} Cut label, id, and from where to where a token reaches, in letters */
/**
 * @typedef {object} Numbers
 * @property {string[]} letters
 * @property {number[]} bytes of each letter
 * @property {Record<string, [string, number]>} vocabulary label and number of bytes, by the ids of byte pairs
 * @property {[number, number[]][]} stages how many merges were learned, and the ids from then on
 * @property {[string, string, number][]} merges what each joins, and how often these were neighbours
 * @property {Record<string, Cut[]>} cuts by the names of units and models
 * @property {Record<string, number[]>} rows what a token's vector says of itself, by its label
 * @property {Record<string, Own>} own vectors of models, by their names
 * @property {number[][]} positions what a vector says of a position
 */
/** @typedef {{ width: number, rows: Record<string, number[]> }} Own how long vectors are, and the beginning of each, by ids */
/**
 * @typedef {object} Shown one token on the stage
 * @property {HTMLElement} chip
 * @property {HTMLElement} label
 * @property {HTMLElement} id
 * @property {HTMLElement} position
 * @property {Strip} strip
 * @property {import("../stage.js").Box} box of the chip
 */

const PAIRS = "byte pairs", MODEL = "model tokens";
const HUES = 7; // besides the first, which stands for weights
const BLANKS = 3; // slots for a token that covers no letter
const ID_NEEDS = 24; // pixels of a token: ids of single letters are seen in all of them or in none
const SMALLEST = 9.5; // pixels: a text that would have to be smaller is left out
const DIGITS_NEED = 34, SIGN_NEEDS = 8; // pixels of a strip in which "−1.2" can be read, and of one more digit

/** @extends {Hero<HeroData & Numbers>} */
export class Tokens extends Hero {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    root.classList.add("tokens");
    this.textShown = "";
    /** @type {HTMLElement[]} */
    this.letters = [];
    /** @type {Map<number, Shown>} by where they start */
    this.shown = new Map();
    /** @type {Places | null} */
    this.places = null;
    const names = [_("characters"), _("tokens"), _("ids"), _("vectors"), _("positions")];
    this.names = names.map((name) => this.stage.add("div", "text quiet", name));
    this.film = new Film(this.below, _("merges learned"), (frame) => this.wind(frame));
  }

  // What is chosen.

  get unit() { return String(this.choices.unit); }
  get merges() { return Number(this.choices.merges); }
  get isPairs() { return this.unit === PAIRS; }
  get model() { return String(this.choices.tokenizer); }

  /** The last stage that has been reached. */
  get stageShown() {
    return this.data.stages.filter(([learned]) => learned <= this.merges).at(-1) ?? this.data.stages[0];
  }

  /** @returns {Cut[]} */
  get cut() {
    if (!this.isPairs) return this.data.cuts[this.unit === MODEL ? this.model : this.unit];
    let at = 0;
    return this.stageShown[1].map((id) => {
      const [label, length] = this.data.vocabulary[id], start = this.letterAt(at);
      at += length;
      return [label, String(id), start, this.letterAt(at)];
    });
  }

  /** Its vectors, where a model has cut the text. @returns {Own | undefined} */
  get own() { return this.unit === MODEL ? this.data.own[this.model] : undefined; }

  /** What the strongest colour stands for. */
  get limit() {
    const rows = Object.values(this.own?.rows ?? this.data.rows);
    return 0.8 * Math.max(...rows.flat().map(Math.abs));
  }

  /** A model's own vector says nothing of the position; one that is not here is empty. @param {string} label @param {string} id @param {number} place */
  vector(label, id, place) {
    const { own, data } = this;
    return own ? own.rows[id] ?? [] : data.rows[label].map((number, d) => number + data.positions[place][d]);
  }

  /** The letter that a byte belongs to, with a fraction inside it. @param {number} byte */
  letterAt(byte) {
    const { bytes } = this.data;
    let letter = 0;
    for (; letter < bytes.length && byte >= bytes[letter]; letter++) byte -= bytes[letter];
    return letter + (byte ? byte / bytes[letter] : 0);
  }

  /** Slots of their own for tokens that cover no letter: where the text begins, and where it ends. */
  get blanks() {
    const bare = this.cut.filter(([, , start, end]) => start === end);
    const before = bare.filter(([, , start]) => start === 0).length;
    return [before * BLANKS, (bare.length - before) * BLANKS];
  }

  /** @param {number} frame */
  wind(frame) {
    this.root.classList.add("quick");
    this.choose({ merges: frame });
  }

  /** @override */
  update() {
    const model = this.chips.get("tokenizer");
    if (model) model.root.hidden = this.unit !== MODEL;
    this.film.root.hidden = !this.isPairs;
    if (!this.isPairs) this.film.pause();
    this.film.show(this.merges, this.isPairs);
    super.update();
    if (!this.film.timer) this.root.classList.remove("quick");
  }

  // Nodes.

  /** @override @param {boolean} isFirst */
  renew(isFirst) {
    const { data } = this, shown = JSON.stringify([data.letters, data.rows, data.stages.length]);
    if (!isFirst && shown === this.textShown) return false;
    this.textShown = shown;
    this.film.pause();
    for (const node of this.letters) node.remove();
    this.letters = data.letters.map((letter) => this.stage.add("div", "text tokens-letter", letter));
    for (const token of this.shown.values()) this.remove(token);
    this.shown.clear();
    this.film.offer(Array.from({ length: data.merges.length + 1 }, (_frame, at) => String(at)), data.stages.map(([learned]) => learned));
    return true;
  }

  /** @param {Shown} token */
  remove(token) {
    for (const node of [token.chip, token.id, token.position, token.strip.node]) node.remove();
  }

  /** @returns {Shown} */
  make() {
    const chip = this.stage.add("div", "tokens-chip"), label = chip.appendChild(element("span"));
    const strip = new Strip(this.stage, "vector", "input", true);
    return {
      chip, label, strip, id: this.stage.add("div", "text quiet"), position: this.stage.add("div", "text quiet"),
      box: { x: 0, y: 0, width: 0, height: 0 },
    };
  }

  /** @override @param {Dress} dress */
  dressed({ look, background }) {
    this.ramp = makeSignedRamp(background, look.input, look.inputBelow);
  }

  // Places.

  /** @override */
  place() {
    const { stage, data } = this, [before, after] = this.blanks;
    const places = placeLetters(stage.room, [...Array(before).fill("x"), ...data.letters, ...Array(after).fill("x")]);
    this.places = places;
    stage.resize(stage.room, places.height);
    this.letters.forEach((node, at) => {
      const { x, line } = this.spot(at + before + 0.5);
      stage.write(node, x, line.top + places.letter / 2 + 2, places.letter);
    });
    const above = places.lines[0].top, top = above + places.letter + 10;
    const heights = [above + places.letter / 2 + 2, top + places.chip / 2, top + places.chip + ID / 2 + 1, top + places.chip + ID + places.strip / 2, top + places.chip + ID + places.strip + POSITION / 2 + 1];
    this.names.forEach((node, row) => stage.write(node, 0, heights[row], 15, places.hasNames ? 1 : 0, 0, "left"));
    this.placeTokens(before);
  }

  /** A place among the slots, on its line. @param {number} slot @returns {{ x: number, line: Line }} */
  spot(slot) {
    const { lines, left, slot: wide } = /** @type {Places} */ (this.places);
    const line = lines.find(({ end }) => slot < end) ?? lines[lines.length - 1];
    return { x: left + (slot - line.start) * wide, line };
  }

  /** @param {number} before slots before the first letter */
  placeTokens(before) {
    const { stage, cut, data } = this, gone = new Set(this.shown.keys()), last = data.letters.length;
    let added = 0;
    cut.forEach(([label, id, start, end], place) => {
      // What covers no letter stands in slots of its own, before all letters or behind them.
      const isBare = start === end, isBehind = isBare && start > 0;
      const from = isBare ? (isBehind ? before + last : 0) + added * BLANKS : start + before;
      added = isBare ? (isBehind ? added + 1 : 0) : 0;
      const key = isBare ? -1 - place : start, token = this.shown.get(key) ?? this.make();
      gone.delete(key);
      this.shown.set(key, token);
      this.placeToken(token, { label, id, place, from, to: isBare ? from + BLANKS : end + before });
    });
    for (const key of gone) this.hide(/** @type {Shown} */ (this.shown.get(key)));
  }

  /** @param {Shown} token @param {{ label: string, id: string, place: number, from: number, to: number }} what */
  placeToken(token, { label, id, place, from, to }) {
    const { stage } = this, places = /** @type {Places} */ (this.places);
    const { x, line } = this.spot(from), end = Math.min(to, line.end), width = Math.max(2, (end - line.start) * places.slot + places.left - x - 3);
    const y = line.top + places.letter + 10, middle = x + 1.5 + width / 2;
    token.box = { x: x + 1.5, y, width, height: places.chip };
    this.write(token, label, width);
    token.chip.style.setProperty("--hue", `var(--head${1 + hash(label) % HUES})`);
    token.chip.classList.toggle("joined", this.isPairs && Number(id) === 255 + this.merges);
    token.chip.title = _("token {place}: “{label}”, id {id}", { place: String(place), label, id: id || "–" });
    stage.put(token.chip, token.box);
    const known = id || "?", size = 14, isNarrow = width < ID_NEEDS || stage.widths([known], size, 400)[0] > width + 2;
    token.id.textContent = known;
    stage.write(token.id, middle, y + places.chip + ID / 2 + 1, size, isNarrow ? 0 : 1);
    const top = y + places.chip + ID;
    stage.put(token.strip.node, { x: x + 1.5, y: top, width, height: places.strip });
    const row = this.vector(label, id, place);
    token.strip.node.hidden = row.length === 0;
    token.strip.places = this.own ? 2 : 1; // a model's own numbers are small
    token.strip.fit(width < DIGITS_NEED + (this.own ? SIGN_NEEDS : 0) ? 0 : places.strip, row.length);
    if (this.ramp && row.length) token.strip.fill(row, this.limit, this.ramp);
    token.strip.describe(_("vector of {token}", { token: label }), row);
    token.position.textContent = String(place);
    const wide = stage.widths([String(place)], size, 400)[0], isTight = wide > (place % 5 ? 0.7 : 2) * width; // of many every fifth
    stage.write(token.position, middle, top + places.strip + POSITION / 2 + 1, size, isTight ? 0 : 1);
  }

  /** A token's text in its chip, a space in front of it as a sign. @param {Shown} token @param {string} label @param {number} width */
  write({ chip, label: node }, label, width) {
    const places = /** @type {Places} */ (this.places), text = label.replace(/ /g, "␣"), fits = Math.min(22, places.letter);
    const wide = this.stage.widths([text], fits)[0];
    node.style.fontSize = `${Math.max(13, Math.min(fits, (fits * (width - 2)) / wide)).toFixed(1)}px`;
    chip.classList.toggle("part", (fits * (width - 2)) / wide < SMALLEST);
    if (node.dataset.text === text) return;
    node.dataset.text = text;
    node.replaceChildren(...text.split(/(␣)/).filter(Boolean).map((part) => element("span", part === "␣" ? "space" : "", part)));
  }

  /** @param {Shown} token */
  hide({ chip, id, position, strip, box }) {
    const places = /** @type {Places} */ (this.places), top = box.y + places.chip + ID;
    this.stage.put(chip, box, 0);
    this.stage.put(strip.node, { ...box, y: top, height: places.strip }, 0);
    for (const node of [id, position]) node.style.opacity = "0";
    for (const node of [id, position]) this.stage.places.delete(node);
  }

  // Words.

  /** @override @returns {Sentence} */
  sentence() {
    const { data, cut, merges } = this, [a = "", b = "", times = 0] = data.merges[merges - 1] ?? [];
    const values = {
      characters: String(data.letters.length), n: String(cut.length), bytes: String(data.bytes.reduce((sum, one) => sum + one, 0)),
      a, b, times: times.toLocaleString("en"), merges: String(merges), model: this.model,
      unknown: String(cut.filter(([, id]) => !id).length),
      shown: String(this.own ? Object.values(this.own.rows)[0]?.length ?? 0 : 0), width: String(this.own?.width ?? 0),
    };
    return { name: this.sentenceName(), values };
  }

  sentenceName() {
    if (this.unit === MODEL) return this.own?.width ? "hero_model" : "hero_model_bare";
    if (this.unit === "characters") return "hero_characters";
    if (this.unit === "words") return this.cut.every(([, id]) => id) ? "hero_words" : "hero_unknown";
    if (this.merges === 0) return "hero_bytes";
    return this.stageShown[0] === this.merges ? "hero_joined" : "hero_merged";
  }

  /** @override */
  describe() {
    return this.cut.map(([label, id], place) => `${place} “${label}” ${id}`).join(", ");
  }
}

/** The same text, the same colour. @param {string} text */
function hash(text) {
  let sum = 7;
  for (const letter of text) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) % 9973;
  return sum;
}
