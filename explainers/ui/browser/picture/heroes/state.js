// @ts-check
// A memory of fixed size: pairs of words are written into it one by one, and a word asks what came after it.
// Beside it the rows of keys and values that attention would store instead.

/** @import { Choice, HeroData, Sentence } from "../hero.js" */
/** @import { Dress } from "../palette.js" */
/** @import { Places } from "./state_places.js" */

import { element } from "../../common/elements.js";
import { digits } from "../../common/numbers.js";
import { _ } from "../../common/words.js";
import { Hero } from "../hero.js";
import { isStill } from "../motion.js";
import { makeSignedRamp } from "../palette.js";
import { PixelGrid } from "../pixel_grid.js";
import { Film } from "../player.js";
import { percent } from "../sentence.js";
import { Strip } from "../strip.js";
import { Words } from "../words.js";
import { Acts } from "./shelves_motion.js";
import { Legend, Nearest } from "./state_answer.js";
import { placeState } from "./state_places.js";

/**
 * @typedef {object} Memory what one rule makes of the pairs; a row for each number of pairs that have been written
 * @property {number[][][]} answers to each word that can be asked for
 * @property {[number, number][][][]} nearest words to each answer: a name, and how like its value the answer is
 * @property {number[][]} older how like the answer is to what followed each word first
 * @property {number[]} found words that find their newest pair
 * @property {number[][]} ties those among the asked words to which another word is as near as the right one
 * @property {number[][][]} [states] of all rules but attention
 * @property {number[][]} [written] with each pair's key
 * @property {number[][][]} [weights] attention's
 */
/**
 * @typedef {object} Numbers
 * @property {string[]} names every word once
 * @property {[string, string][]} rows the pairs, as the sentences have them
 * @property {[number, number][]} pairs as places among the names
 * @property {number[]} asked those of the names that can be asked for
 * @property {number} breaks how many pairs the first sentence has
 * @property {string} keep what a memory that fades keeps at each step
 * @property {Record<string, [number[][], number[][]]>} vectors keys and values of all names, for each kind of keys
 * @property {Record<string, Record<string, Memory>>} memories
 */

const SOFTMAX = "softmax", FADE = "fade", SIDES = 8;
const HEADING = 18, FULL_TAGS = 140; // pixels: of a title, and the room beside which a pair is named in full
const FLIES = 460, GLOWS = 900; // milliseconds in which a pair comes to the memory, and is seen in it

/** @extends {Hero<HeroData & Numbers>} */
export class State extends Hero {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    root.classList.add("state");
    const { stage } = this;
    this.shown = "";
    this.writtenShown = NaN;
    this.limit = 1;
    this.acts = new Acts();
    this.titles = [0, 1, 2].map(() => {
      const node = stage.add("div", "state-title"), parts = [node.appendChild(element("b")), node.appendChild(element("span"))];
      return { node, parts };
    });
    this.words = new Words(stage, {
      label: _("The word that is asked for"),
      choose: (row) => { this.film.pause(); this.choose({ question: this.data.asked.indexOf(this.data.pairs[row][0]) }); },
      peek: () => {},
    });
    /** @type {{ arrow: HTMLElement, value: HTMLElement, key: Strip, stored: Strip, mark: HTMLElement }[]} */
    this.rows = [];
    this.grid = new PixelGrid(stage, "input");
    this.grid.node.classList.add("state-grid");
    this.flash = new PixelGrid(stage, "input");
    this.flash.node.classList.add("state-flash");
    this.key = new Strip(stage, "key", "key");
    this.written = new Strip(stage, "written", "value", true);
    this.query = new Strip(stage, "query", "query");
    this.answer = new Strip(stage, "answer", "value", true);
    this.question = stage.add("div", "text state-question");
    this.labels = {
      key: stage.add("div", "text state-label key", _("key")), value: stage.add("div", "text state-label value", _("value")),
      written: stage.add("div", "text state-label value", _("just written")), answer: stage.add("div", "text state-label value", _("answer")),
    };
    this.nearest = new Nearest(stage);
    this.legend = new Legend(stage);
    this.note = stage.add("div", "state-note");
    this.grid.node.addEventListener("pointermove", (event) => this.point(event));
    this.grid.node.addEventListener("pointerleave", () => this.point(null));
    this.film = new Film(this.bar, _("pairs written"), (frame) => this.wind(frame), { play: _("Play"), pause: _("Pause") });
    this.film.paused = () => { if (this.data) this.choose({ pairs: this.count }); };
  }

  // What is chosen.

  get rule() { return String(this.choices.writing); }
  get isRows() { return this.rule === SOFTMAX; }
  /** How many pairs have been written. */
  get count() { return Math.max(0, Math.min(this.data.pairs.length, Number(this.choices.pairs))); }
  get asking() { return Number(this.choices.question); }
  get name() { return this.data.asked[this.asking]; }
  get kind() { return this.data.memories[String(this.choices.keys)]; }
  get memory() { return this.kind[this.rule]; }
  /** @returns {[number, number][]} what has been written */
  get said() { return this.data.pairs.slice(0, this.count); }
  /** What followed the word that is asked for, first to last. */
  get followers() { return this.said.filter(([key]) => key === this.name).map(([, value]) => value); }

  /** A number of pairs on the film; the server hears of the last one. @param {number} frame */
  wind(frame) {
    if (!this.film.isPlaying) return this.choose({ pairs: frame });
    this.choices.pairs = frame;
    this.update();
  }

  /** While it plays, the film knows best where it is. @override @param {Record<string, Choice>} choices */
  obey(choices) {
    const { pairs } = this.choices;
    super.obey(choices);
    if (this.film.isPlaying) this.choices.pairs = pairs;
  }

  /** @override */
  offer() {
    super.offer();
    if (this.film.root.parentElement !== this.bar) this.bar.append(this.film.root);
  }

  /** @override */
  update() {
    const isForward = this.count === this.writtenShown + 1 && !isStill() && !document.hidden;
    this.root.classList.toggle("quick", this.film.isPlaying);
    this.says.setAttribute("aria-live", this.film.isPlaying ? "off" : "polite");
    if (this.count !== this.writtenShown) this.acts.stop();
    this.film.show(this.count, true);
    super.update();
    if (isForward && this.places) this.fly(this.places);
    this.writtenShown = this.count;
  }

  // Nodes.

  /** @override @param {boolean} _isFirst */
  renew(_isFirst) {
    const { rows, memories } = this.data, shown = JSON.stringify(rows);
    if (shown === this.shown) return false;
    this.shown = shown;
    this.writtenShown = NaN;
    for (const { arrow, value, key, stored, mark } of this.rows) for (const node of [arrow, value, key.node, stored.node, mark]) node.remove();
    this.words.renew(rows.map(([word]) => word));
    this.rows = rows.map(([, following]) => ({
      arrow: this.stage.add("div", "text quiet", "→"), value: this.stage.add("div", "text state-value", following),
      key: new Strip(this.stage, "key", "key"), stored: new Strip(this.stage, "value", "value"), mark: this.stage.add("div", "text state-mark"),
    }));
    this.stage.root.append(this.key.node, this.written.node); // they come flying over the rows
    this.film.offer([...rows, 0].map((_row, written) => _("{count} of {all}", { count: String(written), all: String(rows.length) })));
    const states = Object.values(memories).flatMap((rules) => Object.values(rules)).flatMap(({ states: some }) => some?.flat(2) ?? []);
    this.limit = Math.max(...states.map(Math.abs));
    return true;
  }

  /** @override @param {Dress} dress */
  dressed({ look, background }) {
    const ramp = (/** @type {string} */ colour) => makeSignedRamp(background, colour, look.below);
    this.ramps = { key: ramp(look.key), value: ramp(look.value), query: ramp(look.query), state: makeSignedRamp(background, look.input, look.inputBelow) };
    this.legend.wear([look.inputBelow, look.input]);
  }

  // Places.

  /** @override */
  measure() {
    const { stage, data } = this;
    this.places = placeState(stage, data.rows, data.breaks);
    stage.resize(stage.room, this.places.height);
    this.root.classList.toggle("stacked", this.places.isStacked);
  }

  /** @override */
  place() {
    const { places, data, memory, ramps } = this;
    if (!places || !ramps) return;
    this.placeRows(places);
    this.placeGrid(places);
    const newest = this.followers.at(-1), older = this.followers.find((name) => name !== newest);
    /** @type {[number, number][]} */
    const nearest = [...memory.nearest[this.count][this.asking]];
    // What was overwritten is named as well: it is what the rules differ in.
    if (older !== undefined && nearest.every(([name]) => name !== older)) nearest.splice(-1, 1, [older, memory.older[this.count][this.asking]]);
    const pairs = places.bars.width < FULL_TAGS ? [_("newest"), _("older")] : [_("newest pair"), _("older pair")];
    const tag = (/** @type {number} */ name) => (older === undefined ? "" : name === newest ? pairs[0] : name === older ? pairs[1] : "");
    const all = new Set(this.said.map(([key]) => key)).size;
    const most = Math.max(1, ...memory.nearest.flat(2).map(([, like]) => like));
    this.nearest.place(places, {
      words: nearest.map(([name, like]) => [data.names[name], like, tag(name)]), most, right: newest === undefined ? "" : data.names[newest],
      found: [memory.found[this.count], all, memory.ties[this.count].length], isShown: this.count > 0,
    });
    this.legend.place(places, this.isRows);
    const after = _("After {word}?", { word: data.names[this.name] }), isLong = places.isTight || this.stage.widths([after], HEADING, 700)[0] > places.titles[2].width;
    const stored = String(2 * SIDES * this.count), rows = String(this.count), last = data.rows[this.count - 1];
    const texts = [
      this.isRows ? [_("{count} rows stored", { count: rows }), _("{count} numbers: a row more with each pair", { count: stored })]
        : [_("{count} pairs read", { count: rows }), _("attention would store {count} numbers", { count: stored })],
      this.isRows ? [_("No memory"), _("attention reads the rows")] : [_("Memory: always {count} numbers", { count: String(SIDES * SIDES) }), last ? _("written last: {word} → {following}", { word: last[0], following: last[1] }) : _("nothing is written yet")],
      [isLong ? `${data.names[this.name]} → ?` : after, _("nearest words")],
    ];
    this.titles.forEach(({ node, parts }, at) => {
      parts.forEach((part, line) => { part.textContent = texts[at][line]; });
      const { x, y, width } = places.titles[at];
      this.stage.put(node, { x, y, width, height: places.isStacked ? 22 : 42 });
    });
  }

  /** @param {Places} places */
  placeRows({ rows: { font, key, arrow, value, strips, strip, mark, high, middles } }) {
    const { stage, data, count, isRows, ramps, memory } = this, [keys, values] = data.vectors[String(this.choices.keys)];
    stage.write(this.labels.key, strips[0] + strip / 2, 11, 13, count ? 1 : 0);
    stage.write(this.labels.value, strips[1] + strip / 2, 11, 13, count ? 1 : 0);
    const newest = new Map(this.said.map(([one], at) => [one, at]));
    const names = data.rows.map(([word, following]) => _("{word}, then {following}", { word, following }));
    this.words.show({ chosen: data.pairs.findIndex(([one]) => one === this.name), shown: -1, names, hidden: data.rows.map((_row, at) => at >= count) });
    this.rows.forEach((row, at) => {
      const y = middles[at], [one, following] = data.pairs[at], isWritten = at < count, seen = isWritten ? (isRows || at === count - 1 ? 1 : 0.3) : 0;
      this.words.buttons[at].classList.toggle("asks", one === this.name);
      stage.write(this.words.buttons[at], key, y, font, 1, 0, "right");
      stage.write(row.arrow, arrow, y, font, isWritten ? 1 : 0.45);
      stage.write(row.value, value, y, font, isWritten ? 1 : 0.45, 0, "left");
      [row.key, row.stored].forEach((node, side) => stage.put(node.node, { x: strips[side], y: y - high / 2, width: strip, height: high }, seen));
      row.key.fill(keys[one], 0.8, ramps?.key ?? new Uint32Array());
      row.stored.fill(values[following], 0.8, ramps?.value ?? new Uint32Array());
      const weight = memory.weights?.[count][this.asking][at] ?? 0, place = data.asked.indexOf(one), isTie = memory.ties[count].includes(place);
      const isRight = memory.nearest[count][place][0][0] === following, found = isTie ? "=" : isRight ? "✓" : "✗";
      const sign = !isWritten ? "" : isRows ? (weight < 0.005 ? "·" : percent(weight)) : newest.get(one) !== at ? "·" : found;
      row.mark.textContent = sign;
      row.mark.className = `text state-mark moves ${isRows ? "share" : isRight ? "right" : "wrong"}${sign === "·" || sign === "=" ? " low" : ""}`;
      row.mark.title = { "✓": _("the newest pair is found"), "=": _("another word is as near"), "✗": _("another word is nearer"), "·": isRows ? "" : _("a newer pair has the same key") }[sign] ?? "";
      stage.write(row.mark, mark, y, isRows ? 15 : 16, 1, 0, "left");
    });
  }

  /** @param {Places} places */
  placeGrid({ grid: { x, y, side, thick, gap } }) {
    const { stage, data, count, isRows, ramps } = this, [keys, values] = data.vectors[String(this.choices.keys)];
    const written = !isRows && count > 0, last = data.pairs[Math.max(0, count - 1)], middle = x + side / 2;
    stage.put(this.grid.node, { x, y, width: side, height: side }, isRows ? 0.1 : 1);
    stage.put(this.flash.node, { x, y, width: side, height: side }, 0);
    stage.put(this.key.node, { x, y: y - gap - thick, width: side, height: thick }, written ? 1 : 0);
    stage.put(this.written.node, { x: x - gap - thick, y, width: thick, height: side }, written ? 1 : 0);
    stage.put(this.query.node, { x, y: y + side + gap, width: side, height: thick });
    stage.put(this.answer.node, { x: x + side + gap, y, width: thick, height: side }, count ? 1 : 0);
    this.key.fill(keys[last[0]], 0.8, ramps?.key ?? new Uint32Array());
    this.written.fill(this.memory.written?.[Math.max(0, count - 1)] ?? values[last[1]], 0.8, ramps?.value ?? new Uint32Array());
    this.query.fill(keys[this.name], 0.8, ramps?.query ?? new Uint32Array());
    this.question.textContent = _("key of {word}", { word: data.names[this.name] });
    stage.write(this.labels.written, x - gap, y + side + 12, 13, written && !this.places?.isTight ? 1 : 0, 0, "right");
    stage.write(this.labels.answer, x + side + gap, y + side + 12, 13, count && !this.places?.isTight ? 1 : 0, 0, "left");
    stage.write(this.question, middle, y + side + gap + thick + 12, 14);
  }

  /** The last pair comes from its row, and what it writes is seen as a product of both. @param {Places} places */
  fly({ rows: { strips, strip, high, middles }, grid: { x, y, side, thick, gap } }) {
    const at = this.count - 1, from = middles[at] - high / 2;
    const box = (/** @type {number} */ left, /** @type {number} */ top, /** @type {number} */ width, /** @type {number} */ height) =>
      ({ transform: `translate(${left}px, ${top}px)`, width: `${width}px`, height: `${height}px`, opacity: 1 });
    if (this.isRows) {
      for (const node of [this.rows[at].key.node, this.rows[at].stored.node]) this.acts.act(node, [{ opacity: 0 }, { opacity: 1 }], FLIES);
      return;
    }
    this.acts.act(this.key.node, [box(strips[0], from, strip, high), box(x, y - gap - thick, side, thick)], FLIES);
    this.acts.act(this.written.node, [box(strips[1], from, strip, high), box(x - gap - thick, y, thick, side)], FLIES);
    this.acts.act(this.flash.node, [{ opacity: 0 }, { opacity: 1, offset: 0.4 }, { opacity: 0 }], GLOWS, FLIES * 0.6);
  }

  /** @override */
  goal() {
    const { kind, memory, count } = this;
    return { state: (memory.states ?? kind.overwrite.states ?? [])[count], answer: [memory.answers[count][this.asking]] };
  }

  /** @override */
  paint() {
    const { ramps, tween, data, count, memory } = this;
    if (!ramps) return;
    this.grid.fill(Array.from({ length: SIDES }, (_row, r) => tween.row("state", r)), this.limit, ramps.state);
    this.answer.fill(tween.row("answer", 0), 1, ramps.value);
    if (!memory.written || !count) return;
    const written = memory.written[count - 1], key = data.vectors[String(this.choices.keys)][0][data.pairs[count - 1][0]];
    this.flash.fill(written.map((value) => key.map((one) => value * one)), this.limit / 2, ramps.state);
  }

  /** A number of the memory, while a mouse or a finger is on it. @param {PointerEvent | null} event */
  point(event) {
    const { places } = this;
    if (!event || !places || this.isRows) return this.note.classList.remove("shown");
    const { x, y, cell } = places.grid, { left, top } = this.stage.root.getBoundingClientRect();
    const [column, row] = [event.clientX - left - x, event.clientY - top - y].map((at) => Math.max(0, Math.min(SIDES - 1, Math.floor(at / cell))));
    this.note.textContent = _("row {row}, column {column}: {value}", { row: String(row + 1), column: String(column + 1), value: digits(this.goal().state[row][column]) });
    this.note.classList.add("shown");
    this.stage.put(this.note, { x: x + cell * column - 70, y: y + cell * row - 32, width: 180, height: 26 });
  }

  // In words.

  /** @override @returns {Sentence} */
  sentence() {
    const { data, count, asking, memory, kind, followers } = this, named = memory.nearest[count][asking];
    const [first, second] = named, newest = followers.at(-1) ?? first[0], weights = memory.weights?.[count][asking] ?? [];
    const share = (/** @type {number} */ name) => percent(data.pairs.reduce((sum, [, value], at) => sum + (value === name ? weights[at] ?? 0 : 0), 0));
    const others = kind[this.rule === "sum" ? "overwrite" : "sum"].nearest[count][asking];
    const values = {
      word: data.names[this.name], count: String(count), stored: String(2 * SIDES * count), newest: data.names[newest],
      first: data.names[first[0]], first_score: digits(first[1]), second: data.names[second[0]], second_score: digits(second[1]),
      other: data.names[others[0][0]], other_score: digits(others[0][1]), other_second: data.names[others[1][0]], other_second_score: digits(others[1][1]),
      found: String(memory.found[count]), ties: String(memory.ties[count].length), rival: data.names[first[0] === newest ? second[0] : first[0]], words: String(new Set(this.said.map(([key]) => key)).size),
      without: String(kind.overwrite.found[count]), keep: data.keep, size: String(SIDES * SIDES),
      first_share: share(first[0]), newest_share: share(newest), before: data.names[followers[0] ?? newest], before_share: share(followers[0] ?? newest),
    };
    return { name: this.nameSentence(first[0], second[0], others), values, classes: { word: "query", first: "value", first_share: "weight", newest_share: "weight", before_share: "weight" } };
  }

  /** @param {number} first @param {number} second @param {[number, number][]} others what the other rule of the two answers */
  nameSentence(first, second, others) {
    const { count, followers } = this, newest = followers.at(-1), isAgain = new Set(followers).size > 1;
    if (!count) return "hero_empty";
    if (this.isRows) return newest === undefined ? "hero_rows_none" : isAgain ? "hero_rows_both" : "hero_rows_one";
    if (newest === undefined) return Math.abs(this.memory.nearest[count][this.asking][0][1]) < 0.005 ? "hero_nothing" : "hero_unwritten";
    if (this.memory.ties[count].includes(this.asking)) return "hero_tie";
    if (this.rule === FADE) return "hero_fade";
    if (this.rule === "sum" && isAgain && followers.includes(first) && followers.includes(second) && others[0][0] === newest) return "hero_both";
    if (this.rule === "overwrite" && isAgain && first === newest && followers.includes(others[0][0]) && followers.includes(others[1][0]) && others[0][0] !== newest) return "hero_newest";
    return first === newest ? "hero_right" : "hero_wrong";
  }

  /** @override */
  describe() {
    const { data, memory, count } = this;
    this.grid.describe(this.isRows ? _("not used") : _("the memory, row by row: {numbers}", { numbers: (memory.states ?? [])[count]?.map((row) => row.map((one) => digits(one)).join(" ")).join("; ") ?? "" }));
    this.answer.describe(_("answer"), memory.answers[count][this.asking]);
    const [keys, values] = data.vectors[String(this.choices.keys)], last = data.pairs[Math.max(0, count - 1)];
    const keyOf = (/** @type {Strip} */ strip, /** @type {number} */ name) => strip.describe(_("key of {word}", { word: data.names[name] }), keys[name]);
    keyOf(this.query, this.name);
    keyOf(this.key, last[0]);
    this.written.describe(_("just written"), memory.written?.[Math.max(0, count - 1)] ?? values[last[1]]);
    this.rows.forEach((row, at) => {
      const [one, following] = data.pairs[at];
      keyOf(row.key, one);
      row.stored.describe(_("value of {word}", { word: data.names[following] }), values[following]);
    });
    return data.asked.map((name, at) => _("{word}: {answers}", {
      word: data.names[name], answers: memory.nearest[count][at].map(([one, like]) => `${data.names[one]} ${digits(like)}`).join(", "),
    })).join("; ");
  }
}
