// One picture in a file of its own, in a frame of somebody's page: export/one_file.py writes it.
//
// Its address may say what is chosen, `theme` (light, dark) and `lang`. It tells the page around it how high it is,
// in the message that learning platforms know.

import { unpackBytes } from "../common/numbers.js";
import { merge } from "./answers.js";
import { FirstPicture } from "./host.js";

/** @typedef {{ live: string, opening: string, words: Record<string, import("./host.js").Words & { source: string }> }} Around */
/** @typedef {import("./answers.js").Sent & { title: string }} Sent */

const RESIZE = "lti.frameResize";

export async function start() {
  const asked = new URLSearchParams(location.search), root = document.documentElement;
  const [around, numbers] = [read("around"), await unpack(read("numbers"))];
  const language = asked.get("lang") ?? "", isKnown = Object.hasOwn(around.words, language);
  const lang = isKnown ? language : root.lang, words = around.words[lang];
  root.lang = lang;
  const theme = asked.get("theme") ?? "";
  if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  for (const name of ["lang", "theme"]) asked.delete(name);
  /** @type {Sent} */
  const sent = merge(numbers[""], Object.hasOwn(numbers, lang) ? numbers[lang] : {});
  const a = /** @type {HTMLAnchorElement} */ (document.querySelector(".source a"));
  const title = sent.title || document.title;
  document.title = title;
  a.textContent = words.source;
  const picture = new FirstPicture(/** @type {HTMLElement} */ (document.querySelector(".picture")), sent, {
    words, live: around.live, link: asked,
    chosen: (link) => { a.href = `${around.live}${link}`; },
  });
  const main = /** @type {HTMLElement} */ (document.querySelector("main"));
  new ResizeObserver(() => parent.postMessage({ subject: RESIZE, height: Math.ceil(main.getBoundingClientRect().height) }, "*")).observe(main);
  await picture.open(asked.size ? asked : new URLSearchParams(around.opening));
}

/** What the file holds as JSON. @param {string} name @returns {any} */
function read(name) {
  return JSON.parse(/** @type {HTMLElement} */ (document.getElementById(name)).textContent ?? "");
}

/** Numbers that came packed. @param {any} numbers */
async function unpack(numbers) {
  return typeof numbers === "string" ? JSON.parse(new TextDecoder().decode(await unpackBytes(numbers))) : numbers;
}
