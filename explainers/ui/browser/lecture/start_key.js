// The key that begins a lecture; all of the lecture comes when it has begun. What is pressed before
// it stands is kept, and obeyed then. And another page is shown from its top: Streamlit stays where
// the reader was, at the end of the one before. And what draws pictures is fetched while the server
// computes the first one.

/** @import { Component } from "../common/component.js" */

import { unpack } from "../common/component.js";
import { keepAddress } from "../common/address.js";
import { element } from "../common/elements.js";
import "../common/words.js"; // which that needs
import { isTyped, KEYS } from "./keys.js";
import { findSwitch, toTop } from "./streamlit.js";

/** @typedef {{ place: string, ahead: string[], starts: string, heard: string }} Told */
/**
 * @typedef {object} Waiting
 * @property {string[]} keys that were pressed
 * @property {boolean} isWanted was a lecture asked for that has not begun?
 * @property {HTMLElement | null} sign
 * @property {Told} told
 */

const AGAIN = 400, TRIES = 100; // milliseconds between two looks for the switch, and how often it is looked for
const holder = /** @type {{ attentionWaiting?: Waiting }} */ (globalThis);
const waiting = (holder.attentionWaiting ??= { keys: [], isWanted: false, sign: null, told: { place: "", ahead: [], starts: "", heard: "" } });
/** @type {string | undefined} */
let page;

/** Does it stand, and is it listening? */
function stands() {
  return "lectureStands" in document.documentElement.dataset;
}

/** @param {KeyboardEvent} event */
function listen(event) {
  if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented || isTyped(event) || stands()) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const begins = key === "l" && !waiting.isWanted && !findSwitch()?.checked;
  const isComing = waiting.isWanted || findSwitch()?.checked;
  if (!begins && !(isComing && (key in KEYS || /^\d$/.test(key)))) return;
  event.preventDefault(); // an older version of this file may listen as well
  event.stopImmediatePropagation();
  if (!begins) waiting.keys.push(key);
  waiting.isWanted = true;
  sign();
  if (begins) begin();
}

/** Turn the switch as soon as there is one; a run that was under way may have lost it. */
function begin(tries = TRIES) {
  if (stands() || !waiting.isWanted) return;
  const found = findSwitch();
  if (found && !found.checked) found.click();
  if (tries) setTimeout(() => begin(tries - 1), AGAIN);
  else forget();
}

/** Pressed too early, but not in vain. @param {string} key */
export function keep(key) {
  waiting.keys.push(key);
}

/** It does not come, or it has come. */
export function forget() {
  waiting.sign?.remove();
  Object.assign(waiting, { isWanted: false, sign: null });
  return waiting.keys.splice(0);
}

/** That it was heard. */
function sign() {
  const { told, keys } = waiting;
  waiting.sign ??= document.body.appendChild(element("div"));
  Object.assign(waiting.sign.style, { position: "fixed", zIndex: "1000000", left: "50%", bottom: "8vh", transform: "translateX(-50%)", padding: "12px 24px", borderRadius: "10px", font: "600 22px sans-serif", color: "#fff", background: "#5b3fb5", visibility: "visible" });
  waiting.sign.setAttribute("role", "status");
  waiting.sign.textContent = told.starts + (keys.length ? ` ${told.heard.replace("{keys}", keys.map((key) => key === " " ? "␣" : key).join(" "))}` : "");
}

/**
 * Listen for the key; the server sends the page's place in the address, and scripts to fetch ahead.
 * @param {Component<Told>} component
 */
export default function ({ data }) {
  const told = unpack(data);
  if (!told) return;
  keepAddress(); // Back leads from page to page, also where there is no picture
  waiting.told = told;
  if ((page ?? told.place) !== told.place) toTop();
  page = told.place;
  for (const script of told.ahead) import(new URL(`../../${script}`, import.meta.url).href).catch(() => {}); // it is asked for again when it is drawn
  addEventListener("keydown", listen, true); // once, however often it is added
  return () => removeEventListener("keydown", listen, true);
}
