// @ts-check
// A map of texts: how long, and how many at once. Each square is as full as the memory would be.

/** @import { Stage } from "../stage.js" */

import { element } from "../../common/elements.js";
import { _ } from "../../common/words.js";

/**
 * @typedef {object} MapState
 * @property {number} row that is chosen: how many texts
 * @property {number} column how long
 * @property {number[][]} shares of the memory that may be used (counts, lengths)
 * @property {(number | null)[]} users
 * @property {string[][]} sizes
 */

const LEFT = 62, HEAD = 26, CELL = 25;

export class MemoryMap {
  /** @param {Stage} stage @param {(texts: number, tokens: number) => void} choose by their places */
  constructor(stage, choose) {
    this.stage = stage;
    this.choose = choose;
    this.root = stage.root.appendChild(element("div", "memory-map"));
    this.root.setAttribute("role", "grid");
    this.root.setAttribute("aria-label", _("Which texts fit: how many at once, and how long"));
    this.corner = stage.add("div", "text quiet");
    this.frame = stage.add("div", "memory-frame");
    /** @type {HTMLElement[]} */
    this.heads = [];
    /** @type {{ count: number, name: HTMLElement, line: HTMLElement, cells: HTMLElement[] }[]} */
    this.rows = [];
    this.shown = "";
    this.at = [0, 0];
    this.root.addEventListener("keydown", (event) => this.walk(event));
  }

  /** @param {string[]} lengths @param {number[]} counts */
  renew(lengths, counts) {
    const shown = JSON.stringify([lengths, counts]);
    if (shown === this.shown) return;
    this.shown = shown;
    for (const node of [...this.heads, ...this.rows.flatMap(({ name, line }) => [name, line])]) node.remove();
    this.heads = lengths.map((name) => this.stage.add("div", "text", name));
    this.rows = counts.map((count, row) => {
      const line = this.root.appendChild(element("div"));
      line.setAttribute("role", "row");
      const name = this.stage.add("div", "text", count.toLocaleString("en"));
      const cells = lengths.map((_length, column) => {
        const cell = this.stage.add("button", "memory-cell");
        cell.setAttribute("role", "gridcell");
        cell.onclick = () => this.choose(row, column);
        line.append(cell);
        return cell;
      });
      return { count, name, line, cells };
    });
  }

  /** Put everything to its place; returns where the map ends. @param {number} top @param {MapState} state */
  place(top, { row, column, shares, users, sizes }) {
    const { stage, heads, rows } = this, isPhone = stage.room < 560, left = isPhone ? 40 : LEFT;
    const wide = (stage.room - left) / heads.length;
    this.at = [row, column];
    this.corner.textContent = isPhone ? "" : _("texts ↓ tokens →");
    stage.write(this.corner, 0, top - 10, 13, 1, 0, "left");
    heads.forEach((head, place) => {
      head.classList.toggle("chosen", place === column);
      const isSeen = wide >= 34 || place % 2 === heads.length % 2 || place === column;
      stage.write(head, left + (place + 0.5) * wide, top + HEAD / 2, isPhone ? 13 : 14, isSeen ? 1 : 0);
    });
    rows.forEach(({ count, name, cells }, line) => {
      const y = top + HEAD + line * CELL;
      name.classList.toggle("chosen", line === row);
      stage.write(name, left - 8, y + CELL / 2, isPhone ? 13 : 14, 1, 0, "right");
      cells.forEach((cell, place) => {
        const most = users[place], fits = most === null || count <= most;
        const isChosen = line === row && place === column;
        cell.classList.toggle("unfit", !fits);
        cell.tabIndex = isChosen ? 0 : -1;
        cell.setAttribute("aria-selected", String(isChosen));
        cell.style.setProperty("--full", `${Math.min(100, 100 * shares[line][place]).toFixed(1)}%`);
        const told = fits ? _("fits") : _("does not fit");
        cell.setAttribute("aria-label", `${name.textContent} × ${heads[place].textContent}: ${sizes[line][place]}, ${told}`);
        stage.put(cell, { x: left + place * wide + 1, y: y + 1, width: wide - 2, height: CELL - 2 });
      });
    });
    stage.put(this.frame, { x: left + column * wide - 1, y: top + HEAD + row * CELL - 1, width: wide + 2, height: CELL + 2 });
    return top + HEAD + rows.length * CELL + 4;
  }

  /** @param {KeyboardEvent} event */
  walk(event) {
    const by = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    if (!by || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    const row = Math.max(0, Math.min(this.rows.length - 1, this.at[0] + by[0]));
    const column = Math.max(0, Math.min(this.heads.length - 1, this.at[1] + by[1]));
    this.rows[row].cells[column].focus(); // first: after a change it would lay out the page at once
    this.choose(row, column);
  }
}
