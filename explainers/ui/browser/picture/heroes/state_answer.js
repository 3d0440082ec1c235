// @ts-check
// What a memory answers: the words whose values are nearest, as bars, and how many words find the right one;
// and what the marks and colours of the picture mean.

/** @import { Stage } from "../stage.js" */
/** @import { Places } from "./state_places.js" */

import { element } from "../../common/elements.js";
import { digits } from "../../common/numbers.js";
import { _ } from "../../common/words.js";

const NEAREST = 3, NUMBER = 46; // pixels for a number behind its bar

export class Nearest {
  /** @param {Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.bars = Array.from({ length: NEAREST }, () => ({
      name: stage.add("div", "text state-name"), tag: element("span"), bar: stage.add("div", "state-bar"), number: stage.add("div", "text state-number"),
    }));
    this.found = stage.add("div", "state-found");
    this.count = this.found.appendChild(element("b"));
    this.means = this.found.appendChild(element("span"));
  }

  /**
   * @param {Places} places
   * @param {{ words: [string, number, string][], most: number, right: string, found: [number, number, number], isShown: boolean }} answer `right` is the newest word; words have a likeness and which pair they are of; how many of all words find theirs, and for how many it is a tie
   */
  place({ bars: { x, width, y, pitch, font }, found }, { words, most, right, found: [count, all, ties], isShown }) {
    this.bars.forEach(({ name, tag, bar, number }, at) => {
      const [word, like, means] = words[at], long = Math.max(2, ((width - NUMBER) * Math.max(0, like)) / most), shown = isShown ? 1 : 0;
      tag.textContent = means;
      name.replaceChildren(word, tag);
      name.classList.toggle("right", word === right);
      bar.classList.toggle("right", word === right);
      number.textContent = digits(like);
      this.stage.write(name, x, y + pitch * at + font / 2, font, shown, 0, "left");
      this.stage.put(bar, { x, y: y + pitch * at + font + 4, width: long, height: Math.min(13, pitch - font - 8) }, shown);
      this.stage.write(number, x + long + 6, y + pitch * at + font + 4 + Math.min(13, pitch - font - 8) / 2, 15, shown, 0, "left");
    });
    this.count.textContent = all ? _("{count} of {all}", { count: String(count), all: String(all) }) : "";
    this.means.textContent = !all ? "" : ties ? _("words find their newest pair; ties: {ties}", { ties: String(ties) }) : _("words find their newest pair");
    this.stage.put(this.found, found, isShown ? 1 : 0);
  }
}

/** One line below everything: what marks and colours mean, as far as they are seen. */
export class Legend {
  /** @param {Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.root = stage.add("div", "state-legend");
    this.marks = [["right", "✓", _("the newest pair is found")], ["wrong", "✗", _("another word is nearer")], ["low", "·", _("a newer pair has the same key")], ["low", "=", _("a tie")]].map(([name, sign, means]) => this.tell(`state-mark ${name}`, sign, means));
    this.little = this.tell("state-mark low", "·", _("less than 0.5 %"));
    this.colours = [_("below 0"), _("above 0")].map((means) => this.tell("swatch", "", means));
  }

  /** @param {string} name @param {string} sign @param {string} means */
  tell(name, sign, means) {
    const item = this.root.appendChild(element("span"));
    item.append(element("i", name, sign), means);
    return item;
  }

  /** @param {string[]} colours of numbers below and above 0 */
  wear(colours) {
    this.colours.forEach((item, at) => { /** @type {HTMLElement} */ (item.firstElementChild).style.background = colours[at]; });
  }

  /** @param {Places} places @param {boolean} isRows the weights of attention are seen, and no memory */
  place({ legend }, isRows) {
    for (const item of [...this.marks, ...this.colours]) item.hidden = isRows;
    this.little.hidden = !isRows;
    this.stage.put(this.root, legend);
  }
}
