// @ts-check
// What stands here in English is shown in the visitor's words; none are sent if these are English.

/** @typedef {Record<string, string>} Words  English texts, and what is shown instead */

/** @type {Words} */
let translations = {};

/**
 * Take the visitor's words.
 * @param {Words} words
 */
export function speak(words) {
  translations = words;
}

/**
 * The text in the visitor's words; `{name}` in it is a slot.
 * @param {string} text
 * @param {Record<string, string | number | undefined>} [slots]
 */
export function _(text, slots = {}) {
  return (translations[text] ?? text).replace(/\{(\w+)\}/g, (match, name) => String(slots[name]));
}
