// @ts-check
// A picture of the picture, with its sentence: what readers copy and send on.

import { element } from "../common/elements.js";
import { _ } from "../common/words.js";

const CONTROLS = ".bar, .hint, .below, .experiments, .in-words";
const MARGIN = 24, FOOTER = 32; // pixels around it, and for the address below it
const SAID_FOR = 2500; // milliseconds

/** A button that copies the picture it stands in. @param {HTMLElement} hero */
export function addCopyButton(hero) {
  const button = element("button", "copy", _("Copy as picture"));
  button.onclick = async () => {
    button.disabled = true;
    button.textContent = await copy(hero).catch(() => _("It could not be copied"));
    button.disabled = false;
    setTimeout(() => { button.textContent = _("Copy as picture"); }, SAID_FOR);
  };
  return button;
}

/** To the clipboard, or where a browser forbids that, to a file; says which. @param {HTMLElement} hero */
async function copy(hero) {
  const picture = photograph(hero);
  try {
    await navigator.clipboard.write([new ClipboardItem({ "image/png": picture })]);
    return _("Copied");
  } catch {
    const link = element("a");
    link.href = URL.createObjectURL(await picture);
    link.download = "attention.png";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    return _("Saved as a file");
  }
}

/** The picture and its sentence, without what changes them. @param {HTMLElement} hero @returns {Promise<Blob>} */
async function photograph(hero) {
  const { domToBlob } = await import("../vendor/modern_screenshot.js"); // who copies nothing loads nothing
  const [stage, says] = [".stage", ".says"].map((part) => /** @type {HTMLElement} */ (hero.querySelector(part)).getBoundingClientRect());
  const { width } = hero.getBoundingClientRect(), height = says.bottom - stage.top;
  return domToBlob(hero, {
    scale: 2,
    width: width + 2 * MARGIN,
    height: height + 2 * MARGIN + FOOTER,
    backgroundColor: getComputedStyle(hero).backgroundColor,
    style: { padding: `${MARGIN}px`, boxSizing: "border-box" },
    filter: (/** @type {Node} */ node) => !(node instanceof Element && node.matches(CONTROLS)),
    onCloneNode: (/** @type {HTMLElement} */ copied) => {
      const address = copied.appendChild(document.createElement("p"));
      address.textContent = `${document.title} · ${location.host}${location.pathname}${decodeURI(location.search)}`;
      Object.assign(address.style, { margin: "8px 0 0", font: `13px ${getComputedStyle(hero).fontFamily}`, opacity: "0.7", textAlign: "center", overflow: "hidden", textOverflow: "ellipsis", whiteSpace: "nowrap" });
    },
  });
}
