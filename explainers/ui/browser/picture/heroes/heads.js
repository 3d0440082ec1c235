// Heads under each other, each in a colour of its own: where one word looks.

/** @import { Choice, HeroData, Mark, Sentence } from "../kit.js" */

import { _, isWord, markArcs, percent, placeWords, WordHero, yields } from "../kit.js";

/**
 * @typedef {object} Layer heads; small ones all have equally many parameters
 * @property {number[][][]} weights of each head
 * @property {number[][][]} parts for each word, the product of what any two of them add to its output
 */
/**
 * @typedef {object} Numbers
 * @property {string[]} tokens
 * @property {Record<string, Layer>} layers by their numbers of heads
 */
const HUES = 8, TOLD = "4"; // of several layers, the one whose heads tell which words the sentence is about
const SEEN = 0.05; // smaller weights are not written beside their arcs

/** @extends {WordHero<HeroData & Numbers>} */
export class Heads extends WordHero {
  // What is chosen.

  get count() { return Number(this.choices.heads); }
  get layer() { return this.data.layers[String(this.choices.heads)]; }
  /** Is there one that was trained with a single head, to be compared? */
  get single() { return this.count > 1 ? this.data.layers["1"] : undefined; }
  /** A digit for each, hexadecimal where there are more than ten. */
  get off() { return [...String(this.choices.off)].map((digit) => parseInt(digit, 16)); }
  /** @param {number} head */
  turn(head) {
    const off = new Set(String(this.choices.off)), digit = head.toString(16);
    if (!off.delete(digit)) off.add(digit);
    this.choose({ off: [...off].sort().join("") });
  }

  /** Other heads are all on. @override @param {Record<string, Choice>} some */
  choose(some) {
    super.choose("heads" in some ? { off: "", ...some } : some);
  }

  // What is seen.

  /** @override */
  marks() {
    const { data: { tokens }, asker, count, single } = this, plan = placeHeads(this.stage, tokens, count, single !== undefined), { top } = plan.rows[single ? 0 : 1];
    return [
      ...tokens.map((_word, place) => /** @type {Mark} */ ({
        key: `guide ${place}`, class: "heads-guide", is: { asks: place === asker }, own: place,
        box: place === asker ? [plan.centres[place] - 1, top, 2, plan.foot - top] : [plan.centres[place] - 0.5, top, 1, plan.foot - top],
      })),
      this.markWords((place) => ({
        name: this.tellHeads(this.layer.weights, place), is: { slanted: plan.isSlanted }, at: [plan.centres[place], plan.wordDepth, plan.size], hold: plan.isSlanted ? "right" : "middle", turn: plan.turn,
      })),
      ...(single ? this.markHead(plan, -1, single.weights[0][asker]) : []),
      ...this.layer.weights.flatMap((rows, head) => this.markHead(plan, head, rows[asker])),
    ];
  }

  /** A head, or the single head above them. @param {ReturnType<typeof placeHeads>} plan @param {number} head @param {number[]} weights @returns {Mark[]} */
  markHead(plan, head, weights) {
    const { centres } = plan, place = plan.rows[head + 1], isGhost = head < 0, isOff = this.off.includes(head), colour = isGhost ? "--below" : `--head${head % HUES}`;
    const wide = this.stage.widths(weights.map(percent), plan.digits), name = _("head {head}", { head });
    const isTold = (/** @type {number} */ seen) => weights[seen] >= SEEN && !yields(seen, weights, centres, wide);
    return [
      ...(isGhost ? [] : /** @type {Mark[]} */ ([
        {
          key: `lamp ${head}`, tag: "button", class: "heads-lamp", is: { on: !isOff }, style: { "--hue": `var(${colour})` }, box: [plan.lamp, place.title - 17, 44, 34],
          attributes: { role: "switch", "aria-checked": String(!isOff), "aria-label": name }, click: () => this.turn(head), parts: [{}],
        },
      ])),
      {
        key: `name ${head}`, class: "text heads-name", is: { off: isOff }, text: isGhost ? _("single head") : name, style: { "--hue": isGhost ? "var(--quiet)" : `var(${colour})` },
        at: [2, place.title, isGhost ? 13 : 15], hold: "left",
      },
      { key: `line ${head}`, class: "baseline", box: [centres[0] - 8, place.base, centres[centres.length - 1] - centres[0] + 16, 1] },
      ...markArcs(`head ${head}`, this.stage, {
        weights, centres, asker: this.asker, base: place.base, high: place.high, scale: place.scale, colour, opacity: isOff ? 0.14 : isGhost ? 0.6 : 1,
        share: (seen) => ({ at: [centres[seen], place.base + 10, plan.digits], opacity: isTold(seen) ? (isOff ? 0.35 : 1) : 0 }),
      }),
    ];
  }

  // Words.

  /** Which head looks most at a word, and how much. @param {number} place */
  best(place) {
    const weights = this.layer.weights.map((rows) => rows[this.asker][place]), weight = Math.max(...weights);
    return { head: weights.indexOf(weight), weight };
  }

  /** @override */
  divided() { return this.layer.weights.map((rows) => rows[this.asker]); }

  /** @override @returns {Sentence} */
  sentence() {
    const { asker, count, single } = this, { tokens } = this.data;
    const [first, second] = this.seenMost(), a = first === undefined ? null : this.best(first), b = second === undefined ? null : this.best(second);
    const share = (/** @type {number | undefined} */ place) => (place === undefined ? "" : percent((single ?? this.layer).weights[0][asker][place]));
    const values = {
      word: tokens[asker], heads: String(count), off: this.off.join(", "), change: percent(this.change()),
      first: tokens[first] ?? "", second: tokens[second] ?? "", first_single: share(first), second_single: share(second),
      first_head: String(a?.head ?? ""), second_head: String(b?.head ?? ""), first_share: percent(a?.weight ?? 0), second_share: percent(b?.weight ?? 0),
    };
    const hue = (/** @type {{ head: number } | null} */ one) => (one && count > 1 ? `hue${one.head % HUES}` : "");
    const classes = { word: "query", first: hue(a), first_share: hue(a), first_head: hue(a), second: hue(b), second_share: hue(b), second_head: hue(b) };
    return { name: this.sentenceName(a, b), values, classes };
  }

  /** How long what the heads that are off have added is, compared with the word's whole output. */
  change() {
    const parts = this.layer.parts[this.asker], every = [...parts.keys()];
    const square = (/** @type {number[]} */ heads) => heads.reduce((sum, a) => sum + heads.reduce((row, b) => row + (parts[a]?.[b] ?? 0), 0), 0);
    return Math.sqrt(Math.max(0, square(this.off)) / Math.max(1e-9, square(every)));
  }

  /** The two words at which heads look most, the word itself and a model's own apart, in the order of the sentence. */
  seenMost() {
    const { data, asker } = this, { weights } = data.layers[TOLD] ?? this.layer, left = [asker, ...this.ownPositions];
    const most = (/** @type {number} */ place) => Math.max(...weights.map((rows) => rows[asker][place]));
    const places = [...data.tokens.keys()].filter((place) => !left.includes(place) && isWord(data.tokens[place]));
    return places.sort((a, b) => most(b) - most(a)).slice(0, 2).sort((a, b) => a - b);
  }

  /** @param {{ head: number } | null} a @param {{ head: number } | null} b */
  sentenceName(a, b) {
    const off = this.off.length;
    if (off) return off === this.count ? "hero_all_off" : "hero_off";
    if (!a || !b) return "hero_alone";
    if (this.count === 1) return "hero_single";
    const isOne = a.head === b.head; // one head looks most at both words
    if (!this.single) return isOne ? "hero_heads_together" : "hero_heads";
    return isOne ? "hero_together" : "hero_apart";
  }

  /** @override */
  describe() { return this.seen.map((asker) => this.tellHeads(this.layer.weights, asker)).join(". "); }
}

// Where everything of the picture of heads stands: rows above one line of words.

const HEIGHT = 430, ABOVE = 22, LABELS = 20, SWITCH = 56, LEAST_PITCH = 34;

/**
 * @param {import("../stage.js").Stage} stage @param {string[]} words @param {number} heads
 * @param {boolean} hasSingle is a single head above them?
 */
function placeHeads(stage, words, heads, hasSingle) {
  const { room } = stage, isPhone = room < 560, shown = hasSingle ? heads + 1 : heads;
  const line = placeWords(stage, words, isPhone ? [0, 0] : [92, SWITCH]);
  const below = line.isSlanted ? (isPhone ? 60 : 40) : 0, bottom = 62 + below;
  const pitch = isPhone ? (heads > 4 ? 62 : 70) : Math.max(LEAST_PITCH, (HEIGHT - ABOVE - bottom) / shown);
  const height = isPhone ? ABOVE + 10 + pitch * shown + bottom : Math.max(HEIGHT, ABOVE + bottom + pitch * shown), first = height - bottom - pitch * shown;
  stage.resize(room, height);
  const rows = Array.from({ length: Math.max(9, heads + 1) }, (_row, at) => {
    const place = hasSingle ? Math.min(at, shown) : at === 0 ? -0.4 : Math.min(at - 1, shown);
    const top = first + pitch * place, base = top + pitch - LABELS; // arcs begin and end there
    return {
      top, base, high: Math.max(10, base - top - (isPhone ? 30 : 4)), scale: Math.max(0.32, Math.min(1.2, (pitch - (isPhone ? 26 : 0)) / 104)),
      title: isPhone ? top + 14 : base - 8, // the depth of its name, and of its switch
    };
  });
  const lamp = isPhone ? room - 44 : room - SWITCH + 4, foot = height - bottom, wordDepth = foot + (line.isSlanted ? 8 : 34);
  return { ...line, rows, lamp, foot, wordDepth, digits: heads > 4 ? 13.6 : 14 };
}
