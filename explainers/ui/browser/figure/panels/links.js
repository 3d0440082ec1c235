// @ts-check
// Columns stand above, rows below; a line joins those whose cell is not 0.

/** @import { Values } from "../../common/numbers.js" */

import { shape } from "../../common/elements.js";
import { Drawing } from "./drawing.js";

export class Links extends Drawing {
  /**
   * @override
   * @param {Values} values
   */
  draw(values) {
    const { rows, columns, roles, name, formula } = this.data;
    const [step, top, bottom] = [44, 18, 100];
    /** @type {SVGElement[]} */
    const shapes = [];
    const above = (/** @type {number} */ j) => step * (j + 0.5);
    rows.forEach((row, i) => {
      const joined = columns.map((column, j) => j).filter((j) => values[i][j]);
      const x = joined.reduce((sum, j) => sum + above(j), 0) / joined.length;
      shapes.push(...joined.map((j) => shape("path", { d: `M${above(j)} ${top}L${x} ${bottom}`, class: "link" })));
      shapes.push(...this.head("rect", { x: x - 14, y: bottom - 14, width: 28, height: 28, rx: 4 }, roles[1], x, bottom, row));
    });
    columns.forEach((column, j) =>
      shapes.push(...this.head("circle", { cx: above(j), cy: top, r: 14 }, roles[0], above(j), top, column)));
    this.stage.replaceChildren(this.drawn([0, 0, step * columns.length, bottom + 18], `${name}: ${formula}`, shapes));
  }

  /**
   * A head with its name.
   * @param {string} tag
   * @param {Record<string, number>} place
   * @param {string} colour
   * @param {number} x
   * @param {number} y
   * @param {string} name
   */
  head(tag, place, colour, x, y, name) {
    return [
      shape(tag, { ...place, class: "head", stroke: colour }),
      shape("text", { x, y, class: "head", fill: colour }, name),
    ];
  }
}
