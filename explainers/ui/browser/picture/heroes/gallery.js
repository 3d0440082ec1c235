// @ts-check
// All heads of a model by name; and of one of them its scores, and its arcs on a short text.

/** @import { HeroData, Sentence } from "../hero.js" */

import { element } from "../../common/elements.js";
import { digits } from "../../common/numbers.js";
import { _ } from "../../common/words.js";
import { ArcStrip } from "../arc_strip.js";
import { Chips } from "../chips.js";
import { Hero } from "../hero.js";
import { percent } from "../sentence.js";
import { Words } from "../words.js";
import { HeadBars } from "./gallery_bars.js";
import { HeadMap } from "./gallery_map.js";

/**
 * @typedef {object} Numbers heads are in order, layer by layer
 * @property {string} model
 * @property {number} layers
 * @property {number} heads of each layer
 * @property {string[]} names
 * @property {string[]} bars each name, and the text that its score was measured on
 * @property {Record<string, string>} labels of names, of all heads and of those without a name
 * @property {number[][]} named which names each head has, the surest first
 * @property {(number | null)[][]} scores of each head for each name
 * @property {number[]} chance the best score of any head whose weights were shuffled
 * @property {number[]} needed
 * @property {{ place: number, label: string, score: number, chance: number }[]} relations
 * @property {string[]} tokens
 * @property {string} weights of all heads on these tokens, a byte each, in base64
 */

/** Of each name one of the colours of heads; the commonest is grey. @type {Record<string, string>} */
const HUES = {
  "previous token": "--head5", "next token": "--head7", "current token": "--head3", "duplicate token": "--head1",
  induction: "--head0", punctuation: "--head2", positional: "--head4",
};
const BARS = 320, GAP = 28, ARCS = 118, WORDS = 34;
const STEP = 25, SHARE = 54, REACH = 150; // on a phone: words below each other, their shares, arcs at their left

/** @extends {Hero<HeroData & Numbers>} */
export class Gallery extends Hero {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    root.classList.add("gallery");
    /** @type {number | null} */
    this.pointed = null;
    this.shownFor = "";
    this.bytes = new Uint8Array();
    /** @type {number[]} the middles of the words, across or on a phone down */
    this.centres = [];
    this.base = 0;
    this.legend = element("div", "gallery-legend");
    this.stage.root.append(this.legend);
    /** @type {Chips | null} */
    this.filter = null;
    this.map = new HeadMap(this.stage, (layer, head) => this.choose({ gallery_layer: layer, gallery_head: head }));
    this.bars = new HeadBars(this.stage);
    this.arcs = new ArcStrip(this.stage);
    this.words = new Words(this.stage, {
      label: _("The word whose arcs are drawn"),
      choose: (place) => { this.pointed = null; this.choose({ gallery_word: place }); },
      peek: (place) => this.peek(place),
    });
  }

  // What is chosen.

  get chosen() { return Number(this.choices.gallery_layer) * this.data.heads + Number(this.choices.gallery_head); }
  get headName() { return `L${this.choices.gallery_layer}.H${this.choices.gallery_head}`; }
  get wanted() { return String(this.choices.head_name); }
  get word() { return this.pointed ?? Math.min(Number(this.choices.gallery_word), this.data.tokens.length - 1); }
  get isPhone() { return this.stage.room < 560; }
  get hasArcs() { return this.data.tokens.length > 0; }

  /** Heads that are lit: all of them, those with the wanted name, or those without any. */
  get lit() {
    const { named, names, labels } = this.data, [every, nameless] = this.ends, at = names.indexOf(this.wanted);
    if (this.wanted === every || !(this.wanted in labels)) return named.map(() => true);
    return named.map((own) => (this.wanted === nameless ? !own.length : own.includes(at)));
  }

  /** The values that are no name: all heads, and heads without one. */
  get ends() {
    const keys = Object.keys(this.data.labels);
    return [keys[0], keys[keys.length - 1]];
  }

  /** @param {number | null} place */
  peek(place) {
    if (place === this.pointed) return;
    this.pointed = place;
    this.update();
  }

  // Nodes.

  /** How large numbers are: what makes 18 pixels on a projector. */
  get letters() { return this.isLecture ? 15.2 : 14; }

  /** @override @param {boolean} isFirst */
  renew(isFirst) {
    const { data } = this, shown = JSON.stringify([data.model, data.labels, data.named, data.tokens]);
    if (!isFirst && shown === this.shownFor) return false;
    this.shownFor = shown;
    this.pointed = null;
    this.bytes = Uint8Array.from(atob(data.weights), (letter) => letter.charCodeAt(0));
    this.map.renew(data.layers, data.heads);
    this.bars.renew(data.bars);
    this.arcs.renew(data.tokens.length);
    this.words.renew(data.tokens);
    this.renewLegend();
    return true;
  }

  renewLegend() {
    const { labels, named, names } = this.data, [every, nameless] = this.ends;
    const count = (/** @type {string} */ name) => {
      if (name === every) return named.length;
      return named.filter((own) => (name === nameless ? !own.length : own.includes(names.indexOf(name)))).length;
    };
    const offered = Object.keys(labels).filter((name) => count(name));
    const options = offered.map((name) => ({ value: name, label: labels[name] }));
    this.legend.replaceChildren();
    this.filter = new Chips(this.legend, { label: "", options, choose: (value) => this.light(value) });
    this.legend.firstElementChild?.lastElementChild?.setAttribute("aria-label", _("Heads with this name"));
    for (const button of this.filter.buttons) {
      const hue = this.hueOf(button.value);
      if (hue) button.style.setProperty("--hue", hue);
      button.classList.toggle("plain", button.value === every);
      button.classList.toggle("nameless", button.value === nameless);
      button.append(" ", element("b", "", String(count(button.value))));
    }
  }

  /** Only heads with this name; the one that has it most surely is chosen. @param {string} name */
  light(name) {
    const { names, scores, heads } = this.data, at = names.indexOf(name), lit = names.includes(name);
    if (!lit) return this.choose({ head_name: name });
    const best = scores.reduce((most, row, place) => ((row[at] ?? -1) > (scores[most][at] ?? -1) ? place : most), 0);
    this.choose({ head_name: name, gallery_layer: Math.floor(best / heads), gallery_head: best % heads });
  }

  /** @param {string} name */
  hueOf(name) {
    if (name in HUES) return `var(${HUES[name]})`;
    return this.data.names.includes(name) ? "var(--gallery-sink)" : "";
  }

  // Places.

  /** @override */
  update() {
    this.filter?.show(this.wanted);
    super.update();
  }

  /** @override */
  place() {
    const { data, stage, isPhone } = this, room = stage.room;
    const wide = isPhone || room < 760 ? room : room - BARS - GAP;
    const wanted = data.names.indexOf(this.wanted);
    const hues = data.named.map((own) => {
      const name = wanted >= 0 && own.includes(wanted) ? this.wanted : data.names[own[0]];
      return name ? this.hueOf(name) : "";
    });
    const told = data.named.map((own) => own.map((at) => data.labels[data.names[at]]).join(", ") || data.labels[this.ends[1]]);
    const top = Math.ceil(this.legend.offsetHeight) + 8;
    const end = this.map.place({ top, wide, chosen: this.chosen, hues, lit: this.lit, told, letters: this.letters });
    const beside = wide < room;
    const relations = data.relations.filter(({ place }) => place === this.chosen).slice(0, 2);
    const below = this.bars.place({
      x: beside ? wide + GAP : 0, y: beside ? top : end + 12, width: beside ? BARS : room, title: this.titleOf(this.chosen),
      scores: data.scores[this.chosen], chance: data.chance, needed: data.needed, relations,
      hues: data.names.map((name) => this.hueOf(name)), own: data.named[this.chosen], isBrief: !beside, letters: this.letters,
    });
    const foot = Math.max(end, below);
    stage.resize(room, !this.hasArcs ? foot + 6 : isPhone ? foot + 16 + STEP * data.tokens.length : foot + 8 + ARCS + WORDS + 26);
    this.placeWords(foot);
  }

  /** @param {number} place */
  titleOf(place) {
    const { named, names, labels } = this.data;
    return `${this.headName}: ${named[place].map((at) => labels[names[at]]).join(", ") || labels[this.ends[1]]}`;
  }

  /** @param {number} foot where the bars end */
  placeWords(foot) {
    const { words, data } = this;
    if (this.isPhone) this.placeDown(foot + 10);
    else this.placeAcross(foot + 8 + ARCS);
    words.show({
      chosen: Number(this.choices.gallery_word), shown: this.word,
      names: data.tokens.map((token, place) => `${token}: ${percent(this.rowOf(this.word)[place])}`),
      hidden: data.tokens.map(() => false),
    });
  }

  /** Words below each other, with the arcs at their left. @param {number} top */
  placeDown(top) {
    const { stage, words, data } = this, size = 17;
    const widest = Math.max(0, ...stage.widths(data.tokens, size));
    this.base = stage.room - SHARE - widest - 14;
    this.centres = data.tokens.map((_token, place) => {
      const depth = top + (place + 0.5) * STEP;
      Object.assign(words.buttons[place].style, { width: "", height: `${STEP}px` });
      stage.write(words.buttons[place], this.base + 8, depth, size, 1, 0, "left");
      stage.write(this.arcs.shares[place], stage.room - 4, depth, this.letters, this.rowOf(this.word)[place] >= 0.005 ? 1 : 0, 0, "right");
      return depth;
    });
  }

  /** Words beside each other, below their arcs. @param {number} base */
  placeAcross(base) {
    const { stage, hasArcs, words, data } = this, tokens = data.tokens;
    let size = 21, total = Infinity, /** @type {number[]} */ widths = [];
    for (; total > stage.room && size > 15; total = widths.reduce((sum, one) => sum + one, 0)) { // the least that its words need
      size -= 1;
      widths = stage.widths(tokens, size).map((one) => Math.max(34, one + 14));
    }
    const gap = Math.min(18, Math.max(0, (stage.room - total) / Math.max(1, tokens.length - 1)));
    let x = (stage.room - total - gap * (tokens.length - 1)) / 2;
    this.base = base;
    this.centres = widths.map((wide, place) => {
      const centre = x + wide / 2;
      stage.put(words.buttons[place], { x, y: base + 2, width: wide, height: WORDS - 2 }, hasArcs ? 1 : 0);
      words.buttons[place].style.fontSize = `${size}px`;
      stage.write(this.arcs.shares[place], centre, base + WORDS + 12, this.letters, hasArcs && this.rowOf(this.word)[place] >= 0.005 ? 1 : 0);
      x += wide + gap;
      return centre;
    });
  }

  /** The weights of a word in the chosen head. @param {number} word */
  rowOf(word) {
    const count = this.data.tokens.length, start = (this.chosen * count + word) * count;
    return Array.from(this.bytes.subarray(start, start + count), (byte) => byte / 255);
  }

  /** @override @returns {Record<string, number[][]>} */
  goal() {
    if (!this.data.tokens.length) return {};
    return { weights: [this.rowOf(this.word)], asker: [[this.centres[this.word] ?? 0]] };
  }

  /** @override */
  paint() {
    if (!this.data.tokens.length || !this.centres.length) return;
    const [asker] = this.tween.row("asker", 0), weights = this.tween.row("weights", 0);
    const high = this.isPhone ? Math.min(REACH, this.base - 8) : ARCS - 12;
    const form = { centres: this.centres, asker, base: this.base, high, scale: 1, even: 0, isUpright: this.isPhone };
    this.arcs.paint(weights, form, (place) => this.hasArcs && weights[place] >= 0.005);
  }

  // What it says.

  /** @override @returns {Sentence} */
  sentence() {
    const { data, chosen: place } = this, [every, nameless] = this.ends, own = data.named[place];
    const isName = data.names.includes(this.wanted), at = isName ? data.names.indexOf(this.wanted) : own[0] ?? -1;
    const relation = data.relations.find((one) => one.place === place);
    const name = at >= 0 ? data.names[at] : "", score = data.scores[place][at];
    const values = {
      all: String(data.named.length), named: String(data.named.filter((one) => one.length).length),
      nameless: String(data.named.filter((one) => !one.length).length),
      count: String(data.named.filter((one) => one.includes(at)).length), head: this.headName,
      role: data.labels[name] ?? "", score: score === null || score === undefined ? "–" : digits(score),
      chance: digits(data.chance[at] ?? 0), model: data.model,
      relation: relation?.label ?? "", right: percent(relation?.score ?? 0), offset: percent(relation?.chance ?? 0),
    };
    const said = (/** @type {string} */ which) => ({ name: which, values, classes: { role: "gallery-role" } });
    if (this.wanted === nameless && own.length) return said("hero_nobody");
    if (isName) return said(own.includes(at) ? "hero_named" : "hero_other");
    if (relation && this.wanted === every) return said("hero_relation");
    if (!own.length) return said("hero_nameless");
    return said(name === "sink" ? "hero_sink" : "hero_named");
  }

  /** @override */
  describe() {
    const { names, labels, scores } = this.data;
    return names.map((name, at) => {
      const score = scores[this.chosen][at];
      return `${labels[name]}: ${score === null || score === undefined ? "–" : digits(score)}`;
    }).join("; ");
  }
}
