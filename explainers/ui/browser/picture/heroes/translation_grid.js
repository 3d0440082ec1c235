// @ts-check
// The same weights as a table: each cell waits in the middle of its line, and grows into its row.

import { percent } from "../sentence.js";

/** @typedef {import("../stage.js").Stage} Stage */
/** @typedef {import("./translation_places.js").Places} Places */
/**
 * @typedef {object} GridState
 * @property {number[][]} rows the weights of each syllable
 * @property {number[][]} lines from where, to where and how wide, syllable by syllable
 * @property {Places} places
 * @property {number} written
 * @property {boolean} isShown
 * @property {{ isColumn: boolean, place: number }} focus
 * @property {(asker: number, seen: number) => boolean} isCorrect
 */

const LEAST_FOR_DIGITS = 14.5; // pixels of a row
const LEAST_TOLD = 0.005; // smaller weights are a dot
const DEEP = 0.5; // a weight from which digits are light on dark

export class TranslationGrid {
  /** @param {Stage} stage @param {{ peek: (row: number | null) => void, choose: (row: number) => void }} acts */
  constructor(stage, { peek, choose }) {
    this.stage = stage;
    this.acts = { peek, choose };
    this.isShown = false;
    this.frame = stage.add("div", "row-frame");
    /** @type {HTMLElement[][]} */
    this.cells = [];
  }

  /** @param {number} words @param {number} syllables */
  renew(words, syllables) {
    for (const cell of this.cells.flat()) cell.remove();
    this.isShown = false;
    this.cells = Array.from({ length: syllables }, (_row, asker) => Array.from({ length: words }, () => {
      const cell = this.stage.add("div", "cell translation-cell");
      cell.setAttribute("aria-hidden", "true"); // the words tell the same
      cell.onpointerenter = ({ pointerType }) => pointerType === "mouse" && this.acts.peek(asker);
      cell.onpointerleave = () => this.acts.peek(null);
      cell.onclick = () => this.acts.choose(asker);
      return cell;
    }));
  }

  /** @param {GridState} state */
  place(state) {
    const isComing = state.isShown && !this.isShown;
    if (!state.isShown && !this.isShown) return; // out of sight, and there already
    if (isComing) {
      this.put({ ...state, isShown: false });
      void this.stage.root.offsetWidth; // from here on cells grow
    }
    this.isShown = state.isShown;
    this.put(state);
    this.placeFrame(state.focus, state.places, state.written, state.isShown);
  }

  /** @param {GridState} state */
  put({ rows, lines, places, written, isShown, isCorrect }) {
    const { table, isDown } = places, hasDigits = table.side >= LEAST_FOR_DIGITS;
    this.cells.forEach((cells, asker) => cells.forEach((cell, seen) => {
      const weight = rows[asker][seen], [x, width] = table.columns[seen];
      this.fill(cell, weight, hasDigits && isShown ? tell(weight, isDown) : "", isCorrect(asker, seen));
      const [from, to] = lines[asker * cells.length + seen], along = (from + to) / 2, depth = (places.from + places.to) / 2;
      const [left, top] = isDown ? [depth, along] : [along, depth], start = Math.max(1, weight * 22);
      const box = isShown
        ? { x: x + 1, y: table.head + asker * table.side + 1, width: width - 2, height: table.side - 2 }
        : { x: left - start / 2, y: top - 9, width: start, height: 18 };
      this.stage.put(cell, box, isShown && asker < written ? 1 : 0);
    }));
  }

  /** @param {HTMLElement} cell @param {number} weight @param {string} told @param {boolean} isCorrect */
  fill(cell, weight, told, isCorrect) {
    const shown = `${told} ${weight} ${isCorrect}`;
    if (cell.dataset.shown === shown) return;
    cell.dataset.shown = shown;
    cell.textContent = told;
    cell.style.setProperty("--share", `${(100 * weight).toFixed(1)}%`);
    cell.classList.toggle("deep", weight >= DEEP);
    cell.classList.toggle("low", weight < LEAST_TOLD);
    cell.classList.toggle("correct", isCorrect);
  }

  /** @param {{ isColumn: boolean, place: number }} focus @param {Places} places @param {number} written @param {boolean} isShown */
  placeFrame({ isColumn, place }, { table }, written, isShown) {
    const { room } = this.stage, { gutter, head, side, columns } = table;
    const box = isColumn
      ? { x: columns[place][0] - 1, y: head - 2, width: columns[place][1] + 1, height: side * written + 3 }
      : { x: gutter - 2, y: head + place * side - 1, width: room - gutter + 2, height: side + 1 };
    this.frame.classList.toggle("column", isColumn);
    this.stage.put(this.frame, box, isShown ? 1 : 0);
  }
}

/** @param {number} weight @param {boolean} isNarrow */
function tell(weight, isNarrow) {
  if (weight < LEAST_TOLD) return "·";
  return isNarrow ? String(Math.round(100 * weight)) : percent(weight);
}
