// What one word can have heard of: a row of dots per layer, the words at the bottom; lines lead from
// each dot that is reached to those that it sees one layer below. A cell is a dot.

/** @import { Values } from "../../common/numbers.js" */

import { shape } from "../../common/elements.js";
import { _ } from "../../common/words.js";
import { Drawing } from "./panel.js";

const LEFT = 78, ACROSS = 64, DOWN = 32, TOP = 16, BOTTOM = 78; // pixels: of the names of layers, of a word, of a layer, of the margins
const LONGEST = 12; // letters of a word that have room

export class Cone extends Drawing {
  /** @override @param {Values} values */
  draw(values) {
    const { name, rows, columns, row_axis: axis } = this.data;
    const reached = values.map((row) => row.map(Boolean));
    const top = reached.findIndex((row) => row.includes(true));
    const x = (/** @type {number} */ word) => LEFT + ACROSS * (word + 0.5);
    const y = (/** @type {number} */ row) => TOP + DOWN * row;
    // One word is at the top, and sees a window of words: in the row below it all that are reached.
    const width = reached[top + 1].filter(Boolean).length;
    const sees = (/** @type {number} */ word) => columns.map((text, j) => j).filter((j) => j <= word && j > word - width);
    const lines = reached.flatMap((row, i) => row.flatMap((is, word) => is && i + 1 < rows.length ?
      sees(word).map((j) => shape("line", { x1: x(word), y1: y(i), x2: x(j), y2: y(i + 1), class: "fan" })) : []));
    const dots = reached.flatMap((row, i) => row.map((is, word) =>
      shape("circle", { cx: x(word), cy: y(i), r: is ? 6 : 3, class: is ? "dot reached" : "dot" })));
    const layers = rows.slice(0, -1).map((row, i) =>
      shape("text", { x: LEFT - 10, y: y(i), "text-anchor": "end", class: `level ${i === top ? "reached" : ""}` }, `${_(axis)} ${row}`));
    const last = rows.length - 1, heard = columns.filter((text, j) => reached[last][j]);
    const words = columns.map((text, j) => shape("text", {
      x: 0, y: 0, "text-anchor": "end", transform: `translate(${x(j) + 6} ${y(last) + 20}) rotate(-35)`,
      class: reached[last][j] ? "word last" : "word level",
    }, text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text));
    this.stage.classList.add("cone");
    this.stage.style.setProperty("--tie", `rgb(${this.figure.data?.ramps.weights.at(-1)})`);
    const box = /** @type {[number, number, number, number]} */ ([0, 0, LEFT + ACROSS * columns.length, y(last) + BOTTOM]);
    this.stage.replaceChildren(this.drawn(box, `${name}: ${heard.join(", ")}`, [...lines, ...dots, ...layers, ...words]));
  }
}
