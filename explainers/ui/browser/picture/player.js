// Play, pause and step: a button with a name, and a stop for each step or a slider over many.

/** @import { Choice, Hero } from "./hero.js" */

import { element, shape } from "../common/elements.js";
import { Chips, makeRange } from "./chips.js";
import { MOVE } from "./motion.js";
import { _ } from "../common/words.js";

export const PLAY = "M5 2.5v13l11-6.5z", PAUSE = "M5 3h4v12H5zM11 3h4v12h-4z";
const FILM_LENGTH = 8000; // milliseconds
const A_WORD = 250; // milliseconds: silent reading, as explainers/ui/learning_path.py has it

/** Steps with names; each stands for a length of time, or until what is said there has been read. */
export class Player {
  /**
   * @param {HTMLElement} root
   * @param {{ names: string[], dwell: number[], go: (step: number) => void, said: () => string, skips: (step: number) => boolean }} options
   */
  constructor(root, { names, dwell, go, said, skips }) {
    this.names = names;
    this.dwell = dwell;
    this.go = go;
    this.said = said;
    this.skips = skips; // while it plays: where nothing is to be seen
    this.step = 0;
    this.timer = 0;
    this.root = root.appendChild(element("div", "player"));
    this.button = this.root.appendChild(element("button", "play", "", { onclick: () => this.toggle() }));
    this.track = this.root.appendChild(element("ol", "track"));
    this.stops = names.map((_, step) => {
      const stop = this.track.appendChild(element("li")).appendChild(element("button", "stop", "", { onclick: () => { this.pause(); this.to(step); } }));
      stop.append(element("span", "rail"), element("span", "name"));
      stop.firstElementChild?.append(element("span", "fill"));
      return stop;
    });
    this.show(0);
  }

  /** Views of the same thing, one of them chosen; returns what marks it. @param {string[]} names @param {(view: number) => void} choose */
  addViews(names, choose) {
    const options = names.map((label, value) => ({ value: String(value), label }));
    const chips = new Chips(this.root, { label: "", options, choose: (value) => choose(Number(value)) });
    return (/** @type {number} */ view) => chips.show(String(view));
  }

  get isPlaying() { return this.timer !== 0; }
  get last() { return this.names.length - 1; }
  get next() { return this.step + (this.skips(this.step + 1) ? 2 : 1); }
  /** Milliseconds of the step where it is. */
  get stay() { return Math.max(this.dwell[this.step], A_WORD * this.said().split(/\s+/).length); }

  /** Go to a step, and say so. @param {number} step @param {boolean} [hasFocus] keep the focus on it */
  to(step, hasFocus) {
    const next = Math.max(0, Math.min(this.last, step));
    const { activeElement } = /** @type {Document | ShadowRoot} */ (this.root.getRootNode());
    if (hasFocus && this.track.contains(activeElement)) this.stops[next].focus(); // before anything changes: that is cheap
    this.go(next);
    this.show(next);
  }

  toggle() {
    if (this.isPlaying) return this.pause();
    this.to(this.step === this.last ? 1 : this.next);
    this.run();
  }

  run() {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => {
      if (!this.root.isConnected || document.hidden || this.step === this.last) return this.pause();
      this.to(this.next);
      this.run();
    }, this.stay);
    this.show(this.step);
  }

  pause() {
    clearTimeout(this.timer);
    this.timer = 0;
    this.show(this.step);
  }

  /** What stands on it at a step. @param {number} step */
  show(step) {
    this.step = step;
    const { names, isPlaying } = this;
    this.root.classList.toggle("playing", isPlaying);
    this.root.style.setProperty("--dwell", `${this.stay}ms`);
    this.stops.forEach((stop, s) => {
      stop.classList.toggle("done", s < step);
      stop.classList.toggle("now", s === step);
      stop.setAttribute("aria-current", s === step ? "step" : "false");
      stop.setAttribute("aria-label", names[s]);
      if (stop.lastElementChild) stop.lastElementChild.textContent = names[s];
    });
    const label = isPlaying ? _("Pause") : step === 0 ? _("Show me how") : step === this.last ? _("Play again") : _("Play");
    this.button.replaceChildren(icon(isPlaying ? PAUSE : PLAY), element("span", "", label));
  }
}

/** A sign on a button. @param {string} path */
function icon(path) {
  const sign = shape("svg", { viewBox: "0 0 18 18", "aria-hidden": "true" });
  sign.append(shape("path", { d: path }));
  return sign;
}

/** A slider over frames, which can be played. */
export class Film {
  /**
   * @param {HTMLElement} root @param {string} label @param {(frame: number) => void} show
   * @param {boolean} [isLarge] a large button, where Play is what one should do first
   */
  constructor(root, label, show, isLarge = false) {
    // A sentence is another one at once; a picture that needs longer than a frame would never catch up.
    this.wind = (/** @type {number} */ frame) => {
      const hero = this.root.closest(".hero");
      hero?.classList.toggle("at-once", this.dwell < MOVE);
      show(frame);
      hero?.classList.remove("at-once");
    };
    this.isLarge = isLarge;
    this.root = root.appendChild(element("div", "film"));
    this.button = this.root.appendChild(element("button", isLarge ? "play" : "small-play", "", { onclick: () => this.toggle() }));
    if (!isLarge) this.button.setAttribute("aria-label", _("Play: {what}", { what: label }));
    this.range = this.root.appendChild(makeRange((frame) => { this.pause(); this.wind(frame); }, { "aria-label": label }));
    this.output = this.root.appendChild(element("output"));
    this.label = this.root.appendChild(element("span", "label-of-film", label));
    this.timer = 0;
    /** @type {string[]} */
    this.names = [];
    /** @type {number[]} */
    this.stops = [];
    this.mark();
  }

  get isPlaying() { return this.timer !== 0; }
  /** Milliseconds that a frame is seen while it plays. */
  get dwell() { return FILM_LENGTH / Math.max(1, this.stops.length); }

  /** @param {string[]} names of the frames @param {number[]} [stops] the frames that are played */
  offer(names, stops = names.map((_name, frame) => frame)) {
    this.names = names;
    this.stops = stops;
    this.range.max = String(Math.max(0, names.length - 1));
  }

  /** @param {number} frame @param {boolean} isOffered */
  show(frame, isOffered) {
    this.root.classList.toggle("gone", !isOffered);
    this.root.inert = !isOffered;
    this.range.value = String(frame);
    this.range.setAttribute("aria-valuetext", this.names[frame] ?? "");
    this.output.textContent = this.names[frame] ?? "";
    this.mark();
  }

  /** What a click on the button does next. */
  mark() {
    const { isPlaying } = this;
    this.button.replaceChildren(icon(isPlaying ? PAUSE : PLAY), ...(this.isLarge ? [element("span", "", isPlaying ? _("Pause") : _("Play"))] : []));
  }

  toggle() {
    if (this.isPlaying) return this.pause();
    const isOver = Number(this.range.value) >= this.stops[this.stops.length - 1];
    this.timer = window.setInterval(() => {
      const next = this.stops.find((stop) => stop > Number(this.range.value));
      if (!this.root.isConnected || document.hidden || next === undefined) return this.pause();
      this.wind(next);
    }, this.dwell);
    if (isOver) this.wind(this.stops[0]);
    this.mark();
  }

  pause() {
    clearInterval(this.timer);
    this.timer = 0;
    this.mark();
  }
}

/** A film that makes choices. While it plays, it knows best where it is; the server hears of the last frame. */
export class ChoosingFilm extends Film {
  /** @type {Record<string, Choice>} what it has chosen while it plays */
  chosen = {};

  /** @param {Hero<any>} hero @param {HTMLElement} root @param {string} label @param {(frame: number) => Record<string, Choice>} choose what a frame is */
  constructor(hero, root, label, choose) {
    super(root, label, (frame) => {
      const some = choose(frame);
      if (!this.isPlaying) return hero.choose(some);
      Object.assign(this.chosen, some);
      Object.assign(hero.choices, some);
      hero.update();
    }, true);
    this.hero = hero;
    hero.films.push(this);
  }

  /** What changes with each frame is not read out. @override */
  mark() {
    super.mark();
    this.hero?.says.setAttribute("aria-live", this.isPlaying ? "off" : "polite");
  }

  /** @override */
  pause() {
    const { isPlaying, chosen } = this;
    this.stop();
    if (isPlaying) this.hero.choose(chosen);
  }

  /** Without a word about it: what was playing is gone. */
  stop() {
    this.chosen = {};
    super.pause();
  }
}
