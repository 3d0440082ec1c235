// @ts-check
// The weights of all heads, a small square of pixels for each, and one of them enlarged.

/** @import { Planes } from "../../common/numbers.js" */
/** @import { Places } from "./mosaic_places.js" */

import { channels, mix } from "../../common/colours.js";
import { BLANK_WEIGHT, WEIGHT_STEPS } from "../../common/numbers.js";
import { element } from "../../common/elements.js";

const LEVELS = 100, GAMMA = 0.75; // small weights are seen, large ones still differ

export class Squares {
  all = element("canvas", "mosaic-all moves");
  large = element("canvas");
  atlas = element("canvas"); // a pixel for each weight: layers across, heads down
  /** @type {Planes} */
  steps = { low: new Uint8Array(), high: new Uint8Array() };
  /** @type {number[]} */
  colours = [];
  tint = ""; // of squares where there is no weight
  drawn = ""; // how all heads are; empty when they are to be drawn anew

  /** @param {number[]} background @param {string} deep */
  dress(background, deep) {
    const colours = Array.from({ length: LEVELS + 1 }, (_one, at) => mix([background, channels(deep)], (at / LEVELS) ** GAMMA));
    this.colours = colours.map(([r, g, b]) => ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0);
    this.tint = `rgb(${mix([background, colours[LEVELS]], 0.07)})`;
    this.drawn = "";
  }

  /** The weight at a place of the planes; null where the model forbids it. @param {number} place */
  weight(place) {
    const step = this.steps.low[place] | (this.steps.high[place] << 8);
    return step === BLANK_WEIGHT ? null : step / WEIGHT_STEPS;
  }

  /** One head. @param {number} layer @param {number} head @param {number} side */
  enlarge(layer, head, side) {
    Object.assign(this.large, { width: side, height: side });
    contextOf(this.large).drawImage(this.atlas, layer * side, head * side, side, side, 0, 0, side, side);
  }

  /** All heads, if they are not drawn so yet. @param {Places} places @param {{ layers: number, heads: number, side: number }} form @param {boolean} isDimmed */
  draw({ grid: { top, size, inner, width, height }, depth, strip }, { layers, heads, side }, isDimmed) {
    const drawn = `${isDimmed} ${size} ${strip.right}`, { all, atlas } = this, tall = heads * side, scale = devicePixelRatio;
    if (this.drawn === drawn) return;
    this.drawn = drawn;
    Object.assign(atlas, { width: layers * side, height: tall });
    const image = contextOf(atlas).createImageData(atlas.width, tall), pixels = new Uint32Array(image.data.buffer);
    for (let place = 0; place < layers * tall * side; place++) {
      const key = place % side, row = Math.floor(place / side), weight = this.weight(place);
      if (weight === null || (isDimmed && key === 0)) continue;
      pixels[(row % tall) * layers * side + Math.floor(row / tall) * side + key] = this.colours[Math.round(weight * LEVELS)];
    }
    contextOf(atlas).putImageData(image, 0, 0);
    Object.assign(all, { width: Math.round(width * scale), height: Math.round(height * scale) });
    const pen = contextOf(all);
    pen.scale(scale, scale);
    Object.assign(pen, { imageSmoothingEnabled: side > inner * scale, fillStyle: this.tint });
    for (let layer = 0; layer < layers; layer++) for (let head = 0; head < heads; head++) {
      pen.fillRect(layer * size, depth(head) - top, inner, inner);
      pen.drawImage(atlas, layer * side, head * side, side, side, layer * size, depth(head) - top, inner, inner);
    }
  }
}

/** @param {HTMLCanvasElement} canvas */
const contextOf = (canvas) => /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
