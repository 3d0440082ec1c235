// @ts-check
// Where the four steps stand: beside each other, or, where that is too narrow, two above two.

/** @typedef {import("../stage.js").Stage} Stage */
/**
 * @typedef {object} Block lanes of words, with steps at their right
 * @property {number} top of the lanes
 * @property {number} left of the words
 */
/** @typedef {{ left: number, width: number, zero: number, scale: number }} Bars signed bars: where 0 is, pixels of a unit */
/**
 * @typedef {object} Places
 * @property {number} height of the whole picture
 * @property {number} lane height of a word's lane
 * @property {number} size of the words
 * @property {number[]} widths of the words
 * @property {Block[]} blocks one, or two above each other
 * @property {number} block of the last two steps
 * @property {{ left: number, width: number }[]} heads the names of the steps
 * @property {Bars[]} bars products and scores
 * @property {number[]} digits right ends of the numbers beside the bars
 * @property {number} share right end of the percentages
 * @property {{ left: number, right: number }} funnel from the lanes to the column
 * @property {number} column its right end
 * @property {{ left: number, width: number }} values
 * @property {{ left: number, width: number, height: number }} output
 * @property {{ left: number, top: number }} slider
 */

const HEAD = 50; // the names of the steps
const SLIDER = 58;
const WIDE = 800; // room for four steps beside each other
const NUMBER = 46; // room for "−17.2"

/**
 * @param {Stage} stage @param {string[]} words
 * @param {{ lowest: number, highest: number, count: number }} numbers of all bars, and how many a value has
 * @returns {Places}
 */
export function layOutSteps(stage, words, { lowest, highest, count }) {
  const isWide = stage.room >= WIDE, isPhone = stage.room < 560;
  const height = isWide ? Math.max(420, HEAD + SLIDER + 16 * words.length) : Math.max(440, 2 * HEAD + SLIDER + 2 * 16 * words.length + 24);
  const lane = isWide ? (height - HEAD - SLIDER) / words.length : (height - 2 * HEAD - SLIDER - 24) / (2 * words.length);
  const size = Math.max(13, Math.min(isWide ? 22 : isPhone ? 15 : 20, Math.floor(lane - 1)));
  const widths = stage.widths(words, size), left = Math.max(...widths) + (isPhone ? 8 : 14), room = stage.room - left;
  const number = isPhone ? 40 : NUMBER, tall = lane * words.length;
  // Two steps with bars; then two whose widths are shares of what is left.
  const first = (isWide ? 0.39 * room : room) / 2, second = isWide ? left + 0.39 * room + 6 : left;
  const rest = stage.room - second, bars = [0, 1].map((step) => placeBars(left + first * step + number, first - number - 14, lowest, highest));
  const share = second + (isPhone ? 38 : NUMBER), across = rest - (share - second) - 6;
  const parts = isPhone ? [0.1, 0.27, 0.25, 0.1, 0.28] : [0.12, 0.18, 0.31, 0.09, 0.3]; // funnel, column, values, ribbons, output
  const edges = parts.reduce((all, part) => [...all, all[all.length - 1] + part * across], [share + 4]);
  const below = isWide ? HEAD : HEAD + tall + SLIDER + 16 + HEAD;
  return {
    height, lane, size, widths, block: isWide ? 0 : 1,
    blocks: [{ top: HEAD, left: 0 }, ...(isWide ? [] : [{ top: below, left: 0 }])],
    heads: [
      { left, width: first }, { left: left + first, width: first },
      { left: second + 8, width: edges[2] - second }, { left: edges[2] + 4, width: edges[5] - edges[2] },
    ],
    bars, digits: [0, 1].map((step) => left + first * step + number - 6), share,
    funnel: { left: edges[0], right: edges[1] }, column: edges[2],
    values: { left: edges[2] + 3, width: edges[3] - edges[2] - 3 },
    output: { left: edges[4], width: edges[5] - edges[4], height: Math.min(64, tall * 0.3) * (count > 0 ? 1 : 0) },
    slider: { left: isWide ? left : 0, top: HEAD + tall + 8 },
  };
}

/** @param {number} left @param {number} width @param {number} lowest @param {number} highest @returns {Bars} */
function placeBars(left, width, lowest, highest) {
  const scale = width / Math.max(1e-9, highest - lowest);
  return { left, width, zero: left - lowest * scale, scale };
}
