// @ts-check
// One head, large: its matrix, and above it arcs from the query's place to the keys that it looks at.

/** @import { Heads } from "./heads.js" */
/** @import { Span } from "../tiles/pooling.js" */

import { element, shape } from "../common/elements.js";
import { _ } from "../common/words.js";
import { chooseArcOpacity, chooseArcWidth, writeArcPath } from "../picture/arcs.js";
import { percent } from "../picture/sentence.js";
import { paintCodes } from "./heads.js";
import { writeToken } from "./tokens.js";

/** @typedef {{ query: Span, key: Span }} Part rows and columns that are looked at */
/** @typedef {{ choose: (query: number) => void, peek: (query: number | null) => void }} Actions */

const ARCS = 104, NAMES = 22, LEFT = 100, BELOW = 20, LARGEST = 430;
const MOST_ARCS = 14, LEAST = 0.005, A_CLICK = 5, TICKS = 5, FEW = 32, GAP = 8;

export class LargeHead {
  /** @param {HTMLElement} parent @param {Heads} heads @param {Actions} actions */
  constructor(parent, heads, { choose, peek }) {
    this.heads = heads;
    this.choose = choose;
    this.layer = this.head = this.query = 0;
    this.scale = 1; // pixels of a side of the matrix
    const count = heads.data.tokens.length;
    /** @type {Part} */
    this.part = { query: [0, count], key: [0, count] };
    /** @type {{ x: number, y: number, query: number, key: number } | null} */
    this.start = null;
    /** @type {Uint32Array} */
    this.colours = new Uint32Array();
    this.root = parent.appendChild(element("div", "large-head"));
    this.arcs = this.root.appendChild(shape("svg", { class: "lines", "aria-hidden": "true" }));
    this.labels = this.root.appendChild(element("div", "labels"));
    this.labels.setAttribute("aria-hidden", "true");
    this.canvas = this.root.appendChild(element("canvas", "matrix"));
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "slider");
    this.row = this.root.appendChild(element("div", "row-frame"));
    this.whole = this.root.appendChild(element("button", "whole", _("Show the whole text")));
    this.whole.onclick = () => this.zoom(null);
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

  get tokens() { return this.heads.data.tokens; }
  get isInFull() { return this.heads.isInFull(this.layer); }
  get left() { return this.root.clientWidth < 420 ? 58 : this.tokens.length > FEW ? 50 : LEFT; }

  /** @param {number} room @param {Uint32Array} colours */
  fit(room, colours) {
    this.colours = colours;
    this.scale = Math.max(120, Math.min(LARGEST, room - this.left - 4));
    const top = ARCS + NAMES;
    Object.assign(this.canvas.style, { left: `${this.left}px`, top: `${top}px`, width: `${this.scale}px`, height: `${this.scale}px` });
    this.root.style.height = `${top + this.scale + BELOW}px`;
    Object.assign(this.whole.style, { right: `${room - this.left - this.scale + 6}px`, top: `${top + 6}px` });
  }

  /** @param {number} layer @param {number} head @param {number} query */
  show(layer, head, query) {
    Object.assign(this, { layer, head, query });
    this.whole.hidden = this.part.query[1] - this.part.query[0] === this.tokens.length;
    this.paint();
    this.point();
  }

  explain() {
    this.readout.textContent = _("A row is a query, a column is a key. Point at a row to see where it looks; drag to enlarge a part.");
  }

  paint() {
    const weights = this.heads.weights(this.layer), size = Math.round(this.scale * devicePixelRatio);
    const { query, key } = this.part, share = weights.side / this.tokens.length;
    const blocks = (/** @type {Span} */ [from, to]) => /** @type {Span} */ ([Math.floor(from * share), Math.max(Math.floor(from * share) + 1, Math.ceil(to * share))]);
    Object.assign(this.canvas, { width: size, height: size });
    const image = new ImageData(size, size);
    paintCodes(image, this.heads.pool(weights, this.head, { query: blocks(query), key: blocks(key) }, size), this.colours, null);
    /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d")).putImageData(image, 0, 0);
  }

  /** What belongs to the row: its frame, its arcs, its names. */
  point() {
    const { query, part, scale } = this, top = ARCS + NAMES, pitch = scale / (part.query[1] - part.query[0]);
    const isSeen = this.isInFull && query >= part.query[0] && query < part.query[1];
    this.row.hidden = !isSeen;
    const y = top + (query - part.query[0]) * pitch;
    Object.assign(this.row.style, { left: `${this.left - 2}px`, top: `${y - 2}px`, width: `${scale + 4}px`, height: `${pitch + 4}px` });
    const all = this.tokens.map((_token, key) => (this.isInFull ? this.heads.weight(this.layer, this.head, query, key) ?? 0 : 0));
    const keys = all.map((_weight, key) => key).filter((key) => all[key] >= LEAST).sort((a, b) => all[b] - all[a]);
    this.draw(keys.slice(0, MOST_ARCS), all);
    this.label(keys);
    const looks = keys.slice(0, 4).map((key) => `${writeToken(this.tokens[key])} ${percent(all[key])}`).join(", ");
    for (const [name, value] of Object.entries({ "aria-label": _("The token whose attention is shown"), "aria-valuemin": 0, "aria-valuemax": this.tokens.length - 1, "aria-valuenow": query, "aria-valuetext": `${writeToken(this.tokens[query])}: ${looks}` })) {
      this.canvas.setAttribute(name, String(value));
    }
  }

  /** Where a key's column has its middle. @param {number} key */
  across(key) { return this.left + (key + 0.5 - this.part.key[0]) * this.scale / (this.part.key[1] - this.part.key[0]); }

  /** @param {number[]} keys @param {number[]} weights */
  draw(keys, weights) {
    const [from, to] = this.part.key, width = this.left + this.scale + 4, asker = this.across(this.query);
    this.arcs.setAttribute("viewBox", `0 0 ${width} ${ARCS}`);
    Object.assign(this.arcs.style, { width: `${width}px`, height: `${ARCS}px` });
    const glow = shape("radialGradient", { id: "glow", gradientUnits: "userSpaceOnUse", cx: asker, cy: ARCS, r: Math.min(170, this.scale * 0.4) });
    for (const [offset, colour] of [[0.08, "--query"], [0.85, "--head0"]]) {
      glow.appendChild(shape("stop", { offset })).style.stopColor = `var(${colour})`;
    }
    const seen = keys.filter((key) => key >= from && key < to);
    this.arcs.replaceChildren(glow, ...seen.reverse().map((key) => {
      const arc = shape("path", { class: "arc", d: writeArcPath({ from: asker, to: this.across(key), base: ARCS, high: ARCS - 12, span: this.scale, isUpright: false }) });
      arc.style.stroke = "url(#glow)";
      arc.style.strokeWidth = Math.min(chooseArcWidth(weights[key], 17), Math.max(2, Math.abs(this.across(key) - asker) / 2)).toFixed(2);
      arc.style.opacity = chooseArcOpacity(weights[key]).toFixed(3);
      return arc;
    }));
  }

  /** Names of the tokens, those that matter first, as far as they do not overlap; then numbers. @param {number[]} keys */
  label(keys) {
    const { part, scale, query } = this, top = ARCS + NAMES, count = this.tokens.length;
    this.labels.replaceChildren();
    const isFew = count <= FEW, others = isFew ? this.tokens.map((_token, key) => key) : [];
    /** @type {[number, number][]} */
    const taken = [];
    for (const key of this.isInFull ? new Set([query, ...keys.slice(0, MOST_ARCS), ...others]) : []) {
      if (key < part.key[0] || key >= part.key[1]) continue;
      const name = this.name(key, key === query ? "asks" : keys.includes(key) ? "seen" : "");
      const half = name.offsetWidth / 2, side = taken.length === 1 ? Math.sign(key - query) : 0;
      const x = this.findRoom(this.across(key), half, taken, side);
      if (x === null) { name.remove(); continue; }
      taken.push([x - half - GAP, x + half + GAP]);
      Object.assign(name.style, { left: `${x}px`, top: `${ARCS + NAMES / 2}px`, transform: "translate(-50%, -50%)" });
    }
    const pitch = scale / (part.query[1] - part.query[0]);
    if (isFew && pitch >= 13 && this.isInFull) this.tokens.forEach((_token, row) => this.nameRow(row, pitch, top));
    else this.ticks(part.query, pitch, top);
  }

  /**
   * Where a name has its middle: at its column, or, if it has to be there, on its side of the others.
   * @param {number} wanted @param {number} half its width @param {[number, number][]} taken @param {number} side -1 left, 1 right, 0 nowhere else
   */
  findRoom(wanted, half, taken, side) {
    const low = this.left + half - GAP, high = this.left + this.scale - half + GAP;
    const places = [wanted, ...(side ? taken.map(([from, to]) => (side < 0 ? from - half : to + half)) : [])];
    const free = places.map((x) => Math.max(low, Math.min(high, x))).filter((x) => !taken.some(([from, to]) => x - half < to - 0.1 && x + half > from + 0.1));
    return free[0] ?? null;
  }

  /** @param {number} key @param {string} kind */
  name(key, kind) { return this.labels.appendChild(element("span", `name ${kind}`, writeToken(this.tokens[key]))); }

  /** @param {number} row @param {number} pitch @param {number} top */
  nameRow(row, pitch, top) {
    const [from, to] = this.part.query;
    if (row < from || row >= to) return;
    const name = this.name(row, row === this.query ? "asks" : "");
    name.classList.add("of-row");
    Object.assign(name.style, { right: `calc(100% - ${this.left - 8}px)`, top: `${top + (row - from + 0.5) * pitch}px`, maxWidth: `${this.left - 8}px` });
  }

  /** Round positions down the side and below. @param {Span} rows @param {number} pitch @param {number} top */
  ticks(rows, pitch, top) {
    const every = chooseStep((rows[1] - rows[0]) / TICKS), keys = this.part.key, everyKey = chooseStep((keys[1] - keys[0]) / TICKS);
    const write = (/** @type {number} */ position, /** @type {Record<string, string>} */ style) => {
      Object.assign(this.labels.appendChild(element("span", "tick", String(position))).style, style);
    };
    for (let row = Math.ceil(rows[0] / every) * every; row < rows[1]; row += every) {
      write(row, { right: `calc(100% - ${this.left - 6}px)`, top: `${top + (row - rows[0] + 0.5) * pitch}px`, transform: "translateY(-50%)" });
    }
    for (let key = Math.ceil(keys[0] / everyKey) * everyKey; key < keys[1]; key += everyKey) {
      write(key, { left: `${this.across(key)}px`, top: `${top + this.scale + 3}px`, transform: "translateX(-50%)" });
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
    const { tokens } = this, { side } = this.heads.weights(this.layer), named = (/** @type {number} */ place) => `“${writeToken(tokens[place])}” (${place})`;
    if (this.isInFull) {
      const weight = this.heads.weight(this.layer, this.head, query, key);
      const value = weight === null ? _("masked") : weight.toPrecision(2);
      this.readout.textContent = `${named(query)} → ${named(key)}: ${value}`;
      return;
    }
    const block = (/** @type {number} */ place) => Math.floor((place * side) / tokens.length);
    const span = (/** @type {number} */ at) => `${Math.floor((at * tokens.length) / side)}–${Math.ceil(((at + 1) * tokens.length) / side) - 1}`;
    const weight = this.heads.weight(this.layer, this.head, block(query), block(key));
    this.readout.textContent = _("tokens {queries} → tokens {keys}: at most {value}", { queries: span(block(query)), keys: span(block(key)), value: weight === null ? _("masked") : weight.toPrecision(2) });
  }

  /** @param {PointerEvent} event */
  release(event) {
    const { start } = this, end = this.at(event);
    this.start = null;
    if (!start) return;
    const moved = Math.min(Math.abs(event.clientX - start.x), Math.abs(event.clientY - start.y));
    if (moved <= A_CLICK) return this.choose(end.query);
    this.zoom({ query: between(start.query, end.query), key: between(start.key, end.key) });
  }

  /** @param {Part | null} part */
  zoom(part) {
    const count = this.tokens.length;
    this.part = part ?? { query: [0, count], key: [0, count] };
    this.show(this.layer, this.head, this.query);
  }

  /** @param {KeyboardEvent} event */
  walk(event) {
    const by = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
    if (!by || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation(); // a notebook turns to its next cell by the same keys
    this.choose(Math.max(0, Math.min(this.tokens.length - 1, this.query + by)));
  }
}

/** @param {number} one @param {number} other @returns {Span} */
const between = (one, other) => [Math.min(one, other), Math.max(one, other) + 1];

/** The next of 1, 2, 5, 10, 20 … @param {number} least */
function chooseStep(least) {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  return power * ([1, 2, 5, 10].find((step) => step * power >= least) ?? 10);
}
