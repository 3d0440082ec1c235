// @ts-check
// Numbers in colours as marks of a picture: a strip of them, or a grid of pixels.

/** @import { Mark, Scene } from "./scene.js" */

import { PixelGrid } from "./pixel_grid.js";
import { Strip } from "./strip.js";

/**
 * @typedef {object} Colours
 * @property {string} role the name of their colour
 * @property {number} limit the number with the strongest colour
 * @property {Uint32Array} [ramp] none while the theme is not known
 * @property {string} [name] of what is told
 * @property {boolean} [glides] the numbers go to new ones by and by
 */
/** @typedef {Colours & Pick<Mark, "box" | "opacity" | "is" | "made">} Part */

/**
 * @param {Scene} scene @param {string} key
 * @param {Part & { values: ArrayLike<number>, isColumn?: boolean, length?: number }} strip where it is `length` pixels long there may be room for digits
 * @returns {Mark}
 */
export function markStrip(scene, key, { role, values, limit, ramp = new Uint32Array(), name, glides = false, isColumn, length, ...mark }) {
  const strip = scene.part(key, () => new Strip(scene.stage, key, role, isColumn));
  if (length !== undefined) strip.fit(length, values.length);
  if (name !== undefined) strip.describe(name, values);
  if (glides) return { key, node: strip.node, numbers: Array.from(values), draw: (_node, now) => strip.fill(now, limit, ramp), ...mark };
  strip.fill(values, limit, ramp);
  return { key, node: strip.node, ...mark };
}

/** @param {Scene} scene @param {string} key @param {Part & { rows: number[][] }} grid @returns {Mark} */
export function markPixels(scene, key, { role, rows, limit, ramp = new Uint32Array(), name, glides = false, ...mark }) {
  const grid = scene.part(key, () => new PixelGrid(scene.stage, role)), wide = rows[0].length;
  if (name !== undefined) grid.describe(name);
  const fill = (/** @type {ArrayLike<number>[]} */ now) => grid.fill(now, limit, ramp);
  if (glides) return { key, node: grid.node, numbers: rows.flat(), draw: (_node, now) => fill(rows.map((_row, r) => now.subarray(r * wide, (r + 1) * wide))), ...mark };
  fill(rows);
  return { key, node: grid.node, ...mark };
}
