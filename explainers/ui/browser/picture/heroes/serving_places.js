// @ts-check
// Where the tokens of two prompts lie: in columns as wide as their words, on as many lines as they need.

/** @import { Stage } from "../stage.js" */

/** @typedef {{ x: number, width: number, line: number }} Column */
/**
 * @typedef {object} Line
 * @property {number} from its first token
 * @property {number} to behind its last one
 * @property {number[]} lanes middles of the lanes of prompt 1, of both, and of prompt 2
 * @property {boolean} isSplit has each prompt a lane of its own?
 * @property {number} grid top of the squares
 * @property {number} unit height of a square
 * @property {number} end
 */
/** @typedef {{ columns: Column[], first: Column[], lines: Line[], size: number, gutter: number, fork: string }} Prompts */

const LANE = 33, SIZES = [16, 15, 14.5, 14, 13.5, 13], FORK = 28, PAD = 2.5, GAP = 8, NEXT_LINE = 14;

/**
 * @param {Stage} stage
 * @param {string[][]} columns all words that a token may be
 * @param {string[]} first prompt 1
 * @param {{ block: number, fork: number, layers: number, beginning: number }} form where prompt 2 leaves prompt 1, and how long both are alike if nothing is changed
 * @returns {Prompts}
 */
export function layOutPrompts(stage, columns, first, { block, fork, layers, beginning }) {
  const isPhone = stage.room < 560, gutter = isPhone ? 16 : 64, room = stage.room - gutter;
  const measure = (/** @type {number} */ size) => columns.map((words) => Math.max(...stage.widths(words, size)) + 2 * PAD);
  const sum = (/** @type {number[]} */ some) => some.reduce((all, one) => all + one, 0);
  const size = SIZES.find((one) => sum(measure(one)) + GAP * Math.ceil(columns.length / block) + FORK <= room) ?? (isPhone ? 13 : 15);
  const widths = measure(size), own = stage.widths(first, size).map((width) => width + 2 * PAD);
  /** @type {Column[]} */
  const placed = [];
  let x = gutter, x1 = gutter, line = 0; // prompt 1 goes on where the beginning ends, in columns of its own
  for (let from = 0; from < widths.length; from += block) {
    const inside = widths.slice(from, from + block), wide1 = sum(inside.map((width, at) => from + at < beginning ? width : own[from + at] ?? 0));
    const before = from === fork && fork > 0 ? FORK - GAP : 0;
    if (x > gutter && Math.max(x + sum(inside), x1 + wide1) + before > stage.room) { x = x1 = gutter; line++; }
    x += before;
    x1 += before + wide1 + GAP;
    for (const width of inside) { placed.push({ x, width, line }); x += width; }
    x += GAP;
  }
  const unit = [7, 2.8][line] ?? 1.3;
  let top = 0;
  const lines = Array.from({ length: line + 1 }, (_line, nth) => {
    const from = placed.findIndex((one) => one.line === nth), to = placed.findLastIndex((one) => one.line === nth) + 1;
    const isSplit = to > fork, places = !isSplit ? [0, 0, 0] : from < fork ? [0, 1, 2] : [0, 0.5, 1];
    const lanes = places.map((place) => top + (place + 0.5) * LANE);
    const grid = lanes[2] + LANE / 2 + 6, end = grid + layers * unit;
    top = end + NEXT_LINE;
    return { from, to, lanes, isSplit, grid, unit, end };
  });
  return { columns: placed, first: placeFirst(placed, own, { block, beginning }), lines, size, gutter, fork: drawFork(placed, lines, fork) };
}

/**
 * Prompt 1 goes on in columns of its own where the beginning ends: its words are others.
 * @param {Column[]} columns of prompt 2 @param {number[]} widths @param {{ block: number, beginning: number }} form
 * @returns {Column[]}
 */
function placeFirst(columns, widths, { block, beginning }) {
  /** @type {Column[]} */
  const placed = [];
  widths.forEach((width, at) => {
    const above = columns[at], before = placed[at - 1];
    const isNewLine = !before || (above ? above.line !== before.line : false);
    if (at < beginning || isNewLine) placed.push(above ? { ...above, width: at < beginning ? above.width : width } : { x: 0, width, line: 0 });
    else placed.push({ x: before.x + before.width + (at % block ? 0 : GAP), width, line: before.line });
  });
  return placed;
}

/** Two curves from what is shared to what is not. @param {Column[]} columns @param {Line[]} lines @param {number} fork */
function drawFork(columns, lines, fork) {
  const own = columns[fork];
  if (!fork || !own) return "";
  const { lanes } = lines[own.line], left = own.x - FORK + 6, right = own.x - 4, middle = (left + right) / 2, y = lanes[1];
  return [lanes[0], lanes[2]].map((end) => `M${left} ${y}C${middle} ${y} ${middle} ${end} ${right} ${end}`).join("");
}
