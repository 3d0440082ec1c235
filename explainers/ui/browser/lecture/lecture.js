// @ts-check
// A page, one screen after the other. The server has drawn all of it; here parts of it are shown, by
// a stylesheet and marks on what Streamlit drew, so that a step costs no run and React finds every
// node where it put it.

/** @import { Component, Tell } from "../common/component.js" */
/** @import { LectureData } from "./data.js" */
/** @import { Screen } from "./screens.js" */

import { loadStyle, wear } from "../common/component.js";
import { Bar } from "./bar.js";
import { isMeantFor, KEYS } from "./keys.js";
import { limits, readLook, mark } from "./look.js";
import { cut, KEYS_TURN_SCREENS, findShadow } from "./pieces.js";
import { listScreens } from "./screens.js";
import { Share } from "./share.js";
import "../common/elements.js"; // what only those need is asked for at once, and not after them

/** @typedef {{ zoom: number, fails: number, tries: number }} Zoom  how large a screen is, what was too large, how often it was tried */

const PATIENCE = 5000; // milliseconds
const TRIES = 16; // sizes that a screen is tried in
const WAITS = -1; // no screen yet: what a link asks for has not come

const style = loadStyle(new URL("style.css", import.meta.url));
const holder = /** @type {{ attentionLecture?: Lecture }} */ (globalThis); // of the one lecture that is held, also if this file comes again in a newer version

/**
 * Begin a lecture, or go on with it on another page.
 * @param {Component<LectureData>} component
 */
export default async function ({ data: sent, setTriggerValue }) {
  const sheet = await style;
  const data = sent?.[0];
  if (!data) return;
  const lecture = (holder.attentionLecture ??= new Lecture(data, setTriggerValue, sheet));
  lecture.begin(data, setTriggerValue);
  return () => setTimeout(() => lecture.isOver() && lecture.end(), 50); // pages follow each other
}

export class Lecture {
  /**
   * @param {LectureData} data
   * @param {Tell} tell
   * @param {CSSStyleSheet} sheet
   */
  constructor({ words }, tell, sheet) {
    this.words = words;
    this.tell = tell;
    this.sheet = sheet;
    this.root = document.documentElement;
    this.look = document.createElement("style");
    this.bar = new Bar(this);
    this.share = new Share(this);
    this.isHeld = false;
    /** @type {Screen[]} */
    this.screens = [];
    /** @type {Map<string, Zoom>} */
    this.zooms = new Map();
    this.type = 1; // how large letters are
    this.at = WAITS;
    /** @type {string | null} */
    this.id = null; // of the screen that is shown
    this.turned = 0;
    /** @type {string | null} */
    this.page = null;
    this.isWhole = false;
    /** @type {number | null} */
    this.wanted = null; // a screen that is asked for and not shown yet
    /** @type {number | null} */
    this.from = null; // the screen that another page begins with
    /** @type {number | null} */
    this.since = null; // when it was first waited for what comes late
    /** @type {number | null} */
    this.frame = null; // of the screen's repainting, in which screens will be found anew
    this.isReached = false; // was the focus moved by Tab?
    this.observer = new MutationObserver(() => this.soon());
    // Matrices come later than the picture that holds them, and say nothing to the page around it.
    this.inside = new MutationObserver((seen) => seen.some(({ target }) => target instanceof Element && target.matches(".stage")) && this.soon());
    /** @type {WeakSet<ShadowRoot>} */
    this.watched = new WeakSet();
    // A picture that was clicked may have become higher.
    this.grown = new ResizeObserver(() => this.screens[this.at] && this.fit(this.screens[this.at], false));
    this.listen = (/** @type {KeyboardEvent} */ event) => this.key(event);
    this.press = () => { this.isReached = false; };
    this.resized = () => { this.zooms.clear(); this.scale(); this.show(this.at); };
  }

  /**
   * @param {LectureData} data
   * @param {Tell} tell
   */
  begin(data, tell) {
    this.words = data.words;
    this.tell = tell;
    const isNew = !this.isHeld;
    if (isNew) {
      this.isHeld = true;
      wear(document, this.sheet);
      document.head.append(this.look);
      addEventListener("keydown", this.listen, true); // before pictures that step by keys
      addEventListener("pointerdown", this.press, true);
      addEventListener("resize", this.resized);
      this.observer.observe(document.body, { childList: true, subtree: true, attributes: true, attributeFilter: ["data-test-script-state"] });
      this.root.dataset.lecturing = "";
      this.scale();
    }
    if (isNew || data.page !== this.page) this.open(isNew ? this.asked() : this.from ?? 0);
    this.page = data.page;
    this.bar.name(this.words);
    this.share.show(data.shared);
    this.group();
  }

  isOver() {
    return !toggle()?.checked;
  }

  end() {
    if (!this.isHeld) return;
    this.isHeld = false;
    this.observer.disconnect();
    this.inside.disconnect();
    this.grown.disconnect();
    for (const screen of this.screens) for (const { node, kind } of screen.parts) if (kind === "picture") cut(node, "");
    removeEventListener("keydown", this.listen, true);
    removeEventListener("pointerdown", this.press, true);
    removeEventListener("resize", this.resized);
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((sheet) => sheet !== this.sheet);
    for (const part of [this.look, this.bar.root, this.share.root]) part.remove();
    for (const name of ["lecturing", "lectureKind", "lectureControls"]) delete this.root.dataset[name];
    this.write(0);
    dispatchEvent(new Event("resize"));
    delete holder.attentionLecture;
  }

  /**
   * Another page: its screens come one by one, and there may be none with that number.
   * @param {number} wanted
   */
  open(wanted) {
    this.wanted = wanted;
    this.from = null;
    this.at = WAITS;
    this.id = null;
    this.isWhole = false;
    this.zooms.clear();
  }

  // The number in the link, from 0.
  asked() {
    const text = new URLSearchParams(location.search).get("screen");
    if (text === null) return 0;
    if (/^[1-9]\d{0,3}$/.test(text)) return Number(text) - 1;
    this.bar.say(this.words.absurd.replace("{asked}", text.length > 40 ? `${text.slice(0, 39)}…` : text));
    return 0;
  }

  soon() {
    this.frame ??= requestAnimationFrame(() => { this.frame = null; if (this.isHeld) this.group(); });
  }

  isRunning() {
    const app = /** @type {HTMLElement | null} */ (document.querySelector("[data-testid=stApp]"));
    return app?.dataset.testScriptState !== "notRunning";
  }

  // Is everything there that was sent, as far as it is to be counted? A picture may also stay empty.
  isComplete() {
    if (this.isRunning() || document.querySelector("[class*=st-key-model-that-comes]")) return false;
    const isEmpty = (/** @type {Element} */ host) => !host.shadowRoot?.querySelector(".panel, .hero[aria-label], .cards[aria-label]");
    const comes = document.querySelector("[data-testid=stMain] [data-testid=stSkeleton]")
      || [...document.querySelectorAll("[data-testid=stMain] [data-testid=stBidiComponentIsolated]")].some(isEmpty);
    if (!comes) {
      this.since = null;
      return true;
    }
    this.since ??= performance.now();
    setTimeout(() => this.soon(), 100);
    return performance.now() - this.since > PATIENCE;
  }

  /** @param {HTMLElement} main */
  watch(main) {
    if (main.firstElementChild) this.grown.observe(main.firstElementChild);
    for (const screen of this.screens) {
      const shadow = findShadow(screen.parts.find(({ kind }) => kind === "picture")?.node ?? document.body);
      if (!shadow || this.watched.has(shadow)) continue;
      this.watched.add(shadow);
      this.inside.observe(shadow, { childList: true, subtree: true });
    }
  }

  // What is on the page may have become more, or something else: stay where the class is.
  group() {
    const main = /** @type {HTMLElement | null} */ (document.querySelector("[data-testid=stMainBlockContainer]"));
    if (!main) return;
    this.screens = listScreens(main);
    mark(main, this.screens);
    this.watch(main);
    if (!this.isWhole && this.isComplete()) {
      this.isWhole = true;
      this.zooms.clear(); // what came meanwhile may have stood on the screen, and made it small
    }
    const last = this.screens.length - 1;
    if (this.wanted !== null) {
      if (this.wanted > last && !this.isComplete()) return this.show(WAITS);
      if (this.wanted > last && this.wanted !== Infinity)
        this.bar.say(this.words.beyond.replace("{asked}", String(this.wanted + 1)).replace("{last}", String(last + 1)));
      const here = Math.min(this.wanted, last);
      if (this.isComplete() || here === 0) this.wanted = null;
      return this.show(here);
    }
    const same = this.screens.findIndex((screen) => screen.id === this.id);
    this.show(same >= 0 ? same : Math.min(Math.max(this.at, 0), last));
  }

  /** @param {number} at */
  show(at) {
    const screen = this.screens[at];
    const isNew = screen?.id !== this.id || at !== this.at;
    this.at = at;
    this.id = screen?.id ?? this.id;
    this.root.dataset.lectureKind = screen?.kind ?? "waits";
    this.look.textContent = readLook(this, screen ? at : WAITS);
    this.bar.count(at, this.screens.length, isNew && screen ? screen.title() : "");
    if (!screen) return;
    for (const { node, kind, piece } of screen.parts) if (kind === "picture") cut(node, (piece ?? "") + KEYS_TURN_SCREENS);
    this.write(at);
    if (isNew) this.scroller()?.scrollTo(0, 0);
    this.fit(screen, isNew);
  }

  scroller() {
    return document.querySelector("[data-testid=stMain]");
  }

  /**
   * As large as its kind may be, and as small as it must be.
   * @param {Screen} screen
   * @param {boolean} isNew
   */
  async fit(screen, isNew) {
    const [least, most] = limits(screen.kind, this.type);
    const found = this.zooms.get(screen.id) ?? { zoom: most, fails: most, tries: 0 };
    this.zooms.set(screen.id, found);
    const turn = ++this.turned;
    const isTooLarge = () => this.overflow(screen) > 1.005 && found.zoom > least && found.tries < TRIES;
    do {
      this.look.textContent = readLook(this, this.at);
      while (isTooLarge()) { // before anything is painted
        found.tries += 1;
        found.fails = found.zoom;
        found.zoom = Math.max(least, found.zoom * Math.max(0.75, Math.min(0.97, 1 / Math.sqrt(this.overflow(screen)))));
        this.look.textContent = readLook(this, this.at);
      }
      this.enlarge(screen, found);
      await new Promise(requestAnimationFrame); // pictures see their new width in the next frame
      await new Promise(requestAnimationFrame);
      if (turn !== this.turned || !this.isHeld) return;
    } while (isTooLarge());
    if (isNew) this.bar.more(this.overflow(screen) > 1.02);
  }

  /**
   * Where matrices stand side by side or not, a little smaller may be a lot: look for the size between.
   * @param {Screen} screen
   * @param {Zoom} found
   */
  enlarge(screen, found) {
    for (let tries = 0; tries < 4 && found.fails > 1.03 * found.zoom; tries++) {
      const fits = found.zoom;
      found.zoom = (fits + found.fails) / 2;
      this.look.textContent = readLook(this, this.at);
      if (this.overflow(screen) <= 1.005) continue;
      [found.fails, found.zoom] = [found.zoom, fits];
      this.look.textContent = readLook(this, this.at);
    }
  }

  /**
   * How many times too high, or too wide, the screen is.
   * @param {Screen} screen
   */
  overflow(screen) {
    const box = this.scroller();
    if (!box) return 1;
    const wide = screen.parts.flatMap(({ node }) => [...node.querySelectorAll("pre"), ...findShadow(node)?.querySelectorAll(".stage") ?? []]);
    const shares = wide.map((part) => part.scrollWidth / part.clientWidth);
    return Math.max(box.scrollHeight / box.clientHeight, ...shares.filter(Number.isFinite));
  }

  /**
   * One step as a remote control makes it: down a high screen, to the next one, to the next page.
   * @param {1 | -1} by
   */
  turn(by) {
    this.bar.say("");
    this.share.close();
    const box = this.scroller(), there = this.at + by;
    if (!box) return;
    const left = by > 0 ? box.scrollHeight - box.clientHeight - box.scrollTop : box.scrollTop;
    if (left > 0.02 * box.clientHeight) return box.scrollBy({ top: by * 0.85 * box.clientHeight });
    if (this.screens[there]) {
      this.wanted = null;
      return this.show(there);
    }
    if (by > 0 && !this.isComplete()) this.wanted = there;
    else this.leaf(by);
  }

  /**
   * Go to the page before or after this one.
   * @param {1 | -1} by
   */
  leaf(by) {
    const links = [.../** @type {NodeListOf<HTMLAnchorElement>} */ (document.querySelectorAll("[data-testid=stSidebarNavLink]"))];
    const here = links.findIndex((link) => link.pathname === location.pathname);
    const next = links[Math.max(here, 0) + by];
    if (!next) return this.bar.say(by > 0 ? this.words.last : this.words.first);
    this.from = by > 0 ? 0 : Infinity;
    next.click();
  }

  leave() {
    toggle()?.click();
  }

  turnControls() {
    this.root.toggleAttribute("data-lecture-controls");
    this.zooms.clear();
    this.show(this.at);
  }

  scale() {
    this.type = Math.max(1, Math.min(innerWidth / 640, innerHeight / 480));
    this.root.style.setProperty("--lecture-type", String(this.type));
  }

  /**
   * The place is in the address without a word to the server, which hears of it with the next choice.
   * @param {number} at
   */
  write(at) {
    const link = new URL(location.href);
    if (at > 0) link.searchParams.set("screen", String(at + 1));
    else link.searchParams.delete("screen");
    if (link.href !== location.href) history.replaceState(history.state, "", link);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.key === "Tab") this.isReached = true;
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const act = KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!act || isMeantFor(event, this.isReached)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    act(this);
  }
}

/** The switch of the sidebar by which a lecture begins and ends. */
function toggle() {
  return /** @type {HTMLInputElement | null} */ (document.querySelector(".st-key-lecture input"));
}
