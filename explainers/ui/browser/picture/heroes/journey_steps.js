// Where everything stands at each step of a word's journey, and what waits for what.

/** @import { Stage } from "../kit.js" */
/** @typedef {[x: number, y: number, width: number, height: number]} Box */
/** @typedef {[depth: number, extent: number, opacity: number]} Depth */
/** @typedef {Partial<Record<string, Depth>>} Step the kinds of nodes that a step shows */

import { lanes, poster as placeLarge, rows } from "../kit.js";

export const LOOK = 0, NUMBERS = 1, VIEWS = 2, SCORES = 3, MASK = 4, WEIGHTS = 5, OUTPUT = 6;
export const DWELL = [0, 3200, 4600, 5600, 3200, 4400, 6000]; // milliseconds for which a class looks at a step
export const COLUMN_NAMES = 13; // pixels of words on end
const HEIGHT = 400; // that the depths below are made for

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
const BORN = { x: NUMBERS, query: VIEWS, key: VIEWS, value: VIEWS, asked: SCORES, product: SCORES, weighted: OUTPUT, output: OUTPUT };
/** What each kind comes from. @type {Record<string, string>} */
const SOURCE = { query: "x", key: "x", value: "x", asked: "query", product: "key", weighted: "value", output: "x", x: "x" };

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

/** The places of a sentence's words. @param {Stage} stage @param {string[]} words */
function planWords(stage, words) {
  const across = stage.room >= 560 ? lanes(stage, words) : null, poster = across && placeLarge(stage, words, 40);
  if (across && poster) {
    stage.resize(stage.room, stage.room < 760 ? 380 : HEIGHT);
    const { lengths, centres, gutter } = across, top = (108 * stage.height) / HEIGHT;
    const grid = { top, side: (stage.height - top - 4) / words.length, starts: lengths.map((length, place) => centres[place] - length / 2), widths: lengths };
    return { isUpright: false, line: across, large: poster, posterLeft: 0, left: gutter, grid };
  }
  const line = rows(stage, words, 16 + Math.max(...stage.widths(words, COLUMN_NAMES))), { left, head, pitch } = line;
  stage.resize(stage.room, head + pitch * words.length + 56);
  const size = words.length > 9 ? 18 : 24, widths = stage.widths(words, size), below = stage.height - 78, width = (stage.room - left) / words.length;
  return {
    isUpright: true, line, left, large: { size, widths, centres: words.map((_word, place) => 18 + (below / words.length) * (place + 0.5)) },
    posterLeft: Math.max(70, Math.min(stage.room * 0.3, stage.room - Math.max(...widths) - 84)),
    grid: { top: head, side: pitch, starts: words.map((_word, place) => left + width * place), widths: words.map(() => width) },
  };
}

/** Where words stand, and all that is in their lanes. */
export class Places {
  /** @param {Stage} stage @param {string[]} words */
  constructor(stage, words) {
    const { isUpright, line, large, posterLeft, left, grid } = planWords(stage, words), { room, height } = stage;
    this.isUpright = isUpright; // words stand below each other,
    this.posterLeft = posterLeft; // and begin here
    this.line = line; // the words above or beside their lanes
    this.large = large; // the words of the poster
    this.strip = line.strip;
    this.left = left; // where the lanes begin
    this.room = room - left;
    this.grid = grid; // of all words
    this.height = height;
    this.by = height / HEIGHT;
    /** In pixels. @type {Step[]} */
    this.table = (isUpright ? BESIDE : BELOW).map((step) => Object.fromEntries(Object.entries(step).map(([kind, depth]) => {
      const [at, extent, opacity] = /** @type {Depth} */ (depth), by = isUpright ? this.room - 2 : this.by;
      return [kind, /** @type {Depth} */ ([at * by, extent * by, opacity])];
    })));
  }

  /** How deep a kind is at a step that shows it. @param {number} step @param {string} kind */
  depth(step, kind) { return /** @type {Depth} */ (this.table[step][kind]); }

  /** In the lane of a word. @param {number} place @param {number} depth @param {number} extent @param {number} [thick] @returns {Box} */
  box(place, depth, extent, thick = this.strip) {
    const across = this.line.centres[place] - thick / 2;
    return this.isUpright ? [this.left + depth, across, extent, thick] : [across, depth, thick, extent];
  }

  /** In the middle of the lane of a word. @param {number} place @param {number} depth @returns {[x: number, y: number]} */
  point(place, depth) {
    const centre = this.line.centres[place];
    return this.isUpright ? [this.left + depth, centre] : [centre, depth];
  }

  /**
   * Where a kind is at a step, or where it comes from, or what it became.
   * @param {number} step @param {string} kind @param {number} place @param {number} asker @returns {{ box: Box, opacity: number }}
   */
  spot(step, kind, place, asker) {
    const { table, isUpright } = this, now = table[step], depth = now[kind];
    if (depth) return { box: kind === "output" ? this.output(asker) : this.box(place, depth[0], depth[1]), opacity: depth[2] };
    const numbers = this.depth(NUMBERS, "x");
    if (step < (BORN[kind] ?? 0)) {
      const [at, extent] = now[SOURCE[kind]] ?? now.x ?? numbers;
      return { box: this.box(kind === "asked" ? asker : place, at, extent), opacity: 0 };
    }
    const score = now.score ?? table[WEIGHTS].score;
    if (["query", "asked", "product", "key"].includes(kind) && score) {
      return { box: isUpright ? this.box(place, score[0] - 10, 20, 12) : this.box(place, score[0] - 2, 4, this.strip / 2), opacity: 0 };
    }
    const [at, extent] = table[OUTPUT][kind] ?? numbers;
    return { box: this.box(place, at, extent), opacity: 0 };
  }

  /** The sum of all weighted values is wider than any of them. @param {number} asker @returns {Box} */
  output(asker) {
    const { strip, isUpright, height, line: { centres } } = this, [at, extent] = this.depth(OUTPUT, "output");
    if (!isUpright) return this.box(asker, at, extent, strip + 20);
    const thick = Math.min(height * 0.4, strip * 4), half = thick / 2 + 4;
    return [this.left + at, Math.max(half + 36, Math.min(height - half, centres[asker])) - thick / 2, extent, thick];
  }

  /** Where the cells of a word come from when all words are shown: its bar, or the end of its arc. @param {number} step @param {number} place @returns {Box} */
  seed(step, place) {
    const centre = this.line.centres[place];
    return this.isUpright ? [this.left, centre - 8, 20, 16] : [centre - 22, step === WEIGHTS ? 320 : 60, 44, 20];
  }
}
