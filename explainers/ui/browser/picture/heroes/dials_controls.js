// @ts-check
// A slider with its name at the left and its number at the right.

import { element } from "../../common/elements.js";

export class Slide {
  /** @param {HTMLElement} root @param {(value: number) => void} drag */
  constructor(root, drag) {
    this.root = root.appendChild(element("label", "dials-slide"));
    this.name = this.root.appendChild(element("span"));
    this.range = this.root.appendChild(element("input"));
    this.range.type = "range";
    this.range.oninput = () => drag(Number(this.range.value));
    this.range.onkeydown = (event) => event.stopPropagation();
    this.output = this.root.appendChild(element("output"));
  }

  /** @param {string} name @param {number} least @param {number} most @param {number} value @param {string} told */
  show(name, least, most, value, told) {
    this.name.textContent = name;
    this.range.setAttribute("aria-label", name);
    this.range.min = String(least);
    this.range.max = String(most);
    if (this.range.value !== String(value)) this.range.value = String(value);
    this.range.setAttribute("aria-valuetext", told);
    this.output.textContent = value > 0 && least < 0 ? `+${value}` : String(value).replace("-", "−");
  }
}
