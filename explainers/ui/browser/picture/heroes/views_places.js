// @ts-check
// Where everything stands in the picture of queries, keys and values: beside each other, or on a phone
// below each other.

/** @typedef {import("../stage.js").Stage} Stage */
/** @typedef {[x: number, y: number]} Point */
/** @typedef {[x: number, y: number, width: number, height: number]} Box */
/** @typedef {{ matrix: Box, strip: Box, matrixName: Point, name: Point, meaning?: Point }} Block a matrix and the strip that it makes, with its meaning where there is room */
/** @typedef {{ key: Box, word: Point, share: Point }} Row what stands on the line of one word */
/**
 * @typedef {object} Places
 * @property {number} height
 * @property {number} size of the words beside their keys
 * @property {number} shareSize
 * @property {boolean} isColumn do the numbers of the word stand below each other?
 * @property {boolean} isUpright
 * @property {Box} x
 * @property {[x: number, y: number, size: number]} asker
 * @property {Point} xName
 * @property {Block[]} blocks
 * @property {Point} title of the keys
 * @property {Row[]} rows
 */

const HEIGHT = 412, MOST_PITCH = 54, LEAST_PITCH = 30;
const ENTRIES = 8, OWN = 4; // so many numbers of a word, of its query, have room for their digits; more share it

/** @param {Stage} stage @param {string[]} tokens @param {number} x numbers of a word @param {number} own and of its query @returns {Places} */
export function placeViews(stage, tokens, x, own) {
  const places = (stage.room < 560 ? standBelow : standBeside)(stage, tokens, Math.min(x, ENTRIES), Math.min(own, OWN));
  stage.resize(stage.room, places.height);
  return places;
}

/** @param {Stage} stage @param {string[]} tokens @param {number} entries @param {number} own @returns {Places} */
function standBeside(stage, tokens, entries, own) {
  const { room } = stage, isNarrow = room < 860, count = tokens.length, size = count > 11 || isNarrow ? 18 : 22;
  const word = Math.min(room * 0.2, Math.max(...stage.widths(tokens, size)));
  const height = Math.max(HEIGHT, 40 + LEAST_PITCH * count), middle = height / 2 + 8, step = Math.min(136, (height - 40) / 3);
  /** @type {Box} */
  const x = isNarrow ? [4, middle - 13 * entries, 52, 26 * entries] : [2, middle - 17, 28 * entries, 34], [left, top, width, high] = x, half = left + width / 2;
  const matrix = left + width + (isNarrow ? 46 : 54), wide = 20 * own, deep = 12 * entries, strip = matrix + wide + 26, cells = (isNarrow ? 32 : 36) * own;
  const keys = (isNarrow ? 29 : 32) * own, keyLeft = room - (isNarrow ? 46 : 56) - word - 12 - keys;
  const pitch = Math.min(MOST_PITCH, (height - 38) / count), first = 32 + (height - 38 - pitch * count) / 2;
  return {
    height, size, isColumn: isNarrow, isUpright: false, x, shareSize: isNarrow ? 16 : 19,
    asker: [isNarrow ? 2 : half, top - (isNarrow ? 26 : 30), Math.min(30, (30 * (isNarrow ? 84 : 240)) / Math.max(1, ...stage.widths(tokens, 30)))],
    xName: [half, top + (isNarrow ? high + 14 : 52)],
    blocks: [middle - step, middle, middle + step].map((centre) => ({
      matrix: [matrix, centre - deep / 2, wide, deep], matrixName: [matrix + wide / 2, centre - deep / 2 - 11],
      strip: [strip, centre - 17, cells, 34], name: [strip + cells / 2, centre - 31], meaning: [strip + cells / 2, centre + 30],
    })),
    title: [keyLeft, 14],
    rows: tokens.map((_token, place) => {
      const centre = first + pitch * (place + 0.5), tall = Math.min(28, pitch - 6);
      return { key: [keyLeft, centre - tall / 2, keys, tall], word: [keyLeft + keys + 12, centre], share: [room - 2, centre] };
    }),
  };
}

/** @param {Stage} stage @param {string[]} tokens @param {number} entries @param {number} own @returns {Places} */
function standBelow(stage, tokens, entries, own) {
  const { room } = stage, third = (room - 24) / 3, pitch = LEAST_PITCH, keyLeft = room * 0.22, keys = 26 * own, first = 262;
  const longest = Math.max(...stage.widths(tokens, 18)), free = room - keyLeft - keys - 8 - 50;
  return {
    height: first + pitch * tokens.length + 2, size: Math.min(18, Math.floor((18 * free) / longest)), shareSize: 16, isColumn: false, isUpright: true,
    x: [2, 36, room - 4, 28], asker: [room / 2, 16, 24], xName: [2, 16],
    blocks: [0, 1, 2].map((nth) => {
      const left = 2 + nth * (third + 10), centre = left + third / 2;
      return { matrix: [centre - 8 * own, 106, 16 * own, 7 * entries], strip: [left, 202, third, 28], matrixName: [centre, 96], name: [centre, 190] };
    }),
    title: [keyLeft, 248],
    rows: tokens.map((_token, place) => {
      const centre = first + pitch * (place + 0.5);
      return { key: [keyLeft, centre - 12, keys, 24], word: [keyLeft + keys + 8, centre], share: [room - 2, centre] };
    }),
  };
}

/**
 * The line from a query to a key, as wide as the weight; all of them together are as wide as the query.
 * @param {Box} query @param {Box} key @param {number} offset of its middle from the query's @param {boolean} isUpright
 */
export function writeLinePath([x, y, width, height], key, offset, isUpright) {
  const right = key[0] - 3, end = key[1] + key[3] / 2;
  if (isUpright) {
    const start = x + width / 2 + offset;
    return `M${start} ${y + height + 2}C${start} ${end} ${start} ${end} ${right} ${end}`;
  }
  const left = x + width + 3, start = y + height / 2 + offset, bend = (right + 3 - left) * 0.55;
  return `M${left} ${start}C${left + bend} ${start} ${right - bend} ${end} ${right} ${end}`;
}

/** The arrow from one box to the next, and its head; on a phone a name stands above that. @param {Box} from @param {Box} to @param {boolean} isUpright */
export function writeArrowPath([x, y, width, height], to, isUpright) {
  if (isUpright) {
    const middle = to[0] + to[2] / 2, end = to[1] - 22, at = Math.max(x + 6, Math.min(x + width - 6, middle));
    return `M${at} ${y + height + 3}L${middle} ${end}M${middle - 4} ${end - 5}L${middle} ${end}L${middle + 4} ${end - 5}`;
  }
  const left = x + width + 3, right = to[0] - 5, end = to[1] + to[3] / 2, start = Math.max(y + 6, Math.min(y + height - 6, end)), bend = (right - left) / 2;
  return `M${left} ${start}C${left + bend} ${start} ${right - bend} ${end} ${right} ${end}M${right - 6} ${end - 4}L${right} ${end}L${right - 6} ${end + 4}`;
}
