// A prompt read in chunks: the weights of a head that exist at a time, and who has to wait.

/** @import { Sentence } from "../hero.js" */
/** @import { Mark } from "../scene.js" */

import { _ } from "../../common/words.js";
import { markLegend, markTitle, takePen, View } from "./serving_parts.js";

/** @typedef {{ size: number, passes: number, weights: number, gap: string, kind: string }} Chunked */
/** @typedef {{ sizes: Record<string, Chunked>, largest: string }} Chunks */

const OTHERS = 2; // readers of other texts: each wants a row of its own in every pass
const SIDE = 300, BAR = 190, TITLE = 26;

export class ChunksView extends View {
  /** @returns {Chunked} */
  get chunked() {
    const sizes = this.hero.data.chunks?.sizes ?? {};
    return sizes[String(this.hero.choices.chunk_size)] ?? sizes.all ?? { size: 1, passes: 1, weights: 1, gap: "0", kind: "exact" };
  }

  get whole() { return this.hero.data.chunks?.sizes.all ?? this.chunked; }
  get count() { return this.whole.size; }

  /** @override */
  frames() {
    const { passes } = this.chunked;
    return Array.from({ length: passes }, (_one, at) => _("{count} of {all}", { count: String(at + 1), all: String(passes) }));
  }

  /** @returns {Mark[]} */
  marks() {
    const { stage } = this.hero, { room } = stage, isPhone = room < 560, side = Math.min(SIDE, room - (isPhone ? 60 : 0));
    const left = isPhone ? 0 : side + 56, top = isPhone ? TITLE + side + 40 : 0, wide = room - left;
    const told = { rows: this.chunked.size, all: this.count };
    stage.resize(room, isPhone ? top + TITLE + BAR + 130 : TITLE + side + 34);
    return [
      markTitle("title of weights", _("weights of one head: a query in each row"), 0, 9),
      { key: "weights", tag: "canvas", class: "serving-triangle", box: [0, TITLE, side, side], numbers: [], draw: (canvas) => this.paint(canvas, side) },
      markLegend("legend", [0, TITLE + side + 6, side + 40, 26], [["now", _("in this pass")], ["done", _("before")], ["ahead", _("later")]]),
      markTitle("title of passes", _("rows in each pass"), left, top + 9),
      this.markPasses([left, top + TITLE, wide, BAR]),
      markLegend("rows", [left, top + TITLE + BAR + 8, wide, 26], [["now", _("rows of the prompt")], ["wait", _("a row each of two other texts")]]),
      {
        key: "note", class: "serving-note", box: [left, top + TITLE + BAR + (isPhone ? 60 : 40), wide, 70],
        text: this.chunked.passes === 1
          ? _("Two other texts are being written meanwhile. Each waits until all {all} rows of this prompt are computed.", told)
          : _("Two other texts are being written meanwhile. Each gets its row in every pass, so it waits for at most {rows} of the {all} rows of this prompt.", told),
      },
    ];
  }

  /** A bar for each pass: rows of the prompt, and one of each other text. @param {[number, number, number, number]} box @returns {Mark} */
  markPasses(box) {
    const { chunked: { size, passes }, count, hero: { frame } } = this;
    const width = Math.min(60, (box[2] / (passes + 0.001)) * 0.8), unit = (BAR - 4) / (count + OTHERS);
    const bars = Array.from({ length: passes }, (_one, at) => {
      const rows = Math.min(size, count - at * size), bar = (/** @type {string} */ name, /** @type {number} */ high) => ({ class: name, style: { height: `${high * unit}px` } });
      return {
        tag: "div", class: "pass", is: { now: at === frame, done: at < frame }, style: { width: `${width}px` }, attributes: { title: _("{rows} rows of the prompt", { rows }) },
        parts: [bar("others", OTHERS), bar("own", rows)],
      };
    });
    const ghost = { tag: "div", class: "ghost", text: passes > 1 ? _("{rows} rows in one pass", { rows: count }) : "", style: { bottom: `${count * unit}px` } };
    return { key: "passes", class: "serving-passes", box, parts: [ghost, ...bars] };
  }

  /** @param {HTMLCanvasElement} canvas @param {number} side */
  paint(canvas, side) {
    const { count, hero } = this, { size } = this.chunked, cell = side / count;
    if (!hero.data.chunks) return;
    const pen = takePen(canvas, side, side), style = getComputedStyle(canvas);
    for (let query = 0; query < count; query++) {
      const chunk = Math.floor(query / size), isNow = chunk === hero.frame, end = isNow ? Math.min(count, (chunk + 1) * size) : query + 1;
      for (let key = 0; key < end; key++) {
        pen.globalAlpha = isNow ? (key <= query ? 1 : 0.25) : chunk < hero.frame ? 0.3 : 0.1;
        pen.fillStyle = isNow ? style.getPropertyValue("--head0") : style.color;
        pen.fillRect(key * cell, query * cell, cell - 1, cell - 1);
      }
    }
  }

  /** @returns {Sentence} */
  sentence() {
    const { chunked, whole, hero: { data } } = this, isWhole = chunked === whole;
    const values = {
      size: String(chunked.size), passes: String(chunked.passes), weights: String(chunked.weights), whole: String(whole.weights),
      tokens: String(whole.size), gap: chunked.gap, largest: data.chunks?.largest ?? "",
    };
    const ending = isWhole ? "_whole" : chunked.kind === "rounding" ? "" : `_${chunked.kind}`;
    return { name: `hero_chunks${ending}`, values, classes: { weights: "weight", whole: isWhole ? "weight" : "", gap: chunked.kind === "real" ? "wrong" : "" } };
  }

  describe() {
    return Object.values(this.hero.data.chunks?.sizes ?? {}).map(({ size, passes, weights, gap }) =>
      _("chunks of {size}: {passes} passes, {weights} weights, difference {gap}", { size, passes, weights, gap })).join("; ");
  }
}
