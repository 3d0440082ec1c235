// A long text's weights and the tile that is in memory, to one scale; and the tiles of a short one, one by one.

/** @import { HeroData, Mark, Sentence, Stage } from "../kit.js" */

import { _, element, Film, Hero, largest, localNumbers, markStrip, penOf, seenPercent, Slide } from "../kit.js";

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
const SEEN = 5, TURN = -50; // pixels: a smaller tile is drawn so large; degrees, of a column's name

/** @extends {Hero<HeroData & Numbers>} */
export class Tiles extends Hero {
  swept = ""; // the mask whose tiles the film has
  frame = 0;
  colour = "";
  slide = new Slide(this.bar, (at) => this.choose({ length: this.data.lengths[at].tokens }));
  film = new Film(this.root.insertBefore(element("div", "tiles-film"), this.says), _("tiles read"), (frame) => this.wind(frame));

  // What is chosen.

  get sweep() { return this.data.masks[String(this.choices.tile_mask)]; }
  get length() { return this.data.lengths.find(({ tokens }) => tokens === this.choices.length) ?? this.data.lengths[0]; }
  get step() { return this.sweep.steps[this.frame]; }

  /** @override */
  get besides() { return [this.slide.root]; }

  /** @param {number} frame */
  wind(frame) {
    this.frame = frame;
    this.update();
  }

  /** @override */
  update() {
    const { length, data: { lengths }, sweep: { steps } } = this, mask = String(this.choices.tile_mask);
    this.slide.show(_("tokens n"), 0, lengths.length - 1, lengths.indexOf(length), localNumbers(length.name));
    this.slide.output.textContent = localNumbers(length.name);
    if (this.swept !== mask) {
      const share = this.swept ? this.frame / this.film.names.length : BEGIN;
      this.film.pause();
      this.film.offer(steps.map((_step, n) => _("{count} of {all}", { count: String(n + 1), all: String(steps.length) })));
      this.frame = Math.min(steps.length - 1, Math.round(share * steps.length));
      this.swept = mask;
    }
    this.film.show(this.frame, true);
    this.root.classList.toggle("quick", this.film.isPlaying);
    super.update();
  }

  /** Tiles of another sentence begin anew. @override */
  renew() {
    if (!this.scene.isOther(this.data.tokens)) return false;
    Object.assign(this, { swept: "", frame: 0 });
    return true;
  }

  /** @override @param {import("../palette.js").Dress} dress */
  dressed({ look }) { this.colour = look.heads[0]; }

  // What is seen.

  /** @override */
  marks() {
    const { stage, data, sweep: { steps, blocks, all }, step: { rows, columns } } = this, plan = layOutTiles(stage, data.tokens, blocks);
    const { strip, grid: { top, cell } } = plan, made = _("output so far"), half = stage.width(made, 13) / 2 + 4; // of many words the strip is narrower than its name
    const count = steps.length < all ? _("{count} of {all}", { count: String(steps.length), all: String(all) }) : String(all);
    const title = _("The same, word by word: {all} tiles of {rows} × {columns}", { all: count, rows: String(blocks[0]), columns: String(blocks[1]) });
    const across = (columns[1] - columns[0]) * cell + 4, down = (rows[1] - rows[0]) * cell + 4;
    return /** @type {Mark[]} */ ([
      ...this.markSquares(plan),
      { key: "title", class: "tiles-title", text: title, box: plan.title },
      { key: "made", class: "text tiles-made", text: made, at: [Math.min(strip.left + strip.width / 2, stage.room - half), top - 12, 13] },
      ...this.markCells(plan),
      ...data.tokens.flatMap((token, at) => this.markNames(plan, token, at)),
      ...this.markOutputs(plan),
      { key: "cursor", class: "tiles-cursor", box: [plan.column(columns[0]) - 3, plan.row(rows[0]) - 3, across, down] },
    ]);
  }

  /** All weights of the long text as a square, and beside it, to the same scale, the one tile that is in memory. @param {Plan} plan @returns {Mark[]} */
  markSquares({ square: { size, top, lefts: [left, right] } }) {
    const { data, length, sweep: { shades }, step, colour } = this, isSmall = size < 180, tile = size * (data.side / length.tokens), drawn = Math.max(SEEN, tile);
    const note = tile < SEEN ? _("drawn larger: to scale, {pixels} pixels wide", { pixels: String(Number(tile.toPrecision(1))) }) : "";
    const place = (/** @type {number} */ word) => Math.min(size - drawn, (word / data.tokens.length) * size);
    const tell = (/** @type {string} */ key, /** @type {number} */ x, /** @type {string} */ title, /** @type {string} */ bytes, /** @type {string} */ count) => /** @type {Mark[]} */ ([
      { key, class: "tiles-title", text: title, box: [x, 0, size + 10, top - 6] },
      { key: `${key} bytes`, class: "text tiles-size", text: bytes, at: [x, top + size + 20, isSmall ? 20 : 25], hold: "left" },
      { key: `${key} count`, class: "text quiet", text: isSmall ? localNumbers(`${count} × ${count}`) : _("{count} × {count} weights", { count }), at: [x, top + size + 44, 14], hold: "left" },
    ]);
    return [
      { key: "whole", class: "tiles-whole", is: { ruled: tile >= 6 }, style: { "--tile": `${tile}px` }, box: [left, top, size, size] },
      { key: `allowed ${shades} ${colour}`, in: "whole", tag: "canvas", made: (canvas) => shade(canvas, shades, colour) },
      { key: "held", class: "tiles-held", box: [right, top, size, size] },
      { key: "dot", class: "tiles-dot", is: { large: tile >= 16 }, box: [right + place(step.columns[0]), top + place(step.rows[0]), drawn, drawn] },
      ...tell("plain", left, _("Plain: all weights at once"), length.bytes, length.name),
      ...tell("tiled", right, _("In tiles: one tile at a time"), data.tileBytes, String(data.side)),
      { key: "note", class: "tiles-note", text: note, box: [right, top + size + 54, size + 10, 36] },
    ];
  }

  /** @param {Plan} plan @returns {Mark[]} */
  markCells({ grid: { cell }, column, row }) {
    const { sweep: { blocks: [queries, keys], allowed, steps }, step, frame } = this;
    const order = new Map(steps.map(({ rows, columns }, at) => [`${rows[0]} ${columns[0]}`, at]));
    return allowed.flatMap((pairs, r) => pairs.map((isAllowed, c) => {
      const at = order.get(`${r - r % queries} ${c - c % keys}`), isNow = at === frame, share = isNow ? step.shares[r - step.rows[0]][c - step.columns[0]] : 0;
      return /** @type {Mark} */ ({
        key: `cell ${r} ${c}`, class: "cell tiles-cell", box: [column(c), row(r), cell - 2, cell - 2], style: { "--share": `${100 * share}%` },
        text: isNow && isAllowed && cell >= DIGITS_NEED ? seenPercent(share).replace(/[\u00a0%]/g, "") : "",
        is: { now: isNow, deep: share > 0.57, forgotten: at !== undefined && at < frame, forbidden: !isAllowed, skipped: at === undefined },
      });
    }));
  }

  /** A word before its row and above its column; without room for all, every second one. @param {Plan} plan @param {string} text @param {number} at @returns {Mark[]} */
  markNames({ grid: { left, top, cell, font }, column, row }, text, at) {
    const asks = isInside(at, this.step.rows), asked = isInside(at, this.step.columns), hasRoom = cell > font || at % 2 === 0, x = column(at) + cell / 2 - 2;
    return [
      { key: `row ${at}`, class: "text tiles-name", is: { asks }, text, at: [left - 8, row(at) + cell / 2 - 1, font], hold: "right", opacity: +(asks || hasRoom) },
      { key: `column ${at}`, class: "text tiles-name tiles-column", is: { asked }, text, at: [x, top - 9, font], turn: TURN, hold: "left", opacity: +(asked || hasRoom) },
    ];
  }

  /** What each word's output is so far, and which part of its weights it is made of. @param {Plan} plan @returns {Mark[]} */
  markOutputs({ grid: { cell }, strip: { left, width }, row }) {
    const { sweep: { steps }, data } = this, known = steps.slice(0, this.frame + 1), height = Math.max(3, cell - 10);
    const limit = largest(steps.flatMap(({ output }) => output)), empty = steps[0].output[0].map(() => 0);
    return data.tokens.flatMap((token, at) => {
      const last = known.findLast(({ rows }) => isInside(at, rows)), place = last ? at - last.rows[0] : 0, total = last?.total[place] ?? 0;
      return /** @type {Mark[]} */ ([
        markStrip(`output ${at}`, {
          role: "value", numbers: last?.output[place] ?? empty, limit, name: _("output of {token}", { token }), still: true, hasDigits: height >= 16, box: [left, row(at), width, height],
        }, { is: { empty: !last } }),
        { key: `total ${at}`, class: "tiles-total", box: [left, row(at) + height + 2, width, 4], parts: [{ style: { transform: `scaleX(${total})` } }] },
      ]);
    });
  }

  // Words.

  /** @override @returns {Sentence} */
  sentence() {
    const { data, length, sweep } = this, mask = String(this.choices.tile_mask), skipped = length.skipped[mask];
    const values = { tokens: length.name, bytes: length.bytes, side: String(data.side), tile: data.tileBytes, times: length.ratio, mask: sweep.name, skipped, all: length.tiles };
    const name = skipped !== "0" ? "hero_skipped" : length.isShort ? "hero_short" : "hero_all";
    return { name, values, classes: { bytes: "weight", tile: "weight" } };
  }

  /** @override */
  describe() {
    const { data, step, sweep } = this, named = (/** @type {[number, number]} */ [from, to]) => data.tokens.slice(from, to).join(" ");
    const tile = _("tile {number} of {all}: {queries} read {keys}", {
      number: String(this.frame + 1), all: String(sweep.steps.length), queries: named(step.rows), keys: named(step.columns),
    });
    return `${localNumbers(`${this.length.name} × ${this.length.name}: ${this.length.bytes}. ${data.side} × ${data.side}: ${data.tileBytes}`)}. ${tile}`;
  }
}

/** @param {number} at @param {[number, number]} range */
const isInside = (at, [from, to]) => at >= from && at < to;

/** Which part of all pairs a mask allows. @param {HTMLCanvasElement} canvas @param {number[]} rows a bit for each column @param {string} colour */
function shade(canvas, rows, colour) {
  const pen = penOf(canvas), count = rows.length;
  Object.assign(canvas, { width: count, height: count });
  pen.fillStyle = colour;
  rows.forEach((row, r) => {
    for (let c = 0; c < count; c++) if (Math.floor(row / 2 ** c) % 2) pen.fillRect(c, r, 1, 1);
  });
}

// Where the two squares are, and the sentence's grid: at their right, or, where that is too narrow, below.

/** @typedef {ReturnType<typeof layOutTiles>} Plan */

const TITLE = 46; // room for the names above the squares
const STACKED = 600, SENTENCE = 440; // pixels: where there is less, the grid is below; and what it needs beside them
const WIDEST_CELL = 32, MOST_GAP = 5, SLANT = 0.8;

/** @param {Stage} stage @param {string[]} words @param {[number, number]} blocks queries and keys of a tile */
function layOutTiles(stage, words, [queries, keys]) {
  const { room } = stage, isStacked = room < STACKED, between = isStacked ? 18 : Math.min(32, room * 0.03);
  const size = Math.floor(isStacked ? Math.min(150, (room - between) / 2) : Math.min(236, room * 0.235, (room - SENTENCE) / 2));
  const below = size < 180 ? 104 : 74; // their sizes
  const left = isStacked ? 0 : 2 * size + between + Math.min(56, room * 0.045);
  const top = isStacked ? TITLE + size + below : 0, width = room - left, gap = words.length > 12 ? 2 : MOST_GAP;
  const strip = width > 390 && words.length <= 12 ? 110 : 64, gaps = (Math.ceil(words.length / keys) - 1) * gap;
  let font = 18, cell = 0, wide = 0;
  do { // smaller letters leave more room for the cells
    font -= 1;
    wide = Math.max(...stage.widths(words, font));
    cell = Math.min(WIDEST_CELL, Math.floor((width - wide - strip - gaps - 26) / words.length));
  } while (font > 11 && (cell < 24 || font > 0.62 * cell));
  const gridTop = top + (isStacked ? 30 : TITLE - 4) + wide * SLANT + (isStacked ? 8 : 20), gridLeft = left + wide + 8;
  const end = gridTop + words.length * cell + Math.ceil(words.length / 2) * gap;
  stage.resize(room, Math.ceil(Math.max(end, TITLE + size + below)));
  return {
    square: { size, top: TITLE, lefts: [0, size + between] }, // all weights, and the tile in memory
    title: [left, top, width, isStacked ? 24 : TITLE - 6],
    grid: { left: gridLeft, top: gridTop, cell, font }, // its names are as large as `font`
    column: (/** @type {number} */ at) => gridLeft + at * cell + Math.floor(at / keys) * gap, // where one begins: tiles keep a little apart
    row: (/** @type {number} */ at) => gridTop + at * cell + Math.floor(at / queries) * gap,
    strip: { left: gridLeft + cell * words.length + gaps + 14, width: strip }, // of a word's output
  };
}
