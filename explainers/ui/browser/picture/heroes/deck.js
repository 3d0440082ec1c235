// @ts-check
// A deck of exercises: three rows of cards, what is done ticked, one card open.

/** @import { HeroData, Sentence } from "../hero.js" */
/** @import { Place } from "./deck_places.js" */

import { element, shape } from "../../common/elements.js";
import { _ } from "../../common/words.js";
import { Hero } from "../hero.js";
import { placeCards } from "./deck_places.js";

/** @typedef {{ id: string, label: string, kind: string, sign: string, topic: string }} Card */
/**
 * @typedef {object} Numbers
 * @property {Card[]} cards row by row
 * @property {{ id: string, label: string, asked: string, minutes: number }[]} kinds a row each
 * @property {string} every the choice of all kinds
 * @property {number[]} done places of cards
 */

/** What the page of a card is about, in a square of 20. @type {Record<string, string>} */
const SIGNS = {
  start: "M2 7h16v6H2z M9 7v6 M14 7v6",
  query_key_value: "M3 4h14 M3 10h14 M3 16h14",
  scores: "M3 17v-5 M8 17V3 M13 17v-8 M18 17v-2",
  masks: "M3 3v14h14z",
  many_heads: "M10 2v5 M10 7L3 12v6 M10 7L8 12v6 M10 7l3 5v6 M10 7l7 5v6",
  relative_positions: "M10 2a8 8 0 1 1 0 16a8 8 0 1 1 0-16 M10 10l5-4",
  kv_cache: "M2 17h16 M4 17V6h3v11 M9 17V6h3v11 M15 17V6",
  idle_heads: "M3 15v-2h2v2z M8 15v-2h2v2z M15 15v-2h2v2z M4 12C4 2 16 2 16 12",
  shared_heads: "M5 2a2 2 0 1 1 0 4a2 2 0 1 1 0-4 M15 2a2 2 0 1 1 0 4a2 2 0 1 1 0-4 M7 13h6v5H7z M5 6l4 7 M15 6l-4 7",
  cache_memory: "M4 3h12v14H4z M4 8h12 M4 12h12",
  long_sequences: "M3 3h14v14H3z M10 3v14 M3 10h14",
  serving: "M3 6h5l4 4h5 M3 14h5l4-4",
  growing_memory: "M4 4h12v12H4z M8 4v12 M12 4v12 M4 8h12 M4 12h12",
  choosing: "M2 16V12 M5 16V4 M8 16V13 M11 16V7 M14 16V13 M17 16V10 M2 19h16",
  cross_attention: "M4 3l8 14 M12 3L4 17 M17 3v14",
  does_it_matter: "M3 6h13 M13 3l3 3-3 3 M17 14H4 M7 11l-3 3 3 3",
};
const TICK = "M3 11l5 5L17 5";

/** @extends {Hero<HeroData & Numbers>} */
export class Deck extends Hero {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    root.classList.add("deck");
    this.shownFor = "";
    /** @type {Place[]} */
    this.places = [];
    this.rows = element("div", "deck-rows");
    this.fan = element("div", "deck-fan");
    this.stage.root.append(this.rows, this.fan);
    this.fan.setAttribute("role", "radiogroup");
    this.fan.addEventListener("keydown", (event) => this.walk(event));
    /** @type {HTMLButtonElement[]} */
    this.cards = [];
    /** @type {HTMLButtonElement[]} */
    this.names = [];
  }

  // What is chosen.

  get open() { return Math.max(0, this.data.cards.findIndex(({ id }) => id === this.choices.exercise)); }
  get kind() { return String(this.choices.kind); }
  /** @param {Card} card */
  isDone(card) { return this.data.done.includes(this.data.cards.indexOf(card)); }
  /** @param {Card} card */
  isLit(card) { return this.kind === this.data.every || this.kind === card.kind || !this.data.cards.some(({ kind }) => kind === this.kind); }

  /** @param {Card} card */
  minutesOf(card) { return this.data.kinds.find(({ id }) => id === card.kind)?.minutes ?? 0; }

  /** Open a card; one of another kind takes the choice of a kind back. @param {number} at */
  turn(at) {
    const card = this.data.cards[at];
    this.choose({ exercise: card.id, ...(this.isLit(card) ? {} : { kind: this.data.every }) });
  }

  /** Only this kind, or all again; the first card of it that is to be done is opened. @param {string} kind */
  keep(kind) {
    const { cards, every } = this.data;
    if (kind === this.kind) return this.choose({ kind: every });
    const own = cards.filter((card) => card.kind === kind), here = cards[this.open];
    const card = here.kind === kind ? here : own.find((one) => !this.isDone(one)) ?? own[0];
    this.choose({ kind, exercise: card.id });
  }

  // Nodes.

  /** @override @param {boolean} isFirst */
  renew(isFirst) {
    const { cards, kinds } = this.data, shown = JSON.stringify([cards, kinds]);
    if (!isFirst && shown === this.shownFor) return false;
    this.shownFor = shown;
    this.fan.setAttribute("aria-label", _("Exercises"));
    this.cards = cards.map((card, at) => this.makeCard(card, at));
    this.fan.replaceChildren(...this.cards);
    const seen = kinds.filter(({ id }) => cards.some(({ kind }) => kind === id));
    this.names = seen.map((kind) => {
      const button = element("button", `deck-row moves ${kind.id}`);
      button.value = kind.id;
      button.append(element("b", "", kind.label), element("span", "", kind.asked), element("i"));
      button.onclick = () => this.keep(kind.id);
      return button;
    });
    this.rows.replaceChildren(...this.names);
    return true;
  }

  /** @param {Card} card @param {number} at */
  makeCard(card, at) {
    const button = element("button", `deck-card moves ${card.kind}`);
    button.setAttribute("role", "radio");
    const head = button.appendChild(element("span", "deck-head"));
    head.append(draw(SIGNS[card.sign] ?? "", "deck-sign"), element("span", "deck-time", _("{minutes} min", { minutes: this.minutesOf(card) })), draw(TICK, "deck-tick"));
    button.append(element("span", "deck-name", card.label));
    button.title = `${card.label} · ${card.topic}`;
    button.onclick = () => this.turn(at);
    return button;
  }

  // Places.

  /** @override */
  place() {
    const { data, stage, open } = this;
    const kinds = this.names.map(({ value }) => value);
    const { places, rows, height, form } = placeCards(stage.room, kinds, data.cards.map(({ kind }) => kind), open);
    this.places = places;
    this.root.dataset.form = form;
    this.names.forEach((button, at) => {
      const own = data.cards.filter(({ kind }) => kind === button.value);
      const told = `${own.filter((card) => this.isDone(card)).length}/${own.length}`;
      const [, , count] = button.children;
      count.textContent = told;
      button.setAttribute("aria-pressed", String(this.kind === button.value));
      stage.put(button, rows[at]);
    });
    data.cards.forEach((card, at) => {
      const button = this.cards[at], isOpen = at === open, isDone = this.isDone(card);
      button.classList.toggle("open", isOpen);
      button.classList.toggle("done", isDone);
      button.classList.toggle("dim", !this.isLit(card));
      button.setAttribute("aria-checked", String(isOpen));
      button.setAttribute("aria-label", `${card.label}, ${card.topic}${isDone ? `, ${_("done")}` : ""}`);
      button.tabIndex = isOpen ? 0 : -1;
      stage.put(button, places[at]);
    });
    stage.resize(stage.room, height);
  }

  /** Arrow keys: along a row, and to the nearest card of the line above or below. @param {KeyboardEvent} event */
  walk(event) {
    const { key } = event, along = { ArrowLeft: -1, ArrowRight: 1 }[key], across = { ArrowUp: -1, ArrowDown: 1 }[key];
    if ((!along && !across) || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    const from = this.open, count = this.cards.length;
    const to = along ? (from + along + count) % count : this.nearest(from, across ?? 1);
    this.cards[to].focus(); // first: after a change it would lay out the page at once
    this.turn(to);
  }

  /** @param {number} from @param {number} by lines */
  nearest(from, by) {
    const middle = (/** @type {Place} */ { x, width }) => x + width / 2;
    const here = this.places[from], line = here.line + by;
    const there = this.places.map((place, at) => ({ place, at })).filter(({ place }) => place.line === line);
    const away = (/** @type {{ place: Place }} */ { place }) => Math.abs(middle(place) - middle(here));
    return there.length ? there.reduce((best, one) => (away(one) < away(best) ? one : best)).at : from;
  }

  // What it says.

  /** @override @returns {Sentence} */
  sentence() {
    const { cards } = this.data, card = cards[this.open];
    const left = [...cards.slice(this.open + 1), ...cards.slice(0, this.open)].filter((one) => !this.isDone(one));
    const next = left.find((one) => this.isLit(one)) ?? left[0];
    const values = {
      done: String(cards.filter((one) => this.isDone(one)).length), all: String(cards.length),
      name: card.label, next: next?.label ?? "",
      minutes: String(this.minutesOf(card)),
    };
    const classes = { name: `deck-said ${card.kind}`, next: `deck-said ${next?.kind ?? ""}` };
    if (!this.isDone(card)) return { name: "hero_next", values, classes };
    return { name: next ? "hero_done" : "hero_all", values, classes };
  }

  /** @override */
  describe() {
    return this.data.cards.filter((card) => this.isDone(card)).map(({ label }) => label).join(", ");
  }
}

/** @param {string} path @param {string} name */
function draw(path, name) {
  const drawing = shape("svg", { viewBox: "0 0 20 20", class: name, "aria-hidden": "true" });
  drawing.append(shape("path", { d: path }));
  return drawing;
}
