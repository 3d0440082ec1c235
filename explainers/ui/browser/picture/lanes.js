// Where the words of a sentence stand: large on one line, as lanes above columns of numbers, or, where
// that is too narrow, as rows below each other.

import { sum } from "../common/numbers.js";

/** @import { Stage } from "./stage.js" */
/** @typedef {{ size: number, widths: number[], centres: number[] }} Line  words beside each other, and the size of their letters */
/** @typedef {Line & { gutter: number, lengths: number[], strip: number }} Lanes  `lengths` of the lanes, `strip` of what fits into the narrowest, `gutter` for names at the left */
/** @typedef {Line & { left: number, pitch: number, strip: number, head: number }} Rows  words below each other */

/**
 * The sentence as large as it fits.
 * @param {Stage} stage @param {string[]} words @param {number} largest
 * @param {[number, number]} [inset] room that is left free at the left and at the right
 * @returns {Line | null} nothing where not even small letters fit
 */
export function poster(stage, words, largest = 42, [left, right] = [0, 0]) {
  for (let size = largest; size >= 14; size--) {
    const widths = stage.widths(words, size), gap = size * 0.46, room = stage.room - left - right - 24;
    if (sum(widths) + gap * (words.length - 1) > room) continue;
    const air = Math.min(gap * 1.9, (room - sum(widths)) / Math.max(1, words.length - 1));
    let at = left + (room + 24 - sum(widths) - air * (words.length - 1)) / 2;
    const centres = widths.map((width) => { const centre = at + width / 2; at += width + air; return centre; });
    return { size, widths, centres };
  }
  return null;
}

/**
 * Where each of the words begins, and on which line: as many lines as they need.
 * @param {number[]} widths @param {number[]} gaps before each, but for the first of a line @param {number} room
 */
export function flow(widths, gaps, room) {
  let end = 0, line = 0;
  return widths.map((width, at) => {
    const x = end && end + gaps[at];
    if (!end || x + width <= room) end = x + width;
    else { end = width; line++; }
    return { x: end - width, line };
  });
}

/** The words on one line, or slanted where they have no room. @param {Stage} stage @param {string[]} words @param {[number, number]} inset */
export function placeWords(stage, words, inset) {
  const line = poster(stage, words, 32, inset);
  if (line) return { ...line, isSlanted: false, turn: 0 };
  const [left, right] = inset, width = (stage.room - left - right - 42) / words.length; // room for a share at either end
  return { size: 14, widths: stage.widths(words, 14), centres: words.map((_word, at) => left + 30 + width * (at + 0.5)), isSlanted: true, turn: width < 20 ? -80 : -50 };
}

/**
 * A lane for each word, as wide as its word, and with room for a strip of numbers.
 * @param {Stage} stage @param {string[]} words
 * @returns {Lanes | null} nothing where the words would have to stand below each other
 */
export function lanes(stage, words) {
  const gutter = Math.min(stage.room * 0.2, Math.max(stage.room < 760 ? 88 : 108, Math.max(...stage.widths(words, 15)) + 28));
  const room = stage.room - gutter;
  for (let size = 26; size >= 14; size--) {
    const widths = stage.widths(words, size), least = Math.min(120, (0.86 * room) / words.length);
    const lengths = (/** @type {number} */ gap) => widths.map((width) => Math.max(least, width + gap));
    if (least < 44 || sum(lengths(12)) > room) continue;
    let low = 12, high = 300;
    for (let turn = 0; turn < 30; turn++) {
      const middle = (low + high) / 2;
      if (sum(lengths(middle)) > room) high = middle; else low = middle;
    }
    const own = lengths(low);
    let at = gutter;
    const centres = own.map((length) => (at += length) - length / 2);
    return { size, widths, centres, gutter, lengths: own, strip: Math.min(...own) - 12 };
  }
  return null;
}

/**
 * A row for each word, for phones and for long sentences.
 * @param {Stage} stage @param {string[]} words @param {number} head room above the rows @returns {Rows}
 */
export function rows(stage, words, head = 40) {
  const size = words.length > 12 ? 13 : 15, widths = stage.widths(words, size), pitch = words.length > 9 ? 30 : 42;
  const left = Math.min(Math.max(...widths) + 14, stage.room * 0.34);
  const centres = words.map((_, place) => head + pitch * (place + 0.5));
  return { size, widths, centres, left, pitch, strip: Math.min(22, pitch - 10), head };
}
