// @ts-check
// What a GPU holds, as one stack to scale, and which texts fit beside the weights, as a map.

/** @import { HeroData, Sentence } from "../hero.js" */

import { element } from "../../common/elements.js";
import { _ } from "../../common/words.js";
import { Hero } from "../hero.js";
import { Film } from "../player.js";
import { writeSentence } from "../sentence.js";
import { MemoryMap } from "./memory_map.js";

/**
 * @typedef {object} Numbers sizes are in GiB, as numbers and in words
 * @property {string} model
 * @property {string} gpus how many of which
 * @property {number} memory
 * @property {number} usable
 * @property {number | null} weights null where their number is not published
 * @property {number} overhead
 * @property {Record<"memory" | "weights" | "overhead" | "free", string>} said
 * @property {number[]} lengths tokens of a text
 * @property {string[]} lengthNames
 * @property {number[]} counts texts at once
 * @property {number[]} caches of one text of each length
 * @property {(number | null)[]} users texts of each length that fit; null if they take no memory
 * @property {number} number of GPUs
 * @property {string} copied which sentence says why GPUs keep copies
 * @property {boolean[]} isCopied for each length: is a part of the cache on several GPUs?
 * @property {string[][]} once sizes without such copies
 * @property {string[][]} sizes of the caches of so many texts (counts, lengths), in words
 */

const PARTS = /** @type {const} */ (["weights", "overhead", "cache", "over"]);
const BAR = { top: 28, height: 52 }, LEGEND = 34, GAP = 26;
const STRIPES = 3; // pixels of a text in the stack: narrower ones are not told apart

/** @extends {Hero<HeroData & Numbers>} */
export class Memory extends Hero {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    root.classList.add("memory");
    const { stage } = this;
    this.name = stage.add("div", "text");
    this.limit = stage.add("div", "text quiet");
    this.card = stage.add("div", "memory-card");
    this.reserve = stage.add("div", "memory-reserve");
    this.parts = PARTS.map((name) => stage.add("div", `memory-part ${name}`));
    this.line = stage.add("div", "memory-line");
    this.legend = stage.add("div", "memory-legend");
    this.map = new MemoryMap(stage, (row, column) => this.choose({ texts: this.data.counts[row], tokens: this.data.lengths[column] }));
    this.film = new Film(this.below, _("tokens in each text"), (frame) => this.wind(frame));
  }

  get column() { return Math.max(0, this.data.lengths.indexOf(Number(this.choices.tokens))); }
  get row() { return Math.max(0, this.data.counts.indexOf(Number(this.choices.texts))); }
  get texts() { return this.data.counts[this.row]; }
  get cache() { return this.texts * this.data.caches[this.column]; }
  get users() { return this.data.users[this.column]; }

  /** @param {number} frame */
  wind(frame) {
    this.root.classList.add("quick");
    this.choose({ tokens: this.data.lengths[frame] });
  }

  /** @override */
  update() {
    this.film.show(this.column, true);
    super.update();
    if (!this.film.timer) this.root.classList.remove("quick");
  }

  /** @override */
  renew() {
    const { lengthNames, counts } = this.data;
    this.film.offer(lengthNames);
    this.map.renew(lengthNames, counts);
    return true;
  }

  /** @override */
  place() {
    const { stage, data } = this, isPhone = stage.room < 560;
    const weights = data.weights ?? 0, { memory, usable, overhead } = data, { cache } = this;
    const total = weights + overhead + cache, scale = stage.room / Math.max(memory, total);
    const top = BAR.top, height = BAR.height, start = weights + overhead;
    const inside = Math.max(0, Math.min(cache, usable - start));
    const ends = [[0, weights], [weights, overhead], [start, inside], [start + inside, cache - inside]];
    this.parts.forEach((node, place) => {
      const [from, long] = ends[place];
      stage.put(node, { x: from * scale, y: top, width: long * scale, height }, long > 0 ? 1 : 0);
    });
    const step = data.caches[this.column] * scale;
    for (const node of this.parts.slice(2)) {
      node.classList.toggle("each", this.texts > 1 && step >= STRIPES);
      node.style.setProperty("--step", `${step.toFixed(2)}px`);
    }
    stage.put(this.card, { x: 0, y: top - 5, width: memory * scale, height: height + 10 });
    stage.put(this.reserve, { x: usable * scale, y: top, width: (memory - usable) * scale, height });
    stage.put(this.line, { x: memory * scale - 3, y: top - 9, width: 3, height: height + 18 });
    stage.write(this.name, 0, 9, isPhone ? 15 : 17, 1, 0, "left");
    this.name.textContent = data.gpus;
    this.limit.textContent = data.said.memory;
    const least = stage.widths([data.gpus], 17)[0] + stage.widths([data.said.memory], 15)[0] + 20;
    stage.write(this.limit, Math.max(memory * scale, least), 10, 15, 1, 0, "right");
    stage.put(this.legend, { x: 0, y: top + height + 10, width: stage.room, height: isPhone ? 2 * LEGEND - 10 : LEGEND });
    this.writeLegend();
    const below = top + height + 10 + (isPhone ? 2 * LEGEND - 10 : LEGEND) + GAP;
    const end = this.map.place(below, {
      row: this.row, column: this.column, users: data.users, sizes: data.sizes,
      shares: data.counts.map((count) => data.caches.map((one) => (start + count * one) / usable)),
    });
    stage.resize(stage.room, end);
  }

  writeLegend() {
    const { said, sizes, weights } = this.data;
    const told = [
      ["weights", _("weights"), weights === null ? "?" : said.weights],
      ["overhead", _("overhead, estimated"), said.overhead],
      ["cache", _("cache"), sizes[this.row][this.column]],
      ["reserve", _("left unused"), ""],
    ];
    this.legend.replaceChildren(...told.map(([name, label, size]) => {
      const item = element("span", `memory-item ${name}`, `${label} `);
      item.append(element("b", "", size));
      return item;
    }));
  }

  /** @override @returns {Sentence} */
  sentence() {
    const { data, column, row, users } = this;
    const values = {
      model: data.model, gpus: data.gpus, tokens: data.lengths[column].toLocaleString("en"), texts: this.texts.toLocaleString("en"),
      cache: data.once[0][column], all: data.once[row][column], copies: this.tellCopies(), users: (users ?? 0).toLocaleString("en"),
      weights: data.said.weights, free: data.said.free,
    };
    return { name: this.sentenceName(), values, classes: { cache: "value", all: "value" } };
  }

  /** Why all GPUs together hold more than one cache of each text; nothing where they do not. */
  tellCopies() {
    const { data, column, row } = this;
    if (!data.isCopied[column]) return "";
    const total = data.sizes[data.users[column] ? row : 0][column];
    return ` ${writeSentence(data.texts[data.copied], { number: String(data.number), total })}`;
  }

  sentenceName() {
    const { data, users, texts } = this;
    if (data.caches[this.column] === 0) return "hero_no_cache";
    if (data.weights === null) return "hero_unknown";
    if (data.weights + data.overhead > data.usable) return "hero_no_room";
    if (!users) return "hero_no_text";
    if (texts > users) return "hero_too_many";
    if (texts > 1) return "hero_many";
    return users === 1 ? "hero_one" : "hero_fits";
  }

  /** @override */
  describe() {
    const { data } = this;
    return data.lengthNames.map((length, at) => `${length}: ${data.sizes[0][at]}, ${data.users[at] ?? "∞"}`).join("; ");
  }
}
