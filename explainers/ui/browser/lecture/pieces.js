// @ts-check
// A linked picture of many matrices is read a piece at a time. How large the pieces are follows from
// the matrices and not from the window, so that a link to one of them means the same on a telephone.

const SHEET = { width: 1065, height: 620 }; // what a projector of 1024 × 768 shows with digits one can read
const GAP = 14, HEADING = 39, OPERATOR = 20;
const WIDE = 41, NARROW = 33; // a column where there is room, and where there is just enough for its digits

/** @typedef {{ width: number, height: number }} Size */
/** @typedef {{ at: string, isWords: boolean, sizes: Size[] }} Unit  `at`: its selector */
/** @typedef {{ pieces: [number, number][], highest: number }} Deal  from a unit up to another */

/**
 * Rules for the picture, one for each piece: what of it is not shown.
 * @param {HTMLElement} node
 */
export function listPieces(node) {
  const units = unitsOf(stageOf(node));
  if (heightOf(units) <= SHEET.height) return [""];
  /** @type {Deal} */
  let best = { pieces: [[0, units.length]], highest: heightOf(units) };
  for (let count = 2; count <= units.length; count++) {
    const found = dealt(units, count);
    if (!found) break; // there are no more places to cut
    best = found;
    if (found.highest <= SHEET.height) break;
  }
  return best.pieces.map(([first, last]) => {
    const hidden = [...units.slice(0, first), ...units.slice(last)].map(({ at }) => at);
    return hidden.length ? `${hidden.join(", ")} { display: none; }` : "";
  });
}

/**
 * What is never parted: a heading, matrices that an operator joins, and of too many side by side each.
 * @param {Element | null | undefined} stage
 * @returns {Unit[]}
 */
function unitsOf(stage) {
  return [...stage?.children ?? []].flatMap((child, i) => {
    const at = `.stage > :nth-child(${i + 1})`;
    if (child.matches(".heading, .remark")) return { at, isWords: true, sizes: [] };
    const panels = [...child.querySelectorAll(".panel")];
    const whole = joined(panels.map((panel) => sizeOf(panel)));
    if (whole.width <= SHEET.width) return { at, isWords: false, sizes: [whole] };
    if (child.querySelector(".operator")) return { at, isWords: false, sizes: panels.map((panel) => sizeOf(panel)) };
    return panels.map((panel, j) => ({ at: `${at} > :nth-child(${j + 1})`, isWords: false, sizes: [sizeOf(panel, NARROW)] }));
  });
}

/**
 * So large are they side by side.
 * @param {Size[]} sizes
 * @returns {Size}
 */
function joined(sizes) {
  return { width: sizes.reduce((sum, { width }) => sum + GAP + width, OPERATOR), height: Math.max(0, ...sizes.map(({ height }) => height)) };
}

/**
 * So many pieces that the highest of them is as low as can be; no heading is parted from its matrices.
 * @param {Unit[]} units
 * @param {number} count
 * @returns {Deal | null}
 */
function dealt(units, count, first = 0) {
  if (count === 1) return { pieces: [[first, units.length]], highest: heightOf(units.slice(first)) };
  /** @type {Deal | null} */
  let best = null;
  for (let cut = first + 1; cut < units.length; cut++) {
    if (units[cut - 1].isWords) continue;
    const here = heightOf(units.slice(first, cut));
    if (best && here > best.highest) break;
    const rest = dealt(units, count - 1, cut);
    if (!rest) continue;
    const highest = Math.max(here, rest.highest);
    if (!best || highest <= best.highest) best = { pieces: [[first, cut], ...rest.pieces], highest };
  }
  return best;
}

/**
 * As figure.js would lay them out, from left to right and on.
 * @param {Unit[]} units
 */
function heightOf(units) {
  let above = 0, row = { width: 0, height: 0 };
  const put = (/** @type {Size} */ { width, height }) => {
    if (row.width && row.width + GAP + width > SHEET.width) end();
    row = { width: row.width + GAP + width, height: Math.max(row.height, height) };
  };
  const end = () => {
    if (row.width) above += row.height + GAP;
    row = { width: 0, height: 0 };
  };
  for (const unit of units) {
    if (unit.isWords) { end(); above += HEADING + GAP; }
    else unit.sizes.forEach(put);
  }
  end();
  return above - GAP;
}

/**
 * About so large is a matrix.
 * @param {Element} panel
 * @returns {Size}
 */
function sizeOf(panel, column = WIDE) {
  const columns = panel.querySelectorAll("thead th.column").length, rows = panel.querySelectorAll("tbody tr").length;
  if (panel.matches(".small")) return { width: 195, height: 245 };
  if (!rows) return { width: 400, height: 230 };
  return { width: column * columns + 70, height: 28 * rows + (panel.querySelector("thead .turned") ? 119 : 86) };
}

/** @param {Element} node */
function stageOf(node) {
  return findShadow(node)?.querySelector(".figure > .stage");
}

/**
 * What a picture consists of, which selectors of the page do not reach.
 * @param {Element} node
 */
export function findShadow(node) {
  return node.querySelector("[data-testid=stBidiComponentIsolated]")?.shadowRoot;
}

// A picture's hint that arrows step through its cells is not true of a lecture.
export const KEYS_TURN_SCREENS = " .hint { display: none; }";

/**
 * Show a piece, or with no rule all of it.
 * @param {Element} node
 * @param {string} rule
 */
export function cut(node, rule) {
  const shadow = findShadow(node);
  if (!shadow) return;
  const look = shadow.querySelector("style.lecture") ?? shadow.appendChild(Object.assign(document.createElement("style"), { className: "lecture" }));
  if (look.textContent !== rule) look.textContent = rule;
}
