// A page, one screen after the other. The server has drawn all of it and named its parts; here some
// of them are shown, by a stylesheet, so that a step costs no run and React finds every node where
// it put it. Whoever follows a lecture hears of each step by the event TURNED, and goes along by `go`.

/** @import { Component, Tell } from "../common/component.js" */
/** @import { LectureData } from "./data.js" */
/** @import { Size } from "./fit.js" */
/** @import { Part, Screen } from "./screens.js" */

import { keepPage, step as addEntry } from "../common/address.js";
import { loadStyle, unpack, wear } from "../common/component.js";
import { _, speak } from "../common/words.js";
import { Bar } from "./bar.js";
import { findLetters, Fit, windowScale } from "./fit.js";
import { Handout } from "./handout.js";
import { isMeantFor, KEYS, leaveField, TURNS } from "./keys.js";
import { Choice, Overview } from "./overview.js";
import { Presenter } from "./presenter.js";
import { findPicture, isPicture, listScreens, prepare } from "./screens.js";
import { Share } from "./share.js";
import { forget, keep } from "./start_key.js";
import { findBlock, findSwitch, FRAME, isIdle, listPageLinks, narrowChart, WATCHED } from "./streamlit.js";
import { Blank, Digits, Help, Spotlight } from "./tools.js";
import "../common/elements.js"; // what only those need is asked for at once, and not after them
import "./miniature.js";

/**
 * @typedef {object} Turned what a follower needs to know of a screen
 * @property {string} page its place in the address
 * @property {string} query with the reader's choices
 * @property {number} screen from 1
 * @property {number} step 0, or 1 for what comes out
 */

const PATIENCE = 5000; // milliseconds that a picture is waited for
const MOST_TRIES = 4; // a picture that is never at rest is left as it is
const WAITS = -1; // no screen yet: what a link asks for has not come
const LAST = Infinity;
const TURNED = "attention-screen"; // of the window; its detail is what has been `Turned` to

const style = loadStyle(new URL("style.css", import.meta.url));
const holder = /** @type {{ attentionLecture?: Lecture }} */ (globalThis); // of the one lecture that is held, also if this file comes again in a newer version

/** Begin a lecture, or go on with it on another page. @param {Component<LectureData>} component */
export default async function ({ data: sent, setTriggerValue }) {
  const sheet = await style;
  const data = unpack(sent);
  if (!data) return;
  const lecture = (holder.attentionLecture ??= new Lecture(setTriggerValue, sheet));
  lecture.begin(data, setTriggerValue);
  return () => setTimeout(() => lecture.isOver() && lecture.end(), 50); // pages follow each other
}

export class Lecture {
  /** @param {Tell} tell @param {CSSStyleSheet} sheet */
  constructor(tell, sheet) {
    this.tell = tell;
    this.sheets = [new CSSStyleSheet(), sheet];
    this.sheets[0].replaceSync(FRAME);
    this.root = document.documentElement;
    this.look = document.createElement("style");
    this.over = new AbortController(); // until then the window is listened to
    this.bar = new Bar(this);
    this.share = new Share(this);
    this.overview = new Overview(this);
    this.help = new Help();
    this.blank = new Blank();
    this.spotlight = new Spotlight();
    this.digits = new Digits();
    this.presenter = new Presenter(this);
    this.choice = new Choice();
    this.handout = new Handout(this);
    this.fit = new Fit((size) => this.wear(size));
    this.isHeld = false;
    /** @type {Screen[]} */
    this.screens = [];
    /** @type {Screen[]} also those that the lecturer left out */
    this.all = [];
    /** @type {Part[]} titles of what can be added */
    this.cards = [];
    /** @type {Map<string, Size>} what fitted, by screen and step */
    this.sizes = new Map();
    /** @type {Map<string, number>} of pictures, as they were last seen, by selector */
    this.zooms = new Map();
    this.larger = 1; // as the lecturer wants it
    this.at = WAITS;
    this.step = 0;
    this.code = -1; // which of the page's code is shown instead
    /** @type {string | null} */
    this.id = null; // of the screen that is shown
    /** @type {string | null} */
    this.page = null;
    /** @type {number | null} */
    this.wanted = null; // a screen that is asked for and not shown yet
    this.wantedStep = 0;
    /** @type {number | null} */
    this.from = null; // the screen that another page begins with
    this.target = ""; // the address to which Back has led, while its page is awaited
    /** @type {number | null} */
    this.since = null; // when it was first waited for what comes late
    /** @type {number | null} */
    this.frame = null; // of the screen's repainting, in which screens will be found anew
    this.isShort = false; // will the rest of the page be asked for? So it is for who follows a lecturer
    this.isReached = false; // was the focus moved by Tab?
    this.leaving = 0; // a timer, while another page is awaited
    this.link = location.href; // as it was left
    /** @type {Map<string, number>} how often a screen was fitted since it was turned to */
    this.tries = new Map();
    this.fitting = ""; // the screen for which sizes are being tried
    this.observer = new MutationObserver(() => this.soon());
    this.grown = new ResizeObserver(() => this.soon()); // a picture changes by itself, and may become higher
  }

  /** @param {LectureData} data @param {Tell} tell */
  begin(data, tell) {
    speak(data.words);
    this.tell = tell;
    this.choice.plan = data.plan;
    if (!this.isHeld) {
      this.isHeld = true;
      for (const sheet of this.sheets) wear(document, sheet);
      document.head.append(this.look);
      const { signal } = this.over;
      addEventListener("keydown", (event) => this.key(event), { capture: true, signal }); // before pictures that step by keys
      addEventListener("pointerdown", () => { this.isReached = false; }, { capture: true, signal });
      addEventListener("resize", () => { this.sizes.clear(); this.zooms.clear(); this.scale(); this.show(this.at, this.step); }, { signal });
      addEventListener("popstate", (event) => this.comeBack(event), { capture: true, signal }); // before Streamlit, which would run the page
      this.observer.observe(document.body, { childList: true, subtree: true, attributes: true, attributeFilter: WATCHED });
      this.root.dataset.lecturing = "";
      this.scale();
    }
    if (data.page !== this.page) this.open();
    this.page = data.page;
    this.bar.name(data.page);
    this.share.show(data.shared);
    this.handout.show(data.shared);
    this.group();
  }

  isOver() { return !findSwitch()?.checked; }

  end() {
    if (!this.isHeld) return;
    this.isHeld = false;
    this.fit.stop();
    this.observer.disconnect();
    this.grown.disconnect();
    for (const { steps } of this.screens) for (const part of steps.flat()) if (isPicture(part)) prepare(part, false);
    this.over.abort();
    keepPage("");
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((sheet) => !this.sheets.includes(sheet));
    this.spotlight.close();
    this.presenter.close();
    for (const part of [this.look, this.bar, this.handout.root, ...this.above().map(({ root }) => root), this.spotlight.root]) part.remove();
    for (const name of ["lecturing", "lectureKind", "lectureControls", "lectureStands"]) delete this.root.dataset[name];
    this.write(0, 0, false);
    forget();
    dispatchEvent(new Event("resize"));
    delete holder.attentionLecture;
  }

  /** Another page: its screens come one by one, and there may be none with the number that is asked for. */
  open() {
    clearTimeout(this.leaving);
    this.leaving = 0;
    this.choice.take();
    [this.wanted, this.wantedStep] = this.from === null ? this.asked(this.target || location.href) : [this.from, 0];
    this.from = null;
    this.target = "";
    keepPage("");
    this.at = WAITS;
    this.id = null;
    this.code = -1;
    this.sizes.clear();
    this.zooms.clear();
    this.root.removeAttribute("data-lecture-stands");
  }

  /** The number in the link, from 0; after a point stands that its answer is shown. */
  asked(link = location.href) {
    const text = new URL(link).searchParams.get("screen");
    const [, screen, step] = /^([1-9]\d{0,3})(\.2)?$/.exec(text ?? "1") ?? [];
    if (screen) return [Number(screen) - 1, step ? 1 : 0];
    this.bar.say(_("The link asks for screen = {asked}. Screens count from 1; this is 1.", { asked: shorten(text ?? "") }));
    return [0, 0];
  }

  soon() {
    this.frame ??= requestAnimationFrame(() => { this.frame = null; if (this.isHeld) this.group(); });
  }

  /** Are all of the page's screens there? */
  isComplete() { return this.isDrawn() && !this.isShort; }

  // Is everything there that was sent? A picture may also stay empty.
  isDrawn() {
    if (!isIdle()) return false;
    const comes = this.screens.some(({ steps }) => steps.flat().some((part) => isPicture(part) && !findPicture(part)));
    if (!comes) {
      this.since = null;
      return this.screens.length > 0;
    }
    this.since ??= performance.now();
    setTimeout(() => this.soon(), 100);
    return performance.now() - this.since > PATIENCE;
  }

  // What is on the page may have become more, or something else: stay where the class is.
  group() {
    if (!findBlock() || this.leaving) return;
    const found = listScreens();
    Object.assign(this, { all: found.screens, cards: found.cards });
    this.screens = this.choice.arrange(found.screens, place());
    const last = this.screens.length - 1;
    if (this.wanted !== null) {
      if (!(this.wanted > last ? this.isComplete() : this.isDrawn())) return this.show(WAITS, 0);
      if (this.wanted > last && this.wanted !== LAST)
        this.bar.say(_("The link asks for screen {asked}. This is {last}, the last of the page.", { asked: this.wanted + 1, last: last + 1 }));
      const here = Math.min(this.wanted, last);
      const step = this.wanted === LAST ? this.screens[here].last : Math.min(this.wantedStep, this.screens[here].last);
      this.wanted = null;
      return this.show(here, step);
    }
    const same = this.screens.findIndex((screen) => screen.id === this.id);
    this.show(same >= 0 ? same : Math.min(Math.max(this.at, 0), last), this.step);
  }

  /** @param {number} at @param {number} step @param {boolean} [isTurn] did somebody turn to it? */
  async show(at, step, isTurn = false) {
    const screen = this.screens[at], wanted = Math.min(step, screen?.last ?? 0);
    const isNew = isTurn || screen?.id !== this.id || wanted !== this.step;
    this.at = at;
    this.step = wanted;
    this.id = screen?.id ?? this.id;
    if (isNew && screen) this.code = -1;
    if (isNew) this.tries.clear();
    this.bar.count(at, this.isShort ? "…" : this.screens.length, isNew && screen ? screen.title(wanted) : "");
    this.root.dataset.lectureKind = this.kind();
    const parts = this.shown();
    for (const part of new Set([...this.heroes(), ...parts])) if (isPicture(part)) prepare(part, true, screen?.kind === "try" ? screen.name : "");
    const name = this.sizeName(), before = this.sizes.get(name);
    if (this.fitting === name) return; // sizes are being tried
    this.fit.stop();
    this.fitting = "";
    this.fit.put(before ?? {});
    const isTried = (this.tries.get(name) ?? 0) > MOST_TRIES;
    const known = before && (isTried || this.scrolls() || this.fit.stillFits(parts, before)) ? before : undefined;
    if (!screen) return;
    if (isNew || location.href !== this.link) this.write(at, wanted, isTurn); // a run may have taken it out of the address
    if (this.presenter.isOpen()) this.presenter.draw();
    if (known) return this.stand();
    this.fitting = name;
    this.tries.set(name, (this.tries.get(name) ?? 0) + 1);
    this.grown.disconnect();
    const size = await this.fit.screen(parts, this.kind());
    if (!size || !this.isHeld) return; // another screen came in between
    this.fitting = "";
    for (const { node } of parts) this.grown.observe(node);
    this.sizes.set(name, size);
    this.stand();
  }

  /** The first screen of a page is seen, and listens: what was pressed before is obeyed now. */
  stand() {
    if ("lectureStands" in this.root.dataset) return;
    this.root.dataset.lectureStands = "";
    for (const key of forget()) this.obey(key);
  }

  /** The lecturer's own choice of this page's screens. @param {Screen[]} shown */
  arrange(shown) {
    this.choice.choose(shown, this.all, place());
    const same = shown.findIndex(({ id }) => id === this.id);
    this.screens = shown;
    this.show(Math.max(0, same), same < 0 ? 0 : this.step);
    this.write(this.at, this.step, false);
  }

  /** From all pages to the few of the plan, and back. */
  turnPlan() {
    this.choice.turnPlan();
    this.group();
    this.write(this.at, this.step, false);
  }

  /** Sheets that lie above the screen. */
  above() { return [this.share, this.overview, this.help, this.blank]; }

  /** What is seen now. */
  shown() {
    const codes = this.screens.flatMap((screen) => screen.codes);
    if (this.code >= 0) return [codes[Math.min(this.code, codes.length - 1)]].filter(Boolean);
    return this.screens[this.at]?.parts(this.step) ?? [];
  }

  /** May more be on it than is seen at once? */
  scrolls() { return ["deeper", "code"].includes(this.kind()) || this.larger > 1; }

  /** Pictures with experiments, which are taken back when the screen is another one. */
  heroes() {
    return this.screens.filter(({ kind }) => kind === "hero").flatMap(({ steps }) => steps[0]);
  }

  kind() {
    return this.code >= 0 ? "code" : this.screens[this.at]?.kindAt(this.step) ?? "waits";
  }

  sizeName() {
    return `${this.id} ${this.step} ${this.code} ${"lectureControls" in this.root.dataset} ${this.shown().map(({ at }) => at).join()}`;
  }

  /** The stylesheet that shows the screen at this size. @param {Size} size */
  wear({ text, picture }) {
    const parts = this.shown(), seen = parts.map(({ at }) => at), zooms = new Map(this.zooms);
    for (const part of parts) zooms.set(part.at, this.larger * (isPicture(part) ? picture : text));
    for (const part of parts) if (isPicture(part)) this.zooms.set(part.at, picture);
    const other = `[class*=st-key-screen-]:not(${[...seen, "[class*=st-key-screen-] *"].join(", ")})`;
    // What waits keeps its size, so that pictures are right when they are seen.
    const hidden = `html[data-lecturing] ${other} { position: absolute !important; top: 0; height: 0 !important; min-height: 0 !important; overflow: hidden !important; visibility: hidden !important; padding: 0 !important; }`;
    const sizes = [...zooms].map(([at, zoom]) => `${at} { zoom: ${zoom.toFixed(3)}; --lecture-zoom: ${zoom.toFixed(3)}; } ${narrowChart(at, zoom)}`);
    // Of an experiment the title stands above the picture, and what happens below it.
    const around = parts.filter(({ kind }) => kind === "try").map(({ at }) => `${at} { display: contents !important; } ${at} > * { width: 95.5%; } ${at} > :first-child { order: -1; }`);
    const rules = `@media screen { ${[hidden, ...sizes, ...around].join("\n")} }`;
    if (this.look.textContent !== rules) this.look.textContent = rules;
  }

  /**
   * One step as a remote control makes it: to what comes out, to the next screen, to the next page.
   * @param {1 | -1} by
   */
  turn(by) {
    this.bar.say("");
    for (const sheet of this.above()) sheet.close();
    if (this.code >= 0) return this.turnCode(null);
    const block = findBlock(), screen = this.screens[this.at];
    if (!block) return;
    const left = by > 0 ? block.scrollHeight - block.clientHeight - block.scrollTop : block.scrollTop;
    const isFitted = this.sizes.has(this.sizeName()); // who is quick does not wait for it
    if (isFitted && left > 0.03 * block.clientHeight) return block.scrollBy({ top: by * 0.85 * block.clientHeight });
    const step = this.step + by;
    if (screen && step >= 0 && step <= screen.last) return this.go(this.at + 1, step);
    const there = this.at + by, next = this.screens[there];
    if (next) return this.go(there + 1, by > 0 ? 0 : next.last);
    if (by > 0 && !this.isComplete()) [this.wanted, this.wantedStep] = [there, 0];
    else this.leaf(by);
  }

  /**
   * Show a screen of this page, from 1, and of a question also what comes out: also for who follows.
   * @param {number} number @param {number} [step]
   */
  go(number, step = 0) {
    if (!this.screens[number - 1]) return;
    this.wanted = null;
    findBlock()?.scrollTo(0, 0);
    this.show(number - 1, step, true);
  }

  /** To the number that was typed; or the show of hands is over; or what takes time may begin. */
  enter() {
    const number = this.digits.take(), begins = this.screens[this.at]?.kind === "slow";
    this.bar.say("");
    if (begins) this.shown()[0].node.querySelector("button")?.click();
    if (number) return this.go(Math.min(number, this.screens.length));
    if (this.step < (this.screens[this.at]?.last ?? 0)) this.go(this.at + 1, this.step + 1);
  }

  /** Go to the page before or after this one. @param {1 | -1} by */
  leaf(by) {
    const links = listPageLinks().filter(({ pathname }) => pathname === location.pathname || this.choice.visits(place(pathname)));
    const here = links.findIndex((link) => link.pathname === location.pathname);
    const next = links[Math.max(here, 0) + by];
    if (!next) return this.bar.say(by > 0 ? _("This is the last page.") : _("This is the first page."));
    this.from = by > 0 ? 0 : LAST;
    this.target = "";
    keepPage("");
    this.depart();
    next.click();
  }

  /** What stands on the page is not shown any more, until it is another one. */
  depart() {
    clearTimeout(this.leaving);
    this.root.removeAttribute("data-lecture-stands");
    this.leaving = window.setTimeout(() => { this.leaving = 0; this.open(); this.group(); }, PATIENCE * 4);
  }

  leave() { findSwitch()?.click(); }

  /** Back from what lies above the screen, or out of the lecture. */
  escape() {
    const open = this.above().find((sheet) => sheet.isOpen());
    if (open) open.close();
    else if (this.spotlight.isOpen()) this.spotlight.close();
    else if (this.code >= 0) this.turnCode(null);
    else this.leave();
  }

  /** Larger or smaller than what fits. @param {number} by */
  resize(by) {
    this.larger = by ? Math.max(0.6, Math.min(2, this.larger * by)) : 1;
    this.scale();
    this.fit.put({});
  }

  turnControls() {
    this.root.toggleAttribute("data-lecture-controls");
    this.show(this.at, this.step);
  }

  /** The code that ran: of this screen first, then on; after the last one the screen again. @param {number | null} [to] */
  turnCode(to) {
    const owners = this.screens.flatMap((screen, place) => screen.codes.map(() => place));
    if (!owners.length) return this.bar.say(_("This page shows no code."));
    const first = Math.max(0, owners.findIndex((place) => place >= this.at));
    const next = to === null ? -1 : this.code < 0 ? first : this.code + 1 < owners.length ? this.code + 1 : -1;
    this.code = next;
    this.show(this.at, this.step);
  }

  scale() {
    const scale = windowScale(), { style: root } = this.root;
    root.setProperty("--lecture-scale", scale.toFixed(3));
    root.setProperty("--lecture-letters", `${(findLetters() * this.larger).toFixed(2)}px`);
  }

  /**
   * The place is in the address without a word to the server, which hears of it with the next choice.
   * @param {number} at @param {number} step
   * @param {boolean} isTurn then the browser's Back returns to what was shown before
   */
  write(at, step, isTurn) {
    const link = new URL(location.href);
    if (at > 0 || step > 0) link.searchParams.set("screen", `${at + 1}${step > 0 ? ".2" : ""}`);
    else link.searchParams.delete("screen");
    if (this.isHeld) this.choice.write(link.searchParams);
    else for (const name of ["mine", "set"]) link.searchParams.delete(name);
    if (link.href !== location.href && isTurn) addEntry(link);
    else if (link.href !== location.href) history.replaceState(history.state, "", link);
    this.link = link.href;
    if (!this.isHeld) return;
    /** @type {Turned} */
    const detail = { page: place(), query: link.search.slice(1), screen: at + 1, step };
    dispatchEvent(new CustomEvent(TURNED, { detail }));
  }

  /** Back, and on again: to another screen of this page without a run. @param {PopStateEvent} event */
  comeBack(event) {
    const [was, is] = [this.link, location.href].map((link) => withoutScreen(link));
    if (was !== is) { // another page or choice: Streamlit runs it
      this.choice.take();
      if (new URL(this.link).pathname === location.pathname) {
        [this.wanted, this.wantedStep] = this.asked();
        return;
      }
      this.target = location.href;
      keepPage(location.pathname);
      return this.depart();
    }
    event.stopImmediatePropagation();
    const [at, step] = this.asked();
    this.code = -1;
    this.show(Math.min(at, this.screens.length - 1), step);
  }

  /** Do what a key says, as soon as there is a screen. @param {string} key */
  obey(key) {
    if (!("lectureStands" in this.root.dataset)) return keep(key);
    if (/^\d$/.test(key)) return this.bar.say(`${this.digits.type(key)} ↵`);
    if (this.blank.isOpen() && key !== "b") return this.blank.close();
    KEYS[key]?.(this);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.key === "Tab") this.isReached = true;
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    leaveField(event);
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key, act = KEYS[key];
    const isDigit = /^\d$/.test(key);
    if (!(act || isDigit) || isMeantFor(event, this.isReached)) return;
    if (this.overview.isOpen() && !["Escape", "o", "l", ...TURNS].includes(key)) return;
    const field = document.activeElement;
    if (TURNS.includes(event.key) && field instanceof HTMLElement) field.blur();
    event.preventDefault();
    event.stopImmediatePropagation();
    this.obey(key);
  }
}

/** Where a page is in the address. */
function place(pathname = location.pathname) {
  return pathname.split("/").pop() ?? "";
}

/** @param {string} link */
function withoutScreen(link) {
  const address = new URL(link);
  address.searchParams.delete("screen");
  return address.href;
}

/** @param {string} text */
function shorten(text) {
  return text.length > 40 ? `${text.slice(0, 39)}…` : text;
}
