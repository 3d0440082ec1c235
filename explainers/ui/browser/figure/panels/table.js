// A small matrix: a table that screen readers and arrow keys can walk through.

/** @import { Rgb } from "../../common/colours.js" */
/** @import { Value } from "../../common/numbers.js" */
/** @import { Axis, Matrix, PanelData } from "../data.js" */
/** @import { Figure } from "../figure.js" */

import { chooseInk, mix } from "../../common/colours.js";
import { element } from "../../common/elements.js";
import { digits } from "../../common/numbers.js";
import { _ } from "../../common/words.js";
import { LABELS, NARROW, Panel, nameToken } from "./panel.js";

/** @typedef {HTMLTableCellElement & { place: [number, number], value?: Value, dye?: string }} Cell  `dye` says how its colour was found */

const BESIDE = 38, DIGITS_NEED = 30, LABEL_NEEDS = 14;
const GAP = 14, CHARACTER = 7; // between two panels; of a label
const SMALL = { cells: 126, names: 78, label: 14 }, SMALL_ON_A_PHONE = { names: 54, label: 11 };
const widest = (/** @type {number} */ room) => room < 1000 ? 34 : 40; // of 7 words two at 1024, three at 1280

export class Table extends Panel {
  /** @param {Figure} figure @param {PanelData} data */
  constructor(figure, data) {
    super(figure, data);
    const table = this.table = this.named = element("table", "", "", { role: "grid" });
    table.classList.toggle("pickable", figure.data.pickable);
    const head = table.createTHead().insertRow();
    head.append(element("td", "corner", [[data.row_axis, "↓"], [data.column_axis, "→"]]
      .filter(([axis]) => axis).map(([axis, arrow]) => `${_(axis)} ${arrow}`).join(" ")));
    data.columns.forEach((label, column) => head.append(this.label(label, "column", column, data.column_tokens)));
    const body = table.createTBody();
    this.cells = data.rows.map((label, row) => {
      const line = body.insertRow();
      line.append(this.label(label, "row", row, data.row_tokens));
      return data.columns.map((name, column) => line.appendChild(this.cell(row, column)));
    });
    this.home = this.cells[0][0]; // the one that is in the tab order
    this.home.tabIndex = 0;
    /** @type {string | null} */
    this.followed = null; // what stands in a box
    table.addEventListener("pointerover", (event) => this.point(event.target));
    table.addEventListener("focusin", (event) => this.enter(event.target));
    table.addEventListener("pointerleave", () => figure.light(null));
    table.addEventListener("click", (event) => this.choose(cellAt(event.target)));
    table.addEventListener("keydown", (event) => this.move(event));
    this.box.append(table);
  }

  /** The name of a row or a column. @param {string} text @param {Axis} axis @param {number} index @param {boolean} isToken */
  label(text, axis, index, isToken) {
    if (!text && axis === "column") return element("td"); // a header without words is none
    const label = element("th", axis, "", { scope: axis === "row" ? "row" : "col", title: text, dir: "auto" });
    label.append(element("span", axis === "column" && text.length > (this.data.small ? 1 : 3) ? "turned" : "", text));
    if (isToken) label.dataset[`${axis}Token`] = String(nameToken(this.data[`${axis}_axis`], index));
    return label;
  }

  /** The place of a number. @param {number} row @param {number} column */
  cell(row, column) {
    const cell = /** @type {Cell} */ (element("td", "cell"));
    cell.tabIndex = -1;
    cell.place = [row, column];
    cell.setAttribute("role", "gridcell");
    if (this.data.row_tokens) cell.dataset.rowToken = String(nameToken(this.data.row_axis, row));
    if (this.data.column_tokens) cell.dataset.columnToken = String(nameToken(this.data.column_axis, column));
    return cell;
  }

  /** @override @param {PanelData} data @param {Rgb[]} ramp */
  paint(data, ramp) {
    this.take(/** @type {Matrix} */ (data)); // only images are packed
    const dye = JSON.stringify([data.low, data.high, ramp]);
    this.values.forEach((line, row) => line.forEach((value, column) => {
      const cell = this.cells[row][column];
      if (cell.value === value && cell.dye === dye) return;
      [cell.value, cell.dye] = [value, dye];
      cell.textContent = value === null ? data.blank : short(value, data.places);
      const colour = value === null ? null : mix(ramp, (value - data.low) / (data.high - data.low));
      cell.style.backgroundColor = colour ? `rgb(${colour})` : "";
      cell.style.color = colour ? chooseInk(colour) : "";
      cell.classList.toggle("masked", value === null);
    }));
    const rings = new Set(data.ringed.map(String));
    this.cells.forEach((line, i) => line.forEach((cell, j) => cell.classList.toggle("ringed", rings.has(`${i},${j}`))));
    this.follow(data.followed, data.flipped);
  }

  /** Put a box around the row, or the column, of a query. @param {number | null} query @param {boolean} isColumn */
  follow(query, isColumn) {
    const place = query === null ? null : `${isColumn} ${query}`;
    if (place === this.followed) return;
    this.followed = place;
    this.cells.forEach((line, i) => {
      line[0].parentElement?.classList.toggle("followed", !isColumn && i === query);
      line.forEach((cell, j) => cell.classList.toggle("followed", isColumn && j === query));
    });
  }

  /** @param {EventTarget | null} target */
  point(target) {
    const cell = cellAt(target);
    if (cell) return this.figure.light(this.tokenAt(...cell.place), this.describe(...cell.place), this.columnTokenAt(cell.place[1]));
    const label = target instanceof Element && /** @type {HTMLElement | null} */ (target.closest("th"));
    if (label) this.figure.light(label.dataset.rowToken ?? label.dataset.columnToken ?? null);
  }

  /** Which token a column belongs to, where each row belongs to one as well. @param {number} column */
  columnTokenAt(column) {
    const { row_tokens, column_tokens, column_axis } = this.data;
    return row_tokens && column_tokens ? nameToken(column_axis, column) : undefined;
  }

  /** @param {EventTarget | null} target */
  enter(target) { // one cell of a table is in the tab order: the last one that had the focus
    const cell = cellAt(target);
    if (cell) {
      this.home.tabIndex = -1;
      this.home = cell;
      cell.tabIndex = 0;
    }
    this.point(target);
  }

  /** @param {Cell | null} cell */
  choose(cell) {
    if (cell) this.figure.click(this.data.id, ...cell.place, cell);
  }

  /** @param {KeyboardEvent} event */
  move(event) {
    const cell = cellAt(event.target);
    if (!cell) return;
    if (event.key === "Enter" || event.key === " ") { event.preventDefault(); return this.choose(cell); }
    const [down, right] = MOVES[event.key] ?? [0, 0];
    if (right && this.figure.data.stepper === this.data.id) { event.preventDefault(); return this.figure.step(right); }
    const next = this.cells[cell.place[0] + down]?.[cell.place[1] + right];
    if (!next || next === cell) return;
    event.preventDefault();
    next.focus();
  }

  /**
   * Has it the rows of the one before it, and could do without their names?
   * @param {Table | null | undefined} before @returns {before is Table}
   */
  continues(before) {
    if (!before || this.data.small || this.data.heading) return false;
    return [this, before].every(({ data }) => data.row_tokens) && String(this.data.rows) === String(before.data.rows);
  }

  /** @override @param {number} row @param {number} column */
  boxOf(row, column) { return this.cells[row]?.[column] ?? this.box; }

  get isNameless() { return this.table.classList.contains("nameless"); }

  /** @param {boolean} isNamed */
  nameRows(isNamed) {
    this.table.classList.toggle("nameless", !isNamed);
  }

  /** @override @param {number | null} row @param {number | null} column */
  frame(row, column) {
    this.cells.forEach((line, i) => {
      line[0].parentElement?.classList.toggle("chosen", i === row); // a class reads its digits
      line.forEach((cell, j) => cell.classList.toggle("framed",
        (row !== null || column !== null) && (row ?? i) === i && (column ?? j) === j));
    });
  }

  /** @override @param {number} room */
  fit(room) {
    const { columns, small } = this.data;
    const beside = this.box.parentElement?.querySelector(".operator") ? BESIDE : 0;
    const miniature = room < NARROW ? SMALL_ON_A_PHONE : SMALL;
    // On a phone two miniatures stand side by side.
    const share = !small ? room : room < NARROW ? Math.floor((room - GAP) / 2) : SMALL.names + SMALL.cells;
    const space = Math.min(share, room) - beside - (small ? miniature.names : LABELS);
    const side = Math.max(4, Math.min(small ? 18 : widest(room), Math.floor(space / columns.length) - 1));
    const longest = Math.max(...columns.map((label) => label.length).filter((length) => length <= 3));
    this.box.style.maxWidth = small ? `${share}px` : "";
    this.table.style.setProperty("--side", `${side}px`);
    this.table.classList.toggle("no-digits", side < DIGITS_NEED);
    const isTight = side < (small ? miniature.label : LABEL_NEEDS); // then only every fourth is shown
    this.table.classList.toggle("crowded", !isTight && side < CHARACTER * longest);
    this.table.classList.toggle("tight", isTight);
  }
}

/** As many digits as a cell has room for: three of a number that is not small. @param {number} value @param {number} places */
function short(value, places) {
  return digits(value, Math.abs(value) < 9.995 ? places : Math.min(places, 1));
}

/** @type {Record<string, [number, number]>} */
const MOVES = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }; // down, to the right

/** The cell that an event is about, if any. @param {EventTarget | null} target */
function cellAt(target) {
  return target instanceof Element ? /** @type {Cell | null} */ (target.closest("td.cell")) : null;
}
