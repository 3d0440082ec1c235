// @ts-check
// One word's journey: whom a word looks at, and how that comes about, in one picture.
// Every node is made once. A step changes places, which CSS moves; another word changes numbers,
// which the tween moves.

/** @import { Hero as Base, HeroData, Sentence } from "../hero.js" */
/** @import { Dress } from "../palette.js" */
/** @import { Box } from "../stage.js" */
/** @import { Line, Lanes, Rows } from "../lanes.js" */
/** @import { Depth, Step } from "./journey_steps.js" */

import { element, shape } from "../../common/elements.js";
import { digits } from "../../common/numbers.js";
import { _, grouped } from "../../common/words.js";
import { AllWords, COLUMN_NAMES } from "../all_words.js";
import { ArcStrip } from "../arc_strip.js";
import { writeRibbonPath } from "../arcs.js";
import { WordHero } from "../word_hero.js";
import { lanes, poster, rows } from "../lanes.js";
import { Mixture } from "../mixture.js";
import { isStill } from "../motion.js";
import { makeSignedRamp } from "../palette.js";
import { Film, Player } from "../player.js";
import { percent } from "../sentence.js";
import { Strip } from "../strip.js";
import { BORN, DELAYS, makeDepthTable, DWELL, HEIGHT, LOOK, MASK, NUMBERS, OUTPUT, PER_WORD, SCORES, SOURCE, VIEWS, WEIGHTS } from "./journey_steps.js";

/** @typedef {number[][]} Matrix */
/** @typedef {{ allowed: boolean[][], weights: Matrix, output: Matrix, film: Matrix[] }} Masked */
/**
 * @typedef {object} Numbers
 * @property {string[]} tokens
 * @property {Matrix} x
 * @property {Matrix} query
 * @property {Matrix} key
 * @property {Matrix} value
 * @property {Matrix} scores
 * @property {Record<string, Masked>} masks by their names
 * @property {number[]} batches of the film; none of a real model's training
 * @property {string[]} losses
 */
/**
 * @typedef {object} Lane what belongs to one word
 * @property {Record<string, Strip>} strips
 * @property {HTMLElement} shutter
 * @property {HTMLElement} bar
 * @property {HTMLElement} score
 * @property {HTMLElement} may
 * @property {SVGElement} ribbon
 */

const ROLES = { x: "input", query: "query", asked: "query", key: "key", value: "value", product: "head0", weighted: "value", output: "value" };
const OWN = ["x", "value", "key", "asked", "product", "weighted"]; // each word has these
const ASKERS = ["query", "output"]; // only the word that asks has these

/** @extends {WordHero<HeroData & Numbers>} */
export class Journey extends WordHero {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    this.step = LOOK;
    this.all = false;
    this.isForward = false;
    /** @type {Lane[]} */
    this.lanes = [];
    this.ribbons = this.stage.draw("g", "ribbons");
    this.arcs = new ArcStrip(this.stage);
    this.baseline = this.stage.add("div", "baseline");
    this.words = this.addWords();
    this.mixture = new Mixture(this.stage, _("What the new vector is made of"));
    this.grid = new AllWords(this.stage, (row) => this.choose({ word: row }));
    /** @type {Record<string, HTMLElement>} */
    this.labels = Object.fromEntries(["x", "query", "key", "value", "product", "score", "bar", "weighted", "output"].map((kind) => {
      const label = this.stage.add("div", "label");
      label.append(element("b"), element("span"));
      label.style.setProperty("--role", `var(--${ROLES[/** @type {keyof typeof ROLES} */ (kind)] ?? "st-text-color"})`);
      return [kind, label];
    }));
    this.player = new Player(this.below, {
      words: { play: _("Show me how"), pause: _("Pause"), again: _("Play again"), resume: _("Play") },
      names: [_("Look"), _("Numbers"), _("Query, key, value"), _("Scores"), _("Mask"), _("Weights"), _("Output")],
      dwell: DWELL,
      go: (step) => this.go(step),
      said: () => this.says.textContent,
      skips: (step) => step === MASK && this.data.tokens.every((_token, place) => !this.isHidden(place)),
    });
    this.views = this.player.addViews([_("one word"), _("all words")], (view) => this.see(view === 1));
    this.film = new Film(this.below, _("batches learned"), (frame) => this.wind(frame));
    /** @type {Record<string, Strip>} */
    this.askers = {};
    root.addEventListener("keydown", (event) => this.key(event));
  }

  // What is chosen.

  get count() { return this.data.tokens.length; }
  get rule() { return this.data.masks[String(this.choices.mask)]; }
  get lastFrame() { return this.data.batches.length - 1; }
  get frame() {
    const at = this.data.batches.indexOf(Number(this.choices.batches));
    return at < 0 ? this.lastFrame : at;
  }
  get isPoster() { return this.step === LOOK && !this.all; }
  get weights() { return this.frame < this.lastFrame ? this.rule.film[this.frame] : this.rule.weights; }
  /** @param {number} place @param {number} [asker] */
  isHidden(place, asker = this.asker) { return !this.rule.allowed[asker][place]; }

  /** @override @param {number | null} place */
  peek(place) {
    this.root.classList.add("quick");
    super.peek(place);
  }

  /** @param {number} step */
  go(step) {
    if (step === this.step && !this.all) return;
    this.isForward = step === this.step + 1 && !this.all;
    this.root.classList.toggle("quick", !this.isForward && step !== LOOK);
    Object.assign(this, { step, all: false, pointed: null });
    if (step !== LOOK && this.frame < this.lastFrame) this.choose({ batches: this.data.batches[this.lastFrame] });
    else this.update();
    this.isForward = false;
  }

  /** @param {boolean} all */
  see(all) {
    this.player.pause();
    this.root.classList.remove("quick");
    if (all && !this.all) this.grid.seed((place) => this.seedOf(place), this.asker);
    this.all = all;
    this.update();
  }

  /** @param {number} frame */
  wind(frame) {
    if (this.step !== LOOK) { this.player.to(LOOK); }
    this.root.classList.add("quick");
    this.choose({ batches: this.data.batches[frame] });
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key], on = /** @type {HTMLElement} */ (event.target);
    if (!by || event.altKey || event.ctrlKey || event.metaKey || on.matches("input, [role=radio]")) return;
    event.preventDefault();
    event.stopPropagation();
    this.player.pause();
    this.player.to(this.step + by, true);
  }

  // Nodes.

  /** @override @param {boolean} isFirst */
  renew(isFirst) {
    const { tokens, batches } = this.data;
    this.film.offer(batches.map((batch) => grouped(batch)));
    if (!this.hasNewWords(isFirst)) return false;
    for (const lane of this.lanes) {
      for (const strip of Object.values(lane.strips)) strip.node.remove();
      for (const node of [lane.shutter, lane.bar, lane.score, lane.may, lane.ribbon]) node.remove();
    }
    for (const strip of Object.values(this.askers)) strip.node.remove();
    this.askers = this.strips(ASKERS);
    this.lanes = tokens.map(() => ({
      strips: this.strips(OWN),
      shutter: this.stage.add("div", "shutter"),
      bar: this.stage.add("div", "bar-of-weight"),
      score: this.stage.add("div", "text score"),
      may: this.stage.add("div", "text may"),
      ribbon: /** @type {SVGElement} */ (this.ribbons.appendChild(shape("path", { class: "ribbon" }))),
    }));
    this.words.renew(tokens);
    this.arcs.renew(tokens.length);
    this.mixture.renew(tokens);
    this.grid.renew(tokens);
    const column = (/** @type {(lane: Lane) => Element} */ find) => this.lanes.map(find);
    this.markOwn([
      this.words.buttons, this.arcs.shares, this.arcs.arcs.children, ...this.grid.columns(),
      ...OWN.map((kind) => column(({ strips }) => strips[kind].node)),
      ...["shutter", "bar", "score", "may", "ribbon"].map((part) => column((lane) => lane[/** @type {"bar"} */ (part)])),
    ], [this.mixture.parts]);
    return true;
  }

  /** @param {string[]} kinds */
  strips(kinds) {
    return Object.fromEntries(kinds.map((kind) => [
      kind, new Strip(this.stage, kind, ROLES[/** @type {keyof typeof ROLES} */ (kind)]),
    ]));
  }

  /** @override @param {Dress} dress */
  dressed({ look, background }) {
    const role = (/** @type {string} */ colour) => makeSignedRamp(background, colour, look.below);
    this.ramps = /** @type {Record<string, Uint32Array>} */ ({
      x: makeSignedRamp(background, look.input, look.inputBelow), query: role(look.query), asked: role(look.query), key: role(look.key), value: role(look.value),
      product: role(look.heads[0]), weighted: role(look.value), output: role(look.value),
    });
  }

  // Places.

  /** @override */
  measure() {
    const { stage } = this, { tokens } = this.data;
    const across = stage.room >= 560 && lanes(stage, tokens), large = across && poster(stage, tokens, 40);
    this.isUpright = !across || !large;
    this.root.classList.toggle("upright", this.isUpright);
    if (across && large) {
      stage.resize(stage.room, stage.room < 760 ? 380 : HEIGHT);
      this.plan = { line: across, poster: large, left: across.gutter, strip: across.strip };
    } else {
      const line = rows(stage, tokens, 16 + Math.max(...stage.widths(tokens, COLUMN_NAMES)));
      stage.resize(stage.room, line.head + line.pitch * tokens.length + 56);
      const size = tokens.length > 9 ? 18 : 24, widths = stage.widths(tokens, size), below = stage.height - 78;
      const centres = tokens.map((_word, place) => 18 + (below / tokens.length) * (place + 0.5));
      const left = Math.max(70, Math.min(stage.room * 0.3, stage.room - Math.max(...widths) - 84));
      this.plan = { line, poster: { size, widths, centres }, left: line.left, strip: line.strip, posterLeft: left };
    }
    this.table = makeDepthTable(this.isUpright, stage.room - this.plan.left - 2, stage.height);
    const length = this.isUpright ? 0 : this.plan.strip; // on a phone there is no room for digits
    for (const { strips } of this.lanes) {
      strips.x.isColumn = !this.isUpright;
      strips.x.fit(this.isUpright ? 0 : /** @type {Depth} */ (this.table[NUMBERS].x)[1], this.data.x[0].length);
      for (const kind of OWN.slice(1)) strips[kind].fit(length, this.data.key[0].length);
    }
    for (const strip of Object.values(this.askers)) strip.fit(length, this.data.key[0].length);
  }

  /** Where a kind is in the lane of a word. @param {number} place @param {Depth} depth @returns {Box} */
  box(place, [at, extent]) {
    const { line, left, strip } = this.layout(), centre = line.centres[place];
    return this.isUpright
      ? { x: left + at, y: centre - strip / 2, width: extent, height: strip }
      : { x: centre - strip / 2, y: at, width: strip, height: extent };
  }

  layout() { return /** @type {NonNullable<typeof this.plan>} */ (this.plan); }
  depths() { return /** @type {Step[]} */ (this.table); }

  /** Where a kind is at this step, or where it comes from, or what it became. @param {string} kind @param {number} place @returns {{ box: Box, opacity: number }} */
  spot(kind, place) {
    const table = this.depths(), now = table[this.step][kind];
    if (now) return { box: this.box(place, now), opacity: now[2] };
    if (this.step < (BORN[kind] ?? 0)) {
      const from = kind === "asked" ? this.asker : place;
      return { box: this.box(from, table[this.step][SOURCE[kind]] ?? table[this.step].x ?? table[NUMBERS].x ?? [0, 0, 0]), opacity: 0 };
    }
    const score = table[this.step].score ?? table[WEIGHTS].score;
    if (["query", "asked", "product", "key"].includes(kind) && score) return { box: this.scoreBox(place, score), opacity: 0 };
    return { box: this.box(place, table[OUTPUT][kind] ?? table[NUMBERS].x ?? [0, 0, 0]), opacity: 0 };
  }

  /** @param {number} place @param {Depth} depth @returns {Box} */
  scoreBox(place, [at]) {
    const { line, left, strip } = this.layout(), centre = line.centres[place];
    return this.isUpright
      ? { x: left + at - 10, y: centre - 6, width: 20, height: 12 }
      : { x: centre - strip / 4, y: at - 2, width: strip / 2, height: 4 };
  }

  /** @param {string} kind @param {number} [place] milliseconds that it waits when the step was entered from the one before */
  delay(kind, place = this.asker) {
    if (!this.isForward || isStill()) return 0;
    const own = ["asked", "product", "score"].includes(kind) ? PER_WORD * Math.abs(place - this.asker) : 0;
    return (DELAYS[this.step][kind] ?? 0) + own;
  }

  /** @override */
  place() {
    if (!this.plan) return;
    const { stage, asker, step, all } = this, shown = all ? 0 : 1;
    this.root.classList.toggle("poster", this.isPoster);
    this.placeWords();
    for (const kind of ASKERS) {
      const { box, opacity } = this.spot(kind, asker);
      if (kind === "output" && step === OUTPUT) Object.assign(box, this.outputBox());
      stage.put(this.askers[kind].node, box, opacity * shown, this.delay(kind));
    }
    this.lanes.forEach((lane, place) => {
      for (const kind of OWN) {
        const { box, opacity } = this.spot(kind, place);
        const faded = step >= MASK && kind !== "x" && this.isHidden(place) ? 0.25 : 1;
        stage.put(lane.strips[kind].node, box, opacity * shown * faded, this.delay(kind, place));
      }
      this.placeScore(lane, place, shown);
      this.placeShutter(lane, place, shown);
      this.placeBar(lane, place, shown);
    });
    this.placeLabels();
    this.grid.place(this.gridPlace(), all, this.asker);
    this.ribbons.style.opacity = step === OUTPUT && !all ? "1" : "0";
    this.ribbons.style.transitionDelay = `${this.delay("ribbon")}ms`;
    const hasArcs = this.isUpright ? this.isPoster : this.isPoster || step >= SCORES || all;
    this.arcs.arcs.style.opacity = hasArcs ? "1" : "0";
    this.placeMixture();
    this.player.show(step);
    this.views(all ? 1 : 0);
    this.film.show(this.frame, this.isPoster && this.lastFrame > 0);
  }

  placeWords() {
    const { stage, isUpright } = this, { line, poster: large, posterLeft } = this.layout();
    const at = this.isPoster ? large : line;
    this.words.buttons.forEach((button, place) => {
      if (isUpright) stage.write(button, this.isPoster ? posterLeft ?? 0 : 0, at.centres[place], at.size, 1, 0, "left");
      else stage.write(button, at.centres[place] - at.widths[place] / 2, this.wordDepth(), at.size, 1, 0, "left");
    });
    const { tokens, scores } = this.data, { asker } = this;
    this.words.canPeek = this.isPoster || this.all;
    this.words.show({
      chosen: this.chosen,
      shown: asker,
      hidden: tokens.map((_token, place) => this.isHidden(place) && (this.step >= MASK || this.isPoster || this.all)),
      names: tokens.map((token, place) => _("{word}, {share}, score {score}", {
        word: token, share: percent(this.weights[asker][place]), score: this.isHidden(place) ? "−∞" : digits(scores[asker][place]),
      })),
    });
  }

  wordDepth() { return this.isPoster ? 0.66 * this.stage.height : (84 * this.stage.height) / HEIGHT; }

  /** @param {Lane} lane @param {number} place @param {number} shown */
  placeScore({ score }, place, shown) {
    const { line, left } = this.layout(), now = this.depths()[this.step].score;
    const isHidden = this.step >= MASK && this.isHidden(place);
    score.classList.toggle("best", !this.isHidden(place) && this.weights[this.asker][place] >= 0.2);
    const at = now ?? (this.step > SCORES ? this.depths()[WEIGHTS].score : undefined);
    const from = this.spot("key", place).box;
    const centre = line.centres[place];
    const [x, y] = at ? (this.isUpright ? [left + at[0], centre] : [centre, at[0]]) : [from.x + from.width / 2, from.y + from.height / 2];
    const size = this.isUpright ? (this.step === MASK ? 18 : 13) : Math.min(this.layout().strip / 3, now?.[1] ?? 13);
    this.stage.write(score, x, y, size, now ? now[2] * shown * (isHidden ? 0.5 : 1) : 0, this.delay("score", place));
  }

  /** @param {Lane} lane @param {number} place @param {number} shown */
  placeShutter({ shutter, may }, place, shown) {
    const { line, left } = this.layout(), { stage, isUpright } = this, by = stage.height / HEIGHT, centre = line.centres[place];
    const isShut = this.isHidden(place), seen = this.step === MASK ? shown : 0;
    shutter.classList.toggle("rolled", !isShut);
    const length = isShut ? 1 : 0.08;
    const box = isUpright
      ? { x: left + 4, y: centre - 16, width: (stage.room - left - 8) * length, height: 32 }
      : { x: centre - this.layout().strip / 2, y: 150 * by, width: this.layout().strip, height: 124 * by * length };
    stage.put(shutter, box, seen * (isShut ? 0.85 : 1), this.delay("shutter"));
    may.textContent = isShut ? _("hidden") : _("allowed");
    stage.write(may, isUpright ? left + 0.75 * (stage.room - left) : centre, isUpright ? centre : 250 * by, 15, seen, this.delay("shutter"));
  }

  /** @param {Lane} lane @param {number} place @param {number} shown */
  placeBar({ bar }, place, shown) {
    const { line, left, strip } = this.layout(), now = this.depths()[this.step].bar, weight = this.weights[this.asker][place];
    const [at, extent] = now ?? /** @type {Depth} */ (this.depths()[WEIGHTS].bar), length = now ? Math.max(weight > 0 ? 1.5 : 0, weight * extent) : 0;
    const thick = this.isUpright ? strip : Math.min(64, strip * 0.7), centre = line.centres[place];
    const box = this.isUpright
      ? { x: left + at, y: centre - thick / 2, width: length, height: thick }
      : { x: centre - thick / 2, y: at - length, width: thick, height: length };
    this.stage.put(bar, box, now ? shown : 0, this.delay("bar"));
    this.placeShare(place, box);
  }

  /** The percentage: below the arc, on the bar, or beside the value. @param {number} place @param {Box} bar */
  placeShare(place, bar) {
    const { stage, isUpright, step } = this, { line, poster: large, left, posterLeft } = this.layout();
    const share = this.arcs.shares[place], isLow = this.weights[this.asker][place] < 0.05, centre = line.centres[place];
    const isSeen = !this.all && [LOOK, WEIGHTS, OUTPUT].includes(step) && !(step !== LOOK && this.isHidden(place));
    const opacity = isSeen ? 1 : 0, delay = this.delay("bar");
    if (step === WEIGHTS || (step !== OUTPUT && !this.isPoster)) {
      if (isUpright) stage.write(share, bar.x + bar.width + 8, centre, isLow ? 13 : 17, opacity, delay, "left");
      else stage.write(share, centre, bar.y - 14, isLow ? 15 : 22, opacity, delay);
    } else if (this.isPoster) {
      if (isUpright) stage.write(share, (posterLeft ?? 0) + Math.max(...large.widths) + 14, large.centres[place], isLow ? 14 : 19, 1, 0, "left");
      else stage.write(share, large.centres[place], this.wordDepth() - large.size * 0.94, isLow ? 15 : Math.max(17, large.size * 0.58), 1);
    } else if (isUpright) stage.write(share, left + 0.18 * (stage.room - left), centre, 14, opacity, 0, "right");
    else stage.write(share, centre, (54 * stage.height) / HEIGHT, isLow ? 13 : 17, opacity);
  }

  placeMixture() {
    const { stage, isUpright } = this, { poster: large, line, posterLeft } = this.layout(), shown = this.isPoster ? 1 : 0;
    const first = large.centres[0] - large.widths[0] / 2, last = large.centres[this.count - 1] + large.widths[this.count - 1] / 2;
    const box = isUpright
      ? { x: 4, y: stage.height - 32, width: stage.room - 8, height: 28 }
      : { x: first, y: stage.height - 46, width: last - first, height: 34 };
    this.mixture.place(box, shown);
    stage.put(this.baseline, isUpright
      ? { x: line.centres.length ? this.layout().left + /** @type {Depth} */ (this.depths()[WEIGHTS].bar)[0] - 1 : 0, y: 36, width: 1.5, height: stage.height - 80 }
      : { x: this.layout().left, y: /** @type {Depth} */ (this.depths()[WEIGHTS].bar)[0], width: stage.room - this.layout().left, height: 1.5 },
    this.step === WEIGHTS && !this.all ? 1 : 0);
  }

  /** The sum of all weighted values is wider than any of them. @returns {Box} */
  outputBox() {
    const { line, strip } = this.layout(), [at, extent] = /** @type {Depth} */ (this.depths()[OUTPUT].output), centre = line.centres[this.asker];
    if (!this.isUpright) return { x: centre - strip / 2 - 10, y: at, width: strip + 20, height: extent };
    const height = Math.min(this.stage.height * 0.4, strip * 4), half = height / 2 + 4;
    const middle = Math.max(half + 36, Math.min(this.stage.height - half, centre));
    return { x: this.layout().left + at, y: middle - height / 2, width: extent, height };
  }

  placeLabels() {
    const { step, stage, isUpright } = this, size = this.data.key[0].length, table = this.depths(), width = this.data.x[0].length;
    /** @type {Record<string, [string, string] | false>} */
    const said = {
      x: [NUMBERS, VIEWS].includes(step) && ["x", step === NUMBERS ? _("{count} numbers", { count: width }) : ""],
      query: step === VIEWS ? [_("query"), _("what it looks for")] : step === SCORES && [_("query"), ""],
      key: step === VIEWS ? [_("key"), _("what it is found by")] : step === SCORES && [`× ${_("key")}`, ""],
      value: step === VIEWS ? [_("value"), _("what it passes on")] : step === OUTPUT && [_("value"), ""],
      product: step === SCORES && ["=", _("products")],
      score: step === SCORES ? [_("score"), _("add up, ÷ √{count}", { count: size })] : [MASK, WEIGHTS].includes(step) && [_("score"), ""],
      bar: step === WEIGHTS && [_("weight"), _("together 100 %")],
      weighted: step === OUTPUT && [_("× weight"), ""],
      output: step === OUTPUT && [_("output"), _("the sum")],
    };
    for (const [kind, label] of Object.entries(this.labels)) {
      const text = !this.all && said[kind], key = kind === "query" && step === SCORES ? "asked" : kind;
      const [at, extent] = table[step][key] ?? table[NUMBERS].x ?? [0, 0];
      const middle = kind === "score" ? at : kind === "bar" ? at + (isUpright ? extent / 2 : -extent * 0.45) : at + extent / 2;
      if (text) text.forEach((part, place) => { label.children[place].textContent = part; });
      if (isUpright) stage.write(label, Math.min(stage.room - 34, this.layout().left + middle), 17, 12, text ? 1 : 0);
      else stage.write(label, this.layout().left - 12, middle, 13, text ? 1 : 0, 0, "right");
    }
  }

  gridPlace() {
    const { stage, isUpright } = this, { line, left } = this.layout(), lengths = "lengths" in line ? line.lengths : [];
    const [top, side] = "pitch" in line ? [line.head, line.pitch] : [(108 * stage.height) / HEIGHT, 0];
    const width = (stage.room - left) / this.count;
    return {
      left, top, side: side || (stage.height - top - 4) / this.count, isUpright: Boolean(isUpright),
      starts: this.data.tokens.map((_t, j) => (isUpright ? left + width * j : line.centres[j] - lengths[j] / 2)),
      widths: this.data.tokens.map((_t, j) => (isUpright ? width : lengths[j])),
      weights: this.weights, allowed: this.rule.allowed,
    };
  }

  /** Where a cell of all words comes from: its bar, or the end of its arc. @param {number} place @returns {Box} */
  seedOf(place) {
    const { line, left } = this.layout(), centre = line.centres[place];
    if (this.isUpright) return { x: left, y: centre - 8, width: 20, height: 16 };
    return { x: centre - 22, y: this.step === WEIGHTS ? 320 : 60, width: 44, height: 20 };
  }

  // Numbers.

  /** @override @returns {Record<string, number[][]>} */
  goal() {
    if (!this.plan) return {};
    const { data, asker, rule, step } = this, { query, key, value, x, scores } = data, weights = this.weights[asker];
    const { line, poster: large, posterLeft } = this.layout(), { stage, isUpright, isPoster } = this, by = stage.height / HEIGHT;
    const centres = (isPoster ? large : line).centres, isCompared = step >= WEIGHTS || isPoster || this.all;
    const line0 = this.wordDepth() - large.size * 1.32, isTall = this.all || step < WEIGHTS;
    const base = isUpright ? (posterLeft ?? 0) - 8 : isPoster ? line0 : (isTall ? 64 : 44) * by;
    const high = isUpright ? (posterLeft ?? 0) - 26 : isPoster ? line0 - 16 : (isTall ? 52 : 34) * by;
    return {
      query: [query[asker]], key, value, x,
      product: key.map((row) => row.map((number, d) => number * query[asker][d])),
      weighted: value.map((row, place) => row.map((number) => number * weights[place])),
      output: [rule.output[asker]],
      score: [scores[asker]],
      weights: [weights],
      centres: [centres],
      form: [[centres[asker], base, high, isPoster ? 1 : 0.55, isCompared ? 0 : 1]],
    };
  }

  /** @override */
  paint() {
    const { tween, data, ramps } = this;
    if (!ramps || !this.plan || !tween.blocks.x) return;
    const { query, key, value, x } = data, top = (/** @type {Matrix} */ rows) => Math.max(1e-9, ...rows.flat().map(Math.abs));
    const limit = { x: 0.8 * top(x), query: top(query), asked: top(query), key: top(key), value: top(value), weighted: top(value), output: top(value), product: top(tween.goal.product) };
    const fill = (/** @type {Strip} */ strip, /** @type {ArrayLike<number>} */ values) =>
      strip.fill(values, limit[/** @type {keyof typeof limit} */ (strip.kind)], ramps[strip.kind]);
    fill(this.askers.query, tween.row("query", 0));
    fill(this.askers.output, tween.row("output", 0));
    const scores = tween.row("score", 0);
    this.lanes.forEach(({ strips, score }, place) => {
      for (const kind of OWN) fill(strips[kind], kind === "asked" ? tween.row("query", 0) : tween.row(kind, place));
      const text = this.step >= MASK && this.isHidden(place) ? "−∞" : digits(scores[place]);
      if (score.textContent !== text) score.textContent = text;
    });
    const [asker, base, high, scale, even] = tween.row("form", 0), weights = tween.row("weights", 0);
    const form = { centres: tween.row("centres", 0), asker, base, high, scale, even, isUpright: Boolean(this.isUpright) };
    this.arcs.paint(weights, form, (place) => this.step === SCORES || !this.isHidden(place));
    this.mixture.paint(weights);
    if (this.step === OUTPUT) this.paintRibbons(weights);
  }

  /** As wide as the share of a strip; together exactly as wide as the output. @param {ArrayLike<number>} weights */
  paintRibbons(weights) {
    const output = this.outputBox(), { line, strip } = this.layout(), across = !this.isUpright;
    const weighted = this.box(0, /** @type {Depth} */ (this.depths()[OUTPUT].weighted));
    const start = across ? weighted.y + weighted.height + 3 : weighted.x + weighted.width + 3, end = (across ? output.y : output.x) - 3;
    const full = across ? output.width : output.height;
    let at = across ? output.x : output.y;
    this.lanes.forEach(({ ribbon }, place) => {
      const half = (strip * weights[place]) / 2, centre = line.centres[place], to = at + full * weights[place];
      ribbon.setAttribute("d", writeRibbonPath({ across, start, end, from: [centre - half, centre + half], to: [at, to] }));
      ribbon.style.opacity = weights[place] < 0.002 ? "0" : (0.25 + 0.4 * weights[place]).toFixed(3);
      at = to;
    });
  }

  // Words.

  /** @override */
  divided() { return [this.weights[this.asker]]; }

  /** Weights of the word that asks, the largest first. */
  ranked() {
    const weights = this.weights[this.asker];
    return this.seen.map((place) => ({ weight: weights[place], place })).sort((a, b) => b.weight - a.weight);
  }

  /** @override @returns {Sentence} */
  sentence() {
    const { data, asker, step } = this, { tokens } = data, [first, second] = this.ranked();
    const scores = data.scores[asker].map((score, place) => (!this.seen.includes(place) || (this.isHidden(place) && step !== SCORES) ? -Infinity : score)), best = Math.max(...scores);
    const values = {
      word: tokens[asker], words: String(tokens.length), hidden: String(tokens.filter((_t, place) => this.isHidden(place)).length),
      first: tokens[first.place], first_share: percent(first.weight),
      second: second ? tokens[second.place] : "", second_share: percent(second?.weight ?? 0),
      d_model: String(data.x[0].length), d_k: String(data.key[0].length),
      batch: String(this.choices.batches), batches: String(data.batches.at(-1) ?? 0), loss: data.losses[this.frame] ?? "", first_loss: data.losses[0] ?? "",
    };
    if (step === SCORES) Object.assign(values, { first: tokens[scores.indexOf(best)], score: digits(best) });
    const classes = { word: "query", first: "weight", first_share: "weight", second: "weight", second_share: "weight" };
    return { name: this.sentenceName(first.weight, second?.weight ?? 0), values, classes };
  }

  /** @param {number} first the largest weight @param {number} second */
  sentenceName(first, second) {
    const { step } = this;
    if (this.all) return "hero_all";
    if (step !== LOOK) {
      const name = ["", this.ownPositions.length ? "step_numbers_own" : "step_numbers", "step_qkv", "step_scores", "step_mask", "step_weights", "step_output"][step];
      return step === MASK && this.rule.allowed[this.asker].every(Boolean) ? "step_mask_full" : name;
    }
    if (this.frame < this.lastFrame) return this.frame === 0 ? "film_start" : "film_seen";
    if (this.hidesOwn) return "hero_hidden";
    if (this.rule.allowed[this.asker].filter(Boolean).length === 1) return "hero_only";
    if (first >= 0.5 && (first >= 0.8 || second < 0.1) && this.ownPositions.includes(this.ranked()[0].place)) return this.ranked()[0].place ? "hero_nothing_end" : "hero_nothing";
    if (first >= 0.8 || second < 0.1) return first >= 0.5 ? "hero_one" : "hero_spread";
    return first + second >= 0.6 ? "hero_two" : "hero_spread";
  }

  /** @override */
  describe() {
    const { tokens } = this.data;
    return this.seen.map((asker) => {
      const shares = this.seen.map((place) => `${tokens[place]} ${percent(this.weights[asker][place])}`).join(", ");
      return _("{word} gives {shares}", { word: tokens[asker], shares });
    }).join(". ");
  }
}
