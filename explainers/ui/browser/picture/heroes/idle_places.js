// @ts-check
// Where everything stands in the picture of letters: arcs, the letters, what is told of them, two bars.

/** @typedef {import("../stage.js").Stage} Stage */
/** @typedef {[number, number]} Point */

const FACTS = 216, NAMES = 116; // the width of the numbers at the right, and of the bars' names

/** @param {Stage} stage @param {string[]} letters */
export function placeIdle(stage, letters) {
  const { room } = stage, isPhone = room < 560;
  stage.resize(room, isPhone ? 474 : 386);
  const right = isPhone ? 0 : room < 760 ? 186 : FACTS, left = isPhone ? 14 : 26;
  const pitch = (room - right - left - (isPhone ? 4 : 16)) / (letters.length - 0.5);
  const centres = letters.map((_letter, place) => left + pitch * (place ? place + 0.35 : 0));
  const size = Math.min(28, Math.max(14, pitch * 0.86));
  const base = isPhone ? 138 : 196;
  const facts = Array.from({ length: 3 }, (_fact, at) => (isPhone
    ? { number: /** @type {Point} */ ([room - 2, 392 + 28 * at]), name: /** @type {Point} */ ([2, 392 + 28 * at]) }
    : { number: /** @type {Point} */ ([room - 2, 26 + 74 * at]), name: /** @type {Point} */ ([room - 2, 50 + 74 * at]) }));
  const first = isPhone ? 222 : 274, step = isPhone ? 62 : 44;
  const bars = Array.from({ length: 2 }, (_bar, row) => {
    const y = first + step * row;
    return { left: isPhone ? 0 : NAMES, y, height: 32, name: /** @type {Point} */ (isPhone ? [0, y - 13] : [0, y + 16]), gate: /** @type {Point} */ ([room - 2, y - 13]) };
  });
  return {
    isPhone, centres, size, base, bars, facts, high: isPhone ? 92 : 138, scale: isPhone ? 0.26 : 0.38,
    letters: base + (isPhone ? 20 : 26), shares: base + (isPhone ? 43 : 52), barsEnd: room - 2, gate: 124,
    legend: { x: isPhone ? 2 : NAMES, y: isPhone ? 342 : 374 },
  };
}
