// @ts-check
// What the server sends for a lecture (ui/lecture/screens.py); a test compares the names.

/**
 * @typedef {object} LectureData
 * @property {string} page
 * @property {LectureWords} words
 * @property {Shared | null} shared
 * @property {Plan} plan
 */

/**
 * @typedef {object} Plan a shorter lecture
 * @property {number} minutes
 * @property {Record<string, string[]>} pages their screens, by the pages' places: a kind, or a kind and a name
 */

/**
 * @typedef {object} LectureWords
 * @property {string} bar
 * @property {string} back
 * @property {string} on
 * @property {string} controls
 * @property {string} share
 * @property {string} leave
 * @property {string} code
 * @property {string} place
 * @property {string} absurd
 * @property {string} beyond
 * @property {string} first
 * @property {string} last
 * @property {string} noCode
 * @property {string} noWindow
 * @property {string} overview
 * @property {string} plan
 * @property {string} add
 * @property {string} earlier
 * @property {string} later
 * @property {string} show
 * @property {string} hide
 * @property {string} help
 * @property {string} presenter
 * @property {string} now
 * @property {string} next
 * @property {string} answer
 * @property {string} here
 * @property {string} left
 * @property {string} gone
 * @property {string} handout
 * @property {[string, string][]} keys
 * @property {Record<string, string>} kinds of screens
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
