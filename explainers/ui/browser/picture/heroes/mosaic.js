// @ts-check
// All heads of a model as small squares; the arcs of one of them over the tokens of the sentence.

/** @import { HeroData, Sentence } from "../hero.js" */
/** @import { Dress } from "../palette.js" */
/** @import { Mark } from "../scene.js" */
/** @import { Tell } from "../../common/component.js" */
/** @import { Places } from "./mosaic_places.js" */

import { element } from "../../common/elements.js";
import { unpackPlanes } from "../../common/numbers.js";
import { _ } from "../../common/words.js";
import { markArcs } from "../arc_marks.js";
import { percent } from "../sentence.js";
import { WordHero } from "../word_hero.js";
import { placeMosaic } from "./mosaic_places.js";
import { Squares } from "./mosaic_squares.js";

/**
 * @typedef {object} Numbers
 * @property {string} model its short name
 * @property {boolean} isToy small heads stand in for a model that is not here
 * @property {string[]} tokens
 * @property {number} layers
 * @property {number} heads of a layer
 * @property {number} group heads that share their keys and values
 * @property {string} planes the weights of all heads, packed: layer by layer, head by head
 * @property {number} parked heads that give the first token much
 * @property {number} onFirst its share of all weight
 * @property {[number, number, number][]} telling layers, heads and queries worth a look, the best first
 */

const MOST_LABELS = 10; // of layers above the squares, of heads beside them

/** @extends {WordHero<HeroData & Numbers>} */
export class Mosaic extends WordHero {
  planes = "";
  /** @type {(HeroData & Numbers) | null} */
  coming = null;
  /** @type {[layer: number, head: number] | null} */
  under = null; // the mouse
  squares = new Squares();
  // What stands in the bar beside the choices, not in the picture.
  next = Object.assign(element("button", "mosaic-next", _("Another telling head")), { onclick: () => this.step() });
  dim = Object.assign(element("button", "mosaic-dim", _("Hide the first token")), { onclick: () => this.choose({ dim_first: !this.isDimmed }) });

  // What is chosen.

  get layer() { return Math.min(Number(this.choices.model_layer), this.data.layers - 1); }
  get head() { return Math.min(Number(this.choices.model_head), this.data.heads - 1); }
  /** The token whose attention is shown. @override */
  get chosen() { return Math.min(Number(this.choices.token), this.data.tokens.length - 1); }
  get isDimmed() { return this.choices.dim_first === true; }

  /** The numbers are unpacked before anything is drawn of them. @override @param {HeroData & Numbers} data @param {Tell} tell */
  async show(data, tell) {
    this.coming = data;
    const steps = data.planes === this.planes ? this.squares.steps : await unpackPlanes(data.planes);
    if (this.coming !== data) return; // other numbers have come meanwhile
    this.squares.steps = steps;
    super.show(data, tell);
  }

  /** @override @param {boolean} isFirst */
  renew(isFirst) {
    const { planes } = this.data;
    if (!isFirst && planes === this.planes) return false;
    this.planes = planes;
    this.under = null;
    this.squares.drawn = "";
    return super.renew(true);
  }

  /** @override */
  offer() {
    super.offer();
    if (this.bar.lastChild !== this.dim) this.bar.append(this.next, this.dim); // put there again, it would lose the focus
  }

  /** The next of the heads that are worth a look. */
  step() {
    const { telling } = this.data;
    const at = telling.findIndex(([layer, head, query]) => layer === this.layer && head === this.head && query === this.asker);
    const [layer, head, query] = telling[(at + 1) % telling.length];
    this.choose({ model_layer: layer, model_head: head, token: query });
  }

  /** @override */
  addWords() { return super.addWords(_("The token whose attention is shown"), "token"); }

  /** The head at a place of the screen. @param {MouseEvent} event @returns {[layer: number, head: number]} */
  headAt({ clientX, clientY, currentTarget }) {
    const { layers, heads } = this.data, { grid, depth } = /** @type {Places} */ (this.places), field = /** @type {HTMLElement} */ (currentTarget);
    const { left, top, width } = field.getBoundingClientRect(), scale = width / field.offsetWidth || 1;
    const layer = Math.floor((clientX - left) / scale / grid.size), y = (clientY - top) / scale + grid.top;
    let head = 0;
    while (head < heads - 1 && y >= depth(head + 1)) head++;
    return [Math.max(0, Math.min(layers - 1, layer)), head];
  }

  /** @param {Mosaic["under"]} under */
  point(under) {
    if (String(under) === String(this.under)) return;
    this.under = under;
    this.place();
  }

  /** @param {KeyboardEvent} event */
  walk(event) {
    const by = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!by || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    const { layers, heads } = this.data;
    this.choose({ model_layer: (this.layer + by[0] + layers) % layers, model_head: (this.head + by[1] + heads) % heads });
  }

  // What is seen.

  /** @override @param {Dress} dress */
  dressed({ look, background }) { this.squares.dress(background, look.deep); }

  /** @override @returns {Mark[]} */
  marks() {
    const { root, next, dim, stage, data, squares, isDimmed, layer, head } = this;
    root.classList.add("mosaic");
    next.hidden = data.telling.length < 2;
    dim.setAttribute("role", "switch");
    dim.setAttribute("aria-checked", String(isDimmed));
    const places = this.places = placeMosaic(stage, data.tokens, data), side = data.tokens.length;
    squares.draw(places, { ...data, side }, isDimmed);
    squares.enlarge(layer, head, side);
    return [...this.markGrid(places), ...this.markLarge(places), ...this.markStrip(places), ...this.markLabels(places)];
  }

  /** All heads. @param {Places} places @returns {Mark[]} */
  markGrid({ grid: { left, top, width, height, size, inner }, depth }) {
    const { layer, head, under } = this, box = /** @type {Mark["box"]} */ ([left, top, width, height]);
    const frame = (/** @type {string} */ key, /** @type {number} */ across, /** @type {number} */ down) => /** @type {Mark} */ ({
      key, class: "mosaic-frame", is: { hover: key === "hover" }, box: [left + across * size - 2, depth(down) - 2, inner + 4, inner + 4],
    });
    return [
      { key: "all", node: this.squares.all, box },
      {
        key: "field", tag: "button", class: "mosaic-field", box,
        attributes: { "aria-label": [_("layer {layer}, head {head}", { layer, head }), _("Arrow keys choose another head.")].join(". ") },
        made: (field) => Object.assign(field, {
          onclick: (/** @type {MouseEvent} */ event) => {
            const [layer, head] = this.headAt(event);
            if (event.detail !== 0) this.choose({ model_layer: layer, model_head: head }); // else it was a key: arrows choose
          },
          onpointermove: (/** @type {PointerEvent} */ event) => { if (event.pointerType === "mouse") this.point(this.headAt(event)); },
          onpointerleave: () => this.point(null),
          onkeydown: (/** @type {KeyboardEvent} */ event) => this.walk(event),
        }),
      },
      ...(under ? [frame("hover", ...under)] : []),
      frame("frame", layer, head),
    ];
  }

  /** The chosen head, where there is room for it, and what squares are. @param {Places} places @returns {Mark[]} */
  markLarge({ large, note }) {
    const { layer, head, asker, squares } = this, text = _("layer {layer}, head {head}, enlarged", { layer, head }), cell = (large?.side ?? 0) / this.data.tokens.length;
    return [
      ...(large ? /** @type {Mark[]} */ ([
        { key: "large", class: "mosaic-large", box: [large.left, large.top, large.side, large.side] },
        { key: "enlarged", in: "large", node: squares.large },
        { key: "row", class: "mosaic-row", box: [large.left - 2, large.top + asker * cell - 2, large.side + 4, cell + 4] },
        { key: "named", class: "text mosaic-named", text, at: [large.left, large.top - 13, 13], hold: "left" },
      ]) : []),
      {
        key: "note", class: "mosaic-note", box: [note.left, note.top, note.width, large ? large.side : 44],
        text: _("One square is one head: a row for each query, a column for each key. The stronger the colour, the larger the weight. Layers go across, heads down."),
      },
    ];
  }

  /** The arcs of the chosen head over the tokens. @param {Places} places @returns {Mark[]} */
  markStrip({ strip: { right, top, base, high, step, size, centres } }) {
    const { stage, data: { tokens }, layer, head, asker, weights } = this;
    return [
      { key: "title", class: "text mosaic-title", text: _("layer {layer}, head {head}", { layer, head }), at: [right, top + 10, 17], hold: "right" },
      { key: "line", class: "baseline", box: [base, centres[0] - step / 2, 1, step * tokens.length] },
      this.markWords((place) => ({
        name: _("{query} gives {key} {share}", { query: tokens[asker], key: tokens[place], share: percent(weights[place] ?? 0) }),
        isHidden: weights[place] === null, at: [base + 8, centres[place], size], hold: "left",
      })),
      ...markArcs("head", stage, {
        weights: weights.map((weight) => weight ?? 0), centres, asker, base, high, isUpright: true, isSeen: (place) => weights[place] !== null,
        share: (place) => ({ at: [right - 4, centres[place], Math.max(13, Math.min(16, size))], hold: "right", opacity: weights[place] === null ? 0 : 1 }),
      }),
    ];
  }

  /** Numbers of layers above the squares, and of heads beside them. @param {Places} places @returns {Mark[]} */
  markLabels({ grid: { left, top, size }, depth }) {
    const { layers, heads } = this.data, every = (/** @type {number} */ all) => Math.ceil(all / MOST_LABELS);
    const label = (/** @type {number} */ all, /** @type {string} */ axis, /** @type {(at: number) => Pick<Mark, "at" | "hold">} */ place) =>
      Array.from({ length: Math.ceil(all / every(all)) }, (_one, nth) => nth * every(all)).map((at) => ({ key: `${axis} ${at}`, class: "text quiet", text: String(at), ...place(at) }));
    return [
      ...label(layers, "layer", (at) => ({ at: [left + (at + 0.5) * size, top - 10, 13] })),
      ...(size * every(heads) < 11 ? [] : label(heads, "head", (at) => ({ at: [left - 6, depth(at) + size / 2, 13], hold: "right" }))),
    ];
  }

  /** What the token gives to each token; null to those that it may not see, or that are left out. */
  get weights() {
    const { data: { tokens, heads }, layer, head, asker, squares } = this, side = tokens.length, at = ((layer * heads + head) * side + asker) * side;
    return tokens.map((_token, key) => (this.isDimmed && key === 0 ? null : squares.weight(at + key)));
  }

  // Words.

  /** @override @returns {Sentence} */
  sentence() {
    const { data, layer, head, asker: query, isDimmed } = this, { tokens } = data;
    const given = this.weights, weights = given.map((weight) => weight ?? 0), most = weights.indexOf(Math.max(...weights));
    const values = {
      model: data.model, count: String(data.layers * data.heads), layer: String(layer), head: String(head),
      query: tokens[query].trim(), key: tokens[most].trim(), share: percent(weights[most]),
      parked: String(data.parked), first: tokens[0].trim(), sink: percent(data.onFirst),
    };
    const isAlone = given.filter((weight) => weight !== null).length < 2;
    const name = data.isToy ? "hero_toy" : isDimmed ? (isAlone ? "hero_dimmed_alone" : "hero_dimmed")
      : isAlone ? "hero_alone" : most === 0 ? "hero_first" : "hero_seen";
    return { name, values, classes: { query: "query", key: "key", share: "weight" } };
  }

  /** @override */
  describe() {
    const { data: { tokens }, weights } = this;
    return tokens.map((token, place) => `${token.trim()}: ${weights[place] === null ? "–" : percent(weights[place] ?? 0)}`).join("; ");
  }
}
