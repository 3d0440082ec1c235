// @ts-check
// How one word divides its attention: an arc to each word, and the percentage beside it.

import { shape } from "../common/elements.js";
import { chooseArcOpacity, writeArcPath, chooseArcWidth } from "./arcs.js";
import { percent, seenPercent } from "./sentence.js";

/** @typedef {import("./stage.js").Stage} Stage */
/**
 * @typedef {object} ArcShape
 * @property {ArrayLike<number>} centres of the words
 * @property {number} asker its centre
 * @property {number} base
 * @property {number} high
 * @property {number} scale of the widths
 * @property {number} even 1 while all are alike, because nothing is compared yet
 * @property {boolean} isUpright
 */

export class ArcStrip {
  /** @param {Stage} stage @param {number | string} [hue] which of the heads' colours, or a colour's name */
  constructor(stage, hue = 0) {
    this.stage = stage;
    this.colour = typeof hue === "number" ? `--head${hue}` : hue;
    this.name = `glow-${Math.random().toString(36).slice(2)}`; // gradients are found by name
    this.glow = stage.draw("radialGradient", "");
    this.glow.id = this.name;
    this.glow.setAttribute("gradientUnits", "userSpaceOnUse");
    for (const [offset, colour] of /** @type {const} */ ([[0.08, "--query"], [0.85, this.colour]])) {
      const stop = this.glow.appendChild(shape("stop", { offset }));
      stop.style.stopColor = `var(${colour})`;
    }
    this.arcs = stage.draw("g", "arcs");
    /** @type {HTMLElement[]} */
    this.shares = [];
  }

  /** @param {number} count of the words */
  renew(count) {
    for (const share of this.shares) share.remove();
    this.shares = Array.from({ length: count }, () => this.stage.add("div", "text share"));
    for (const share of this.shares) share.style.setProperty("--hue", `var(${this.colour})`);
    this.arcs.replaceChildren(...this.shares.map(() => shape("path", { class: "arc" })));
  }

  /**
   * Draw the arcs of these weights, and write the percentages.
   * @param {ArrayLike<number>} weights @param {ArcShape} form @param {(place: number) => boolean} isSeen
   */
  paint(weights, form, isSeen) {
    const { asker, base, high, scale, even, isUpright } = form, { room, height } = this.stage;
    this.glow.setAttribute("cx", String(isUpright ? base : asker));
    this.glow.setAttribute("cy", String(isUpright ? asker : base));
    this.glow.setAttribute("r", String(isUpright ? 90 : Math.min(190, room * 0.22)));
    const span = isUpright ? height : room * 0.82, widest = isUpright ? 19 : 27;
    [...this.arcs.children].forEach((node, place) => {
      const arc = /** @type {SVGElement} */ (node), weight = weights[place];
      arc.setAttribute("d", writeArcPath({ from: asker, to: form.centres[place], base, high, span, isUpright }));
      arc.style.strokeWidth = (chooseArcWidth(weight, widest) * scale * (1 - even) + 1.6 * even).toFixed(2);
      arc.style.stroke = even > 0.5 ? "var(--query)" : `url(#${this.name})`;
      arc.style.strokeDasharray = even > 0.5 ? "2 5" : "";
      arc.style.opacity = isSeen(place) ? (chooseArcOpacity(weight) * (1 - even) + 0.75 * even).toFixed(3) : "0";
      const text = (isSeen(place) ? seenPercent : percent)(weight), share = this.shares[place];
      if (share.textContent !== text) share.textContent = text;
      share.classList.toggle("low", weight < 0.05);
    });
  }
}
