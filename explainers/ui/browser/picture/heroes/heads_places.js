// @ts-check
// Where everything of the picture of heads stands: rows above one line of words.

import { poster } from "../lanes.js";

/** @typedef {import("../stage.js").Stage} Stage */
/**
 * @typedef {object} RowPlace
 * @property {number} top
 * @property {number} base where arcs begin and end
 * @property {number} high how far the widest arc may reach
 * @property {number} scale of the arcs' widths
 * @property {number} title the depth of the row's name
 * @property {number} right the depth of its switch
 */

const HEIGHT = 430, ABOVE = 22, LABELS = 20, SWITCH = 56, LEAST_PITCH = 34;

/**
 * @param {Stage} stage @param {string[]} words @param {number} heads
 * @param {boolean} hasSingle is a single head above them?
 */
export function placeHeads(stage, words, heads, hasSingle) {
  const { room } = stage, isPhone = room < 560, shown = hasSingle ? heads + 1 : heads;
  const line = placeWords(stage, words, isPhone ? [0, 0] : [92, SWITCH]);
  const below = line.isSlanted ? (isPhone ? 60 : 40) : 0, bottom = 62 + below;
  const pitch = isPhone ? (heads > 4 ? 62 : 70) : Math.max(LEAST_PITCH, (HEIGHT - ABOVE - bottom) / shown);
  const height = isPhone ? ABOVE + 10 + pitch * shown + bottom : Math.max(HEIGHT, ABOVE + bottom + pitch * shown);
  stage.resize(room, height);
  const first = height - bottom - pitch * shown;
  /** @type {RowPlace[]} */
  const rows = Array.from({ length: Math.max(9, heads + 1) }, (_row, at) => {
    const place = hasSingle ? Math.min(at, shown) : at === 0 ? -0.4 : Math.min(at - 1, shown);
    const top = first + pitch * place, base = top + pitch - LABELS;
    const head = isPhone ? 30 : 4;
    return {
      top, base, high: Math.max(10, base - top - head), scale: Math.max(0.32, Math.min(1.2, (pitch - (isPhone ? 26 : 0)) / 104)),
      title: isPhone ? top + 14 : base - 8, right: isPhone ? top + 14 : base - 8,
    };
  });
  const lamp = isPhone ? room - 44 : room - SWITCH + 4;
  const foot = height - bottom, wordDepth = foot + (line.isSlanted ? 8 : 34);
  return { ...line, rows, lamp, foot, wordDepth, digits: heads > 4 ? 13.6 : 14 };
}

/** The words on one line, or slanted where they have no room. @param {Stage} stage @param {string[]} words @param {[number, number]} inset */
export function placeWords(stage, words, inset) {
  const line = poster(stage, words, 32, inset);
  if (line) return { ...line, isSlanted: false, turn: 0 };
  const [left, right] = inset, width = (stage.room - left - right - 42) / words.length; // room for a share at either end
  return { size: 14, widths: stage.widths(words, 14), centres: words.map((_word, at) => left + 30 + width * (at + 0.5)), isSlanted: true, turn: width < 20 ? -80 : -50 };
}
