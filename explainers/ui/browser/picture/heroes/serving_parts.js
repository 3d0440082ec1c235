// What several of the pictures of serving have.

/** @import { Mark } from "../scene.js" */
/** @import { Serving } from "./serving.js" */

import { penOf } from "../../common/elements.js";

export class View {
  /** @param {Serving} hero */
  constructor(hero) { this.hero = hero; }

  /** Names of what can be played; none if nothing moves. @returns {string[]} */
  frames() { return []; }
}

/** What colours mean. @param {string} key @param {Mark["box"]} box @param {[name: string, text: string][]} items @returns {Mark} */
export const markLegend = (key, box, items) => ({ key, class: "serving-legend", box, parts: items.map(([name, text]) => ({ class: name, text })) });

/** A name, held at its left end. @param {string} key @param {string} text @param {number} x @param {number} y @returns {Mark} */
export const markTitle = (key, text, x, y) => ({ key, class: "text serving-name strong", text, at: [x, y, 15], hold: "left" });

/** For a canvas that is drawn anew. @param {HTMLCanvasElement} canvas @param {number} width @param {number} height */
export function takePen(canvas, width, height) {
  const scale = devicePixelRatio;
  Object.assign(canvas, { width: Math.round(width * scale), height: Math.round(height * scale) });
  const pen = penOf(canvas);
  pen.scale(scale, scale);
  return pen;
}
