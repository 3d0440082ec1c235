// A square for every head: a column for each layer, a row for each head of it.

/** @import { Mark, Scene } from "../kit.js" */

import { _, ACROSS, take } from "../kit.js";

/**
 * @typedef {object} MapState
 * @property {number} top
 * @property {number} wide
 * @property {number} layers
 * @property {number} heads of each layer
 * @property {number} chosen
 * @property {string[]} hues of all heads; none for a head without a name
 * @property {boolean[]} lit
 * @property {string[]} told the names of each head
 * @property {number} letters how large they are
 * @property {(layer: number, head: number) => void} choose
 * @property {boolean[]} [chance] heads whose number says no more than chance would
 */

const HEAD = 24, TALLEST = 196, LEFT = 46;

/** The map, and where it ends. @param {Scene} scene @param {MapState} state @returns {{ marks: Mark[], end: number }} */
export function markMap(scene, { top, wide, layers, heads, chosen, hues, lit, told, letters, choose, chance = [] }) {
  const isPhone = scene.stage.room < 560, left = isPhone ? 30 : LEFT, first = top + HEAD, layer = Math.floor(chosen / heads), head = chosen % heads;
  const width = Math.min(48, (wide - left) / layers), height = Math.max(13, Math.min(22, TALLEST / heads)), step = width >= 19 ? 1 : width * 2 >= 19 ? 2 : 5;
  const rows = [...Array(heads).keys()], columns = [...Array(layers).keys()];
  const marks = /** @type {Mark[]} */ ([
    { key: "map", class: "gallery-map", attributes: { role: "grid", "aria-label": _("All heads: a column for each layer, a row for each head") } },
    ...rows.map((line) => ({
      key: `heads ${line}`, in: "map", attributes: { role: "row" }, parts: columns.map((column) => {
        const place = column * heads + line, isChosen = place === chosen, name = `L${column}.H${line}: ${told[place]}`;
        return {
          key: `cell ${column} ${line}`, tag: "button", class: "gallery-cell", is: { moves: false, nameless: !hues[place], dim: !lit[place], "matter-chance": chance[place] },
          box: [left + column * width + 1, first + line * height + 1, width - 2, height - 2], style: { "--hue": hues[place] || "transparent" },
          attributes: { role: "gridcell", tabindex: isChosen ? 0 : -1, "aria-selected": String(isChosen), "aria-label": name, title: name },
          click: () => choose(column, line), made: (/** @type {HTMLElement} */ node) => { node.onkeydown = (event) => walk(event, scene, column, line); },
        };
      }),
    })),
    { key: "corner", class: "text quiet", text: isPhone ? "" : _("layer"), at: [0, top + HEAD / 2, letters], hold: "left" },
    { key: "frame", class: "gallery-frame", box: [left + layer * width - 2, first + head * height - 2, width + 4, height + 4] },
    ...columns.map((place) => ({
      key: `layer ${place}`, class: "text quiet", is: { chosen: place === layer }, text: String(place), at: [left + (place + 0.5) * width, top + HEAD / 2, letters],
      opacity: place === layer || (place % step === 0 && Math.abs(place - layer) * width >= 19) ? 1 : 0,
    })),
    ...rows.map((place) => ({
      key: `head ${place}`, class: "text quiet", is: { chosen: place === head }, text: `H${place}`, at: [left - 6, first + (place + 0.5) * height, letters], hold: "right",
    })),
  ]);
  return { marks, end: first + heads * height + 4 };
}

/** @param {KeyboardEvent} event @param {Scene} scene @param {number} layer @param {number} head */
function walk(event, scene, layer, head) {
  const by = take(event, ACROSS), next = by && /** @type {HTMLElement | undefined} */ (scene.node(`cell ${layer + by[0]} ${head + by[1]}`));
  next?.focus(); // first: after a change it would lay out the page at once
  next?.click();
}
