// @ts-check
// Bytes of weights as pixels.

/** @import { Rgb } from "../common/colours.js" */

import { mix } from "../common/colours.js";
import { LEVELS } from "./heads.js";

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
