// @ts-check
// Where everything of the picture of shared heads is: KV heads at the left, a row of arcs for each
// query head, and at the right, or on a phone below, how many numbers are stored.

import { placeWords } from "./heads_places.js";

/** @typedef {import("../stage.js").Stage} Stage */
/**
 * @typedef {object} Bar
 * @property {import("../stage.js").Box} box
 * @property {[number, number]} number where its number is
 * @property {[number, number]} name
 * @property {[number, number]} product where it is said how the number comes about
 */

const HEIGHT = 404, TOP = 34, LABELS = 21, MOST_PITCH = 110, LEAST_PITCH = 32; // pixels
const BARS = [44, 96, 17]; // of a bar on wide screens: its width, that of its column; height of the numbers

/** @param {Stage} stage @param {string[]} words @param {number} heads @param {number[]} amounts of the bars */
export function placeSharing(stage, words, heads, amounts) {
  const { room } = stage, isPhone = room < 560, left = isPhone ? 98 : 168, right = isPhone ? 0 : 2 * BARS[1] + 30;
  const line = placeWords(stage, words, [left, right]), below = line.isSlanted ? 66 : 44;
  const wanted = isPhone ? (heads > 4 ? 46 : 66) : Math.max(LEAST_PITCH, (HEIGHT - TOP - below) / heads), pitch = Math.min(MOST_PITCH, wanted);
  const full = Math.max(HEIGHT, TOP + below + LEAST_PITCH * heads), foot = isPhone ? 8 + pitch * heads : full - below, first = foot - pitch * heads;
  const rows = Array.from({ length: heads }, (_row, head) => {
    const base = first + pitch * (head + 1) - LABELS;
    return { base, high: Math.max(9, pitch - LABELS - 8), scale: Math.max(0.3, Math.min(1.1, pitch / 104)), middle: base - Math.min(16, pitch / 5) };
  });
  const bottom = foot + below, height = isPhone ? bottom + 2 * 30 + 34 : full, most = Math.max(...amounts);
  /** @type {Bar[]} */
  const bars = amounts.map((amount, at) => {
    if (isPhone) {
      const width = ((room - 204) * amount) / most, y = bottom + 30 + 30 * at;
      return { box: { x: 92, y, width, height: 20 }, number: [92 + width + 8, y + 10], name: [0, y + 10], product: [room - 2, y + 10] };
    }
    const high = ((foot - TOP - 44) * amount) / most, x = room - right + 56 + BARS[1] * at;
    return { box: { x, y: foot - high, width: BARS[0], height: high }, number: [x + BARS[0] / 2, foot - high - BARS[2] + 3], name: [x + BARS[0] / 2, foot + 15], product: [x + BARS[0] / 2, foot + 33] };
  });
  return {
    ...line, isPhone, rows, foot, bars, height, wordDepth: foot + (line.isSlanted ? 6 : 22), digits: pitch < 40 ? 13 : 14,
    box: { x: isPhone ? 2 : 8, width: isPhone ? 40 : 58, height: Math.min(28, pitch - 8) },
    circle: isPhone ? 82 : 138, radius: Math.min(isPhone ? 13 : 15, pitch / 2 - 3),
    titles: { y: Math.max(9, rows[0].middle - 34), bars: isPhone ? bottom + 12 : Math.max(11, TOP - 22), barsX: isPhone ? 0 : room - right + 36 },
    hasTitles: !isPhone,
  };
}
