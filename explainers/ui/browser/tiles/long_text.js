// Matrices of a long text: in fewer pixels than they have numbers, token ticks beside them, and the heads that look at a token.

/** @import { Planes } from "../common/numbers.js" */

import { BLANK_WEIGHT, WEIGHT_STEPS } from "../common/numbers.js";

/** @typedef {[number, number]} Span  from a token up to another, which is not part of it */
/** @typedef {{ tile: number, query: number, weight: number }} Look  a head's largest weight on a key, and whose it is */

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

/** The positions that get a tick: every 1, 2, 5, 10, 20 …, at most so many. @param {Span} span @param {number} most */
export function ticks([from, to], most) {
  const least = (to - from) / most, power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  const step = power * ([1, 2, 5].find((one) => one * power >= least) ?? 10);
  const first = Math.ceil(from / step) * step;
  return Array.from({ length: Math.max(0, Math.ceil((to - first) / step)) }, (empty, n) => first + n * step);
}

/**
 * Two spans of one length, so that every cell is a square: the shorter one grows, within the text.
 * @param {Span} query @param {Span} key @param {number} side @returns {{ query: Span, key: Span }}
 */
export function squared(query, key, side) {
  const length = Math.max(query[1] - query[0], key[1] - key[0]);
  const grown = (/** @type {Span} */ [from, to]) => {
    const start = Math.max(0, Math.min(side - length, Math.round((from + to - length) / 2)));
    return /** @type {Span} */ ([start, start + length]);
  };
  return { query: grown(query), key: grown(key) };
}

/**
 * The tokens that are meant: a number is a position, anything else is a part of a token's text.
 * @param {string[]} tokens @param {string} wanted
 */
export function findTokens(tokens, wanted) {
  const text = wanted.trim();
  if (!text) return [];
  if (/^\d+$/.test(text) && Number(text) < tokens.length) return [Number(text)];
  return tokens.flatMap((token, place) => token.toLowerCase().includes(text.toLowerCase()) ? [place] : []);
}

/**
 * For each head its largest weight on a key, from a query behind it: its own may have nothing else.
 * @param {Planes} planes @param {number} side @param {number} count of heads @param {number} key
 * @returns {Look[]} the largest first
 */
export function lookingAt({ low, high }, side, count, key) {
  const looks = Array.from({ length: count }, (empty, tile) => {
    const best = { tile, query: -1, weight: 0 };
    for (let query = 0; query < side; query++) {
      const place = (tile * side + query) * side + key;
      const step = low[place] | (high[place] << 8);
      if (query !== key && step !== BLANK_WEIGHT && step / WEIGHT_STEPS > best.weight) Object.assign(best, { query, weight: step / WEIGHT_STEPS });
    }
    return best;
  });
  return looks.filter((one) => one.query >= 0).sort((a, b) => b.weight - a.weight);
}
