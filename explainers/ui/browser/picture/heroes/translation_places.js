// @ts-check
// Where two sentences stand: as two lines of words, as two columns, or as the sides of a table.

/** @typedef {import("../stage.js").Stage} Stage */
/**
 * @typedef {object} TablePlace
 * @property {number} gutter room for the syllables at the left
 * @property {number} head room for the words above
 * @property {number} side height of a row
 * @property {[number, number][]} columns where each begins, and how wide it is
 * @property {number} above size of the words above
 * @property {number} beside size of the syllables beside
 */
/**
 * @typedef {object} Places
 * @property {number} size of the words
 * @property {boolean} isDown words stand in two columns, lines run across
 * @property {number} full width of all lines of a syllable together: 100 %
 * @property {number[]} words along their line
 * @property {number[]} syllables along theirs
 * @property {number[]} feet how wide the lines may be together where they reach a word
 * @property {{ words: number, syllables: number, wordShare: number, syllableShare: number }} depth of each line
 * @property {number} from where lines leave the syllables
 * @property {number} to where they reach the words
 * @property {TablePlace} table
 */

const LARGEST = 24, SMALLEST = 14, PHONE = 560, INSET = 8;
const LEAST_ROW = 17; // of the table: its digits can be read

/** @param {number[]} list */
const sum = (list) => list.reduce((all, one) => all + one, 0);

/** @param {number} count @param {number} length */
const evenly = (count, length) => Array.from({ length: count }, (_one, at) => 6 + ((length - 12) * (at + 0.5)) / count);

/**
 * Words with equal gaps, not wider apart than reads well.
 * @param {number[]} widths @param {number} room @param {number} most
 */
function spread(widths, room, most) {
  const inner = room - 2 * INSET, gap = Math.min(most, (inner - sum(widths)) / Math.max(1, widths.length - 1));
  let at = INSET + (inner - sum(widths) - gap * (widths.length - 1)) / 2;
  return widths.map((width) => {
    const centre = at + width / 2;
    at += width + gap;
    return centre;
  });
}

/**
 * @param {Stage} stage @param {string[]} words @param {string[]} syllables @param {boolean} isTable
 * @returns {Places}
 */
export function placeSentences(stage, words, syllables, isTable) {
  const { room } = stage, needs = (/** @type {number} */ size) => Math.max(...[words, syllables].map((line) => sum(stage.widths(line, size)) + (line.length - 1) * size * 0.5));
  let size = LARGEST;
  while (size > SMALLEST && needs(size) > room - 2 * INSET) size--;
  const isDown = room < PHONE || needs(size) > room - 2 * INSET;
  const height = isDown ? placeHeight(words, syllables, isTable && room >= PHONE) : isTable ? Math.max(300, 30 + LEAST_ROW * syllables.length) : 264;
  stage.resize(room, height);
  const places = isDown ? placeColumns(stage, words, syllables) : placeLines(stage, words, syllables, size);
  return { ...places, isDown, table: placeTable(stage, words, syllables, isDown) };
}

/** @param {string[]} words @param {string[]} syllables @param {boolean} isWide */
function placeHeight(words, syllables, isWide) {
  const most = Math.max(words.length, syllables.length), row = Math.max(24, Math.min(29, 400 / most));
  return Math.max(12 + row * most, 80 + 20 * syllables.length) + (isWide ? 28 : 0);
}

/** @param {Stage} stage @param {string[]} words @param {string[]} syllables @param {number} size */
function placeLines(stage, words, syllables, size) {
  const { room } = stage, widths = stage.widths(words, size);
  const depth = { words: 40, syllables: 228, wordShare: 11, syllableShare: 254 };
  return {
    size, full: 16, depth,
    words: spread(widths, room, size * 3.2), syllables: spread(stage.widths(syllables, size), room, size * 2),
    feet: widths.map((width) => Math.max(width, 30) + 6),
    // Below: room for the marks above Vietnamese letters.
    to: depth.words + size * 0.5 + 8, from: depth.syllables - size * 0.5 - 11,
  };
}

/** @param {Stage} stage @param {string[]} words @param {string[]} syllables */
function placeColumns(stage, words, syllables) {
  const { room, height } = stage, size = room < PHONE ? 17 : 18;
  const wide = [words, syllables].map((line) => Math.max(...stage.widths(line, size)));
  const total = Math.min(room, wide[0] + wide[1] + 330), left = (room - total) / 2;
  const share = stage.widths(["100\u00a0%"], 15, 700)[0] + 8;
  const depth = { words: left + share + wide[0], syllables: left + total - share - wide[1], wordShare: left + share - 8, syllableShare: left + total };
  return {
    size, full: 12, depth,
    words: evenly(words.length, height), syllables: evenly(syllables.length, height),
    feet: words.map(() => ((height - 12) / words.length) * 0.7 + 6),
    to: depth.words + 8, from: depth.syllables - 8,
  };
}

/** @param {Stage} stage @param {string[]} words @param {string[]} syllables @param {boolean} isDown @returns {TablePlace} */
function placeTable(stage, words, syllables, isDown) {
  const { room, height } = stage, beside = isDown ? 14 : 15, head = isDown ? 78 : 28;
  const gutter = Math.max(...stage.widths(syllables, beside)) + 14;
  const widths = isDown ? words.map(() => 1) : stage.widths(words, 17).map((width) => width + 30), scale = (room - gutter) / sum(widths);
  let at = gutter;
  const columns = widths.map((width) => {
    const column = /** @type {[number, number]} */ ([at, width * scale]);
    at += width * scale;
    return column;
  });
  const unit = stage.widths(words, 1), fits = Math.min(17, ...columns.map(([, width], column) => (width - 5) / unit[column]));
  return { gutter, head, columns, beside, side: (height - head - 2) / syllables.length, above: isDown ? 13 : Math.max(10.5, fits) };
}
