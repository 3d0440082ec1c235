// Colours of a picture: the server names them for both themes, the browser knows which one it shows.

import { channels, mix, pixelOf, readBackground, readTheme } from "../common/colours.js";

/**
 * @typedef {object} Look the colours of one theme: charts/theme.py
 * @property {string} query
 * @property {string} key
 * @property {string} value
 * @property {string} input above 0, of what a token is made of
 * @property {string} inputBelow
 * @property {string} below 0, of queries, keys and values
 * @property {string} wrong
 * @property {string} deep the largest weight in a matrix
 * @property {string[]} heads weights of each head; the first also stands for weights at all
 */

/** @typedef {{ light: Look, dark: Look }} Looks */

const GAMMA = 0.8; // small numbers are seen, large ones still differ
const LEVELS = 255;

/** @typedef {{ look: Look, background: number[] }} Dress */

/** The colours of a theme on a root, as custom properties, for its stylesheet. @param {HTMLElement} root @param {Looks} looks @returns {Dress} */
export function dress(root, looks) {
  const background = readBackground(root), look = looks[readTheme(root)];
  const { heads, ...single } = look;
  for (const [name, colour] of Object.entries(single)) root.style.setProperty(`--${name}`, colour);
  heads.forEach((colour, h) => root.style.setProperty(`--head${h}`, colour));
  const ramp = (/** @type {string} */ above, below = look.below) => makeRamp(background, [below, above].map(channels));
  ramps.set(root, { input: ramp(look.input, look.inputBelow), query: ramp(look.query), key: ramp(look.key), value: ramp(look.value), head0: ramp(heads[0]) });
  return { look, background };
}

/** @typedef {Record<string, Uint32Array>} Ramps  of each role, the colour of every level from the lowest number to the highest, 0 as the background */

/** @type {WeakMap<Element, Ramps>} of the pictures that wear them */
const ramps = new WeakMap();

/** The colours of a role in the picture that something stands in. @param {Element} node @param {string} role */
export const rampOf = (node, role) => /** @type {Ramps} */ (ramps.get(/** @type {Element} */ (node.closest(".hero"))))[role];

/** @param {number[]} background @param {number[][]} ends below and above it */
function makeRamp(background, ends) {
  return Uint32Array.from({ length: 2 * LEVELS + 1 }, (_, at) => {
    const level = (at - LEVELS) / LEVELS;
    return pixelOf(mix([background, ends[level < 0 ? 0 : 1]], Math.abs(level) ** GAMMA));
  });
}

/** @param {Uint32Array} ramp @param {number} value @param {number} limit */
export function level(ramp, value, limit) {
  return ramp[Math.max(0, Math.min(2 * LEVELS, Math.round(LEVELS + (LEVELS * value) / limit)))];
}
