// Motion: places move by CSS, numbers by one tween, both for as long and with the same easing.

export const MOVE = 620; // milliseconds; style.css has the same
const EASING = "cubic-bezier(.65, 0, .35, 1)"; // as near to `ease` as CSS comes
const STILL = matchMedia("(prefers-reduced-motion: reduce)");

/** Does this reader want things to stand still? */
export const isStill = () => STILL.matches;

/** @param {() => void} changed */
export function onStillness(changed) {
  STILL.addEventListener("change", changed);
}

/** @param {number} share of the time, from 0 to 1 */
function ease(share) {
  return share < 0.5 ? 4 * share ** 3 : 1 - (2 - 2 * share) ** 3 / 2;
}

/**
 * Numbers on their way to other numbers, all in one array, so that a frame costs one loop.
 * Rows of one kind lie behind each other: `row("key", 2)` is what is shown now of the third.
 */
export class Tween {
  /** @param {() => void} paint is called with every frame */
  constructor(paint) {
    this.paint = paint;
    /** @type {Record<string, { at: number, width: number, count: number }>} */
    this.blocks = {};
    this.now = this.from = this.to = new Float64Array();
    this.began = 0;
    this.isMoving = false;
  }

  /**
   * Go to these numbers from whatever is shown now.
   * @param {Record<string, number[][]>} goal rows of each kind @param {boolean} [atOnce]
   */
  aim(goal, atOnce = false) {
    const blocks = placed(goal), to = Float64Array.from(Object.values(goal).flat(2));
    if (JSON.stringify(blocks) !== JSON.stringify(this.blocks)) this.now = this.stretched(blocks, to);
    Object.assign(this, { blocks, to });
    this.start(atOnce);
  }

  /** Run over the same way again, for what is drawn between places: lines, say. */
  start(atOnce = false) {
    this.from = this.now.slice();
    this.began = performance.now();
    if (atOnce || isStill() || document.hidden) {
      this.frame(1);
      this.from = this.to; // a motion that is still under way has arrived as well
      return;
    }
    if (this.isMoving) return;
    this.isMoving = true;
    requestAnimationFrame(() => this.tick());
  }

  /** @param {string} kind @param {number} place */
  row(kind, place) {
    const { at, width } = this.blocks[kind];
    return this.now.subarray(at + place * width, at + (place + 1) * width);
  }

  tick() {
    const share = Math.min(1, (performance.now() - this.began) / MOVE);
    this.frame(ease(share));
    this.isMoving = share < 1;
    if (this.isMoving) requestAnimationFrame(() => this.tick());
  }

  /** @param {number} share */
  frame(share) {
    const { now, from, to } = this;
    for (let k = 0; k < now.length; k++) now[k] = from[k] + (to[k] - from[k]) * share;
    this.paint();
  }

  /**
   * Rows of another length or number: each begins as the old row that it stretches.
   * @param {Tween["blocks"]} blocks @param {Float64Array} to
   */
  stretched(blocks, to) {
    const now = to.slice();
    for (const [kind, { at, width, count }] of Object.entries(blocks)) {
      const old = this.blocks[kind];
      if (!old?.count || !old.width) continue;
      for (let r = 0; r < count; r++) for (let d = 0; d < width; d++) {
        const row = Math.min(r, old.count - 1), place = Math.floor((d * old.width) / width);
        now[at + r * width + d] = this.now[old.at + row * old.width + place];
      }
    }
    return now;
  }
}

/** Animations that the next step ends. */
export class Acts {
  constructor() {
    /** @type {Animation[]} */
    this.running = [];
  }

  stop() {
    for (const one of this.running) one.cancel();
    this.running = [];
  }

  /** It is seen, though it may be hidden before and after. @param {Element} node @param {Keyframe[]} frames @param {number} duration @param {number} [delay] */
  act(node, frames, duration, delay = 0) {
    const seen = frames.map((frame) => ({ visibility: "visible", ...frame }));
    this.running.push(node.animate(seen, { easing: EASING, fill: "backwards", duration, delay }));
  }
}

/** @param {Record<string, number[][]>} goal */
function placed(goal) {
  let at = 0;
  /** @type {Tween["blocks"]} */
  const blocks = {};
  for (const [kind, rows] of Object.entries(goal)) {
    blocks[kind] = { at, width: rows[0]?.length ?? 0, count: rows.length };
    at += blocks[kind].width * rows.length;
  }
  return blocks;
}
