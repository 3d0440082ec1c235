// What stands here in English is shown in the visitor's words; none are sent if these are English.

/** @typedef {Record<string, string>} Translations  English texts, and what is shown instead */

/** @type {Translations} */
let translations = {};

/** Take the visitor's words. @param {Translations} words */
export function speak(words) {
  translations = words;
}

/**
 * The text in the visitor's words; `{name}` in it is a slot.
 * @param {string} text @param {Record<string, string | number | undefined>} [slots]
 */
export function _(text, slots = {}) {
  return (translations[text] ?? text).replace(/\{(\w+)\}/g, (match, name) => localNumbers(String(slots[name])));
}

const NUMBER = /(?<![\w.,/=@])(?<![A-Za-z]-)(?:[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?|\d+\.\d+)(?![.,]?\w|-[A-Za-z])/g;

/**
 * A text whose numbers are marked as in English, with the marks of the visitor's language: 1.024,5 for 1,024.5.
 * What may be a thousand of that language already, 1.024, is left as it is.
 * @param {string} text
 */
export function localNumbers(text) {
  return text.replace(NUMBER, (number) => (/^[1-9]\d*\.\d{3}$/.test(number) ? number : localNumber(number)));
}

/** One number, written as in English. @param {string} number */
export function localNumber(number) {
  return number.replace(/[.,]/g, (mark) => translations[mark] ?? mark);
}

/** A whole number, its thousands apart. @param {number} count */
export function grouped(count) {
  return localNumber(count.toLocaleString("en"));
}
