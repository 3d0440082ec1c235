// @ts-check
// The weights of all words as cells, hatched where the mask forbids a pair; one row is framed.

import { element } from "../../common/elements.js";
import { _ } from "../../common/words.js";
import { percent, seenPercent } from "../sentence.js";
import { isUnseen } from "../words.js";

/** @typedef {import("../stage.js").Stage} Stage */
/**
 * @typedef {object} GridPlace
 * @property {number} left where the cells begin, right of the words
 * @property {number} top where they begin, below the words
 * @property {number} side of a cell
 * @property {number} angle of the words above the columns
 */
/**
 * @typedef {object} GridState
 * @property {string[]} tokens
 * @property {boolean[][]} allowed
 * @property {number} asker the row that is shown
 * @property {number | null} column that is pointed at
 * @property {boolean} isDrawing a click turns a cell
 * @property {number[][]} weights
 */
/** @typedef {(row: number, column: number) => void} Act */

const LEAST_FOR_DIGITS = 28, LEAST_FOR_PERCENT = 42; // pixels of a cell

export class MaskedGrid {
  /**
   * @param {Stage} stage
   * @param {{ click: Act, peek: (row: number | null, column: number | null) => void }} acts
   */
  constructor(stage, { click, peek }) {
    this.stage = stage;
    this.click = click;
    this.root = stage.root.appendChild(element("div", "masked-grid"));
    this.root.setAttribute("role", "grid");
    this.corner = stage.add("div", "text quiet", _("looks at →"));
    this.columnFrame = stage.add("div", "masked-column-frame");
    this.rowFrame = stage.add("div", "row-frame");
    /** @type {{ name: HTMLElement, column: HTMLElement, line: HTMLElement, cells: HTMLElement[] }[]} */
    this.rows = [];
    this.at = [0, 0];
    this.root.addEventListener("pointerover", (event) => {
      const [row, column] = this.placeOf(event);
      if (event.pointerType === "mouse" && row >= 0) peek(row, column);
    });
    this.root.addEventListener("pointerleave", () => peek(null, null));
    this.root.addEventListener("click", (event) => {
      const [row, column] = this.placeOf(event);
      if (row >= 0) { this.at = [row, column]; click(row, column); }
    });
    this.root.addEventListener("keydown", (event) => this.walk(event));
  }

  /** @param {Event} event */
  placeOf(event) {
    const node = /** @type {HTMLElement} */ (event.target);
    const row = this.rows.findIndex(({ cells, name }) => node === name || cells.includes(node));
    return [row, row < 0 ? -1 : this.rows[row].cells.indexOf(node)];
  }

  /** @param {string[]} words @param {string} label */
  renew(words, label) {
    for (const { name, column, line } of this.rows) for (const node of [name, column, line]) node.remove();
    this.root.setAttribute("aria-label", label);
    this.rows = words.map((word) => {
      const line = this.root.appendChild(element("div"));
      line.setAttribute("role", "row");
      const name = this.stage.add("div", "text row-name masked-name", word);
      name.setAttribute("role", "rowheader");
      line.append(name);
      const cells = words.map(() => {
        const cell = this.stage.add("button", "cell masked-cell");
        cell.setAttribute("role", "gridcell");
        line.append(cell);
        return cell;
      });
      const column = this.stage.add("div", "text masked-head");
      column.append(element("span", "", word)); // the box is put in its place, the word in it is turned
      return { name, line, cells, column };
    });
    this.at = [0, 0];
  }

  /** All nodes that a word has, as lists with one of each word. */
  columns() {
    const { rows } = this;
    return [rows.map(({ name }) => name), rows.map(({ column }) => column), ...rows.map(({ cells }) => cells), ...rows.map((_row, at) => rows.map(({ cells }) => cells[at]))];
  }

  /** @param {GridPlace} grid @param {GridState} state */
  place({ left, top, side, angle }, { tokens, allowed, asker, column, isDrawing, weights }) {
    const { stage } = this, count = tokens.length, small = side < 20 ? 11 : 15;
    this.root.classList.toggle("drawing", isDrawing);
    if (this.at[0] >= count || !this.root.contains(document.activeElement)) this.at = [asker, Math.max(0, this.at[1] % count)];
    if (isUnseen(this.rows[this.at[0]].cells[this.at[1]])) this.at = [asker, asker];
    this.rows.forEach(({ name, column: head, cells }, row) => {
      name.classList.toggle("asks", row === asker);
      stage.write(name, left - 10, top + (row + 0.5) * side, small, 1, 0, "right");
      head.classList.toggle("asks", row === column);
      stage.write(head, left + (row + 0.5) * side, top - 7, Math.min(small, 14), 1, 0, "left");
      /** @type {HTMLElement} */ (head.firstElementChild).style.rotate = `${angle}deg`;
      cells.forEach((cell, place) => {
        const isAllowed = allowed[row][place], isEmpty = !allowed[row].includes(true);
        cell.classList.toggle("forbidden", !isAllowed);
        cell.classList.toggle("nan", isEmpty);
        cell.tabIndex = row === this.at[0] && place === this.at[1] ? 0 : -1;
        const told = isEmpty ? "nan" : isAllowed ? seenPercent(weights[row][place]) : _("forbidden");
        cell.setAttribute("aria-label", `${tokens[row]} → ${tokens[place]}: ${told}`);
        stage.put(cell, { x: left + place * side + 1, y: top + row * side + 1, width: side - 2, height: side - 2 });
      });
    });
    stage.write(this.corner, left - 10, top - 14, 13, side < 20 ? 0 : 1, 0, "right");
    const wide = count * side;
    stage.put(this.rowFrame, { x: 1, y: top + asker * side - 1, width: left + wide, height: side + 2 });
    const frame = { x: left + (column ?? asker) * side - 1, y: top - 1, width: side + 2, height: wide + 2 };
    stage.put(this.columnFrame, frame, column === null || column < 0 ? 0 : 1);
  }

  /** Digits and colours on their way. @param {(row: number) => ArrayLike<number>} weights @param {boolean[][]} allowed @param {number} side */
  paint(weights, allowed, side) {
    this.rows.forEach(({ cells }, row) => {
      const now = weights(row), isEmpty = !allowed[row].includes(true);
      cells.forEach((cell, place) => {
        const weight = now[place], text = isEmpty ? "nan" : allowed[row][place] ? write(weight, side) : "";
        const shown = side < LEAST_FOR_DIGITS ? "" : text;
        if (cell.textContent !== shown) cell.textContent = shown;
        const share = `${(100 * weight).toFixed(1)}%`;
        if (cell.style.getPropertyValue("--share") !== share) cell.style.setProperty("--share", share);
        cell.classList.toggle("deep", weight > 0.5);
        cell.classList.toggle("low", weight < 0.05);
      });
    });
  }

  /** @param {KeyboardEvent} event */
  walk(event) {
    const by = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    const [row, column] = this.placeOf(event), count = this.rows.length;
    if (!by || row < 0 || column < 0 || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    const was = this.rows[row].cells[column], next = [row, column];
    do next.forEach((at, axis) => { next[axis] = (at + by[axis] + count) % count; }); while (isUnseen(this.rows[next[0]].cells[next[1]]));
    this.at = next;
    was.tabIndex = -1;
    const cell = this.rows[next[0]].cells[next[1]];
    cell.tabIndex = 0;
    cell.focus();
  }
}

/** @param {number} weight @param {number} side */
function write(weight, side) {
  if (weight < 0.005) return "<\u20091";
  return side < LEAST_FOR_PERCENT ? `${Math.round(100 * weight)}` : percent(weight);
}
