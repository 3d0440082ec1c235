// @ts-check
// Bundles of lines from syllables to words. All lines of a syllable together are always equally wide.

import { shape } from "../../common/elements.js";

/** @typedef {import("../stage.js").Stage} Stage */
/** @typedef {import("./translation_places.js").Places} Places */
/** @typedef {ArrayLike<number>} Line from where along the syllables, to where along the words, how wide */

/** @type {Line} */
export const NO_LINE = [0, 0, 0];
const LEAST = 0.008; // a share below this has no line

/**
 * The lines of all syllables: side by side where they leave a syllable, and where they reach a word.
 * @param {number[][]} rows the weights of each syllable @param {Places} places @param {number} written
 */
export function bundle(rows, { words, syllables, feet, full }, written) {
  const totals = words.map((_word, seen) => sum(rows.map((row) => row[seen])) * full), used = totals.map((total) => -total / 2);
  return rows.flatMap((row, asker) => {
    let left = -full / 2;
    return row.map((weight, seen) => {
      const wide = weight * full, squeeze = Math.min(1, feet[seen] / Math.max(totals[seen], 1));
      const line = [syllables[asker] + left + wide / 2, words[seen] + (used[seen] + wide / 2) * squeeze, asker < written ? wide : 0];
      left += wide;
      used[seen] += wide;
      return line;
    });
  });
}

/** @param {number[]} list */
const sum = (list) => list.reduce((all, one) => all + one, 0);

export class Lines {
  /** @param {Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.glow = stage.draw("linearGradient", "");
    this.glow.id = `glow-${Math.random().toString(36).slice(2)}`; // gradients are found by name
    this.glow.setAttribute("gradientUnits", "userSpaceOnUse");
    for (const [offset, colour] of /** @type {const} */ ([[0.02, "--query"], [0.55, "--head0"]])) {
      const stop = this.glow.appendChild(shape("stop", { offset }));
      stop.style.stopColor = `var(${colour})`;
    }
    this.faint = stage.draw("g", "translation-faint");
    this.dots = stage.draw("g", "translation-dots");
    this.strong = stage.draw("g", "translation-strong");
    this.rings = stage.draw("g", "translation-rings");
    this.strong.style.setProperty("--glow", `url(#${this.glow.id})`);
    /** @type {WeakMap<SVGElement, string>} what each path shows, so that nothing is written twice */
    this.drawn = new WeakMap();
    /** @type {Record<"all" | "own" | "marks" | "ringed", SVGElement[]>} */
    this.paths = { all: [], own: [], marks: [], ringed: [] };
  }

  /** @param {number} words @param {number} syllables */
  renew(words, syllables) {
    const paths = (/** @type {SVGElement} */ home, /** @type {number} */ count) => {
      home.replaceChildren(...Array.from({ length: count }, () => shape("path", {})));
      return /** @type {SVGElement[]} */ ([...home.children]);
    };
    this.paths = {
      all: paths(this.faint, words * syllables), own: paths(this.strong, Math.max(words, syllables)),
      marks: paths(this.dots, syllables), ringed: paths(this.rings, 2 * syllables),
    };
  }

  /** @param {Places} places */
  aim({ from, to, isDown }) {
    const ends = isDown ? { x1: from, y1: 0, x2: to, y2: 0 } : { x1: 0, y1: from, x2: 0, y2: to };
    for (const [name, end] of Object.entries(ends)) this.glow.setAttribute(name, String(end));
  }

  /** @param {SVGElement} path @param {Line} line @param {Places} places @param {boolean} [isBare] seen however narrow it is */
  draw(path, line, places, isBare = false) {
    const from = line[0], to = line[1], wide = line[2];
    const isSeen = isBare || wide > places.full * LEAST;
    const shown = isSeen ? `${places.isDown},${from.toFixed(1)},${to.toFixed(1)},${places.from},${places.to},${isBare ? "" : wide.toFixed(2)}` : "";
    if (this.drawn.get(path) === shown) return;
    this.drawn.set(path, shown);
    path.style.display = isSeen ? "" : "none";
    if (!isSeen) return;
    const middle = (places.from + places.to) / 2;
    const points = [[from, places.from], [from, middle], [to, middle], [to, places.to]];
    const [a, b, c, d] = points.map(([along, depth]) => (places.isDown ? [depth, along] : [along, depth]).map((number) => number.toFixed(1)).join(" "));
    path.setAttribute("d", `M${a}C${b} ${c} ${d}`);
    if (!isBare) path.style.strokeWidth = Math.max(0.6, wide).toFixed(2);
  }
}
