// What the server sends for a lecture (ui/lecture/screens.py); a test compares the names.

/**
 * @typedef {object} LectureData
 * @property {string} page
 * @property {import("../common/words.js").Translations} words
 * @property {Shared | null} shared
 * @property {Plan} plan
 */

/**
 * @typedef {object} Plan a shorter lecture
 * @property {number} minutes
 * @property {Record<string, string[]>} pages their screens, by the pages' places: a kind, or a kind and a name
 */

/**
 * @typedef {object} Shared the link to a screen
 * @property {string} [asked] the link as it was asked for
 * @property {number} [side] of the code, in squares
 * @property {string} [path] of the code's squares
 * @property {string[]} [links] to type
 * @property {string[]} [notes]
 */

export {};
