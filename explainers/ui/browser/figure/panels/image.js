// A large matrix: one canvas, a pixel per cell.

/** @import { Rgb } from "../../common/colours.js" */
/** @import { PackedValues } from "../../common/numbers.js" */
/** @import { Axis, PanelData } from "../data.js" */
/** @import { Figure } from "../figure.js" */
/** @import { Token } from "./panel.js" */

import { mix } from "../../common/colours.js";
import { element } from "../../common/elements.js";
import { unpackValues } from "../../common/numbers.js";
import { LABELS, NARROW, Panel } from "./panel.js";

const FEW_ROWS = 20; // as many as have room for a label each
const OF_TOKENS = 330, OTHERS = 400, NAMED = 12; // how high it is: of tokens, two stand side by side; what a label needs

export class Picture extends Panel {
  /** @param {Figure} figure @param {PanelData} data */
  constructor(figure, data) {
    super(figure, data);
    this.frameBox = element("div", "picture");
    const labels = (/** @type {string} */ kind, /** @type {string[]} */ texts) => {
      const line = element("div", `labels ${kind}`);
      line.append(...texts.map((text) => element("span", "", text)));
      return line;
    };
    this.labelsOf = {
      columns: labels("columns", data.column_tokens ? data.columns : []),
      rows: labels("rows", this.hasRowLabels ? data.rows : []),
    };
    this.canvas = this.named = element("canvas", "", "", { role: "img" });
    this.painted = ""; // the numbers and colours that are on it
    this.bands = ["row", "column", "lit"].map((kind) => element("div", `band ${kind}`));
    this.frameBox.append(this.canvas, ...this.bands);
    this.canvas.addEventListener("pointermove", (event) => {
      const [row, column] = this.place(event);
      figure.light(this.tokenAt(row, column), this.describe(row, column));
    });
    this.canvas.addEventListener("pointerleave", () => figure.light(null));
    this.canvas.addEventListener("click", (event) => figure.click(data.id, ...this.place(event), this.frameBox));
    const grid = element("div", "imaged");
    grid.append(this.labelsOf.columns, this.labelsOf.rows, this.frameBox);
    this.box.append(grid);
  }

  get hasRowLabels() { return this.data.row_tokens || this.data.rows.length <= FEW_ROWS; }

  /** The row and the column that are pointed at. @param {MouseEvent} event @returns {[number, number]} */
  place(event) {
    const area = this.canvas.getBoundingClientRect();
    const within = (/** @type {number} */ offset, /** @type {number} */ size, /** @type {number} */ count) =>
      Math.max(0, Math.min(count - 1, Math.floor(offset / size * count)));
    return [within(event.clientY - area.top, area.height, this.data.rows.length),
            within(event.clientX - area.left, area.width, this.data.columns.length)];
  }

  /** @override @param {PanelData} data @param {Rgb[]} ramp */
  paint(data, ramp) {
    const packed = /** @type {PackedValues} */ (data.values); // images always are
    const numbers = JSON.stringify([packed, data.low, data.high, ramp]);
    const [height, width] = [data.rows.length, data.columns.length];
    this.take({ ...data, values: unpackValues(packed, height, width) });
    this.certain = data.places && Math.max(0, Math.min(4, Math.floor(-Math.log10(packed.unit))));
    if (numbers === this.painted) return;
    this.painted = numbers;
    Object.assign(this.canvas, { width, height });
    const context = this.canvas.getContext("2d");
    if (!context) return;
    const image = context.createImageData(width, height);
    this.values.flat().forEach((value, k) => {
      if (value === null) return;
      image.data.set([...mix(ramp, (value - data.low) / (data.high - data.low)), 255], 4 * k);
    });
    context.putImageData(image, 0, 0);
  }

  /** @override @param {number | null} row @param {number | null} column */
  frame(row, column) { this.band(0, row, "row"); this.band(1, column, "column"); }

  /** @override @param {Token} token */
  light(token) { this.band(2, this.data.row_tokens || this.data.column_tokens ? token : null, this.data.row_tokens ? "row" : "column"); }

  /** @override */
  boxOf() { return this.frameBox; }

  /** Put one of the three bands on a row or a column, or on none. @param {number} index @param {Token} at @param {Axis} axis */
  band(index, at, axis) {
    const [start, size, count] = axis === "row"
      ? /** @type {const} */ (["top", "height", this.data.rows.length])
      : /** @type {const} */ (["left", "width", this.data.columns.length]);
    const place = { top: "0", left: "0", width: "100%", height: "100%", [start]: `${100 * Number(at) / count}%`, [size]: `${100 / count}%` };
    const style = at === null ? "" : Object.entries({ display: "block", ...place }).map((one) => one.join(": ")).join("; ");
    if (this.bands[index].getAttribute("style") !== style) this.bands[index].setAttribute("style", style);
  }

  /** @override @param {number} room */
  fit(room) {
    const [rows, columns] = [this.data.rows.length, this.data.columns.length];
    const wide = room - (this.hasRowLabels ? LABELS : 0) - (room < NARROW ? 0 : 40);
    const [each, high] = this.data.small ? [1, 13] : [4, 20]; // of a miniature three stand side by side
    const isMap = rows === columns && !this.data.small; // its cells are square
    const most = this.data.row_tokens ? OF_TOKENS : OTHERS, upright = Math.round(rows * Math.min(high, most / rows));
    const height = isMap ? Math.min(wide, upright) : upright;
    const width = isMap ? height : Math.max(columns * each, this.data.column_tokens ? columns * 20 : 50 * each);
    const drawn = Math.min(wide, width);
    this.frameBox.style.width = `${drawn}px`;
    this.frameBox.style.height = `${height}px`;
    this.labelsOf.columns.style.width = `${drawn}px`;
    thin(this.labelsOf.rows, height / rows);
    thin(this.labelsOf.columns, drawn / columns);
  }
}

/**
 * Of labels that are closer than they are high, every second, third … is left.
 * @param {HTMLElement} line @param {number} step pixels from one to the next
 */
function thin(line, step) {
  const every = Math.max(1, Math.ceil(NAMED / step));
  [...line.children].forEach((label, at) => label.classList.toggle("left-out", at % every > 0));
}
