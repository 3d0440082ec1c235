// @ts-check
// Whole numbers beside each other: a line for each row, and a bar; the longest one is as wide as there is room.

/** @import { Values } from "../../common/numbers.js" */

import { element } from "../../common/elements.js";
import { Drawing } from "./drawing.js";

export class Amounts extends Drawing {
  /**
   * @override
   * @param {Values} values
   */
  draw(values) {
    const { rows, roles } = this.data, amounts = values.map(([amount]) => amount ?? 0), most = Math.max(1, ...amounts);
    this.stage.replaceChildren(...rows.map((row, at) => {
      const line = element("div", "amount", `${row}: ${amounts[at].toLocaleString("en")}`);
      const bar = line.appendChild(element("div", "share"));
      bar.style.width = `${(100 * amounts[at]) / most}%`;
      bar.style.backgroundColor = roles[0];
      return line;
    }));
  }
}
