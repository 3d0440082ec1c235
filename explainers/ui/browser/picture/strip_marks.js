// Numbers as colours: a strip of them with their digits, where there is room, or a matrix of pixels.

/** @import { Mark } from "./scene.js" */

import { penOf, setText } from "../common/elements.js";
import { digits } from "../common/numbers.js";
import { _ } from "../common/words.js";
import { level, rampOf } from "./palette.js";

const SIGN_NEEDS = 5.75; // pixels, a point being narrower than a digit
const MOST_TOLD = 64; // numbers that are told one by one
const DIGITS_NEED = 4 * SIGN_NEEDS; // of a stripe in which "−1.2" can be read

/**
 * @typedef {object} Coloured
 * @property {string} role its colour's name
 * @property {string} [name] that it is told by, if its numbers are not told elsewhere
 * @property {[x: number, y: number, width: number, height: number]} box
 * @property {number} limit the number with the strongest colour
 * @property {number} [pointed] the number, or the column of the matrix, that is framed
 * @property {boolean} [still] numbers do not glide
 */

/**
 * A row of numbers as stripes of colour, with their digits where there is room for them.
 * @param {string} key
 * @param {Coloured & { numbers: number[], isColumn?: boolean, places?: number, hasDigits?: boolean, length?: number }} strip do its numbers stand below each other?
 *   so many places after the point; may they be written? `length` that digits must fit into, where its box is smaller or larger for a while
 * @param {Partial<Mark>} [besides] what its mark has besides
 * @returns {Mark}
 */
export function markStrip(key, { role, name, box, limit, pointed, still, numbers, isColumn = false, places = 1, hasDigits = true, length = box[isColumn ? 3 : 2] }, besides = {}) {
  const count = numbers.length, each = length / count, mostSigns = isColumn ? Infinity : each / SIGN_NEEDS;
  const draw = (/** @type {HTMLElement} */ node, /** @type {ArrayLike<number>} */ now) => {
    const [canvas, told] = node.children;
    colour(/** @type {HTMLCanvasElement} */ (canvas), now, isColumn ? 1 : count, limit, role);
    for (const [at, cell] of [...told.children].entries()) {
      const exact = digits(now[at], places), text = exact.length > mostSigns ? digits(now[at], 0) : exact;
      setText(cell, text);
      cell.classList.toggle("strong", Math.abs(now[at]) > 0.62 * limit);
    }
  };
  const cells = !hasDigits || each < (isColumn ? 15 : DIGITS_NEED) ? [] : numbers.map((_number, at) => ({ is: { pointed: at === pointed } }));
  const parts = [{ tag: "canvas" }, { class: "told", is: { column: isColumn }, parts: cells }];
  return { ...dress("strip", { ...besides, key, box }, role, name && tellNumbers(name, numbers)), ...put(numbers, draw, still), parts };
}

/** A matrix too small for its digits: a pixel of colour for each number. @param {string} key @param {Coloured & { rows: number[][] }} grid @param {Partial<Mark>} [besides] @returns {Mark} */
export function markPixels(key, { role, name, box, limit, pointed, still, rows }, besides = {}) {
  const count = rows[0].length, style = { left: `${(100 * (pointed ?? 0)) / count}%`, width: `${100 / count}%` };
  return {
    ...dress("pixel-grid", { ...besides, key, box }, role, name),
    ...put(rows.flat(), (node, now) => colour(/** @type {HTMLCanvasElement} */ (node.firstChild), now, count, limit, role), still),
    parts: [{ tag: "canvas" }, ...(pointed === undefined ? [] : [{ class: "column", style }])],
  };
}

/** @param {string} kind @param {Mark} mark @param {string} role @param {string | undefined} told @returns {Mark} */
function dress(kind, mark, role, told) {
  return {
    ...mark, class: `${kind} ${mark.class ?? ""}`.trim(), style: { "--role": `var(--${role})`, ...mark.style }, attributes: { role: "img", "aria-label": told, ...mark.attributes },
  };
}

/** Numbers that glide, or stand there at once. @param {number[]} numbers @param {(node: HTMLElement, now: ArrayLike<number>) => void} draw @param {boolean} [still] @returns {Pick<Mark, "numbers" | "draw" | "fill">} */
function put(numbers, draw, still) {
  return still ? { fill: (node) => draw(node, numbers) } : { numbers, draw };
}

/** @param {HTMLCanvasElement} canvas @param {ArrayLike<number>} numbers @param {number} width @param {number} limit @param {string} role */
function colour(canvas, numbers, width, limit, role) {
  if (!numbers.length) return;
  const pen = penOf(canvas), height = numbers.length / width, ramp = rampOf(canvas, role);
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  const image = pen.createImageData(width, height), pixels = new Uint32Array(image.data.buffer);
  for (let at = 0; at < pixels.length; at++) pixels[at] = level(ramp, numbers[at], limit);
  pen.putImageData(image, 0, 0);
}

/** A row of numbers in words. @param {string} name @param {number[]} numbers */
export function tellNumbers(name, numbers) {
  if (numbers.length <= MOST_TOLD) return `${name}: ${numbers.map((value) => digits(value)).join(" ")}`;
  const [low, high] = [Math.min(...numbers), Math.max(...numbers)].map((value) => digits(value));
  return _("{name}: {count} numbers from {low} to {high}", { name, count: numbers.length, low, high });
}
