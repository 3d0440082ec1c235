// @ts-check
// The weights of all heads, a small square of pixels for each, and one of them enlarged.

/** @import { Planes } from "../../common/numbers.js" */
/** @import { Places } from "./mosaic_places.js" */

import { channels, mix } from "../../common/colours.js";
import { BLANK_WEIGHT, WEIGHT_STEPS } from "../../common/numbers.js";
import { element } from "../../common/elements.js";

const LEVELS = 100, GAMMA = 0.75; // small weights are seen, large ones still differ

export class Squares {
  /** @param {import("../stage.js").Stage} stage */
  constructor(stage) {
    this.all = stage.add("canvas", "mosaic-all");
    this.large = stage.add("div", "mosaic-large");
    this.canvas = this.large.appendChild(element("canvas"));
    this.atlas = document.createElement("canvas"); // a pixel for each weight
    /** @type {Planes} */
    this.steps = { low: new Uint8Array(), high: new Uint8Array() };
    /** @type {number[][]} */
    this.colours = [];
    this.ground = [255, 255, 255];
  }

  /** @param {number[]} background @param {string} deep */
  dress(background, deep) {
    const ends = [background, channels(deep)];
    this.ground = background;
    this.colours = Array.from({ length: LEVELS + 1 }, (_one, at) => mix(ends, (at / LEVELS) ** GAMMA));
  }

  /** The weight at a place of the planes; null where the model forbids it. @param {number} place */
  weight(place) {
    const step = this.steps.low[place] | (this.steps.high[place] << 8);
    return step === BLANK_WEIGHT ? null : step / WEIGHT_STEPS;
  }

  /**
   * A pixel for each weight: layers across, heads down.
   * @param {{ layers: number, heads: number, side: number, isDimmed: boolean }} form
   */
  mix({ layers, heads, side, isDimmed }) {
    const width = layers * side, height = heads * side, { atlas } = this;
    Object.assign(atlas, { width, height });
    const pen = contextOf(atlas), image = pen.createImageData(width, height);
    const pixels = new Uint32Array(image.data.buffer);
    let place = 0;
    for (let layer = 0; layer < layers; layer++) for (let head = 0; head < heads; head++) {
      for (let query = 0; query < side; query++) for (let key = 0; key < side; key++) {
        const weight = this.weight(place++), isLeftOut = weight === null || (isDimmed && key === 0);
        if (isLeftOut) continue;
        const [r, g, b] = this.colours[Math.round(weight * LEVELS)];
        pixels[(head * side + query) * width + layer * side + key] = ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
      }
    }
    pen.putImageData(image, 0, 0);
  }

  /** @param {Places} places @param {{ layers: number, heads: number, side: number, group: number }} form */
  draw({ grid }, { layers, heads, side, group }) {
    const scale = devicePixelRatio, width = layers * grid.size, height = heads * grid.size + grid.gap * (Math.ceil(heads / group) - 1);
    Object.assign(this.all, { width: Math.round(width * scale), height: Math.round(height * scale) });
    const pen = contextOf(this.all), inner = grid.size - Math.max(1, grid.size / 12);
    pen.scale(scale, scale);
    pen.imageSmoothingEnabled = side > inner * scale;
    pen.fillStyle = `rgb(${mix([this.ground, this.colours[LEVELS]], 0.07)})`;
    for (let layer = 0; layer < layers; layer++) for (let head = 0; head < heads; head++) {
      const x = layer * grid.size, y = head * grid.size + grid.gap * Math.floor(head / group);
      pen.fillRect(x, y, inner, inner);
      pen.drawImage(this.atlas, layer * side, head * side, side, side, x, y, inner, inner);
    }
  }

  /** @param {number} layer @param {number} head @param {number} side */
  enlarge(layer, head, side) {
    Object.assign(this.canvas, { width: side, height: side });
    contextOf(this.canvas).drawImage(this.atlas, layer * side, head * side, side, side, 0, 0, side, side);
  }
}

/** @param {HTMLCanvasElement} canvas */
const contextOf = (canvas) => /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
