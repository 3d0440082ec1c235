// All heads of a model as small squares: layers across, heads down.

/** @import { Dress } from "../picture/palette.js" */
/** @import { Heads } from "./heads.js" */

import { channels, mix } from "../common/colours.js";
import { element, penOf } from "../common/elements.js";
import { ACROSS, take } from "../common/keys.js";
import { _ } from "../common/words.js";
import { paintCodes } from "./heads.js";

/** @typedef {{ choose: (layer: number, head: number) => void, peek: (place: [number, number] | null) => void }} Actions */

const LABELS = 24, LARGEST = 38, HIGHEST = 300, MOST_LABELS = 12, FADED = 0.13, TINT = 0.09;

export class HeadMosaic {
  /** @param {HTMLElement} parent @param {Heads} heads @param {Actions} actions */
  constructor(parent, heads, { choose, peek }) {
    this.heads = heads;
    this.choose = choose;
    this.layer = this.head = 0;
    /** @type {Set<string> | null} */
    this.lit = null; // the heads that have a role
    this.size = 0;
    this.root = parent.appendChild(element("div", "mosaic"));
    this.canvas = this.root.appendChild(element("canvas"));
    this.labels = this.root.appendChild(element("div", "labels", "", { "aria-hidden": "true" }));
    this.field = this.root.appendChild(element("button", "field", "", {
      onclick: (event) => { const at = event.detail ? this.at(event) : null; if (at) choose(...at); },
      onpointermove: (event) => { if (event.pointerType === "mouse") peek(this.point(event)); },
      onpointerleave: () => { this.hover.hidden = true; peek(null); },
      onkeydown: (event) => this.walk(event),
    }));
    this.frame = this.root.appendChild(element("div", "frame"));
    this.hover = this.root.appendChild(element("div", "frame hover", "", { hidden: "" }));
  }

  get layers() { return this.heads.data.layers.length; }
  get most() { return Math.max(...this.heads.data.layers.map(({ heads }) => heads)); }

  /** @param {number} room @param {Dress} dress @param {Uint32Array} colours */
  paint(room, dress, colours) {
    const size = Math.max(3, Math.min(LARGEST, (room - LABELS) / this.layers, HIGHEST / this.most));
    const scale = devicePixelRatio, inner = Math.max(2, Math.round((size - Math.max(1, size / 12)) * scale));
    this.size = size;
    const width = Math.ceil(size * this.layers * scale), height = Math.ceil(size * this.most * scale);
    Object.assign(this.canvas, { width, height });
    const pen = penOf(this.canvas);
    const square = new ImageData(inner, inner), ground = mix([dress.background, channels(dress.look.deep)], TINT);
    for (let layer = 0; layer < this.layers; layer++) {
      const weights = this.heads.layers[layer], all = { query: /** @type {[number, number]} */ ([0, weights.rows]), key: /** @type {[number, number]} */ ([0, weights.side]) };
      for (let head = 0; head < this.heads.data.layers[layer].heads; head++) {
        paintCodes(square, this.heads.pool(weights, head, all, inner), colours, ground);
        pen.putImageData(square, Math.round(layer * size * scale), Math.round(head * size * scale));
      }
    }
    Object.assign(this.root.style, { height: `${size * this.most + LABELS}px` });
    for (const node of [this.canvas, this.field]) {
      Object.assign(node.style, { left: `${LABELS}px`, top: `${LABELS}px`, width: `${width / scale}px`, height: `${height / scale}px` });
    }
    this.label();
    this.light(this.lit, dress);
    this.mark(this.layer, this.head);
  }

  label() {
    const { names } = this.heads.data, { size } = this;
    const every = Math.ceil(Math.max(this.layers / MOST_LABELS, 18 / size)), everyHead = Math.ceil(Math.max(1, 14 / size));
    this.labels.replaceChildren();
    const write = (/** @type {string} */ name, /** @type {number} */ x, /** @type {number} */ y) => {
      const label = this.labels.appendChild(element("span", "", name));
      Object.assign(label.style, { left: `${x}px`, top: `${y}px` });
    };
    for (let layer = 0; layer < this.layers; layer += every) write(String(names[layer]), LABELS + (layer + 0.5) * size, 12);
    for (let head = 0; head < this.most; head += everyHead) write(String(head), 11, LABELS + (head + 0.5) * size);
  }

  /** Only these heads stay strong; null lets all. @param {Set<string> | null} lit @param {Dress} dress */
  light(lit, dress) {
    this.lit = lit;
    this.root.querySelector(".veil")?.remove();
    if (!lit) return;
    const veil = element("canvas", "veil"), scale = devicePixelRatio, { size } = this;
    Object.assign(veil, { width: this.canvas.width, height: this.canvas.height });
    Object.assign(veil.style, { left: `${LABELS}px`, top: `${LABELS}px`, width: this.canvas.style.width, height: this.canvas.style.height });
    const pen = penOf(veil);
    pen.fillStyle = `rgb(${dress.background})`;
    pen.globalAlpha = 1 - FADED;
    for (let layer = 0; layer < this.layers; layer++) for (let head = 0; head < this.most; head++) {
      if (!lit.has(`${layer} ${head}`)) pen.fillRect(Math.round(layer * size * scale), Math.round(head * size * scale), Math.ceil(size * scale), Math.ceil(size * scale));
    }
    this.canvas.after(veil);
  }

  /** @param {number} layer @param {number} head */
  mark(layer, head) {
    Object.assign(this, { layer, head });
    this.put(this.frame, layer, head);
    const named = this.heads.name(layer, head);
    this.field.setAttribute("aria-label", `${named}. ${_("Arrow keys choose another head.")}`);
  }

  /** @param {HTMLElement} frame @param {number} layer @param {number} head */
  put(frame, layer, head) {
    const inner = this.size - Math.max(1, this.size / 12);
    Object.assign(frame.style, { left: `${LABELS + layer * this.size - 2}px`, top: `${LABELS + head * this.size - 2}px`, width: `${inner + 4}px`, height: `${inner + 4}px` });
  }

  /** @param {MouseEvent} event @returns {[number, number] | null} */
  at(event) {
    const area = this.field.getBoundingClientRect();
    const layer = Math.floor((event.clientX - area.left) / this.size), head = Math.floor((event.clientY - area.top) / this.size);
    return this.has(layer, head) ? [layer, head] : null;
  }

  /** @param {number} layer @param {number} head */
  has(layer, head) { return head >= 0 && head < (this.heads.data.layers[layer]?.heads ?? 0); }

  /** @param {PointerEvent} event */
  point(event) {
    const place = this.at(event);
    this.hover.hidden = !place;
    if (place) this.put(this.hover, ...place);
    return place;
  }

  /** @param {KeyboardEvent} event */
  walk(event) {
    const [across, down] = take(event, ACROSS) ?? [0, 0], layer = this.layer + across, head = this.head + down;
    if ((across || down) && this.has(layer, head)) this.choose(layer, head);
  }
}
