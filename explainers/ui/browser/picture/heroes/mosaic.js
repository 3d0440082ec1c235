// All heads of a model as small squares; the arcs of one of them over the tokens of the sentence.

/** @import { Tell } from "../../common/component.js" */
/** @import { Dress, HeroData, Mark, Planes, Sentence } from "../kit.js" */

import { _, ACROSS, BLANK_WEIGHT, channels, element, markArcs, mix, penOf, percent, pixelOf, take, unpackPlanes, WEIGHT_STEPS, WordHero } from "../kit.js";

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
  next = element("button", "mosaic-next", _("Another telling head"), { onclick: () => this.step() });
  dim = element("button", "mosaic-dim", _("Hide the first token"), { role: "switch", onclick: () => this.choose({ dim_first: !this.isDimmed }) });

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
  get besides() { return [this.next, this.dim]; }

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
    const by = take(event, ACROSS), { layers, heads } = this.data;
    if (by) this.choose({ model_layer: (this.layer + by[0] + layers) % layers, model_head: (this.head + by[1] + heads) % heads });
  }

  // What is seen.

  /** @override @param {Dress} dress */
  dressed({ look, background }) { this.squares.dress(background, look.deep); }

  /** @override @returns {Mark[]} */
  marks() {
    const { root, next, dim, stage, data, squares, isDimmed, layer, head } = this;
    next.hidden = data.telling.length < 2;
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

// Where the squares of all heads are, the chosen one enlarged, and the words of its arcs.

/** @typedef {import("../stage.js").Stage} Stage */
/** @typedef {ReturnType<typeof placeMosaic>} Places */

const PHONE = 560, LABELS = 22, LARGEST_SQUARE = 48, LARGE = 164, FAMILY_GAP = 4, HEIGHT = 404, SHARE = 58, TITLE = 36;

/** @param {Stage} stage @param {string[]} tokens @param {{ layers: number, heads: number, group: number }} model */
function placeMosaic(stage, tokens, { layers, heads, group }) {
  const { room } = stage, isPhone = room < PHONE, width = isPhone ? room : Math.round(room * 0.6);
  const gaps = group > 1 ? (heads / group - 1) * FAMILY_GAP : 0, across = width - LABELS;
  const fit = (/** @type {number} */ wide, /** @type {number} */ high) => Math.min(LARGEST_SQUARE, wide / layers, (high - gaps) / heads);
  const below = fit(across, isPhone ? 190 : HEIGHT - LABELS - LARGE - 44), beside = fit(across - LARGE - 24, HEIGHT - LABELS);
  const isBeside = !isPhone && beside > below, size = Math.max(2, isBeside ? beside : below), inner = size - Math.max(1, size / 12);
  /** Where a row of squares begins; between families of heads is a gap. @param {number} head */
  const depth = (head) => LABELS + head * size + (gaps ? FAMILY_GAP : 0) * Math.floor(head / group);
  const grid = { left: LABELS, top: LABELS, size, inner, width: layers * size, height: depth(heads - 1) + size - LABELS }, foot = LABELS + heads * size + gaps;
  const large = isPhone ? null : isBeside
    ? { left: Math.min(LABELS + grid.width + 24, width - LARGE), top: LABELS + 24, side: LARGE }
    : { left: LABELS, top: foot + 42, side: LARGE };
  const note = large && !isBeside
    ? { left: large.left + LARGE + 22, top: large.top, width: width - large.left - LARGE - 34 }
    : { left: large ? large.left : 0, top: large ? large.top + LARGE + 14 : foot + 8, width: large ? LARGE : room };
  const { strip, height } = placeStrip(stage, tokens, { left: isPhone ? 0 : width + 14, top: isPhone ? foot + 62 : 0, isPhone });
  stage.resize(room, height);
  return { grid, depth, large, note, strip };
}

/** @param {Stage} stage @param {string[]} tokens @param {{ left: number, top: number, isPhone: boolean }} area */
function placeStrip(stage, tokens, { left, top, isPhone }) {
  const right = stage.room, width = right - left, most = (isPhone ? 420 : HEIGHT - 46) / tokens.length, step = Math.max(15, Math.min(isPhone ? 34 : 46, most));
  let size = Math.max(13, Math.min(isPhone ? 20 : 22, Math.floor(step * 0.62)));
  const longest = (/** @type {number} */ at) => Math.max(...stage.widths(tokens, at));
  while (size > 13 && longest(size) > width - SHARE - 90) size--;
  const words = Math.min(longest(size), width - SHARE - 40), high = Math.min(170, width - SHARE - words - 14);
  const strip = { right, top, base: right - SHARE - words - 10, high, step, size, centres: tokens.map((_token, place) => top + TITLE + (place + 0.5) * step) };
  return { strip, height: Math.max(isPhone ? 0 : HEIGHT, top + 40 + step * tokens.length) };
}

// The weights of all heads, a small square of pixels for each, and one of them enlarged.

const LEVELS = 100, GAMMA = 0.75; // small weights are seen, large ones still differ

class Squares {
  all = element("canvas", "mosaic-all moves");
  large = element("canvas");
  atlas = element("canvas"); // a pixel for each weight: layers across, heads down
  /** @type {Planes} */
  steps = { low: new Uint8Array(), high: new Uint8Array() };
  /** @type {number[]} */
  colours = [];
  tint = ""; // of squares where there is no weight
  drawn = ""; // how all heads are; empty when they are to be drawn anew

  /** @param {number[]} background @param {string} deep */
  dress(background, deep) {
    const colours = Array.from({ length: LEVELS + 1 }, (_one, at) => mix([background, channels(deep)], (at / LEVELS) ** GAMMA));
    this.colours = colours.map(pixelOf);
    this.tint = `rgb(${mix([background, colours[LEVELS]], 0.07)})`;
    this.drawn = "";
  }

  /** The weight at a place of the planes; null where the model forbids it. @param {number} place */
  weight(place) {
    const step = this.steps.low[place] | (this.steps.high[place] << 8);
    return step === BLANK_WEIGHT ? null : step / WEIGHT_STEPS;
  }

  /** One head. @param {number} layer @param {number} head @param {number} side */
  enlarge(layer, head, side) {
    Object.assign(this.large, { width: side, height: side });
    penOf(this.large).drawImage(this.atlas, layer * side, head * side, side, side, 0, 0, side, side);
  }

  /** All heads, if they are not drawn so yet. @param {Places} places @param {{ layers: number, heads: number, side: number }} form @param {boolean} isDimmed */
  draw({ grid: { top, size, inner, width, height }, depth, strip }, { layers, heads, side }, isDimmed) {
    const drawn = `${isDimmed} ${size} ${strip.right}`, { all, atlas } = this, tall = heads * side, scale = devicePixelRatio;
    if (this.drawn === drawn) return;
    this.drawn = drawn;
    Object.assign(atlas, { width: layers * side, height: tall });
    const image = penOf(atlas).createImageData(atlas.width, tall), pixels = new Uint32Array(image.data.buffer);
    for (let place = 0; place < layers * tall * side; place++) {
      const key = place % side, row = Math.floor(place / side), weight = this.weight(place);
      if (weight === null || (isDimmed && key === 0)) continue;
      pixels[(row % tall) * layers * side + Math.floor(row / tall) * side + key] = this.colours[Math.round(weight * LEVELS)];
    }
    penOf(atlas).putImageData(image, 0, 0);
    Object.assign(all, { width: Math.round(width * scale), height: Math.round(height * scale) });
    const pen = penOf(all);
    pen.scale(scale, scale);
    Object.assign(pen, { imageSmoothingEnabled: side > inner * scale, fillStyle: this.tint });
    for (let layer = 0; layer < layers; layer++) for (let head = 0; head < heads; head++) {
      pen.fillRect(layer * size, depth(head) - top, inner, inner);
      pen.drawImage(atlas, layer * side, head * side, side, side, layer * size, depth(head) - top, inner, inner);
    }
  }
}
