// @ts-check
// All heads of a model as small squares; the arcs of one of them over the tokens of the sentence.

/** @import { HeroData, Sentence } from "../hero.js" */
/** @import { Dress } from "../palette.js" */
/** @import { Tell } from "../../common/component.js" */
/** @import { Places } from "./mosaic_places.js" */

import { element } from "../../common/elements.js";
import { unpackPlanes } from "../../common/numbers.js";
import { _ } from "../../common/words.js";
import { ArcStrip } from "../arc_strip.js";
import { Hero } from "../hero.js";
import { percent } from "../sentence.js";
import { Words } from "../words.js";
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

const MOST_LABELS = 10; // names of layers above the squares
const NOWHERE = { x: 0, y: 0, width: 0, height: 0 };

/** @extends {Hero<HeroData & Numbers>} */
export class Mosaic extends Hero {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    root.classList.add("mosaic");
    this.planes = "";
    this.mixed = "";
    /** @type {(HeroData & Numbers) | null} */
    this.coming = null;
    /** @type {number | null} */
    this.pointed = null; // a token
    const { stage } = this;
    this.squares = new Squares(stage);
    this.field = stage.add("button", "mosaic-field");
    this.hover = stage.add("div", "mosaic-frame hover");
    stage.put(this.hover, NOWHERE, 0);
    this.frame = stage.add("div", "mosaic-frame");
    this.row = stage.add("div", "mosaic-row");
    this.named = stage.add("div", "text mosaic-named");
    this.note = stage.add("div", "mosaic-note");
    this.title = stage.add("div", "text mosaic-title");
    /** @type {HTMLElement[]} */
    this.labels = [];
    this.strip = new ArcStrip(stage);
    this.line = stage.add("div", "baseline");
    this.words = new Words(stage, {
      label: _("The token whose attention is shown"),
      choose: (place) => { this.pointed = null; this.choose({ token: place }); },
      peek: (place) => this.peek(place),
    });
    this.next = element("button", "mosaic-next", _("Another telling head"));
    this.next.onclick = () => this.step();
    this.dim = element("button", "mosaic-dim", _("Hide the first token"));
    this.dim.setAttribute("role", "switch");
    this.dim.onclick = () => this.choose({ dim_first: !this.isDimmed });
    this.field.onclick = (event) => this.pick(event);
    this.field.onpointermove = (event) => this.point(event);
    this.field.onpointerleave = () => stage.put(this.hover, NOWHERE, 0);
    this.field.onkeydown = (event) => this.walk(event);
  }

  // What is chosen.

  get layer() { return Math.min(Number(this.choices.model_layer), this.data.layers - 1); }
  get head() { return Math.min(Number(this.choices.model_head), this.data.heads - 1); }
  get query() { return this.pointed ?? Math.min(Number(this.choices.token), this.data.tokens.length - 1); }
  get isDimmed() { return this.choices.dim_first === true; }

  /** The numbers are unpacked before anything is drawn of them. @override @param {HeroData & Numbers} data @param {Tell} tell */
  async show(data, tell) {
    this.coming = data;
    const steps = data.planes === this.planes ? this.squares.steps : await unpackPlanes(data.planes);
    if (this.coming !== data) return; // other numbers have come meanwhile
    this.squares.steps = steps;
    super.show(data, tell);
  }

  /** @override */
  offer() {
    super.offer();
    this.bar.append(this.next, this.dim);
  }

  /** @override */
  update() {
    this.dim.setAttribute("aria-checked", String(this.isDimmed));
    this.next.hidden = this.data.telling.length < 2;
    super.update();
  }

  /** The next of the heads that are worth a look. */
  step() {
    const { telling } = this.data;
    const at = telling.findIndex(([layer, head, query]) => layer === this.layer && head === this.head && query === this.query);
    const [layer, head, query] = telling[(at + 1) % telling.length];
    this.choose({ model_layer: layer, model_head: head, token: query });
  }

  /** @param {number | null} place */
  peek(place) {
    if (place === this.pointed) return;
    this.pointed = place;
    this.update();
  }

  /** The head at a place of the screen. @param {MouseEvent} event @returns {[number, number]} */
  headAt(event) {
    const { grid } = this.layout(), { left, top } = this.field.getBoundingClientRect(), { layers, heads } = this.data;
    const scale = this.field.getBoundingClientRect().width / this.field.offsetWidth || 1;
    const layer = Math.floor((event.clientX - left) / scale / grid.size), y = (event.clientY - top) / scale;
    let head = 0;
    while (head < heads - 1 && y >= this.depth(head + 1) - grid.top) head++;
    return [Math.max(0, Math.min(layers - 1, layer)), head];
  }

  /** @param {MouseEvent} event */
  pick(event) {
    if (event.detail === 0) return; // by a key: the arrows choose
    const [layer, head] = this.headAt(event);
    this.choose({ model_layer: layer, model_head: head });
  }

  /** @param {PointerEvent} event */
  point(event) {
    if (event.pointerType !== "mouse") return;
    const [layer, head] = this.headAt(event);
    this.stage.put(this.hover, this.box(layer, head));
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

  // Nodes and places.

  /** @override @param {boolean} isFirst */
  renew(isFirst) {
    const { tokens, layers, heads, planes } = this.data;
    if (!isFirst && planes === this.planes) return false;
    this.planes = planes;
    this.mixed = "";
    this.pointed = null;
    for (const label of this.labels) label.remove();
    const every = Math.max(1, Math.ceil(layers / MOST_LABELS)), everyHead = Math.max(1, Math.ceil(heads / MOST_LABELS));
    this.labels = [
      ...Array.from({ length: Math.ceil(layers / every) }, (_one, at) => this.label(at * every, true)),
      ...Array.from({ length: Math.ceil(heads / everyHead) }, (_one, at) => this.label(at * everyHead, false)),
    ];
    this.words.renew(tokens);
    this.strip.renew(tokens.length);
    return true;
  }

  /** @param {number} at @param {boolean} isLayer */
  label(at, isLayer) {
    const node = this.stage.add("div", "text quiet", String(at));
    node.dataset.at = String(at);
    node.dataset.axis = isLayer ? "layer" : "head";
    return node;
  }

  /** @override @param {Dress} dress */
  dressed({ look, background }) {
    this.squares.dress(background, look.deep);
    this.mixed = "";
  }

  /** @override */
  measure() {
    this.places = placeMosaic(this.stage, this.data.tokens, this.data);
    this.stage.resize(this.stage.room, this.places.height);
  }

  layout() { return /** @type {Places} */ (this.places); }

  /** Where a row of squares begins. @param {number} head */
  depth(head) {
    const { grid } = this.layout();
    return grid.top + head * grid.size + grid.gap * Math.floor(head / this.data.group);
  }

  /** @param {number} layer @param {number} head */
  box(layer, head) {
    const { grid } = this.layout(), inner = grid.size - Math.max(1, grid.size / 12);
    return { x: grid.left + layer * grid.size - 2, y: this.depth(head) - 2, width: inner + 4, height: inner + 4 };
  }

  /** @override */
  place() {
    this.measure();
    const { stage, data, layer, head, squares } = this, places = this.layout(), { grid } = places;
    const side = data.tokens.length, mixed = `${this.isDimmed} ${grid.size} ${stage.room}`;
    if (this.mixed !== mixed) {
      this.mixed = mixed;
      squares.mix({ ...data, side, isDimmed: this.isDimmed });
      squares.draw(places, { ...data, side });
    }
    squares.enlarge(layer, head, side);
    const width = data.layers * grid.size, height = this.depth(data.heads - 1) + grid.size - grid.top;
    stage.put(squares.all, { x: grid.left, y: grid.top, width, height });
    stage.put(this.field, { x: grid.left, y: grid.top, width, height });
    const named = _("layer {layer}, head {head}", { layer, head }), keys = _("Arrow keys choose another head.");
    this.field.setAttribute("aria-label", `${named}. ${keys}`);
    stage.put(this.frame, this.box(layer, head));
    for (const label of this.labels) {
      const at = Number(label.dataset.at), isLayer = label.dataset.axis === "layer";
      if (isLayer) stage.write(label, grid.left + (at + 0.5) * grid.size, grid.top - 10, 13);
      else stage.write(label, grid.left - 6, this.depth(at) + grid.size / 2, 13, grid.size * Math.max(1, Math.ceil(data.heads / MOST_LABELS)) >= 11 ? 1 : 0, 0, "right");
    }
    this.placeLarge(places);
    this.placeStrip(places);
  }

  /** @param {Places} places */
  placeLarge({ large, note, grid }) {
    const { stage, data, layer, head, query, squares } = this, side = data.tokens.length;
    const box = large ?? { left: 0, top: 0, side: 0 }, seen = large ? 1 : 0, cell = box.side / side;
    stage.put(squares.large, { x: box.left, y: box.top, width: box.side, height: box.side }, seen);
    stage.put(this.row, { x: box.left - 2, y: box.top + query * cell - 2, width: box.side + 4, height: cell + 4 }, seen);
    this.named.textContent = _("layer {layer}, head {head}, enlarged", { layer, head });
    stage.write(this.named, box.left, box.top - 13, 13, seen, 0, "left");
    this.note.textContent = _("One square is one head: a row for each query, a column for each key. The stronger the colour, the larger the weight. Layers go across, heads down.");
    stage.put(this.note, { x: note.left, y: note.top, width: note.width, height: large ? box.side : 44 }, large || grid.size ? 1 : 0);
  }

  /** @param {Places} places */
  placeStrip({ strip }) {
    const { stage, data, layer, head, query } = this, { tokens } = data, weights = this.weightsOf(query);
    this.title.textContent = _("layer {layer}, head {head}", { layer, head });
    stage.write(this.title, strip.left + strip.width, strip.top + 10, 17, 1, 0, "right");
    const names = tokens.map((token, place) => _("{query} gives {key} {share}", { query: tokens[query], key: token, share: percent(weights[place] ?? 0) }));
    this.words.show({ chosen: Number(this.choices.token), shown: query, names, hidden: tokens.map((_token, place) => weights[place] === null) });
    tokens.forEach((_token, place) => {
      const y = this.wordDepth(place);
      stage.write(this.words.buttons[place], strip.base + 8, y, strip.size, 1, 0, "left");
      stage.write(this.strip.shares[place], strip.shares, y, Math.max(13, Math.min(16, strip.size)), weights[place] === null ? 0 : 1, 0, "right");
    });
    const top = this.wordDepth(0) - strip.step / 2;
    stage.put(this.line, { x: strip.base, y: top, width: 1, height: strip.step * tokens.length });
  }

  /** @param {number} place */
  wordDepth(place) {
    const { strip } = this.layout();
    return strip.top + 36 + (place + 0.5) * strip.step;
  }

  // Numbers.

  /** What a token gives to each token; null to those that it may not see, or that are left out. @param {number} query */
  weightsOf(query) {
    const { tokens, heads } = this.data, side = tokens.length;
    const at = ((this.layer * heads + this.head) * side + query) * side;
    return tokens.map((_token, key) => (this.isDimmed && key === 0 ? null : this.squares.weight(at + key)));
  }

  /** @override @returns {Record<string, number[][]>} */
  goal() {
    if (!this.places) return {};
    return {
      weights: [this.weightsOf(this.query).map((weight) => weight ?? 0)],
      asker: [[this.wordDepth(this.query)]],
    };
  }

  /** @override */
  paint() {
    const { tween } = this;
    if (!this.places || !tween.blocks.asker) return;
    const { strip } = this.places, seen = this.weightsOf(this.query);
    const centres = this.data.tokens.map((_token, place) => this.wordDepth(place));
    this.strip.paint(tween.row("weights", 0), {
      centres, asker: tween.row("asker", 0)[0], base: strip.base, high: strip.high, scale: 1, even: 0, isUpright: true,
    }, (place) => seen[place] !== null);
  }

  // Words.

  /** @override @returns {Sentence} */
  sentence() {
    const { data, layer, head, query, isDimmed } = this, { tokens } = data;
    const weights = this.weightsOf(query).map((weight) => weight ?? 0), most = weights.indexOf(Math.max(...weights));
    const values = {
      model: data.model, count: String(data.layers * data.heads), layer: String(layer), head: String(head),
      query: tokens[query].trim(), key: tokens[most].trim(), share: percent(weights[most]),
      parked: String(data.parked), first: tokens[0].trim(), sink: percent(data.onFirst),
    };
    const isAlone = this.weightsOf(query).filter((weight) => weight !== null).length < 2;
    const name = data.isToy ? "hero_toy" : isDimmed ? (isAlone ? "hero_dimmed_alone" : "hero_dimmed")
      : isAlone ? "hero_alone" : most === 0 ? "hero_first" : "hero_seen";
    return { name, values, classes: { query: "query", key: "key", share: "weight" } };
  }

  /** @override */
  describe() {
    const { tokens } = this.data, weights = this.weightsOf(this.query);
    return tokens.map((token, place) => `${token.trim()}: ${weights[place] === null ? "–" : percent(weights[place] ?? 0)}`).join("; ");
  }
}
