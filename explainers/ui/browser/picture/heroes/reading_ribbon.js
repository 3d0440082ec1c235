// @ts-check
// The ribbon itself: bars of one query's weights, and below them the keys that are kept, on one canvas.

/**
 * @typedef {object} Drawn
 * @property {import("../stage.js").Stage} stage
 * @property {Record<"bar" | "missed" | "query" | "quiet", string>} colours
 * @property {number} count of the tokens
 * @property {number} query
 * @property {ArrayLike<number>} shares of the highest bar
 * @property {number} base of the highest bars
 * @property {number} tall the room above it
 * @property {{ top: number, kept: Set<number>, marks: ArrayLike<number>, strength: number }[]} lines marks: as far as they have walked
 */

export const BAND = 30; // pixels of a line's bars and marks
const MARKS = 9, SEEN = 3; // pixels of marks, and of a bar that is to be seen

/** @param {HTMLCanvasElement} canvas @param {Drawn} drawn */
export function drawRibbon(canvas, { stage: { room, height }, colours, count, query, shares, base, tall, lines }) {
  const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d")), step = room / count, wide = Math.max(1, step - 0.25), ratio = Math.max(1, devicePixelRatio);
  const size = { width: Math.round(room * ratio), height: Math.round(height * ratio) };
  if (canvas.width !== size.width || canvas.height !== size.height) Object.assign(canvas, size);
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, room, height);

  /** @param {string} colour @param {number} strength @param {number} x @param {number} y @param {number} width @param {number} high */
  const fill = (colour, strength, x, y, width, high) => {
    pen.globalAlpha = strength;
    pen.fillStyle = colour;
    pen.fillRect(x, y, width, high);
  };
  /** @param {number} foot @param {number} most @param {Set<number>} [kept] */
  const drawBars = (foot, most, kept) => {
    for (let key = 0; key <= query; key++) {
      const high = most * (shares[key] ?? 0), thick = high > 2 ? Math.max(wide, SEEN) : wide;
      if (high >= 0.4) fill(!kept || kept.has(key) ? colours.bar : colours.missed, 1, (key + 0.5) * step - thick / 2, foot - high, thick, high);
    }
  };
  /** The query's place, and the tokens behind it, which it does not see. @param {number} from @param {number} to */
  const drawQuery = (from, to) => {
    fill(colours.query, 1, (query + 0.5) * step - 1, from, 2, to - from);
    if (query + 1 >= count) return;
    pen.save();
    pen.beginPath();
    pen.rect((query + 1) * step + 1, from, room, to - from);
    pen.clip();
    pen.globalAlpha = 0.22;
    pen.strokeStyle = colours.quiet;
    for (let at = (query + 1) * step - (to - from); at < room; at += 6) {
      pen.beginPath();
      pen.moveTo(at, to);
      pen.lineTo(at + to - from, from);
      pen.stroke();
    }
    pen.restore();
  };

  fill(colours.quiet, 0.07, 0, base, room, 1.5);
  drawBars(base, tall - 20);
  drawQuery(base - tall + 8, base);
  for (const { top, kept, marks, strength } of lines) {
    fill(colours.quiet, 0.07, 0, top + BAND - MARKS, (query + 1) * step, MARKS);
    drawBars(top + BAND - MARKS - 2, BAND - MARKS - 2, kept);
    for (let mark = 0; mark < marks.length; mark++) fill(colours.bar, strength, marks[mark] * step, top + BAND - MARKS, wide, MARKS);
    drawQuery(top, top + BAND);
  }
}
