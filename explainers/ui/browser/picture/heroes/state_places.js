// @ts-check
// Where pairs, memory and answer are: beside each other, or on a phone the pairs above.

/** @import { Stage } from "../stage.js" */
/** @typedef {ReturnType<typeof placeState>} Places in its rows keys end where `key` is, and values begin where `value` is */

const STACKED = 640, TIGHT = 780, SPACIOUS = 900; // pixels: where there is less, the pairs are above, everything is smaller, or only the strips are
const SIDES = 8, TITLE = [46, 26], APART = 8; // rows and columns; on a wide screen and on a phone
const MOST_CELL = 30, LEAST_CELL = 15, LEAST_BARS = [146, 104], MOST_BARS = 230, MOST_STRIP = 78;
const LEGEND = 21, LONG_LEGEND = 820; // a line of it, and the room that its items need to stand in one

/** @param {Stage} stage @param {[string, string][]} pairs @param {number} breaks how many of them belong to the first sentence */
export function placeState(stage, pairs, breaks) {
  const { room } = stage, isStacked = room < STACKED, isTight = room < TIGHT, title = TITLE[isStacked ? 1 : 0];
  const font = isStacked ? 14 : Math.max(14, Math.min(17, room / 56)), thick = isStacked ? 17 : 22, mark = isTight ? 40 : 46;
  const [keys, values] = [0, 1].map((side) => Math.max(...stage.widths(pairs.map((pair) => pair[side]), font)) + 4);
  const words = keys + values + 30, least = isStacked ? 0 : isTight ? 12 : 30;
  const strip = Math.floor(Math.max(36, Math.min(MOST_STRIP, isStacked ? (room - words - mark - 24) / 2 : isTight ? 0 : room * (room < SPACIOUS ? 0.05 : 0.078))));
  const list = words + 2 * strip + 22 + mark, left = isStacked ? 0 : list + least, around = 2 * (thick + APART) + 18;
  const cell = Math.max(LEAST_CELL, Math.min(MOST_CELL, Math.floor((room - left - around - LEAST_BARS[isTight ? 1 : 0]) / SIDES))), side = SIDES * cell;
  const bars = Math.min(MOST_BARS, room - left - around - side), spare = Math.max(0, room - left - around - side - bars) / 2;
  const pitch = isStacked ? 18.5 : (thick * 2 + APART * 2 + side + 18 - 10) / pairs.length;
  const middles = pairs.map((_pair, at) => title + pitch * (at + 0.5) + (at >= breaks ? 8 : 0));
  const top = isStacked ? title + pitch * pairs.length + 24 : 0, x = left + spare + thick + APART, y = top + title + thick + APART;
  const barsX = x + side + APART + thick + 18, barPitch = Math.min(54, side / 3.6);
  const lines = isStacked ? 3 : room < LONG_LEGEND ? 2 : 1, bottom = Math.ceil(y + side + APART + thick + 28);
  stage.resize(room, bottom + lines * LEGEND);
  return {
    isStacked,
    isTight, // there is no room for all words
    legend: [0, bottom, room, lines * LEGEND],
    titles: [[0, 0, isStacked ? room : list], [x - thick - APART, top, side + thick + 40], [barsX, top, room - barsX]], // of the three parts: how wide each may be
    rows: { font, key: keys, arrow: keys + 15, value: keys + 30, strips: [words + 10, words + 16 + strip], strip, mark: words + 22 + 2 * strip, high: Math.min(17, pitch * 0.68), middles },
    grid: { x, y, side, cell, thick, gap: APART }, // strips around it are so thick and so far away
    bars: { x: barsX, width: bars, y, pitch: barPitch, font: isTight ? 15 : 18 },
    found: [barsX, y + 3 * barPitch + 6, room - barsX, side - 3 * barPitch - 6 + (isTight ? thick + APART : 0)],
  };
}
