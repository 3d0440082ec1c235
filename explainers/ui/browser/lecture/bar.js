// @ts-check
// Where the lecture is, with buttons for whoever has no keyboard, and a voice for who does not see it.
// Text from links is only ever written with textContent.

/** @import { LectureWords } from "./data.js" */
/** @import { Lecture } from "./lecture.js" */

import { element } from "../common/elements.js";
import { readColours } from "./streamlit.js";

/** @typedef {"back" | "on" | "overview" | "controls" | "share" | "leave"} Act */

export class Bar {
  /** @param {Lecture} lecture */
  constructor(lecture) {
    this.words = lecture.words;
    this.root = element("nav", "lecture-bar");
    this.page = this.root.appendChild(element("b"));
    /** @type {[Act, HTMLButtonElement][]} */
    this.buttons = [];
    this.add("back", "‹", () => lecture.turn(-1));
    this.place = this.root.appendChild(element("output"));
    this.add("on", "›", () => lecture.turn(1));
    this.add("overview", "⊞", () => lecture.overview.turn());
    this.add("controls", "⚙", () => lecture.turnControls());
    this.add("share", "▦", () => lecture.share.turn());
    this.add("leave", "✕", () => lecture.leave());
    this.note = element("p", "lecture-note");
    this.note.setAttribute("role", "status");
    this.voice = this.root.appendChild(element("p", "lecture-voice"));
    this.voice.setAttribute("aria-live", "polite");
    document.body.append(this.root, this.note);
  }

  /**
   * @param {Act} name
   * @param {string} sign
   * @param {() => void} act
   */
  add(name, sign, act) {
    const button = this.root.appendChild(element("button", "", sign));
    button.type = "button";
    button.onclick = act;
    button.onmousedown = (event) => event.preventDefault(); // keys go on to the page
    this.buttons.push([name, button]);
  }

  /** @param {LectureWords} words @param {string} page */
  name(words, page) {
    this.words = words;
    this.page.textContent = page;
    this.root.setAttribute("aria-label", words.bar);
    for (const [name, button] of this.buttons) {
      button.title = words[name];
      button.setAttribute("aria-label", words[name]);
    }
    const colours = readColours();
    if (colours) document.documentElement.style.setProperty("--lecture-ink", colours.color);
    if (colours) document.documentElement.style.setProperty("--lecture-paper", colours.backgroundColor);
  }

  /**
   * Tell which screen it is, of how many; before the first, that one is awaited.
   * @param {number} at
   * @param {number | string} all
   * @param {string} title
   */
  count(at, all, title) {
    const text = at < 0 ? "…" : `${at + 1} / ${all}`;
    if (this.place.textContent !== text) this.place.textContent = text;
    if (title) this.voice.textContent = this.words.place.replace("{at}", String(at + 1)).replace("{all}", String(all)).replace("{title}", title);
  }

  /** @param {string} text */
  say(text) {
    if (this.note.textContent !== text) this.note.textContent = text;
  }

  remove() {
    this.root.remove();
    this.note.remove();
  }
}
