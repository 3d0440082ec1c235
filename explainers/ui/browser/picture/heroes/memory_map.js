// @ts-check
// A map of texts: how long, and how many at once. Its lines are as far as so many GPUs reach.

/** @import { Stage } from "../stage.js" */
/** @import { Plan } from "./memory.js" */

import { element, shape } from "../../common/elements.js";
import { _, grouped } from "../../common/words.js";

/**
 * @typedef {object} MapState
 * @property {number} row that is chosen: how many texts
 * @property {number} column how long
 * @property {string} number of GPUs
 * @property {string} told what holds at the point
 */

const LEFT = 46, FEET = 42, PAD = 9, HIGH = 218, MARK = 22, SAME = 9; // pixels for the number on a line, and between lines that look like one

export class MemoryMap {
  /** @param {Stage} stage @param {(row: number, column: number) => void} choose by their places */
  constructor(stage, choose) {
    this.stage = stage;
    this.choose = choose;
    this.wide = 0;
    this.drawn = "";
    /** @type {number[]} */
    this.lengths = [];
    /** @type {number[]} */
    this.counts = [];
    /** @type {Plan[]} */
    this.plans = [];
    /** @type {number[]} */
    this.samples = [];
    this.at = [0, 0];
    this.root = stage.add("div", "memory-map");
    this.sheet = /** @type {SVGSVGElement} */ (this.root.appendChild(shape("svg", { "aria-hidden": "true" })));
    this.titles = [stage.add("div", "text quiet", _("texts at once ↑")), stage.add("div", "text quiet", _("tokens in each text →"))];
    this.across = stage.add("div", "memory-guide");
    this.down = stage.add("div", "memory-guide");
    this.busy = stage.add("div", "memory-mark", _("computing limits"));
    this.least = stage.add("div", "memory-mark");
    this.most = stage.add("div", "memory-mark");
    this.point = stage.add("button", "memory-point");
    this.point.setAttribute("aria-roledescription", _("point on a map, moved with the arrow keys"));
    /** @type {HTMLElement[]} */
    this.heads = [];
    /** @type {HTMLElement[]} */
    this.names = [];
    /** @type {HTMLElement[]} */
    this.marks = [];
    this.point.addEventListener("keydown", (event) => this.walk(event));
    for (const node of /** @type {HTMLElement[]} */ ([this.root, this.point])) {
      node.addEventListener("pointerdown", (event) => this.grasp(event));
      node.addEventListener("pointermove", (event) => this.pull(event));
      node.addEventListener("lostpointercapture", () => stage.root.classList.remove("pulling"));
    }
  }

  /** @param {string[]} names @param {{ lengths: number[], counts: number[], samples: number[], plans: Plan[] }} data */
  renew(names, { lengths, counts, samples, plans }) {
    const isNew = JSON.stringify([lengths, counts]) !== JSON.stringify([this.lengths, this.counts]);
    Object.assign(this, { lengths, counts, samples, plans, drawn: "" });
    if (isNew) {
      for (const node of [...this.heads, ...this.names]) node.remove();
      this.heads = names.map((name) => this.stage.add("div", "text", name));
      this.names = counts.map((count) => this.stage.add("div", "text", grouped(count)));
    }
    this.root.classList.toggle("unknown", plans.every(({ weights }) => weights === null)); // what fits is not
    for (const node of this.marks) node.remove();
    this.marks = plans.map(() => this.stage.add("div", "memory-mark"));
  }

  /** @param {number} tokens */
  x(tokens) { return PAD + ((this.wide - 2 * PAD) * Math.log(tokens / this.lengths[0])) / Math.log((this.lengths.at(-1) ?? 2) / this.lengths[0]); }
  /** @param {number} texts */
  y(texts) { return HIGH - PAD - ((HIGH - 2 * PAD) * Math.log(texts)) / Math.log(Math.max(2, this.counts.at(-1) ?? 2)); }

  /** Put everything to its place; returns where the map ends. @param {number} top @param {number} wide @param {MapState} state */
  place(top, wide, { row, column, number, told }) {
    const { stage } = this, isPhone = stage.room < 560, left = isPhone ? 42 : LEFT, start = top + 20;
    this.at = [row, column];
    this.wide = wide - left;
    const look = JSON.stringify([this.wide, number]);
    if (look !== this.drawn) this.draw(number, left, start);
    this.drawn = look;
    stage.put(this.root, { x: left, y: start, width: this.wide, height: HIGH });
    stage.write(this.titles[0], 0, top + 6, 14, 1, 0, "left");
    stage.write(this.titles[1], wide, start + HIGH + FEET - 10, 14, 1, 0, "right");
    const x = left + this.x(this.lengths[column]), y = start + this.y(this.counts[row]);
    const [long] = stage.widths([this.heads[column].textContent ?? ""], 14), between = isPhone ? 30 : 36;
    this.label(this.heads, column, (place) => left + this.x(this.lengths[place]), between, Math.max(between, 20 + long / 2),
      (node, at, isSeen) => stage.write(node, at, start + HIGH + 12, isPhone ? 13 : 14, isSeen ? 1 : 0), this.lengths);
    this.label(this.names, row, (place) => start + this.y(this.counts[place]), 15, 15,
      (node, at, isSeen) => stage.write(node, left - 7, at, isPhone ? 13 : 14, isSeen ? 1 : 0, 0, "right"), this.counts);
    stage.put(this.across, { x: left, y: y - 0.5, width: x - left, height: 1 });
    stage.put(this.down, { x: x - 0.5, y, width: 1, height: start + HIGH - y });
    stage.put(this.point, { x: x - 11, y: y - 11, width: 22, height: 22 });
    this.point.setAttribute("aria-label", told);
    return start + HIGH + FEET;
  }

  /**
   * Names along an axis: the chosen one, and whole doublings that leave it room.
   * @param {HTMLElement[]} nodes @param {number} chosen @param {(place: number) => number} find @param {number} room @param {number} beside the chosen one
   * @param {(node: HTMLElement, at: number, isSeen: boolean) => void} write @param {number[]} values
   */
  label(nodes, chosen, find, room, beside, write, values) {
    let last = -Infinity;
    nodes.forEach((node, place) => {
      const at = find(place), isRound = Number.isInteger(Math.log2(values[place]));
      const isSeen = place === chosen || (isRound && Math.abs(at - last) >= room && Math.abs(at - find(chosen)) >= beside);
      if (isSeen && place !== chosen) last = at;
      node.classList.toggle("chosen", place === chosen);
      write(node, at, isSeen);
    });
  }

  /** Areas that so many GPUs hold, each with its line; the chosen one's is bold. @param {string} number @param {number} left @param {number} start */
  draw(number, left, start) {
    const { sheet, samples, plans, wide } = this;
    sheet.setAttribute("viewBox", `0 0 ${Math.max(0, wide)} ${HIGH}`);
    const lines = plans.map(({ reach }) => (reach ?? []).map((texts, place) => {
      const y = texts === null ? -20 : texts <= 0 ? HIGH + 20 : this.y(texts);
      return /** @type {[number, number]} */ ([this.x(samples[place]), Math.max(-20, Math.min(HIGH + 20, y))]);
    }));
    const reaching = plans.filter(({ reach }) => reach?.some((texts) => texts === null || texts >= 1));
    const nodes = lines.flatMap((line, place) => {
      if (!reaching.includes(plans[place])) return [];
      const all = [prolong(line[1] ?? line[0], line[0], 0), ...line, prolong(line.at(-2) ?? line[0], line[line.length - 1], wide)];
      const path = `M${all.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L")}`;
      const area = shape("path", { class: `memory-area level-${reaching.indexOf(plans[place])}`, d: `${path}V${HIGH}H0Z` });
      return [{ area, line: shape("path", { class: `memory-contour${plans[place].number === number ? " chosen" : ""}`, d: path }) }];
    });
    const chosen = plans.findIndex((plan) => plan.number === number), busy = this.shade(lines[chosen] ?? [], plans[chosen]?.turns ?? []);
    const areas = nodes.map(({ area }) => area).reverse(); // the smallest last: it lies in all others
    sheet.replaceChildren(...areas, shape("path", { class: "memory-computing", d: busy.path }), ...nodes.map(({ line }) => line));
    const [long] = this.stage.widths([this.busy.textContent ?? ""], 14), last = this.wide - long; // where it still fits
    this.stage.write(this.busy, left + Math.min(busy.x, last), start + busy.y, 14, busy.path ? 1 : 0, 0, "left");
    this.mark(lines, number, left, start);
    this.tell(lines, reaching, left, start);
  }

  /** Say in the map what its areas are: the smallest, and what no number of GPUs reaches, where there is room. @param {[number, number][][]} lines @param {Plan[]} reaching @param {number} left @param {number} start */
  tell(lines, reaching, left, start) {
    const { stage, plans, wide } = this, last = plans.at(-1), isKnown = plans.some(({ weights }) => weights !== null);
    this.least.textContent = reaching.length ? reaching[0].number === "1" ? _("fits on 1 GPU") : _("fits on {count} GPUs", { count: reaching[0].number }) : "";
    this.most.textContent = isKnown && last ? last.number === "1" ? _("too much for 1 GPU") : _("too much for {count} GPUs", { count: last.number }) : "";
    const [inside, beyond] = stage.widths([this.least.textContent, this.most.textContent], 14);
    const smallest = lines[plans.indexOf(reaching[0])] ?? [], top = (/** @type {number} */ x) => Math.min(HIGH, ...lines.map((line) => heightAt(line, x)));
    const hasRoom = inside > 0 && heightAt(smallest, inside + 14) < HIGH - 44;
    stage.write(this.least, left + 6, start + HIGH - 28, 14, hasRoom ? 1 : 0, 0, "left");
    stage.write(this.most, left + wide - 5, start + 14, 14, beyond > 0 && top(wide - beyond - 24) > 30 ? 1 : 0, 0, "right");
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

  /** The number of GPUs on its line, where the line meets the diagonal. @param {[number, number][][]} lines @param {string} number @param {number} left @param {number} start */
  mark(lines, number, left, start) {
    const { plans } = this, crossings = lines.map((line) => {
      const far = line.map(([x, y]) => y / HIGH - 1 + x / this.wide), after = far.findIndex((value) => value > 0);
      return after > 0 ? between(line, far, after) : null;
    });
    /** @type {{ x: number, y: number, node: HTMLElement, names: string[] }[]} */
    const seen = [];
    const smallest = crossings.findIndex((at) => at && at[1] > 0);
    const order = plans.map((_plan, place) => place).sort((one, two) => Number(plans[two].number === number) - Number(plans[one].number === number));
    for (const place of order) {
      const node = this.marks[place], name = plans[place].number, [x, y] = crossings[place] ?? [0, 0];
      const near = seen.find((other) => Math.abs(other.x - x) < MARK), isSeen = y > 0 && !near;
      if (isSeen) seen.push({ x, y, node, names: [name] });
      else if (y > 0 && near && Math.abs(near.x - x) < SAME) near.names.push(name);
      node.classList.toggle("chosen", name === number);
      if (!isSeen) this.stage.write(node, left + x, start + y, 14, 0, 0, "right");
    }
    for (const { x, y, node, names } of seen) {
      const name = names.sort((one, two) => Number(one) - Number(two)).join(" · "), isFirst = names.includes(plans[smallest].number);
      node.textContent = !isFirst ? name : name === "1" ? _("1 GPU") : _("{count} GPUs", { count: name });
      const isLong = !isFirst && names.length > 1; // away from the others
      this.stage.write(node, left + x + (isLong ? -MARK : MARK) / 2, start + y, 14, 1, 0, isLong ? "left" : "right");
    }
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
    const by = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [1, 0], ArrowDown: [-1, 0] }[event.key];
    if (!by || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    const row = Math.max(0, Math.min(this.counts.length - 1, this.at[0] + by[0]));
    this.choose(row, Math.max(0, Math.min(this.lengths.length - 1, this.at[1] + by[1])));
  }
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
