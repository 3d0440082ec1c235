// @ts-check
// A matrix too small for its digits: a pixel of colour for each number.

import { element } from "../common/elements.js";
import { level } from "./palette.js";

export class PixelGrid {
  /** @param {import("./stage.js").Stage} stage @param {string} role its colour's name */
  constructor(stage, role) {
    this.node = stage.add("div", "pixel-grid");
    this.node.style.setProperty("--role", `var(--${role})`);
    this.node.setAttribute("role", "img");
    this.canvas = this.node.appendChild(element("canvas"));
    this.pen = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d"));
    this.column = this.node.appendChild(element("span", "column"));
  }

  /**
   * @param {ArrayLike<number>[]} rows @param {number} limit the number with the strongest colour
   * @param {Uint32Array} ramp
   */
  fill(rows, limit, ramp) {
    const width = rows[0].length, height = rows.length;
    if (this.canvas.width !== width || this.canvas.height !== height || !this.image) {
      Object.assign(this.canvas, { width, height });
      this.image = this.pen.createImageData(width, height);
    }
    const pixels = new Uint32Array(this.image.data.buffer);
    rows.forEach((row, r) => {
      for (let c = 0; c < width; c++) pixels[r * width + c] = level(ramp, row[c], limit);
    });
    this.pen.putImageData(this.image, 0, 0);
  }

  /** Frame one of its columns, or none. @param {number | null} column @param {number} count of the columns */
  frame(column, count) {
    this.column.hidden = column === null;
    if (column === null) return;
    this.column.style.left = `${(100 * column) / count}%`;
    this.column.style.width = `${100 / count}%`;
  }

  /** @param {string} name */
  describe(name) { this.node.setAttribute("aria-label", name); }
}
