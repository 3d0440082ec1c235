// From scores to output: products, divided, put through softmax, and mixed, for one word, all in one
// picture. What a reader drags, the temperature, is computed here, from the products.

/** @import { HeroData, Mark, Now, Sentence } from "../kit.js" */

import { _, digits, largest, localNumber, markRange, markStrip, percent, setText, softmax, sum, sumWeighted, WordHero, writeRibbonPath } from "../kit.js";

/**
 * @typedef {object} Numbers
 * @property {string[]} tokens
 * @property {number[][]} products
 * @property {number[][]} value
 * @property {number[]} temperatures
 * @property {number} root √d_k
 */

const NAMED = 17; // pixels of a part that has room for its word
const ONE = 0.8, SPREAD = 0.3; // the largest weight, from which on, and below which, another sentence is true

/** @extends {WordHero<HeroData & Numbers>} */
export class FourSteps extends WordHero {

  // What is chosen.

  get temperature() { return Number(this.choices.divided_by); }
  get products() { return this.data.products[this.asker]; }
  get weights() { return softmax(this.products, this.temperature); }
  get isRoot() { return this.temperature === this.data.root; }

  /** What is under the finger follows it at once. @param {number} at */
  drag(at) {
    this.choose({ divided_by: this.data.temperatures[at] });
    this.tween.start(true);
  }

  // What is seen.

  /** @override @returns {Mark[]} */
  marks() {
    const { stage, data: { tokens, products: all }, products, weights } = this, places = layOutSteps(stage, tokens, all.flat()), { lane, tall, tops, column } = places;
    return [
      ...places.bars.map(({ zero }, step) => ({ key: `axis ${step}`, tag: "svg:line", class: "axis", attributes: { x1: zero, x2: zero, y1: tops[0], y2: tops[0] + tall } })),
      this.markWords((place) => ({
        name: _("{word}: product {product}, weight {share}", { word: tokens[place], product: digits(products[place], 1), share: percent(weights[place]) }),
        at: [0, tops[0] + lane * (place + 0.5), places.size], hold: "left",
      })),
      ...this.markHeads(places),
      { key: "frame", class: "column-frame", box: [column.left, tops[1], column.width, tall] },
      ...this.markOutput(places, weights),
      this.markSlider(places),
      ...tokens.flatMap((_word, place) => {
        const from = sum(weights.slice(0, place));
        return [...this.markScore(places, place, products[place]), ...this.markPart(places, place, weights[place], from)];
      }),
    ];
  }

  /** What the steps are called. @param {Places} places @returns {Mark[]} */
  markHeads({ heads, tops }) {
    const said = [
      [_("1 Products"), _("query · key")],
      [_("2 Scores"), `÷ ${this.divisor()}`],
      [_("3 Weights"), _("softmax: 100 %")],
      [_("4 Output"), _("each as tall as its weight")],
    ];
    return heads.map(({ left, width }, step) => ({
      key: `head ${step}`, class: "step-head", box: [left, tops[step < 2 ? 0 : 1] - 48, width, 44], parts: [{ tag: "b", text: said[step][0] }, { text: said[step][1] }],
    }));
  }

  /** The divisor, with a mark at √d_k that brings it back there. @param {Places} places @returns {Mark} */
  markSlider({ bars: [, { left, width }], slider }) {
    const { temperatures, root } = this.data, at = temperatures.indexOf(this.temperature), last = temperatures.length - 1, name = this.rootName();
    const range = markRange((value) => this.drag(value), at, { max: last, "aria-label": _("Divisor: the products are divided by it"), "aria-valuetext": this.divisor() });
    const back = {
      tag: "button", class: "mark", text: name, attributes: { "aria-label": _("Divide by {root}", { root: name }), "aria-pressed": String(this.isRoot) },
      click: () => this.choose({ divided_by: root }),
    };
    return {
      key: "slider", class: "temperature", style: { "--at-root": temperatures.indexOf(root) / last }, box: [slider.left, slider.top, left + width - slider.left, 50],
      parts: [
        { class: "name", parts: [{ tag: "b", text: _("Divisor") }, { tag: "output", text: `÷ ${writeNumber(this.temperature)}` }] },
        { tag: "div", class: "slide", parts: [range, back] },
      ],
    };
  }

  /** @param {Places} places @param {number[]} weights @returns {Mark[]} */
  markOutput({ tops, tall, output: { left, width, height }, size }, weights) {
    const { stage, data: { tokens, value }, asker } = this, top = tops[1] + (tall - height) / 2;
    const letters = Math.min(18, size), long = stage.width(tokens[asker], letters) / 2;
    return [
      { key: "made", class: "text made", text: tokens[asker], at: [Math.min(left + width / 2, stage.room - long), top - 14, letters] },
      markStrip("output", { role: "value", name: _("output"), numbers: sumWeighted(weights, value), limit: largest(value), box: [left, top, width, height] }),
    ];
  }

  /** A word's product and its score, with the product as an outline behind it. @param {Places} places @param {number} place @param {number} product @returns {Mark[]} */
  markScore({ bars, tops, lane, digits: ends }, place, product) {
    const middle = tops[0] + lane * (place + 0.5), score = product / this.temperature;
    const bar = (/** @type {string} */ name, /** @type {number} */ step, /** @type {number} */ value) => /** @type {Mark} */ ({
      key: `${name} ${step} ${place}`, tag: "svg:rect", class: name, own: place, numbers: [value], draw: (node, [now]) => drawBar(node, middle, lane * 0.6, now, bars[step]),
    });
    return [
      bar("signed", 0, product), bar("signed", 1, score), bar("outline", 1, product),
      { key: `rent ${place}`, tag: "svg:path", class: "rent", own: place, numbers: [score], draw: (node, [now]) => drawRent(node, middle, lane * 0.36, now, bars[1]) },
      ...[product, score].map((value, step) => /** @type {Mark} */ ({
        key: `digits ${step} ${place}`, class: "text digits", own: place, at: [ends[step], middle, Math.min(16, lane)], hold: "right",
        numbers: [value], draw: (node, [now]) => setText(node, digits(now, 1)),
      })),
    ];
  }

  /**
   * A word's part of 100 %: funnel, column, value and ribbon are as high as its weight.
   * @param {Places} places @param {number} place @param {number} weight @param {number} from @returns {Mark[]}
   */
  markPart({ tops: [, top], lane, tall, size, isWide, share, funnel, column, values, output }, place, weight, from) {
    const word = this.data.tokens[place], value = this.data.value[place], numbers = [from, weight];
    const middle = top + lane * (place + 0.5), half = lane * 0.36, start = top + (tall - output.height) / 2;
    const strip = markStrip(`value ${place}`, {
      role: "value", name: _("value of {word}", { word }), numbers: value, still: true, limit: largest(this.data.value), box: [values.left, top, values.width, tall],
    }, { own: place });
    const between = (/** @type {Now} */ [before, now], begin = top, high = tall) => /** @type {[number, number]} */ ([begin + before * high, begin + (before + now) * high]);
    const draw = (/** @type {SVGElement} */ node, /** @type {number} */ now, /** @type {Parameters<typeof writeRibbonPath>[0]} */ path) => {
      node.setAttribute("d", writeRibbonPath(path));
      node.style.opacity = now < 0.002 ? "0" : (0.22 + 0.4 * now).toFixed(3);
    };
    return [
      {
        key: `funnel ${place}`, tag: "svg:path", class: "funnel", own: place, numbers,
        draw: (node, now) => draw(node, now[1], { across: false, start: funnel.left, end: funnel.right, from: [middle - half, middle + half], to: between(now) }),
      },
      {
        key: `ribbon ${place}`, tag: "svg:path", class: "ribbon", own: place, numbers,
        draw: (node, now) => draw(node, now[1], {
          across: false, start: values.left + values.width + 2, end: output.left - 3, from: between(now), to: between(now, start, output.height),
        }),
      },
      { key: `again ${place}`, class: "text again", is: { asks: place === this.asker }, own: place, text: word, at: [0, middle, size], hold: "left", opacity: isWide ? 0 : 1 },
      {
        key: `share ${place}`, class: "text share", is: { low: weight < 0.05 }, own: place, at: [share, middle, Math.min(18, lane)], hold: "right",
        numbers: [weight], draw: (node, [now]) => setText(node, percent(now)),
      },
      {
        key: `part ${place}`, class: "part", share: place, numbers,
        draw: (node, [before, now]) => {
          lay(node, column.left, top + before * tall, column.width, now * tall);
          setText(node, now * tall >= NAMED ? word : "");
        },
      },
      { ...strip, box: undefined, numbers, draw: (node, [before, now]) => lay(node, values.left, top + before * tall, values.width, now * tall) }, // it moves with each frame
    ];
  }

  // Words.

  rootName() { return `√${this.data.value[0].length} = ${writeNumber(this.data.root)}`; }
  divisor() { return this.isRoot ? this.rootName() : writeNumber(this.temperature); }

  /** @override */
  divided() { return [this.weights]; }

  /** @override @returns {Sentence} */
  sentence() {
    const { data, weights, products, asker } = this, { tokens } = data;
    const ranked = this.seen.map((place) => ({ word: tokens[place], place, weight: weights[place] })).sort((a, b) => products[b.place] - products[a.place]);
    const [first, second] = ranked, last = ranked[ranked.length - 1];
    const values = {
      word: tokens[asker], words: String(tokens.length), divisor: this.divisor(),
      first: first.word, product: digits(products[first.place], 1), first_share: percent(first.weight),
      second: second?.word ?? "", second_share: percent(second?.weight ?? 0), last_share: percent(last.weight),
      rest: percent(restOf(first.weight, second?.weight ?? 0)),
    };
    const classes = { word: "query", first: "weight", first_share: "weight", second: "weight", second_share: "weight" };
    const name = this.hidesOwn ? "hero_hidden" : ranked.length === 1 ? "hero_only" : first.weight >= ONE ? "hero_one" : first.weight < SPREAD ? "hero_spread" : "hero_two";
    return { name, values, classes };
  }

  /** @override */
  describe() {
    const { data, weights, products } = this;
    const all = this.seen.map((place) => `${data.tokens[place]}: ${digits(products[place], 1)} ÷ ${writeNumber(this.temperature)} → ${percent(weights[place])}`);
    return _("Query of {word}: {all}", { word: data.tokens[this.asker], all: all.join(", ") });
  }
}

/** A divisor as a reader writes it. @param {number} value */
function writeNumber(value) {
  return localNumber(String(Number(value.toPrecision(3))));
}

/** @param {HTMLElement} node @param {number} x @param {number} y @param {number} width @param {number} height */
function lay(node, x, y, width, height) {
  node.style.transform = `translate(${x.toFixed(2)}px, ${y.toFixed(2)}px)`;
  node.style.width = `${width.toFixed(2)}px`;
  node.style.height = `${Math.max(0, height).toFixed(2)}px`;
  node.style.visibility = height < 0.6 ? "hidden" : "";
}

/** @param {SVGElement} bar @param {number} middle @param {number} thick @param {number} value @param {Bars} bars */
function drawBar(bar, middle, thick, value, { left, width, zero, scale }) {
  const end = Math.max(left, Math.min(left + width, zero + value * scale));
  const box = { x: Math.min(zero, end), y: middle - thick / 2, width: Math.max(0.5, Math.abs(end - zero)), height: thick };
  for (const [name, number] of Object.entries(box)) bar.setAttribute(name, number.toFixed(2));
  bar.classList.toggle("minus", value < 0);
}

/** Two slanted lines across a bar that is longer than there is room. @param {SVGElement} rent @param {number} middle @param {number} half @param {number} score @param {Bars} bars */
function drawRent(rent, middle, half, score, { left, width, zero, scale }) {
  const end = zero + score * scale, isCut = end > left + width + 0.5 || end < left - 0.5;
  rent.setAttribute("d", isCut ? `M${end > zero ? left + width - 12 : left + 8} ${middle + half}l6 ${-2 * half}m5 0l-6 ${2 * half}` : "");
}

/** What is left of 100 %, so that the three add up as they are written. @param {number} first @param {number} second */
function restOf(first, second) {
  const written = 1 - Math.round(100 * first) / 100 - Math.round(100 * second) / 100;
  return written > 0.005 ? written : Math.max(0, 1 - first - second);
}

// Where the four steps stand: beside each other, or, where that is too narrow, two above two.

/** @typedef {ReturnType<typeof layOutSteps>} Places */
/** @typedef {ReturnType<typeof placeBars>} Bars signed bars: where 0 is, pixels of a unit */

const HEAD = 50; // the names of the steps
const SLIDER = 58;
const WIDE = 800; // room for four steps beside each other
const NUMBER = 46; // room for "−17.2"

/** @param {import("../stage.js").Stage} stage @param {string[]} words @param {number[]} products of all bars */
function layOutSteps(stage, words, products) {
  const isWide = stage.room >= WIDE, isPhone = stage.room < 560;
  const height = isWide ? Math.max(420, HEAD + SLIDER + 16 * words.length) : Math.max(440, 2 * HEAD + SLIDER + 2 * 16 * words.length + 24);
  const lane = isWide ? (height - HEAD - SLIDER) / words.length : (height - 2 * HEAD - SLIDER - 24) / (2 * words.length);
  const size = Math.max(13, Math.min(isWide ? 22 : isPhone ? 15 : 20, Math.floor(lane - 1)));
  const left = Math.max(...stage.widths(words, size)) + (isPhone ? 8 : 14), room = stage.room - left;
  const number = isPhone ? 40 : NUMBER, tall = lane * words.length;
  // Two steps with bars; then two whose widths are shares of what is left.
  const first = (isWide ? 0.39 * room : room) / 2, second = isWide ? left + 0.39 * room + 6 : left, bars = [left + number, left + first + number];
  const share = second + (isPhone ? 38 : NUMBER), across = stage.room - share - 6;
  const parts = isPhone ? [0.1, 0.27, 0.25, 0.1, 0.28] : [0.12, 0.18, 0.31, 0.09, 0.3]; // funnel, column, values, ribbons, output
  const edges = parts.reduce((all, part) => [...all, all[all.length - 1] + part * across], [share + 4]);
  stage.resize(stage.room, height);
  return {
    lane, tall, size, isWide, share, // right end of the percentages
    tops: [HEAD, isWide ? HEAD : HEAD + tall + SLIDER + 16 + HEAD], // of the lanes in the first two steps, and in the last two
    heads: [
      { left, width: first }, { left: left + first, width: first },
      { left: second + 8, width: edges[2] - second }, { left: edges[2] + 4, width: edges[5] - edges[2] },
    ],
    bars: bars.map((start) => placeBars(start, first - number - 14, products)), digits: bars.map((start) => start - 6),
    funnel: { left: edges[0], right: edges[1] }, column: { left: edges[1], width: edges[2] - edges[1] },
    values: { left: edges[2] + 3, width: edges[3] - edges[2] - 3 },
    output: { left: edges[4], width: edges[5] - edges[4], height: Math.min(64, tall * 0.3) },
    slider: { left: isWide ? left : 0, top: HEAD + tall + 8 },
  };
}

/** @param {number} left @param {number} width @param {number[]} products */
function placeBars(left, width, products) {
  const lowest = Math.min(0, ...products), scale = width / Math.max(1e-9, Math.max(0, ...products) - lowest);
  return { left, width, zero: left - lowest * scale, scale };
}
