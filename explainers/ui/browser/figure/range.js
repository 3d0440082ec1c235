// A slider of a linked picture. Sliders of one name move together: one is seen, the others follow.

/** @import { SliderData } from "./data.js" */
/** @import { Figure } from "./figure.js" */

import { element } from "../common/elements.js";

export class Range {
  /** @param {Figure} figure @param {"frame" | "view"} kind what it turns to @param {SliderData} slider */
  constructor(figure, kind, slider) {
    this.figure = figure;
    this.slider = slider;
    this.input = element("input", "", "", {
      type: "range", min: 0, max: slider.labels.length - 1, step: 1, oninput: () => figure.drag(this), onchange: () => figure.drop(kind, this),
    });
    this.shown = element("output");
    this.line = element("label", "slider");
    this.line.append(element("span", "", slider.label), this.input, this.shown);
  }

  get place() { return Number(this.input.value); }
  get last() { return Number(this.input.max); }

  /** @param {number} place */
  put(place) {
    this.input.value = String(place);
    this.shown.textContent = this.slider.labels[place];
    this.input.setAttribute("aria-valuetext", this.slider.labels[place]);
  }
}
