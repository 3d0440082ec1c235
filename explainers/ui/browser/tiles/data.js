// @ts-check
// What the server sends for many matrices at once (ui/figure/head_tiles.py); a test compares the names.

/** @import { Rgb } from "../common/colours.js" */
/** @import { Words } from "../common/words.js" */

/**
 * @typedef {object} TilesData
 * @property {string} planes all numbers, packed
 * @property {string} digest changes with everything that the picture is built from anew
 * @property {string[]} tokens
 * @property {string[]} across
 * @property {string[]} down
 * @property {string[]} remarks on the names across
 * @property {Words} words
 * @property {string} alt what is seen, in a sentence
 * @property {number} group_size so many tiles down stand together
 * @property {[number, number] | null} selected row and column of a tile
 * @property {boolean} enlarges do tiles grow when they are clicked, or are they chosen?
 * @property {Rgb[]} ramp
 * @property {Rgb} background
 * @property {string} highlight
 */

export {};
