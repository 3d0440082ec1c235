// @ts-check
// Where letters and tokens stand: each letter has a slot of its own in every way to cut, so that cutting moves none.

/** @import { Cut } from "./tokens.js" */

const LEAST = 14, LEAST_ON_PHONE = 12, MOST = 38; // pixels of a slot
const BLANKS = 3; // slots for a token that covers no letter
const ABOVE = 12; // room above the letters
const NAMES = 92; // room for the names of the rows
const ID = 20, POSITION = 17;

/** Slots of each line, none longer than this; a space goes with the word behind it. @param {string[]} letters @param {number} most @returns {[number, number][]} */
function breakLines(letters, most) {
  /** @type {[number, number][]} */
  const lines = [];
  let start = 0, end = 0;
  for (const next of [...letters.keys(), letters.length].filter((at) => at === letters.length || (at > 0 && /^\s/u.test(letters[at])))) {
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

/** @param {number} room @param {string[]} letters @param {Cut[]} cut */
export function placeTokens(room, letters, cut) {
  // What covers no letter stands in slots of its own, before all letters or behind them.
  const bare = cut.filter(([, , start, end]) => start === end), ahead = bare.filter(([, , start]) => start === 0), before = ahead.length * BLANKS;
  const slots = [...Array(before).fill("x"), ...letters, ...Array((bare.length - ahead.length) * BLANKS).fill("x")];
  const hasNames = room >= 760, left = hasNames ? NAMES : 0, across = room - left;
  const broken = balanceLines(slots, Math.max(4, Math.floor(across / (room < 560 ? LEAST_ON_PHONE : LEAST))));
  const count = broken.length, slot = Math.min(MOST, across / Math.max(...broken.map(([start, end]) => end - start)));
  const letter = Math.max(14, Math.min(26, Math.floor(0.97 * slot))), chip = count === 1 ? 40 : 30;
  const strip = count === 1 ? 192 : count === 2 ? (hasNames ? 88 : 104) : count === 3 ? 48 : 32;
  const ids = letter + 10 + chip, strips = ids + ID, step = strips + strip + POSITION + 16;
  const spot = (/** @type {number} */ at) => {
    const found = broken.findIndex(([, end]) => at < end), line = found < 0 ? count - 1 : found, [start, end] = broken[line];
    return { x: left + (at - start) * slot, top: ABOVE + line * step, most: left + (end - start) * slot };
  };
  return {
    letter, chip, strip, hasNames, top: ABOVE, height: ABOVE + count * step - 10,
    /** below a line's top: the middles of letters, ids and positions, the tops of tokens and vectors */
    rows: { letters: letter / 2 + 2, chips: letter + 10, ids: ids + ID / 2 + 1, strips, positions: strips + strip + POSITION / 2 + 1 },
    /** The middle of a letter. @param {number} at */
    letterAt: (at) => spot(at + before + 0.5),
    /** A token reaches to the end of its line at most. @param {Cut} one */
    tokenAt(one) {
      const [, , start, end] = one, isBare = start === end;
      const from = isBare ? (start ? before + letters.length - ahead.length * BLANKS : 0) + bare.indexOf(one) * BLANKS : start + before;
      const { x, top, most } = spot(from), to = isBare ? from + BLANKS : end + before;
      return { x: x + 1.5, top, width: Math.max(2, Math.min(x + (to - from) * slot, most) - x - 3) };
    },
  };
}
