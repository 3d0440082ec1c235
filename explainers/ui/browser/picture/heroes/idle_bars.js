// @ts-check
// Two bars of 100 %: where one letter's weight goes, and that of all letters that need nothing.

/** @import { Mark } from "../scene.js" */

import { _ } from "../../common/words.js";
import { percent } from "../sentence.js";

/** @typedef {"useful" | "first" | "itself" | "nowhere" | "elsewhere"} Kind */
/**
 * @typedef {object} Bars
 * @property {string[]} names of the rows
 * @property {Record<Kind, number>[] | null} shares of each row
 * @property {string} first what the first place is called
 * @property {number[] | null} gates of each row
 * @property {boolean} hasSink only then can weight fall nowhere
 */

/** @type {Kind[]} */
export const KINDS = ["useful", "first", "itself", "nowhere", "elsewhere"];
const AIR = 10, SMALLEST = 0.02; // a smaller share has no number in its part
const NAMES = 116, GATE = 124; // how wide the rows' names are, and what is told of gates

/** @param {Kind} kind @param {string} first what the first place is called */
export const nameKind = (kind, first) => ({ useful: _("useful"), first, itself: _("itself"), nowhere: _("nowhere"), elsewhere: _("elsewhere") })[kind];

/** @param {import("../stage.js").Stage} stage @param {Bars} bars @returns {Mark[]} */
export function markBars(stage, { names, shares, first, gates, hasSink }) {
  const opacity = shares ? 1 : 0, kinds = KINDS.filter((kind) => kind !== "nowhere" || hasSink), widths = stage.widths(kinds.map((kind) => nameKind(kind, first)), 14, 400);
  const isPhone = stage.room < 560, left = isPhone ? 0 : NAMES, right = stage.room - 2, width = right - left - (gates && !isPhone ? GATE : 0);
  let x = isPhone ? 2 : left, y = isPhone ? 342 : 374;
  return [
    ...names.flatMap((text, row) => {
      const top = isPhone ? 222 + 62 * row : 274 + 44 * row, told = top + (isPhone ? -13 : 16);
      let end = left;
      return /** @type {Mark[]} */ ([
        { key: `bar ${row}`, class: "text idle-name", is: { asks: row === 0 }, text, at: [0, told, row === 0 ? 18 : 15], hold: "left", opacity },
        ...KINDS.map((kind) => {
          const share = shares?.[row][kind] ?? 0, long = width * share, text = percent(share);
          const fits = [`${nameKind(kind, first)} ${text}`, text].find((one) => share >= SMALLEST && stage.widths([one], 14)[0] + AIR <= long);
          end += long;
          return { key: `part ${row} ${kind}`, class: `idle-part ${kind}`, text: fits ?? "", box: [end - long, top, long, 32], opacity };
        }),
        {
          key: `gate ${row}`, class: "text idle-gate", text: gates ? _("gate {share} open", { share: percent(gates[row]) }) : "",
          at: [right, told, 14], hold: "right", opacity: gates ? opacity : 0,
        },
      ]);
    }),
    ...kinds.flatMap((kind, at) => {
      if (x + widths[at] + 20 > stage.room) { x = isPhone ? 2 : left; y += 22; }
      const start = x;
      x += widths[at] + 44;
      return /** @type {Mark[]} */ ([
        { key: `legend ${kind}`, class: "text quiet idle-key", at: [start, y, 14], hold: "left", opacity },
        { key: `colour ${kind}`, in: `legend ${kind}`, tag: "span", class: `idle-part ${kind}` },
        { key: `kind ${kind}`, in: `legend ${kind}`, tag: "span", class: "name", text: nameKind(kind, first) },
      ]);
    }),
  ];
}
