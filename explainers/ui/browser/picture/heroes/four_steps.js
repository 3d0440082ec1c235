// @ts-check
// From scores to output: products, divided, put through softmax, and mixed, for one word, all in one
// picture. What a reader drags, the temperature, is computed here, from the products.

/** @import { HeroData, Sentence } from "../hero.js" */
/** @import { Dress } from "../palette.js" */
/** @import { Bars, Places } from "./four_steps_layout.js" */

import { element, shape } from "../../common/elements.js";
import { digits } from "../../common/numbers.js";
import { _, localNumber } from "../../common/words.js";
import { writeRibbonPath } from "../arcs.js";
import { WordHero } from "../word_hero.js";
import { makeSignedRamp } from "../palette.js";
import { percent } from "../sentence.js";
import { softmax, sumWeighted } from "../softmax.js";
import { Strip } from "../strip.js";
import { layOutSteps } from "./four_steps_layout.js";
import { Temperature } from "./temperature.js";

/**
 * @typedef {object} Numbers
 * @property {string[]} tokens
 * @property {number[][]} products
 * @property {number[][]} value
 * @property {number[]} temperatures
 * @property {number} root √d_k
 */
/**
 * @typedef {object} Lane what belongs to one word, from the left to the right
 * @property {SVGElement[]} bars of its product and of its score
 * @property {SVGElement} outline of its product, behind its score
 * @property {SVGElement} rent where a bar is longer than there is room
 * @property {HTMLElement[]} digits
 * @property {HTMLElement} again its name, where the last two steps stand below
 * @property {HTMLElement} share
 * @property {SVGElement} funnel
 * @property {HTMLElement} part of the column of 100 %
 * @property {Strip} value
 * @property {SVGElement} ribbon
 */

const NAMED = 17; // pixels of a part that has room for its word
const ONE = 0.8, SPREAD = 0.3; // the largest weight, from which on, and below which, another sentence is true

/** @extends {WordHero<HeroData & Numbers>} */
export class FourSteps extends WordHero {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    root.classList.add("four-steps");
    this.isDragging = false;
    /** @type {Lane[]} */
    this.lanes = [];
    /** @type {Places | null} */
    this.places = null;
    this.drawing = this.stage.draw("g", "");
    this.axes = [0, 1].map(() => this.drawn("line", "axis"));
    this.words = this.addWords();
    this.heads = [0, 1, 2, 3].map(() => {
      const head = this.stage.add("div", "step-head");
      head.append(element("b"), element("span"));
      return head;
    });
    this.frame = this.stage.add("div", "column-frame");
    this.made = this.stage.add("div", "text made");
    this.slider = new Temperature(this.stage, (at) => this.drag(at), () => this.choose({ divided_by: this.data.root }));
  }

  // What is chosen.

  get count() { return this.data.tokens.length; }
  get temperature() { return Number(this.choices.divided_by); }
  get products() { return this.data.products[this.asker]; }
  get weights() { return softmax(this.products, this.temperature); }
  get isRoot() { return this.temperature === this.data.root; }

  /** @param {number} at */
  drag(at) {
    this.isDragging = true;
    this.choose({ divided_by: this.data.temperatures[at] });
    this.isDragging = false;
  }

  /** @override what is under the finger follows it at once */
  update() {
    super.update();
    if (this.isDragging && this.places) this.tween.start(true);
  }

  // Nodes.

  /** @param {string} tag @param {string} name */
  drawn(tag, name) {
    return /** @type {SVGElement} */ (this.drawing.appendChild(shape(tag, { class: name })));
  }

  /** @override @param {boolean} isFirst */
  renew(isFirst) {
    if (!this.hasNewWords(isFirst)) return false;
    const { tokens } = this.data;
    for (const { bars, outline, rent, digits: numbers, again, share, funnel, part, value, ribbon } of this.lanes) {
      for (const node of [...bars, outline, rent, ...numbers, again, share, funnel, part, value.node, ribbon]) node.remove();
    }
    this.output?.node.remove();
    this.output = new Strip(this.stage, "output", "value");
    this.lanes = tokens.map((token) => ({
      funnel: this.drawn("path", "funnel"),
      ribbon: this.drawn("path", "ribbon"),
      bars: [this.drawn("rect", "signed"), this.drawn("rect", "signed")],
      outline: this.drawn("rect", "outline"),
      rent: this.drawn("path", "rent"),
      digits: [this.stage.add("div", "text digits"), this.stage.add("div", "text digits")],
      again: this.stage.add("div", "text again", token),
      share: this.stage.add("div", "text share"),
      part: this.follower("div", "part"),
      value: this.valueStrip(),
    }));
    this.words.renew(tokens);
    const column = (/** @type {(lane: Lane) => Element} */ find) => this.lanes.map(find);
    this.markOwn([
      this.words.buttons, column(({ funnel }) => funnel), column(({ ribbon }) => ribbon), column(({ outline }) => outline), column(({ rent }) => rent),
      column(({ again }) => again), column(({ share }) => share), column(({ value }) => value.node),
      ...[0, 1].flatMap((step) => [column(({ bars }) => bars[step]), column(({ digits: numbers }) => numbers[step])]),
    ], [column(({ part }) => part)]);
    return true;
  }

  /** A node that goes where the tween's numbers are. @param {"div"} tag @param {string} name */
  follower(tag, name) {
    const node = this.stage.add(tag, name);
    node.classList.remove("moves");
    return node;
  }

  valueStrip() {
    const strip = new Strip(this.stage, "value", "value");
    strip.node.classList.remove("moves");
    return strip;
  }

  /** @override @param {Dress} dress */
  dressed({ look, background }) {
    this.ramp = makeSignedRamp(background, look.value, look.below);
  }

  // Places.

  /** @override */
  measure() {
    const { data, stage } = this, all = data.products.flat();
    const numbers = { lowest: Math.min(0, ...all), highest: Math.max(0, ...all), count: data.value[0].length };
    this.places = layOutSteps(stage, data.tokens, numbers);
    stage.resize(stage.room, this.places.height);
    for (const { value } of this.lanes) value.fit(this.places.values.width, numbers.count);
    this.output?.fit(this.places.output.width, numbers.count);
    this.limit = Math.max(1e-9, ...data.value.flat().map(Math.abs));
  }

  /** @param {number} place @param {number} [block] the middle of a word's lane */
  middle(place, block = 0) {
    const { blocks, lane } = /** @type {Places} */ (this.places);
    return blocks[block].top + lane * (place + 0.5);
  }

  /** @override */
  place() {
    if (!this.places) return;
    const { stage, places, asker } = this, { size, lane, blocks, block } = places;
    this.words.buttons.forEach((button, place) => stage.write(button, 0, this.middle(place), size, 1, 0, "left"));
    this.lanes.forEach((row, place) => {
      const number = Math.min(16, lane);
      row.digits.forEach((node, step) => {
        stage.write(node, places.digits[step], this.middle(place), number, 1, 0, "right");
      });
      stage.write(row.again, 0, this.middle(place, block), size, block ? 1 : 0, 0, "left");
      row.again.classList.toggle("asks", place === asker);
      row.share.classList.toggle("low", this.weights[place] < 0.05);
      stage.write(row.share, places.share, this.middle(place, block), Math.min(18, lane), 1, 0, "right");
    });
    this.placeHeads();
    this.placeSlider();
    const top = blocks[block].top, height = lane * this.count, { funnel, column, output } = places;
    stage.put(this.frame, { x: funnel.right, y: top, width: column - funnel.right, height });
    const strip = { x: output.left, y: top + (height - output.height) / 2, width: output.width, height: output.height };
    if (this.output) stage.put(this.output.node, strip);
    this.made.textContent = this.data.tokens[asker];
    const long = stage.widths([this.data.tokens[asker]], Math.min(18, size))[0] / 2;
    stage.write(this.made, Math.min(strip.x + strip.width / 2, stage.room - long), strip.y - 14, Math.min(18, size), 1);
    this.tellWords();
  }

  placeHeads() {
    const { stage, places, data } = this, { heads, blocks, block } = /** @type {Places} */ (places);
    const said = [
      [_("1 Products"), _("query · key")],
      [_("2 Scores"), `÷ ${this.divisor()}`],
      [_("3 Weights"), _("softmax: 100 %")],
      [_("4 Output"), _("each as tall as its weight")],
    ];
    this.heads.forEach((head, step) => {
      [...head.children].forEach((node, line) => { node.textContent = said[step][line]; });
      const y = blocks[step < 2 ? 0 : block].top - 48;
      stage.put(head, { x: heads[step].left, y, width: heads[step].width, height: 44 });
    });
    this.axes.forEach((axis, step) => {
      const { zero } = /** @type {Places} */ (places).bars[step], top = blocks[0].top;
      const ends = { x1: zero, x2: zero, y1: top, y2: top + data.tokens.length * /** @type {Places} */ (places).lane };
      for (const [name, value] of Object.entries(ends)) axis.setAttribute(name, value.toFixed(1));
    });
  }

  placeSlider() {
    const { bars: [, last], slider: { left, top } } = /** @type {Places} */ (this.places), { temperatures, root } = this.data;
    this.stage.put(this.slider.root, { x: left, y: top, width: last.left + last.width - left, height: 50 });
    const said = { divisor: this.divisor(), reading: `÷ ${writeNumber(this.temperature)}`, root: this.rootName() };
    this.slider.show(temperatures.indexOf(this.temperature), temperatures.indexOf(root), temperatures.length - 1, said);
  }

  tellWords() {
    const { data, asker, weights } = this;
    this.words.show({
      chosen: this.chosen, shown: asker,
      hidden: data.tokens.map(() => false),
      names: data.tokens.map((word, place) => _("{word}: product {product}, weight {share}", {
        word, product: digits(this.products[place], 1), share: percent(weights[place]),
      })),
    });
  }

  // Numbers.

  /** @override @returns {Record<string, number[][]>} */
  goal() {
    const { products, temperature, weights } = this;
    return { products: [products], scores: [products.map((product) => product / temperature)], weights: [weights], output: [sumWeighted(weights, this.data.value)] };
  }

  /** @override */
  paint() {
    const { places, tween, ramp } = this;
    if (!places || !ramp || !tween.blocks.products) return;
    const products = tween.row("products", 0), scores = tween.row("scores", 0), weights = tween.row("weights", 0);
    let from = 0;
    this.lanes.forEach((row, place) => {
      this.paintBar(row.bars[0], place, products[place], places.bars[0]);
      this.paintBar(row.outline, place, products[place], places.bars[1]);
      this.paintBar(row.bars[1], place, scores[place], places.bars[1]);
      this.paintRent(row.rent, place, scores[place]);
      setText(row.digits[0], digits(products[place], 1));
      setText(row.digits[1], digits(scores[place], 1));
      setText(row.share, percent(weights[place]));
      this.paintPart(row, place, weights[place], from);
      from += weights[place];
    });
    this.output?.fill(tween.row("output", 0), this.limit ?? 1, ramp);
    this.output?.describe(_("output"), tween.goal.output[0]);
  }

  /** @param {SVGElement} bar @param {number} place @param {number} value @param {Bars} bars */
  paintBar(bar, place, value, { left, width, zero, scale }) {
    const thick = /** @type {Places} */ (this.places).lane * 0.6, end = Math.max(left, Math.min(left + width, zero + value * scale));
    const box = { x: Math.min(zero, end), y: this.middle(place) - thick / 2, width: Math.max(0.5, Math.abs(end - zero)), height: thick };
    for (const [name, number] of Object.entries(box)) bar.setAttribute(name, number.toFixed(2));
    bar.classList.toggle("minus", value < 0);
  }

  /** Two slanted lines across a bar that is cut off. @param {SVGElement} rent @param {number} place @param {number} score */
  paintRent(rent, place, score) {
    const { bars: [, { left, width, zero, scale }], lane } = /** @type {Places} */ (this.places);
    const end = zero + score * scale, isCut = end > left + width + 0.5 || end < left - 0.5;
    const x = end > zero ? left + width - 12 : left + 8, y = this.middle(place), half = lane * 0.36;
    rent.setAttribute("d", isCut ? `M${x} ${y + half}l6 ${-2 * half}m5 0l-6 ${2 * half}` : "");
  }

  /** A word's part of 100 %: funnel, column, value and ribbon are as high as its weight. @param {Lane} row @param {number} place @param {number} weight @param {number} from */
  paintPart(row, place, weight, from) {
    const { funnel, column, values, output, lane, blocks, block } = /** @type {Places} */ (this.places);
    const { top } = blocks[block], all = lane * this.count, y = top + from * all, high = weight * all;
    const middle = this.middle(place, block), half = lane * 0.36, to = /** @type {[number, number]} */ ([y, y + high]);
    const strength = weight < 0.002 ? "0" : (0.22 + 0.4 * weight).toFixed(3);
    row.funnel.setAttribute("d", writeRibbonPath({ across: false, start: funnel.left, end: funnel.right, from: [middle - half, middle + half], to }));
    row.funnel.style.opacity = strength;
    lay(row.part, funnel.right, y, column - funnel.right, high);
    setText(row.part, high >= NAMED ? this.data.tokens[place] : "");
    lay(row.value.node, values.left, y, values.width, high);
    row.value.fill(this.data.value[place], this.limit ?? 1, /** @type {Uint32Array} */ (this.ramp));
    row.value.describe(_("value of {word}", { word: this.data.tokens[place] }), this.data.value[place]);
    const start = top + (all - output.height) / 2, ends = /** @type {[number, number]} */ ([start + from * output.height, start + (from + weight) * output.height]);
    row.ribbon.setAttribute("d", writeRibbonPath({ across: false, start: values.left + values.width + 2, end: output.left - 3, from: to, to: ends }));
    row.ribbon.style.opacity = strength;
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

/** @param {HTMLElement} node @param {string} text */
function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** @param {HTMLElement} node @param {number} x @param {number} y @param {number} width @param {number} height */
function lay(node, x, y, width, height) {
  node.style.transform = `translate(${x.toFixed(2)}px, ${y.toFixed(2)}px)`;
  node.style.width = `${width.toFixed(2)}px`;
  node.style.height = `${Math.max(0, height).toFixed(2)}px`;
  node.style.visibility = height < 0.6 ? "hidden" : "";
}

/** What is left of 100 %, so that the three add up as they are written. @param {number} first @param {number} second */
function restOf(first, second) {
  const written = 1 - Math.round(100 * first) / 100 - Math.round(100 * second) / 100;
  return written > 0.005 ? written : Math.max(0, 1 - first - second);
}
