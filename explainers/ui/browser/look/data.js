// @ts-check
// What a picture of all heads is drawn from: notebook/look.py and notebook/packed_heads.py.

/** @import { Looks } from "../picture/palette.js" */
/** @import { Words } from "../common/words.js" */

/** @typedef {{ mask: number, codes: string }} PackedCodes a byte for each pair that `masks[mask]` allows, key by key */
/** @typedef {PackedCodes & { heads: number, group: number, first: number[] }} PackedLayer `first`: each head's mean weight on the first token */
/**
 * @typedef {object} Role
 * @property {string} name
 * @property {string} meaning
 * @property {number} threshold
 * @property {number} chance the best score of heads whose weights were shuffled
 * @property {[number, number, number][]} heads layer, head and score, the best first
 */
/**
 * @typedef {object} LookData
 * @property {string} model
 * @property {string} kind "encoder" where a decoder is left out
 * @property {string[]} tokens or words
 * @property {number} pieces how many tokens the text has
 * @property {number} side rows that each head is sent with: fewer than tokens in an overview
 * @property {number[]} names of the layers
 * @property {PackedLayer[]} layers
 * @property {Record<string, PackedCodes>} full layers that are also sent in full
 * @property {{ side: number, allowed: string }[]} masks
 * @property {[number, number, number][]} telling layers, heads and queries worth a look, the best first
 * @property {Role[]} roles
 * @property {string} unnamed why heads have no names
 * @property {Words} words
 * @property {Looks} looks
 */

export {};
