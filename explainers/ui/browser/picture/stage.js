// The stage of a picture: nodes that are made once and then only change their places.

import { element, penOf, shape } from "../common/elements.js";

/** @typedef {{ x: number, y: number, width: number, height: number }} Box */

export class Stage {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root.appendChild(element("div", "stage"));
    this.lines = /** @type {SVGSVGElement} */ (this.root.appendChild(shape("svg", { class: "lines", "aria-hidden": "true" })));
    this.room = 0;
    this.height = 0;
    /** @type {WeakMap<Element, (number | string)[]>} what was last written into a node's style */
    this.places = new WeakMap();
    this.pen = penOf(document.createElement("canvas"));
    /** @type {Map<string, number>} */
    this.lengths = new Map();
    this.family = ""; // of the letters
    this.least = 0; // letters are never written smaller
  }

  /** @param {number} room @param {number} height */
  resize(room, height) {
    Object.assign(this, { room, height });
    this.root.style.height = `${height}px`;
    this.lines.setAttribute("viewBox", `0 0 ${room} ${height}`);
  }

  /**
   * A node to its box. What has faded away is hidden, so that the browser composes no layer for it.
   * @param {HTMLElement} node @param {Box} box @param {number} [opacity] @param {number} [delay]
   */
  put(node, { x, y, width, height }, opacity = 1, delay = 0) {
    if (this.stands(node, [x, y, width, height, opacity, delay])) return;
    Object.assign(node.style, {
      transitionDelay: `${delay}ms`,
      transform: `translate(${x.toFixed(2)}px, ${y.toFixed(2)}px)`,
      width: `${Math.max(0, width).toFixed(2)}px`,
      height: `${Math.max(0, height).toFixed(2)}px`,
      opacity,
    });
    hide(node, opacity <= 0);
    node.inert = opacity < 0.2;
  }

  /**
   * A text, held at its middle, or at its left or right end.
   * @param {HTMLElement} node @param {number} x @param {number} y @param {number} wanted size of its letters
   * @param {number} [opacity] @param {number} [delay] @param {"left" | "middle" | "right"} [hold]
   * @param {number} [turn] degrees, around the node's transform-origin
   */
  write(node, x, y, wanted, opacity = 1, delay = 0, hold = "middle", turn = 0) {
    const size = Math.max(wanted, this.least);
    if (this.stands(node, [x, y, size, opacity, delay, hold, turn])) return;
    const back = { left: "0", middle: "-50%", right: "-100%" }[hold];
    Object.assign(node.style, {
      transitionDelay: `${delay}ms`,
      transform: `translate(${x.toFixed(2)}px, ${y.toFixed(2)}px) translate(${back}, -50%)${turn ? ` rotate(${turn}deg)` : ""}`,
      fontSize: `${size}px`,
      opacity,
    });
    hide(node, opacity <= 0);
  }

  /** Is this where a node stands already? From now on it does. @param {HTMLElement} node @param {(number | string)[]} place */
  stands(node, place) {
    const last = this.places.get(node);
    if (last && place.every((one, at) => one === last[at])) return true;
    this.places.set(node, place);
    return false;
  }

  /**
   * How wide texts are: letters grow in proportion, so each is measured once.
   * @param {string[]} texts @param {number} size @param {number} [weight]
   */
  widths(texts, size, weight = 600) {
    this.family ||= getComputedStyle(this.root).fontFamily; // asked again, it would style the page anew
    this.pen.font = `${weight} 100px ${this.family}`;
    return texts.map((text) => {
      const key = `${weight} ${document.fonts.status} ${text}`;
      let wide = this.lengths.get(key);
      if (wide === undefined) this.lengths.set(key, (wide = this.pen.measureText(text).width / 100));
      return wide * size;
    });
  }

  /** How wide one text is. @param {string} text @param {number} size @param {number} [weight] */
  width(text, size, weight) { return this.widths([text], size, weight)[0]; }
}

/**
 * What goes is hidden when it has faded; what comes can be seen from the first moment on, and have the focus.
 * @param {HTMLElement} node @param {boolean} isHidden
 */
function hide({ style }, isHidden) {
  style.visibility = isHidden ? "hidden" : "";
  style.setProperty("--fading", isHidden ? "var(--move)" : "0ms");
}
