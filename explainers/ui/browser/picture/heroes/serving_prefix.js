// @ts-check
// Both prompts, their shared blocks drawn once, and a square for each layer and token of prompt 2.

/** @import { Sentence } from "../hero.js" */
/** @import { Serving } from "./serving.js" */

import { element, shape } from "../../common/elements.js";
import { _ } from "../../common/words.js";
import { layOutPrompts } from "./serving_places.js";

/** @import { Prompts } from "./serving_places.js" */

const CHIP = 27, LEGEND = 30, LAST_WAVE = 0.85; // the last column follows after this share of the time
const SAME = 0, AGAIN = 1, DIFFERS = 2; // a square: reused; as it was, but computed again; another row

export class PrefixView {
  /** @param {Serving} hero */
  constructor(hero) {
    this.hero = hero;
    this.root = hero.addView("prefix");
    this.lines = /** @type {SVGSVGElement} */ (this.root.appendChild(shape("svg", { class: "serving-lines", "aria-hidden": "true" })));
    this.fork = this.lines.appendChild(shape("path", { class: "serving-fork" }));
    this.blocks = this.root.appendChild(element("div", "serving-blocks"));
    this.names = this.root.appendChild(element("div", "serving-names"));
    this.words = this.root.appendChild(element("div", "serving-words"));
    this.words.setAttribute("role", "group");
    this.words.setAttribute("aria-label", _("Words of prompt 2: click one to change it"));
    this.words.addEventListener("keydown", (event) => this.walk(event));
    this.grids = this.root.appendChild(element("div", "serving-grids"));
    this.legend = this.root.appendChild(element("div", "serving-legend"));
    /** @type {HTMLElement[]} */
    this.first = [];
    /** @type {HTMLButtonElement[]} */
    this.second = [];
    /** @type {Prompts | null} */
    this.places = null;
    /** @type {number[][]} what each layer's squares were, and what they become */
    this.before = [];
    /** @type {number[][]} */
    this.after = [];
    this.shown = "";
  }

  /** @returns {string[]} */
  frames() { return []; }

  get texts() {
    const { data, changed } = this.hero, [first, second] = data.tokens;
    return { first, second: second.map((token, place) => (place === changed ? data.others[place] : token)) };
  }

  /** Tokens that prompt 2 takes over: those of whole blocks, but never all of its own. */
  get reused() {
    const { data, change } = this.hero;
    return Math.min(change.blocks * data.block, data.tokens[1].length - 1);
  }

  renew() {
    const { data } = this.hero, shown = JSON.stringify([data.tokens, data.others]);
    if (shown === this.shown) return;
    this.shown = shown;
    this.words.replaceChildren();
    this.first = data.tokens[0].map((token) => this.words.appendChild(element("div", "text moves serving-token", token)));
    this.second = data.tokens[1].map((token, place) => {
      const button = this.words.appendChild(element("button", "text moves serving-token", token));
      button.disabled = place >= data.others.length;
      button.onclick = () => this.hero.choose({ changed: place === this.hero.changed ? -1 : place });
      return button;
    });
    this.before = this.after = [];
  }

  /** @param {KeyboardEvent} event */
  walk(event) {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const at = this.second.findIndex((button) => button === event.target);
    if (!by || at < 0) return;
    event.preventDefault();
    event.stopPropagation();
    const next = this.second[Math.max(0, Math.min(this.hero.data.others.length - 1, at + by))];
    next.tabIndex = 0;
    next.focus();
  }

  place() {
    this.renew();
    const { hero } = this, { stage, data, changed, change } = hero, { first, second } = this.texts;
    const layers = change.moved.length, fork = Math.floor(this.reused / data.block) * data.block;
    const beginning = data.others.length, columns = second.map((token, place) => (place < beginning ? [token, first[place]] : [token]));
    const places = (this.places = layOutPrompts(stage, columns, first, { block: data.block, fork, layers, beginning }));
    const { size, lines } = places;
    this.placeWords(places, fork);
    this.placeBlocks(places, fork);
    this.placeNames(places, fork, layers);
    const bottom = lines[lines.length - 1].end;
    stage.put(this.legend, { x: 0, y: bottom + 8, width: stage.room, height: LEGEND });
    this.writeLegend();
    this.lines.setAttribute("viewBox", `0 0 ${stage.room} ${bottom}`);
    stage.put(/** @type {HTMLElement} */ (/** @type {unknown} */ (this.lines)), { x: 0, y: 0, width: stage.room, height: bottom });
    this.fork.setAttribute("d", places.fork);
    this.root.style.setProperty("--letters", `${size}px`);
    this.settle(layers, second.length, first.length, change.moved);
    this.second.forEach((button, at) => {
      button.classList.toggle("changed", at === changed);
      button.tabIndex = at === Math.max(0, changed) ? 0 : -1;
      button.textContent = second[at];
      button.setAttribute("aria-label", at < data.others.length ? _("{word}, change it to {other}", { word: data.tokens[1][at], other: data.others[at] }) : second[at]);
      button.setAttribute("aria-pressed", String(at === changed));
    });
    return bottom + 8 + this.legendHeight();
  }

  legendHeight() { return this.hero.stage.room < 560 ? 5 * 24 : this.hero.stage.room < 960 ? 2 * 24 : LEGEND; }

  /** @param {Prompts} places @param {number} fork */
  placeWords({ columns, first, lines, size }, fork) {
    const { stage } = this.hero;
    this.first.forEach((node, at) => {
      const { x, width, line } = first[at], { lanes } = lines[line], isOwn = at >= fork;
      stage.write(node, x + width / 2, lanes[isOwn ? 0 : 1], size, isOwn ? 1 : 0);
    });
    this.second.forEach((node, at) => {
      const { x, width, line } = columns[at], { lanes } = lines[line];
      stage.write(node, x + width / 2, lanes[at >= fork ? 2 : 1], size);
    });
  }

  /** A frame around each block, in the lane of either prompt or of both. @param {Prompts} places @param {number} fork */
  placeBlocks({ columns, first, lines }, fork) {
    const { stage, data } = this.hero, lengths = data.tokens.map((tokens) => tokens.length);
    /** @type {{ from: number, to: number, lane: number }[]} */
    const wanted = [];
    for (let from = 0; from < Math.max(...lengths); from += data.block) {
      const isShared = from < fork;
      for (const lane of isShared ? [1] : [0, 2]) {
        const to = Math.min(from + data.block, isShared ? fork : lengths[lane / 2]) - 1;
        if (to >= from) wanted.push({ from, to, lane });
      }
    }
    while (this.blocks.children.length < wanted.length) this.blocks.append(element("div", "moves serving-block"));
    [...this.blocks.children].forEach((child, nth) => {
      const node = /** @type {HTMLElement} */ (child), one = wanted[nth];
      if (!one) return stage.put(node, { x: 0, y: 0, width: 0, height: 0 }, 0);
      const { from, to, lane } = one, own = lane ? columns : first, start = own[from], end = own[to], { lanes } = lines[start.line];
      node.classList.toggle("shared", lane === 1);
      stage.put(node, { x: start.x - 2, y: lanes[lane] - CHIP / 2, width: end.x + end.width - start.x + 4, height: CHIP });
    });
  }

  /** What each line of words and of squares is, at its left. @param {Prompts} places @param {number} fork @param {number} layers */
  placeNames({ lines, gutter }, fork, layers) {
    const { stage } = this.hero, isShort = gutter < 40;
    /** @type {[string, number, string][]} */
    const wanted = [];
    for (const { lanes, grid, unit, isSplit, from } of lines) {
      if (isSplit) wanted.push([isShort ? "1" : _("prompt 1"), lanes[0], "strong"], [isShort ? "2" : _("prompt 2"), lanes[2], "strong"]);
      if (from < fork && !isShort) wanted.push([_("both"), lanes[1], "strong"]);
      if (!isShort) wanted.push([_("layer {number}", { number: 1 }), grid + 7, ""], [String(layers), grid + layers * unit - 7, ""]);
    }
    while (this.names.children.length < wanted.length) this.names.append(element("div", "text serving-name"));
    [...this.names.children].forEach((child, nth) => {
      const node = /** @type {HTMLElement} */ (child), one = wanted[nth];
      node.hidden = !one;
      if (!one) return;
      node.textContent = one[0];
      node.classList.toggle("strong", one[2] === "strong");
      stage.write(node, 0, one[1], 13, 1, 0, "left");
    });
  }

  writeLegend() {
    const items = [["same", _("row of K reused")], ["again", _("the same row, but computed again")], ["differs", _("another row: computed")], ["note", _("Layer 1: the same token at the same position has the same row.")]];
    this.legend.replaceChildren(...items.map(([name, text]) => element("span", name, text)));
  }

  /** What all squares become. @param {number} layers @param {number} count @param {number} known tokens of prompt 1 @param {string[]} moved */
  settle(layers, count, known, moved) {
    const after = Array.from({ length: layers }, (_one, layer) => Array.from({ length: count }, (_token, at) =>
      at >= known || moved[layer][at] === "1" ? DIFFERS : at < this.reused ? SAME : AGAIN));
    if (JSON.stringify(after) === JSON.stringify(this.after)) return;
    this.before = this.after.length === layers ? this.after : after;
    this.after = after;
  }

  /** @param {number} share of the way: the wave runs to the right */
  paint(share) {
    const { places, hero, after, before } = this;
    if (!places || !after.length || this.root.hidden) return;
    const style = getComputedStyle(hero.root), scale = devicePixelRatio, start = Math.max(0, hero.changed), count = after[0].length;
    const colours = ["--key", "--key", "--wrong"].map((name) => style.getPropertyValue(name)); // of SAME, AGAIN, DIFFERS
    while (this.grids.children.length < places.lines.length) this.grids.append(element("canvas"));
    [...this.grids.children].forEach((child, nth) => {
      const canvas = /** @type {HTMLCanvasElement} */ (child), line = places.lines[nth];
      canvas.hidden = !line;
      if (!line) return;
      const { from, to, grid, unit } = line, left = places.columns[from].x, end = places.columns[Math.min(to, count) - 1];
      const width = end.x + end.width - left, height = after.length * unit;
      hero.stage.put(canvas, { x: left, y: grid, width, height });
      Object.assign(canvas, { width: Math.round(width * scale), height: Math.round(height * scale) });
      const pen = canvas.getContext("2d");
      if (!pen) return;
      pen.scale(scale, scale);
      for (let at = from; at < Math.min(to, count); at++) {
        const late = at < start ? 0 : (LAST_WAVE * (at - start)) / Math.max(1, count - start);
        const shown = share >= 1 || share > late ? after : before, column = places.columns[at];
        for (let layer = 0; layer < after.length; layer++) {
          const kind = shown[layer]?.[at] ?? after[layer][at];
          pen.globalAlpha = kind === AGAIN ? 0.32 : 1;
          pen.fillStyle = colours[kind];
          pen.fillRect(column.x - left, layer * unit, column.width - 1, unit >= 4 ? unit - 1 : unit - 0.5);
        }
      }
    });
  }

  /** @returns {Sentence} */
  sentence() {
    const { data, changed, change } = this.hero, { second } = this.texts, beginning = data.others.length;
    const count = (/** @type {string} */ row) => String([...row.slice(0, beginning)].filter((one) => one === "1").length);
    const values = {
      shared: String(change.shared), tokens: String(second.length), block: String(data.block), blocks: String(change.blocks), reused: String(this.reused), computed: String(second.length - this.reused),
      gap: change.gap, next: change.next, beginning: String(beginning), first: count(change.moved[0]), later: count(change.moved[change.moved.length - 1]),
      old: data.tokens[1][changed] ?? "", new: data.others[changed] ?? "",
    };
    const classes = { shared: "key", reused: "key", blocks: "key", later: "wrong", new: "wrong" };
    if (changed < 0) return { name: change.kind === "real" ? "hero_shared_real" : change.isSame ? "hero_shared" : "hero_shared_other", values, classes };
    return { name: changed === 0 && values.new.startsWith("␣") ? "hero_blank" : "hero_changed", values, classes };
  }

  describe() {
    const { change } = this.hero, { first, second } = this.texts;
    const differing = second.map((token, at) => `${token} ${change.moved.filter((row) => row[at] === "1").length}`);
    const told = _("Layers in which the row of K differs: {counts}", { counts: differing.join(", ") });
    return `1: ${first.join(" ")}. 2: ${second.join(" ")}. ${told}`;
  }
}
