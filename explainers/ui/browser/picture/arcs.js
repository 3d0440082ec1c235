// An arc from the word that asks to each word that it looks at; the wider, the more attention.

/** @import { Mark } from "./scene.js" */

import { setText } from "../common/elements.js";
import { percent, seenPercent, sum } from "../common/numbers.js";

/**
 * @typedef {object} ArcPlace
 * @property {number} from where the asking word stands on the line of words
 * @property {number} to
 * @property {number} base the line's distance from the edge
 * @property {number} high how far the widest arc may reach beyond it
 * @property {number} span the length of the whole line
 * @property {boolean} isUpright words stand below each other, arcs reach to the left
 */

/** The path of an arc; a word's arc to itself is a small loop. @param {ArcPlace} place */
export function writeArcPath({ from, to, base, high, span, isUpright }) {
  const isLoop = Math.abs(to - from) < 1, loop = isLoop ? 13 : 0;
  const start = from + (isLoop ? 0 : Math.sign(to - from) * 7), far = Math.abs(to - start);
  const reach = isLoop ? high * 0.2 : high * Math.min(1, 0.24 + (0.86 * far) / span);
  const top = base - reach * 1.333;
  const points = [[start - loop, base], [start - loop * 1.6, top], [to + loop * 1.6, top], [to + loop, base]];
  const [a, b, c, d] = points.map(([along, across]) => (isUpright ? `${across} ${along}` : `${along} ${across}`));
  return `M${a}C${b} ${c} ${d}`;
}

/** How wide the arc of a weight is. @param {number} weight @param {number} widest */
export const chooseArcWidth = (weight, widest) => 1.2 + widest * weight;

/** Faint for what hardly counts, never invisible. @param {number} weight */
export const chooseArcOpacity = (weight) => 0.16 + 0.74 * Math.min(1, weight * 1.6);

/**
 * A ribbon between two edges: as wide at both ends as the share that it carries.
 * @param {{ across: boolean, start: number, end: number, from: [number, number], to: [number, number] }} place
 */
export function writeRibbonPath({ across, start, end, from, to }) {
  const middle = (start + end) / 2;
  const point = (/** @type {number} */ depth, /** @type {number} */ along) =>
    across ? `${along.toFixed(1)} ${depth.toFixed(1)}` : `${depth.toFixed(1)} ${along.toFixed(1)}`;
  return `M${point(start, from[0])}C${point(middle, from[0])} ${point(middle, to[0])} ${point(end, to[0])}`
    + `L${point(end, to[1])}C${point(middle, to[1])} ${point(middle, from[1])} ${point(start, from[1])}Z`;
}

/**
 * The words whose percentages are written below their arcs: the largest first, and no two on each other.
 * @param {number[]} weights @param {number[]} centres @param {number} wide the room that one takes
 * @param {number} least smaller ones are not written
 */
export function chooseTold(weights, centres, wide, least) {
  /** @type {Set<number>} */
  const told = new Set(), places = weights.map((_weight, place) => place).filter((place) => weights[place] >= least).sort((a, b) => weights[b] - weights[a]);
  for (const place of places) {
    if ([...told].every((other) => Math.abs(centres[other] - centres[place]) >= wide)) told.add(place);
  }
  return told;
}

/** Would a share lie over its neighbour's, which is larger? @param {number} place @param {number[]} weights @param {number[]} centres @param {number[]} wide */
export const yields = (place, weights, centres, wide, air = 0) => [place - 1, place + 1].some((other) =>
  weights[other] > weights[place] && Math.abs(centres[other] - centres[place]) < (wide[other] + wide[place]) / 2 + air);

// How one word divides its attention: an arc to each word, and the percentage beside it; or a bar of 100 %.

const NAMED = 0.07; // the smallest part of a bar that is named, if there is room for its word
const SIZE = 15, AIR = 6; // of the letters in a part, and beside them

/**
 * @typedef {object} Arcs
 * @property {number[]} weights
 * @property {number[]} centres of the words
 * @property {number} asker which of them looks
 * @property {number} base where arcs begin and end
 * @property {number} high how far the widest may reach
 * @property {number} [scale] of the widths
 * @property {number} [even] 1 while all are alike, because nothing is compared yet
 * @property {boolean} [isUpright]
 * @property {string} [colour] the name of one of the picture's colours
 * @property {number} [opacity] of all arcs
 * @property {(place: number, weight: number) => boolean} [isSeen] `weight` as it is on its way
 * @property {(place: number) => Pick<Mark, "at" | "hold" | "opacity" | "delay">} share where a word's percentage stands
 */

/** @param {string} key @param {import("./stage.js").Stage} stage @param {Arcs} arcs @returns {Mark[]} */
export function markArcs(key, { room, height }, { weights, centres, asker, base, high, scale = 1, even = 0, isUpright = false, colour = "--head0", opacity = 1, isSeen = () => true, share }) {
  const name = `glow-${key.replace(/\W/g, "_")}`; // gradients are found by name
  const span = isUpright ? height : room * 0.82, widest = isUpright ? 19 : 27, from = centres[asker];
  return [
    {
      key: `${key} glow`, tag: "svg:radialGradient", attributes: { id: name, gradientUnits: "userSpaceOnUse", r: isUpright ? 90 : Math.min(190, room * 0.22) }, numbers: [from, base],
      draw: (node, [along, at]) => { node.setAttribute("cx", String(isUpright ? at : along)); node.setAttribute("cy", String(isUpright ? along : at)); },
    },
    ...[[0.08, "--query"], [0.85, colour]].map(([offset, of]) => ({ key: `${key} ${offset}`, in: `${key} glow`, tag: "svg:stop", attributes: { offset }, style: { "stop-color": `var(${of})` } })),
    { key: `${key} arcs`, tag: "svg:g", class: "arcs", style: { opacity: opacity === 1 ? undefined : opacity } },
    ...weights.flatMap((weight, place) => /** @type {Mark[]} */ ([
      {
        key: `${key} arc ${place}`, in: `${key} arcs`, tag: "svg:path", class: "arc", own: place, numbers: [weight, from, centres[place], base, high, scale, even],
        draw: (node, [now, start, end, at, top, wide, alike]) => {
          node.setAttribute("d", writeArcPath({ from: start, to: end, base: at, high: top, span, isUpright }));
          Object.assign(node.style, {
            strokeWidth: (chooseArcWidth(now, widest) * wide * (1 - alike) + 1.6 * alike).toFixed(2),
            stroke: alike > 0.5 ? "var(--query)" : `url(#${name})`,
            strokeDasharray: alike > 0.5 ? "2 5" : "",
            opacity: isSeen(place, now) ? (chooseArcOpacity(now) * (1 - alike) + 0.75 * alike).toFixed(3) : "0",
          });
        },
      },
      {
        key: `${key} share ${place}`, class: "text share", style: { "--hue": `var(${colour})` }, own: place, numbers: [weight], ...share(place),
        draw: (node, [now]) => {
          setText(node, (isSeen(place, now) ? seenPercent : percent)(now));
          node.classList.toggle("low", now < 0.05);
        },
      },
    ])),
  ];
}

/**
 * A bar of 100 %, split by the words that a new vector is made of.
 * @param {import("./stage.js").Stage} stage
 * @param {{ label: string, words: string[], weights: number[], box: [x: number, y: number, width: number, height: number], opacity: number }} bar
 * @returns {Mark[]}
 */
export function markMixture(stage, { label, words, weights, box, opacity }) {
  const [left, top, whole, height] = box;
  return [
    { key: "mixture label", class: "text quiet", text: label, at: [left, top - 14, 14], hold: "left", opacity },
    { key: "mixture", class: "mixture", box, opacity },
    ...words.map((word, place) => /** @type {Mark} */ ({
      key: `part ${place}`, class: "part moves", share: place, style: { opacity }, numbers: [weights[place], sum(weights.slice(0, place))],
      draw: (node, [weight, before]) => {
        const width = whole * weight, share = percent(weight), full = `${word} ${share}`, fits = stage.width(full, SIZE) + AIR <= width;
        Object.assign(node.style, { transform: `translate(${(left + whole * before).toFixed(2)}px, ${top}px)`, width: `${width.toFixed(2)}px`, height: `${height.toFixed(2)}px` });
        setText(node, weight < NAMED ? "" : fits ? full : share);
      },
    })),
  ];
}
