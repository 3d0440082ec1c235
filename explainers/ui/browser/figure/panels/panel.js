// What every part of a linked picture has: a title, a formula, and a place for what it draws.
// Each kind of part is a class in a file of this folder, and stands in the table of figure.js.

/** @import { Rgb } from "../../common/colours.js" */
/** @import { Matrix, PanelData } from "../data.js" */
/** @import { Figure } from "../figure.js" */

import { element, shape } from "../../common/elements.js";
import { _, localNumber } from "../../common/words.js";

/** @typedef {string | number | null} Token  the name of a token's row or column */

export const LABELS = 78, NARROW = 480; // pixels for the names of the rows; less room is a phone's

const OF_TWO = ["syllable", "word"]; // charts/theme.py names these axes

export class Panel {
  /** @param {Figure} figure @param {PanelData} data */
  constructor(figure, data) {
    this.figure = figure;
    this.data = data;
    this.labels = readLabels(data);
    /** @type {Matrix["values"]} */
    this.values = [];
    /** @type {number | undefined} */
    this.certain = undefined; // how many places of its numbers are certain, if not all
    /** @type {HTMLElement | undefined} */
    this.named = undefined; // what a screen reader is told the name and the size of
    this.box = element("div", "panel", "", { role: "group" }); // a section would be a landmark, a dozen on a page
    const title = element("div", "title");
    const open = { "aria-label": _("{name}: read about it", { name: data.name }), onclick: () => figure.tell("open", data.id) };
    this.name = data.has_page ? element("button", "name", "", open) : element("span", "name");
    this.shape = element("span", "shape", ` ${data.rows.length} × ${data.columns.length}`);
    title.append(this.name, this.shape);
    this.formula = element("div", "formula");
    this.box.append(title, this.formula);
  }

  /** Take other numbers, or another state, for the same rows and columns. @param {Matrix} data */
  take(data) {
    this.data = data;
    this.values = data.values;
    this.name.textContent = data.name;
    this.box.setAttribute("aria-label", data.name);
    this.formula.textContent = data.formula;
    const spoken = _("{name}, {formula}: {rows} rows, {columns} columns",
      { name: data.name, formula: data.formula, rows: data.rows.length, columns: data.columns.length });
    this.named?.setAttribute("aria-label", spoken);
    this.box.style.setProperty("--role", data.colour);
    const { small, muted } = data;
    for (const [state, isSo] of Object.entries({ small, muted })) this.box.classList.toggle(state, Boolean(isSo));
  }

  /** Draw these numbers. @param {PanelData} data @param {Rgb[]} ramp */
  paint(data, ramp) {}

  /** Put a frame around a cell, a row or a column. @param {number | null} row @param {number | null} column */
  frame(row, column) {}

  /** What the arithmetic of a number stands beside. @param {number} row @param {number} column @returns {HTMLElement} */
  boxOf(row, column) { return this.box; }

  /** Light what belongs to a token. @param {Token} token */
  light(token) {}

  /** Use so many pixels of width. @param {number} room */
  fit(room) {}

  /** A number in words. @param {number} row @param {number} column */
  describe(row, column) {
    const value = this.values[row]?.[column];
    const shown = value === null ? _("masked") : localNumber(value?.toFixed(this.certain ?? (this.data.places && 4)) ?? "");
    return `${this.data.name} [${this.data.rows[row]}, ${this.data.columns[column]}] = ${shown}`;
  }

  /** Which token a cell belongs to, if any. @param {number} row @param {number} column @returns {Token} */
  tokenAt(row, column) {
    if (this.data.row_tokens) return nameToken(this.data.row_axis, row);
    return this.data.column_tokens ? nameToken(this.data.column_axis, column) : null;
  }
}

/** A small drawing of a matrix that says more as lines: vectors that turn, words tied to words. */
export class Drawing extends Panel {
  /** @param {Figure} figure @param {PanelData} data */
  constructor(figure, data) {
    super(figure, data);
    this.shape.remove(); // how many numbers it is made of is not its subject
    this.stage = this.box.appendChild(element("div", "drawings"));
  }

  /** @override @param {PanelData} data */
  paint(data) {
    this.take(/** @type {Matrix} */ (data)); // only images are packed
    this.draw(this.values);
  }

  /** Draw these numbers, given that everything else has been taken. @param {Matrix["values"]} values */
  draw(values) {}

  /**
   * Shapes in a box [left, top, width, height], with words for a screen reader.
   * @param {[number, number, number, number]} box @param {string} label @param {SVGElement[]} shapes
   */
  drawn(box, label, shapes) {
    const made = shape("svg", { viewBox: box.join(" "), width: box[2], height: box[3], role: "img", "aria-label": label });
    made.append(...shapes);
    return made;
  }
}

/**
 * Inside one sequence a token has one name on every axis; of two sequences each has its own names.
 * @param {string} axis @param {number} place
 */
export function nameToken(axis, place) {
  return OF_TWO.includes(axis) ? `${axis}-${place}` : place;
}

/** What a panel cannot change without being drawn anew. @param {PanelData} data */
export function readLabels(data) {
  return JSON.stringify([data.has_page, data.rows, data.columns, data.row_axis, data.column_axis, data.image]);
}
