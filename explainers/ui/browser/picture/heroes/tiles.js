// @ts-check
// A long text's weights and the tile that is in memory, to one scale; and the tiles of a short one, one by one.

/** @import { HeroData, Sentence } from "../hero.js" */
/** @import { Dress } from "../palette.js" */
/** @import { Places } from "./tiles_places.js" */

import { element } from "../../common/elements.js";
import { _ } from "../../common/words.js";
import { Hero } from "../hero.js";
import { makeSignedRamp } from "../palette.js";
import { Film } from "../player.js";
import { Strip } from "../strip.js";
import { Slide } from "./dials_controls.js";
import { layOutTiles, TURN } from "./tiles_places.js";
import { Squares } from "./tiles_squares.js";

/**
 * @typedef {object} Length
 * @property {number} tokens
 * @property {string} name the same, as it is written
 * @property {string} bytes of all its weights
 * @property {string} ratio how many times the tile's
 * @property {boolean} isShort
 * @property {string} tiles
 * @property {Record<string, string>} read of them, under each mask
 * @property {Record<string, string>} skipped
 */
/**
 * @typedef {object} Step a tile of the sentence, and what is known when it has been read
 * @property {[number, number]} rows from where to where
 * @property {[number, number]} columns
 * @property {number[][]} shares weights so far
 * @property {number[][]} output of its rows so far
 * @property {number[]} total the part of all weights that has been read, of each row
 */
/**
 * @typedef {object} Sweep the sentence under a mask
 * @property {string} name
 * @property {number[]} shades
 * @property {number[][]} allowed
 * @property {[number, number]} blocks queries and keys of a tile
 * @property {number} all tiles, read or not
 * @property {Step[]} steps
 */
/**
 * @typedef {object} Numbers
 * @property {string[]} tokens
 * @property {number} side of a long text's tile
 * @property {string} tileBytes
 * @property {Length[]} lengths
 * @property {Record<string, Sweep>} masks
 */

const DIGITS_NEED = 23; // pixels of a cell in which "100" can be read
const BEGIN = 0.6; // of the tiles have been read when the picture opens

/** @extends {Hero<HeroData & Numbers>} */
export class Tiles extends Hero {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    root.classList.add("tiles");
    this.shown = "";
    this.swept = ""; // the mask whose tiles the film has
    this.frame = 0;
    this.slide = new Slide(this.bar, (at) => this.choose({ length: this.data.lengths[at].tokens }));
    this.squares = new Squares(this.stage);
    this.title = this.stage.add("div", "tiles-title");
    this.made = this.stage.add("div", "text tiles-made", _("output so far"));
    this.cursor = this.stage.add("div", "tiles-cursor");
    /** @type {HTMLElement[][]} */
    this.cells = [];
    /** @type {{ row: HTMLElement, column: HTMLElement, strip: Strip, bar: HTMLElement, part: HTMLElement }[]} */
    this.words = [];
    const control = root.insertBefore(element("div", "tiles-film"), this.says);
    this.film = new Film(control, _("tiles read"), (frame) => this.wind(frame));
    /** @type {Places | null} */
    this.places = null;
  }

  // What is chosen.

  get sweep() { return this.data.masks[String(this.choices.tile_mask)]; }
  get length() { return this.data.lengths.find(({ tokens }) => tokens === this.choices.length) ?? this.data.lengths[0]; }
  get step() { return this.sweep.steps[this.frame]; }

  /** @override */
  offer() {
    super.offer();
    if (this.slide.root.parentElement !== this.bar) this.bar.append(this.slide.root);
  }

  /** @param {number} frame */
  wind(frame) {
    this.frame = frame;
    this.root.classList.add("quick");
    this.update();
  }

  /** @override */
  update() {
    const { lengths } = this.data, { steps, all, shades } = this.sweep;
    const at = lengths.indexOf(this.length), mask = `${this.choices.tile_mask} ${this.shown}`;
    this.slide.show(_("tokens n"), 0, lengths.length - 1, at, this.length.name);
    this.slide.output.textContent = this.length.name;
    if (this.swept !== mask) {
      const share = this.swept ? this.frame / this.film.names.length : BEGIN;
      this.film.pause();
      this.film.offer(steps.map((_step, n) => _("{count} of {all}", { count: String(n + 1), all: String(steps.length) })));
      this.frame = Math.min(steps.length - 1, Math.round(share * steps.length));
      this.swept = mask;
      const count = steps.length < all ? _("{count} of {all}", { count: String(steps.length), all: String(all) }) : String(all);
      this.title.textContent = _("The same, word by word: {all} tiles of {rows} × {columns}", {
        all: count, rows: String(this.sweep.blocks[0]), columns: String(this.sweep.blocks[1]),
      });
      this.squares.shade(shades, this.colour ?? "gray");
    }
    this.film.show(this.frame, true);
    super.update();
    if (!this.film.timer) this.root.classList.remove("quick");
  }

  // Nodes.

  /** @override @param {boolean} _isFirst */
  renew(_isFirst) {
    const { tokens } = this.data, shown = JSON.stringify(tokens);
    if (shown === this.shown) return false;
    this.shown = shown;
    this.swept = "";
    for (const { row, column, strip, bar } of this.words) for (const node of [row, column, strip.node, bar]) node.remove();
    for (const cell of this.cells.flat()) cell.remove();
    this.cells = tokens.map(() => tokens.map(() => this.stage.add("div", "cell tiles-cell")));
    this.words = tokens.map((token) => {
      const bar = this.stage.add("div", "tiles-total"), part = bar.appendChild(element("span"));
      return {
        row: this.stage.add("div", "text tiles-name", token), column: this.stage.add("div", "text tiles-name tiles-column", token),
        strip: new Strip(this.stage, "output", "value"), bar, part,
      };
    });
    this.stage.root.append(this.cursor);
    return true;
  }

  /** @override @param {Dress} dress */
  dressed({ look, background }) {
    this.ramp = makeSignedRamp(background, look.value, look.below);
    this.colour = look.heads[0];
    this.squares.shade(this.sweep.shades, this.colour);
  }

  // Places.

  /** @override */
  place() {
    const { stage, data, length, sweep } = this;
    const places = layOutTiles(stage, data.tokens, Math.ceil(data.tokens.length / sweep.blocks[1]));
    this.places = places;
    stage.resize(stage.room, places.height);
    this.squares.place(places, data.side / length.tokens, {
      name: length.name, bytes: length.bytes, side: String(data.side), tileBytes: data.tileBytes,
    });
    const { title: { left, top, width, height }, grid } = places;
    stage.put(this.title, { x: left, y: top, width, height });
    const half = stage.widths([this.made.textContent ?? ""], 13)[0] / 2 + 4; // of many words the strip is narrower than its name
    stage.write(this.made, Math.min(places.strip.left + places.strip.width / 2, stage.room - half), grid.top - 12, 13);
    this.placeGrid(places);
    this.placeOutputs(places);
    const { rows, columns } = this.step, words = data.tokens.length;
    this.squares.move(places, rows[0] / words, columns[0] / words);
  }

  /** Where a row or a column begins: tiles keep a little apart. @param {number} at @param {number} block */
  offset(at, block) {
    const { cell, gap } = /** @type {Places} */ (this.places).grid;
    return at * cell + Math.floor(at / block) * gap;
  }

  /** @param {Places} places */
  placeGrid({ grid: { left, top, cell, font } }) {
    const { stage, sweep: { blocks, allowed, steps }, step } = this, [queries, keys] = blocks;
    const before = new Set(steps.slice(0, this.frame).map(({ rows, columns }) => `${rows[0]} ${columns[0]}`));
    const ahead = new Set(steps.slice(this.frame).map(({ rows, columns }) => `${rows[0]} ${columns[0]}`));
    this.cells.forEach((cells, r) => cells.forEach((node, c) => {
      const tile = `${r - r % queries} ${c - c % keys}`, isNow = isInside(r, step.rows) && isInside(c, step.columns);
      const share = isNow ? step.shares[r - step.rows[0]][c - step.columns[0]] : 0;
      stage.put(node, { x: left + this.offset(c, keys), y: top + this.offset(r, queries), width: cell - 2, height: cell - 2 });
      node.style.setProperty("--share", `${100 * share}%`);
      node.textContent = isNow && allowed[r][c] && cell >= DIGITS_NEED ? String(Math.round(100 * share)) : "";
      node.classList.toggle("now", isNow);
      node.classList.toggle("deep", share > 0.57);
      node.classList.toggle("forgotten", !isNow && before.has(tile));
      node.classList.toggle("forbidden", !allowed[r][c]);
      node.classList.toggle("skipped", !before.has(tile) && !ahead.has(tile));
    }));
    const box = (/** @type {[number, number]} */ [from, to], /** @type {number} */ block) => ({ at: this.offset(from, block) - 3, size: (to - from) * cell + 4 });
    const across = box(step.columns, keys), down = box(step.rows, queries);
    stage.put(this.cursor, { x: left + across.at, y: top + down.at, width: across.size, height: down.size });
    const hasRoom = (/** @type {number} */ at) => cell > font || at % 2 === 0; // else every second word
    this.words.forEach(({ row, column }, at) => {
      const isRow = isInside(at, step.rows), isColumn = isInside(at, step.columns);
      stage.write(row, left - 8, top + this.offset(at, queries) + cell / 2 - 1, font, isRow || hasRoom(at) ? 1 : 0, 0, "right");
      stage.write(column, left + this.offset(at, keys) + cell / 2 - 2, top - 9, font, isColumn || hasRoom(at) ? 1 : 0, 0, "left", TURN);
      row.classList.toggle("asks", isRow);
      column.classList.toggle("asked", isColumn);
    });
  }

  /** @param {Places} places */
  placeOutputs({ grid: { top, cell }, strip: { left, width } }) {
    const { stage, sweep: { steps, blocks }, data } = this, rowsOf = steps[0].output[0].length;
    const known = steps.slice(0, this.frame + 1), limit = Math.max(...steps.flatMap(({ output }) => output.flat().map(Math.abs)));
    this.words.forEach(({ strip, bar, part }, at) => {
      const last = known.findLast(({ rows }) => isInside(at, rows)), place = last ? at - last.rows[0] : 0;
      const output = last ? last.output[place] : Array(rowsOf).fill(0), total = last ? last.total[place] : 0;
      const y = top + this.offset(at, blocks[0]), height = Math.max(3, cell - 10);
      strip.fit(height >= 16 ? width : 0, rowsOf);
      if (this.ramp) strip.fill(output, limit, this.ramp);
      strip.describe(_("output of {token}", { token: data.tokens[at] }), output);
      strip.node.classList.toggle("empty", !last);
      stage.put(strip.node, { x: left, y, width, height });
      stage.put(bar, { x: left, y: y + height + 2, width, height: 4 });
      part.style.transform = `scaleX(${total})`;
      bar.classList.toggle("full", total > 0.999);
    });
  }

  // Words.

  /** @override @returns {Sentence} */
  sentence() {
    const { data, length, sweep } = this, mask = String(this.choices.tile_mask), skipped = length.skipped[mask];
    const values = {
      tokens: length.name, bytes: length.bytes, side: String(data.side), tile: data.tileBytes, times: length.ratio,
      mask: sweep.name, skipped, all: length.tiles,
    };
    const name = skipped !== "0" ? "hero_skipped" : length.isShort ? "hero_short" : "hero_all";
    return { name, values, classes: { bytes: "weight", tile: "weight" } };
  }

  /** @override */
  describe() {
    const { data, step, sweep } = this, named = (/** @type {[number, number]} */ [from, to]) => data.tokens.slice(from, to).join(" ");
    const tile = _("tile {number} of {all}: {queries} read {keys}", {
      number: String(this.frame + 1), all: String(sweep.steps.length), queries: named(step.rows), keys: named(step.columns),
    });
    return `${this.length.name} × ${this.length.name}: ${this.length.bytes}. ${data.side} × ${data.side}: ${data.tileBytes}. ${tile}`;
  }
}

/** @param {number} at @param {[number, number]} range */
const isInside = (at, [from, to]) => at >= from && at < to;
