// @ts-check
// All weights of a long text as a square, and beside it, to the same scale, the one tile that is in memory.

/** @import { Stage } from "../stage.js" */
/** @import { Places } from "./tiles_places.js" */

import { element } from "../../common/elements.js";
import { _ } from "../../common/words.js";

const SEEN = 5; // pixels: a smaller tile is drawn so large

export class Squares {
  /** @param {Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.whole = stage.add("div", "tiles-whole");
    this.canvas = this.whole.appendChild(element("canvas"));
    this.held = stage.add("div", "tiles-held");
    this.dot = stage.add("div", "tiles-dot");
    this.titles = [_("Plain: all weights at once"), _("In tiles: one tile at a time")].map((title) => stage.add("div", "tiles-title", title));
    this.sizes = [0, 1].map(() => stage.add("div", "text tiles-size"));
    this.counts = [0, 1].map(() => stage.add("div", "text quiet"));
    this.note = stage.add("div", "tiles-note");
  }

  /** Which part of all pairs a mask allows. @param {number[]} rows a bit for each column @param {string} colour */
  shade(rows, colour) {
    const pen = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d")), count = rows.length;
    Object.assign(this.canvas, { width: count, height: count });
    pen.fillStyle = colour;
    rows.forEach((row, r) => {
      for (let c = 0; c < count; c++) if (Math.floor(row / 2 ** c) % 2) pen.fillRect(c, r, 1, 1);
    });
  }

  /**
   * @param {Places} places @param {number} share a tile's side of the text's
   * @param {{ name: string, bytes: string, side: string, tileBytes: string }} said
   */
  place({ square: { size, top, lefts } }, share, { name, bytes, side, tileBytes }) {
    const { stage } = this, small = size < 180, tile = size * share;
    [this.whole, this.held].forEach((node, at) => stage.put(node, { x: lefts[at], y: top, width: size, height: size }));
    this.whole.classList.toggle("ruled", tile >= 6);
    this.whole.style.setProperty("--tile", `${tile}px`);
    this.titles.forEach((node, at) => stage.put(node, { x: lefts[at], y: 0, width: size + 10, height: top - 6 }));
    [bytes, tileBytes].forEach((text, at) => {
      this.sizes[at].textContent = text;
      stage.write(this.sizes[at], lefts[at], top + size + 20, small ? 20 : 25, 1, 0, "left");
    });
    [name, side].forEach((text, at) => {
      this.counts[at].textContent = small ? `${text} × ${text}` : _("{count} × {count} weights", { count: text });
      stage.write(this.counts[at], lefts[at], top + size + 44, 14, 1, 0, "left");
    });
    this.tile = Math.max(SEEN, tile);
    this.note.textContent = tile < SEEN ? _("drawn larger: to scale, {pixels} pixels wide", { pixels: String(Number(tile.toPrecision(1))) }) : "";
    stage.put(this.note, { x: lefts[1], y: top + size + 54, width: size + 10, height: 36 });
    this.dot.classList.toggle("large", tile >= 16);
  }

  /** Where the tile is. @param {Places} places @param {number} down share of all rows @param {number} across share of all columns */
  move({ square: { size, top, lefts } }, down, across) {
    const tile = this.tile ?? SEEN, last = size - tile;
    this.stage.put(this.dot, { x: lefts[1] + Math.min(last, across * size), y: top + Math.min(last, down * size), width: tile, height: tile });
  }
}
