// A mask of the reader's own: as the link has it, and as cells.

export const FULL = "full", CAUSAL = "causal";

/** @typedef {boolean[][]} Cells  of each row, which words it may look at */

/**
 * A drawing for so many words: one for fewer goes on causally, one for more is cut, as on the server.
 * @param {string} drawing "full", "causal", or a hexadecimal number per row whose lowest bit is its first cell
 * @param {number} side @returns {Cells}
 */
export function readCells(drawing, side) {
  const rows = drawing === FULL || drawing === CAUSAL ? [] : drawing.split(".").map((row) => parseInt(row, 16));
  return Array.from({ length: side }, (_, i) => Array.from({ length: side }, (_, j) => {
    if (drawing === FULL) return true;
    return i < rows.length && j < rows.length ? Boolean((rows[i] >> j) & 1) : j <= i;
  }));
}

/** The drawing as it stands in a link. @param {Cells} cells */
export const writeCells = (cells) => cells.map((row) => bitsOf(row).toString(16)).join(".");

/** @param {boolean[]} row */
const bitsOf = (row) => row.reduce((bits, isSet, j) => bits + (isSet ? 2 ** j : 0), 0);

/** The cells of a row that came as one number. @param {number} bits @param {number} side */
export const readRow = (bits, side) => Array.from({ length: side }, (_, j) => Boolean((bits >> j) & 1));
