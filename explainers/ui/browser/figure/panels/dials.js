// A row is a vector, two columns of it are an arrow in a plane of their own.

/** @import { Values } from "../../common/numbers.js" */

import { element, shape } from "../../common/elements.js";
import { digits } from "../../common/numbers.js";
import { Drawing } from "./panel.js";

export class Dials extends Drawing {
  /** @override @param {Values} values */
  draw(values) {
    const { rows, columns } = this.data;
    const legend = element("div", "legend");
    rows.forEach((row, i) => {
      const name = legend.appendChild(element("span", "", `→ ${row}`));
      name.style.color = this.ink(i);
    });
    const planes = columns.flatMap((column, j) => j % 2 ? [] : [this.dial(values, column, j)]);
    this.stage.replaceChildren(...planes, ...rows.length > 1 ? [legend] : []);
  }

  /** The colour of a row: a query's and a key's, or the text's where there is one row alone. @param {number} row */
  ink(row) {
    return this.data.rows.length > 1 ? this.data.roles[row] : "currentColor";
  }

  /** The plane of the columns `j` and `j + 1`. @param {Values} values @param {string} column @param {number} j */
  dial(values, column, j) {
    const { rows, high } = this.data;
    const [reach, room] = [48, 56];
    const pairs = values.map((line) => [line[j] ?? 0, line[j + 1] ?? 0]);
    const shapes = [
      shape("circle", { r: reach, class: "rim" }),
      shape("path", { d: `M${-reach} 0H${reach}M0 ${-reach}V${reach}`, class: "rim" }),
    ];
    pairs.forEach(([right, up], i) => {
      const [x, y] = [right, -up].map((value) => value / high * reach);
      const angle = Math.atan2(y, x);
      const wing = (/** @type {number} */ turn) => `L${x - 9 * Math.cos(angle + turn)} ${y - 9 * Math.sin(angle + turn)}`;
      const d = `M0 0L${x} ${y}${wing(0.45)}M${x} ${y}${wing(-0.45)}`;
      shapes.push(shape("path", { d, class: "arrow", stroke: this.ink(i) }));
    });
    const figure = element("figure", "");
    const label = rows.map((row, i) => `${row}: ${pairs[i].map((value) => digits(value)).join(", ")}`);
    const made = this.drawn([-room, -room, 2 * room, 2 * room], `${column}: ${label.join("; ")}`, shapes);
    figure.append(made, element("figcaption", "", column));
    return figure;
  }
}
