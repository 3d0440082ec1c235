// @ts-check
// What happens once at a step: a row is written, all others again, and one query reads and is gone.

/** @import { ShelfPlace } from "./shelves_places.js" */

const EASING = "cubic-bezier(.65, 0, .35, 1)";
const WIPE = [{ clipPath: "inset(-6px 100% -6px -6px)", opacity: 0 }, { clipPath: "inset(-6px -6px -6px -6px)", opacity: 1 }];
const FLASH = [{ backgroundColor: "var(--wrong)", opacity: 0.1 }, { backgroundColor: "var(--wrong)", opacity: 0.6, offset: 0.35 }, { opacity: 1 }];

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

  /** @param {ShelfPlace} plan @param {number} step @param {number} pace of 1, or less if there is less time @param {(key: string) => Element | undefined} find a mark's node */
  perform(plan, step, pace, find) {
    this.stop();
    const node = (/** @type {string} */ key) => /** @type {Element} */ (find(key));
    const write = (/** @type {number} */ side, /** @type {number} */ row, delay = 0) => {
      this.act(node(`key ${side} ${row}`), WIPE, 420 * pace, delay);
      this.act(node(`value ${side} ${row}`), WIPE, 420 * pace, delay + 120 * pace);
    };
    write(0, step);
    for (let row = 0; row <= step; row++) {
      const delay = Math.min(45, 320 / (step + 1)) * row * pace;
      write(1, row, delay);
      this.act(node(`band 1 ${row}`), FLASH, 900 * pace, delay);
    }
    for (const side of [0, 1]) this.act(node(`ticks ${side} now`), [{ opacity: 0 }, { opacity: 1 }], 300 * pace, 200 * pace);
    const [x, y] = plan.corners[0], delay = 300 * pace, duration = 780 * pace;
    const at = (/** @type {number} */ left, /** @type {number} */ row) =>
      `translate(${(x + plan.key + left).toFixed(1)}px, ${(y + plan.top + plan.pitch * row).toFixed(1)}px)`;
    this.act(node("query"), [
      { transform: at(-plan.gutter - 10, step), opacity: 0 }, { transform: at(-10, step), opacity: 1, offset: 0.22 },
      { transform: at(-10, 0), opacity: 1, offset: 0.86 }, { transform: at(-10, -1), opacity: 0 },
    ], duration, delay);
    for (let row = 0; row < step; row++) {
      const passes = duration * (0.22 + (0.64 * (step - row)) / Math.max(1, step));
      this.act(node(`line ${row}`), [{ opacity: 0 }, { opacity: 1 }], 160 * pace, delay + passes);
    }
  }
}
