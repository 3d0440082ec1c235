// The arithmetic of the clicked number, next to its matrix: below a tall picture nobody would see it,
// and over the matrix it would cover what it explains. While one steps it stays in one place.

/** @import { Working } from "./data.js" */
/** @import { Figure } from "./figure.js" */

import { element } from "../common/elements.js";
import { _ } from "../common/words.js";

const GAP = 6; // pixels between the card and what it stands beside

export class Card {
  /** @param {Figure} figure */
  constructor(figure) {
    this.figure = figure;
    this.box = figure.root.appendChild(element("div", "card", "", { role: "status", hidden: "" }));
    const close = this.close = element("button", "close", "×", { onclick: () => this.hide() });
    this.title = element("strong", "");
    this.lines = element("pre", "lines");
    this.snippet = element("pre", "snippet");
    for (const text of [this.lines, this.snippet]) text.tabIndex = 0;
    this.box.append(close, this.title, this.lines, this.snippet);
    figure.root.addEventListener("keydown", (event) => event.key === "Escape" && this.hide());
  }

  hide() {
    this.box.hidden = true;
    this.figure.clicked = null;
  }

  /**
   * Show it next to the cell's matrix, or where it stays while one steps.
   * @param {Working} working @param {HTMLElement | null} cell @param {boolean} isDocked
   */
  show(working, cell, isDocked) {
    this.box.classList.toggle("docked", isDocked);
    const home = isDocked ? this.figure.stage : this.figure.root; // docked, in what room its matrices leave
    if (this.box.parentElement !== home) home.append(this.box);
    this.close.setAttribute("aria-label", _("Close the arithmetic"));
    this.title.textContent = working.title;
    this.lines.textContent = working.lines.join("\n");
    this.snippet.textContent = working.snippet;
    this.box.hidden = false;
    if (isDocked || !cell) return;
    this.box.style.left = "0"; // where it was before, it may have had less room
    const [area, at] = [this.figure.root.getBoundingClientRect(), cell.getBoundingClientRect()];
    const { left, top } = this.placeBeside((cell.closest(".panel") ?? cell).getBoundingClientRect(), at, area);
    this.box.style.left = `${Math.max(0, Math.min(left - area.left, area.width - this.box.offsetWidth))}px`;
    this.box.style.top = `${top - area.top}px`;
  }

  /**
   * Below the matrix, above it or beside it, where the window has room; else below the cell, or above it.
   * @param {DOMRect} matrix @param {DOMRect} at the cell @param {DOMRect} area that all matrices stand in
   * @returns {{ left: number, top: number }} in the window
   */
  placeBeside(matrix, at, area) {
    const { offsetWidth: width, offsetHeight: height } = this.box;
    if (matrix.bottom + GAP + height <= innerHeight) return { left: at.left, top: matrix.bottom + GAP };
    if (matrix.top >= height + GAP) return { left: at.left, top: matrix.top - height - GAP };
    const top = Math.max(GAP, Math.min(at.top, innerHeight - height));
    if (matrix.right + GAP + width <= area.right) return { left: matrix.right + GAP, top };
    if (matrix.left - GAP - width >= area.left) return { left: matrix.left - GAP - width, top };
    const isAbove = at.bottom + GAP + height > innerHeight && at.top > height;
    return { left: at.left, top: isAbove ? at.top - height - GAP : at.bottom + GAP };
  }
}
