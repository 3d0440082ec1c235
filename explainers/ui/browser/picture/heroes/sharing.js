// Query heads that share keys and values: who reads which KV head, where one word looks in each query
// head, and how many numbers are stored for a word.

/** @import { HeroData, Mark, Sentence } from "../kit.js" */

import { _, chooseTold, isWord, markArcs, percent, placeWords, WordHero } from "../kit.js";

/** @typedef {ReturnType<typeof placeSharing>} Plan */
/** @typedef {[x: number, y: number]} Point */
/** @typedef {{ box: [x: number, y: number, width: number, height: number], number: Point, name: Point, product: Point }} Bar with its number, and how that comes about */
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
const HEIGHT = 404, TOP = 34, LABELS = 21, MOST_PITCH = 110, LEAST_PITCH = 32; // pixels
const BARS = [44, 96, 17]; // of a bar on wide screens: its width, that of its column; height of the numbers
const HUES = [0, 2, 6, 7, 5, 3, 4, 1]; // of the KV heads; first those that mean nothing else here

/** @extends {WordHero<HeroData & Numbers>} */
export class Sharing extends WordHero {
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

  // What is seen.

  /** @override */
  marks() {
    const { stage, data: { tokens, layers }, count, each, layer } = this, plan = placeSharing(stage, tokens, count, [each.stored, layer.stored]);
    return [
      { key: "lines", tag: "svg:g", class: "sharing-lines" },
      ...this.markBars(plan),
      this.markWords((place) => ({
        name: this.tellHeads(this.layer.weights, place), is: { slanted: plan.isSlanted }, at: [plan.centres[place], plan.wordDepth, plan.size], hold: plan.isSlanted ? "right" : "middle", turn: plan.turn,
      })),
      // Heads that are not chosen wait unseen, and come from there.
      ...Array.from({ length: Math.max(...Object.keys(layers).map(Number)) }, (_head, head) => this.markHead(plan, head)).flat(),
    ];
  }

  /** A query head, its line, and the KV head that may be its own. @param {Plan} plan @param {number} head @returns {Mark[]} */
  markHead(plan, head) {
    const { layer, asker, count } = this, { centres, radius, box } = plan, { middle, base, high, scale } = plan.rows[Math.min(head, count - 1)], first = centres[0];
    const opacity = head < count ? 1 : 0, kv = layer.read[head] ?? 0, colour = `--head${hueOf(kv)}`, weights = layer.weights[head]?.[asker] ?? centres.map(() => 0);
    const from = box.x + box.width, to = plan.circle - radius, half = (from + to) / 2, told = chooseTold(weights, centres, 2.4 * plan.digits, SEEN);
    return [
      {
        key: `line ${head}`, in: "lines", tag: "svg:path", class: "sharing-line", style: { opacity, stroke: `var(${colour})` }, numbers: [this.boxDepth(plan, kv), middle],
        draw: (node, now) => {
          const [start, end] = [...now].map((depth) => depth.toFixed(1));
          node.setAttribute("d", `M${from} ${start}C${half} ${start} ${half} ${end} ${to} ${end}`);
        },
      },
      {
        key: `box ${head}`, class: "sharing-box", style: { "--hue": `var(--head${hueOf(head)})` }, attributes: { role: "img", "aria-label": _("KV head {head}", { head }) },
        box: [box.x, this.boxDepth(plan, head) - box.height / 2, box.width, box.height], opacity: head < this.shared ? 1 : 0,
        parts: [{ class: "key", text: "K" }, { class: "value", text: "V" }],
      },
      {
        key: `circle ${head}`, class: "sharing-circle", text: String(head), style: { "--hue": `var(${colour})` },
        box: [plan.circle - radius, middle - radius, 2 * radius, 2 * radius], opacity,
      },
      { key: `base ${head}`, class: "baseline", box: [first - 8, base, centres[centres.length - 1] - first + 16, 1], opacity },
      ...markArcs(`head ${head}`, this.stage, {
        weights, centres, asker, base, high, scale, colour, opacity,
        share: (seen) => ({ at: [centres[seen], base + 10, plan.digits], opacity: told.has(seen) ? opacity : 0 }),
      }),
    ];
  }

  /** A KV head is beside the middle of the query heads for which it was made. @param {Plan} plan @param {number} kv */
  boxDepth({ rows }, kv) {
    const size = this.count / this.shared, own = rows.slice(Math.floor(kv * size), Math.floor((kv + 1) * size));
    return own.length ? own.reduce((sum, { middle }) => sum + middle, 0) / own.length : rows[rows.length - 1].middle;
  }

  /** How many numbers are stored for a word, if each query head had keys and values of its own, and now. @param {Plan} plan @returns {Mark[]} */
  markBars({ box, bars, circle, titles, isPhone }) {
    const { count, shared, each } = this, hold = isPhone ? "left" : "middle", width = each.stored / (2 * count); // numbers of a key, or of a value
    return [
      ...[count, shared].flatMap((kept, at) => /** @type {Mark[]} */ ([
        {
          key: `bar ${at}`, class: `sharing-bar ${at ? "now" : "each"}`, box: bars[at].box,
          style: { "--unit": `${(bars[at].box[isPhone ? 2 : 3] / kept).toFixed(2)}px`, "--way": isPhone ? "90deg" : "0deg" },
        },
        { key: `number ${at}`, class: "text sharing-number", text: String((at ? this.layer : each).stored), at: [...bars[at].number, at ? 20 : 17], hold },
        { key: `name ${at}`, class: "text quiet", text: tellCount(kept), at: [...bars[at].name, 14], hold },
        { key: `product ${at}`, class: "text quiet sharing-product", text: [2, kept, width].join("×"), at: [...bars[at].product, 13], hold: isPhone ? "right" : "middle" },
      ])),
      { key: "title of boxes", class: "text quiet", text: _("KV heads"), at: [box.x + box.width / 2, titles.y, 14], opacity: isPhone ? 0 : 1 },
      { key: "title of circles", class: "text quiet", text: _("query heads"), at: [circle, titles.y, 14], opacity: isPhone ? 0 : 1 },
      { key: "title of bars", class: "text quiet", text: _("numbers stored per word"), at: [titles.barsX, titles.bars, 14], hold: "left" },
    ];
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
      heads: count === 1 ? _("1 query head") : _("{count} query heads", { count }), kv_heads: tellCount(shared),
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

  /** @override */
  describe() {
    const readers = this.layer.read.map((kv, head) => _("query head {head} reads KV head {kv}", { head, kv }));
    return [...readers, ...this.seen.map((asker) => this.tellHeads(this.layer.weights, asker))].join(". ");
  }
}

/** Which of the heads' colours a KV head has. @param {number} head */
const hueOf = (head) => HUES[head % HUES.length];

/** @param {number} shared KV heads */
const tellCount = (shared) => (shared === 1 ? _("1 KV head") : _("{count} KV heads", { count: shared }));

/**
 * KV heads at the left, a row of arcs for each query head, and at the right, or on a phone below, how many numbers are stored.
 * @param {import("../stage.js").Stage} stage @param {string[]} words @param {number} heads @param {number[]} amounts of the bars
 */
function placeSharing(stage, words, heads, amounts) {
  const { room } = stage, isPhone = room < 560, left = isPhone ? 98 : 168, right = isPhone ? 0 : 2 * BARS[1] + 30;
  const line = placeWords(stage, words, [left, right]), below = line.isSlanted ? 66 : 44;
  const wanted = isPhone ? (heads > 4 ? 46 : 66) : Math.max(LEAST_PITCH, (HEIGHT - TOP - below) / heads), pitch = Math.min(MOST_PITCH, wanted);
  const full = Math.max(HEIGHT, TOP + below + LEAST_PITCH * heads), foot = isPhone ? 8 + pitch * heads : full - below, first = foot - pitch * heads;
  const rows = Array.from({ length: heads }, (_row, head) => {
    const base = first + pitch * (head + 1) - LABELS;
    return { base, high: Math.max(9, pitch - LABELS - 8), scale: Math.max(0.3, Math.min(1.1, pitch / 104)), middle: base - Math.min(16, pitch / 5) };
  });
  const bottom = foot + below, height = isPhone ? bottom + 2 * 30 + 34 : full, most = Math.max(...amounts);
  stage.resize(room, height);
  const bars = amounts.map((amount, at) => {
    if (isPhone) {
      const width = ((room - 204) * amount) / most, y = bottom + 30 + 30 * at;
      return /** @type {Bar} */ ({ box: [92, y, width, 20], number: [92 + width + 8, y + 10], name: [0, y + 10], product: [room - 2, y + 10] });
    }
    const high = ((foot - TOP - 44) * amount) / most, x = room - right + 56 + BARS[1] * at, middle = x + BARS[0] / 2;
    return /** @type {Bar} */ ({ box: [x, foot - high, BARS[0], high], number: [middle, foot - high - BARS[2] + 3], name: [middle, foot + 15], product: [middle, foot + 33] });
  });
  return {
    ...line, isPhone, rows, bars, wordDepth: foot + (line.isSlanted ? 6 : 22), digits: pitch < 40 ? 13 : 14,
    box: { x: isPhone ? 2 : 8, width: isPhone ? 40 : 58, height: Math.min(28, pitch - 8) },
    circle: isPhone ? 82 : 138, radius: Math.min(isPhone ? 13 : 15, pitch / 2 - 3),
    titles: { y: Math.max(9, rows[0].middle - 34), bars: isPhone ? bottom + 12 : Math.max(11, TOP - 22), barsX: isPhone ? 0 : room - right + 36 },
  };
}
