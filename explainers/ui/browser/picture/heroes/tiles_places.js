// @ts-check
// Where the two squares are, and the sentence's grid: at their right, or, where that is too narrow, below.

/** @typedef {import("../stage.js").Stage} Stage */
/**
 * @typedef {object} Places
 * @property {number} height of the whole picture
 * @property {{ size: number, top: number, lefts: [number, number] }} square all weights, and the tile in memory
 * @property {{ left: number, top: number, width: number, height: number }} title of the grid
 * @property {{ left: number, top: number, cell: number, gap: number, font: number }} grid its names are as large as `font`
 * @property {{ left: number, width: number }} strip of a word's output
 */

const TITLE = 46; // room for the names above the squares
const STACKED = 600, SENTENCE = 440; // pixels: where there is less, the grid is below; and what it needs beside them
const WIDEST_CELL = 32, MOST_GAP = 5, SLANT = 0.8;
export const TURN = -50; // degrees

/**
 * @param {Stage} stage @param {string[]} words @param {number} parts of the words beside each other, each a tile wide
 * @returns {Places}
 */
export function layOutTiles(stage, words, parts) {
  const { room } = stage, isStacked = room < STACKED, between = isStacked ? 18 : Math.min(32, room * 0.03);
  const size = Math.floor(isStacked ? Math.min(150, (room - between) / 2) : Math.min(236, room * 0.235, (room - SENTENCE) / 2));
  const below = size < 180 ? 104 : 74; // their sizes
  const lefts = /** @type {[number, number]} */ ([0, size + between]);
  const left = isStacked ? 0 : 2 * size + between + Math.min(56, room * 0.045);
  const top = isStacked ? TITLE + size + below : 0, width = room - left, gap = words.length > 12 ? 2 : MOST_GAP;
  const strip = width > 390 && words.length <= 12 ? 110 : 64;
  let font = 18, cell = 0, wide = 0;
  do { // smaller letters leave more room for the cells
    font -= 1;
    wide = Math.max(...stage.widths(words, font));
    const free = width - wide - strip - (parts - 1) * gap - 26;
    cell = Math.min(WIDEST_CELL, Math.floor(free / words.length));
  } while (font > 11 && (cell < 24 || font > 0.62 * cell));
  const gridTop = top + (isStacked ? 30 : TITLE - 4) + wide * SLANT + (isStacked ? 8 : 20), grid = cell * words.length + (parts - 1) * gap;
  const end = gridTop + words.length * cell + Math.ceil(words.length / 2) * gap;
  return {
    height: Math.ceil(Math.max(end, TITLE + size + below)),
    square: { size, top: TITLE, lefts },
    title: { left, top, width, height: isStacked ? 24 : TITLE - 6 },
    grid: { left: left + wide + 8, top: gridTop, cell, gap, font },
    strip: { left: left + wide + 8 + grid + 14, width: strip },
  };
}
