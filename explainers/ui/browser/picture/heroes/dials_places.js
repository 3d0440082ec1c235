// @ts-check
// Where the words, the ruler, the four dials and the bars of their parts stand, and how hands are drawn,
// also between two neighbouring frames.

/** @typedef {import("../stage.js").Stage} Stage */
/** @typedef {{ x: number, y: number }} Point */
/** @typedef {ReturnType<typeof layOutDials>} Places */

export const PAIRS = 4;
const TURN = 2 * Math.PI;

/**
 * Words on as many lines as they need.
 * @param {Stage} stage @param {string[]} words @param {number} largest
 */
function wrapWords(stage, words, largest) {
  const total = stage.widths(words, 1).reduce((sum, one) => sum + one + 0.6, 0);
  const size = Math.max(Math.min(largest, 18), Math.min(largest, Math.floor(stage.room / total)));
  const widths = stage.widths(words, size), gap = size * 0.6, pitch = Math.round(size * 1.75);
  /** @type {{ words: number[], long: number }[]} */
  const lines = [];
  widths.forEach((width, place) => {
    const line = lines[lines.length - 1], long = (line?.long ?? 0) + gap + width;
    if (line && long <= stage.room) Object.assign(line, { words: [...line.words, place], long });
    else lines.push({ words: [place], long: width });
  });
  /** @type {Point[]} */
  const at = [];
  lines.forEach((line, row) => {
    let left = (stage.room - line.long) / 2;
    for (const place of line.words) {
      at[place] = { x: left + widths[place] / 2, y: pitch * (row + 0.5) };
      left += widths[place] + gap;
    }
  });
  return { size, at, height: pitch * lines.length };
}

/** @param {Stage} stage @param {string[]} words */
export function layOutDials(stage, words) {
  const { room } = stage, isPhone = room < 560;
  const sizes = isPhone ? [20, 18, 16] : [25], lines = sizes.map((size) => wrapWords(stage, words, size));
  const line = lines.find(({ at }) => at.every(({ y }) => y === at[0].y)) ?? lines[0];
  const ruler = { left: 14, right: room - 14, y: line.height + (isPhone ? 30 : 24) }, top = ruler.y + (isPhone ? 30 : 34);
  const width = room * (isPhone ? 0.5 : 0.187), radius = isPhone ? 40 : Math.min(72, width / 2 - 8);
  const head = isPhone ? 20 : width < 160 ? 56 : 38; // as high as the names above the dials
  const middle = top + head + (isPhone ? 3 : 4) + radius, block = 2 * radius + head + 34, right = width * PAIRS;
  const centres = Array.from({ length: PAIRS }, (_one, n) => (isPhone ? { x: width * ((n % 2) + 0.5), y: middle + Math.floor(n / 2) * block } : { x: width * (n + 0.5), y: middle }));
  // The last two columns are the scores.
  const bars = isPhone
    ? { columns: columns(6, room, 0), width: 30, top: top + 2 * block + 58, height: 60 }
    : { columns: [...centres.map(({ x }) => x), ...columns(2, room - right, right)], width: 52, top: middle + radius + 60, height: 64 };
  const before = { x: room, y: bars.top + bars.height + (isPhone ? 14 : 12) }; // what the dashed lines are
  const legend = isPhone ? null : { left: right + (room < 760 ? 4 : 14), top: top - 2 }; // on the stage, if there is room
  return { isPhone, words: line, ruler, dials: { centres, radius, width, head }, bars, legend, before, height: before.y + (isPhone ? 10 : 8) };
}

/** The middles of columns beside each other. @param {number} count @param {number} room @param {number} left */
function columns(count, room, left) {
  return Array.from({ length: count }, (_one, n) => left + (room / count) * (n + 0.5));
}

/** Numbers between two neighbouring frames. @param {(at: number) => number[]} frame @param {number} at @param {(step: number) => number} [way] */
export function between(frame, at, way = (step) => step) {
  const lower = Math.floor(at), share = at - lower, one = frame(lower), next = share ? frame(lower + 1) : one;
  return one.map((value, n) => value + share * way(next[n] - value));
}

/** @param {number} angle */
const shortWay = (angle) => angle - TURN * Math.round(angle / TURN);

/** Directions between two neighbouring frames, the short way around. @param {number[][]} frames @param {number} at */
export const turned = (frames, at) => between((frame) => frames[frame], at, shortWay);

/** An arrow from a middle. @param {number} x @param {number} y @param {number} long @param {number} angle @param {number} thick */
export function writeHandPath(x, y, long, angle, thick) {
  const [across, up] = [Math.cos(angle), -Math.sin(angle)], half = thick / 2, head = thick * 1.7;
  const point = (/** @type {number} */ along, /** @type {number} */ aside) => `${(x + along * across - aside * up).toFixed(1)} ${(y + along * up + aside * across).toFixed(1)}`;
  const neck = long - 2 * head;
  return `M${point(0, half)}L${point(neck, half)}L${point(neck, head)}L${point(long, 0)}L${point(neck, -head)}L${point(neck, -half)}L${point(0, -half)}Z`;
}

/** What lies between two hands. @param {number} x @param {number} y @param {number} radius @param {number} from @param {number} to */
export function writeWedgePath(x, y, radius, from, to) {
  const [start, end] = [from, to].map((angle) => `${(x + radius * Math.cos(angle)).toFixed(1)} ${(y - radius * Math.sin(angle)).toFixed(1)}`);
  return `M${x} ${y}L${start}A${radius} ${radius} 0 0 ${shortWay(to - from) > 0 ? 0 : 1} ${end}Z`;
}
