// Colours of numbers; charts/colours.py does the same for files, and a test compares them.

/** @typedef {number[]} Rgb  red, green and blue, each from 0 to 255 */

const INK_TURNS = 0.179; // the luminance at which black and white stand out equally

/** The colour at this share of the way along a ramp. @param {Rgb[]} ramp @param {number} share @returns {Rgb} */
export function mix(ramp, share) {
  const place = Math.min(1, Math.max(0, share)) * (ramp.length - 1);
  const step = Math.min(ramp.length - 2, Math.floor(place));
  return ramp[step].map((low, channel) => Math.round(low + (ramp[step + 1][channel] - low) * (place - step)));
}

/** Black or white, whichever is read better on this colour. @param {Rgb} rgb */
export function chooseInk(rgb) {
  return luminance(rgb) > INK_TURNS ? "#000" : "#fff";
}

/** @param {Rgb} rgb */
function luminance(rgb) {
  const [r, g, b] = rgb.map((c) => c <= 10 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** As a canvas keeps it, four bytes in one number. @param {Rgb} rgb */
export const pixelOf = ([r, g, b]) => ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;

/** A ramp as the background of a legend's bar. @param {Rgb[]} ramp */
export function gradient(ramp) {
  return `linear-gradient(to right, ${ramp.map((rgb) => `rgb(${rgb})`).join(", ")})`;
}

/** @param {string} colour "#rrggbb" or "rgb(…)" @returns {Rgb} */
export function channels(colour) {
  if (colour.startsWith("#")) return [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  return (colour.match(/[\d.]+/g) ?? ["255", "255", "255"]).slice(0, 3).map(Number);
}

/**
 * The background of the theme that an element is shown in. A colour of the element's own may still
 * be on its way there: the first frame would wear what is transparent.
 * @param {HTMLElement} root
 */
export function readBackground(root) {
  return channels(getComputedStyle(root).getPropertyValue("--st-background-color").trim());
}

/** @param {HTMLElement} root @returns {"light" | "dark"} */
export function readTheme(root) {
  const [r, g, b] = readBackground(root);
  return r + g + b > 384 ? "light" : "dark";
}

/**
 * Ask for other colours when the reader has chosen another theme.
 * @param {HTMLElement} root @param {() => Rgb} worn its background, as it was sent @param {() => void} ask
 */
export function watchTheme(root, worn, ask) {
  root.addEventListener("transitionend", ({ target, propertyName }) => {
    if (target === root && propertyName === "background-color" && String(readBackground(root)) !== String(worn())) ask();
  });
}
