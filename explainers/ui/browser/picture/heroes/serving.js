// Two prompts that begin alike, and four ways to serve them: a picture each, one of them shown.

/** @import { HeroData, Sentence } from "../kit.js" */
/** @import { Drafts } from "./serving_drafts.js" */
/** @import { Chunks } from "./serving_chunks.js" */
/** @import { Moment } from "./serving_pages.js" */

import { _, element, Film, Hero, makeSentenceNodes } from "../kit.js";
import { ChunksView } from "./serving_chunks.js";
import { DraftsView } from "./serving_drafts.js";
import { PagesView } from "./serving_pages.js";
import { PrefixView } from "./serving_prefix.js";

/**
 * @typedef {object} Change what prompt 2 shares with prompt 1 if one of its tokens is another one
 * @property {number} shared tokens
 * @property {number} blocks whole ones
 * @property {string[]} moved by layers, "1" for a token whose key differs
 * @property {string} gap
 * @property {string} next token
 * @property {string} kind of the difference: exact, rounding, real
 * @property {boolean} isSame
 */
/**
 * @typedef {object} Numbers
 * @property {number} block tokens in it
 * @property {[string[], string[]]} tokens of both prompts
 * @property {string[]} others what each token of the beginning becomes
 * @property {Record<string, Change>} changes by the token that is changed
 * @property {Moment[]} pages
 * @property {Chunks | null} chunks
 * @property {Drafts | null} drafts
 */
/** @typedef {HeroData & Numbers} ServingData */

const OPENS_AT = 0.5; // of the frames, where nothing was played yet
/** @type {Record<string, string>} choices of one of the pictures */
const ONLY_FOR = { chunk_size: "chunks", draft_mask: "drafts" };

/** @extends {Hero<ServingData>} */
export class Serving extends Hero {
  /** @type {Record<string, PrefixView | PagesView | ChunksView | DraftsView>} */
  views = { prefix: new PrefixView(this), pages: new PagesView(this), chunks: new ChunksView(this), drafts: new DraftsView(this) };
  film = new Film(this.root.insertBefore(element("div", "serving-film"), this.says), _("step"), (frame) => this.wind(frame));
  /** @type {Record<string, number>} */
  frameOf = {};
  turn = 0; // how often the picture has changed: a wave runs with each time
  shown = "";
  texts = "";

  get trick() { return String(this.choices.trick); }
  get view() { return this.views[this.trick] ?? this.views.prefix; }
  get changed() { return Number(this.choices.changed); }
  get change() { return this.data.changes[String(this.changed)] ?? this.data.changes["-1"]; }
  get frame() { return this.frameOf[this.frameKey] ?? 0; }
  get frameKey() { return `${this.trick} ${this.trick === "chunks" ? this.choices.chunk_size : ""}`; }

  /** The share of the way that a wave has run since the picture has changed. */
  get run() { return Math.max(0, Math.min(1, this.tween.row("view", 0)[0] - this.turn + 1)); }

  /** @param {number} frame */
  wind(frame) {
    this.frameOf[this.frameKey] = frame;
    this.update();
  }

  /** @override */
  renew() {
    this.texts = JSON.stringify([this.data.tokens, this.data.others]);
    return this.scene.isOther(this.texts);
  }

  /** @override */
  update() {
    const frames = this.view.frames(), key = this.frameKey;
    if (this.film.names.join() !== frames.join()) {
      this.film.pause();
      this.film.offer(frames);
    }
    if (frames.length && !(key in this.frameOf)) this.frameOf[key] = Math.floor(OPENS_AT * (frames.length - 1));
    this.film.show(this.frame, frames.length > 1);
    this.film.root.hidden = frames.length < 2;
    const shown = `${this.trick} ${this.changed}`;
    if (shown !== this.shown) this.turn++;
    this.shown = shown;
    for (const [name, { root }] of this.chips) root.hidden = (ONLY_FOR[name] ?? this.trick) !== this.trick;
    const { texts } = this.data, isPlayed = this.trick !== "chunks" || frames.length > 1;
    const caption = texts[isPlayed ? `hero_caption_${this.trick}` : "hero_caption_whole"] ?? texts.hero_caption;
    this.hint.replaceChildren(...makeSentenceNodes(caption, {}));
    super.update();
  }

  /** Of the picture that is shown: what does not say that it moves stands still. @override */
  marks() {
    const { trick, turn } = this;
    return [
      { key: "view", class: `serving-view ${trick}`, numbers: [turn] },
      ...this.view.marks().map((mark) => ({
        ...mark, key: `${trick} ${mark.key}`, is: { moves: false, ...mark.is },
        in: mark.in ? `${trick} ${mark.in}` : mark.tag?.startsWith("svg:") ? undefined : "view",
      })),
    ];
  }

  /** @override @returns {Sentence} */
  sentence() { return this.view.sentence(); }

  /** @override */
  describe() { return this.view.describe(); }
}
