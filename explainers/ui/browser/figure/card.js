// @ts-check
// The arithmetic of the clicked number, next to it: below a tall picture nobody would see it.
// While one steps it stays in one place, because next to the number it would cover the next ones.

/** @import { Working } from "./data.js" */
/** @import { Figure } from "./figure.js" */

import { element } from "../common/elements.js";
import { _ } from "../common/words.js";

export class Card {
  /** @param {Figure} figure */
  constructor(figure) {
    this.figure = figure;
    this.box = figure.root.appendChild(element("div", "card"));
    this.box.setAttribute("role", "status");
    this.box.hidden = true;
    const close = this.close = element("button", "close", "×");
    close.onclick = () => this.hide();
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
   * Show it next to the cell, or where it stays while one steps.
   * @param {Working} working
   * @param {HTMLElement | null} cell
   * @param {boolean} isDocked
   */
  show(working, cell, isDocked) {
    this.box.classList.toggle("docked", isDocked);
    this.close.setAttribute("aria-label", _("Close the arithmetic"));
    this.title.textContent = working.title;
    this.lines.textContent = working.lines.join("\n");
    this.snippet.textContent = working.snippet;
    this.box.hidden = false;
    if (isDocked || !cell) return;
    const [area, at] = [this.figure.root.getBoundingClientRect(), cell.getBoundingClientRect()];
    const left = Math.min(at.left - area.left, area.width - this.box.offsetWidth);
    this.box.style.left = `${Math.max(0, left)}px`;
    this.box.style.top = `${at.bottom - area.top + 6}px`;
    if (this.box.getBoundingClientRect().bottom > innerHeight && at.top > this.box.offsetHeight)
      this.box.style.top = `${at.top - area.top - this.box.offsetHeight - 6}px`;
  }
}
