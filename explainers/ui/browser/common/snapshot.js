// A picture of a picture, as it is on screen: what readers copy, keep and send on.

import { hostOf } from "./component.js";
import { element } from "./elements.js";

const CONTROLS = ".hint, .below, .experiments, .in-words, .steps, .readout, .card:not(.docked), .search, .whole, [hidden]";
const BARS = ".hero > .bar"; // elsewhere a bar is a colour scale
const NAMED_TWICE = /^--|-(block|inline)|(block|inline)-size/; // variables, whose values stand in what uses them; sides by the direction of text
const MARGIN = 24, FOOTER = 32; // pixels around it, and for the address below it

/** The picture and its sentence, without what changes them, and where it was. @param {HTMLElement} picture */
function prepare(picture) {
  const isControl = (/** @type {Node} */ node) => node instanceof Element && node.matches(`${CONTROLS}, ${BARS}`);
  const kept = [...picture.children].filter((part) => !isControl(part)).map((part) => part.getBoundingClientRect());
  const seen = kept.filter(({ height }) => height > 0);
  const height = Math.max(...seen.map(({ bottom }) => bottom)) - Math.min(...seen.map(({ top }) => top));
  return {
    scale: 2,
    width: picture.getBoundingClientRect().width + 2 * MARGIN,
    height: height + 2 * MARGIN + FOOTER,
    backgroundColor: getComputedStyle(picture).backgroundColor,
    style: { padding: `${MARGIN}px`, boxSizing: "border-box" },
    filter: (/** @type {Node} */ node) => !isControl(node),
    includeStyleProperties: [...getComputedStyle(picture)].filter((name) => !NAMED_TWICE.test(name)),
    onCloneNode: (/** @type {HTMLElement} */ copied) => {
      const address = copied.appendChild(element("p", "", [document.title, hostOf(picture).address?.()].filter(Boolean).join(" · ")));
      Object.assign(address.style, { clear: "both", margin: "8px 0 0", font: `13px ${getComputedStyle(picture).fontFamily}`, opacity: "0.7", textAlign: "center", overflow: "hidden", textOverflow: "ellipsis", whiteSpace: "nowrap" });
    },
  };
}

/** @param {HTMLElement} picture @param {"png" | "svg"} kind @returns {Promise<Blob>} */
export async function photograph(picture, kind) {
  const { domToBlob, domToForeignObjectSvg } = await import("../vendor/modern_screenshot.js"); // who saves nothing loads nothing
  if (kind === "png") return domToBlob(picture, prepare(picture));
  const drawing = await domToForeignObjectSvg(picture, prepare(picture));
  return new Blob([new XMLSerializer().serializeToString(drawing)], { type: "image/svg+xml" });
}

/** @param {Blob} blob @param {string} name */
export function save(blob, name) {
  const href = URL.createObjectURL(blob);
  element("a", "", "", { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 1000);
}
