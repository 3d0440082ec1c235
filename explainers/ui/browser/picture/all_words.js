// @ts-check
// All words at once: the weights of each word as a row of cells, stacked below the words.

/** @import { Mark } from "./scene.js" */

import { percent } from "./sentence.js";

/** @typedef {import("./stage.js").Stage} Stage */
/**
 * @typedef {object} Grid
 * @property {string[]} words
 * @property {number} asker
 * @property {boolean} isShown
 * @property {"" | "seeds" | "grows"} growth do its cells wait where they come from, or set out from there?
 * @property {(place: number) => [x: number, y: number, width: number, height: number]} seed where the cells of a column come from
 * @property {number} left
 * @property {number} top
 * @property {number} side the height of a row
 * @property {number[]} starts of the columns
 * @property {number[]} widths
 * @property {boolean} isUpright columns have their words on end
 * @property {number[][]} weights
 * @property {boolean[][]} allowed
 * @property {number[]} own the places of a model's own tokens
 * @property {(row: number) => void} choose
 */

export const COLUMN_NAMES = 13; // pixels
const MOST_DIGITS = 10; // words: with more, a cell has no room for a number
const TURNS = 0.5; // from this weight on the digits are light

/** @param {Stage} stage @param {Grid} grid @returns {Mark[]} */
export function markAllWords(stage, grid) {
  const { words, asker, isShown, growth, left, top, side, starts, widths, isUpright, own } = grid, opacity = growth === "seeds" ? 0 : 1;
  /** @type {Mark} */
  const frame = { key: "row frame", class: "row-frame", box: [left - 1, top + asker * side, stage.room - left + 1, side], opacity: isShown ? 1 : 0 };
  if (!isShown) return [frame];
  return [frame, ...words.flatMap((word, row) => /** @type {Mark[]} */ ([
    isUpright
      ? { key: `column ${row}`, class: "text column-name", text: word, at: [starts[row] + widths[row] / 2, top - 8, COLUMN_NAMES], hold: "left", turn: -90, opacity, fades: true, own: row }
      : { key: `row ${row}`, class: "text row-name", is: { asks: row === asker }, text: word, at: [left - 14, top + (row + 0.5) * side, 15], hold: "right", opacity, fades: true, own: row },
    ...words.map((_word, place) => ({
      ...fill(grid.weights[row][place], grid.allowed[row][place], words.length <= MOST_DIGITS, isUpright),
      key: `cell ${row} ${place}`, own: own.includes(row) ? row : place, fades: true, opacity, click: () => grid.choose(row),
      box: growth === "seeds" ? grid.seed(place) : [starts[place] + 2, top + row * side + 2, widths[place] - 4, side - 4],
      delay: growth === "grows" && row !== asker ? 400 + 110 * Math.abs(row - asker) : 0,
    })),
  ]))];
}

/** @param {number} weight @param {boolean} isAllowed @param {boolean} hasDigits @param {boolean} isSmall @returns {Partial<Mark>} */
function fill(weight, isAllowed, hasDigits, isSmall) {
  return {
    class: "cell", is: { deep: weight > TURNS, low: weight < 0.05, forbidden: !isAllowed }, style: { "--share": `${(100 * weight).toFixed(1)}%` },
    text: !hasDigits || !isAllowed ? "" : weight < 0.005 ? "0" : isSmall ? `${Math.round(100 * weight)}` : percent(weight),
  };
}
