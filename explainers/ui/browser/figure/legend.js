// What the colours of the drawn kinds mean; every panel of scores and vectors has its own largest number.

/** @import { FigureData, PanelData } from "./data.js" */

import { gradient } from "../common/colours.js";
import { element } from "../common/elements.js";
import { _ } from "../common/words.js";

/** A bar for each kind of matrix in the picture. @param {FigureData} data */
export function legend(data) {
  const signed = data.panels.some(isBelowZero) ? [_("negative"), "0", _("positive")] : ["0", _("largest")]; // counts, differences
  /** @type {Record<string, string[]>} */
  const ends = { signed, weights: ["0", "1"] };
  const kinds = new Set(data.panels.map((panel) => panel.kind).filter((kind) => kind in ends));
  return [...kinds].map((kind) => {
    const line = element("span", "key");
    const bar = element("span", "bar");
    bar.style.background = gradient(data.ramps[kind].slice(-ends[kind].length));
    const [low, ...rest] = ends[kind];
    line.append(element("span", "", low), bar, element("span", "", rest.at(-1)));
    return line;
  });
}

/** @param {PanelData} panel */
function isBelowZero({ kind, values, frames }) {
  const drawn = [values, ...frames].filter((matrix) => Array.isArray(matrix));
  return kind === "signed" && drawn.flat(2).some((value) => value !== null && value < 0);
}
