// @ts-check
// The scores of one head as bars: each beside what heads reach at random, and what a name needs.

/** @import { Mark } from "../scene.js" */

import { element } from "../../common/elements.js";
import { digits } from "../../common/numbers.js";
import { _ } from "../../common/words.js";

/**
 * @typedef {object} Bars
 * @property {number} chosen which head
 * @property {[x: number, y: number, width: number]} at
 * @property {string} title
 * @property {string[]} hues of names
 * @property {number} letters how large numbers are, and names that have room
 * @property {boolean} isBrief only the scores of the head's names, or its two best
 */

const TITLE = 24, ROW = 20, VALUE = 40, RELATIONS = [0, 1];

/** @param {number | null | undefined} score */
export const write = (score) => (score === null || score === undefined ? "–" : digits(score));

/** The bars, and where they end. @param {import("../stage.js").Stage} stage @param {import("./gallery.js").Numbers} data @param {Bars} bars @returns {{ marks: Mark[], end: number }} */
export function markScores(stage, data, { chosen, at: [x, y, width], title, hues, letters, isBrief }) {
  const { bars: labels, chance, needed } = data, scores = data.scores[chosen], own = data.named[chosen];
  const relations = data.relations.filter(({ place }) => place === chosen).slice(0, RELATIONS.length);
  const longest = Math.max(...stage.widths([...labels, ...relations.map(({ label }) => label)], 1));
  const small = Math.max(14, Math.min(letters, (width * 0.58 - 10) / longest)), left = x + Math.min(width * 0.58, small * longest + 10), long = x + width - left - VALUE;
  // In whole pixels: some screens round each letter up.
  const large = Math.floor(Math.min(17, (16 * width) / stage.widths([title], 17, 700)[0]));
  const best = [...scores.keys()].sort((one, two) => (scores[two] ?? -1) - (scores[one] ?? -1)), kept = !isBrief ? best : own.length ? own : best.slice(0, 2);
  const rows = [
    ...labels.map((label, at) => ({ label, score: scores[at], chance: chance[at], needed: needed[at], hue: hues[at], isOwn: own.includes(at), isSeen: kept.includes(at) })),
    // One that is no longer there keeps its label while it fades.
    ...RELATIONS.map((at) => ({ ...(relations[at] ?? { label: undefined, score: null, chance: 0 }), needed: 0, hue: "var(--key)", isOwn: true, isSeen: at in relations })),
  ];
  let line = 0;
  const bars = rows.flatMap(({ label, score, chance: random, needed: least, hue, isOwn, isSeen }, at) => {
    const top = y + TITLE + line * ROW, opacity = isSeen ? 1 : 0;
    line += opacity;
    return /** @type {Mark[]} */ ([
      { key: `score name ${at}`, class: "text", is: { quiet: !isOwn }, text: label, at: [left - 8, top + ROW / 2, small], hold: "right", opacity },
      { key: `track ${at}`, class: "gallery-track", box: [left, top + 3, long, ROW - 6], opacity },
      { key: `bar ${at}`, class: "gallery-bar", is: { low: !isOwn }, style: { "--hue": hue }, box: [left, top + 3, long * (score ?? 0), ROW - 6], opacity },
      { key: `needed ${at}`, class: "gallery-needed", box: [left + long * least - 1, top + 1, 2, ROW - 2], opacity: least ? opacity : 0 },
      { key: `chance ${at}`, class: "gallery-chance", box: [left + long * random - 1.5, top + 1, 3, ROW - 2], opacity },
      { key: `score ${at}`, class: "text", is: { quiet: !isOwn }, text: write(score), at: [x + width, top + ROW / 2, letters], hold: "right", opacity },
    ]);
  });
  const end = y + TITLE + line * ROW;
  return {
    end: end + 26,
    marks: [
      { key: "title", class: "text gallery-title", text: title, at: [x, y + TITLE / 2 - 2, large], hold: "left" },
      ...bars,
      {
        key: "note", class: "gallery-note", box: [x, end + 3, width, 22],
        made: (node) => node.append(element("i", "at-random"), element("span", "", _("best at random")), element("i", "needed"), element("span", "", _("needed for the name"))),
      },
    ],
  };
}
