// @ts-check
// A button that copies the picture it stands in.

import { element } from "../common/elements.js";
import { photograph, save } from "../common/snapshot.js";
import { _ } from "../common/words.js";

const SAID_FOR = 2500; // milliseconds

/** @param {HTMLElement} hero */
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
  const picture = photograph(hero, "png");
  try {
    await navigator.clipboard.write([new ClipboardItem({ "image/png": picture })]);
    return _("Copied");
  } catch {
    save(await picture, "attention.png");
    return _("Saved as a file");
  }
}
