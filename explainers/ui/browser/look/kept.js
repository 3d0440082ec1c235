// Heads that were kept, side by side, each with the same rows.

/** @import { Dress } from "../picture/palette.js" */
/** @import { Heads } from "./heads.js" */

import { channels } from "../common/colours.js";
import { element, penOf } from "../common/elements.js";
import { _ } from "../common/words.js";
import { percent } from "../common/numbers.js";
import { makePixels, paintCodes } from "./heads.js";
import { writeToken } from "./tokens.js";

const SIDE = 120, MOST = 6;

export class KeptHeads {
  /** @param {HTMLElement} parent @param {Heads} heads @param {(layer: number, head: number) => void} choose */
  constructor(parent, heads, choose) {
    this.heads = heads;
    this.choose = choose;
    this.size = Math.round(SIDE * devicePixelRatio);
    /** @type {{ layer: number, head: number, codes: Int16Array }[]} */
    this.kept = [];
    this.root = parent.appendChild(element("div", "kept"));
  }

  /** Keep a head, or, if it is kept, no more; of too many the first goes. @param {number} layer @param {number} head */
  add(layer, head) {
    const rest = this.kept.filter((one) => one.layer !== layer || one.head !== head), weights = this.heads.weights(layer, head);
    if (rest.length < this.kept.length) this.kept = rest;
    else this.kept = [...rest, { layer, head, codes: this.heads.pool(weights, head, { query: [0, weights.rows], key: [0, weights.side] }, this.size) }].slice(-MOST);
  }

  /** @param {number[]} queries whose rows are framed @param {boolean} isSum @param {Dress} dress */
  show(queries, isSum, dress) {
    const colours = makePixels(dress.background, channels(dress.look.deep)), { heads } = this;
    this.root.replaceChildren(...this.kept.map(({ layer, head, codes }) => {
      const button = element("button", "", heads.name(layer, head), { onclick: () => this.choose(layer, head) }), canvas = element("canvas"), { size } = this;
      const image = new ImageData(size, size), pen = penOf(canvas);
      Object.assign(canvas, { width: size, height: size });
      paintCodes(image, codes, colours, null);
      pen.putImageData(image, 0, 0);
      pen.fillStyle = dress.look.query;
      for (const query of queries) pen.fillRect(0, (query + 0.5) * size / heads.queries.length, size / 16, devicePixelRatio);
      button.prepend(canvas);
      if (heads.isInFull(layer, head)) button.append(element("small", "", this.tell(layer, head, queries, isSum)));
      return button;
    }));
  }

  /** What its rows give most to. @param {number} layer @param {number} head @param {number[]} queries @param {boolean} isSum */
  tell(layer, head, queries, isSum) {
    const weights = this.heads.row(layer, head, queries, isSum).map((weight) => weight ?? 0), most = weights.indexOf(Math.max(...weights));
    return _("most to {key}: {share}", { key: writeToken(this.heads.keys[most]), share: percent(weights[most]) });
  }
}
