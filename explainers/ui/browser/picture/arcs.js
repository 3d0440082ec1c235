// @ts-check
// An arc from the word that asks to each word that it looks at; the wider, the more attention.

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
