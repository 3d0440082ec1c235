// @ts-check
// Where the squares of all heads are, the chosen one enlarged, and the words of its arcs.

/** @typedef {import("../stage.js").Stage} Stage */
/** @typedef {ReturnType<typeof placeMosaic>} Places */

const PHONE = 560, LABELS = 22, LARGEST_SQUARE = 48, LARGE = 164, FAMILY_GAP = 4, HEIGHT = 404, SHARE = 58, TITLE = 36;

/** @param {Stage} stage @param {string[]} tokens @param {{ layers: number, heads: number, group: number }} model */
export function placeMosaic(stage, tokens, { layers, heads, group }) {
  const { room } = stage, isPhone = room < PHONE, width = isPhone ? room : Math.round(room * 0.6);
  const gaps = group > 1 ? (heads / group - 1) * FAMILY_GAP : 0, across = width - LABELS;
  const fit = (/** @type {number} */ wide, /** @type {number} */ high) => Math.min(LARGEST_SQUARE, wide / layers, (high - gaps) / heads);
  const below = fit(across, isPhone ? 190 : HEIGHT - LABELS - LARGE - 44), beside = fit(across - LARGE - 24, HEIGHT - LABELS);
  const isBeside = !isPhone && beside > below, size = Math.max(2, isBeside ? beside : below), inner = size - Math.max(1, size / 12);
  /** Where a row of squares begins; between families of heads is a gap. @param {number} head */
  const depth = (head) => LABELS + head * size + (gaps ? FAMILY_GAP : 0) * Math.floor(head / group);
  const grid = { left: LABELS, top: LABELS, size, inner, width: layers * size, height: depth(heads - 1) + size - LABELS }, foot = LABELS + heads * size + gaps;
  const large = isPhone ? null : isBeside
    ? { left: Math.min(LABELS + grid.width + 24, width - LARGE), top: LABELS + 24, side: LARGE }
    : { left: LABELS, top: foot + 42, side: LARGE };
  const note = large && !isBeside
    ? { left: large.left + LARGE + 22, top: large.top, width: width - large.left - LARGE - 34 }
    : { left: large ? large.left : 0, top: large ? large.top + LARGE + 14 : foot + 8, width: large ? LARGE : room };
  const { strip, height } = placeStrip(stage, tokens, { left: isPhone ? 0 : width + 14, top: isPhone ? foot + 62 : 0, isPhone });
  stage.resize(room, height);
  return { grid, depth, large, note, strip };
}

/** @param {Stage} stage @param {string[]} tokens @param {{ left: number, top: number, isPhone: boolean }} area */
function placeStrip(stage, tokens, { left, top, isPhone }) {
  const right = stage.room, width = right - left, most = (isPhone ? 420 : HEIGHT - 46) / tokens.length, step = Math.max(15, Math.min(isPhone ? 34 : 46, most));
  let size = Math.max(13, Math.min(isPhone ? 20 : 22, Math.floor(step * 0.62)));
  const longest = (/** @type {number} */ at) => Math.max(...stage.widths(tokens, at));
  while (size > 13 && longest(size) > width - SHARE - 90) size--;
  const words = Math.min(longest(size), width - SHARE - 40), high = Math.min(170, width - SHARE - words - 14);
  const strip = { right, top, base: right - SHARE - words - 10, high, step, size, centres: tokens.map((_token, place) => top + TITLE + (place + 0.5) * step) };
  return { strip, height: Math.max(isPhone ? 0 : HEIGHT, top + 40 + step * tokens.length) };
}
