// @ts-check
// RoPE as four dials: the hands of a query and of a key, turned by the positions of two words. Every
// place of the two words comes from the server; the browser only looks it up.

/** @import { HeroData, Sentence } from "../hero.js" */
/** @import { Places } from "./dials_places.js" */

import { element, shape } from "../../common/elements.js";
import { digits } from "../../common/numbers.js";
import { _ } from "../../common/words.js";
import { Chips } from "../chips.js";
import { Hero } from "../hero.js";
import { isStill } from "../motion.js";
import { Words } from "../words.js";
import { DialControls } from "./dials_controls.js";
import { between, hand, turned, wedge } from "./dials_hands.js";
import { layOutDials } from "./dials_places.js";
import { Ruler } from "./dials_ruler.js";

/**
 * @typedef {object} Numbers for each move of the asking word alone, and in it for each move of both
 * @property {string[]} tokens
 * @property {string[]} heads what each dial draws, where its part is of more than a pair
 * @property {[number, number]} pair the word that asks, and the one that is asked
 * @property {number} least the smallest move of the asking word alone
 * @property {string[]} turns in how many positions each pair turns once
 * @property {number[][]} query where it points in each pair, from the first of its positions on, in radians
 * @property {number[][]} key
 * @property {number[][][]} between degrees from hand to hand
 * @property {number[][][]} parts of the score with RoPE
 * @property {number[][]} rotary the score with RoPE
 * @property {number[][]} added the score with added positions
 * @property {string[]} roundings how far the score with RoPE ever is from the one before both moved, in words
 */
/**
 * @typedef {object} Dial
 * @property {SVGElement} face
 * @property {SVGElement} wedge
 * @property {SVGElement} key
 * @property {SVGElement} query
 * @property {HTMLElement} head
 * @property {HTMLElement} angle
 */

const FAR = 64, MOST = 6; // positions: how far both words move, and one alone
const RIDE = 6000, STEP = 700, STRIDE = 8; // milliseconds of Play; without motion a stride of positions per step

/** @extends {Hero<HeroData & Numbers>} */
export class Dials extends Hero {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    root.classList.add("dials");
    this.wordsShown = "";
    /** @type {"word" | "asked"} which of the two a click on a word chooses */
    this.role = "word";
    this.riding = this.isAtOnce = false;
    this.clock = 0;
    /** @type {number | null} how far both have moved, while they are on their way */
    this.passed = null;
    /** @type {Places | null} */
    this.places = null;
    this.drawing = this.stage.draw("g", "");
    this.ruler = new Ruler(this.stage);
    this.dials = [0, 1, 2, 3].map((pair) => this.makeDial(pair));
    this.signs = ["+", "+", "+", "="].map((sign) => this.stage.add("div", "text quiet", sign));
    this.base = this.drawn("path", "dials-base");
    this.steps = this.drawn("path", "dials-steps");
    this.bars = [0, 1, 2, 3, 4, 5].map((at) => this.drawn("rect", `dials-bar ${at < 4 ? "part" : at === 4 ? "rotary" : "added"}`));
    this.ghosts = [0, 1].map(() => this.drawn("path", "dials-ghost"));
    this.numbers = this.bars.map((_bar, at) => this.follower(`text dials-number ${at < 4 ? "" : "total"}`));
    this.names = [0, 1].map(() => this.stage.add("div", "dials-name"));
    this.before = this.stage.add("div", "text dials-before", _("before they moved"));
    this.words = new Words(this.stage, { label: _("The word whose query is used"), choose: (place) => this.choose({ [this.role]: place }), peek: () => {} });
    const options = [{ value: "word", label: "" }, { value: "asked", label: "" }];
    this.roles = new Chips(this.stage.root, { label: _("A click on a word chooses:"), options, choose: (role) => {
      this.role = role === "asked" ? "asked" : "word";
      this.update();
    } });
    this.controls = new DialControls(root, this.says, {
      play: () => (this.riding ? this.pause() : this.play()),
      both: (shift) => this.drag({ shift }),
      alone: (apart) => this.drag({ apart }),
    });
  }

  // What is chosen.

  get shift() { return Number(this.choices.shift); }
  get alone() { return Math.max(this.data.least, Number(this.choices.apart)); }
  get at() { return this.alone - this.data.least; }
  /** The two words' positions. */
  get positions() {
    const [asking, asked] = this.data.pair;
    return [asking + this.shift + this.alone, asked + this.shift];
  }

  /** @override @param {Record<string, import("../hero.js").Choice>} some */
  choose(some) {
    if (this.riding && !this.isAtOnce) this.pause();
    super.choose(some);
  }

  /** What is under the finger follows it at once. @param {Record<string, number>} some */
  drag(some) {
    this.pause();
    this.isAtOnce = true;
    this.choose(some);
    this.isAtOnce = false;
  }

  /** @override */
  update() {
    super.update();
    if (this.isAtOnce && this.places) this.tween.start(true);
  }

  // Play.

  play() {
    const from = this.shift >= FAR ? 0 : this.shift, began = performance.now();
    this.riding = true;
    this.says.setAttribute("aria-live", "off");
    this.controls.show(true);
    if (isStill()) return this.stride(from);
    const ride = () => {
      if (!this.riding || !this.root.isConnected) return;
      this.pass(Math.min(FAR, from + ((performance.now() - began) / RIDE) * FAR));
      if (this.passed === FAR) return this.pause();
      this.clock = requestAnimationFrame(ride);
    };
    this.clock = requestAnimationFrame(ride);
  }

  /** Play for those who want no motion. @param {number} shift */
  stride(shift) {
    this.pass(shift);
    if (shift >= FAR) return this.pause();
    this.clock = window.setTimeout(() => {
      if (this.riding && this.root.isConnected) this.stride(Math.min(FAR, shift + STRIDE));
    }, STEP);
  }

  /** Both words are on their way between two positions. @param {number} shift */
  pass(shift) {
    const whole = Math.round(shift);
    this.passed = shift;
    this.isAtOnce = true;
    if (whole === this.shift) this.tween.aim(this.goal(), true);
    else this.choose({ shift: whole });
    this.isAtOnce = false;
  }

  pause() {
    if (!this.riding) return;
    this.riding = false;
    this.passed = null;
    cancelAnimationFrame(this.clock);
    clearTimeout(this.clock);
    this.says.setAttribute("aria-live", "polite");
    this.controls.show(false);
    this.tween.aim(this.goal(), true);
  }

  // Nodes.

  /** @param {string} tag @param {string} name @param {Element} [parent] */
  drawn(tag, name, parent = this.drawing) {
    return /** @type {SVGElement} */ (parent.appendChild(shape(tag, { class: name })));
  }

  /** A text that goes where the tween's numbers are. @param {string} name */
  follower(name) {
    const node = this.stage.add("div", name);
    node.classList.remove("moves");
    return node;
  }

  /** @param {number} pair @returns {Dial} */
  makeDial(pair) {
    const group = this.drawn("g", "dial");
    const face = this.drawn("circle", "dial-face", group), wedge = this.drawn("path", "dial-wedge", group);
    const [key, query] = ["key", "query"].map((name) => this.drawn("path", `dial-hand ${name}`, group));
    const head = this.stage.add("div", "dials-head");
    head.append(element("b", "", _("Pair {number}", { number: String(pair + 1) })), element("span"));
    return { face, wedge, key, query, head, angle: this.stage.add("div", "text dials-angle") };
  }

  /** @override @param {boolean} isFirst */
  renew(isFirst) {
    const { tokens, pair } = this.data, shown = [...tokens, ...pair].join("\0");
    if (!isFirst && shown === this.wordsShown) return false;
    this.wordsShown = shown;
    if (this.words.buttons.map((button) => button.textContent).join("\0") !== tokens.join("\0")) this.words.renew(tokens);
    return true;
  }

  // Places.

  /** @override */
  measure() {
    const { stage, data } = this;
    this.places = layOutDials(stage, data.tokens);
    stage.resize(stage.room, this.places.height);
    const { root } = this.roles, { legend } = this.places;
    root.classList.toggle("dials-roles", Boolean(legend));
    if (legend) stage.root.append(root);
    else this.below.append(root);
    root.style.transform = legend ? `translate(${legend.left}px, ${legend.top}px)` : "";
    this.last = Math.max(data.pair[0] + FAR + MOST, data.pair[1] + FAR);
  }

  /** @param {number} score */
  up(score) {
    const { top, height } = /** @type {Places} */ (this.places).bars, [lowest, highest] = this.tween.row("scale", 0);
    return top + (height * (highest - score)) / (highest - lowest || 1);
  }

  /** The scores before anything moved, with RoPE and with added positions. */
  get first() {
    const start = -this.data.least;
    return [this.data.rotary[start][0], this.data.added[start][0]];
  }

  /** The lowest and the highest end of a bar, wherever both words are moved. */
  get scale() {
    const { data, at, first } = this;
    const sums = data.parts[at].flatMap((parts) => parts.map((_part, n) => parts.slice(0, n + 1).reduce((sum, one) => sum + one, 0)));
    const all = [0, ...first, ...sums, ...data.added[at]];
    return [Math.min(...all), Math.max(...all)];
  }

  /** @override */
  place() {
    if (!this.places) return;
    const { stage, places, data } = this, { words, ruler, dials: { centres, radius, width, head: high }, isPhone } = places;
    this.words.buttons.forEach((button, place) => {
      stage.write(button, words.at[place].x, words.at[place].y, words.size);
      button.classList.toggle("asked", place === data.pair[1]);
    });
    this.ruler.place(ruler, this.last ?? 1, isPhone ? 20 : 10);
    this.dials.forEach(({ face, head, angle }, n) => {
      const { x, y } = centres[n];
      for (const [name, value] of Object.entries({ cx: x, cy: y, r: radius })) face.setAttribute(name, String(value));
      const lines = /** @type {HTMLElement} */ (head.lastElementChild);
      /** @type {HTMLElement} */ (head.firstElementChild).textContent = data.heads[n] ?? _("Pair {number}", { number: String(n + 1) });
      lines.textContent = _("a turn in {positions} positions", { positions: data.turns[n] });
      stage.put(head, { x: x - width / 2, y: y - radius - high - 3, width, height: high });
      angle.textContent = _("angle {degrees}°", { degrees: String(data.between[this.at][this.shift][n]) });
      stage.write(angle, x, y + radius + 14, 15);
    });
    this.placeScores();
    this.tellWords();
    this.controls.both.show(_("Move both words by"), 0, FAR, this.shift, _("{count} positions", { count: String(this.shift) }));
    const word = data.tokens[data.pair[0]];
    this.controls.alone.show(_("Move only {word} by", { word }), data.least, MOST, this.alone, _("{count} positions", { count: String(this.alone) }));
  }

  placeScores() {
    const { stage, places } = this, { bars, isPhone, dials, before } = /** @type {Places} */ (places);
    this.signs.forEach((sign, n) => {
      const x = (bars.columns[n] + bars.columns[n + 1]) / 2;
      stage.write(sign, n === 3 ? dials.width * 4 : x, bars.top - 22, 20, isPhone ? 0 : 1);
    });
    const step = bars.columns[5] - bars.columns[4], high = isPhone ? 34 : 54;
    const names = isPhone ? [_("RoPE"), _("positions added")] : [_("score with RoPE"), _("score if positions were added")];
    this.names.forEach((name, n) => {
      name.textContent = names[n];
      stage.put(name, { x: bars.columns[4 + n] - step / 2, y: bars.top - 38 - high, width: step, height: high });
    });
    const hasMoved = this.shift !== 0 || this.alone !== 0;
    stage.write(this.before, before.x, before.y, 14, hasMoved ? 1 : 0, 0, before.hold);
  }

  tellWords() {
    const { data, role } = this, [asking, asked] = data.pair, { roles } = this;
    const names = [_("query of {word}", { word: data.tokens[asking] }), _("key of {word}", { word: data.tokens[asked] })];
    names.forEach((name, n) => { roles.buttons[n].textContent = name; });
    roles.show(role);
    const chosen = role === "word" ? asking : asked;
    this.words.root.setAttribute("aria-label", role === "word" ? _("The word whose query is used") : _("The word whose key is used"));
    this.words.show({
      chosen, shown: asking, hidden: data.tokens.map(() => false),
      names: data.tokens.map((word, place) => [word, place === asking ? _("query") : "", place === asked ? _("key") : ""].filter(Boolean).join(", ")),
    });
  }

  // Numbers.

  /** @override @returns {Record<string, number[][]>} */
  goal() { return { at: [[this.passed ?? this.shift, this.alone]], scale: [this.scale] }; }

  /** @override */
  paint() {
    const { places, tween, data } = this;
    if (!places || !tween.blocks.at) return;
    const [shift, alone] = tween.row("at", 0);
    const apart = Math.max(0, Math.min(MOST - data.least, alone - data.least));
    const query = turned(data.query, shift + apart), key = turned(data.key, shift);
    const parts = data.parts[this.at][this.shift];
    this.dials.forEach((dial, n) => {
      const { x, y } = places.dials.centres[n], { radius } = places.dials;
      dial.query.setAttribute("d", hand(x, y, radius - 5, query[n], 5));
      dial.key.setAttribute("d", hand(x, y, radius * 0.74, key[n], 5));
      dial.wedge.setAttribute("d", wedge(x, y, radius * 0.5, key[n], query[n]));
      dial.wedge.classList.toggle("minus", parts[n] < 0);
    });
    const [asking, asked] = data.pair, [queryAt, keyAt] = this.positions;
    this.ruler.paint([asked + shift, asking + shift + alone], [`${data.tokens[asked]} ${keyAt}`, `${data.tokens[asking]} ${queryAt}`]);
    this.paintBars(shift, apart);
    this.paintLines();
  }

  /** @param {number} shift @param {number} apart */
  paintBars(shift, apart) {
    const { stage, data, at } = this, { bars, isPhone } = /** @type {Places} */ (this.places);
    const parts = between(data.parts.map((frames) => between(frames, shift)), apart);
    const [rotary, added] = [data.rotary, data.added].map((scores) => between(scores.map((row) => [between(row.map((one) => [one]), shift)[0]]), apart)[0]);
    const told = [...data.parts[at][this.shift], data.rotary[at][this.shift], data.added[at][this.shift]];
    let from = 0, steps = "";
    [...parts, rotary, added].forEach((part, n) => {
      const start = n < 4 ? from : 0, end = start + part, x = bars.columns[n], wide = n === 5 ? bars.width / 2 : bars.width;
      const top = this.up(Math.max(start, end)), high = Math.max(1.5, Math.abs(this.up(start) - this.up(end)));
      const box = { x: x - wide / 2, y: top, width: wide, height: high };
      for (const [name, value] of Object.entries(box)) this.bars[n].setAttribute(name, value.toFixed(2));
      this.bars[n].classList.toggle("minus", part < 0);
      if (n < 4) {
        from = end;
        steps += `M${x + wide / 2} ${this.up(end).toFixed(1)}H${bars.columns[n + 1] - bars.width / 2}`;
      }
      setText(this.numbers[n], digits(told[n]));
      const isTotal = n > 3;
      stage.write(this.numbers[n], x, isTotal || !isPhone ? bars.top - 22 : top - 10, isPhone ? (isTotal ? 18 : 14) : isTotal ? 26 : 18);
    });
    this.steps.setAttribute("d", steps);
  }

  /** Zero, and where both scores were before anything moved. */
  paintLines() {
    const { bars } = /** @type {Places} */ (this.places), zero = this.up(0).toFixed(1);
    this.base.setAttribute("d", `M${bars.columns[0] - bars.width} ${zero}H${bars.columns[5] + bars.width}`);
    const hasMoved = this.shift !== 0 || this.alone !== 0;
    this.ghosts.forEach((ghost, n) => {
      const y = this.up(this.first[n]).toFixed(1), x = bars.columns[4 + n], half = bars.width / 2 + (bars.width > 40 ? 12 : 4);
      ghost.setAttribute("d", hasMoved ? `M${x - half} ${y}H${x + half}` : "");
    });
  }

  // In words.

  /** @override @returns {Sentence} */
  sentence() {
    const { data, at, shift, alone } = this, [asking, asked] = data.pair, [query, key] = this.positions, start = -data.least;
    const values = {
      asking: data.tokens[asking], asked: data.tokens[asked], asking_at: String(query), asked_at: String(key), start: String(asking),
      score: digits(data.rotary[at][shift]), before: digits(data.rotary[start][0]), added_score: digits(data.added[at][shift]),
      shift: String(shift), apart: String(alone).replace("-", "−"), rotary: data.roundings[at],
      added: digits(Math.abs(data.added[at][shift] - data.added[at][0])),
    };
    const classes = { asking: "query", asking_at: "query", asked: "key", asked_at: "key" };
    const name = shift ? (alone ? "hero_both" : "hero_moved") : alone ? "hero_apart" : "hero_start";
    return { name, values, classes };
  }

  /** @override */
  describe() {
    const { data, at, shift } = this;
    const pairs = data.parts[at][shift].map((part, n) => _("pair {number}: angle {degrees}°, part {part}", {
      number: String(n + 1), degrees: String(data.between[at][shift][n]), part: digits(part),
    }));
    return _("{pairs}. Score with RoPE {rotary}, with added positions {added}.", {
      pairs: pairs.join("; "), rotary: digits(data.rotary[at][shift]), added: digits(data.added[at][shift]),
    });
  }
}

/** @param {HTMLElement} node @param {string} text */
function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}
