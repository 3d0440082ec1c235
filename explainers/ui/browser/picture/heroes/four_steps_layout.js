// @ts-check
// Where the four steps stand: beside each other, or, where that is too narrow, two above two.

/** @typedef {ReturnType<typeof layOutSteps>} Places */
/** @typedef {ReturnType<typeof placeBars>} Bars signed bars: where 0 is, pixels of a unit */

const HEAD = 50; // the names of the steps
const SLIDER = 58;
const WIDE = 800; // room for four steps beside each other
const NUMBER = 46; // room for "−17.2"

/** @param {import("../stage.js").Stage} stage @param {string[]} words @param {number[]} products of all bars */
export function layOutSteps(stage, words, products) {
  const isWide = stage.room >= WIDE, isPhone = stage.room < 560;
  const height = isWide ? Math.max(420, HEAD + SLIDER + 16 * words.length) : Math.max(440, 2 * HEAD + SLIDER + 2 * 16 * words.length + 24);
  const lane = isWide ? (height - HEAD - SLIDER) / words.length : (height - 2 * HEAD - SLIDER - 24) / (2 * words.length);
  const size = Math.max(13, Math.min(isWide ? 22 : isPhone ? 15 : 20, Math.floor(lane - 1)));
  const left = Math.max(...stage.widths(words, size)) + (isPhone ? 8 : 14), room = stage.room - left;
  const number = isPhone ? 40 : NUMBER, tall = lane * words.length;
  // Two steps with bars; then two whose widths are shares of what is left.
  const first = (isWide ? 0.39 * room : room) / 2, second = isWide ? left + 0.39 * room + 6 : left, bars = [left + number, left + first + number];
  const share = second + (isPhone ? 38 : NUMBER), across = stage.room - share - 6;
  const parts = isPhone ? [0.1, 0.27, 0.25, 0.1, 0.28] : [0.12, 0.18, 0.31, 0.09, 0.3]; // funnel, column, values, ribbons, output
  const edges = parts.reduce((all, part) => [...all, all[all.length - 1] + part * across], [share + 4]);
  stage.resize(stage.room, height);
  return {
    lane, tall, size, isWide, share, // right end of the percentages
    tops: [HEAD, isWide ? HEAD : HEAD + tall + SLIDER + 16 + HEAD], // of the lanes in the first two steps, and in the last two
    heads: [
      { left, width: first }, { left: left + first, width: first },
      { left: second + 8, width: edges[2] - second }, { left: edges[2] + 4, width: edges[5] - edges[2] },
    ],
    bars: bars.map((start) => placeBars(start, first - number - 14, products)), digits: bars.map((start) => start - 6),
    funnel: { left: edges[0], right: edges[1] }, column: { left: edges[1], width: edges[2] - edges[1] },
    values: { left: edges[2] + 3, width: edges[3] - edges[2] - 3 },
    output: { left: edges[4], width: edges[5] - edges[4], height: Math.min(64, tall * 0.3) },
    slider: { left: isWide ? left : 0, top: HEAD + tall + 8 },
  };
}

/** @param {number} left @param {number} width @param {number[]} products */
function placeBars(left, width, products) {
  const lowest = Math.min(0, ...products), scale = width / Math.max(1e-9, Math.max(0, ...products) - lowest);
  return { left, width, zero: left - lowest * scale, scale };
}
