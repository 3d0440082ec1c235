// @ts-check
// Token ticks along a side of a picture. Text from readers is only ever written with textContent.

/** @import { Span } from "./pooling.js" */

import { element } from "../common/elements.js";
import { ticks } from "./ruler.js";

const ROOM = 0.9; // of a side: behind it a label would be cut off

/**
 * Ticks along one side of a picture, each a position and, where there is room, its token.
 * @param {HTMLElement} axis @param {Span} span @param {string[]} tokens @param {number} length in pixels @param {boolean} isWide
 */
export function drawTicks(axis, span, tokens, length, isWide) {
  const end = span[0] + ROOM * (span[1] - span[0]);
  const named = ticks(span, Math.max(2, Math.floor(length / (isWide ? 90 : 48)))).filter((place) => place < end);
  axis.replaceChildren(...named.map((place) => {
    const tick = element("span", "tick", isWide ? `${place} ${tokens[place].trim()}` : String(place));
    tick.style.setProperty("--at", `${100 * (place + 0.5 - span[0]) / (span[1] - span[0])}%`);
    return tick;
  }));
}
