// @ts-check
// How a row is shared out: its 100 % before the mask, and below them the same 100 % after it.

import { element, shape } from "../../common/elements.js";
import { _ } from "../../common/words.js";
import { writeRibbonPath } from "../arcs.js";

/** @typedef {import("../stage.js").Stage} Stage */
/** @typedef {{ left: number, width: number, top: number, thick: number, gap: number }} SharesPlace */
/** @typedef {{ part: HTMLElement, word: HTMLElement }} Part */

const AIR = 10; // beside a word in its part

export class MaskedShares {
  /** @param {Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.ribbons = stage.draw("g", "masked-ribbons");
    this.names = [_("before"), _("after")].map((name) => stage.add("div", "text quiet", name));
    /** @type {Part[][]} */
    this.bars = [[], []];
    /** @type {number[]} */
    this.widths = [];
  }

  /** @param {string[]} words */
  renew(words) {
    for (const { part } of this.bars.flat()) part.remove();
    this.bars = ["before", "after"].map((when) => words.map((word) => {
      const part = this.stage.root.appendChild(element("div", `masked-part ${when}`));
      return { part, word: part.appendChild(element("span", "", word)) };
    }));
    this.ribbons.replaceChildren(...words.map(() => shape("path", { class: "masked-ribbon" })));
  }

  /** @param {SharesPlace | null} place @param {boolean[]} allowed @param {string[]} words */
  place(place, allowed, words) {
    this.isShown = place !== null;
    this.ribbons.style.opacity = place ? "" : "0";
    for (const { part } of this.bars.flat()) part.hidden = !place;
    if (!place) return this.names.forEach((name) => { name.style.opacity = "0"; });
    this.widths = this.stage.widths(words, 14);
    const { left, top, thick, gap } = place;
    this.names.forEach((name, k) => this.stage.write(name, left - 10, top + thick / 2 + k * (thick + gap), 14, 1, 0, "right"));
    this.bars[0].forEach(({ part }, k) => part.classList.toggle("forbidden", !allowed[k]));
  }

  /** @param {SharesPlace | null} place @param {ArrayLike<number>} before @param {ArrayLike<number>} after @param {boolean[]} allowed */
  paint(place, before, after, allowed) {
    if (!place) return;
    const { left, width, top, thick, gap } = place, lower = top + thick + gap;
    const tops = [top, lower], at = [left, left];
    this.bars[0].forEach((_part, k) => {
      const edges = [before, after].map((weights, bar) => {
        const start = at[bar], end = (at[bar] += weights[k] * width), { part, word } = this.bars[bar][k];
        Object.assign(part.style, {
          transform: `translate(${start.toFixed(1)}px, ${tops[bar]}px)`,
          width: `${Math.max(0, end - start).toFixed(1)}px`,
          height: `${thick}px`,
        });
        word.style.visibility = end - start < this.widths[k] + AIR ? "hidden" : "";
        return /** @type {[number, number]} */ ([start, end]);
      });
      const ribbon = /** @type {SVGElement} */ (this.ribbons.children[k]);
      const isSeen = allowed[k] && edges[0][1] - edges[0][0] + edges[1][1] - edges[1][0] > 1;
      ribbon.setAttribute("d", isSeen ? writeRibbonPath({ across: true, start: top + thick, end: lower, from: edges[0], to: edges[1] }) : "");
    });
  }
}
