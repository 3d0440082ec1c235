// @ts-check
// What the server sends for links with thumbnails (ui/page_parts/page_cards.py); a test compares the names.

/**
 * @typedef {object} CardsData
 * @property {string} kind how they are laid out: doors or wall
 * @property {string} name what all of them are, for those who hear the page
 * @property {string} files the folder of the thumbnails, beside that of this component
 * @property {{ title: string, cards: Card[] }[]} groups
 */
/**
 * @typedef {object} Card
 * @property {string} id what the server is told when it is clicked
 * @property {string} address of the page, relative to this one
 * @property {string} thumbnail its name without theme and ending
 * @property {string} title
 * @property {string} line
 * @property {string} note a page's number, or how long it takes
 * @property {string} alt
 */

export {};
