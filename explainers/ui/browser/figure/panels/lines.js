// Bytes over the length of a text: a line for each row, both axes logarithmic. Where other panels
// have the end of their colours, this one has a border, the memory that there is; its formula names
// it. Ringed cells are of the reader's own length. Pointing at a length says all sizes there.

/** @import { Values } from "../../common/numbers.js" */
/** @import { Figure } from "../figure.js" */
/** @import { PanelData } from "../data.js" */

import { ANSWER_WITHIN } from "../../common/component.js";
import { element, shape } from "../../common/elements.js";
import { ALONG, take } from "../../common/keys.js";
import { formatSize, nameLength, namePower } from "../../common/sizes.js";
import { _, grouped } from "../../common/words.js";
import { Drawing } from "./panel.js";

const MOST = 940, HEIGHT = 280, LEFT = 72, RIGHT = 16, ABOVE = 12, BELOW = 46; // pixels
const APART = 66; // pixels between two lengths that are named
const LINES = 7; // across, at most
const DASHES = ["", "8 3", "2 2", "10 3 2 3", "5 2", "2 5"]; // for who cannot tell all colours apart
const STEPS = [1, 2, 5, 10, 20]; // of powers of two, between two lines across
/** @type {Map<string, { names: string[], at: number }>} what was chosen in a list and the server has not said yet */
const ahead = new Map();

export class Lines extends Drawing {
  /** @param {Figure} figure @param {PanelData} data */
  constructor(figure, data) {
    super(figure, data);
    this.width = 0;
    /** @type {number[]} */
    this.lengths = [];
    this.own = 0; // the place of the reader's length
    this.pointed = 0;
    this.stage.classList.add("lines");
    this.names = this.stage.appendChild(element("div", "line-names"));
    this.sheet = this.stage.appendChild(element("div", "sheet", "", {
      tabindex: 0, role: "slider", "aria-valuemin": 0, onpointerleave: () => this.point(this.own), onkeydown: (event) => this.walk(event),
      onpointermove: (event) => this.point(this.nearest(event.clientX - event.currentTarget.getBoundingClientRect().left)),
    }));
    this.guide = shape("line", { class: "guide", y1: ABOVE, y2: ABOVE + HEIGHT });
    const drawn = new WeakRef(this);
    addEventListener("chosen", (event) => drawn.deref()?.lookAhead(/** @type {CustomEvent<Record<string, unknown>>} */ (event).detail));
  }

  /** Other rows are chosen in their list: the server, which says the same, is not waited for. @param {Record<string, unknown>} chosen */
  lookAhead(chosen) {
    const { pool, pooled_by: list } = this.data, names = chosen[list];
    if (!this.stage.isConnected || !Array.isArray(names) || !names.length || names.some((name) => !(name in pool))) return;
    ahead.set(list, { names, at: performance.now() });
    this.draw(this.values);
  }

  /** Rows that were chosen since the server drew these; then it has them. */
  catchUp() {
    const { pool, pooled_by: list, rows } = this.data, chosen = ahead.get(list);
    const isKnown = JSON.stringify(chosen?.names) === JSON.stringify(rows);
    if (!chosen || isKnown || performance.now() - chosen.at > ANSWER_WITHIN) return ahead.delete(list);
    const { names } = chosen, own = this.data.ringed[0]?.[1] ?? 0;
    const ringed = names.map((_unused, row) => /** @type {[number, number]} */ ([row, own]));
    this.data = { ...this.data, rows: names, ringed };
    this.values = names.map((name) => pool[name]);
  }

  /** @override @param {Values} _values */
  draw(_values) {
    this.catchUp();
    this.lengths = this.data.columns.map(Number);
    this.own = this.data.ringed[0]?.[1] ?? this.lengths.length - 1;
    this.pointed = this.own;
    if (this.width) this.redraw();
  }

  /** @override @param {number} room */
  fit(room) {
    const width = Math.min(room || MOST, MOST);
    if (width === this.width) return;
    this.width = width;
    this.redraw();
  }

  /** @param {number} tokens */
  x(tokens) {
    const [first, last] = [this.lengths[0], this.lengths[this.lengths.length - 1]];
    return LEFT + ((this.width - LEFT - RIGHT) * Math.log(tokens / first)) / Math.log(last / first || 2);
  }

  redraw() {
    const { data, values } = this, sizes = [...values.flat(), data.high].flatMap((size) => (size ? [Math.log2(size)] : []));
    const [low, high] = [Math.floor(Math.min(...sizes)), Math.ceil(Math.max(...sizes))];
    const y = (/** @type {number} */ power) => ABOVE + HEIGHT * (1 - (power - low) / (high - low || 1));
    const made = shape("svg", { viewBox: `0 0 ${this.width} ${ABOVE + HEIGHT + BELOW}`, width: this.width, height: ABOVE + HEIGHT + BELOW, "aria-hidden": "true" });
    made.append(...this.grid(low, high, y), this.guide, ...this.border(y(Math.log2(data.high))));
    values.forEach((line, row) => made.append(...this.line(line, row, y)));
    this.sheet.replaceChildren(made);
    this.sheet.setAttribute("aria-label", `${data.name}, ${_(data.column_axis)}`);
    this.sheet.setAttribute("aria-valuemax", String(this.lengths.length - 1));
    this.names.replaceChildren(element("div", "at"), ...data.rows.map((name, row) => {
      const item = element("div", "line-name"), look = shape("svg", { width: 34, height: 12, "aria-hidden": "true" });
      look.append(shape("path", { d: "M1 6H33", class: "curve", stroke: data.roles[row], "stroke-dasharray": DASHES[row] }));
      item.append(look, element("span", "", name), element("b", ""));
      return item;
    }));
    this.point(this.pointed);
  }

  /** Lines across with their sizes, and lengths along the bottom. @param {number} low @param {number} high @param {(power: number) => number} y */
  grid(low, high, y) {
    const step = STEPS.find((one) => (high - low) / one < LINES) ?? high - low;
    const across = Array.from({ length: high - low + 1 }, (_unused, n) => low + n).filter((power) => power % step === 0);
    const [first, last] = [this.lengths[0], this.lengths[this.lengths.length - 1]];
    const powers = Array.from({ length: 41 }, (_unused, n) => 2 ** n).filter((one) => one >= first && one <= last);
    const each = Math.max(1, Math.ceil((APART * powers.length) / (this.width - LEFT)));
    return [
      ...across.flatMap((power) => [
        shape("path", { d: `M${LEFT} ${y(power)}H${this.width - RIGHT}`, class: "rim" }),
        shape("text", { x: LEFT - 8, y: y(power), "text-anchor": "end", class: "level" }, namePower(power)),
      ]),
      ...powers.filter((_unused, n) => n % each === 0).map((one) =>
        shape("text", { x: this.x(one), y: ABOVE + HEIGHT + 14, "text-anchor": "middle", class: "level" }, nameLength(one))),
      shape("text", { x: this.width - RIGHT, y: ABOVE + HEIGHT + 36, "text-anchor": "end", class: "level" }, `${_(this.data.column_axis)} →`),
    ];
  }

  /** The memory that there is, with its name. @param {number} at */
  border(at) {
    return [
      shape("path", { d: `M${LEFT} ${at}H${this.width - RIGHT}`, class: "border" }),
      shape("text", { x: LEFT + 6, y: at < ABOVE + 22 ? at + 16 : at - 10, class: "word border-name" }, this.data.formula),
    ];
  }

  /** @param {Values[number]} line @param {number} row @param {(power: number) => number} y */
  line(line, row, y) {
    const { roles, ringed } = this.data;
    const points = line.flatMap((size, column) => (size ? [[this.x(this.lengths[column]), y(Math.log2(size)), column]] : []));
    const path = points.map(([x, at], n) => `${n ? "L" : "M"}${x.toFixed(1)} ${at.toFixed(1)}`).join("");
    const rings = points.filter(([, , column]) => ringed.some(([i, j]) => i === row && j === column));
    return [
      shape("path", { d: path, class: "curve", stroke: roles[row], "stroke-dasharray": DASHES[row] }),
      ...rings.map(([x, at]) => shape("circle", { cx: x, cy: at, r: 5, class: "own", stroke: roles[row] })),
    ];
  }

  /** Say the sizes at a length. @param {number} column */
  point(column) {
    this.pointed = column;
    const { rows } = this.data, tokens = this.lengths[column], x = this.x(tokens).toFixed(1);
    const sizes = rows.map((_unused, row) => formatSize(this.values[row][column] ?? 0));
    this.guide.setAttribute("x1", x);
    this.guide.setAttribute("x2", x);
    const [at, ...items] = this.names.children;
    at.textContent = _("At {count} tokens:", { count: grouped(tokens) });
    items.forEach((item, row) => { if (item.lastChild) item.lastChild.textContent = sizes[row]; });
    this.sheet.setAttribute("aria-valuenow", String(column));
    this.sheet.setAttribute("aria-valuetext", `${at.textContent} ${rows.map((row, n) => `${row} ${sizes[n]}`).join("; ")}`);
  }

  /** @param {number} x */
  nearest(x) {
    const far = this.lengths.map((tokens) => Math.abs(this.x(tokens) - x));
    return far.indexOf(Math.min(...far));
  }

  /** @param {KeyboardEvent} event */
  walk(event) {
    const by = take(event, { ...ALONG, ArrowDown: -1, ArrowUp: 1 });
    if (by) this.point(Math.max(0, Math.min(this.lengths.length - 1, this.pointed + by)));
  }
}
