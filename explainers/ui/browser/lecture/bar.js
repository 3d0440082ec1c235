// Where the lecture is, with buttons for whoever has no keyboard, and a voice for who does not see it.
// Text from links is only ever written with textContent.

/** @import { Lecture } from "./lecture.js" */

import { element, setText } from "../common/elements.js";
import { _ } from "../common/words.js";
import { tellOverview } from "./overview.js";
import { tellShare } from "./share.js";
import { readColours } from "./streamlit.js";
import { makeSideButton } from "./tools.js";

export class Bar {
  /** @param {Lecture} lecture */
  constructor(lecture) {
    this.root = element("nav", "lecture-bar");
    this.page = this.root.appendChild(element("b"));
    /** @type {[HTMLButtonElement, () => string][]} */
    this.buttons = [];
    this.add("‹", () => _("Back (← or PageUp)"), () => lecture.turn(-1));
    this.place = this.root.appendChild(element("output"));
    this.add("›", () => _("Next (→, space or PageDown)"), () => lecture.turn(1));
    this.add("⊞", tellOverview, () => lecture.overview.turn());
    this.add("⚙", () => _("Controls (C)"), () => lecture.turnControls());
    this.add("▦", tellShare, () => lecture.share.turn());
    this.add("✕", () => _("Leave lecture mode (Esc)"), () => lecture.leave());
    this.note = element("p", "lecture-note", "", { role: "status" });
    this.voice = this.root.appendChild(element("p", "lecture-voice", "", { "aria-live": "polite" }));
    document.body.append(this.root, this.note);
  }

  /** @param {string} sign @param {() => string} name @param {() => void} act */
  add(sign, name, act) {
    this.buttons.push([this.root.appendChild(makeSideButton(sign, act)), name]);
  }

  /** @param {string} page */
  name(page) {
    this.page.textContent = page;
    this.root.setAttribute("aria-label", _("Lecture"));
    for (const [button, name] of this.buttons) {
      button.title = name();
      button.setAttribute("aria-label", name());
    }
    const colours = readColours();
    if (colours) document.documentElement.style.setProperty("--lecture-ink", colours.color);
    if (colours) document.documentElement.style.setProperty("--lecture-paper", colours.backgroundColor);
  }

  /**
   * Tell which screen it is, of how many; before the first, that one is awaited.
   * @param {number} at @param {number | string} all @param {string} title
   */
  count(at, all, title) {
    setText(this.place, at < 0 ? "…" : `${at + 1} / ${all}`);
    if (title) this.voice.textContent = _("Screen {at} of {all}: {title}", { at: at + 1, all, title });
  }

  /** @param {string} text */
  say(text) { setText(this.note, text); }

  remove() {
    this.root.remove();
    this.note.remove();
  }
}
