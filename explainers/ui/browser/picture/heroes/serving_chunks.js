// @ts-check
// A prompt read in chunks: the weights of a head that exist at a time, and who has to wait.

/** @import { Sentence } from "../hero.js" */
/** @import { Serving } from "./serving.js" */

import { element } from "../../common/elements.js";
import { _ } from "../../common/words.js";

/** @typedef {{ size: number, passes: number, weights: number, gap: string, kind: string }} Chunked */
/** @typedef {{ sizes: Record<string, Chunked>, largest: string }} Chunks */

const OTHERS = 2; // readers of other texts: each wants a row of its own in every pass
const SIDE = 300, BAR = 190, TITLE = 26;

export class ChunksView {
  /** @param {Serving} hero */
  constructor(hero) {
    this.hero = hero;
    this.root = hero.addView("chunks");
    this.grid = this.root.appendChild(element("canvas", "serving-triangle"));
    this.titles = [_("weights of one head: a query in each row"), _("rows in each pass")].map((title) => this.root.appendChild(element("div", "text serving-name strong", title)));
    this.legend = this.root.appendChild(element("div", "serving-legend"));
    this.bars = this.root.appendChild(element("div", "serving-passes"));
    this.key = this.root.appendChild(element("div", "serving-legend"));
    this.note = this.root.appendChild(element("div", "serving-note"));
  }

  /** @returns {Chunked} */
  get chunked() {
    const sizes = this.hero.data.chunks?.sizes ?? {};
    return sizes[String(this.hero.choices.chunk_size)] ?? sizes.all ?? { size: 1, passes: 1, weights: 1, gap: "0", kind: "exact" };
  }

  get whole() { return this.hero.data.chunks?.sizes.all ?? this.chunked; }
  get count() { return this.whole.size; }

  frames() {
    const { passes } = this.chunked;
    return Array.from({ length: passes }, (_one, at) => _("{count} of {all}", { count: String(at + 1), all: String(passes) }));
  }

  place() {
    const { stage } = this.hero, { room } = stage, isPhone = room < 560, side = Math.min(SIDE, room - (isPhone ? 60 : 0));
    const left = isPhone ? 0 : side + 56, top = isPhone ? TITLE + side + 40 : 0, wide = room - left;
    stage.write(this.titles[0], 0, 9, 15, 1, 0, "left");
    stage.put(this.grid, { x: 0, y: TITLE, width: side, height: side });
    stage.put(this.legend, { x: 0, y: TITLE + side + 6, width: side + 40, height: 26 });
    stage.write(this.titles[1], left, top + 9, 15, 1, 0, "left");
    stage.put(this.bars, { x: left, y: top + TITLE, width: wide, height: BAR });
    stage.put(this.key, { x: left, y: top + TITLE + BAR + 8, width: wide, height: 26 });
    stage.put(this.note, { x: left, y: top + TITLE + BAR + (isPhone ? 60 : 40), width: wide, height: 70 });
    this.fillBars(wide);
    this.legend.replaceChildren(...[["now", _("in this pass")], ["done", _("before")], ["ahead", _("later")]].map(([name, text]) => element("span", name, text)));
    this.key.replaceChildren(...[["now", _("rows of the prompt")], ["wait", _("a row each of two other texts")]].map(([name, text]) => element("span", name, text)));
    const told = { rows: this.chunked.size, all: this.count };
    this.note.textContent = this.chunked.passes === 1
      ? _("Two other texts are being written meanwhile. Each waits until all {all} rows of this prompt are computed.", told)
      : _("Two other texts are being written meanwhile. Each gets its row in every pass, so it waits for at most {rows} of the {all} rows of this prompt.", told);
    return (isPhone ? top + TITLE + BAR + 130 : TITLE + side + 34);
  }

  /** A bar for each pass: rows of the prompt, and one of each other text. @param {number} wide */
  fillBars(wide) {
    const { size, passes } = this.chunked, { count, hero } = this, room = wide / (passes + 0.001);
    const width = Math.min(60, room * 0.8), unit = (BAR - 4) / (count + OTHERS);
    const ghost = element("div", "ghost", passes > 1 ? _("{rows} rows in one pass", { rows: count }) : "");
    ghost.style.bottom = `${count * unit}px`;
    this.bars.replaceChildren(ghost, ...Array.from({ length: passes }, (_one, at) => {
      const rows = Math.min(size, count - at * size), bar = element("div", `pass${at === hero.frame ? " now" : at < hero.frame ? " done" : ""}`);
      bar.style.width = `${width}px`;
      const own = element("span", "own"), others = element("span", "others");
      own.style.height = `${rows * unit}px`;
      others.style.height = `${OTHERS * unit}px`;
      bar.append(others, own);
      bar.title = _("{rows} rows of the prompt", { rows });
      return bar;
    }));
  }

  paint() {
    const { count, hero } = this, { size } = this.chunked, scale = devicePixelRatio, side = parseFloat(this.grid.style.width) || SIDE;
    if (this.root.hidden || !hero.data.chunks) return;
    Object.assign(this.grid, { width: Math.round(side * scale), height: Math.round(side * scale) });
    const pen = this.grid.getContext("2d"), style = getComputedStyle(hero.root), cell = side / count;
    if (!pen) return;
    pen.scale(scale, scale);
    for (let query = 0; query < count; query++) for (let key = 0; key < count; key++) {
      const chunk = Math.floor(query / size), end = Math.min(count, (chunk + 1) * size);
      const isNow = chunk === hero.frame, isSeen = key <= query;
      if (!isNow && !isSeen) continue;
      if (isNow && key >= end) continue;
      pen.globalAlpha = isNow ? (isSeen ? 1 : 0.25) : chunk < hero.frame ? 0.3 : 0.1;
      pen.fillStyle = isNow ? style.getPropertyValue("--head0") : style.color;
      pen.fillRect(key * cell, query * cell, cell - 1, cell - 1);
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
