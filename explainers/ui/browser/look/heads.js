// @ts-check
// The weights of all heads, unpacked: a byte c stands for the weight (c / 255)².

/** @import { Rgb } from "../common/colours.js" */
/** @import { Planes } from "../common/numbers.js" */
/** @import { Span } from "../tiles/pooling.js" */
/** @import { LookData, PackedCodes } from "./data.js" */

import { mix } from "../common/colours.js";
import { BLANK_WEIGHT, unpackBytes } from "../common/numbers.js";
import { poolLargest } from "../tiles/pooling.js";

const LEVELS = 255; // notebook/packed_heads.py

/** @typedef {{ side: number, planes: Planes, allowed: Planes, pairs: Uint32Array }} Mask `pairs`: places of what is allowed, key by key */
/** @typedef {{ side: number, planes: Planes, mask: Mask }} Weights of all heads of a layer */

export class Heads {
  /** @param {LookData} data */
  constructor(data) {
    this.data = data;
    /** @type {Weights[]} */
    this.layers = [];
    /** @type {Record<string, Weights>} */
    this.full = {};
    this.zeros = new Uint8Array(); // the high bytes of numbers that have none
    /** @type {{ mask: Mask | null, asked: string, seen: Uint16Array }} */
    this.last = { mask: null, asked: "", seen: new Uint16Array() }; // heads of a model have few masks: the last one is kept
  }

  async unpack() {
    const { layers, masks, full, side, tokens } = this.data, most = Math.max(...layers.map(({ heads }) => heads));
    this.zeros = new Uint8Array(most * Math.max(side, Object.keys(full).length ? tokens.length : 0) ** 2);
    const unpacked = await Promise.all(masks.map(async (mask) => this.open(mask.side, await unpackBytes(mask.allowed))));
    this.layers = await Promise.all(layers.map((layer) => this.spread(layer, layer.heads, unpacked)));
    for (const [layer, packed] of Object.entries(full)) {
      this.full[layer] = await this.spread(packed, layers[Number(layer)].heads, unpacked);
    }
  }

  /** @param {number} side @param {Uint8Array} allowed @returns {Mask} */
  open(side, allowed) {
    const pairs = [];
    for (let key = 0; key < side; key++) {
      for (let query = 0; query < side; query++) if (allowed[query * side + key]) pairs.push(query * side + key);
    }
    const planes = { low: allowed, high: this.zeros };
    return { side, planes, allowed: planes, pairs: Uint32Array.from(pairs) };
  }

  /** Every byte to its place. @param {PackedCodes} packed @param {number} heads @param {Mask[]} masks @returns {Promise<Weights>} */
  async spread(packed, heads, masks) {
    const codes = await unpackBytes(packed.codes), mask = masks[packed.mask], { side, pairs } = mask;
    const low = new Uint8Array(heads * side * side);
    for (let head = 0; head < heads; head++) {
      const to = head * side * side, from = head * pairs.length;
      for (let pair = 0; pair < pairs.length; pair++) low[to + pairs[pair]] = codes[from + pair];
    }
    return { side, planes: { low, high: this.zeros }, mask };
  }

  /** A layer in as many numbers as there are. @param {number} layer */
  weights(layer) { return this.full[layer] ?? this.layers[layer]; }

  /** Has every pair of tokens a number of its own in this layer? @param {number} layer */
  isInFull(layer) { return this.weights(layer).side === this.data.tokens.length; }

  /** The weight of a pair of places; null where the model forbids it. @param {number} layer @param {number} head @param {number} query @param {number} key */
  weight(layer, head, query, key) {
    const { side, planes, mask } = this.weights(layer), place = query * side + key;
    return mask.allowed.low[place] ? (planes.low[head * side * side + place] / LEVELS) ** 2 : null;
  }

  /**
   * A head in so many pixels, the largest byte under each; -1 where nothing is allowed.
   * @param {Weights} weights @param {number} head @param {{ query: Span, key: Span }} part of its rows and columns @param {number} size
   */
  pool({ side, planes, mask }, head, part, size) {
    const asked = [...part.query, ...part.key, size].join();
    if (this.last.mask !== mask || this.last.asked !== asked) this.last = { mask, asked, seen: poolLargest(mask.allowed, 0, side, part, size) };
    const { seen } = this.last, codes = poolLargest(planes, head * side * side, side, part, size), pooled = new Int16Array(size * size);
    for (let place = 0; place < pooled.length; place++) pooled[place] = seen[place] && seen[place] !== BLANK_WEIGHT ? codes[place] : -1;
    return pooled;
  }
}

// Bytes of weights as pixels.

/** A pixel for each byte, from the background to the deepest colour: by the root of the weight. @param {Rgb} background @param {Rgb} deep */
export function makePixels(background, deep) {
  return Uint32Array.from({ length: LEVELS + 1 }, (_one, code) => pixelOf(mix([background, deep], code / LEVELS)));
}

/** @param {Rgb} rgb */
const pixelOf = ([r, g, b]) => ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;

/** Paint bytes; what nobody may look at has the colour of the ground. @param {ImageData} image @param {ArrayLike<number>} codes @param {Uint32Array} colours @param {Rgb | null} ground transparent if null */
export function paintCodes(image, codes, colours, ground) {
  const pixels = new Uint32Array(image.data.buffer), empty = ground ? pixelOf(ground) : 0;
  for (let place = 0; place < pixels.length; place++) pixels[place] = codes[place] < 0 ? empty : colours[codes[place]];
}
