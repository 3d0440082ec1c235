// @ts-check
// What each text stores: a row for a text, with columns for pages that it reads from another text,
// those of the common beginning that it stores, those that a change had it compute again, and its own.

/** @import { Values } from "../../common/numbers.js" */

import { element } from "../../common/elements.js";
import { grouped } from "../../common/words.js";
import { Drawing } from "./drawing.js";

const KINDS = ["reads", "common", "again", "alone"]; // what a column is, as the style knows it

export class Stored extends Drawing {
  /**
   * @override
   * @param {Values} values
   */
  draw(values) {
    const { rows, columns, high, roles } = this.data;
    this.stage.classList.add("stored");
    this.stage.style.setProperty("--common", roles[0]);
    this.stage.style.setProperty("--alone", roles[1]);
    this.stage.replaceChildren(...rows.map((name, row) => {
      const line = element("div", "stored-text"), told = values[row].map((pages, n) => `${columns[n]}: ${grouped(pages ?? 0)}`).join("; ");
      line.setAttribute("role", "img");
      line.setAttribute("aria-label", `${name}: ${told}`);
      line.onpointerenter = () => { this.figure.readout.textContent = `${name}: ${told}`; };
      line.append(element("span", "stored-name", name));
      const bar = line.appendChild(element("span", "stored-bar"));
      values[row].forEach((pages, n) => {
        if (pages) bar.appendChild(element("span", `stored-part ${KINDS[n]}`)).style.width = `${(100 * pages) / high}%`;
      });
      return line;
    }));
  }
}
