// @ts-check
// Where the words, the ruler, the four dials and the bars of their parts stand.

/** @typedef {import("../stage.js").Stage} Stage */
/** @typedef {{ x: number, y: number }} Point */
/**
 * @typedef {object} Places
 * @property {boolean} isPhone
 * @property {{ size: number, at: Point[] }} words
 * @property {{ left: number, right: number, y: number }} ruler
 * @property {{ centres: Point[], radius: number, width: number, head: number }} dials `head` is as high as the names above them
 * @property {{ columns: number[], width: number, top: number, height: number }} bars the last two columns are the scores
 * @property {{ left: number, top: number } | null} legend on the stage, if there is room
 * @property {Point & { hold: "left" | "middle" | "right" }} before what the dashed lines are
 * @property {number} height
 */

const PAIRS = 4;

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
    const line = lines[lines.length - 1];
    if (line && line.long + gap + width <= stage.room) {
      line.words.push(place);
      line.long += gap + width;
    } else lines.push({ words: [place], long: width });
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

/** @param {Stage} stage @param {string[]} words @returns {Places} */
export function layOutDials(stage, words) {
  const { room } = stage, isPhone = room < 560;
  const sizes = isPhone ? [20, 18, 16] : [25], lines = sizes.map((size) => wrapWords(stage, words, size));
  const line = lines.find(({ at }) => at.every(({ y }) => y === at[0].y)) ?? lines[0];
  const ruler = { left: 14, right: room - 14, y: line.height + (isPhone ? 30 : 24) };
  const top = ruler.y + (isPhone ? 30 : 34);
  if (isPhone) {
    const width = room / 2, radius = 40, head = 20, block = 2 * radius + head + 34;
    const centres = Array.from({ length: PAIRS }, (_one, n) => ({ x: width * ((n % 2) + 0.5), y: top + head + 3 + radius + Math.floor(n / 2) * block }));
    const bars = { columns: columns(6, room, 0), width: 30, top: top + 2 * block + 58, height: 60 };
    const before = { x: room, y: bars.top + bars.height + 14, hold: /** @type {const} */ ("right") };
    return { isPhone, words: line, ruler, dials: { centres, radius, width, head }, bars, legend: null, before, height: before.y + 10 };
  }
  const width = room * 0.187, head = width < 160 ? 56 : 38, radius = Math.min(72, width / 2 - 8), middle = top + head + 4 + radius;
  const centres = Array.from({ length: PAIRS }, (_one, n) => ({ x: width * (n + 0.5), y: middle }));
  const right = room - width * PAIRS, scores = columns(2, right, width * PAIRS);
  const bars = { columns: [...centres.map(({ x }) => x), ...scores], width: 52, top: middle + radius + 60, height: 64 };
  const legend = { left: width * PAIRS + (room < 760 ? 4 : 14), top: top - 2 }, before = { x: room, y: bars.top + bars.height + 12, hold: /** @type {const} */ ("right") };
  return { isPhone, words: line, ruler, dials: { centres, radius, width, head }, bars, legend, before, height: before.y + 8 };
}

/** The middles of columns beside each other. @param {number} count @param {number} room @param {number} left */
function columns(count, room, left) {
  return Array.from({ length: count }, (_one, n) => left + (room / count) * (n + 0.5));
}
