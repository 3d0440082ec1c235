// A map of texts: how long, and how many at once. Its lines are as far as so many GPUs reach.

/** @import { Mark } from "../scene.js" */
/** @import { Stage } from "../stage.js" */
/** @import { Plan } from "./memory.js" */

import { ACROSS, take } from "../../common/keys.js";
import { _, grouped } from "../../common/words.js";

const LEFT = 46, FEET = 42, PAD = 9, HIGH = 218, MARK = 22, SAME = 9; // pixels for the number on a line, and between lines that look like one

export class MemoryMap {
  /** @param {Stage} stage @param {(row: number, column: number) => void} choose by their places */
  constructor(stage, choose) {
    this.stage = stage;
    this.choose = choose;
    this.wide = 0;
    this.drawn = "";
    this.at = [0, 0];
    /** @type {Record<"still" | "marks" | "numbers", Mark[]>} that hold until another number of GPUs is chosen, or the room changes; the first below the guides */
    this.kept = { still: [], marks: [], numbers: [] };
    this.names = /** @type {string[]} */ ([]);
    this.lengths = this.counts = this.samples = /** @type {number[]} */ ([]);
    this.plans = /** @type {Plan[]} */ ([]);
    this.root = this.point = /** @type {HTMLElement} */ (/** @type {unknown} */ (null));
  }

  /** @param {HTMLElement} node of the map, or of its point */
  listen(node) {
    node.addEventListener("pointerdown", (event) => this.grasp(event));
    node.addEventListener("pointermove", (event) => this.pull(event));
    node.addEventListener("lostpointercapture", () => this.stage.root.classList.remove("pulling"));
    return node;
  }

  /** @param {string[]} names @param {{ lengths: number[], counts: number[], samples: number[], plans: Plan[] }} data */
  renew(names, { lengths, counts, samples, plans }) { Object.assign(this, { names, lengths, counts, samples, plans, drawn: "" }); }

  /** @param {number} tokens */
  x(tokens) { return PAD + ((this.wide - 2 * PAD) * Math.log(tokens / this.lengths[0])) / Math.log((this.lengths.at(-1) ?? 2) / this.lengths[0]); }
  /** @param {number} texts */
  y(texts) { return HIGH - PAD - ((HIGH - 2 * PAD) * Math.log(texts)) / Math.log(Math.max(2, this.counts.at(-1) ?? 2)); }

  /** Everything in its place, and where the map ends; the names of lengths and counts, which are there with the data. @param {number} top @param {number} wide @param {{ row: number, column: number, number: string, told: string }} state of the point */
  mark(top, wide, { row, column, number, told }) {
    const { stage } = this, isPhone = stage.room < 560, left = isPhone ? 42 : LEFT, start = top + 20, small = isPhone ? 13 : 14;
    this.at = [row, column];
    this.wide = wide - left;
    const look = JSON.stringify([left, wide, number]);
    if (look !== this.drawn) this.draw(number, left, start, wide);
    this.drawn = look;
    const x = left + this.x(this.lengths[column]), y = start + this.y(this.counts[row]);
    const [long] = stage.widths([this.names[column]], 14), between = isPhone ? 30 : 36;
    const lengths = chooseNames(this.lengths, column, (place) => left + this.x(this.lengths[place]), between, Math.max(between, 20 + long / 2));
    const counts = chooseNames(this.counts, row, (place) => start + this.y(this.counts[place]), 15, 15);
    const marks = /** @type {Mark[]} */ ([
      ...this.kept.still,
      { key: "across", class: "memory-guide", box: [left, y - 0.5, x - left, 1] },
      { key: "down", class: "memory-guide", box: [x - 0.5, y, 1, start + HIGH - y] },
      ...this.kept.marks,
      {
        key: "point", tag: "button", class: "memory-point", box: [x - 11, y - 11, 22, 22],
        attributes: { "aria-roledescription": _("point on a map, moved with the arrow keys"), "aria-label": told },
        made: (point) => {
          this.point = this.listen(point);
          point.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => this.walk(event));
        },
      },
    ]);
    const names = /** @type {Mark[]} */ ([
      ...lengths.map(({ at, isSeen }, place) => ({
        key: `length ${place}`, class: "text", is: { chosen: place === column }, text: this.names[place], at: [at, start + HIGH + 12, small], opacity: isSeen ? 1 : 0,
      })),
      ...counts.map(({ at, isSeen }, place) => ({
        key: `count ${place}`, class: "text", is: { chosen: place === row }, text: grouped(this.counts[place]), at: [left - 7, at, small], hold: "right", opacity: isSeen ? 1 : 0,
      })),
      ...this.kept.numbers,
    ]);
    return { marks, names, end: start + HIGH + FEET };
  }

  /** Areas that so many GPUs hold, each with its line; the chosen one's is bold. @param {string} number @param {number} left @param {number} start @param {number} end of the map */
  draw(number, left, start, end) {
    const { samples, plans, wide, stage } = this;
    const lines = plans.map(({ reach }) => (reach ?? []).map((texts, place) => {
      const y = texts === null ? -20 : texts <= 0 ? HIGH + 20 : this.y(texts);
      return /** @type {[number, number]} */ ([this.x(samples[place]), Math.max(-20, Math.min(HIGH + 20, y))]);
    }));
    const reaching = plans.filter(({ reach }) => reach?.some((texts) => texts === null || texts >= 1));
    const paths = reaching.map((plan) => {
      const line = lines[plans.indexOf(plan)], all = [prolong(line[1] ?? line[0], line[0], 0), ...line, prolong(line.at(-2) ?? line[0], line[line.length - 1], wide)];
      return `M${all.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L")}`;
    });
    const chosen = plans.findIndex((plan) => plan.number === number), busy = this.shade(lines[chosen] ?? [], plans[chosen]?.turns ?? []), computing = _("computing limits");
    const areas = paths.map((path, level) => ({ key: `area ${level}`, in: "sheet", tag: "svg:path", class: `memory-area level-${level}`, attributes: { d: `${path}V${HIGH}H0Z` } }));
    /** @type {Mark[]} */
    const still = [
      {
        key: "map", class: "memory-map", is: { unknown: plans.every(({ weights }) => weights === null) }, box: [left, start, wide, HIGH], // what fits is not known
        made: (root) => { this.root = this.listen(root); },
      },
      { key: "sheet", in: "map", tag: "svg:svg", attributes: { "aria-hidden": "true", viewBox: `0 0 ${Math.max(0, wide)} ${HIGH}` } },
      ...areas.reverse(), // the smallest last: it lies in all others
      { key: "computing", in: "sheet", tag: "svg:path", class: "memory-computing", attributes: { d: busy.path } },
      ...paths.map((path, level) => ({ key: `contour ${level}`, in: "sheet", tag: "svg:path", class: "memory-contour", is: { chosen: reaching[level].number === number }, attributes: { d: path } })),
      { key: "title of counts", class: "text quiet", text: _("texts at once ↑"), at: [0, start - 14, 14], hold: "left" },
      { key: "title of lengths", class: "text quiet", text: _("tokens in each text →"), at: [end, start + HIGH + FEET - 10, 14], hold: "right" },
    ];
    const marks = /** @type {Mark[]} */ ([
      {
        key: "busy", class: "memory-mark", text: computing, at: [left + Math.min(busy.x, wide - stage.width(computing, 14)), start + busy.y, 14], // where it still fits
        hold: "left", opacity: busy.path ? 1 : 0,
      },
      ...this.tell(lines, reaching, left, start),
    ]);
    this.kept = { still, marks, numbers: this.markNumbers(lines, number, left, start) };
  }

  /** Say in the map what its areas are: the smallest, and what no number of GPUs reaches, where there is room. @param {[number, number][][]} lines @param {Plan[]} reaching @param {number} left @param {number} start @returns {Mark[]} */
  tell(lines, reaching, left, start) {
    const { stage, plans, wide } = this, last = plans.at(-1), isKnown = plans.some(({ weights }) => weights !== null);
    const least = reaching.length ? reaching[0].number === "1" ? _("fits on 1 GPU") : _("fits on {count} GPUs", { count: reaching[0].number }) : "";
    const most = isKnown && last ? last.number === "1" ? _("too much for 1 GPU") : _("too much for {count} GPUs", { count: last.number }) : "";
    const [inside, beyond] = stage.widths([least, most], 14);
    const smallest = lines[plans.indexOf(reaching[0])] ?? [], top = (/** @type {number} */ x) => Math.min(HIGH, ...lines.map((line) => heightAt(line, x)));
    const hasRoom = inside > 0 && heightAt(smallest, inside + 14) < HIGH - 44;
    return [
      { key: "least", class: "memory-mark", text: least, at: [left + 6, start + HIGH - 28, 14], hold: "left", opacity: hasRoom ? 1 : 0 },
      { key: "most", class: "memory-mark", text: most, at: [left + wide - 5, start + 14, 14], hold: "right", opacity: beyond > 0 && top(wide - beyond - 24) > 30 ? 1 : 0 },
    ];
  }

  /** Where computing takes longer than reading, of what fits. @param {[number, number][]} line @param {(number | null)[]} turns */
  shade(line, turns) {
    const inside = line.flatMap(([x, y], place) => {
      const turn = turns[place], low = turn === null || turn === undefined ? -1 : this.y(Math.max(1, turn));
      return low > Math.max(0, y) ? [{ x, high: Math.max(0, y), low }] : [];
    });
    if (!inside.length) return { path: "", x: 0, y: 0 };
    const edge = { ...inside[0], x: inside[0].x - PAD }, all = [edge, ...inside], last = all[all.length - 1];
    const back = [...all].reverse().map(({ x, low }) => `${x} ${low}`);
    return { path: `M${all.map(({ x, high }) => `${x} ${high}`).join("L")}L${back.join("L")}Z`, x: last.x + 5, y: 11 };
  }

  /** The number of GPUs on its line, where the line meets the diagonal. @param {[number, number][][]} lines @param {string} number @param {number} left @param {number} start @returns {Mark[]} */
  markNumbers(lines, number, left, start) {
    const { plans } = this, crossings = lines.map((line) => {
      const far = line.map(([x, y]) => y / HIGH - 1 + x / this.wide), after = far.findIndex((value) => value > 0);
      return after > 0 ? between(line, far, after) : null;
    });
    /** @type {{ x: number, place: number, names: string[] }[]} */
    const seen = [];
    const smallest = crossings.findIndex((at) => at && at[1] > 0);
    const order = plans.map((_plan, place) => place).sort((one, two) => Number(plans[two].number === number) - Number(plans[one].number === number));
    for (const place of order) {
      const [x, y] = crossings[place] ?? [0, 0], near = seen.find((other) => Math.abs(other.x - x) < MARK);
      if (y > 0 && !near) seen.push({ x, place, names: [plans[place].number] });
      else if (y > 0 && near && Math.abs(near.x - x) < SAME) near.names.push(plans[place].number);
    }
    return plans.map((plan, place) => {
      const [x, y] = crossings[place] ?? [0, 0], names = seen.find((one) => one.place === place)?.names.sort((one, two) => Number(one) - Number(two)) ?? [];
      const name = names.join(" · "), isFirst = names.includes(plans[smallest]?.number), isLong = !isFirst && names.length > 1; // away from the others
      return {
        key: `number ${place}`, class: "memory-mark", is: { chosen: plan.number === number }, text: !isFirst ? name : name === "1" ? _("1 GPU") : _("{count} GPUs", { count: name }),
        at: [left + x + (names.length ? (isLong ? -MARK : MARK) / 2 : 0), start + y, 14], hold: isLong ? "left" : "right", opacity: names.length ? 1 : 0,
      };
    });
  }

  /** @param {PointerEvent} event */
  grasp(event) {
    if (event.button || !event.isPrimary) return;
    event.preventDefault(); // of selecting text
    this.point.focus({ preventScroll: true });
    /** @type {HTMLElement} */ (event.currentTarget).setPointerCapture(event.pointerId);
    this.pull(event);
  }

  /** @param {PointerEvent} event */
  pull(event) {
    const node = /** @type {HTMLElement} */ (event.currentTarget);
    if (!node.hasPointerCapture(event.pointerId)) return;
    if (event.type === "pointermove") this.stage.root.classList.add("pulling");
    const box = this.root.getBoundingClientRect(), zoom = box.width / this.wide || 1;
    const x = (event.clientX - box.left) / zoom, y = (event.clientY - box.top) / zoom;
    const row = nearest(this.counts.map((count) => this.y(count)), y), column = nearest(this.lengths.map((length) => this.x(length)), x);
    if (row !== this.at[0] || column !== this.at[1]) this.choose(row, column);
  }

  /** @param {KeyboardEvent} event */
  walk(event) {
    const by = take(event, ACROSS), within = (/** @type {number[]} */ values, /** @type {number} */ at) => Math.max(0, Math.min(values.length - 1, at));
    if (by) this.choose(within(this.counts, this.at[0] - by[1]), within(this.lengths, this.at[1] + by[0]));
  }
}

/**
 * Names along an axis that are seen: the chosen one, and whole doublings that leave it room.
 * @param {number[]} values @param {number} chosen @param {(place: number) => number} find @param {number} room @param {number} beside the chosen one
 */
function chooseNames(values, chosen, find, room, beside) {
  let last = -Infinity;
  return values.map((value, place) => {
    const at = find(place), isRound = Number.isInteger(Math.log2(value));
    const isSeen = place === chosen || (isRound && Math.abs(at - last) >= room && Math.abs(at - find(chosen)) >= beside);
    if (isSeen && place !== chosen) last = at;
    return { at, isSeen };
  });
}

/** Where a line crosses the diagonal. @param {[number, number][]} line @param {number[]} far @param {number} after @returns {[number, number]} */
function between(line, far, after) {
  const share = far[after - 1] / (far[after - 1] - far[after]), [one, two] = [line[after - 1], line[after]];
  return [one[0] + share * (two[0] - one[0]), one[1] + share * (two[1] - one[1])];
}

/** How high a line is at a place. @param {[number, number][]} line @param {number} x */
function heightAt(line, x) { return (line.find((point) => point[0] >= x) ?? line.at(-1) ?? [0, HIGH])[1]; }

/** A line goes on as it ended. @param {[number, number]} before @param {[number, number]} end @param {number} x @returns {[number, number]} */
function prolong(before, end, x) {
  const slope = end[0] === before[0] ? 0 : (end[1] - before[1]) / (end[0] - before[0]);
  return [x, Math.max(-20, Math.min(HIGH + 20, end[1] + slope * (x - end[0])))];
}

/** @param {number[]} values @param {number} wanted */
function nearest(values, wanted) {
  return values.reduce((best, value, place) => (Math.abs(value - wanted) < Math.abs(values[best] - wanted) ? place : best), 0);
}
