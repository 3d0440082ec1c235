// @ts-check
// A square for every head: a column for each layer, a row for each head of it.

/** @import { Stage } from "../stage.js" */

import { element } from "../../common/elements.js";
import { _ } from "../../common/words.js";

/**
 * @typedef {object} MapState
 * @property {number} top
 * @property {number} wide
 * @property {number} chosen
 * @property {string[]} hues of all heads; none for a head without a name
 * @property {boolean[]} lit
 * @property {string[]} told the names of each head
 * @property {number} letters how large they are
 */

const HEAD = 24, TALLEST = 196, LEFT = 46;

export class HeadMap {
  /** @param {Stage} stage @param {(layer: number, head: number) => void} choose */
  constructor(stage, choose) {
    this.stage = stage;
    this.choose = choose;
    this.heads = this.layers = this.at = 0;
    this.root = stage.root.appendChild(element("div", "gallery-map"));
    this.root.setAttribute("role", "grid");
    this.root.setAttribute("aria-label", _("All heads: a column for each layer, a row for each head"));
    this.root.addEventListener("keydown", (event) => this.walk(event));
    this.corner = stage.add("div", "text quiet");
    this.frame = stage.add("div", "gallery-frame");
    /** @type {HTMLElement[]} */
    this.names = [];
    /** @type {HTMLElement[]} */
    this.rows = [];
    /** @type {HTMLElement[][]} by head, then by layer */
    this.cells = [];
    /** @type {HTMLElement[]} */
    this.rowNames = [];
  }

  /** @param {number} layers @param {number} heads */
  renew(layers, heads) {
    for (const node of [...this.names, ...this.rowNames, ...this.rows, ...this.cells.flat()]) node.remove();
    Object.assign(this, { layers, heads });
    this.names = Array.from({ length: layers }, (_one, layer) => this.stage.add("div", "text quiet", String(layer)));
    this.rowNames = Array.from({ length: heads }, (_one, head) => this.stage.add("div", "text quiet", `H${head}`));
    this.rows = [];
    this.cells = this.rowNames.map((_name, head) => {
      const row = this.root.appendChild(element("div"));
      row.setAttribute("role", "row");
      this.rows.push(row);
      return this.names.map((_layer, layer) => {
        const cell = row.appendChild(element("button", "gallery-cell"));
        cell.setAttribute("role", "gridcell");
        cell.onclick = () => this.choose(layer, head);
        return cell;
      });
    });
  }

  /** Put everything to its place; returns where the map ends. @param {MapState} state */
  place({ top, wide, chosen, hues, lit, told, letters }) {
    const { stage, layers, heads } = this, isPhone = stage.room < 560, left = isPhone ? 30 : LEFT;
    const width = Math.min(48, (wide - left) / layers), height = Math.max(13, Math.min(22, TALLEST / heads));
    this.at = chosen;
    const layer = Math.floor(chosen / heads), head = chosen % heads;
    this.corner.textContent = isPhone ? "" : _("layer");
    stage.write(this.corner, 0, top + HEAD / 2, letters, 1, 0, "left");
    const step = width >= 19 ? 1 : width * 2 >= 19 ? 2 : 5;
    this.names.forEach((name, place) => {
      const isSeen = place === layer || (place % step === 0 && Math.abs(place - layer) * width >= 19);
      name.classList.toggle("chosen", place === layer);
      stage.write(name, left + (place + 0.5) * width, top + HEAD / 2, letters, isSeen ? 1 : 0);
    });
    this.rowNames.forEach((name, place) => {
      name.classList.toggle("chosen", place === head);
      stage.write(name, left - 6, top + HEAD + (place + 0.5) * height, letters, 1, 0, "right");
    });
    this.cells.forEach((row, line) => row.forEach((cell, column) => {
      const place = column * heads + line, isChosen = place === chosen;
      cell.classList.toggle("nameless", !hues[place]);
      cell.classList.toggle("dim", !lit[place]);
      cell.style.setProperty("--hue", hues[place] || "transparent");
      cell.tabIndex = isChosen ? 0 : -1;
      cell.setAttribute("aria-selected", String(isChosen));
      cell.setAttribute("aria-label", `L${column}.H${line}: ${told[place]}`);
      cell.title = `L${column}.H${line}: ${told[place]}`;
      stage.put(cell, { x: left + column * width + 1, y: top + HEAD + line * height + 1, width: width - 2, height: height - 2 });
    }));
    stage.put(this.frame, { x: left + layer * width - 2, y: top + HEAD + head * height - 2, width: width + 4, height: height + 4 });
    return top + HEAD + heads * height + 4;
  }

  /** @param {KeyboardEvent} event */
  walk(event) {
    const by = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!by || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    const { heads, layers } = this;
    const layer = Math.max(0, Math.min(layers - 1, Math.floor(this.at / heads) + by[0]));
    const head = Math.max(0, Math.min(heads - 1, (this.at % heads) + by[1]));
    this.cells[head][layer].focus(); // first: after a change it would lay out the page at once
    this.choose(layer, head);
  }
}
