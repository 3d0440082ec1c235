// A matrix in fewer pixels than it has numbers.

/** @import { Planes } from "../common/numbers.js" */

import { BLANK_WEIGHT } from "../common/numbers.js";

/** @typedef {[number, number]} Span  from a token up to another, which is not part of it */

/**
 * For every pixel the largest of the numbers that fall on it: an average would lose a single column.
 * @param {Planes} planes @param {number} at where the matrix begins
 * @param {number} side how many columns the matrix has
 * @param {{ query: Span, key: Span }} part rows and columns that are looked at
 * @param {number} size pixels from left to right @param {number} tall pixels from top to bottom
 */
export function poolLargest({ low, high }, at, side, { query, key }, size, tall = size) {
  const pooled = new Uint16Array(size * tall).fill(BLANK_WEIGHT);
  const columns = Array.from({ length: size }, (_pixel, x) => under(key, x, size));
  for (let y = 0; y < tall; y++) {
    const [top, bottom] = under(query, y, tall);
    for (let x = 0; x < size; x++) {
      const left = columns[x][0], right = columns[x][1];
      let most = -1;
      for (let row = top; row < bottom; row++) {
        for (let k = at + row * side + left; k < at + row * side + right; k++) {
          const step = low[k] | (high[k] << 8);
          if (step > most && step !== BLANK_WEIGHT) most = step;
        }
      }
      if (most >= 0) pooled[y * size + x] = most;
    }
  }
  return pooled;
}

/** The numbers under a pixel; where there are fewer numbers than pixels, one. @param {Span} span @param {number} place @param {number} size @returns {Span} */
function under([from, to], place, size) {
  const first = from + Math.floor((place * (to - from)) / size);
  return [first, Math.max(first + 1, from + Math.ceil(((place + 1) * (to - from)) / size))];
}
