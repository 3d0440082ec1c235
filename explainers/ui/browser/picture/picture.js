// The hero of a page: one picture that its reader changes, told apart by its kind.

/** @import { Host } from "../common/component.js" */
/** @import { Hero, HeroData } from "./hero.js" */

import { loadStyle, served, settle, wear } from "../common/component.js";
import { element } from "../common/elements.js";
import { speak } from "../common/words.js";
// What most kinds need is asked for at once; what one kind needs, when it is drawn.
import "../common/address.js";
import "../common/colours.js";
import "../common/keys.js";
import "../common/numbers.js";
import "../common/snapshot.js";
import "./arcs.js";
import "./below.js";
import "./chips.js";
import "./experiments.js";
import "./hero.js";
import "./kit.js";
import "./lanes.js";
import "./motion.js";
import "./palette.js";
import "./player.js";
import "./scene.js";
import "./stage.js";
import "./strip_marks.js";
import "./word_hero.js";
import "./words.js";

/** @type {Record<string, () => Promise<new (root: HTMLElement) => Hero<any>>>} */
const KINDS = {
  claims_wall: async () => (await import("./heroes/claims_wall.js")).ClaimsWall,
  deck: async () => (await import("./heroes/deck.js")).Deck,
  dials: async () => (await import("./heroes/dials.js")).Dials,
  four_steps: async () => (await import("./heroes/four_steps.js")).FourSteps,
  gallery: async () => (await import("./heroes/gallery.js")).Gallery,
  heads: async () => (await import("./heroes/heads.js")).Heads,
  idle: async () => (await import("./heroes/idle.js")).Idle,
  journey: async () => (await import("./heroes/journey.js")).Journey,
  masked: async () => (await import("./heroes/masked.js")).Masked,
  matter: async () => (await import("./heroes/matter.js")).Matter,
  memory: async () => (await import("./heroes/memory.js")).Memory,
  mosaic: async () => (await import("./heroes/mosaic.js")).Mosaic,
  serving: async () => (await import("./heroes/serving.js")).Serving,
  reading: async () => (await import("./heroes/reading.js")).Reading,
  sharing: async () => (await import("./heroes/sharing.js")).Sharing,
  shelves: async () => (await import("./heroes/shelves.js")).Shelves,
  state: async () => (await import("./heroes/state.js")).State,
  tiles: async () => (await import("./heroes/tiles.js")).Tiles,
  tokens: async () => (await import("./heroes/tokens.js")).Tokens,
  translation: async () => (await import("./heroes/translation.js")).Translation,
  views: async () => (await import("./heroes/views.js")).Views,
  what_if: async () => (await import("./heroes/what_if.js")).WhatIf,
  writing: async () => (await import("./heroes/writing.js")).Writing,
  why: async () => (await import("./heroes/why.js")).Why,
};

const style = loadStyle(new URL("style.css", import.meta.url));
/** @type {WeakMap<Element, { hero: Hero<any>, words: string }>} */
const heroes = new WeakMap();

/** Draw a picture, or what is sent anew for it. @param {HTMLElement} found @param {HeroData} data @param {Host} host */
export async function mount(found, data, host) {
  const page = found.getRootNode(), [sheet, Kind] = await Promise.all([style, KINDS[data.kind]()]);
  wear(page, sheet);
  speak(data.words);
  const words = JSON.stringify(data.words);
  const isStrange = words !== (heroes.get(found)?.words ?? words);
  const root = isStrange ? renew(found) : found;
  settle(root, host);
  root.classList.add(data.kind.replace("_", "-")); // for its stylesheet
  const { hero } = heroes.get(root) ?? { hero: new Kind(root) };
  heroes.set(root, { hero, words });
  hero.show(data, host.tell);
  return hero;
}

export default served(".hero", async (found, data, host) => {
  const drawn = mount(found, data, found.dataset.files ? { ...host, embed } : host); // only a server has more
  /** Who embeds nothing loads nothing. */
  async function embed() { return (await import("../static/offer.js")).writeOffer(data, (await drawn).choices); }
  await drawn;
});

/** In another language: what a picture writes once, when it is made, is written anew. @param {HTMLElement} root */
function renew(root) {
  const fresh = element("div", "hero");
  Object.assign(fresh.dataset, root.dataset);
  root.replaceWith(fresh);
  return fresh;
}
