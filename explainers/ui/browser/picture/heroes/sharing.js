// @ts-check
// Query heads that share keys and values: who reads which KV head, where one word looks in each query
// head, and how many numbers are stored for a word.

/** @import { HeroData, Sentence } from "../hero.js" */

import { element, shape } from "../../common/elements.js";
import { _ } from "../../common/words.js";
import { ArcStrip } from "../arc_strip.js";
import { chooseTold } from "../arcs.js";
import { WordHero } from "../word_hero.js";
import { isWord, percent } from "../sentence.js";
import { placeSharing } from "./sharing_places.js";

/**
 * @typedef {object} Layer heads that learned to share
 * @property {number[][][]} weights of each query head
 * @property {number[]} read the KV head that each query head reads
 * @property {number} stored numbers per word
 */
/**
 * @typedef {object} Numbers
 * @property {string[]} tokens
 * @property {Record<string, Record<string, Layer>>} layers by query heads and KV heads
 */

const SEEN = 0.05;
const HUES = [0, 2, 6, 7, 5, 3, 4, 1]; // of the KV heads; first those that mean nothing else here

/** @extends {WordHero<HeroData & Numbers>} */
export class Sharing extends WordHero {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    root.classList.add("sharing");
    this.lines = this.stage.draw("g", "sharing-lines");
    /** @type {HTMLElement[]} */
    this.boxes = [];
    /** @type {HTMLElement[]} */
    this.circles = [];
    /** @type {ArcStrip[]} */
    this.strips = [];
    /** @type {HTMLElement[]} */
    this.baselines = [];
    this.bars = Array.from({ length: 2 }, (_bar, at) => ({
      bar: this.stage.add("div", `sharing-bar ${at ? "now" : "each"}`),
      number: this.stage.add("div", "text sharing-number"), name: this.stage.add("div", "text quiet"),
      product: this.stage.add("div", "text quiet sharing-product"),
    }));
    this.titles = [_("KV heads"), _("query heads"), _("numbers stored per word")].map((name) => this.stage.add("div", "text quiet", name));
    this.words = this.addWords();
  }

  /** The nodes of one more query head, and of the KV head that may be its own. @param {number} head */
  addHead(head) {
    this.lines.append(shape("path", { class: "sharing-line" }));
    const box = this.stage.add("div", "sharing-box");
    box.append(element("span", "key", "K"), element("span", "value", "V"));
    box.style.setProperty("--hue", `var(--head${hueOf(head)})`);
    box.setAttribute("role", "img");
    box.setAttribute("aria-label", _("KV head {head}", { head }));
    this.boxes.push(box);
    this.circles.push(this.stage.add("div", "sharing-circle", String(head)));
    this.strips.push(new ArcStrip(this.stage, `--row${head}`));
    this.baselines.push(this.stage.add("div", "baseline"));
  }

  // What is chosen.

  get count() { return Number(this.choices.heads); }
  /** No more than there are query heads. */
  get shared() { return Math.min(Number(this.choices.kv_heads), this.count); }
  get layer() { return this.data.layers[String(this.count)][String(this.shared)]; }
  get each() { return this.data.layers[String(this.count)][String(this.count)]; }

  /** @override */
  update() {
    for (const button of this.chips.get("kv_heads")?.buttons ?? []) button.hidden = Number(button.value) > this.count;
    super.update();
    this.chips.get("kv_heads")?.show(String(this.shared));
  }

  // Nodes and places.

  /** @override @param {boolean} isFirst */
  renew(isFirst) {
    if (!this.hasNewWords(isFirst)) return false;
    const { tokens } = this.data;
    const most = Math.max(...Object.keys(this.data.layers).map(Number));
    while (this.circles.length < most) this.addHead(this.circles.length);
    this.words.renew(tokens);
    for (const strip of this.strips) strip.renew(tokens.length);
    this.markOwn([this.words.buttons, ...this.strips.flatMap(({ arcs, shares }) => [arcs.children, shares])]);
    return true;
  }

  /** @override */
  measure() {
    this.plan = placeSharing(this.stage, this.data.tokens, this.count, [this.each.stored, this.layer.stored]);
    this.stage.resize(this.stage.room, this.plan.height);
  }

  layout() { return /** @type {NonNullable<typeof this.plan>} */ (this.plan); }

  /** @override */
  place() {
    this.measure();
    const { stage, data, asker, count } = this, plan = this.layout(), { read } = this.layer;
    const weights = this.layer.weights, first = plan.centres[0], last = plan.centres[plan.centres.length - 1];
    this.circles.forEach((circle, head) => {
      const row = plan.rows[Math.min(head, count - 1)], isShown = head < count ? 1 : 0, { radius } = plan;
      this.root.style.setProperty(`--row${head}`, `var(--head${hueOf(read[head] ?? 0)})`);
      circle.style.setProperty("--hue", `var(--row${head})`);
      stage.put(circle, { x: plan.circle - radius, y: row.middle - radius, width: 2 * radius, height: 2 * radius }, isShown);
      stage.put(this.baselines[head], { x: first - 8, y: row.base, width: last - first + 16, height: 1 }, isShown);
      const strip = this.strips[head];
      strip.arcs.style.opacity = String(isShown);
      const told = chooseTold(weights[head]?.[asker] ?? [], plan.centres, 2.4 * plan.digits, SEEN);
      strip.shares.forEach((share, seen) => stage.write(share, plan.centres[seen], row.base + 10, plan.digits, isShown && told.has(seen) ? 1 : 0));
      /** @type {HTMLElement | SVGElement} */ (this.lines.children[head]).style.opacity = String(isShown);
    });
    this.boxes.forEach((box, kv) => stage.put(box, { ...plan.box, y: this.boxDepth(kv) - plan.box.height / 2 }, kv < this.shared ? 1 : 0));
    this.words.show({ chosen: this.chosen, shown: asker, names: data.tokens.map((_word, place) => this.tellWord(place)), hidden: data.tokens.map(() => false) });
    this.words.buttons.forEach((button, place) => {
      button.classList.toggle("slanted", plan.isSlanted);
      stage.write(button, plan.centres[place], plan.wordDepth, plan.size, 1, 0, plan.isSlanted ? "right" : "middle", plan.turn);
    });
    this.placeBars();
  }

  /** A KV head is beside the middle of the query heads for which it was made. @param {number} kv */
  boxDepth(kv) {
    const { rows } = this.layout(), size = this.count / this.shared, own = rows.slice(Math.floor(kv * size), Math.floor((kv + 1) * size));
    return own.length ? own.reduce((sum, { middle }) => sum + middle, 0) / own.length : rows[rows.length - 1].middle;
  }

  placeBars() {
    const { stage, shared, count } = this, plan = this.layout(), amounts = [this.each.stored, this.layer.stored];
    const width = amounts[0] / (2 * count); // numbers of a key, or of a value
    this.bars.forEach(({ bar, number, name, product }, at) => {
      const place = plan.bars[at], kept = at ? shared : count, unit = (plan.isPhone ? place.box.width : place.box.height) / kept;
      bar.style.setProperty("--unit", `${unit.toFixed(2)}px`);
      bar.style.setProperty("--way", plan.isPhone ? "90deg" : "0deg");
      stage.put(bar, place.box);
      number.textContent = String(amounts[at]);
      name.textContent = kept === 1 ? _("1 KV head") : _("{count} KV heads", { count: kept });
      product.textContent = [2, kept, width].join("×");
      stage.write(number, ...place.number, at ? 20 : 17, 1, 0, plan.isPhone ? "left" : "middle");
      stage.write(name, ...place.name, 14, 1, 0, plan.isPhone ? "left" : "middle");
      stage.write(product, ...place.product, 13, 1, 0, plan.isPhone ? "right" : "middle");
    });
    const [boxes, circles, bars] = this.titles, { titles, hasTitles } = plan;
    stage.write(boxes, plan.box.x + plan.box.width / 2, titles.y, 14, hasTitles ? 1 : 0);
    stage.write(circles, plan.circle, titles.y, 14, hasTitles ? 1 : 0);
    stage.write(bars, titles.barsX, titles.bars, 14, 1, 0, "left");
  }

  /** @override @returns {Record<string, number[][]>} */
  goal() {
    const { plan, count, layer, asker } = this;
    if (!plan) return {};
    const none = this.data.tokens.map(() => 0), rows = this.circles.map((_circle, head) => plan.rows[Math.min(head, count - 1)]);
    return {
      weights: rows.map((_row, head) => (head < count ? layer.weights[head][asker] : none)),
      centres: [plan.centres],
      form: rows.map(({ base, high, scale }) => [plan.centres[asker], base, high, scale]),
      lines: rows.map(({ middle }, head) => [this.boxDepth(layer.read[head] ?? 0), middle]),
    };
  }

  /** @override */
  paint() {
    const { tween, plan } = this;
    if (!plan || !tween.blocks.form) return;
    const centres = tween.row("centres", 0), from = plan.box.x + plan.box.width, to = plan.circle - plan.radius, half = (from + to) / 2;
    this.strips.forEach((strip, head) => {
      const [asker, base, high, scale] = tween.row("form", head), [box, circle] = tween.row("lines", head);
      strip.paint(tween.row("weights", head), { centres, asker, base, high, scale, even: 0, isUpright: false }, () => true);
      const line = /** @type {SVGElement} */ (this.lines.children[head]);
      line.setAttribute("d", `M${from} ${box.toFixed(1)}C${half} ${box.toFixed(1)} ${half} ${circle.toFixed(1)} ${to} ${circle.toFixed(1)}`);
      line.style.stroke = `var(--row${head})`;
    });
  }

  // In words.

  /** The two words at which any head looks most, and which head that is. @param {Layer} layer */
  best(layer) {
    const { ownPositions: own } = this, { tokens } = this.data, all = [...tokens.keys()];
    const places = own.length ? all.filter((place) => !own.includes(place) && isWord(tokens[place])) : all;
    const found = (places.length ? places : all).map((place) => {
      const shares = layer.weights.map((rows) => rows[this.asker][place]), share = Math.max(...shares);
      return { place, share, head: shares.indexOf(share) };
    });
    return found.sort((a, b) => b.share - a.share).slice(0, 2);
  }

  /** @override */
  divided() { return this.layer.weights.map((rows) => rows[this.asker]); }

  /** @override @returns {Sentence} */
  sentence() {
    const { data, asker, count, shared } = this, [first, second = first] = this.best(this.layer);
    const hue = (/** @type {number} */ head) => `hue${hueOf(this.layer.read[head])}`, width = this.layer.stored / (2 * shared);
    const values = {
      heads: count === 1 ? _("1 query head") : _("{count} query heads", { count }), kv_heads: shared === 1 ? _("1 KV head") : _("{count} KV heads", { count: shared }),
      stored: String(this.layer.stored), product: `2 × ${shared} × ${width}`, d_k: String(width), all: String(this.each.stored), word: data.tokens[asker],
      first: data.tokens[first.place], first_share: percent(first.share), first_head: String(first.head),
      second: data.tokens[second.place], second_share: percent(second.share), second_head: String(second.head),
    };
    const classes = { word: "query", first: hue(first.head), first_share: hue(first.head), second: hue(second.head), second_share: hue(second.head) };
    return { name: this.sentenceName(), values, classes };
  }

  sentenceName() {
    if (this.data.tokens.length < 2) return "hero_short";
    if (this.shared === this.count) return "hero_own";
    const places = (/** @type {Layer} */ layer) => this.best(layer).filter(({ share }) => share >= SEEN).map(({ place }) => place).sort().join();
    return places(this.layer) === places(this.each) ? "hero_still" : "hero_other";
  }

  /** What a word is told as: where each head looks from it. @param {number} asker */
  tellWord(asker) {
    const { tokens } = this.data;
    const heads = this.layer.weights.map((rows, head) => {
      const most = this.seen.reduce((best, place) => (rows[asker][place] > rows[asker][best] ? place : best));
      return _("head {head}: {word} {share}", { head, word: tokens[most], share: percent(rows[asker][most]) });
    });
    return `${tokens[asker]}: ${heads.join(", ")}`;
  }

  /** @override */
  describe() {
    const readers = this.layer.read.map((kv, head) => _("query head {head} reads KV head {kv}", { head, kv }));
    return [...readers, ...this.seen.map((asker) => this.tellWord(asker))].join(". ");
  }
}

/** Which of the heads' colours a KV head has. @param {number} head */
const hueOf = (head) => HUES[head % HUES.length];
