// @ts-check
// Where letters stand: each has a slot of its own in every way to cut, so that cutting moves none.

/**
 * @typedef {object} Line
 * @property {number} start the first slot
 * @property {number} end
 * @property {number} top
 */
/**
 * @typedef {object} Places
 * @property {Line[]} lines
 * @property {number} slot its width
 * @property {number} left of the first slot
 * @property {number} letter size of the letters
 * @property {number} chip height of a token
 * @property {number} strip height of a vector
 * @property {number} step from line to line
 * @property {number} height of the picture
 * @property {boolean} hasNames of the rows, at the left
 */

const LEAST = 14, LEAST_ON_PHONE = 12, MOST = 38; // pixels of a slot
const ABOVE = 12; // room above the letters
const NAMES = 92; // room for the names of the rows
export const ID = 20, POSITION = 17;

/**
 * Where a text may be broken: a space goes with the word behind it.
 * @param {string[]} letters
 */
function wordEnds(letters) {
  const ends = letters.flatMap((letter, at) => (at > 0 && /^\s/u.test(letter) ? [at] : []));
  return [...ends, letters.length];
}

/** Slots of each line, none longer than this. @param {string[]} letters @param {number} most @returns {[number, number][]} */
function breakLines(letters, most) {
  /** @type {[number, number][]} */
  const lines = [];
  let start = 0, end = 0;
  for (const next of wordEnds(letters)) {
    if (next - start > most && end > start) { lines.push([start, end]); start = end; }
    while (next - start > most) { lines.push([start, start + most]); start += most; }
    end = next;
  }
  return [...lines, [start, end]];
}

/** As few lines as there is room for, about equally long. @param {string[]} letters @param {number} most @returns {[number, number][]} */
function balanceLines(letters, most) {
  const fewest = breakLines(letters, most).length;
  let limit = Math.ceil(letters.length / fewest);
  while (limit < most && breakLines(letters, limit).length > fewest) limit++;
  return breakLines(letters, limit);
}

/**
 * @param {number} room @param {string[]} letters with blanks for what a model adds at either end
 * @returns {Places}
 */
export function placeLetters(room, letters) {
  const hasNames = room >= 760, names = hasNames ? NAMES : 0, across = room - names;
  const broken = balanceLines(letters, Math.max(4, Math.floor(across / (room < 560 ? LEAST_ON_PHONE : LEAST))));
  const count = broken.length, longest = Math.max(...broken.map(([start, end]) => end - start));
  const slot = Math.min(MOST, across / longest), chip = count === 1 ? 40 : 30;
  const strip = count === 1 ? 192 : count === 2 ? (hasNames ? 88 : 104) : count === 3 ? 48 : 32;
  const letter = Math.max(14, Math.min(26, Math.floor(0.97 * slot))), step = letter + 10 + chip + ID + strip + POSITION + 16;
  return {
    lines: broken.map(([start, end], line) => ({ start, end, top: ABOVE + line * step })),
    slot, left: names, letter, chip, strip, step, height: ABOVE + count * step - 10, hasNames,
  };
}
