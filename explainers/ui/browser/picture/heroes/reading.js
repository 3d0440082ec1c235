// A text as a ribbon of bars, one query's weights; below it the keys that each of four policies keeps.

/** @import { HeroData, Mark, Now, Sentence } from "../kit.js" */

import { _, ALONG, Film, Hero, penOf, percent, readable, take } from "../kit.js";

/**
 * @typedef {object} Numbers
 * @property {string[]} tokens
 * @property {number} layer
 * @property {number} query the token that asks
 * @property {number[]} weights of the keys that it sees, mean over heads
 * @property {Record<string, number[]>} orders keys, the one that would be kept first in front
 * @property {{ step: number, order: number[] }[]} frames the indexer's order while it is trained here
 * @property {string[]} policies
 * @property {string[]} labels of the policies
 * @property {number[]} kept
 * @property {number} first tokens that the third policy always keeps
 * @property {Record<string, string[]>} losses of the whole model by policy, for each number of keys
 * @property {string} full the loss with all keys
 */

const SAME = 0.5; // of the weight that is kept: then a query reads its own word
const QUOTE = 34, HEAD = 24, GAP = 8; // pixels: the quotation, a line's words, and what is between lines
const BAND = 30, MARKS = 9, SEEN = 3; // pixels: a line's bars and marks, its marks, and a bar that is to be seen
const LABELS = 5, NOTED = 0.02; // bars with a word above them, and the smallest weight that gets one
const MOST_BEFORE = 9; // tokens in front of the query that are quoted

/** @extends {Hero<HeroData & Numbers>} */
export class Reading extends Hero {
  frame = 0;
  shownFrames = "";
  /** @type {number | null} a token below the pointer */
  pointed = null;
  colours = { bar: "", missed: "", query: "", quiet: "" };
  film = new Film(this.below, _("keys kept"), (at) => this.choose({ keys_kept: this.data.kept[at] }));
  training = new Film(this.below, _("steps of training"), (at) => { this.frame = at; this.update(); });

  get at() { return Math.max(0, this.data.kept.indexOf(Number(this.choices.keys_kept))); }
  get kept() { return this.data.kept[this.at]; }
  get policy() { return String(this.choices.kept_by); }
  get isTrainedHere() { return this.data.frames.length > 0; }
  get isPhone() { return this.stage.room < 560; }
  get tall() { return this.isPhone ? 84 : 104; }
  /** Where the highest bars stand. */
  get base() { return QUOTE + HEAD + this.tall; }
  /** Pixels of a token. */
  get step() { return this.stage.room / this.data.tokens.length; }
  /** Where numbers end: a share, and a loss. */
  get columns() { return [this.stage.room - (this.isPhone ? 52 : 96), this.stage.room - 2]; }
  /** Where a line's bars begin. @param {number} line */
  bandOf(line) { return this.base + 26 + line * (HEAD + BAND + GAP) + HEAD; }

  /** The keys that each policy keeps, in the order of the text. */
  get sets() {
    const { data, kept } = this, { query, first } = data;
    const keys = Array.from({ length: query + 1 }, (_one, key) => key), near = kept - first;
    const order = this.isTrainedHere ? data.frames[this.frame].order : data.orders.indexer;
    /** @type {Record<string, number[]>} */
    const sets = {
      oracle: data.orders.oracle.slice(0, kept), indexer: order.slice(0, kept),
      first: keys.filter((key) => key < first || key > query - near), window: keys.filter((key) => key > query - kept),
    };
    return Object.fromEntries(data.policies.map((name) => [name, sets[name].sort((one, other) => one - other)]));
  }

  /** How much of the query's weight is on keys. @param {number[]} keys */
  weigh(keys) { return keys.reduce((sum, key) => sum + this.data.weights[key], 0); }

  /** @override */
  renew() {
    const { data } = this, frames = JSON.stringify(data.frames.map(({ step }) => step));
    if (frames !== this.shownFrames) this.frame = Math.max(0, data.frames.length - 1);
    this.shownFrames = frames;
    this.pointed = null; // of the text before
    this.film.offer(data.kept.map(String));
    this.training.offer(data.frames.map(({ step }) => String(step)));
    return true;
  }

  /** @override */
  update() {
    this.pointed = null;
    this.film.show(this.at, true);
    this.training.show(this.frame, this.data.frames.length > 1);
    this.root.classList.toggle("quick", this.film.isPlaying);
    super.update();
  }

  /** @override @param {import("../palette.js").Dress} dress */
  dressed({ look }) { this.colours = { bar: look.heads[0], missed: look.wrong, query: look.query, quiet: getComputedStyle(this.root).color }; }

  /** @override @returns {Mark[]} */
  marks() {
    const { data, stage, sets, columns, isPhone } = this, count = data.query + 1, size = isPhone ? 14 : 15, y = QUOTE + HEAD / 2;
    stage.resize(stage.room, this.bandOf(data.policies.length - 1) + BAND + 4);
    return [
      this.markRibbon(sets), ...this.markQuote(),
      {
        key: "title", class: "text reading-name", text: isPhone ? _("all {count} keys", { count }) : _("all {count} keys, a bar for the weight of each", { count }),
        at: [0, y, size], hold: "left",
      },
      ...columns.flatMap(/** @returns {Mark[]} */ (x, at) => [
        { key: `head ${at}`, class: "text quiet", text: at ? _("loss") : _("weight kept"), at: [x, QUOTE - 12, isPhone ? 13 : 14], hold: "right" },
        { key: `whole ${at}`, class: "text", text: at ? data.full : percent(1), at: [x, y, size], hold: "right" },
      ]),
      ...this.markPointed(), ...this.markLabels(), ...data.policies.flatMap((policy, line) => this.markLine(policy, line, sets[policy], size)),
    ];
  }

  /** Bars, and lines of what is kept; here one points at tokens, and chooses the one that asks. @param {Record<string, number[]>} sets @returns {Mark} */
  markRibbon(sets) {
    const { query, tokens, weights } = this.data, kept = Object.values(sets).map((keys) => new Set(keys));
    return {
      key: "ribbon", tag: "canvas", class: "reading-canvas", style: { height: `${this.stage.height}px` }, attributes: {
        tabindex: 0, role: "slider", "aria-label": _("The token that asks"),
        "aria-valuenow": query, "aria-valuemin": 0, "aria-valuemax": tokens.length - 1, "aria-valuetext": tokens[query].trim(),
      },
      numbers: weights, draw: (canvas, now) => this.paintRibbon(canvas, now, kept),
      made: (canvas) => {
        canvas.onclick = (/** @type {MouseEvent} */ event) => { const token = this.tokenAt(canvas, event); if (token !== null) this.choose({ query_token: token }); };
        canvas.onpointermove = (/** @type {MouseEvent} */ event) => this.point(this.tokenAt(canvas, event));
        canvas.onpointerleave = () => this.point(null);
        canvas.onkeydown = (/** @type {KeyboardEvent} */ event) => this.press(event);
      },
    };
  }

  /** Bars of the query's weights, and below them the keys that are kept, on one canvas. @param {HTMLCanvasElement} canvas @param {Now} weights @param {Set<number>[]} kept */
  paintRibbon(canvas, weights, kept) {
    const { stage: { room, height }, colours, base, tall, step, data: { query, tokens, policies } } = this, wide = Math.max(1, step - 0.25), ratio = Math.max(1, devicePixelRatio);
    const pen = penOf(canvas), largest = Math.max(...this.data.weights, 1e-6);
    const size = { width: Math.round(room * ratio), height: Math.round(height * ratio) };
    if (canvas.width !== size.width || canvas.height !== size.height) Object.assign(canvas, size);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, room, height);

    /** @param {string} colour @param {number} strength @param {[x: number, y: number, width: number, height: number]} box */
    const fill = (colour, strength, ...box) => {
      pen.globalAlpha = strength;
      pen.fillStyle = colour;
      pen.fillRect(...box);
    };
    /** @param {number} foot @param {number} most @param {Set<number>} [keys] */
    const drawBars = (foot, most, keys) => {
      for (let key = 0; key <= query; key++) {
        const high = (most * (weights[key] ?? 0)) / largest, thick = high > 2 ? Math.max(wide, SEEN) : wide;
        if (high >= 0.4) fill(!keys || keys.has(key) ? colours.bar : colours.missed, 1, (key + 0.5) * step - thick / 2, foot - high, thick, high);
      }
    };
    /** The query's place, and the tokens behind it, which it does not see. @param {number} from @param {number} to */
    const drawQuery = (from, to) => {
      fill(colours.query, 1, (query + 0.5) * step - 1, from, 2, to - from);
      if (query + 1 >= tokens.length) return;
      pen.save();
      pen.beginPath();
      pen.rect((query + 1) * step + 1, from, room, to - from);
      pen.clip();
      pen.globalAlpha = 0.22;
      pen.strokeStyle = colours.quiet;
      for (let at = (query + 1) * step - (to - from); at < room; at += 6) {
        pen.beginPath();
        pen.moveTo(at, to);
        pen.lineTo(at + to - from, from);
        pen.stroke();
      }
      pen.restore();
    };

    fill(colours.quiet, 0.07, 0, base, room, 1.5);
    drawBars(base, tall - 20);
    drawQuery(base - tall + 8, base);
    policies.forEach((policy, line) => {
      const top = this.bandOf(line), foot = top + BAND - MARKS, strength = policy === this.policy ? 1 : 0.75;
      fill(colours.quiet, 0.07, 0, foot, (query + 1) * step, MARKS);
      drawBars(foot - 2, BAND - MARKS - 2, kept[line]);
      for (const key of this.tween.row(`line ${policy}`, 0)) fill(colours.bar, strength, key * step, foot, wide, MARKS); // as far as marks have walked
      drawQuery(top, top + BAND);
    });
  }

  /** The words in front of the query, and the query. @returns {Mark[]} */
  markQuote() {
    const { stage, isPhone, data: { tokens, query, layer } } = this, size = isPhone ? 15 : 19, room = this.columns[0] - stage.width(_("weight kept"), 14, 400) - 12;
    /** @param {number} count */
    const cut = (count) => `${query > count ? "… " : ""}${tokens.slice(Math.max(0, query - count), query).join("").replace(/\s+/g, " ").trim()} `;
    const word = written(tokens[query]), asks = _("layer {layer}, the query:", { layer }), left = isPhone ? 0 : stage.width(asks, 14, 400) + 14;
    const isWhole = (/** @type {number} */ count) => /^\s/.test(tokens[query - count] ?? " ");
    const fits = (/** @type {number} */ count) => left + stage.width(cut(count) + word, size, 600) <= room;
    const counts = Array.from({ length: Math.min(MOST_BEFORE, query) }, (_one, at) => at + 1).filter((count) => isWhole(count) && fits(count));
    return [
      { key: "asks", class: "text quiet", text: isPhone ? "" : asks, at: [0, 15, 14], hold: "left" },
      {
        key: "quote", class: "text reading-quote", at: [left, 14, size], hold: "left",
        parts: [{ text: cut(Math.max(0, ...counts)) }, { tag: "b", class: "reading-word", text: word }],
      },
    ];
  }

  /** The words of the highest bars, as far as they do not cover each other. */
  markLabels() {
    const { stage, data: { tokens, weights } } = this, most = Math.max(...weights), size = 14;
    const order = [...weights.keys()].sort((one, other) => weights[other] - weights[one]).slice(0, 3 * LABELS);
    /** @type {Mark[]} */
    const labels = [];
    /** @type {[number, number][]} */
    const taken = [];
    for (const key of order) {
      if (labels.length === LABELS || weights[key] < NOTED) break;
      const text = `${written(tokens[key])} ${percent(weights[key])}`, half = stage.width(text, size, 600) / 2, x = this.within((key + 0.5) * this.step, half);
      if (taken.some(([from, to]) => x + half + 8 > from && x - half - 8 < to)) continue;
      taken.push([x - half, x + half]);
      labels.push({ key: `label ${labels.length}`, class: "text reading-label", text, at: [x, QUOTE + HEAD + (this.tall - 20) * (1 - weights[key] / most) + 9, size] });
    }
    return labels;
  }

  /** What a policy keeps. @param {string} policy @param {number} line @param {number[]} keys @param {number} size @returns {Mark[]} */
  markLine(policy, line, keys, size) {
    const { data, kept, columns } = this, chosen = policy === this.policy, y = this.bandOf(line) - HEAD / 2, large = chosen ? size + 2 : size;
    const name = policy === "first" ? _("first {first} + last {near}", { first: data.first, near: kept - data.first }) : data.labels[line];
    const loss = policy === "indexer" && this.isTrainedHere ? "–" : data.losses[policy][this.at];
    return [
      {
        key: `line ${policy}`, tag: "button", class: "reading-name", text: name, attributes: { "aria-pressed": String(chosen) }, at: [0, y, size], hold: "left", numbers: keys,
        click: () => this.choose({ kept_by: policy }),
      },
      { key: `share ${policy}`, class: "text reading-share", is: { chosen }, text: percent(this.weigh(keys)), at: [columns[0], y, large], hold: "right" },
      { key: `loss ${policy}`, class: "text reading-loss", is: { chosen }, text: loss, at: [columns[1], y, large], hold: "right" },
    ];
  }

  /** The token below the pointer. @returns {Mark[]} */
  markPointed() {
    const { pointed, data: { tokens, weights } } = this;
    if (pointed === null) return [];
    const slots = { place: pointed + 1, token: written(tokens[pointed]) }, weight = weights[pointed];
    const text = weight === undefined ? _("token {place}: {token}", slots) : _("token {place}: {token}, {share}", { ...slots, share: percent(weight) });
    const x = this.within((pointed + 0.5) * this.step, this.stage.width(text, 13, 400) / 2);
    return [{ key: "pointed", class: "text reading-pointed", text, at: [x, this.base + 13, 13] }];
  }

  /** The middle of a text, so that none of it is outside. @param {number} x @param {number} half of its width */
  within(x, half) { return Math.min(this.stage.room - half, Math.max(half, x)); }

  /** @param {HTMLCanvasElement} canvas @param {MouseEvent} event */
  tokenAt(canvas, { clientX }) {
    const { left, width } = canvas.getBoundingClientRect(), { length } = this.data.tokens, token = Math.floor(((clientX - left) / Math.max(1, width)) * length);
    return token >= 0 && token < length ? token : null;
  }

  /** @param {number | null} token */
  point(token) {
    if (token === this.pointed) return;
    this.pointed = token;
    this.place();
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    const by = take(event, { ...ALONG, PageUp: 10, PageDown: -10 });
    if (by) this.choose({ query_token: Math.max(0, Math.min(this.data.tokens.length - 1, this.data.query + by)) });
  }

  /** @override @returns {Sentence} */
  sentence() {
    const { data, sets, kept } = this, keys = data.query + 1;
    const shares = Object.fromEntries(data.policies.map((name) => [name, percent(this.weigh(sets[name]))]));
    const values = {
      place: String(keys), word: readable(data.tokens[data.query]), kept: String(Math.min(kept, keys)), keys: String(keys), near: String(kept - data.first), full: data.full,
      loss: data.losses[this.policy]?.[this.at] ?? "", ...shares, first: String(data.first), first_share: shares.first, share: shares[this.policy],
    };
    return { name: this.sentenceName(), values, classes: { oracle: "weight", indexer: "weight", window: "weight" } };
  }

  sentenceName() {
    const { data, sets, policy } = this;
    if (data.query < this.kept) return "hero_all";
    if (policy !== "indexer") return `hero_${policy}`;
    const own = sets.oracle.filter((key) => key !== data.query && data.tokens[key] === data.tokens[data.query]);
    return this.weigh(own) >= SAME * this.weigh(sets.oracle) ? "hero_same" : "hero_other";
  }

  /** @override */
  describe() {
    const { data, sets } = this;
    return data.policies.map((name, at) => {
      const told = { policy: data.labels[at], share: percent(this.weigh(sets[name])), loss: data.losses[name][this.at] };
      return _("{policy}: {share} of the weight, loss {loss}", told);
    }).join("; ");
  }
}

/** A token above a bar: it has no room for every blank. @param {string} token */
const written = (token) => token.trim() || "↵";
