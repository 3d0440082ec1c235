// Buttons that save a picture of the page as it is on screen.

/** @import { Component } from "../common/component.js" */

import { loadStyle, unpack, wear } from "../common/component.js";
import { element } from "../common/elements.js";
import { photograph, save } from "../common/snapshot.js";
import { _, speak } from "../common/words.js";

/**
 * @typedef {object} FilesData what the server sends: ui/figure/chart.py
 * @property {string} name of the file
 * @property {string} place the class of the element that the picture stands in
 * @property {import("../common/words.js").Translations} words
 */

const style = loadStyle(new URL("style.css", import.meta.url));
const PICTURES = ".figure, .hero, .tiles";
const SAID_FOR = 2500; // milliseconds

/** @param {Component<FilesData>} component */
export default async function ({ parentElement, data: sent }) {
  const data = unpack(sent), root = parentElement.querySelector(".files");
  if (!root || !data) return;
  wear(parentElement, await style);
  speak(data.words);
  root.replaceChildren(...["PNG", "SVG"].map((kind) => {
    const button = element("button", "", kind), type = /** @type {"png" | "svg"} */ (kind.toLowerCase());
    button.onclick = async () => {
      button.disabled = true;
      let isSaved = true;
      try {
        save(await photograph(find(data.place), type), `${data.name}.${type}`);
      } catch {
        isSaved = false;
      }
      button.disabled = false;
      if (isSaved) return;
      button.textContent = _("It could not be saved");
      setTimeout(() => { button.textContent = kind; }, SAID_FOR);
    };
    return button;
  }));
}

/** The picture in an element of the page. @param {string} place @returns {HTMLElement} */
function find(place) {
  const hosts = document.querySelectorAll(`.${place} *`);
  for (const { shadowRoot } of hosts) {
    const picture = shadowRoot?.querySelector(PICTURES);
    if (picture instanceof HTMLElement) return picture;
  }
  throw new Error(place);
}
