// @ts-check
// A head that often wants nothing: where a letter's weight goes when there is nothing to look for.

/** @import { Choice, HeroData, Sentence } from "../hero.js" */

import { element } from "../../common/elements.js";
import { digits } from "../../common/numbers.js";
import { _ } from "../../common/words.js";
import { ArcStrip } from "../arc_strip.js";
import { Hero } from "../hero.js";
import { Film } from "../player.js";
import { percent } from "../sentence.js";
import { Words } from "../words.js";
import { IdleArcs } from "./idle_arcs.js";
import { IdleBars, KINDS } from "./idle_bars.js";
import { chooseTold } from "../arcs.js";
import { placeIdle } from "./idle_places.js";

/**
 * @typedef {object} Stage what is seen of a head after so many batches
 * @property {number} batches
 * @property {number[][]} weights a row for each place, as long as what it may look at
 * @property {number[]} lengths of the values
 * @property {number[]} gates how far each is open
 * @property {number} largest of the scores, without their sign
 * @property {number} loss
 */
/**
 * @typedef {object} Trained what learns here, or has learned
 * @property {string} setting
 * @property {number} run
 * @property {number} seed
 * @property {string} told how far it is
 * @property {boolean} isOver
 * @property {boolean} isWhole did it learn from all batches?
 * @property {Stage[]} stages
 */
/**
 * @typedef {object} Numbers
 * @property {string[]} letters the first token, then the text
 * @property {number[]} wanted places at which the letter before is to be found
 * @property {number[]} idle places that need nothing, and are counted
 * @property {string} first the switch that puts the first token there
 * @property {string} gate the switch of the gate
 * @property {string} sink the switch of the sink
 * @property {string} nothing the name of the setting without a switch
 * @property {{ name: string, label: string }[]} switches
 * @property {Record<string, Stage[]>} settings what comes with the app
 * @property {Trained | null} trained
 */
/** @typedef {{ useful: number, first: number, itself: number, nowhere: number, elsewhere: number }} Shares */

const SEEN = 0.05; // smaller weights are not written
const SHARE_ROOM = 34; // pixels that a share takes

/** @extends {Hero<HeroData & Numbers>} */
export class Idle extends Hero {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    root.classList.add("idle");
    /** @type {number | null} */
    this.pointed = null;
    this.drawn = "";
    this.all = new IdleArcs(this.stage);
    this.arcs = new ArcStrip(this.stage);
    this.baseline = this.stage.add("div", "baseline");
    this.words = new Words(this.stage, {
      label: _("The letter whose query is used"),
      choose: (place) => { if (place > 0) { this.pointed = null; this.choose({ letter: place - 1 }); } },
      peek: (place) => this.peek(place === 0 ? null : place),
    });
    this.bars = new IdleBars(this.stage);
    this.facts = Array.from({ length: 3 }, () => ({ number: this.stage.add("div", "text idle-number"), name: this.stage.add("div", "text quiet") }));
    this.toggles = element("div", "idle-toggles");
    /** @type {HTMLButtonElement[]} */
    this.buttons = [];
    this.film = new Film(this.below, _("batches learned"), (frame) => this.wind(frame), { play: _("Play"), pause: _("Pause") });
    this.training = this.below.appendChild(element("div", "idle-training"));
    this.train = this.training.appendChild(element("button", "idle-train"));
    this.train.onclick = () => this.choose({ run: this.isTraining ? 0 : Number(this.choices.run) + 1 });
    this.told = this.training.appendChild(element("span", "quiet"));
    this.told.setAttribute("role", "status");
  }

  // What is chosen.

  get setting() { return String(this.choices.given); }
  get switches() { return this.setting === this.data.nothing ? [] : this.setting.split("-"); }
  get hasFirst() { return this.switches.includes(this.data.first); }
  get hasSink() { return this.switches.includes(this.data.sink); }
  get hasGate() { return this.switches.includes(this.data.gate); }
  get asker() { return this.pointed ?? Math.min(Number(this.choices.letter) + 1, this.data.letters.length - 1); }
  /** What learned here with these switches, if that is looked at. */
  get trained() {
    const { trained } = this.data;
    return trained && trained.setting === this.setting && trained.run === Number(this.choices.run) ? trained : null;
  }
  get isTraining() { return Number(this.choices.run) > 0 && this.trained !== null && !this.trained.isOver; }
  /** @returns {Stage[]} */
  get stages() { return this.trained?.stages.length ? this.trained.stages : this.data.settings[this.setting] ?? []; }
  get frame() {
    const last = this.stages.length - 1;
    if (this.isTraining) return last;
    const at = this.stages.findIndex(({ batches }) => batches === Number(this.choices.learned));
    return at < 0 ? last : at;
  }
  /** @returns {Stage | null} */
  get shown() { return this.stages[this.frame] ?? null; }

  /** @param {string} name */
  turn(name) {
    const on = new Set(this.switches);
    if (!on.delete(name)) on.add(name);
    const names = this.data.switches.map((one) => one.name).filter((one) => on.has(one));
    this.choose({ given: names.join("-") || this.data.nothing });
  }

  /** With other switches, what comes with the app is shown. @override @param {Record<string, Choice>} some */
  choose(some) {
    super.choose("given" in some && Number(this.choices.run) ? { run: 0, ...some } : some);
  }

  /** @param {number} frame */
  wind(frame) { this.choose({ learned: this.stages[frame].batches }); }

  /** @param {number | null} place */
  peek(place) {
    if (place === this.pointed) return;
    this.pointed = place;
    this.update();
  }

  // Nodes and places.

  /** @override @param {boolean} isFirst */
  renew(isFirst) {
    const { letters, switches } = this.data, drawn = JSON.stringify([letters, switches]);
    if (!isFirst && drawn === this.drawn) return false;
    this.drawn = drawn;
    this.words.renew(letters.map((letter) => (letter === " " ? "␣" : letter)));
    this.arcs.renew(letters.length);
    this.all.renew(letters.length, this.data.wanted);
    this.toggles.replaceChildren(element("span", "label", _("The head has:")));
    this.buttons = switches.map(({ name, label }) => {
      const button = this.toggles.appendChild(element("button", "idle-toggle", label));
      button.setAttribute("role", "switch");
      button.onclick = () => this.turn(name);
      return button;
    });
    return true;
  }

  /** @override */
  offer() {
    super.offer();
    this.bar.append(this.toggles);
  }

  /** @override */
  measure() { this.plan = placeIdle(this.stage, this.data.letters); }
  layout() { return /** @type {NonNullable<typeof this.plan>} */ (this.plan); }

  /** @override */
  update() {
    this.data.switches.forEach(({ name }, at) => this.buttons[at].setAttribute("aria-checked", String(this.switches.includes(name))));
    const names = this.stages.map(({ batches }) => String(batches));
    if (this.film.names.join() !== names.join()) this.film.offer(names);
    this.film.show(Math.max(0, this.frame), this.stages.length > 1);
    const isTraining = this.isTraining;
    this.train.textContent = isTraining ? _("Cancel") : _("Train it now");
    this.train.classList.toggle("on", isTraining);
    this.told.textContent = this.trained ? this.trained.told : this.stages.length ? "" : _("not trained yet with these switches");
    super.update();
  }

  /** @override */
  place() {
    this.measure();
    const { stage, data, asker } = this, plan = this.layout(), weights = this.weightsOf(asker), has = this.hasFirst;
    stage.put(this.baseline, { x: plan.centres[0] - 8, y: plan.base, width: plan.centres[plan.centres.length - 1] - plan.centres[0] + 16, height: 1 });
    this.words.show({ chosen: Number(this.choices.letter) + 1, shown: asker, names: data.letters.map((_letter, place) => this.tellLetter(place)), hidden: data.letters.map((_letter, place) => place === 0 && !has) });
    this.words.buttons.forEach((button, place) => {
      button.classList.toggle("wanted", data.wanted.includes(place));
      stage.write(button, plan.centres[place], plan.letters, plan.size, place === 0 && !has ? 0.25 : 1);
    });
    const told = chooseTold(weights, plan.centres, SHARE_ROOM, SEEN);
    this.arcs.shares.forEach((share, place) => stage.write(share, plan.centres[place], plan.shares, 14, told.has(place) ? 1 : 0));
    this.arcs.arcs.style.opacity = this.shown ? "1" : "0";
    this.all.place(plan, has ? 0 : 1);
    this.placeFacts();
    const { shown } = this, gates = shown && this.hasGate ? [shown.gates[this.at(asker)] ?? 1, this.meanGate()] : null;
    const name = data.letters[asker] === " " ? "␣" : data.letters[asker];
    this.bars.place(plan, [name, _("idle letters")], shown ? [this.split(asker), this.splitIdle()] : null, has ? data.letters[0] : _("first letter"), gates, this.hasSink);
  }

  placeFacts() {
    const { stage, shown, data } = this, plan = this.layout(), lengths = this.lengths();
    const told = shown ? [
      [digits(shown.largest, 1), _("largest |score|")],
      [digits(shown.loss), _("loss")],
      this.hasFirst
        ? [`${digits(lengths.first, 1)} | ${digits(lengths.others, 1)}`, _("value length: {letter} | others", { letter: data.letters[0] })]
        : [digits(lengths.others, 1), _("mean length of a value")],
    ] : [];
    this.facts.forEach(({ number, name }, at) => {
      const place = plan.facts[at], [value, label] = told[at] ?? ["", ""];
      number.textContent = value;
      name.textContent = label;
      stage.write(number, ...place.number, plan.isPhone ? 17 : 24, value ? 1 : 0, 0, "right");
      stage.write(name, ...place.name, 14, value ? 1 : 0, 0, plan.isPhone ? "left" : "right");
    });
  }

  // Numbers.

  /** Where a place stands in a stage's lists. @param {number} place */
  at(place) { return this.hasFirst ? place : place - 1; }

  /** What a place gives to every other one, the first token among them. @param {number} place @returns {number[]} */
  weightsOf(place) {
    const row = this.shown?.weights[this.at(place)] ?? [], all = this.hasFirst ? row : [0, ...row];
    return this.data.letters.map((_letter, seen) => all[seen] ?? 0);
  }

  /** @param {number} place @returns {Shares} */
  split(place) {
    const row = this.weightsOf(place), sum = row.reduce((total, one) => total + one, 0);
    const useful = this.data.wanted.includes(place) ? row[place - 1] : 0, first = row[this.hasFirst ? 0 : 1];
    const itself = place === (this.hasFirst ? 0 : 1) ? 0 : row[place];
    return { useful, first, itself, nowhere: this.hasSink ? Math.max(0, 1 - sum) : 0, elsewhere: Math.max(0, sum - useful - first - itself) };
  }

  /** The same, averaged over the letters that need nothing. @returns {Shares} */
  splitIdle() {
    const { idle } = this.data, all = idle.map((place) => this.split(place));
    const mean = (/** @type {keyof Shares} */ kind) => all.reduce((sum, one) => sum + one[kind], 0) / idle.length;
    return { useful: 0, first: mean("first"), itself: mean("itself"), nowhere: mean("nowhere"), elsewhere: mean("elsewhere") };
  }

  meanGate() {
    const { idle } = this.data;
    return idle.reduce((sum, place) => sum + (this.shown?.gates[this.at(place)] ?? 1), 0) / idle.length;
  }

  /** Of the values: the first place's, and the others' on average. */
  lengths() {
    const all = this.shown?.lengths ?? [], [first = 0] = all, others = this.hasFirst ? all.slice(1) : all;
    return { first, others: others.reduce((sum, one) => sum + one, 0) / Math.max(1, others.length) };
  }

  /** @override @returns {Record<string, number[][]>} */
  goal() {
    const { plan } = this;
    if (!plan) return {};
    const gate = this.hasGate ? this.shown?.gates[this.at(this.asker)] ?? 1 : 1;
    const all = this.data.letters.flatMap((_letter, place) => this.weightsOf(place));
    return { all: [all], weights: [this.weightsOf(this.asker)], centres: [plan.centres], form: [[plan.centres[this.asker], plan.base, plan.high, plan.scale, gate]] };
  }

  /** @override */
  paint() {
    const { tween } = this;
    if (!this.plan || !tween.blocks.form) return;
    const [asker, base, high, scale, gate] = tween.row("form", 0), weights = tween.row("weights", 0);
    this.all.paint(tween.row("all", 0), this.data.letters.length, this.hasFirst ? 0 : 1);
    const isSeen = (/** @type {number} */ place) => place <= this.asker && (place > 0 || this.hasFirst);
    this.arcs.paint(weights, { centres: tween.row("centres", 0), asker, base, high, scale, even: 0, isUpright: false }, isSeen);
    this.arcs.arcs.style.filter = gate < 0.99 ? `opacity(${(0.25 + 0.75 * gate).toFixed(3)})` : "";
  }

  // Words.

  /** @override @returns {Sentence} */
  sentence() {
    const { data, asker, shown } = this;
    if (!shown) return { name: "hero_untrained", values: {} };
    const own = this.split(asker), idle = this.splitIdle(), lengths = this.lengths();
    const name = (/** @type {number} */ place) => (data.letters[place] === " " ? "␣" : data.letters[place] ?? "");
    const values = {
      letter: name(asker), target: name(asker - 1), token: data.letters[0], ...write("own_", own), ...write("", idle),
      length: digits(lengths.first, 1), others: digits(lengths.others, 1), ratio: percent(lengths.first / (lengths.others || 1)), gate: percent(this.meanGate()), own_gate: percent(shown.gates[this.at(asker)] ?? 1),
    };
    const classes = { letter: "query", target: "weight", own_useful: "weight", token: "idle-first", first: "idle-first", own_first: "idle-first" };
    return { name: `hero_${data.wanted.includes(asker) ? "wanted" : "idle"}_${this.outcome(idle)}`, values, classes };
  }

  /** What becomes of the weight that nobody needs. @param {Shares} idle */
  outcome(idle) {
    const largest = Math.max(idle.first, idle.nowhere, idle.itself + idle.elsewhere);
    if (this.hasFirst && idle.first === largest) return "first";
    if (this.hasGate && this.meanGate() < 0.5) return "gate";
    return idle.nowhere === largest ? "nowhere" : "scattered";
  }

  /** What a letter is told as. @param {number} place */
  tellLetter(place) {
    const row = this.weightsOf(place), weight = Math.max(...row), letter = this.data.letters[place];
    if (!this.shown || (place === 0 && !this.hasFirst)) return letter;
    return _("{letter} looks most at {seen}: {share}", { letter, seen: this.data.letters[row.indexOf(weight)], share: percent(weight) });
  }

  /** @override */
  describe() {
    const shares = this.shown ? write("", this.splitIdle()) : null;
    const idle = shares ? KINDS.map((kind) => `${this.bars.nameKind(kind)} ${shares[kind]}`).join(", ") : "";
    return [...this.data.letters.map((_letter, place) => this.tellLetter(place)), `${_("idle letters")}: ${idle}`].join(". ");
  }
}

/** Shares as a sentence has them. @param {string} before @param {Shares} shares @returns {Record<string, string>} */
const write = (before, shares) => Object.fromEntries(Object.entries(shares).map(([kind, share]) => [before + kind, percent(share)]));
