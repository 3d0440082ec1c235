// @ts-check
// Where the two squares are, and the sentence's grid: at their right, or, where that is too narrow, below.

/** @import { Stage } from "../stage.js" */
/** @typedef {ReturnType<typeof layOutTiles>} Plan */

const TITLE = 46; // room for the names above the squares
const STACKED = 600, SENTENCE = 440; // pixels: where there is less, the grid is below; and what it needs beside them
const WIDEST_CELL = 32, MOST_GAP = 5, SLANT = 0.8;

/** @param {Stage} stage @param {string[]} words @param {[number, number]} blocks queries and keys of a tile */
export function layOutTiles(stage, words, [queries, keys]) {
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
