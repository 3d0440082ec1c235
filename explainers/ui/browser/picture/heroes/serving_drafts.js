// A text and a tree of drafts behind it, checked in one pass; and the mask of that pass.

/** @import { Sentence } from "../hero.js" */
/** @import { Mark } from "../scene.js" */

import { _ } from "../../common/words.js";
import { markTitle, takePen, View } from "./serving_parts.js";

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

export class DraftsView extends View {
  get way() { return this.hero.data.drafts?.ways[String(this.hero.choices.draft_mask)] ?? this.hero.data.drafts?.ways.tree; }

  /** Which line each draft is on: those that nobody follows have a line each. @param {Drafts} drafts */
  findRows({ parents }) {
    const rows = parents.map(() => 0);
    let count = 0;
    const visit = (/** @type {number} */ draft) => {
      const children = parents.flatMap((parent, child) => (parent === draft ? [child] : []));
      children.forEach(visit);
      if (draft >= 0) rows[draft] = children.length ? children.reduce((sum, child) => sum + rows[child], 0) / children.length : count++;
    };
    visit(-1);
    return { rows, count };
  }

  /** @returns {Mark[]} */
  marks() {
    const { hero: { stage, data: { drafts } }, way } = this, { room } = stage;
    if (!drafts || !way) return [];
    const isPhone = room < 560, { rows, count } = this.findRows(drafts), size = way.cells.length, text = drafts.text.join(" ");
    const leaders = this.measureNodes(true), followers = this.measureNodes(false), most = isPhone ? 15 : Math.min(18, (count * ROW + 10) / size);
    const needed = Math.min(room * 0.36, 126) + 28 + leaders.word + BRANCH + followers.beside; // a text of three lines, and its tree
    const cell = isPhone ? Math.min(most, (room - NAMES) / size) : Math.max(12, Math.min(most, (room - needed - NAMES) / size)), square = size * cell;
    const wide = isPhone ? room : room - square - NAMES - 50, top = TITLE + (isPhone ? 34 : 0), left = isPhone ? 0 : wide + 50;
    const textWide = isPhone ? 0 : Math.min(wide * 0.36, stage.width(text, SIZE) / 2 + 24), middle = top + (count * ROW) / 2;
    const begin = isPhone ? 20 : textWide + 28, second = isPhone ? room * 0.5 : begin + (wide - begin) * 0.5;
    // Where there is no room beside a draft that others follow, its number is below it: it has two lines.
    const isBelow = second - begin < leaders.beside + BRANCH, columns = [begin, isBelow ? begin + leaders.word + BRANCH : second];
    const below = isPhone ? top + count * ROW + 30 : 0, grid = below + TITLE;
    stage.resize(room, Math.max(top + count * ROW, grid + square) + 6);
    return [
      { key: "text", class: "serving-text", text, box: isPhone ? [0, TITLE - 2, room, 26] : [0, middle - 40, textWide, 80] },
      markTitle("title of drafts", _("drafts, and by how much each is off"), 0, 9),
      markTitle("title of mask", _("who sees whom in this pass"), left, below + 9),
      { key: "mask", tag: "canvas", class: "serving-mask", box: [left + NAMES, grid, square, square], numbers: [], draw: (canvas) => this.paint(canvas, cell) },
      ...this.markTree(drafts, way, { rows, columns, top, start: isPhone ? [8, TITLE + 24] : [textWide + 2, middle], isBelow }),
      ...[...drafts.text, ...drafts.drafts].map((token, at) => /** @type {Mark} */ ({
        key: `name ${at}`, class: "text serving-name", is: { strong: at >= drafts.text.length }, text: token,
        at: [left + NAMES - 6, grid + (at + 0.5) * cell, Math.min(14, cell)], hold: "right",
      })),
    ];
  }

  /** How wide drafts are, alone and with their numbers beside them: those that others follow, or the rest. @param {boolean} leads */
  measureNodes(leads) {
    const { stage, data } = this.hero, { drafts, parents } = /** @type {Drafts} */ (data.drafts), gaps = this.way?.gaps ?? [];
    const some = drafts.flatMap((_word, draft) => (parents.includes(draft) === leads ? [draft] : []));
    const words = some.map((draft) => Math.max(38, stage.width(drafts[draft], 15) + 17));
    const numbers = stage.widths(some.map((draft) => gaps[draft]), 13);
    return { word: Math.max(0, ...words), beside: Math.max(0, ...words.map((word, at) => word + 8 + numbers[at])) };
  }

  /**
   * @param {Drafts} drafts @param {Way} way
   * @param {{ rows: number[], columns: number[], top: number, start: number[], isBelow: boolean }} places @returns {Mark[]}
   */
  markTree({ drafts, parents, right }, way, { rows, columns, top, start, isBelow }) {
    const { stage } = this.hero, depthOf = (/** @type {number} */ draft) => top + (rows[draft] + 0.5) * ROW;
    const branches = parents.map((parent, draft) => {
      const x = columns[parent < 0 ? 0 : 1], y = depthOf(draft), wide = stage.width(drafts[parent] ?? "", SIZE) + (isBelow ? 20 : 86);
      const [fromX, fromY] = parent < 0 ? start : [columns[0] + wide, depthOf(parent)], middle = (fromX + x) / 2;
      return `M${fromX.toFixed(1)} ${fromY.toFixed(1)}C${middle.toFixed(1)} ${fromY.toFixed(1)} ${middle.toFixed(1)} ${y.toFixed(1)} ${(x - 3).toFixed(1)} ${y.toFixed(1)}`;
    });
    return [
      ...[false, true].map((isRight) => ({
        key: `branches ${isRight}`, tag: "svg:path", class: "serving-branches", is: { right: isRight },
        attributes: { d: branches.filter((_branch, draft) => right.includes(draft) === isRight).join("") },
      })),
      ...drafts.map((word, draft) => /** @type {Mark} */ ({
        key: `draft ${draft}`, class: "serving-draft", is: { right: right.includes(draft), wrong: way.wrong[draft], below: isBelow && parents.includes(draft) },
        box: [columns[parents[draft] < 0 ? 0 : 1], depthOf(draft) - 14, 150, 28], parts: [{ tag: "b", text: word }, { text: way.gaps[draft] }],
      })),
    ];
  }

  /** @param {HTMLCanvasElement} canvas @param {number} cell */
  paint(canvas, cell) {
    const { hero: { data: { drafts } }, way } = this;
    if (!drafts || !way) return;
    const side = way.cells.length * cell, pen = takePen(canvas, side, side), style = getComputedStyle(canvas), own = drafts.ways.tree.cells;
    way.cells.forEach((row, query) => [...row].forEach((seen, key) => {
      const isWrong = seen !== own[query][key];
      pen.globalAlpha = seen === "1" ? (query < drafts.text.length ? 0.45 : 1) : 0.07;
      pen.fillStyle = seen !== "1" ? style.color : style.getPropertyValue(isWrong ? "--wrong" : "--head0");
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
