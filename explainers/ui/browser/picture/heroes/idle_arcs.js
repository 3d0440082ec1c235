// @ts-check
// The arcs of all letters at once, thin: where idle letters look is seen without pointing at one.

import { shape } from "../../common/elements.js";
import { writeArcPath } from "../arcs.js";

/** @typedef {import("../stage.js").Stage} Stage */
/** @typedef {ReturnType<typeof import("./idle_places.js").placeIdle>} Plan */

const LEAST = 0.03; // a smaller weight is not drawn

export class IdleArcs {
  /** @param {Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.group = stage.draw("g", "idle-arcs");
    /** @type {{ node: SVGElement, from: number, to: number }[]} */
    this.arcs = [];
  }

  /** @param {number} count of the letters @param {number[]} wanted those that look for the letter before */
  renew(count, wanted) {
    const pairs = Array.from({ length: count }, (_letter, from) => Array.from({ length: from + 1 }, (_seen, to) => ({ from, to }))).flat();
    this.arcs = pairs.map(({ from, to }) => {
      const isUseful = wanted.includes(from) && to === from - 1;
      return { from, to, node: /** @type {SVGElement} */ (shape("path", { class: `idle-arc ${isUseful ? "useful" : ""}` })) };
    });
    this.group.replaceChildren(...this.arcs.map(({ node }) => node));
  }

  /** @param {Plan} plan @param {number} first the place that gathers weight */
  place(plan, first) {
    const span = this.stage.room * 0.82;
    for (const { node, from, to } of this.arcs) {
      node.setAttribute("d", writeArcPath({ from: plan.centres[from], to: plan.centres[to], base: plan.base, high: plan.high, span, isUpright: false }));
      node.classList.toggle("first", to === first && from !== first);
    }
  }

  /**
   * @param {ArrayLike<number>} weights of all letters, a row behind each other @param {number} count
   * @param {number} first the place that can only look at itself
   */
  paint(weights, count, first) {
    for (const { node, from, to } of this.arcs) {
      const weight = from === first ? 0 : weights[from * count + to];
      node.style.opacity = weight < LEAST ? "0" : (0.15 + 0.6 * weight).toFixed(3);
      node.style.strokeWidth = (0.6 + 2.2 * weight).toFixed(2);
    }
  }
}
