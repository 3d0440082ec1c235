// @ts-check
// The hero of a page: one picture that its reader changes, told apart by its kind.

/** @import { Component } from "../common/component.js" */
/** @import { Hero, HeroData } from "./hero.js" */

import { loadStyle, wear } from "../common/component.js";
import { speak } from "../common/words.js";
import { ClaimsWall } from "./heroes/claims_wall.js";
import { Deck } from "./heroes/deck.js";
import { Dials } from "./heroes/dials.js";
import { FourSteps } from "./heroes/four_steps.js";
import { Gallery } from "./heroes/gallery.js";
import { Heads } from "./heroes/heads.js";
import { Journey } from "./heroes/journey.js";
import { Masked } from "./heroes/masked.js";
import { Memory } from "./heroes/memory.js";
import { Mosaic } from "./heroes/mosaic.js";
import { Sharing } from "./heroes/sharing.js";
import { Shelves } from "./heroes/shelves.js";
import { Tiles } from "./heroes/tiles.js";
import { Tokens } from "./heroes/tokens.js";
import { Translation } from "./heroes/translation.js";
import { Views } from "./heroes/views.js";
import { WhatIf } from "./heroes/what_if.js";
// What only those need is named as well: all files are asked for at once, and not one after the other.
import "../common/colours.js";
import "../common/elements.js";
import "../common/numbers.js";
import "./all_words.js";
import "./arc_strip.js";
import "./arcs.js";
import "./chips.js";
import "./experiments.js";
import "./hero.js";
import "./heroes/claims_cards.js";
import "./heroes/deck_places.js";
import "./heroes/dials_controls.js";
import "./heroes/dials_hands.js";
import "./heroes/dials_places.js";
import "./heroes/dials_ruler.js";
import "./heroes/four_steps_layout.js";
import "./heroes/gallery_bars.js";
import "./heroes/gallery_map.js";
import "./heroes/heads_places.js";
import "./heroes/journey_steps.js";
import "./heroes/masked_drawing.js";
import "./heroes/masked_grid.js";
import "./heroes/masked_shares.js";
import "./heroes/memory_map.js";
import "./heroes/mosaic_places.js";
import "./heroes/mosaic_squares.js";
import "./heroes/sharing_places.js";
import "./heroes/shelves_motion.js";
import "./heroes/shelves_places.js";
import "./heroes/shelves_side.js";
import "./heroes/temperature.js";
import "./heroes/tiles_places.js";
import "./heroes/tiles_squares.js";
import "./heroes/tokens_places.js";
import "./heroes/translation_glide.js";
import "./heroes/translation_grid.js";
import "./heroes/translation_lines.js";
import "./heroes/translation_places.js";
import "./heroes/views_places.js";
import "./lanes.js";
import "./mixture.js";
import "./motion.js";
import "./palette.js";
import "./pixel_grid.js";
import "./player.js";
import "./sentence.js";
import "./snapshot.js";
import "./softmax.js";
import "./stage.js";
import "./strip.js";
import "./word_hero.js";
import "./words.js";

/** @type {Record<string, new (root: HTMLElement) => Hero<any>>} */
const KINDS = { claims_wall: ClaimsWall, deck: Deck, dials: Dials, four_steps: FourSteps, gallery: Gallery, heads: Heads, journey: Journey, masked: Masked, memory: Memory, mosaic: Mosaic, sharing: Sharing, shelves: Shelves, tiles: Tiles, tokens: Tokens, translation: Translation, views: Views, what_if: WhatIf };

const style = loadStyle(new URL("style.css", import.meta.url));
/** @type {WeakMap<Element, Hero<any>>} */
const heroes = new WeakMap();

/** @param {Component<HeroData>} component */
export default async function ({ parentElement, data: sent, setTriggerValue }) {
  const data = sent?.[0];
  const root = /** @type {HTMLElement | null} */ (parentElement.querySelector(".hero"));
  if (!root || !data) return;
  wear(parentElement, await style);
  speak(data.words);
  const hero = heroes.get(root) ?? new KINDS[data.kind](root);
  heroes.set(root, hero);
  hero.show(data, setTriggerValue);
}
