// @ts-check
// The key that begins a lecture; all of the lecture comes when it has begun. And another page is
// shown from its top: Streamlit stays where the reader was, at the end of the one before. And what
// draws pictures is fetched while the server computes the first one.

/** @import { Component } from "../common/component.js" */

import { isTyped } from "./keys.js";

/** @type {string | undefined} */
let page;

/** @param {KeyboardEvent} event */
function begin(event) {
  if (event.ctrlKey || event.altKey || event.metaKey || event.key.toLowerCase() !== "l") return;
  if (event.defaultPrevented || isTyped(event)) return;
  event.preventDefault(); // an older version of this file may listen as well
  /** @type {HTMLElement | null} */ (document.querySelector(".st-key-lecture input"))?.click();
}

/**
 * Listen for the key; the server sends the page's place in the address, and scripts to fetch ahead.
 * @param {Component<string>} component
 */
export default function ({ data }) {
  const [place, ...ahead] = /** @type {string[]} */ (data ?? []);
  if ((page ?? place) !== place) document.querySelector("[data-testid=stMain]")?.scrollTo(0, 0);
  page = place;
  for (const script of ahead) import(new URL(`../../${script}`, import.meta.url).href).catch(() => {}); // it is asked for again when it is drawn
  addEventListener("keydown", begin); // once, however often it is added
  return () => removeEventListener("keydown", begin);
}
