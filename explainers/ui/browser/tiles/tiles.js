// Many square matrices at once, each a small picture: point for a number, click to enlarge, drag to
// look closer. The numbers come packed, two bytes each, and are unpacked by the browser itself.
// Text from readers is only ever written with textContent.

/** @import { Rgb } from "../common/colours.js" */
/** @import { Tell } from "../common/component.js" */
/** @import { Planes } from "../common/numbers.js" */
/** @import { TilesData } from "./data.js" */
/** @import { Span } from "./long_text.js" */

import { gradient, mix, watchTheme } from "../common/colours.js";
import { loadStyle, mounting, served } from "../common/component.js";
import { element, penOf } from "../common/elements.js";
import { BLANK_WEIGHT, unpackPlanes, WEIGHT_STEPS } from "../common/numbers.js";
import { _, localNumber } from "../common/words.js";
import { findTokens, lookingAt, poolLargest, squared, ticks } from "./long_text.js";

/** @typedef {{ row: number, column: number, box: HTMLElement, canvas: HTMLCanvasElement, at: number, size: number, image: HTMLCanvasElement | null, below: HTMLElement, beside: HTMLElement, line: HTMLElement }} Tile  `at`: where its numbers begin */
/** @typedef {{ query: Span, key: Span }} Part  of the text, that is looked at */

const MOST_FOUND = 5; // heads that are named for a token
const ROOM = 0.9; // of a side: behind it a label would be cut off
const A_CLICK = 4; // pixels that a finger moves which does not drag

export class Tiles {
  /** @param {HTMLElement} root @param {TilesData} data */
  constructor(root, data) {
    this.root = root;
    this.data = data;
    /** @type {Tell} */
    this.tell = () => {};
    this.built = ""; // the digest of what is drawn
    /** @type {Tile[]} */
    this.all = [];
    /** @type {Planes} */
    this.steps = { low: new Uint8Array(), high: new Uint8Array() };
    /** @type {Rgb[]} */
    this.colours = [];
    this.pixels = new Uint32Array();
    /** @type {Part | null} */
    this.window = null; // the part of the text that was chosen
    /** @type {Part | null} */
    this.seen = null; // that part, or all of it
    /** @type {{ place: Span, x: number, y: number } | null} */
    this.start = null; // where the finger came down
    this.search = root.appendChild(element("div", "search"));
    this.wanted = element("input", "");
    this.found = element("div", "found", "", { "aria-live": "polite" });
    /** @type {number | null} */
    this.sought = null; // the key that was looked for
    this.whole = root.appendChild(element("button", "whole", "", { onclick: () => this.look(null) }));
    this.stage = root.appendChild(element("div", "stage", "", { role: "group", tabindex: 0 })); // it may scroll, and keys must be able to
    this.key = root.appendChild(element("div", "key"));
    this.readout = root.appendChild(element("div", "readout", "", { "aria-live": "polite" }));
    new ResizeObserver(() => this.paint()).observe(root);
    watchTheme(root, () => this.data.background, () => this.tell("theme", true));
  }

  /** @param {TilesData} data */
  async show(data) {
    const isNew = data.digest !== this.built;
    this.data = data;
    this.whole.textContent = _("Show the whole text");
    this.stage.setAttribute("aria-label", data.alt);
    if (isNew) this.sought = null;
    const steps = isNew ? await unpackPlanes(data.planes) : this.steps;
    if (this.data !== data) return; // another one has come meanwhile, and builds it
    this.steps = steps;
    if (isNew) this.build();
    this.built = data.digest;
    this.colours = ramp(data);
    this.pixels = pixels(this.colours);
    for (const tile of this.all) tile.image = null;
    this.root.style.setProperty("--frame", data.highlight);
    this.legend();
    this.offerSearch();
    this.look(isNew ? null : this.window);
    this.root.classList.add("panel"); // tests wait for it
  }

  build() {
    const { across, down, tokens } = this.data, cells = tokens.length ** 2;
    this.all = [];
    this.stage.replaceChildren();
    down.forEach((name, row) => across.forEach((_layer, column) => {
      const box = this.stage.appendChild(element("div", "tile"));
      box.append(element("span", "name", name));
      const canvas = element("canvas", "", "", {
        "aria-hidden": "true", onpointerdown: (event) => this.press(tile, event), onpointermove: (event) => this.point(tile, event),
        onpointerup: (event) => this.release(tile, event), onpointerleave: () => { this.readout.textContent = ""; },
      });
      const beside = element("div", "axis beside"), below = element("div", "axis below"), line = element("div", "line");
      box.appendChild(element("div", "frame")).append(beside, canvas, line, below);
      /** @type {Tile} */
      const tile = { row, column, box, canvas, at: cells * (column * down.length + row), size: 0, image: null, below, beside, line };
      this.all.push(tile);
    }));
  }

  legend() {
    const bar = element("span", "bar");
    bar.style.background = gradient([0, 0.25, 0.5, 0.75, 1].map((share) => this.colours[Math.round(share * WEIGHT_STEPS)]));
    this.key.replaceChildren(element("span", "", _("weight 0")), bar, element("span", "", "1"));
  }

  /** Which part of the text is looked at, in all tiles alike; null is all of it. @param {Part | null} window */
  look(window) {
    const side = this.data.tokens.length;
    this.window = window;
    this.whole.hidden = !window;
    this.seen = window ? squared(window.query, window.key, side) : { query: [0, side], key: [0, side] };
    this.paint();
  }

  paint() {
    if (!this.all.length || !this.seen) return;
    const { query, key } = this.seen, rows = query[1] - query[0], columns = key[1] - key[0];
    for (const tile of this.all) tile.size = tile.canvas.clientWidth;
    for (const tile of this.all) {
      const side = Math.max(1, Math.round(tile.size * devicePixelRatio));
      Object.assign(tile.canvas, { width: side, height: side });
      this.measure(tile);
      const context = penOf(tile.canvas);
      if (rows > side) {
        this.fill(context, poolLargest(this.steps, tile.at, this.data.tokens.length, this.seen, side), side);
        continue;
      }
      tile.image ??= this.drawn(tile.at);
      context.imageSmoothingEnabled = false;
      context.drawImage(tile.image, key[0], query[0], columns, rows, 0, 0, side, side);
    }
  }

  /** The ticks of a picture, and a line where the token that was looked for is. @param {Tile} tile */
  measure({ box, size, below, beside, line }) {
    if (!this.seen) return;
    const { query, key } = this.seen, isWide = box.classList.contains("wide");
    drawTicks(below, key, this.data.tokens, size, isWide);
    drawTicks(beside, query, this.data.tokens, size, isWide);
    const place = this.sought === null ? -1 : (this.sought + 0.5 - key[0]) / (key[1] - key[0]);
    line.hidden = place < 0 || place > 1;
    line.style.left = `calc(var(--beside) + ${place} * (100% - var(--beside)))`;
  }

  /** A field for a token: by its position, or by what it says. */
  offerSearch() {
    const label = element("label", "", _("Which head looks at this token?"));
    Object.assign(this.wanted, { type: "search", maxLength: 60, placeholder: _("a word, or a position") });
    this.wanted.oninput = () => this.seek();
    label.append(this.wanted);
    this.search.replaceChildren(label, this.found);
    this.seek();
  }

  seek() {
    const { tokens, across, down } = this.data, places = findTokens(tokens, this.wanted.value);
    this.sought = places[0] ?? null;
    this.found.textContent = "";
    if (this.sought !== null) {
      const named = (/** @type {number} */ place) => `“${tokens[place].trim()}” (${place})`;
      const looks = lookingAt(this.steps, tokens.length, across.length * down.length, this.sought).slice(0, MOST_FOUND);
      const heads = looks.map(({ tile, query, weight }) => _("{head}: {weight} from {query}", { head: down[tile % down.length], weight: weight.toFixed(2), query: named(query) }));
      const among = places.length > 1 ? _("the first of {count}", { count: places.length }) : "";
      this.found.textContent = [[named(this.sought), among].filter(Boolean).join(", "), ...heads].join(" · ");
    } else if (this.wanted.value.trim()) this.found.textContent = _("No token is called this.");
    this.paint();
  }

  /** A matrix with a pixel for each number. @param {number} at */
  drawn(at) {
    const side = this.data.tokens.length, { low, high } = this.steps;
    const canvas = Object.assign(document.createElement("canvas"), { width: side, height: side });
    const steps = Uint16Array.from({ length: side * side }, (_step, k) => low[at + k] | (high[at + k] << 8));
    this.fill(penOf(canvas), steps, side);
    return canvas;
  }

  /** @param {CanvasRenderingContext2D} context @param {Uint16Array} steps @param {number} side */
  fill(context, steps, side) {
    const image = context.createImageData(side, side), { pixels } = this;
    const painted = new Uint32Array(image.data.buffer);
    steps.forEach((step, k) => { painted[k] = pixels[step]; });
    context.putImageData(image, 0, 0);
  }

  /** The query and the key that are pointed at. @param {Tile} tile @param {PointerEvent} event @returns {Span} */
  place(tile, event) {
    const area = tile.canvas.getBoundingClientRect(), { query, key } = this.seen ?? { query: [0, 1], key: [0, 1] };
    const within = (/** @type {number[]} */ [low, high], /** @type {number} */ offset, /** @type {number} */ size) =>
      low + Math.max(0, Math.min(high - low - 1, Math.floor(offset / size * (high - low))));
    return [within(query, event.clientY - area.top, area.height), within(key, event.clientX - area.left, area.width)];
  }

  /** @param {Tile} tile @param {PointerEvent} event */
  point(tile, event) {
    const [query, key] = this.place(tile, event), { tokens, across, down } = this.data;
    const place = tile.at + query * tokens.length + key;
    const step = this.steps.low[place] | (this.steps.high[place] << 8);
    const value = step === BLANK_WEIGHT ? _("masked or dimmed") : localNumber((step / WEIGHT_STEPS).toFixed(4));
    const named = (/** @type {number} */ position) => `“${tokens[position]}” (${position})`;
    this.readout.textContent = _("layer {layer}, {head}: {query} → {key} = {value}",
      { layer: across[tile.column], head: down[tile.row], query: named(query), key: named(key), value });
  }

  /** @param {Tile} tile @param {PointerEvent} event */
  press(tile, event) {
    this.start = { place: this.place(tile, event), x: event.clientX, y: event.clientY };
    tile.canvas.setPointerCapture(event.pointerId);
  }

  /** @param {Tile} tile @param {PointerEvent} event */
  release(tile, event) {
    const { start } = this;
    this.start = null;
    if (!start) return;
    const moved = Math.hypot(event.clientX - start.x, event.clientY - start.y);
    if (moved <= A_CLICK) {
      tile.box.classList.toggle("wide");
      return this.paint();
    }
    const end = this.place(tile, event);
    const between = (/** @type {0 | 1} */ axis) => /** @type {Span} */ (
      [Math.min(start.place[axis], end[axis]), Math.max(start.place[axis], end[axis]) + 1]);
    this.look({ query: between(0), key: between(1) });
  }
}

export const mount = mounting(loadStyle(new URL("style.css", import.meta.url)), Tiles);
export default served(".tiles", mount);

/** A colour for every step of a weight. @param {TilesData} data */
function ramp({ ramp: ends }) {
  return Array.from({ length: WEIGHT_STEPS + 1 }, (empty, step) => mix(ends, step / WEIGHT_STEPS));
}

/**
 * A whole pixel for every number of two bytes, because a million of them are painted per head; what
 * is no step of a weight is left out (0 is transparent).
 * @param {Rgb[]} colours
 */
function pixels(colours) {
  const bytes = new Uint8ClampedArray(4 * (BLANK_WEIGHT + 1));
  colours.forEach((rgb, step) => bytes.set([...rgb, 255], 4 * step));
  return new Uint32Array(bytes.buffer);
}

/**
 * Ticks along one side of a picture, each a position and, where there is room, its token.
 * @param {HTMLElement} axis @param {Span} span @param {string[]} tokens @param {number} length in pixels @param {boolean} isWide
 */
function drawTicks(axis, span, tokens, length, isWide) {
  const end = span[0] + ROOM * (span[1] - span[0]);
  const named = ticks(span, Math.max(2, Math.floor(length / (isWide ? 90 : 48)))).filter((place) => place < end);
  axis.replaceChildren(...named.map((place) => {
    const tick = element("span", "tick", isWide ? `${place} ${tokens[place].trim()}` : String(place));
    tick.style.setProperty("--at", `${100 * (place + 0.5 - span[0]) / (span[1] - span[0])}%`);
    return tick;
  }));
}
