// @ts-check
// Where everything on the two shelves is: beside each other, or below each other on a phone.

/** @typedef {ReturnType<typeof placeShelves>} ShelfPlace */

const MOST_PITCH = 36, PITCH_ON_PHONE = 20, LEAST_PITCH = 14; // pixels
const ROWS = 252, ROWS_ON_PHONE = 140; // room for all rows, while it is enough
const NAMES = 88; // the name of the bar needs this beside it

/** @param {import("../stage.js").Stage} stage @param {string[]} tokens @param {number} rows the most that a side computes */
export function placeShelves(stage, tokens, rows) {
  const { room } = stage, count = tokens.length, isStacked = room < 560;
  const apart = isStacked ? 18 : room < 760 ? 24 : 44, width = isStacked ? room : Math.floor((room - apart) / 2); // of a side
  const most = isStacked ? PITCH_ON_PHONE : MOST_PITCH;
  const pitch = Math.max(LEAST_PITCH, Math.min(most, (isStacked ? ROWS_ON_PHONE : ROWS) / count)), high = pitch * 0.74; // of a row
  const size = Math.min(22, Math.max(pitch * 0.62, Math.min(15, pitch * 0.84)), width * 0.052); // of the words
  const gutter = Math.max(34, Math.min(54, width * 0.115)); // room for the lines between words and rows
  const words = Math.max(NAMES - gutter / 2, Math.min(width * 0.3, Math.max(...stage.widths(tokens, size)) + 4)); // where they end
  const tick = Math.min(10, (width * 0.17) / count), between = isStacked ? 7 : 12;
  const strip = Math.floor((width - words - gutter - tick * count - 2 * between) / 2); // as wide as a key, or a value
  const top = isStacked ? 25 : 56, thick = isStacked ? 16 : 24, bar = top + pitch * count + (isStacked ? 4 : 8);
  const tall = bar + thick + 3, key = words + gutter, number = (isStacked ? 13 : 17) * String(rows).length + 12;
  return {
    /** @type {[number, number][]} */
    corners: isStacked ? [[0, 0], [0, tall + apart]] : [[0, 0], [width + apart, 0]],
    width, height: isStacked ? 2 * tall + apart : tall, isStacked, pitch, high, size, top, words, gutter,
    key, value: key + strip + between, strip, ticks: width - tick * count, tick, bar, thick,
    unit: (width - key - number) / Math.max(1, rows), // length of one row in the bar
    air: (pitch - high) / 2,
  };
}
