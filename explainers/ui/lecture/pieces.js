// A linked picture of many matrices is read a piece at a time: what stands under one heading, or a
// few matrices that follow each other. How many pieces there are does not depend on the window, so
// that a link to one of them means the same on a telephone.

const SEEN_AT_ONCE = 6, IN_A_PIECE = 4; // matrices
const A_SMALL_ONE = 1 / 3;

// Rules for the picture's stage, one for each piece: which of its children are not shown.
function piecesOf(node) {
  const children = [...stageOf(node)?.children ?? []];
  const size = (child) => child.querySelectorAll(".panel:not(.small)").length + A_SMALL_ONE * child.querySelectorAll(".panel.small").length;
  const all = (some) => some.reduce((sum, child) => sum + size(child), 0);
  if (all(children) <= SEEN_AT_ONCE) return [""];
  const sections = [];
  for (const child of children) {
    if (!sections.length || child.matches(".heading")) sections.push([]);
    sections.at(-1).push(child);
  }
  return sections.flatMap((section) => {
    const count = all(section) > SEEN_AT_ONCE ? Math.ceil(all(section) / IN_A_PIECE) : 1;
    const found = [[]];
    for (const child of section) {
      if (found.length < count && all(found.at(-1)) >= all(section) / count - 0.01) found.push([]);
      found.at(-1).push(child);
    }
    return found.map((piece) => {
      const [first, last] = [piece[0], piece.at(-1)].map((child) => children.indexOf(child) + 1);
      return `.stage > :not(:nth-child(n + ${first}):nth-child(-n + ${last})) { display: none; }`;
    });
  });
}

function stageOf(node) {
  return shadowOf(node)?.querySelector(".figure > .stage");
}

function shadowOf(node) {
  return node.querySelector("[data-testid=stBidiComponentIsolated]")?.shadowRoot;
}

// Show a piece, or with no rule all of it.
function cut(node, rule) {
  const shadow = shadowOf(node);
  if (!shadow) return;
  const look = shadow.querySelector("style.lecture") ?? shadow.appendChild(Object.assign(document.createElement("style"), { className: "lecture" }));
  if (look.textContent !== rule) look.textContent = rule;
}
