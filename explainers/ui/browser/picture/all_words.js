// @ts-check
// All words at once: the weights of each word as a row of cells, stacked below the words.

import { percent } from "./sentence.js";

/** @typedef {import("./stage.js").Stage} Stage */
/** @typedef {import("./stage.js").Box} Box */
/**
 * @typedef {object} GridPlace
 * @property {number} left
 * @property {number} top
 * @property {number} side the height of a row
 * @property {number[]} starts of the columns
 * @property {number[]} widths
 * @property {boolean} isUpright columns have their words on end
 * @property {number[][]} weights
 * @property {boolean[][]} allowed
 */

export const COLUMN_NAMES = 13; // pixels
const MOST_DIGITS = 10; // words: with more, a cell has no room for a number
const TURNS = 0.5; // from this weight on the digits are light

export class AllWords {
  /** @param {Stage} stage @param {(row: number) => void} choose */
  constructor(stage, choose) {
    this.stage = stage;
    this.choose = choose;
    this.frame = stage.add("div", "row-frame");
    /** @type {{ name: HTMLElement, column: HTMLElement, cells: HTMLElement[] }[]} */
    this.rows = [];
    this.isShown = false;
  }

  /** @param {string[]} words */
  renew(words) {
    for (const { name, column, cells } of this.rows) for (const node of [name, column, ...cells]) node.remove();
    this.rows = words.map((word, row) => ({
      name: this.stage.add("div", "text row-name", word),
      column: this.stage.add("div", "text column-name", word),
      cells: words.map(() => {
        const cell = this.stage.add("div", "cell");
        cell.onclick = () => this.choose(row);
        return cell;
      }),
    }));
    this.isShown = false;
  }

  /** All nodes that a word has, as lists with one of each word. */
  columns() {
    const { rows } = this;
    return [rows.map(({ name }) => name), rows.map(({ column }) => column), ...rows.map(({ cells }) => cells), ...rows.map((_row, at) => rows.map(({ cells }) => cells[at]))];
  }

  /** Put the cells where they come from, before they are shown. @param {(place: number) => Box} from @param {number} _asker */
  seed(from, _asker) {
    for (const { cells } of this.rows) cells.forEach((cell, place) => this.stage.put(cell, from(place), 0));
    void this.stage.root.offsetWidth;
  }

  /** @param {GridPlace} grid @param {boolean} isShown @param {number} asker */
  place(grid, isShown, asker) {
    if (!isShown && !this.isShown) return this.hide();
    const isGrowing = isShown && !this.isShown;
    this.isShown = isShown;
    const { left, top, side, starts, widths, isUpright } = grid;
    this.rows.forEach(({ name, column, cells }, row) => {
      cells.forEach((cell, place) => {
        this.fill(cell, grid.weights[row][place], grid.allowed[row][place], isUpright);
        const box = { x: starts[place] + 2, y: top + row * side + 2, width: widths[place] - 4, height: side - 4 };
        const delay = isGrowing && row !== asker ? 400 + 110 * Math.abs(row - asker) : 0;
        this.stage.put(cell, box, isShown ? 1 : 0, delay);
        cell.inert = !isShown;
      });
      name.classList.toggle("asks", row === asker);
      this.stage.write(name, left - 14, top + (row + 0.5) * side, 15, isShown && !isUpright ? 1 : 0, 0, "right");
      this.stage.write(column, starts[row] + widths[row] / 2, top - 8, COLUMN_NAMES, isShown && isUpright ? 1 : 0, 0, "left", -90);
    });
    const frame = { x: left - 1, y: top + asker * side, width: this.stage.room - left + 1, height: side };
    this.stage.put(this.frame, frame, isShown ? 1 : 0);
  }

  hide() {
    for (const { name, column, cells } of this.rows) for (const node of [name, column, ...cells]) {
      node.style.opacity = "0";
      node.inert = true;
    }
    this.frame.style.opacity = "0";
  }

  /** @param {HTMLElement} cell @param {number} weight @param {boolean} isAllowed @param {boolean} isSmall */
  fill(cell, weight, isAllowed, isSmall) {
    const hasDigits = isAllowed && this.rows.length <= MOST_DIGITS;
    const text = !hasDigits ? "" : weight < 0.005 ? "0" : isSmall ? `${Math.round(100 * weight)}` : percent(weight);
    if (cell.textContent !== text) cell.textContent = text;
    cell.style.setProperty("--share", `${(100 * weight).toFixed(1)}%`);
    cell.classList.toggle("deep", weight > TURNS);
    cell.classList.toggle("low", weight < 0.05);
    cell.classList.toggle("forbidden", !isAllowed);
  }
}
