// Words of the source on the left, syllables on the right, in the order of reading; a line is as
// thick as its weight, a dotted one is what gold says. Rows that are not written yet are left out.

/** @import { Values } from "../../common/numbers.js" */
/** @import { Token } from "./panel.js" */

import { shape } from "../../common/elements.js";
import { Drawing, nameToken } from "./panel.js";

const FAINT = 0.04; // a smaller weight has no line
const STEP = 26, LEFT = 116, RIGHT = 264, WIDTH = 380; // between two words; of the two ends of lines; of all

export class Ties extends Drawing {
  /** @override @param {Values} values */
  draw(values) {
    const { data } = this;
    const turned = data.flipped; // then the rows are words
    const weights = turned ? values[0].map((first, j) => values.map((line) => line[j])) : values;
    const [targets, sources] = turned ? [data.columns, data.rows] : [data.rows, data.columns];
    const [targetAxis, sourceAxis] = turned ? [data.column_axis, data.row_axis] : [data.row_axis, data.column_axis];
    const rings = turned ? data.ringed.map(([i, j]) => [j, i]) : data.ringed;
    const height = STEP * Math.max(targets.length, sources.length);
    const line = (/** @type {number} */ i, /** @type {number} */ j, /** @type {Record<string, string | number>} */ look) => shape("line", {
      x1: LEFT, y1: at(j, sources.length, height), x2: RIGHT, y2: at(i, targets.length, height), ...look,
      "data-names": `${nameToken(targetAxis, i)} ${nameToken(sourceAxis, j)}`,
    });
    const written = weights.filter((row) => row[0] !== null).length;
    /** @type {SVGElement[]} */
    const shapes = [];
    /** @type {string[]} */
    const strongest = [];
    weights.slice(0, written).forEach((row, i) => {
      const shares = row.map((weight) => weight ?? 0);
      shares.forEach((weight, j) => weight >= FAINT && shapes.push(line(i, j, { class: "tie", "stroke-width": 10 * weight, opacity: 0.35 + 0.65 * weight })));
      strongest.push(`${targets[i]}: ${sources[shares.indexOf(Math.max(...shares))]}`);
    });
    shapes.push(...rings.filter(([i]) => i < written).map(([i, j]) => line(i, j, { class: "gold" })));
    sources.forEach((name, j) => shapes.push(
      this.word(name, at(j, sources.length, height), LEFT - 8, "end", nameToken(sourceAxis, j), "")));
    targets.slice(0, written).forEach((name, i) => shapes.push(
      this.word(name, at(i, targets.length, height), RIGHT + 8, "start", nameToken(targetAxis, i), i === written - 1 ? "last" : "")));
    this.stage.classList.add("ties");
    this.stage.style.setProperty("--tie", `rgb(${this.figure.data?.ramps.weights.at(-1)})`);
    this.stage.replaceChildren(this.drawn([0, 0, WIDTH, height], `${data.name}: ${strongest.join("; ")}`, shapes));
  }

  /**
   * A word at one end of the lines.
   * @param {string} name @param {number} y @param {number} x @param {"start" | "end"} anchor
   * @param {string | number} token @param {string} mark
   */
  word(name, y, x, anchor, token, mark) {
    const made = shape("text", { x, y, "text-anchor": anchor, class: `word ${mark}`, "data-names": token }, name);
    made.onpointerenter = () => this.figure.light(token);
    made.onpointerleave = () => this.figure.light(null);
    return made;
  }

  /** @override @param {Token} token */
  light(token) {
    for (const made of this.stage.querySelectorAll("line"))
      made.classList.toggle("aside", token !== null && !made.dataset.names?.split(" ").includes(String(token)));
  }
}

/** Where a word stands, of so many in this height. @param {number} place @param {number} count @param {number} height */
function at(place, count, height) {
  return (place + 0.5) * height / count;
}
