// @ts-check
// Where everything of the picture of heads stands: rows above one line of words, votes at their right.

import { poster } from "../lanes.js";

/** @typedef {import("../stage.js").Stage} Stage */
/**
 * @typedef {object} RowPlace
 * @property {number} top
 * @property {number} base where arcs begin and end
 * @property {number} high how far the widest arc may reach
 * @property {number} scale of the arcs' widths
 * @property {number} title the depth of the row's name
 * @property {number} right the depth of its switch and its votes
 */

const HEIGHT = 430, ABOVE = 22, LABELS = 20, SWITCH = 56, LEAST_PITCH = 34;

/**
 * @param {Stage} stage @param {string[]} words @param {number} columns of votes @param {number} heads
 * @param {boolean} hasSingle is a single head above them?
 */
export function placeHeads(stage, words, columns, heads, hasSingle) {
  const { room } = stage, isPhone = room < 560, shown = hasSingle ? heads + 1 : heads;
  const column = isPhone ? Math.min(80, (room - 124) / Math.max(1, columns)) : room < 760 ? 72 : 88;
  const right = SWITCH + column * columns, left = isPhone ? 0 : 92;
  const line = placeWords(stage, words, isPhone ? [0, 0] : [left, right]);
  const below = line.isSlanted ? (isPhone ? 60 : 40) : 0, bottom = 78 + below + (isPhone ? 46 : 0);
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
  const lamp = isPhone ? room - 44 : room - right + 4;
  const start = isPhone ? room - 52 - column * columns : room - column * columns;
  const foot = height - bottom, wordDepth = foot + (line.isSlanted ? 8 : 34);
  return {
    ...line, rows, lamp, foot, wordDepth,
    columns: Array.from({ length: columns }, (_column, at) => start + column * (at + 0.5)),
    header: isPhone ? 14 : Math.max(9, rows[hasSingle ? 0 : 1].right - 34),
    wordSize: isPhone ? 13 : 15, digits: heads > 4 ? 13.6 : 14,
    biasDepth: isPhone ? height - 60 : foot + 10, sumDepth: isPhone ? height - 36 : foot + 36, othersDepth: height - 12,
  };
}

/** The words on one line, or slanted where they have no room. @param {Stage} stage @param {string[]} words @param {[number, number]} inset */
export function placeWords(stage, words, inset) {
  const line = poster(stage, words, 32, inset);
  if (line) return { ...line, isSlanted: false, turn: 0 };
  const [left, right] = inset, width = (stage.room - left - right - 42) / words.length; // room for a share at either end
  return { size: 14, widths: stage.widths(words, 14), centres: words.map((_word, at) => left + 30 + width * (at + 0.5)), isSlanted: true, turn: width < 20 ? -80 : -50 };
}
