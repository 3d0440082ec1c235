// @ts-check
// The slider of a temperature, with a mark at √d_k that brings it back there.

import { element } from "../../common/elements.js";
import { _ } from "../../common/words.js";

export class Temperature {
  /** @param {import("../stage.js").Stage} stage @param {(at: number) => void} drag @param {() => void} toRoot */
  constructor(stage, drag, toRoot) {
    this.root = stage.add("div", "temperature");
    const name = this.root.appendChild(element("span", "name"));
    name.append(element("b", "", _("Divisor")));
    this.reading = name.appendChild(element("output"));
    const track = this.root.appendChild(element("div", "slide"));
    this.range = track.appendChild(element("input"));
    this.range.type = "range";
    this.range.setAttribute("aria-label", _("Divisor: the products are divided by it"));
    this.range.oninput = () => drag(Number(this.range.value));
    this.range.onkeydown = (event) => event.stopPropagation();
    this.mark = track.appendChild(element("button", "mark"));
    this.mark.onclick = toRoot;
  }

  /**
   * @param {number} at which of the temperatures @param {number} root which of them is √d_k @param {number} last
   * @param {{ divisor: string, reading: string, root: string }} said
   */
  show(at, root, last, said) {
    this.range.max = String(last);
    this.range.value = String(at);
    this.range.setAttribute("aria-valuetext", said.divisor);
    this.reading.textContent = said.reading;
    this.root.style.setProperty("--at-root", String(root / last));
    this.mark.textContent = said.root;
    this.mark.setAttribute("aria-label", _("Divide by {root}", { root: said.root }));
    this.mark.setAttribute("aria-pressed", String(at === root));
  }
}
