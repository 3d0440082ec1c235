// How often numbers between 0 and 1 came out: a bar for each column, a colour for each row. The
// columns are as wide as 1 is long together.

/** @import { Values } from "../../common/numbers.js" */

import { element, shape } from "../../common/elements.js";
import { digits } from "../../common/numbers.js";
import { Drawing } from "./panel.js";

const WIDTH = 640, HEIGHT = 180, LEFT = 44, BELOW = 24, BESIDE = 12; // pixels: of the bars, of the margins
const PARTS = 5; // of each axis, with a number at each end of them

export class Bars extends Drawing {
  /** @override @param {Values} values */
  draw(values) {
    const { name, rows, columns, high, roles } = this.data;
    const y = (/** @type {number | null} */ share) => HEIGHT * (1 - (share ?? 0) / high);
    const parts = Array.from({ length: PARTS + 1 }, (_, n) => n / PARTS);
    const lines = parts.flatMap((part) => [
      shape("path", { d: `M0 ${y(part * high)}H${WIDTH}`, class: "rim" }),
      shape("text", { x: -8, y: y(part * high), "text-anchor": "end", class: "level" }, digits(part * high)),
      shape("text", { x: part * WIDTH, y: HEIGHT + BELOW / 2, "text-anchor": "middle", class: "level" }, digits(part, 1)),
    ]);
    const side = WIDTH / columns.length;
    const bars = values.flatMap((line, i) => line.map((share, j) => shape("rect", {
      x: j * side + 1, y: y(share), width: side - 2, height: HEIGHT - y(share), class: "share", fill: roles[i],
    })));
    const spoken = rows.map((row, i) => {
      const line = values[i].map((share) => share ?? 0), most = Math.max(...line);
      return `${row}: ${columns[line.indexOf(most)]} (${digits(most)})`;
    });
    const legend = element("div", "legend");
    rows.forEach((row, i) => { legend.appendChild(element("span", "", `■ ${row}`)).style.color = roles[i]; });
    const box = /** @type {[number, number, number, number]} */ ([-LEFT, -BESIDE, LEFT + WIDTH + BESIDE, BESIDE + HEIGHT + BELOW]);
    this.stage.replaceChildren(legend, this.drawn(box, `${name}: ${spoken.join("; ")}`, [...lines, ...bars]));
  }
}
