// A linked picture of many matrices is read a piece at a time. How large the pieces are follows from
// the matrices and not from the window, so that a link to one of them means the same on a telephone.

const SHEET = { width: 1065, height: 620 }; // what a projector of 1024 × 768 shows with digits one can read
const GAP = 14, HEADING = 39, OPERATOR = 20;

// Rules for the picture's stage, one for each piece: which of its children are not shown.
function piecesOf(node) {
  const children = [...stageOf(node)?.children ?? []];
  if (heightOf(children) <= SHEET.height) return [""];
  let best = dealt(children, 1);
  for (let count = 2; count <= children.length; count++) {
    const found = dealt(children, count);
    if (!found) break; // there are no more places to cut
    best = found;
    if (found.highest <= SHEET.height) break;
  }
  return best.pieces.map(([first, last]) => `.stage > :not(:nth-child(n + ${first + 1}):nth-child(-n + ${last})) { display: none; }`);
}

// So many pieces that the highest of them is as low as can be; no heading is parted from its matrices.
function dealt(children, count, first = 0) {
  if (count === 1) return { pieces: [[first, children.length]], highest: heightOf(children.slice(first)) };
  let best = null;
  for (let cut = first + 1; cut < children.length; cut++) {
    if (isWords(children[cut - 1])) continue;
    const here = heightOf(children.slice(first, cut));
    if (best && here > best.highest) break;
    const rest = dealt(children, count - 1, cut);
    const highest = rest && Math.max(here, rest.highest);
    if (rest && (!best || highest <= best.highest)) best = { pieces: [[first, cut], ...rest.pieces], highest };
  }
  return best;
}

function isWords(child) {
  return child.matches(".heading, .remark");
}

// As figure.js would lay them out, from left to right and on.
function heightOf(children) {
  let above = 0, row = { width: 0, height: 0 };
  const put = ({ width, height }) => {
    if (row.width && row.width + GAP + width > SHEET.width) end();
    row = { width: row.width + GAP + width, height: Math.max(row.height, height) };
  };
  const end = () => {
    if (row.width) above += row.height + GAP;
    row = { width: 0, height: 0 };
  };
  for (const child of children) {
    if (isWords(child)) { end(); above += HEADING + GAP; }
    else {
      const sizes = [...child.querySelectorAll(".panel")].map(sizeOf);
      const whole = { width: sizes.reduce((sum, { width }) => sum + GAP + width, OPERATOR), height: Math.max(0, ...sizes.map(({ height }) => height)) };
      if (whole.width <= SHEET.width) put(whole);
      else { end(); sizes.forEach(put); end(); }
    }
  }
  end();
  return above - GAP;
}

function sizeOf(panel) {
  const columns = panel.querySelectorAll("thead th.column").length, rows = panel.querySelectorAll("tbody tr").length;
  if (panel.matches(".small")) return { width: 195, height: 245 };
  if (!rows) return { width: 400, height: 230 };
  return { width: 41 * columns + 70, height: 28 * rows + (panel.querySelector("thead .turned") ? 119 : 86) };
}

function stageOf(node) {
  return shadowOf(node)?.querySelector(".figure > .stage");
}

function shadowOf(node) {
  return node.querySelector("[data-testid=stBidiComponentIsolated]")?.shadowRoot;
}

// A picture's hint that arrows step through its cells is not true of a lecture.
const KEYS_TURN_SCREENS = " .hint { display: none; }";

// Show a piece, or with no rule all of it.
function cut(node, rule) {
  const shadow = shadowOf(node);
  if (!shadow) return;
  const look = shadow.querySelector("style.lecture") ?? shadow.appendChild(Object.assign(document.createElement("style"), { className: "lecture" }));
  if (look.textContent !== rule) look.textContent = rule;
}
