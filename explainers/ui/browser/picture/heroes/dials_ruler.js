// @ts-check
// A ruler of positions, and on it the two words, each with its name and its position.

/** @typedef {import("../stage.js").Stage} Stage */
/** @typedef {{ left: number, right: number, y: number }} RulerPlace */

const LETTERS = 16, GAP = 10, TENS = 10; // pixels; as many marks as the longest ruler needs

export class Ruler {
  /** @param {Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.line = stage.draw("path", "dials-ruler");
    this.ticks = Array.from({ length: TENS }, (_one, ten) => stage.add("div", "text quiet", String(10 * ten)));
    this.dots = ["key", "query"].map((name) => stage.draw("circle", `dials-dot ${name}`));
    this.flags = ["key", "query"].map((name) => stage.add("div", `text dials-flag ${name}`));
    for (const flag of this.flags) flag.classList.remove("moves");
    /** @type {RulerPlace} */
    this.at = { left: 0, right: 0, y: 0 };
    this.last = 1;
  }

  /** @param {RulerPlace} at @param {number} last position @param {number} each how far apart positions are written */
  place(at, last, each) {
    Object.assign(this, { at, last });
    const marks = this.ticks.map((tick, ten) => {
      const position = 10 * ten, x = this.across(position);
      this.stage.write(tick, x, at.y + 15, 14, position <= last && position % each === 0 ? 1 : 0);
      return position <= last ? `M${x} ${at.y}v6` : "";
    });
    this.line.setAttribute("d", `M${at.left} ${at.y}H${at.right}${marks.join("")}`);
  }

  /** @param {number} position */
  across(position) { return this.at.left + ((this.at.right - this.at.left) * position) / this.last; }

  /**
   * Names stand beside their dots, and where there is no room, beside each other.
   * @param {[number, number]} positions of the key and of the query, on their way @param {[string, string]} names
   */
  paint(positions, names) {
    const { stage, at, flags } = this, [left, right] = positions[1] >= positions[0] ? [0, 1] : [1, 0];
    positions.forEach((position, n) => {
      const dot = { cx: this.across(position), cy: at.y, r: n ? 5 : 7 };
      for (const [name, value] of Object.entries(dot)) this.dots[n].setAttribute(name, value.toFixed(1));
      if (flags[n].textContent !== names[n]) flags[n].textContent = names[n];
    });
    const wide = stage.widths(names, LETTERS, 700);
    const from = Math.max(0, this.across(positions[left]) - GAP / 2 - wide[left]);
    const to = Math.min(stage.room - wide[right], Math.max(this.across(positions[right]) + GAP / 2, from + wide[left] + GAP));
    stage.write(flags[left], Math.min(from, to - GAP - wide[left]), at.y - 17, LETTERS, 1, 0, "left");
    stage.write(flags[right], to, at.y - 17, LETTERS, 1, 0, "left");
  }
}
