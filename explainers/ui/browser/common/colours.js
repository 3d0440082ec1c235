// @ts-check
// Colours of numbers; charts/colours.py does the same for files, and a test compares them.

/** @typedef {number[]} Rgb  red, green and blue, each from 0 to 255 */

const TRANSPARENT = "rgba(0, 0, 0, 0)";
const INK_TURNS = 0.179; // the luminance at which black and white stand out equally

/**
 * The colour at this share of the way along a ramp.
 * @param {Rgb[]} ramp
 * @param {number} share
 * @returns {Rgb}
 */
export function mix(ramp, share) {
  const place = Math.min(1, Math.max(0, share)) * (ramp.length - 1);
  const step = Math.min(ramp.length - 2, Math.floor(place));
  return ramp[step].map((low, channel) => Math.round(low + (ramp[step + 1][channel] - low) * (place - step)));
}

/**
 * Black or white, whichever is read better on this colour.
 * @param {Rgb} rgb
 */
export function chooseInk(rgb) {
  return luminance(rgb) > INK_TURNS ? "#000" : "#fff";
}

/** @param {Rgb} rgb */
function luminance(rgb) {
  const [r, g, b] = rgb.map((c) => c <= 10 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/**
 * A ramp as the background of a legend's bar.
 * @param {Rgb[]} ramp
 */
export function gradient(ramp) {
  return `linear-gradient(to right, ${ramp.map((rgb) => `rgb(${rgb})`).join(", ")})`;
}

/** Which theme an element is shown in; before the theme's variables are there, none. @param {HTMLElement} root @returns {"light" | "dark" | ""} */
export function readTheme(root) {
  const { backgroundColor } = getComputedStyle(root);
  if (backgroundColor === TRANSPARENT) return "";
  const [r, g, b] = (backgroundColor.match(/[\d.]+/g) ?? []).map(Number);
  return r + g + b > 384 ? "light" : "dark";
}
