// @ts-check
// What every hero is: a picture with its choices, one sentence made of its numbers, and experiments.
// A hero changes itself and the address at once. The server hears of a choice when somebody is about
// to see what depends on it, or with whatever else is asked for: docs/telling.md.

import { CONNECTED, FORGOTTEN, heard, listUnheard, note, same, spell, write } from "../common/address.js";
import { ANSWER_WITHIN } from "../common/component.js";
import { readBackground, watchTheme } from "../common/colours.js";
import { cutSentences, element, makeSentenceNodes, writeSentence } from "../common/elements.js";
import { Below, isConnected, LEFT, WANTED } from "./below.js";
import { Chips, Sheet } from "./chips.js";
import { Experiments } from "./experiments.js";
import { isStill, onStillness, Tween } from "./motion.js";
import { dress } from "./palette.js";
import { Scene } from "./scene.js";
import { Stage } from "./stage.js";

/** @typedef {import("../common/component.js").Tell} Tell */
/** @typedef {string | number | boolean} Choice */
/**
 * @typedef {object} Control a choice of the picture that is offered as a row of buttons
 * @property {string} key its name in the link
 * @property {string} label
 * @property {{ value: string, label: string }[]} options
 */
/**
 * @typedef {object} Experiment a button that sets choices, and a sentence about what happens then
 * @property {string} name
 * @property {string} title
 * @property {string} text
 * @property {Record<string, Choice>} choices
 * @property {string} [by] a choice with which the others change
 * @property {Record<string, Experiment>} [each] by its value
 */
/**
 * @typedef {object} HeroData what the server sends: ui/figure/hero.py
 * @property {string} kind
 * @property {string} alt
 * @property {import("../common/words.js").Translations} words
 * @property {Record<string, Choice>} choices by their names in the link
 * @property {Record<string, Choice>} usual what is shown where nothing was chosen
 * @property {string[]} elsewhere those of the choices that only the server can act on
 * @property {Record<string, import("../common/address.js").Way>} link how the address has those that the browser writes
 * @property {Control[]} controls
 * @property {Record<string, string>} texts templates of the page's sentences
 * @property {Experiment[]} experiments
 * @property {import("./palette.js").Looks} looks
 */
/**
 * @typedef {object} Sentence
 * @property {string} name of its template
 * @property {Record<string, string>} values
 * @property {Record<string, string>} [classes] of values that have a colour in the picture
 */

const MOST_WORDS = 25; // of a picture's sentence in front of a class
const TELL_AFTER = 350; // milliseconds without a further change: then it is in the address, and told if need be

/** @template {HeroData} Data */
export class Hero {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    this.data = /** @type {Data} */ (/** @type {unknown} */ (null));
    /** @type {Record<string, Choice>} */
    this.choices = {};
    /** @type {number[]} */
    this.worn = []; // the background for which colours were chosen
    this.offered = "";
    /** @type {Record<string, Choice>} what the server is to hear of at once: it is in no address */
    this.untold = {};
    /** @type {{ some: Record<string, Choice>, at: number }[]} what it was told and has not answered */
    this.tellings = [];
    /** @type {Tell} */
    this.tell = () => {};
    this.telling = 0;
    this.shownBelow = new Below(root, () => { // what shows a choice is drawn anew, and nothing else: the address has all
      this.shownBelow.rest();
      if (root.isConnected) this.tell("below", true);
    });
    /** @type {{ name: string, shown: Record<string, Choice>, lent: Record<string, Choice> }} the experiment on a lecture's screen; `lent` is to be taken back */
    this.presented = { name: "", shown: {}, lent: {} };
    root.setAttribute("role", "group");
    this.bar = root.appendChild(element("div", "bar"));
    this.sheet = new Sheet(root);
    this.stage = new Stage(root);
    this.scene = new Scene(this.stage);
    this.says = root.appendChild(element("p", "says", "", { "aria-live": "polite" }));
    this.hint = root.appendChild(element("p", "hint"));
    this.below = root.appendChild(element("div", "below"));
    this.experiments = new Experiments(root, (some) => this.choose(some), () => this.choices);
    this.inWords = root.appendChild(element("div", "in-words"));
    /** @type {Map<string, Chips>} */
    this.chips = new Map();
    /** @type {import("./player.js").ChoosingFilm[]} */
    this.films = [];
    this.tween = new Tween(() => this.paint());
    const drawn = new WeakRef(this); // a page that was left need not be kept for this
    onStillness(() => drawn.deref()?.root.classList.toggle("still", isStill()));
    addEventListener(FORGOTTEN, () => drawn.deref()?.forget());
    addEventListener(WANTED, () => drawn.deref()?.tellNow());
    addEventListener(LEFT, (event) => drawn.deref()?.leave(event));
    addEventListener(CONNECTED, (event) => drawn.deref()?.tellAgain(/** @type {CustomEvent<boolean>} */ (event).detail));
    new ResizeObserver(([entry]) => this.fit(Math.floor(entry.contentRect.width))).observe(root);
    document.fonts.ready.then(() => this.data && this.layOut());
    root.addEventListener("present", (event) => this.present(/** @type {CustomEvent<string>} */ (event).detail));
    watchTheme(root, () => this.worn, () => {
      if (!this.data || !root.isConnected) return;
      this.wear();
      this.layOut();
    });
  }

  /** New data: the same picture with other numbers, or another one. @param {Data} data @param {Tell} tell */
  show(data, tell) {
    const isFirst = !this.data;
    this.tell = tell;
    this.data = data;
    this.obey(data.choices);
    const isNew = this.renew(isFirst);
    this.offer();
    if (isFirst || isNew) {
      this.wear();
      this.stage.room ||= Math.floor(this.root.clientWidth);
      this.fitted();
      this.layOut();
    }
    this.update();
    if (this.late.length) this.settle(TELL_AFTER); // made while the server drew
  }

  /** What is in the address, and the server has not drawn the picture with. */
  get unheard() {
    const here = [...listUnheard()].filter(([name]) => name in this.data.link);
    return Object.fromEntries(here.map(([name, { value }]) => [name, value]));
  }

  /** The names of what is in the address, and in no message. */
  get late() {
    return [...listUnheard()].flatMap(([name, { isSent }]) => (name in this.data.link && !isSent ? name : []));
  }

  /** What the server says is chosen; what it has not heard of or not answered goes before that. @param {Record<string, Choice>} choices */
  obey(choices) {
    for (const [name, { value, texts }] of listUnheard()) {
      const way = this.data.link[name];
      if (way && (choices[name] === value || same(way.said ?? [], texts))) heard(name, spell(choices[name], way));
    }
    const answered = this.tellings.findLastIndex(({ some }) => Object.entries(some).every(([key, value]) => choices[key] === value));
    const isFresh = (/** @type {{ at: number }} */ { at }) => performance.now() - at < ANSWER_WITHIN;
    this.tellings = this.tellings.slice(answered + 1).filter(isFresh);
    this.choices = Object.assign({}, choices, ...this.tellings.map(({ some }) => some), this.unheard, this.untold, this.presented.shown, ...this.films.map(({ chosen }) => chosen));
  }

  /** Another link counts: what only the browser knew is not chosen any more. */
  forget() {
    this.rest();
    this.untold = {};
    if (this.data) this.refuse();
  }

  /** The host has no numbers for what it was told: what was shown before is shown again. */
  refuse() {
    this.tellings = [];
    this.show(this.data, this.tell);
  }

  /**
   * In front of a class: show an experiment, or none. The server hears only of what it has to draw.
   * @param {string} name as the screen has it
   */
  present(name) {
    if (!this.data) return;
    if (this.says.dataset.lecture !== String(this.isLecture)) this.layOut();
    if (name === this.presented.name) return;
    const named = this.data.experiments.find((one) => one.name.replace(/[^\w-]/g, "-") === name);
    const found = named ? this.experiments.now(named).choices : {};
    const { lent: back } = this.presented, keys = Object.keys(found);
    const isFar = keys.some((key) => this.data.elsewhere.includes(key) && String(found[key]) !== String(this.choices[key]));
    this.presented = { name, shown: isFar ? {} : { ...found }, lent: {} };
    this.obey(this.data.choices);
    if (isFar) this.presented.lent = Object.fromEntries(keys.map((key) => [key, back[key] ?? this.choices[key]]));
    const told = { ...back, ...(isFar ? found : {}) };
    const isTold = Object.keys(told).length > 0;
    if (isTold) this.choose(told);
    // What is taken back of the last experiment may be what this one shows.
    if (!isFar) for (const shown of [this.presented.shown, this.choices]) Object.assign(shown, found);
    if (!(isTold && this.root.classList.contains("waiting"))) this.update();
  }

  get isLecture() { return this.root.hasAttribute("data-lecture"); }
  /** Of letters in front of a class, before they are enlarged: pixels that make 18 on a projector, where others have less. */
  get leastInClass() { return 0; }

  /** A choice of the reader's. @param {Record<string, Choice>} some */
  choose(some) {
    const isWaiting = this.data.elsewhere.some((key) => key in some && some[key] !== this.choices[key] && !this.knows(key, some[key]));
    Object.assign(this.choices, some);
    for (const [key, value] of Object.entries(some)) {
      delete this.presented.shown[key];
      const way = this.data.link[key];
      if (way) note(key, { value, texts: spell(value, way) });
      else this.untold[key] = value;
    }
    this.root.classList.toggle("waiting", isWaiting);
    if (!isWaiting) this.update();
    this.settle(isWaiting ? 0 : TELL_AFTER);
  }

  /** In a while, if nothing else is chosen: to the address, and to the server if it must know. @param {number} after */
  settle(after) {
    if (!this.telling) write(); // what is dragged, again where it comes to rest
    clearTimeout(this.telling);
    this.telling = window.setTimeout(() => {
      this.telling = 0;
      write();
      if (Object.keys(this.untold).length || this.isLecture) this.tellNow();
      else this.shownBelow.expect(this.late);
    }, after);
  }

  /** Nothing is to be told in a while any more. */
  rest() {
    clearTimeout(this.telling);
    this.telling = 0;
    this.shownBelow.rest();
  }

  /** What stands below and shows a choice is drawn anew, and nothing else: the address has all. */
  tellBelow() {
    this.shownBelow.rest();
    if (this.late.length && this.root.isConnected) this.tell("below", true); // else some message had it
  }

  /** The server hears of all that it has not heard of. */
  tellNow() {
    this.rest();
    if (!isConnected()) return; // it is told again: `tellAgain`
    const { untold, unheard } = this;
    this.untold = {};
    if (Object.keys(untold).length) this.tellings.push({ some: untold, at: performance.now() });
    const told = { ...unheard, ...untold };
    if (Object.keys(told).length && this.root.isConnected) this.tell("choices", told);
  }

  /** The page is about to be left: what only the server can act on is told first. @param {Event} event */
  leave(event) {
    if (!this.root.isConnected || !(Object.keys(this.untold).length || this.tellings.length)) return;
    this.tellNow();
    event.preventDefault();
  }

  /** What nobody could hear; and what was not answered may have been lost with the connection. @param {boolean} isCut */
  tellAgain(isCut) {
    const lost = isCut ? this.tellings.splice(0) : [];
    this.untold = Object.assign({}, ...lost.map(({ some }) => some), this.untold);
    if (Object.keys(this.untold).length) this.settle(0);
  }

  /** Everything that depends on choices and numbers, on its way from what is shown now. */
  update() {
    this.root.classList.remove("waiting");
    for (const [key, chips] of this.chips) chips.show(String(this.choices[key]));
    this.sheet.show([...this.chips.values()]);
    this.experiments.mark();
    if (!this.stage.room) return;
    this.place();
    this.tween.aim(this.goal(), this.root.classList.contains("at-once"));
    this.speak();
  }

  offer() {
    const { controls, experiments, usual } = this.data, offered = JSON.stringify([controls, experiments, usual]);
    if (offered === this.offered) return;
    this.offered = offered;
    for (const { root } of this.chips.values()) root.remove();
    this.bar.replaceChildren(...(controls.length ? [this.sheet.root] : []));
    this.chips = new Map(controls.map((control) => {
      const place = this.keysBelow.includes(control.key) ? this.below : this.bar;
      return [control.key, new Chips(place, { ...control, choose: (value) => this.choose({ [control.key]: value }) })];
    }));
    this.bar.append(...this.besides);
    this.experiments.offer(experiments, usual);
    this.hint.replaceChildren(...makeSentenceNodes(this.caption, {}));
  }

  /** What one can do with the picture. */
  get caption() { return this.data.texts.hero_caption ?? ""; }

  /** The colours of the theme that is shown. */
  wear() {
    this.worn = readBackground(this.root);
    this.dressed(dress(this.root, this.data.looks));
  }

  /** @param {number} room */
  fit(room) {
    if (!room || room === this.stage.room) return;
    this.stage.room = room;
    this.fitted();
    if (this.data) this.layOut();
  }

  fitted() {
    const { room } = this.stage;
    this.root.classList.toggle("phone", room < 560);
    this.root.classList.toggle("narrow", room < 760);
  }

  /** Everything to its place at once, without a way there. */
  layOut() {
    if (!this.stage.room) return;
    this.root.classList.add("still");
    this.stage.least = this.isLecture ? this.leastInClass : 0;
    this.measure();
    this.place();
    this.tween.aim(this.goal(), true);
    this.speak();
    void this.root.offsetWidth; // a style that is set before is not animated
    this.root.classList.toggle("still", isStill());
  }

  speak() {
    const { name, values, classes } = this.sentence(), template = [this.data.texts[name], this.aside()].filter(Boolean).join(" ");
    const text = writeSentence(template, values), all = this.describe();
    if (this.inWords.textContent !== all) this.inWords.textContent = all;
    const isLecture = String(this.isLecture);
    if (this.says.dataset.text === text && this.says.dataset.lecture === isLecture) return;
    Object.assign(this.says.dataset, { text, name, lecture: isLecture });
    this.says.replaceChildren(...makeSentenceNodes(template, values, classes));
    if (this.isLecture) cutSentences(this.says, MOST_WORDS);
    this.root.setAttribute("aria-label", `${this.data.alt} ${text}`);
    const { host } = /** @type {Partial<ShadowRoot>} */ (this.root.getRootNode());
    host?.setAttribute("data-drawn", ""); // what stands below it may come: page_style.css
  }

  // What each hero says of itself.

  /** The choices that stand below the picture. @returns {string[]} */
  get keysBelow() { return []; }
  /** What stands in the bar behind the choices. @returns {Element[]} */
  get besides() { return []; }
  /** Are its numbers here, though the server makes them? @param {string} _key @param {Choice} _value */
  knows(_key, _value) { return false; }
  /** New nodes, where there are other words; were there? @param {boolean} _isFirst */
  renew(_isFirst) { return false; }
  /** Colours have changed. @param {import("./palette.js").Dress} _dress */
  dressed(_dress) {}
  /** How large everything is in the room that there is. */
  measure() {}
  /** What is seen now, the lowest first. @returns {import("./scene.js").Mark[]} */
  marks() { return []; }
  /** Numbers that are to be shown now, and places that are drawn. @returns {Record<string, number[][]>} */
  goal() { return this.scene.goal(); }
  /** Nodes to their places. */
  place() { this.scene.show(this.marks()); }
  /** What the tween has now, drawn. */
  paint() { this.scene.paint(this.tween); }
  /** @returns {Sentence} */
  sentence() { return { name: "", values: {} }; }
  /** What is said after the sentence. */
  aside() { return ""; }
  /** All numbers of the picture in words. */
  describe() { return ""; }
}
