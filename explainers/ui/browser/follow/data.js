// What is sent for a lecture that is followed (ui/lecture/screens.py, ui/follow/routes.py); tests compare the names.

/**
 * @typedef {object} FollowData
 * @property {string} place of the page in the address
 * @property {string} query that this run of the page was asked with
 * @property {string[]} places of all pages, in their order
 * @property {boolean} isShort does this run end with the lecturer's screen?
 * @property {string} local why a link to this computer is for nobody else
 * @property {import("../common/words.js").Translations} words
 */

/**
 * @typedef {object} Led a room that another device has handed over
 * @property {string} secret
 * @property {string} room
 */

/**
 * @typedef {object} Place where the lecturer is
 * @property {number} number the highest one is the newest
 * @property {string} page
 * @property {string} query
 * @property {number} screen from 1; 0 is the whole page
 * @property {number} step of the screen
 * @property {number} round how often the class has voted on a question before
 */

/**
 * @typedef {object} Count of the audience
 * @property {number} followers
 * @property {Record<string, number[]>} votes by question, of each option
 */

/**
 * @typedef {object} LectureOnScreen what is used of lecture/lecture.js
 * @property {boolean} isHeld
 * @property {number} at from 0; less before there is a screen
 * @property {number} [step]
 * @property {number | null} wanted
 * @property {boolean} isShort
 * @property {{ last?: number }[]} screens
 * @property {() => boolean} isDrawn
 * @property {() => boolean} isComplete
 * @property {(at: number, step: number) => void} show
 */

export {};
