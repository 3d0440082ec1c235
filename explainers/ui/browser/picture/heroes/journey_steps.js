// @ts-check
// Where everything stands at each step of a word's journey, and what waits for what.

/** @typedef {[depth: number, extent: number, opacity: number]} Depth */
/** @typedef {Partial<Record<string, Depth>>} Step the kinds of nodes that a step shows */

export const LOOK = 0, NUMBERS = 1, VIEWS = 2, SCORES = 3, MASK = 4, WEIGHTS = 5, OUTPUT = 6;
export const DWELL = [0, 3200, 4600, 5600, 3200, 4400, 6000]; // milliseconds for which a class looks at a step
export const HEIGHT = 400; // that the depths below are made for

/** From the top, below the words, which are at 84. @type {Step[]} */
const BELOW = [
  { x: [250, 4, 0] },
  { x: [128, 176, 1] },
  { x: [118, 40, 1], query: [190, 40, 1], key: [262, 40, 1], value: [334, 40, 1] },
  { x: [110, 5, 0.6], asked: [136, 36, 1], key: [178, 36, 1], product: [238, 36, 1], score: [306, 24, 1], value: [380, 12, 0.45] },
  { x: [110, 5, 0.6], key: [126, 10, 0.5], score: [208, 28, 1], value: [380, 12, 0.45] },
  { x: [110, 5, 0.6], score: [136, 17, 0.85], bar: [358, 150, 1], value: [380, 12, 0.45] },
  { x: [110, 5, 0.6], value: [126, 38, 1], weighted: [194, 38, 1], output: [336, 44, 1] },
];

/** On a phone beside the words: shares of the room to their right. @type {Step[]} */
const BESIDE = [
  { x: [0, 0.05, 0] },
  { x: [0.02, 0.97, 1] },
  { x: [0, 0.1, 1], query: [0.13, 0.27, 1], key: [0.43, 0.27, 1], value: [0.73, 0.27, 1] },
  { x: [0, 0.02, 0.6], asked: [0.02, 0.26, 1], key: [0.29, 0.26, 1], product: [0.56, 0.28, 1], score: [0.93, 0.05, 1], value: [0.98, 0.02, 0] },
  { x: [0, 0.02, 0.6], key: [0.03, 0.1, 0.5], score: [0.5, 0.06, 1], value: [0.98, 0.02, 0] },
  { x: [0, 0.02, 0.6], score: [0.13, 0.05, 0.85], bar: [0.27, 0.5, 1], value: [0.98, 0.02, 0] },
  { x: [0, 0.02, 0.6], value: [0.2, 0.22, 1], weighted: [0.45, 0.22, 1], output: [0.78, 0.22, 1] },
];

/** The step at which each kind is born: it waits where it comes from. @type {Record<string, number>} */
export const BORN = { x: NUMBERS, query: VIEWS, key: VIEWS, value: VIEWS, asked: SCORES, product: SCORES, weighted: OUTPUT, output: OUTPUT };
/** What each kind comes from. @type {Record<string, string>} */
export const SOURCE = { query: "x", key: "x", value: "x", asked: "query", product: "key", weighted: "value", output: "x", x: "x" };

/** Milliseconds that a kind waits when its step is entered from the one before. @type {Record<string, number>[]} */
export const DELAYS = [
  {}, {},
  { query: 250, key: 420, value: 590 },
  { asked: 200, product: 1000, score: 1700 },
  { shutter: 400 },
  { bar: 350 },
  { weighted: 900, output: 1900, ribbon: 1500 },
];
export const PER_WORD = 60; // milliseconds later for each word of distance from the one that asks

/**
 * The table of a layout in pixels.
 * @param {boolean} isUpright words stand below each other
 * @param {number} room to the right of them @param {number} height
 */
export function makeDepthTable(isUpright, room, height) {
  const by = isUpright ? room : height / HEIGHT;
  return (isUpright ? BESIDE : BELOW).map((step) => Object.fromEntries(
    Object.entries(step).map(([kind, depth]) => {
      const [at, extent, opacity] = /** @type {Depth} */ (depth);
      return [kind, /** @type {Depth} */ ([at * by, extent * by, opacity])];
    }),
  ));
}
