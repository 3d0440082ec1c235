// @ts-check
// The same weights as a table: each cell waits in the middle of its line, and grows into its row.

/** @import { Mark } from "../scene.js" */
/** @import { Translation } from "./translation.js" */

import { percent } from "../sentence.js";

const LEAST_FOR_DIGITS = 14.5; // pixels of a row
const LEAST_TOLD = 0.005; // smaller weights are a dot
const DEEP = 0.5; // a weight from which digits are light on dark

/**
 * @param {Translation} hero @param {import("./translation_places.js").Places} places @param {number[][]} lines syllable by syllable
 * @param {boolean} isShown @returns {Mark[]}
 */
export function markCells(hero, { table: { gutter, head, side, columns }, from, to, isDown }, lines, isShown) {
  const { rows, written, stage: { room }, focus: { isColumn, place } } = hero, depth = (from + to) / 2;
  return [
    {
      key: "frame", class: "row-frame", is: { column: isColumn }, opacity: isShown ? 1 : 0,
      box: isColumn ? [columns[place][0] - 1, head - 2, columns[place][1] + 1, side * written + 3] : [gutter - 2, head + place * side - 1, room - gutter + 2, side + 1],
    },
    ...rows.flatMap((row, asker) => row.map((weight, seen) => {
      const [start, end] = lines[asker * row.length + seen], along = (start + end) / 2, [x, y] = isDown ? [depth, along] : [along, depth];
      const [left, width] = columns[seen], wide = Math.max(1, weight * 22);
      return /** @type {Mark} */ ({
        key: `cell ${asker} ${seen}`, class: "cell translation-cell", is: { deep: weight >= DEEP, low: weight < LEAST_TOLD, correct: hero.isGold(asker, seen) },
        attributes: { "aria-hidden": "true" }, style: { "--share": `${(100 * weight).toFixed(1)}%` }, // the words tell the same
        text: isShown && side >= LEAST_FOR_DIGITS ? tell(weight, isDown) : "", opacity: isShown && asker < written ? 1 : 0,
        box: isShown ? [left + 1, head + asker * side + 1, width - 2, side - 2] : [x - wide / 2, y - 9, wide, 18],
        click: () => hero.ask(asker),
        made: (cell) => {
          cell.onpointerenter = (/** @type {PointerEvent} */ { pointerType }) => pointerType === "mouse" && hero.peekAt(asker);
          cell.onpointerleave = () => hero.peek(null);
        },
      });
    })),
  ];
}

/** @param {number} weight @param {boolean} isNarrow */
function tell(weight, isNarrow) {
  if (weight < LEAST_TOLD) return "·";
  return isNarrow ? String(Math.round(100 * weight)) : percent(weight);
}
