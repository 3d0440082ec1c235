// One head, large: its matrix, and above it arcs from the places of queries to the keys that they look at.

/** @import { Heads } from "./heads.js" */
/** @import { Span } from "../tiles/long_text.js" */

import { element, penOf, shape } from "../common/elements.js";
import { AROUND, take } from "../common/keys.js";
import { _ } from "../common/words.js";
import { chooseArcOpacity, chooseArcWidth, writeArcPath } from "../picture/arcs.js";
import { percent } from "../common/numbers.js";
import { ticks } from "../tiles/long_text.js";
import { paintCodes } from "./heads.js";
import { writeToken } from "./tokens.js";

/** @typedef {{ query: Span, key: Span }} Part rows and columns that are looked at */
/** @typedef {{ choose: (query: number, isMore?: boolean) => void, peek: (query: number | null) => void }} Actions */

const ARCS = 104, NAMES = 22, LEFT = 100, BELOW = 20, LARGEST = 430, SHORTEST = 0.3;
const MOST_ARCS = 14, LEAST = 0.005, A_CLICK = 5, TICKS = 5, FEW = 32, GAP = 8;

export class LargeHead {
  /** @param {HTMLElement} parent @param {Heads} heads @param {Actions} actions */
  constructor(parent, heads, { choose, peek }) {
    this.heads = heads;
    this.choose = choose;
    this.layer = this.head = 0;
    /** @type {number[]} */
    this.queries = [0];
    this.wide = this.high = 1; // pixels of the matrix
    /** @type {Part} */
    this.part = this.all;
    /** @type {{ x: number, y: number, query: number, key: number } | null} */
    this.start = null;
    /** @type {Uint32Array} */
    this.colours = new Uint32Array();
    this.root = parent.appendChild(element("div", "large-head"));
    this.arcs = this.root.appendChild(shape("svg", { class: "lines", "aria-hidden": "true" }));
    this.labels = this.root.appendChild(element("div", "labels", "", { "aria-hidden": "true" }));
    this.canvas = this.root.appendChild(element("canvas", "matrix", "", { tabindex: 0, role: "slider" }));
    this.rows = this.root.appendChild(element("div", "row-frames"));
    this.borders = this.root.appendChild(element("div", "borders"));
    this.whole = this.root.appendChild(element("button", "whole", _("Show the whole text"), { onclick: () => this.zoom(null) }));
    this.readout = parent.appendChild(element("p", "readout"));
    this.explain();
    this.canvas.onpointermove = (event) => {
      const { query, key } = this.at(event);
      this.tell(query, key);
      if (event.pointerType === "mouse" && !this.start) peek(query);
    };
    this.canvas.onpointerleave = () => { this.explain(); peek(null); };
    this.canvas.onpointerdown = (event) => { this.start = { x: event.clientX, y: event.clientY, ...this.at(event) }; };
    this.canvas.onpointerup = (event) => this.release(event);
    this.canvas.onkeydown = (event) => this.walk(event);
  }

  get isInFull() { return this.heads.isInFull(this.layer, this.head); }
  get isOneText() { return !this.heads.data.queries; }
  get left() { return this.root.clientWidth < 420 ? 58 : this.heads.queries.length > FEW ? 50 : LEFT; }
  /** @returns {Part} */
  get all() { return { query: [0, this.heads.queries.length], key: [0, this.heads.keys.length] }; }

  /** @param {number} room @param {Uint32Array} colours */
  fit(room, colours) {
    this.colours = colours;
    const side = Math.max(120, Math.min(LARGEST, room - this.left - 4)), { queries, keys } = this.heads, longest = Math.max(queries.length, keys.length);
    this.wide = side * Math.max(SHORTEST, keys.length / longest);
    this.high = side * Math.max(SHORTEST, queries.length / longest);
    const top = ARCS + NAMES;
    for (const node of [this.canvas, this.rows, this.borders]) Object.assign(node.style, { left: `${this.left}px`, top: `${top}px`, width: `${this.wide}px`, height: `${this.high}px` });
    this.root.style.height = `${top + this.high + BELOW}px`;
    Object.assign(this.whole.style, { right: `${room - this.left - this.wide + 6}px`, top: `${top + 6}px` });
  }

  /** @param {number} layer @param {number} head @param {number[]} queries */
  show(layer, head, queries) {
    Object.assign(this, { layer, head, queries });
    this.whole.hidden = String(Object.values(this.part)) === String(Object.values(this.all));
    this.paint();
    this.point();
  }

  explain() {
    this.readout.textContent = _("A row is a query, a column is a key. Point at a row to see where it looks; drag to enlarge a part.");
  }

  paint() {
    const weights = this.heads.weights(this.layer, this.head), { query, key } = this.part, { queries, keys } = this.heads;
    const blocks = (/** @type {Span} */ [from, to], /** @type {number} */ share) => /** @type {Span} */ ([Math.floor(from * share), Math.max(Math.floor(from * share) + 1, Math.ceil(to * share))]);
    const part = { query: blocks(query, weights.rows / queries.length), key: blocks(key, weights.side / keys.length) };
    const image = new ImageData(Math.round(this.wide * devicePixelRatio), Math.round(this.high * devicePixelRatio)), { width, height } = image;
    Object.assign(this.canvas, { width, height });
    paintCodes(image, this.heads.pool(weights, this.head, part, width, height), this.colours, null);
    penOf(this.canvas).putImageData(image, 0, 0);
    this.drawBorders();
  }

  /** Where a part of the text begins, among keys and queries. */
  drawBorders() {
    const { query, key } = this.part, { parts, offset } = this.heads.data;
    this.borders.replaceChildren();
    for (const [, start] of parts) {
      const add = (/** @type {string} */ side, /** @type {number} */ at, /** @type {Span} */ [from, to]) => {
        if (at > from && at < to) this.borders.appendChild(element("i", side)).style[/** @type {"left"} */ (side)] = `${(100 * (at - from)) / (to - from)}%`;
      };
      add("left", start, key);
      if (this.isOneText) add("top", start - offset, query);
    }
  }

  /** What belongs to the rows: their frames, their arcs, their names. */
  point() {
    const { queries, part, heads } = this, [from, to] = part.query;
    this.rows.replaceChildren();
    const pitch = this.high / (to - from), framed = this.isInFull ? queries.filter((query) => query >= from && query < to) : [];
    for (const [first, end] of joinNeighbours(framed)) {
      const { style } = this.rows.appendChild(element("div", "row-frame"));
      Object.assign(style, { left: "-2px", width: `${this.wide + 4}px`, top: `${(first - from) * pitch - 2}px`, height: `${(end - first) * pitch + 4}px` });
    }
    const all = this.isInFull ? heads.row(this.layer, this.head, queries).map((one) => one ?? 0) : heads.keys.map(() => 0);
    const keys = all.map((_weight, key) => key).filter((key) => all[key] >= LEAST).sort((a, b) => all[b] - all[a]);
    this.draw();
    this.label(keys);
    const looks = keys.slice(0, 4).map((key) => `${writeToken(heads.keys[key])} ${percent(all[key])}`).join(", "), asks = queries.map((query) => writeToken(heads.queries[query])).join(" + ");
    for (const [name, value] of Object.entries({ "aria-label": _("The token whose attention is shown"), "aria-valuemin": 0, "aria-valuemax": heads.queries.length - 1, "aria-valuenow": queries[queries.length - 1], "aria-valuetext": `${asks}: ${looks}` })) {
      this.canvas.setAttribute(name, String(value));
    }
  }

  /** Where a key's column has its middle. @param {number} key */
  across(key) { return this.left + (key + 0.5 - this.part.key[0]) * this.wide / (this.part.key[1] - this.part.key[0]); }

  /** Where a query asks from: its place among the keys, or, of another text, above them. @param {number} query */
  asker(query) {
    const { query: [from, to] } = this.part;
    return this.isOneText ? this.across(query + this.heads.data.offset) : this.left + ((query + 0.5 - from) * this.wide) / (to - from);
  }

  /** The widest arcs of all queries that are chosen. */
  draw() {
    const [from, to] = this.part.key, width = this.left + this.wide + 4, { queries, heads } = this;
    this.arcs.setAttribute("viewBox", `0 0 ${width} ${ARCS}`);
    Object.assign(this.arcs.style, { width: `${width}px`, height: `${ARCS}px` });
    const pairs = this.isInFull ? queries.flatMap((query) => heads.row(this.layer, this.head, [query]).map((weight, key) => ({ query, key, weight: weight ?? 0 }))) : [];
    const seen = pairs.filter(({ key, weight }) => weight >= LEAST && key >= from && key < to).sort((a, b) => b.weight - a.weight).slice(0, MOST_ARCS);
    const glows = queries.map((query) => {
      const glow = shape("radialGradient", { id: `glow${query}`, gradientUnits: "userSpaceOnUse", cx: this.asker(query), cy: this.isOneText ? ARCS : NAMES, r: Math.min(170, this.wide * 0.4) });
      for (const [offset, colour] of [[0.08, "--query"], [0.85, "--head0"]]) glow.appendChild(shape("stop", { offset })).style.stopColor = `var(${colour})`;
      return glow;
    });
    this.arcs.replaceChildren(...glows, ...seen.reverse().map(({ query, key, weight }) => {
      const start = this.asker(query), end = this.across(key), middle = ARCS / 2;
      const d = this.isOneText ? writeArcPath({ from: start, to: end, base: ARCS, high: ARCS - 12, span: this.wide, isUpright: false }) : `M${start} ${NAMES}C${start} ${middle} ${end} ${middle} ${end} ${ARCS}`;
      const arc = shape("path", { class: "arc", d });
      arc.style.stroke = `url(#glow${query})`;
      arc.style.strokeWidth = Math.min(chooseArcWidth(weight, 17), this.isOneText ? Math.max(2, Math.abs(end - start) / 2) : 17).toFixed(2);
      arc.style.opacity = chooseArcOpacity(weight).toFixed(3);
      return arc;
    }));
  }

  /** Names of the tokens, those that matter first, as far as they do not overlap; then numbers. @param {number[]} keys */
  label(keys) {
    const { part, queries, heads } = this, top = ARCS + NAMES, { offset } = heads.data;
    this.labels.replaceChildren();
    const others = heads.keys.length <= FEW ? heads.keys.map((_token, key) => key) : [], asking = this.isOneText ? queries.map((query) => query + offset) : [];
    /** @type {[number, number][]} */
    let taken = [];
    const put = (/** @type {string} */ token, /** @type {string} */ kind, /** @type {number} */ wanted, /** @type {number} */ y, side = 0) => {
      const name = this.name(token, kind), half = name.offsetWidth / 2, x = this.findRoom(wanted, half, taken, side);
      if (x === null) return name.remove();
      taken.push([x - half - GAP, x + half + GAP]);
      Object.assign(name.style, { left: `${x}px`, top: `${y}px`, transform: "translate(-50%, -50%)" });
    };
    if (!this.isOneText && this.isInFull) for (const query of queries) put(heads.queries[query], "asks", this.asker(query), NAMES / 2);
    if (!this.isOneText) taken = [];
    for (const key of this.isInFull ? new Set([...asking, ...keys.slice(0, MOST_ARCS), ...others]) : []) {
      if (key < part.key[0] || key >= part.key[1]) continue;
      const kind = asking.includes(key) ? "asks" : keys.includes(key) ? "seen" : "";
      put(heads.keys[key], kind, this.across(key), ARCS + NAMES / 2, taken.length === 1 && asking.length === 1 ? Math.sign(key - asking[0]) : 0);
    }
    const pitch = this.high / (part.query[1] - part.query[0]);
    if (heads.queries.length <= FEW && pitch >= 13 && this.isInFull) heads.queries.forEach((_token, row) => this.nameRow(row, pitch, top));
    else this.ticks(part.query, pitch, top);
  }

  /**
   * Where a name has its middle: at its column, or, if it has to be there, on its side of the others.
   * @param {number} wanted @param {number} half its width @param {[number, number][]} taken @param {number} side -1 left, 1 right, 0 nowhere else
   */
  findRoom(wanted, half, taken, side) {
    const low = this.left + half - GAP, high = this.left + this.wide - half + GAP;
    const places = [wanted, ...(side ? taken.map(([from, to]) => (side < 0 ? from - half : to + half)) : [])];
    const free = places.map((x) => Math.max(low, Math.min(high, x))).filter((x) => !taken.some(([from, to]) => x - half < to - 0.1 && x + half > from + 0.1));
    return free[0] ?? null;
  }

  /** @param {string} token @param {string} kind */
  name(token, kind) { return this.labels.appendChild(element("span", `name ${kind}`, writeToken(token))); }

  /** @param {number} row @param {number} pitch @param {number} top */
  nameRow(row, pitch, top) {
    const [from, to] = this.part.query;
    if (row < from || row >= to) return;
    const name = this.name(this.heads.queries[row], this.queries.includes(row) ? "asks" : "");
    name.classList.add("of-row");
    Object.assign(name.style, { right: `calc(100% - ${this.left - 8}px)`, top: `${top + (row - from + 0.5) * pitch}px`, maxWidth: `${this.left - 8}px` });
  }

  /** Round positions down the side and below. @param {Span} rows @param {number} pitch @param {number} top */
  ticks(rows, pitch, top) {
    const write = (/** @type {number} */ position, /** @type {Record<string, string>} */ style) => {
      Object.assign(this.labels.appendChild(element("span", "tick", String(position))).style, style);
    };
    for (const row of ticks(rows, TICKS)) {
      write(row, { right: `calc(100% - ${this.left - 6}px)`, top: `${top + (row - rows[0] + 0.5) * pitch}px`, transform: "translateY(-50%)" });
    }
    for (const key of ticks(this.part.key, TICKS)) {
      write(key, { left: `${this.across(key)}px`, top: `${top + this.high + 3}px`, transform: "translateX(-50%)" });
    }
  }

  /** @param {MouseEvent} event */
  at(event) {
    const area = this.canvas.getBoundingClientRect(), { query, key } = this.part;
    const within = (/** @type {Span} */ [low, high], /** @type {number} */ share) => low + Math.max(0, Math.min(high - low - 1, Math.floor(share * (high - low))));
    return { query: within(query, (event.clientY - area.top) / area.height), key: within(key, (event.clientX - area.left) / area.width) };
  }

  /** @param {number} query @param {number} key */
  tell(query, key) {
    const { queries, keys } = this.heads, { rows, side } = this.heads.weights(this.layer, this.head);
    const named = (/** @type {string[]} */ tokens, /** @type {number} */ place) => `“${writeToken(tokens[place])}” (${place})`;
    if (this.isInFull) {
      const weight = this.heads.weight(this.layer, this.head, query, key);
      const value = weight === null ? _("masked") : weight.toPrecision(2);
      this.readout.textContent = `${named(queries, query)} → ${named(keys, key)}: ${value}`;
      return;
    }
    const block = (/** @type {number} */ place, /** @type {number} */ count, /** @type {number} */ blocks) => Math.floor((place * blocks) / count);
    const span = (/** @type {number} */ at, /** @type {number} */ count, /** @type {number} */ blocks) => `${Math.floor((at * count) / blocks)}–${Math.ceil(((at + 1) * count) / blocks) - 1}`;
    const row = block(query, queries.length, rows), column = block(key, keys.length, side), weight = this.heads.weight(this.layer, this.head, row, column);
    this.readout.textContent = _("tokens {queries} → tokens {keys}: at most {value}", { queries: span(row, queries.length, rows), keys: span(column, keys.length, side), value: weight === null ? _("masked") : weight.toPrecision(2) });
  }

  /** @param {PointerEvent} event */
  release(event) {
    const { start } = this, end = this.at(event);
    this.start = null;
    if (!start) return;
    const moved = Math.min(Math.abs(event.clientX - start.x), Math.abs(event.clientY - start.y));
    if (moved <= A_CLICK) return this.choose(end.query, event.shiftKey || event.ctrlKey || event.metaKey);
    this.zoom({ query: between(start.query, end.query), key: between(start.key, end.key) });
  }

  /** @param {Part | null} part */
  zoom(part) {
    this.part = part ?? this.all;
    this.show(this.layer, this.head, this.queries);
  }

  /** @param {KeyboardEvent} event */
  walk(event) {
    const by = take(event, AROUND);
    if (!by) return;
    const last = this.queries[this.queries.length - 1], next = Math.max(0, Math.min(this.heads.queries.length - 1, last + by));
    if (next !== last || !event.shiftKey) this.choose(next, event.shiftKey);
  }
}

/** @param {number} one @param {number} other @returns {Span} */
const between = (one, other) => [Math.min(one, other), Math.max(one, other) + 1];

/** Places that follow each other as one span. @param {number[]} places */
function joinNeighbours(places) {
  /** @type {Span[]} */
  const spans = [];
  for (const place of [...places].sort((a, b) => a - b)) {
    const last = spans[spans.length - 1];
    if (last?.[1] === place) last[1] += 1;
    else spans.push([place, place + 1]);
  }
  return spans;
}
