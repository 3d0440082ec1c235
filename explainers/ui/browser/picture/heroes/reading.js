// @ts-check
// A text as a ribbon of bars, one query's weights; below it the keys that each of four policies keeps.

/** @import { HeroData, Sentence } from "../hero.js" */

import { _ } from "../../common/words.js";
import { Hero } from "../hero.js";
import { Film } from "../player.js";
import { percent } from "../sentence.js";
import { Ribbon } from "./reading_ribbon.js";

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

/** @extends {Hero<HeroData & Numbers>} */
export class Reading extends Hero {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    root.classList.add("reading");
    this.frame = 0;
    this.shownFrames = "";
    this.ribbon = new Ribbon(this.stage, {
      ask: (token) => this.choose({ query_token: token }),
      pick: (policy) => this.choose({ kept_by: policy }),
    });
    this.film = new Film(this.below, _("keys kept"), (at) => { root.classList.add("quick"); this.choose({ keys_kept: this.data.kept[at] }); });
    this.training = new Film(this.below, _("steps of training"), (at) => { this.frame = at; this.update(); });
  }

  get at() { return Math.max(0, this.data.kept.indexOf(Number(this.choices.keys_kept))); }
  get kept() { return this.data.kept[this.at]; }
  get policy() { return String(this.choices.kept_by); }
  get isTrainedHere() { return this.data.frames.length > 0; }

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
    this.film.offer(data.kept.map(String));
    this.training.offer(data.frames.map(({ step }) => String(step)));
    this.ribbon.renew(data.policies);
    return true;
  }

  /** @override */
  update() {
    this.film.show(this.at, true);
    this.training.show(this.frame, this.data.frames.length > 1);
    super.update();
    if (!this.film.timer) this.root.classList.remove("quick");
  }

  /** @override @param {import("../palette.js").Dress} dress */
  dressed({ look }) { this.ribbon.wear(this.root, look); }

  /** @override */
  goal() {
    const { sets } = this, rows = Object.values(sets);
    return { weights: [this.data.weights], ...Object.fromEntries(rows.map((keys, line) => [`line${line}`, [keys]])) };
  }

  /** @override */
  place() {
    const { data, sets, kept } = this, seen = data.query + 1;
    const names = data.policies.map((name, at) => (name === "first" ? _("first {first} + last {near}", { first: data.first, near: kept - data.first }) : data.labels[at]));
    this.ribbon.place({
      tokens: data.tokens, query: data.query, weights: data.weights, seen,
      title: _("all {count} keys, a bar for the weight of each", { count: seen }), short: _("all {count} keys", { count: seen }), full: data.full, asks: _("layer {layer}, the query:", { layer: data.layer }),
      lines: data.policies.map((name, at) => ({
        name: names[at], keys: sets[name], share: percent(this.weigh(sets[name])), isChosen: name === this.policy,
        loss: name === "indexer" && this.isTrainedHere ? "–" : data.losses[name][this.at],
      })),
    });
  }

  /** @override */
  paint() { this.ribbon.paint(this.tween); }

  /** @override @returns {Sentence} */
  sentence() {
    const { data, sets, kept } = this, keys = data.query + 1;
    const shares = Object.fromEntries(data.policies.map((name) => [name, percent(this.weigh(sets[name]))]));
    const values = {
      place: String(keys), word: readable(data.tokens[data.query]), kept: String(Math.min(kept, keys)), keys: String(keys),
      near: String(kept - data.first), full: data.full, loss: data.losses[this.policy]?.[this.at] ?? "", ...shares, first: String(data.first), first_share: shares.first, share: shares[this.policy],
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

/** @param {string} token */
export function readable(token) {
  return token.trim() || token.replace(/ /g, "␣").replace(/\n/g, "↵");
}
