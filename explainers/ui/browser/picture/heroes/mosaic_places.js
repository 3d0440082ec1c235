// @ts-check
// Where the squares of all heads are, the chosen one enlarged, and the words of its arcs.

/** @typedef {import("../stage.js").Stage} Stage */
/** @typedef {{ left: number, top: number, size: number, gap: number }} Grid squares, and the gap between families of heads */
/**
 * @typedef {object} Places
 * @property {number} height
 * @property {Grid} grid
 * @property {{ left: number, top: number, side: number } | null} large
 * @property {{ left: number, top: number, width: number }} note
 * @property {{ left: number, top: number, base: number, high: number, step: number, size: number, shares: number, width: number }} strip
 */

const PHONE = 560, LABELS = 22, LARGEST_SQUARE = 48, LARGE = 164, FAMILY_GAP = 4, HEIGHT = 404, SHARE = 58;

/**
 * @param {Stage} stage @param {string[]} tokens @param {{ layers: number, heads: number, group: number }} model
 * @returns {Places}
 */
export function placeMosaic(stage, tokens, { layers, heads, group }) {
  const { room } = stage, isPhone = room < PHONE, width = isPhone ? room : Math.round(room * 0.6);
  const gaps = group > 1 ? (heads / group - 1) * FAMILY_GAP : 0, inner = width - LABELS;
  const fit = (/** @type {number} */ wide, /** @type {number} */ high) =>
    Math.min(LARGEST_SQUARE, wide / layers, (high - gaps) / heads);
  const below = fit(inner, isPhone ? 190 : HEIGHT - LABELS - LARGE - 44), beside = fit(inner - LARGE - 24, HEIGHT - LABELS);
  const isBeside = !isPhone && beside > below, size = Math.max(2, isBeside ? beside : below);
  const grid = { left: LABELS, top: LABELS, size, gap: gaps ? FAMILY_GAP : 0 };
  const foot = grid.top + heads * size + gaps, across = grid.left + layers * size;
  const large = isPhone ? null : isBeside
    ? { left: Math.min(across + 24, width - LARGE), top: LABELS + 24, side: LARGE }
    : { left: LABELS, top: foot + 42, side: LARGE };
  const note = large && !isBeside
    ? { left: large.left + LARGE + 22, top: large.top, width: width - large.left - LARGE - 34 }
    : { left: large ? large.left : 0, top: large ? large.top + LARGE + 14 : foot + 8, width: large ? LARGE : room };
  const stripTop = isPhone ? foot + 62 : 0, left = isPhone ? 0 : width + 14;
  return { grid, large, note, ...placeStrip(stage, tokens, { left, top: stripTop, width: room - left, isPhone }) };
}

/** @param {Stage} stage @param {string[]} tokens @param {{ left: number, top: number, width: number, isPhone: boolean }} area */
function placeStrip(stage, tokens, { left, top, width, isPhone }) {
  const tallest = isPhone ? 34 : 46, most = (isPhone ? 420 : HEIGHT - 46) / tokens.length;
  const step = Math.max(15, Math.min(tallest, most));
  let size = Math.max(13, Math.min(isPhone ? 20 : 22, Math.floor(step * 0.62)));
  const longest = (/** @type {number} */ at) => Math.max(...stage.widths(tokens, at));
  while (size > 13 && longest(size) > width - SHARE - 90) size--;
  const words = Math.min(longest(size), width - SHARE - 40), high = Math.min(170, width - SHARE - words - 14);
  const base = left + width - SHARE - words - 10;
  const strip = { left, top, base, high, step, size, shares: left + width - 4, width };
  return { strip, height: Math.max(isPhone ? 0 : HEIGHT, top + 40 + step * tokens.length) };
}
