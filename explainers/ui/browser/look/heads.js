// The weights of all heads, unpacked: a byte c stands for the weight (c / 255)².

/** @import { Rgb } from "../common/colours.js" */
/** @import { Planes } from "../common/numbers.js" */
/** @import { Span } from "../tiles/long_text.js" */
/** @import { LookData, PackedCodes } from "./data.js" */

import { mix, pixelOf } from "../common/colours.js";
import { BLANK_WEIGHT, unpackBytes } from "../common/numbers.js";
import { _ } from "../common/words.js";
import { poolLargest } from "../tiles/long_text.js";

const LEVELS = 255; // notebook/packed_heads.py
const STRIP = 64; // keys at a time: so many lines of a processor's first cache

/** @typedef {{ rows: number, side: number, planes: Planes, allowed: Planes, pairs: Uint32Array }} Mask `side`: its columns; `pairs`: places of what is allowed, key by key */
/** @typedef {{ rows: number, side: number, planes: Planes, mask: Mask, at: (head: number) => number }} Weights of heads of a layer; `at`: which of the matrices is a head's, -1 if none */

export class Heads {
  /** @param {LookData} data */
  constructor(data) {
    this.data = data;
    this.keys = data.tokens;
    this.queries = data.queries ?? data.tokens.slice(data.offset);
    /** @type {Weights[]} */
    this.layers = [];
    /** @type {Record<string, Weights>} */
    this.full = {};
    this.zeros = new Uint8Array(); // the high bytes of numbers that have none
    /** @type {{ mask: Mask | null, asked: string, seen: Uint16Array }} */
    this.last = { mask: null, asked: "", seen: new Uint16Array() }; // heads of a model have few masks: the last one is kept
  }

  async unpack() {
    const { layers, masks, full } = this.data, size = (/** @type {PackedCodes} */ { mask }) => masks[mask].rows * masks[mask].side;
    const sizes = [...layers.map((layer) => layer.heads * size(layer)), ...Object.values(full).map((packed) => packed.only.length * size(packed))];
    this.zeros = new Uint8Array(Math.max(...sizes));
    const unpacked = await Promise.all(masks.map(async (mask) => this.open(mask.rows, mask.side, await unpackBytes(mask.allowed))));
    this.layers = await Promise.all(layers.map((layer) => this.spread(layer, Array.from({ length: layer.heads }, (_one, head) => head), unpacked)));
    for (const [layer, packed] of Object.entries(full)) this.full[layer] = await this.spread(packed, packed.only, unpacked);
  }

  /** @param {number} rows @param {number} side @param {Uint8Array} allowed @returns {Mask} */
  open(rows, side, allowed) {
    const next = new Uint32Array(side + 1); // of each key the next pair
    for (let query = 0, place = 0; query < rows; query++) for (let key = 1; key <= side; key++) next[key] += allowed[place++];
    for (let key = 0; key < side; key++) next[key + 1] += next[key];
    const pairs = new Uint32Array(next[side]);
    // Strip by strip: a key's pairs are a whole row apart, and each alone would wait for memory.
    for (let left = 0; left < side; left += STRIP) for (let query = 0; query < rows; query++) {
      const end = Math.min(side, left + STRIP);
      for (let key = left, place = query * side + left; key < end; key++, place++) if (allowed[place]) pairs[next[key]++] = place;
    }
    const planes = { low: allowed, high: this.zeros };
    return { rows, side, planes, allowed: planes, pairs };
  }

  /** Every byte to its place. @param {PackedCodes} packed @param {number[]} heads @param {Mask[]} masks @returns {Promise<Weights>} */
  async spread(packed, heads, masks) {
    const codes = await unpackBytes(packed.codes), mask = masks[packed.mask], { rows, side, pairs } = mask;
    const low = new Uint8Array(heads.length * rows * side);
    for (let head = 0; head < heads.length; head++) {
      const to = head * rows * side, from = head * pairs.length;
      for (let pair = 0; pair < pairs.length; pair++) low[to + pairs[pair]] = codes[from + pair];
    }
    return { rows, side, planes: { low, high: this.zeros }, mask, at: (head) => heads.indexOf(head) };
  }

  /** @param {number} layer @param {number} head */
  name(layer, head) {
    const { show, names } = this.data, named = { layer: names[layer], head };
    if (show === "mean") return _("layer {layer}, mean of its heads", named);
    return show === "rollout" ? _("rollout up to layer {layer}", named) : _("layer {layer}, head {head}", named);
  }

  /** A head's layer in as many numbers as there are. @param {number} layer @param {number} head */
  weights(layer, head) {
    const full = this.full[layer];
    return full && full.at(head) >= 0 ? full : this.layers[layer];
  }

  /** Has every pair of tokens a number of its own in this head? @param {number} layer @param {number} head */
  isInFull(layer, head) {
    const { rows, side } = this.weights(layer, head);
    return rows === this.queries.length && side === this.keys.length;
  }

  /** The weight of a pair of places; null where the model forbids it. @param {number} layer @param {number} head @param {number} query @param {number} key */
  weight(layer, head, query, key) {
    const { rows, side, planes, mask, at } = this.weights(layer, head), place = query * side + key;
    return mask.allowed.low[place] ? (planes.low[at(head) * rows * side + place] / LEVELS) ** 2 : null;
  }

  /** What queries give to each key, averaged or added up; null where all of them are forbidden. @param {number} layer @param {number} head @param {number[]} queries */
  row(layer, head, queries, isSum = false) {
    return this.keys.map((_token, key) => {
      const given = queries.map((query) => this.weight(layer, head, query, key));
      const sum = given.reduce((/** @type {number} */ total, one) => total + (one ?? 0), 0);
      return given.every((one) => one === null) ? null : sum / (isSum ? 1 : queries.length);
    });
  }

  /**
   * A head in so many pixels, the largest byte under each; -1 where nothing is allowed.
   * @param {Weights} weights @param {number} head @param {{ query: Span, key: Span }} part of its rows and columns @param {number} size @param {number} tall
   */
  pool({ rows, side, planes, mask, at }, head, part, size, tall = size) {
    const asked = [...part.query, ...part.key, size, tall].join();
    if (this.last.mask !== mask || this.last.asked !== asked) this.last = { mask, asked, seen: poolLargest(mask.allowed, 0, side, part, size, tall) };
    const { seen } = this.last, codes = poolLargest(planes, at(head) * rows * side, side, part, size, tall), pooled = new Int16Array(size * tall);
    for (let place = 0; place < pooled.length; place++) pooled[place] = seen[place] && seen[place] !== BLANK_WEIGHT ? codes[place] : -1;
    return pooled;
  }
}

// Bytes of weights as pixels.

/** A pixel for each byte, from the background to the deepest colour: by the root of the weight. @param {Rgb} background @param {Rgb} deep */
export function makePixels(background, deep) {
  return Uint32Array.from({ length: LEVELS + 1 }, (_one, code) => pixelOf(mix([background, deep], code / LEVELS)));
}

/** Paint bytes; what nobody may look at has the colour of the ground. @param {ImageData} image @param {ArrayLike<number>} codes @param {Uint32Array} colours @param {Rgb | null} ground transparent if null */
export function paintCodes(image, codes, colours, ground) {
  const pixels = new Uint32Array(image.data.buffer), empty = ground ? pixelOf(ground) : 0;
  for (let place = 0; place < pixels.length; place++) pixels[place] = codes[place] < 0 ? empty : colours[codes[place]];
}
