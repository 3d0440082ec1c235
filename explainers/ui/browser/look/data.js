// What a picture of all heads is drawn from: notebook/packed_heads.py and notebook/head_picture.py.

/** @import { Looks } from "../picture/palette.js" */
/** @import { Translations } from "../common/words.js" */

/** @typedef {{ mask: number, codes: string }} PackedCodes a byte for each pair that `masks[mask]` allows, key by key */
/** @typedef {PackedCodes & { only: number[] }} PackedHeads heads of a layer in full */
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
 * @property {string} kind "encoder" where a decoder is left out, "cross" where a decoder looks at it
 * @property {string} show "heads", or of each layer its "mean" or the "rollout" up to it
 * @property {string[]} tokens or words: those of the keys
 * @property {string[] | null} queries where these are of another text
 * @property {number} offset the first query's place among the tokens, where they are of one text
 * @property {[string, number][]} parts of the text: their names, and where they begin
 * @property {number} pieces how many tokens the text has
 * @property {number} side rows that each head is sent with: fewer than tokens in an overview
 * @property {number[]} names of the layers
 * @property {PackedLayer[]} layers
 * @property {Record<string, PackedHeads>} full layers that are also sent in full
 * @property {{ rows: number, side: number, allowed: string }[]} masks
 * @property {[number, number, number][]} telling layers, heads and queries worth a look, the best first
 * @property {Role[]} roles
 * @property {string} unnamed why heads have no names
 * @property {Translations} words
 * @property {Looks} looks
 */

export {};
