// What the server sends for many matrices at once (ui/figure/head_tiles.py); a test compares the names.

/** @import { Rgb } from "../common/colours.js" */
/** @import { Translations } from "../common/words.js" */

/**
 * @typedef {object} TilesData
 * @property {string} planes all numbers, packed
 * @property {string} digest changes with everything that the picture is built from anew
 * @property {string[]} tokens
 * @property {string[]} across
 * @property {string[]} down
 * @property {Translations} words
 * @property {string} alt what is seen, in a sentence
 * @property {Rgb[]} ramp
 * @property {Rgb} background
 * @property {string} highlight
 */

export {};
