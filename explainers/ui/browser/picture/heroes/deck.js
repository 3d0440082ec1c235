// A deck of exercises: three rows of cards, what is done ticked, one card open.

/** @import { HeroData, Mark, Sentence } from "../kit.js" */

import { _, ACROSS, Hero, markSign, take } from "../kit.js";

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

  // What is seen.

  /** Those of which there are cards. */
  get kinds() { return this.data.kinds.filter(({ id }) => this.data.cards.some(({ kind }) => kind === id)); }
  get layout() { return placeCards(this.stage.room, this.kinds.map(({ id }) => id), this.data.cards.map(({ kind }) => kind), this.open); }

  /** @override @returns {Mark[]} */
  marks() {
    const { stage, root, data: { cards }, layout: { places, rows, height, form } } = this;
    root.dataset.form = form;
    stage.resize(stage.room, height);
    return [
      { key: "rows", class: "deck-rows" },
      ...this.kinds.map(({ id, label, asked }, at) => this.markRow(id, rows[at], [label, asked])),
      {
        key: "fan", class: "deck-fan", attributes: { role: "radiogroup", "aria-label": _("Exercises") },
        made: (fan) => fan.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => this.walk(event)),
      },
      ...cards.map((card, at) => this.markCard(card, at, places[at])),
    ];
  }

  /** The name of a row. @param {string} kind @param {import("../stage.js").Box} box @param {string[]} told @returns {Mark} */
  markRow(kind, { x, y, width, height }, told) {
    const own = this.data.cards.filter((card) => card.kind === kind), count = `${own.filter((card) => this.isDone(card)).length}/${own.length}`;
    return {
      key: `row ${kind}`, in: "rows", tag: "button", class: "deck-row", is: { [kind]: true }, attributes: { "aria-pressed": String(this.kind === kind) }, box: [x, y, width, height],
      click: () => this.keep(kind), parts: [...told, count].map((text, at) => ({ tag: ["b", "span", "i"][at], text })),
    };
  }

  /** @param {Card} card @param {number} at @param {Place} place @returns {Mark} */
  markCard(card, at, { x, y, width, height }) {
    const { kind, label, topic, sign } = card, isOpen = at === this.open, isDone = this.isDone(card), told = isDone ? ", " + _("done") : "";
    const time = { class: "deck-time", text: _("{minutes} min", { minutes: this.minutesOf(card) }) };
    return {
      key: `card ${at}`, in: "fan", tag: "button", class: "deck-card", is: { [kind]: true, open: isOpen, done: isDone, dim: !this.isLit(card) }, box: [x, y, width, height],
      attributes: { role: "radio", title: `${label} · ${topic}`, tabindex: isOpen ? 0 : -1, "aria-checked": String(isOpen), "aria-label": `${label}, ${topic}${told}` },
      click: () => this.turn(at),
      parts: [{ class: "deck-head", parts: [markSign(SIGNS[sign] ?? "", 20, "deck-sign"), time, markSign(TICK, 20, "deck-tick")] }, { class: "deck-name", text: label }],
    };
  }

  /** Arrow keys: along a row, and to the nearest card of the line above or below. @param {KeyboardEvent} event */
  walk(event) {
    const by = take(event, ACROSS), from = this.open, count = this.data.cards.length;
    if (!by) return;
    const to = by[0] ? (from + by[0] + count) % count : this.nearest(from, by[1]);
    this.scene.node(`card ${to}`)?.focus(); // first: after a change it would lay out the page at once
    this.turn(to);
  }

  /** @param {number} from @param {number} by lines */
  nearest(from, by) {
    const middle = (/** @type {Place} */ { x, width }) => x + width / 2;
    const { places } = this.layout, here = places[from], line = here.line + by;
    const there = places.map((place, at) => ({ place, at })).filter(({ place }) => place.line === line);
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
      done: String(cards.filter((one) => this.isDone(one)).length), all: String(cards.length), name: card.label, next: next?.label ?? "", minutes: String(this.minutesOf(card)),
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

// Where the cards of a deck lie: lines of each kind, the open card wider than the others.

/** @typedef {import("../stage.js").Box & { line: number }} Place */

/**
 * Room for the names of the rows at the left, or above the rows so high; the most cards in a line, and how high they are; how many times as wide the open one is.
 * @param {number} room
 */
function formFor(room) {
  if (room < 560) return { name: "small", left: 0, head: 24, most: 8, gap: 4, high: 38, open: 4, between: 6 };
  if (room < 880) return { name: "tight", left: 0, head: 24, most: 9, gap: 5, high: 68, open: 1.5, between: 4 };
  return { name: "wide", left: 104, head: 0, most: 9, gap: 5, high: 60, open: 1.65, between: 6 };
}

/**
 * @param {number} room @param {string[]} rows kinds of which there are cards
 * @param {string[]} kinds of all cards, row by row @param {number} open
 */
function placeCards(room, rows, kinds, open) {
  const form = formFor(room), { left, head, most, gap, high, between } = form;
  /** @type {Place[]} */
  const places = [];
  /** @type {import("../stage.js").Box[]} */
  const names = [];
  let y = 2, line = 0;
  for (const row of rows) {
    const own = kinds.flatMap((kind, at) => (kind === row ? [at] : []));
    const lines = form.name === "small" ? fillLines(own, most, open, form.open) : shareLines(own, most);
    const tall = lines.length * (high + gap) - gap;
    names.push(left ? { x: 0, y, width: left - 10, height: high } : { x: 0, y, width: room, height: head - 2 });
    y += head;
    for (const [at, some] of lines.entries()) {
      placeLine(form, room, some, open, y + at * (high + gap), line).forEach((place, n) => { places[some[n]] = place; });
      line += 1;
    }
    y += tall + gap + between;
  }
  return { places, rows: names, height: y - between, form: form.name };
}

/** Lines that are about equally long. @param {number[]} own @param {number} most */
function shareLines(own, most) {
  const count = Math.ceil(own.length / most), long = Math.ceil(own.length / count);
  return Array.from({ length: count }, (_one, at) => own.slice(at * long, (at + 1) * long));
}

/** Lines of small cards, among which the open one takes the place of several. @param {number[]} own @param {number} most @param {number} open @param {number} wide */
function fillLines(own, most, open, wide) {
  /** @type {number[][]} */
  const lines = [[]];
  let room = most;
  for (const at of own) {
    const takes = at === open ? wide : 1;
    if (takes > room) {
      lines.push([]);
      room = most;
    }
    lines[lines.length - 1].push(at);
    room -= takes;
  }
  return lines;
}

/** @param {ReturnType<typeof formFor>} form @param {number} room @param {number[]} some @param {number} open @param {number} y @param {number} line @returns {Place[]} */
function placeLine(form, room, some, open, y, line) {
  const { left, most, gap, high } = form, isSmall = form.name === "small", hasOpen = some.includes(open);
  const free = room - left - 4 - gap * (most - 1);
  const unit = free / (hasOpen && !isSmall ? most - 1 + form.open : most);
  const wide = isSmall ? form.open * unit + (form.open - 1) * gap : form.open * unit;
  let x = left + 2;
  return some.map((at) => {
    const place = { x, y, width: at === open ? wide : unit, height: high, line };
    x += place.width + gap;
    return place;
  });
}
