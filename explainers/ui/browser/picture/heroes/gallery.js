// All heads of a model by name; and of one of them its scores, and its arcs on a short text.

/** @import { HeroData, Mark, Sentence } from "../kit.js" */

import { _, Chips, digits, element, markArcs, percent, sum, WordHero } from "../kit.js";
import { markMap } from "./gallery_map.js";

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
const TITLE = 24, ROW = 20, VALUE = 40, RELATIONS = [0, 1]; // of the scores
const BARS = 320, GAP = 28, ARCS = 118, WORDS = 34;
const SEEN = 0.005; // smaller weights are neither drawn nor written
const DOWN = 17, STEP = 25, SHARE = 54, REACH = 150; // on a phone: the size of words below each other, their shares, arcs at their left

/** @extends {WordHero<HeroData & Numbers>} */
export class Gallery extends WordHero {
  bytes = new Uint8Array();
  legend = this.stage.root.appendChild(element("div", "gallery-legend"));
  /** @type {Chips | undefined} */
  filter;

  /** @override */
  addWords() { return super.addWords(_("The word whose arcs are drawn"), "gallery_word"); }

  // What is chosen.

  /** @override */
  get chosen() { return Math.min(Number(this.choices.gallery_word), this.data.tokens.length - 1); }
  get chosenHead() { return Number(this.choices.gallery_layer) * this.data.heads + Number(this.choices.gallery_head); }
  get headName() { return `L${this.choices.gallery_layer}.H${this.choices.gallery_head}`; }
  get wanted() { return String(this.choices.head_name); }
  get isPhone() { return this.stage.room < 560; }
  /** How large numbers are: what makes 18 pixels on a projector. */
  get letters() { return this.isLecture ? 15.2 : 14; }

  /** Is a head with these names lit by this one? What is no name lights all heads, or those without any. @param {number[]} own @param {string} name */
  isLit(own, name) {
    const { names, labels } = this.data, [every, nameless] = this.ends;
    return name === every || !(name in labels) || (name === nameless ? !own.length : own.includes(names.indexOf(name)));
  }

  /** The values that are no name: all heads, and heads without one. */
  get ends() {
    const keys = Object.keys(this.data.labels);
    return [keys[0], keys[keys.length - 1]];
  }

  /** @override */
  renew() {
    const { model, labels, named, tokens, weights } = this.data, [every, nameless] = this.ends;
    if (!this.scene.isOther([model, labels, named, tokens])) return false;
    super.renew(true);
    this.bytes = Uint8Array.from(atob(weights), (letter) => letter.charCodeAt(0));
    const count = (/** @type {string} */ name) => named.filter((own) => this.isLit(own, name)).length;
    const options = Object.keys(labels).filter(count).map((name) => ({ value: name, label: labels[name] }));
    this.legend.replaceChildren();
    this.filter = new Chips(this.legend, { label: "", name: _("Heads with this name"), options, choose: (value) => this.light(value) });
    for (const button of this.filter.buttons) {
      const hue = this.hueOf(button.value);
      if (hue) button.style.setProperty("--hue", hue);
      button.classList.toggle("plain", button.value === every);
      button.classList.toggle("nameless", button.value === nameless);
      button.append(" ", element("b", "", String(count(button.value))));
    }
    return true;
  }

  /** Only heads with this name; the one that has it most surely is chosen. @param {string} name */
  light(name) {
    const { names, scores, heads } = this.data, at = names.indexOf(name);
    if (at < 0) return this.choose({ head_name: name });
    const best = scores.reduce((most, row, place) => ((row[at] ?? -1) > (scores[most][at] ?? -1) ? place : most), 0);
    this.choose({ head_name: name, gallery_layer: Math.floor(best / heads), gallery_head: best % heads });
  }

  /** @param {string} name */
  hueOf(name) {
    return name in HUES ? `var(${HUES[name]})` : this.data.names.includes(name) ? "var(--gallery-sink)" : "";
  }

  // What is seen.

  /** @override @returns {Mark[]} */
  marks() {
    const { data, stage, isPhone, letters, chosenHead: chosen } = this, { room } = stage, { named, names, layers, heads, tokens } = data;
    this.filter?.show(this.wanted);
    const isBeside = room >= 760, wide = isBeside ? room - BARS - GAP : room, top = Math.ceil(this.legend.offsetHeight) + 8;
    const wanted = names.indexOf(this.wanted), hues = named.map((own) => (own.length ? this.hueOf(names[own.includes(wanted) ? wanted : own[0]]) : ""));
    const map = markMap(this.scene, {
      top, wide, layers, heads, chosen, hues, letters, lit: named.map((own) => this.isLit(own, this.wanted)), told: named.map((_own, place) => this.tellHead(place)),
      choose: (layer, head) => this.choose({ gallery_layer: layer, gallery_head: head }),
    });
    const scores = isBeside ? this.markScores(wide + GAP, top, BARS) : this.markScores(0, map.end + 12, room, true);
    const foot = Math.max(map.end, scores.end);
    stage.resize(room, !tokens.length ? foot + 6 : isPhone ? foot + 16 + STEP * tokens.length : foot + 8 + ARCS + WORDS + 26);
    return [{ key: "legend", node: this.legend }, ...map.marks, ...scores.marks, ...(tokens.length ? this.markTokens(foot) : [])];
  }

  /**
   * The scores of one head as bars, each beside what heads reach at random and what a name needs; and where they end.
   * @param {number} x @param {number} y @param {number} width @param {boolean} [isBrief] only those of the head's names, or its two best
   * @returns {{ marks: Mark[], end: number }}
   */
  markScores(x, y, width, isBrief = false) {
    const { data, stage, letters, chosenHead: chosen } = this, { bars: labels, chance, needed, names } = data, scores = data.scores[chosen], own = data.named[chosen];
    const relations = data.relations.filter(({ place }) => place === chosen).slice(0, RELATIONS.length), title = `${this.headName}: ${this.tellHead(chosen)}`;
    const longest = Math.max(...stage.widths([...labels, ...relations.map(({ label }) => label)], 1));
    const small = Math.max(14, Math.min(letters, (width * 0.58 - 10) / longest)), left = x + Math.min(width * 0.58, small * longest + 10), long = x + width - left - VALUE;
    // In whole pixels: some screens round each letter up.
    const large = Math.floor(Math.min(17, (16 * width) / stage.width(title, 17, 700)));
    const best = [...scores.keys()].sort((one, two) => (scores[two] ?? -1) - (scores[one] ?? -1)), kept = !isBrief ? best : own.length ? own : best.slice(0, 2);
    const rows = [
      ...labels.map((label, at) => ({ label, score: scores[at], chance: chance[at], needed: needed[at], hue: this.hueOf(names[at]), isOwn: own.includes(at), isSeen: kept.includes(at) })),
      // One that is no longer there keeps its label while it fades.
      ...RELATIONS.map((at) => ({ ...(relations[at] ?? { label: undefined, score: null, chance: 0 }), needed: 0, hue: "var(--key)", isOwn: true, isSeen: at in relations })),
    ];
    let end = y + TITLE;
    const bars = rows.flatMap(({ label, score, chance: random, needed: least, hue, isOwn, isSeen }, at) => {
      const top = end, opacity = isSeen ? 1 : 0;
      end += ROW * opacity;
      return /** @type {Mark[]} */ ([
        { key: `score name ${at}`, class: "text", is: { quiet: !isOwn }, text: label, at: [left - 8, top + ROW / 2, small], hold: "right", opacity },
        { key: `track ${at}`, class: "gallery-track", box: [left, top + 3, long, ROW - 6], opacity },
        { key: `bar ${at}`, class: "gallery-bar", is: { low: !isOwn }, style: { "--hue": hue }, box: [left, top + 3, long * (score ?? 0), ROW - 6], opacity },
        { key: `needed ${at}`, class: "gallery-needed", box: [left + long * least - 1, top + 1, 2, ROW - 2], opacity: least ? opacity : 0 },
        { key: `chance ${at}`, class: "gallery-chance", box: [left + long * random - 1.5, top + 1, 3, ROW - 2], opacity },
        { key: `score ${at}`, class: "text", is: { quiet: !isOwn }, text: write(score), at: [x + width, top + ROW / 2, letters], hold: "right", opacity },
      ]);
    });
    return {
      end: end + 26,
      marks: [
        { key: "title", class: "text gallery-title", text: title, at: [x, y + TITLE / 2 - 2, large], hold: "left" },
        ...bars,
        {
          key: "note", class: "gallery-note", box: [x, end + 3, width, 22],
          made: (node) => node.append(element("i", "at-random"), element("span", "", _("best at random")), element("i", "needed"), element("span", "", _("needed for the name"))),
        },
      ],
    };
  }

  /** The names of a head. @param {number} place */
  tellHead(place) {
    const { named, names, labels } = this.data;
    return named[place].map((at) => labels[names[at]]).join(", ") || labels[this.ends[1]];
  }

  /** The words and their arcs. @param {number} foot where the bars end @returns {Mark[]} */
  markTokens(foot) {
    const { stage, isPhone, letters, asker, data: { tokens } } = this, count = tokens.length, start = (this.chosenHead * count + asker) * count;
    const weights = Array.from(this.bytes.subarray(start, start + count), (byte) => byte / 255);
    const words = this.markWords((place) => ({ name: `${tokens[place]}: ${percent(weights[place])}` }));
    const base = isPhone ? stage.room - SHARE - Math.max(...stage.widths(tokens, DOWN)) - 14 : foot + 8 + ARCS;
    const centres = isPhone ? this.placeDown(base, foot + 10) : this.placeAcross(base);
    return [
      words,
      ...markArcs("word", stage, {
        weights, centres, asker, base, high: isPhone ? Math.min(REACH, base - 8) : ARCS - 12, isUpright: isPhone, isSeen: (_place, weight) => weight >= SEEN,
        share: (place) => ({
          at: isPhone ? [stage.room - 4, centres[place], letters] : [centres[place], base + WORDS + 12, letters], hold: isPhone ? "right" : "middle", opacity: weights[place] >= SEEN ? 1 : 0,
        }),
      }),
    ];
  }

  /** Words below each other, with the arcs at their left; returns their middles. @param {number} base @param {number} top */
  placeDown(base, top) {
    const middles = this.data.tokens.map((_token, place) => top + (place + 0.5) * STEP);
    this.words?.buttons.forEach((button, place) => {
      Object.assign(button.style, { width: "", height: `${STEP}px` });
      this.stage.write(button, base + 8, middles[place], DOWN, 1, 0, "left");
    });
    return middles;
  }

  /** Words beside each other, below their arcs; returns their middles. @param {number} base */
  placeAcross(base) {
    const { stage, words, data: { tokens } } = this;
    let size = 21, total = Infinity, /** @type {number[]} */ widths = [];
    for (; total > stage.room && size > 15; total = sum(widths)) { // the least that its words need
      size -= 1;
      widths = stage.widths(tokens, size).map((one) => Math.max(34, one + 14));
    }
    const gap = Math.min(18, Math.max(0, (stage.room - total) / Math.max(1, tokens.length - 1)));
    let x = (stage.room - total - gap * (tokens.length - 1)) / 2;
    const middles = widths.map((width) => (x += width + gap) - gap - width / 2);
    words?.buttons.forEach((button, place) => {
      stage.put(button, { x: middles[place] - widths[place] / 2, y: base + 2, width: widths[place], height: WORDS - 2 });
      button.style.fontSize = `${size}px`;
    });
    return middles;
  }

  // What it says.

  /** @override @returns {Sentence} */
  sentence() {
    const { data, chosenHead: place } = this, [every, nameless] = this.ends, own = data.named[place];
    const isName = data.names.includes(this.wanted), at = isName ? data.names.indexOf(this.wanted) : own[0] ?? -1;
    const relation = data.relations.find((one) => one.place === place);
    const name = at >= 0 ? data.names[at] : "";
    const values = {
      all: String(data.named.length), named: String(data.named.filter((one) => one.length).length),
      nameless: String(data.named.filter((one) => !one.length).length),
      count: String(data.named.filter((one) => one.includes(at)).length), head: this.headName,
      role: data.labels[name] ?? "", score: write(data.scores[place][at]),
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
    return names.map((name, at) => `${labels[name]}: ${write(scores[this.chosenHead][at])}`).join("; ");
  }
}

/** @param {number | null | undefined} score */
const write = (score) => (score === null || score === undefined ? "–" : digits(score));
