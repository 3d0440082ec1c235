// @ts-check
// How screens look: marks on what belongs to each, and a stylesheet that shows one of them.

/** @import { Lecture } from "./lecture.js" */
/** @import { Kind, Screen } from "./screens.js" */

import { listChildren, findHook, readKind } from "./screens.js";

/**
 * Mark everything on the page with the screens that it belongs to.
 * @param {HTMLElement} main
 * @param {Screen[]} screens
 */
export function mark(main, screens) {
  /** @type {Map<HTMLElement, { places: Set<number>, kind: string }>} */
  const marks = new Map();
  const put = (/** @type {HTMLElement} */ node, /** @type {number} */ place, /** @type {string} */ kind) => {
    const mark = marks.get(node) ?? { places: new Set(), kind };
    mark.places.add(place);
    marks.set(node, mark);
  };
  screens.forEach((screen, place) => {
    for (const { node, leaf, list, kind } of screen.parts) {
      put(node, place, list ? "point" : kind);
      if (list) put(list, place, kind);
      if (leaf) put(leaf, place, "leaf");
    }
  });
  for (const part of allPartsOf(main)) if (!marks.has(part)) marks.set(part, { places: new Set(), kind: "unseen" });
  const marked = /** @type {NodeListOf<HTMLElement>} */ (main.querySelectorAll("[data-lecture]"));
  for (const old of marked) if (!marks.has(old)) { // a place that waited for what it holds now
    delete old.dataset.lecture;
    delete old.dataset.lecturePart;
  }
  for (const [node, { places, kind }] of marks) {
    const text = [...places].map((place) => `s${place}`).join(" ");
    if (node.dataset.lecture !== text) node.dataset.lecture = text;
    if (node.dataset.lecturePart !== kind) node.dataset.lecturePart = kind;
  }
}

/**
 * Everything that could be seen: what is on no screen is hidden as well.
 * @param {HTMLElement} main
 */
function allPartsOf(main) {
  /** @type {HTMLElement[]} */
  const leaves = [];
  const walk = (/** @type {HTMLElement} */ node, /** @type {string | null} */ above) => {
    for (const child of listChildren(node)) {
      const hook = findHook(child) ?? above;
      const kind = readKind(child, hook);
      if (kind === "inside") walk(child, hook);
      else if (!child.matches("style")) leaves.push(child);
    }
  };
  walk(main, null);
  return leaves;
}

/** @type {Record<Kind, [number, number]>} */
const LIMITS = {
  title: [0.7, 1.35], ask: [0.65, 1.5], reveal: [0.65, 1.4], text: [0.65, 1.1], box: [0.55, 1.1], end: [0.65, 1.5], choose: [0.5, 0.8], code: [0.6, 0.95], picture: [0.44, 1.2],
};

/**
 * The least and the most that a kind of screen may be enlarged, by the window's size.
 * @param {Kind} kind
 * @param {number} type
 */
export function limits(kind, type) {
  const [least, most] = LIMITS[kind];
  return [Math.max(0.7, least * type), Math.max(1, most * type)];
}

const SMALL = { head: 0.62, title: 0.62, controls: 0.62, notice: 0.62, badge: 0.62 };

/**
 * The stylesheet that shows the screen with this number.
 * @param {Lecture} lecture
 * @param {number} at
 */
export function readLook(lecture, at) {
  const { type, screens, zooms } = lecture;
  const rules = [
    `[data-lecture]:not([data-lecture~="s${at}"]) { display: none !important; }`,
    // A chart keeps its width while it is not seen, so that it is right when it is.
    `[data-lecture][data-lecture-part=picture]:not([data-lecture~="s${at}"]) { display: flex !important; visibility: hidden !important; height: 0 !important; min-height: 0 !important; margin: 0 !important; padding: 0 !important; overflow: hidden !important; }`,
  ];
  for (const [kind, share] of Object.entries(SMALL)) rules.push(`[data-lecture-part=${kind}] { zoom: ${Math.max(1, share * type).toFixed(3)}; }`);
  // The last one wins: a picture that is on several screens has the size of the one that is shown.
  for (const place of [...screens.keys(), at]) {
    const screen = screens[place];
    if (!screen || (screen.kind !== "picture" && place !== at)) continue;
    const zoom = zooms.get(screen.id)?.zoom ?? limits(screen.kind, type)[1];
    const parts = screen.kind === "title" ? "" : `:not(${Object.keys(SMALL).map((kind) => `[data-lecture-part=${kind}]`).join(", ")})`;
    const its = `[data-lecture~="s${place}"]`;
    rules.push(`${its}:not([data-lecture-part=leaf], [data-lecture-part=point])${parts} { zoom: ${zoom.toFixed(3)} !important; }`);
    // Streamlit measures a chart's box as it is seen, and draws the chart so wide before it is enlarged.
    if (screen.kind === "picture") rules.push(`${its} [data-testid=stVegaLiteChart] { width: ${(100 / zoom).toFixed(2)}% !important; overflow: visible !important; }`);
  }
  return rules.join("\n");
}
