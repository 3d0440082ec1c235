// @ts-check
// Where everything stands in the picture of queries, keys and values: beside each other, or on a phone
// below each other.

/** @typedef {import("../stage.js").Box} Box */
/** @typedef {import("../stage.js").Stage} Stage */
/**
 * @typedef {object} Block a matrix and the strip that it makes
 * @property {Box} matrix
 * @property {Box} strip
 * @property {[number, number]} matrixName
 * @property {[number, number]} name of the strip
 * @property {[number, number] | null} meaning of the strip, where there is room for it
 */
/**
 * @typedef {object} Row what stands on the line of one word
 * @property {Box} key
 * @property {[number, number]} word
 * @property {[number, number]} share
 */
/**
 * @typedef {object} Places
 * @property {number} height
 * @property {number} size of the words beside their keys
 * @property {number} shareSize
 * @property {boolean} isColumn do the numbers of the word stand below each other?
 * @property {boolean} isUpright
 * @property {Box} x
 * @property {[number, number]} asker
 * @property {number} askerSize
 * @property {[number, number]} xName
 * @property {Block[]} blocks
 * @property {[number, number]} title of the keys
 * @property {Row[]} rows
 */

const HEIGHT = 412, MOST_PITCH = 54, LEAST_PITCH = 30;
const ENTRIES = 8, OWN = 4; // so many numbers of a word, of its query, have room for their digits; more share it

/** @param {Stage} stage @param {string[]} tokens @param {{ x: number, own: number }} counts @returns {Places} */
export function findPlaces(stage, tokens, counts) {
  return stage.room < 560 ? standBelow(stage, tokens, counts) : standBeside(stage, tokens, counts);
}

/** As many numbers as there is room for. @param {{ x: number, own: number }} counts */
const shareRoom = ({ x, own }) => ({ entries: Math.min(x, ENTRIES), own: Math.min(own, OWN) });

/** @param {Stage} stage @param {string[]} tokens @param {{ x: number, own: number }} counts @returns {Places} */
function standBeside(stage, tokens, counts) {
  const { room } = stage, { entries, own } = shareRoom(counts), isNarrow = room < 860, count = tokens.length;
  const size = count > 11 || isNarrow ? 18 : 22, share = isNarrow ? 46 : 56;
  const word = Math.min(room * 0.2, Math.max(...stage.widths(tokens, size)));
  const height = Math.max(HEIGHT, 40 + LEAST_PITCH * count), middle = height / 2 + 8;
  const x = isNarrow
    ? { x: 4, y: middle - 13 * entries, width: 52, height: 26 * entries }
    : { x: 2, y: middle - 17, width: 28 * entries, height: 34 };
  const cell = isNarrow ? 32 : 36, keyCell = isNarrow ? 29 : 32;
  const matrix = { x: x.x + x.width + (isNarrow ? 46 : 54), width: 20 * own, height: 12 * entries };
  const strip = { x: matrix.x + matrix.width + 26, width: cell * own, height: 34 };
  const step = Math.min(136, (height - 40) / 3);
  const keyLeft = room - share - word - 12 - keyCell * own;
  const pitch = Math.min(MOST_PITCH, (height - 38) / count), top = 32 + (height - 38 - pitch * count) / 2;
  return {
    height, size, isColumn: isNarrow, isUpright: false, x, shareSize: isNarrow ? 16 : 19,
    askerSize: Math.min(30, (30 * (isNarrow ? 84 : 240)) / Math.max(1, ...stage.widths(tokens, 30))),
    asker: isNarrow ? [2, x.y - 26] : [x.x + x.width / 2, x.y - 30],
    xName: isNarrow ? [x.x + x.width / 2, x.y + x.height + 14] : [x.x + x.width / 2, x.y + 52],
    blocks: [-1, 0, 1].map((nth) => {
      const centre = middle + nth * step;
      return {
        matrix: { ...matrix, y: centre - matrix.height / 2 },
        strip: { ...strip, y: centre - 17 },
        matrixName: [matrix.x + matrix.width / 2, centre - matrix.height / 2 - 11],
        name: [strip.x + strip.width / 2, centre - 31],
        meaning: [strip.x + strip.width / 2, centre + 30],
      };
    }),
    title: [keyLeft, 14],
    rows: tokens.map((_token, place) => {
      const centre = top + pitch * (place + 0.5), high = Math.min(28, pitch - 6);
      return {
        key: { x: keyLeft, y: centre - high / 2, width: keyCell * own, height: high },
        word: [keyLeft + keyCell * own + 12, centre],
        share: [room - 2, centre],
      };
    }),
  };
}

/** @param {Stage} stage @param {string[]} tokens @param {{ x: number, own: number }} counts @returns {Places} */
function standBelow(stage, tokens, counts) {
  const { room } = stage, { entries, own } = shareRoom(counts), third = (room - 24) / 3, pitch = LEAST_PITCH, keyLeft = room * 0.22, keys = 26 * own, first = 262;
  const longest = Math.max(...stage.widths(tokens, 18)), free = room - keyLeft - keys - 8 - 50;
  return {
    height: first + pitch * tokens.length + 2, size: Math.min(18, Math.floor((18 * free) / longest)), shareSize: 16, isColumn: false, isUpright: true,
    x: { x: 2, y: 36, width: room - 4, height: 28 },
    asker: [room / 2, 16], askerSize: 24, xName: [2, 16],
    blocks: [0, 1, 2].map((nth) => {
      const left = 2 + nth * (third + 10), centre = left + third / 2;
      return {
        matrix: { x: centre - 8 * own, y: 106, width: 16 * own, height: 7 * entries },
        strip: { x: left, y: 202, width: third, height: 28 },
        matrixName: [centre, 96],
        name: [centre, 190],
        meaning: null,
      };
    }),
    title: [keyLeft, 248],
    rows: tokens.map((_token, place) => {
      const centre = first + pitch * (place + 0.5);
      return {
        key: { x: keyLeft, y: centre - 12, width: keys, height: 24 },
        word: [keyLeft + keys + 8, centre],
        share: [room - 2, centre],
      };
    }),
  };
}

/**
 * The line from a query to a key, as wide as the weight; all of them together are as wide as the query.
 * @param {Box} query @param {Box} key @param {number} offset of its middle from the query's @param {boolean} isUpright
 */
export function writeLinePath(query, key, offset, isUpright) {
  const end = key.y + key.height / 2;
  if (isUpright) {
    const start = query.x + query.width / 2 + offset, top = query.y + query.height + 2;
    return `M${start} ${top}C${start} ${end} ${start} ${end} ${key.x - 3} ${end}`;
  }
  const left = query.x + query.width + 3, start = query.y + query.height / 2 + offset, bend = (key.x - left) * 0.55;
  return `M${left} ${start}C${left + bend} ${start} ${key.x - 3 - bend} ${end} ${key.x - 3} ${end}`;
}

/** The arrow from one box to the next, and its head. @param {Box} from @param {Box} to @param {boolean} isUpright */
export function writeArrowPath(from, to, isUpright) {
  if (isUpright) {
    const x = to.x + to.width / 2, start = from.y + from.height + 3, end = to.y - 4;
    const at = Math.max(from.x + 6, Math.min(from.x + from.width - 6, x));
    return `M${at} ${start}L${x} ${end}M${x - 4} ${end - 5}L${x} ${end}L${x + 4} ${end - 5}`;
  }
  const left = from.x + from.width + 3, right = to.x - 5, y = to.y + to.height / 2, start = Math.max(from.y + 6, Math.min(from.y + from.height - 6, y)), bend = (right - left) / 2;
  return `M${left} ${start}C${left + bend} ${start} ${right - bend} ${y} ${right} ${y}M${right - 6} ${y - 4}L${right} ${y}L${right - 6} ${y + 4}`;
}
