// Small drawings of matrices that say more as lines: vectors that turn, words tied to words.

/** @import { Matrix, PanelData } from "../data.js" */
/** @import { Figure } from "../figure.js" */

import { element, shape } from "../../common/elements.js";
import { Panel } from "./panel.js";

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
