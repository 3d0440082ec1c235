// All screens of a page as a grid: to jump, to leave some out, to change their order. What a lecturer
// chose is in the link: "mine=scores:1.3.2" shows three screens of a page, in this order, and
// "set=45" a few screens of a few pages, as the server planned them for so many minutes.

/** @import { Lecture } from "./lecture.js" */
/** @import { Plan } from "./data.js" */
/** @import { Part, Screen } from "./screens.js" */

import { element } from "../common/elements.js";
import { _ } from "../common/words.js";
import { Above } from "./tools.js";

const NAME = "mine", SET = "set", NO_SET = "all"; // in the link
const MOST = 60; // numbers of a page that a link may have

export const tellOverview = () => _("All screens of this page (O)");

/** What a screen of a kind is called. @param {string} kind */
export const tellKind = (kind) => /** @type {Record<string, string>} */ ({
  hero: _("picture"), try: _("try it"), slow: _("takes a moment"), ask: _("show of hands"), answer: _("what comes out"),
  how: _("how it works"), model: _("model"), end: _("in one sentence"), deeper: _("deeper"),
})[kind] ?? "";

/** What a lecturer made of the pages' screens: their numbers, from 0, by the pages' places. */
export class Choice {
  constructor() {
    /** @type {Map<string, number[]>} */
    this.chosen = new Map();
    /** @type {Plan | null} a shorter lecture, if there is one */
    this.plan = null;
    /** @type {string | null} which set the link asks for; nobody has said anything of it: null */
    this.set = null;
    this.take();
  }

  /** What the link says, as one that follows gets it. */
  take() {
    const asked = new URLSearchParams(location.search);
    for (const text of asked.getAll(NAME)) this.read(text);
    this.set = asked.get(SET) ?? this.set; // Streamlit takes it out of the address with each new page
  }

  /** The plan, if it is the one that the link asks for. */
  get followed() { return this.plan && this.set === String(this.plan.minutes) ? this.plan : null; }

  turnPlan() { this.set = this.followed ? NO_SET : String(this.plan?.minutes); }

  /** Is this page gone through? @param {string} place */
  visits(place) { return !this.followed || Object.hasOwn(this.followed.pages, place); }

  /** @param {string} text */
  read(text) {
    const found = /^(\w{0,40}):(\d{1,2}(?:\.\d{1,2})*)$/.exec(text);
    if (found) this.chosen.set(found[1], found[2].split(".").slice(0, MOST).map((one) => Number(one) - 1));
  }

  /** The screens that are shown. @param {Screen[]} all @param {string} place of the page */
  arrange(all, place) {
    const planned = (this.followed?.pages[place] ?? []).map((name) => all.findIndex(({ id, kind }) => name === id || name === kind));
    const wanted = [...new Set(this.chosen.get(place) ?? planned)].map((at) => all[at]).filter(Boolean);
    return wanted.length ? wanted : all;
  }

  /** @param {Screen[]} shown @param {Screen[]} all @param {string} place */
  choose(shown, all, place) {
    const numbers = shown.map(({ id }) => all.findIndex((screen) => screen.id === id)).filter((number) => number >= 0);
    if (!this.followed && numbers.length === all.length && numbers.every((number, at) => number === at)) this.chosen.delete(place);
    else this.chosen.set(place, numbers);
  }

  /** @param {URLSearchParams} query */
  write(query) {
    query.delete(NAME);
    if (this.set && /^\w{1,10}$/.test(this.set)) query.set(SET, this.set);
    for (const [place, numbers] of this.chosen) query.append(NAME, `${place}:${numbers.map((number) => number + 1).join(".")}`);
  }
}

/** The grid. */
export class Overview extends Above {
  /** @param {Lecture} lecture */
  constructor(lecture) {
    super("lecture-sheet lecture-overview");
    this.lecture = lecture;
    this.root.setAttribute("role", "dialog");
    this.root.onkeydown = (event) => this.key(event);
  }

  /** @override */
  open() {
    super.open();
    this.draw();
  }

  /** @param {number} [focus] */
  draw(focus = this.lecture.at) {
    const { all, screens, cards } = this.lecture, left = all.filter(({ id }) => !screens.some((screen) => screen.id === id));
    this.root.setAttribute("aria-label", tellOverview());
    const grid = element("ol", "lecture-grid");
    screens.forEach((screen, at) => grid.append(this.tile(screen, at)));
    left.forEach((screen) => grid.append(this.tile(screen, -1)));
    this.root.replaceChildren(element("h2", "", tellOverview()), grid);
    const { plan } = this.lecture.choice;
    if (plan) this.root.append(this.offerPlan(plan));
    if (cards.length) this.root.append(element("h3", "", _("Add one from below “Go deeper”")), this.offer(cards));
    /** @type {HTMLElement | undefined} */ (this.root.querySelectorAll(".lecture-tile > button")[Math.max(0, focus)])?.focus();
  }

  /** @param {Screen} screen @param {number} at its place, or -1 if it is left out */
  tile(screen, at) {
    const { screens } = this.lecture, tile = element("li", "lecture-tile"), title = screen.title(0);
    tile.classList.toggle("now", at === this.lecture.at);
    tile.classList.toggle("out", at < 0);
    const jump = tile.appendChild(element("button", "", title, { onclick: () => { this.close(); if (at >= 0) this.lecture.go(at + 1); } }));
    jump.prepend(element("b", "", at < 0 ? "–" : String(at + 1)), element("i", "", tellKind(screen.kind)));
    const act = (/** @type {string} */ sign, /** @type {string} */ name, /** @type {() => void} */ change) =>
      tile.appendChild(element("button", "act", sign, { "aria-label": `${name}: ${title}`, title: name, onclick: change }));
    if (at > 0) act("◀", _("Earlier"), () => this.move(screen, at - 1));
    if (at >= 0 && at < screens.length - 1) act("▶", _("Later"), () => this.move(screen, at + 1));
    if (at < 0) act("+", _("Show"), () => this.move(screen, screens.length));
    else if (screens.length > 1) act("×", _("Leave out"), () => this.move(screen, null));
    return tile;
  }

  /** A lecture of a few pages, or all of them again. @param {Plan} plan */
  offerPlan({ minutes, pages }) {
    const count = Object.values(pages).flat().length, slots = { minutes, count, pages: Object.keys(pages).length };
    return element("button", "lecture-plan", _("Lecture of {minutes} minutes: {count} screens of {pages} pages", slots), {
      "aria-pressed": this.lecture.choice.followed !== null, onclick: () => { this.lecture.turnPlan(); this.draw(); },
    });
  }

  /** What is folded on the page, one at a time. @param {Part[]} cards */
  offer(cards) {
    const list = element("ul", "lecture-cards");
    cards.forEach(({ node, name }, number) => {
      const isShown = this.lecture.all.some((screen) => screen.kind === "deeper" && screen.name === name);
      const turn = () => { this.close(); this.lecture.tell("card", isShown ? -1 : number); };
      list.appendChild(element("li")).append(element("button", "", (node.textContent ?? "").trim(), { "aria-pressed": isShown, onclick: turn }));
    });
    return list;
  }

  /** @param {Screen} screen @param {number | null} to null: it is left out */
  move(screen, to) {
    const shown = this.lecture.screens.filter(({ id }) => id !== screen.id); // screens are found anew all the time
    if (to !== null) shown.splice(to, 0, screen);
    this.lecture.arrange(shown);
    this.draw(to ?? 0);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const tiles = [.../** @type {NodeListOf<HTMLElement>} */ (this.root.querySelectorAll(".lecture-tile > button:first-child"))];
    const at = tiles.findIndex((tile) => tile === document.activeElement);
    const by = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 4, ArrowUp: -4 }[event.key];
    if (by === undefined || at < 0) return;
    event.preventDefault();
    tiles[Math.max(0, Math.min(tiles.length - 1, at + by))].focus();
  }
}
