// @ts-check
// A strip: a row of numbers as stripes of colour, with their digits where there is room for them.

import { element } from "../common/elements.js";
import { digits } from "../common/numbers.js";
import { _ } from "../common/words.js";
import { level } from "./palette.js";

const SIGN_NEEDS = 5.75; // pixels, a point being narrower than a digit
const MOST_TOLD = 64; // numbers that are told one by one
const DIGITS_NEED = 4 * SIGN_NEEDS; // of a stripe in which "−1.2" can be read

export class Strip {
  /**
   * @param {import("./stage.js").Stage} stage @param {string} kind @param {string} role its colour's name
   * @param {boolean} [isColumn] the numbers stand below each other
   */
  constructor(stage, kind, role, isColumn = false) {
    this.node = stage.add("div", "strip");
    this.kind = kind;
    this.isColumn = isColumn;
    this.node.style.setProperty("--role", `var(--${role})`);
    this.node.setAttribute("role", "img");
    this.canvas = this.node.appendChild(element("canvas"));
    this.pen = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d"));
    this.told = this.node.appendChild(element("span", "told"));
    /** @type {HTMLElement[]} */
    this.cells = [];
    /** @type {ImageData | null} */
    this.image = null;
    this.hasDigits = false;
    this.places = 1; // that are written after the point
    this.mostSigns = Infinity; // that fit into a stripe
  }

  /** Whether digits fit into a strip that is so long on the screen. @param {number} length @param {number} count */
  fit(length, count) {
    const has = length / count >= (this.isColumn ? 15 : DIGITS_NEED);
    this.mostSigns = this.isColumn ? Infinity : length / count / SIGN_NEEDS;
    this.told.classList.toggle("column", this.isColumn);
    if (has === this.hasDigits && (!has || this.cells.length === count)) return;
    this.hasDigits = has;
    this.cells = has ? Array.from({ length: count }, () => element("span")) : [];
    this.told.replaceChildren(...this.cells);
  }

  /** @param {ArrayLike<number>} values @param {number} limit the number with the strongest colour @param {Uint32Array} ramp */
  fill(values, limit, ramp) {
    const [width, height] = this.isColumn ? [1, values.length] : [values.length, 1];
    if (this.canvas.width !== width || this.canvas.height !== height || !this.image) {
      Object.assign(this.canvas, { width, height });
      this.image = this.pen.createImageData(width, height);
    }
    const pixels = new Uint32Array(this.image.data.buffer);
    for (let d = 0; d < values.length; d++) {
      pixels[d] = level(ramp, values[d], limit);
      if (!this.hasDigits) continue;
      const exact = digits(values[d], this.places), cell = this.cells[d];
      const text = exact.length > this.mostSigns ? digits(values[d], 0) : exact;
      if (cell.textContent !== text) cell.textContent = text;
      cell.classList.toggle("strong", Math.abs(values[d]) > 0.62 * limit);
    }
    this.pen.putImageData(this.image, 0, 0);
  }

  /** @param {string} name @param {ArrayLike<number>} values */
  describe(name, values) {
    if (values.length > MOST_TOLD) {
      const numbers = Array.from(values), [low, high] = [Math.min(...numbers), Math.max(...numbers)].map((value) => digits(value));
      this.node.setAttribute("aria-label", _("{name}: {count} numbers from {low} to {high}", { name, count: values.length, low, high }));
      return;
    }
    this.node.setAttribute("aria-label", `${name}: ${Array.from(values, (value) => digits(value)).join(" ")}`);
  }
}
