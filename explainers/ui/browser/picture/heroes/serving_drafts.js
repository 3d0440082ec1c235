// @ts-check
// A text and a tree of drafts behind it, checked in one pass; and the mask of that pass.

/** @import { Sentence } from "../hero.js" */
/** @import { Serving } from "./serving.js" */

import { element, shape } from "../../common/elements.js";
import { _ } from "../../common/words.js";

/** @typedef {{ cells: string[], places: number[], gaps: string[], wrong: boolean[], gap: string, kind: string }} Way how the drafts are read, and by how much each is off */
/**
 * @typedef {object} Drafts
 * @property {string[]} text
 * @property {string[]} drafts
 * @property {number[]} parents
 * @property {number[]} right drafts that the model would have written
 * @property {string} chosen the token after them
 * @property {string} largest
 * @property {Record<string, Way>} ways
 */

const ROW = 39, SIZE = 16, TITLE = 26, NAMES = 74, BRANCH = 34;

export class DraftsView {
  /** @param {Serving} hero */
  constructor(hero) {
    this.hero = hero;
    this.root = hero.addView("drafts");
    this.lines = /** @type {SVGSVGElement} */ (this.root.appendChild(shape("svg", { class: "serving-lines", "aria-hidden": "true" })));
    this.branches = this.lines.appendChild(shape("path", { class: "serving-branches" }));
    this.kept = this.lines.appendChild(shape("path", { class: "serving-branches right" }));
    this.text = this.root.appendChild(element("div", "serving-text"));
    this.titles = [_("drafts, and by how much each is off"), _("who sees whom in this pass")].map((title) => this.root.appendChild(element("div", "text serving-name strong", title)));
    this.grid = this.root.appendChild(element("canvas", "serving-mask"));
    /** @type {HTMLElement[]} */
    this.nodes = [];
    /** @type {HTMLElement[]} */
    this.names = [];
    /** @type {{ size: number, cell: number }} */
    this.form = { size: 0, cell: 0 };
  }

  /** @returns {string[]} */
  frames() { return []; }

  get way() { return this.hero.data.drafts?.ways[String(this.hero.choices.draft_mask)] ?? this.hero.data.drafts?.ways.tree; }

  /** Which line each draft is on: those that nobody follows have a line each. */
  findRows() {
    const { parents } = /** @type {Drafts} */ (this.hero.data.drafts), rows = parents.map(() => 0);
    let row = 0;
    const visit = (/** @type {number} */ draft) => {
      const children = parents.flatMap((parent, child) => (parent === draft ? [child] : []));
      for (const child of children) visit(child);
      if (draft < 0) return;
      rows[draft] = children.length ? children.reduce((sum, child) => sum + rows[child], 0) / children.length : row++;
    };
    visit(-1);
    return { rows, count: row };
  }

  place() {
    const { hero } = this, { stage, data } = hero, { drafts } = data, { way } = this;
    if (!drafts || !way) return 40;
    const { room } = stage, isPhone = room < 560, { rows, count } = this.findRows(), size = way.cells.length;
    const leaders = this.measureNodes(true), followers = this.measureNodes(false), most = isPhone ? 15 : Math.min(18, (count * ROW + 10) / size);
    const needed = Math.min(room * 0.36, 126) + 28 + leaders.word + BRANCH + followers.beside; // a text of three lines, and its tree
    const cell = isPhone ? Math.min(most, (room - NAMES) / size) : Math.max(12, Math.min(most, (room - needed - NAMES) / size)), square = size * cell;
    const wide = isPhone ? room : room - square - NAMES - 50, top = TITLE + (isPhone ? 34 : 0), left = isPhone ? 0 : wide + 50;
    this.form = { size, cell };
    this.text.textContent = drafts.text.join(" ");
    stage.write(this.titles[0], 0, 9, 15, 1, 0, "left");
    const textWide = isPhone ? 0 : Math.min(wide * 0.36, stage.widths([drafts.text.join(" ")], SIZE)[0] / 2 + 24), middle = top + (count * ROW) / 2;
    if (isPhone) stage.put(this.text, { x: 0, y: TITLE - 2, width: room, height: 26 });
    else stage.put(this.text, { x: 0, y: middle - 40, width: textWide, height: 80 });
    const begin = isPhone ? 20 : textWide + 28, second = isPhone ? room * 0.5 : begin + (wide - begin) * 0.5;
    // Where there is no room beside a draft that others follow, its number is below it: it has two lines.
    const isBelow = second - begin < leaders.beside + BRANCH;
    this.placeNodes(rows, [begin, isBelow ? begin + leaders.word + BRANCH : second], top, isPhone ? [8, TITLE + 24] : [textWide + 2, middle], isBelow);
    const below = isPhone ? top + count * ROW + 30 : 0;
    stage.write(this.titles[1], left, below + 9, 15, 1, 0, "left");
    stage.put(this.grid, { x: left + NAMES, y: below + TITLE, width: square, height: square });
    this.placeNames(left, below + TITLE, cell);
    const height = Math.max(top + count * ROW, below + TITLE + square) + 6;
    this.lines.setAttribute("viewBox", `0 0 ${room} ${height}`);
    stage.put(/** @type {HTMLElement} */ (/** @type {unknown} */ (this.lines)), { x: 0, y: 0, width: room, height });
    return height;
  }

  /** How wide drafts are, alone and with their numbers beside them: those that others follow, or the rest. @param {boolean} leads */
  measureNodes(leads) {
    const { stage, data } = this.hero, { drafts, parents } = /** @type {Drafts} */ (data.drafts), gaps = this.way?.gaps ?? [];
    const some = drafts.flatMap((_word, draft) => (parents.includes(draft) === leads ? [draft] : []));
    const words = some.map((draft) => Math.max(38, stage.widths([drafts[draft]], 15)[0] + 17));
    const numbers = stage.widths(some.map((draft) => gaps[draft]), 13);
    return { word: Math.max(0, ...words), beside: Math.max(0, ...words.map((word, at) => word + 8 + numbers[at])) };
  }

  /** @param {number[]} rows @param {number[]} columns @param {number} top @param {number[]} start @param {boolean} isBelow */
  placeNodes(rows, columns, top, start, isBelow) {
    const { stage, data } = this.hero, drafts = /** @type {Drafts} */ (data.drafts), way = /** @type {Way} */ (this.way);
    while (this.nodes.length < drafts.drafts.length) {
      const node = this.root.appendChild(element("div", "serving-draft"));
      node.append(element("b"), element("span"));
      this.nodes.push(node);
    }
    /** @type {Record<"all" | "right", string[]>} */
    const paths = { all: [], right: [] };
    this.nodes.forEach((node, draft) => {
      node.hidden = draft >= drafts.drafts.length;
      if (node.hidden) return;
      const parent = drafts.parents[draft], depth = parent < 0 ? 0 : 1, y = top + (rows[draft] + 0.5) * ROW, x = columns[depth];
      const isRight = drafts.right.includes(draft), [word, gap] = node.children;
      word.textContent = drafts.drafts[draft];
      gap.textContent = way.gaps[draft];
      node.classList.toggle("right", isRight);
      node.classList.toggle("wrong", way.wrong[draft]);
      node.classList.toggle("below", isBelow && drafts.parents.includes(draft));
      stage.put(node, { x, y: y - 14, width: 150, height: 28 });
      const wide = stage.widths([drafts.drafts[parent] ?? ""], SIZE)[0] + (isBelow ? 20 : 86);
      const [fromX, fromY] = parent < 0 ? start : [columns[0] + wide, top + (rows[parent] + 0.5) * ROW], middle = (fromX + x) / 2;
      (isRight ? paths.right : paths.all).push(`M${fromX.toFixed(1)} ${fromY.toFixed(1)}C${middle.toFixed(1)} ${fromY.toFixed(1)} ${middle.toFixed(1)} ${y.toFixed(1)} ${(x - 3).toFixed(1)} ${y.toFixed(1)}`);
    });
    this.branches.setAttribute("d", paths.all.join(""));
    this.kept.setAttribute("d", paths.right.join(""));
  }

  /** The tokens of the pass, beside the rows of its mask. @param {number} left @param {number} top @param {number} cell */
  placeNames(left, top, cell) {
    const { stage, data } = this.hero, drafts = /** @type {Drafts} */ (data.drafts), tokens = [...drafts.text, ...drafts.drafts];
    while (this.names.length < tokens.length) this.names.push(this.root.appendChild(element("div", "text serving-name")));
    this.names.forEach((name, at) => {
      name.hidden = at >= tokens.length;
      name.textContent = tokens[at] ?? "";
      name.classList.toggle("strong", at >= drafts.text.length);
      stage.write(name, left + NAMES - 6, top + (at + 0.5) * cell, Math.min(14, cell), 1, 0, "right");
    });
  }

  paint() {
    const { hero, way } = this, { size, cell } = this.form, scale = devicePixelRatio, side = size * cell;
    if (this.root.hidden || !way || !hero.data.drafts) return;
    Object.assign(this.grid, { width: Math.round(side * scale), height: Math.round(side * scale) });
    const pen = this.grid.getContext("2d"), style = getComputedStyle(hero.root), length = hero.data.drafts.text.length;
    const own = hero.data.drafts.ways.tree.cells;
    if (!pen) return;
    pen.scale(scale, scale);
    way.cells.forEach((row, query) => [...row].forEach((seen, key) => {
      const isWrong = seen !== own[query][key];
      pen.globalAlpha = seen === "1" ? (query < length ? 0.45 : 1) : 0.07;
      pen.fillStyle = seen !== "1" ? style.color : isWrong ? style.getPropertyValue("--wrong") : style.getPropertyValue("--head0");
      pen.fillRect(key * cell, query * cell, cell - 1.5, cell - 1.5);
    }));
  }

  /** @returns {Sentence} */
  sentence() {
    const { hero: { data, choices }, way } = this, { drafts } = data, mask = String(choices.draft_mask);
    const right = drafts?.right.length ?? 0;
    const values = {
      drafts: String(drafts?.drafts.length ?? 0), rows: String(way?.cells.length ?? 0), right: String(right), written: String(right + 1),
      gap: way?.gap ?? "", largest: drafts?.largest ?? "",
    };
    const kind = way?.kind ?? "rounding", ending = mask !== "tree" ? `_${mask}` : kind === "rounding" ? "" : `_${kind}`;
    return { name: `hero_drafts${ending}`, values, classes: { gap: kind === "real" ? "wrong" : "", written: "value" } };
  }

  describe() {
    const { drafts } = this.hero.data, { way } = this;
    return drafts?.drafts.map((word, draft) => `${drafts.drafts[drafts.parents[draft]] ?? "…"} ${word}: ${way?.gaps[draft]}`).join("; ") ?? "";
  }
}
