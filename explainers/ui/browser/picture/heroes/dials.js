// RoPE as four dials: the hands of a query and of a key, turned by the positions of two words. Every
// place of the two words comes from the server; the browser only looks it up.

/** @import { HeroData, Mark, Sentence, Stage } from "../kit.js" */

import { _, Chips, digits, element, flow, isStill, markSign, PAUSE, PLAY, Slide, sum, WordHero, Words } from "../kit.js";

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

const PAIRS = 4, TURN = 2 * Math.PI;
const FAR = 64, MOST = 6; // positions: how far both words move, and one alone
const RIDE = 6000, STEP = 700, STRIDE = 8; // milliseconds of Play; without motion a stride of positions per step
const LETTERS = 16, GAP = 10, TENS = 10; // pixels of names on the ruler; as many marks as the longest ruler needs

/** @extends {WordHero<HeroData & Numbers>} */
export class Dials extends WordHero {
  /** @type {"word" | "asked"} which of the two a click on a word chooses */
  role = "word";
  riding = false;
  clock = 0;
  places = /** @type {ReturnType<typeof layOutDials>} */ (/** @type {unknown} */ (null));
  now = /** @type {ReturnType<Dials["look"]>} */ (/** @type {unknown} */ (null));
  /** @override */
  words = new Words(this.stage, { label: "", choose: (place) => this.choose({ [this.role]: place }), peek: () => {} });
  roles = new Chips(this.below, {
    label: _("A click on a word chooses:"), options: ["word", "asked"].map((value) => ({ value, label: "" })),
    choose: (role) => { this.role = role === "asked" ? "asked" : "word"; this.update(); },
  });
  controls = this.root.insertBefore(element("div", "player dials-controls"), this.says);
  slides = ["shift", "apart"].map((key) => new Slide(this.controls, (value) => { this.pause(); this.follow({ [key]: value }); }));

  // What is chosen.

  get shift() { return Number(this.choices.shift); }
  get alone() { return Math.max(this.data.least, Number(this.choices.apart)); }
  get at() { return this.alone - this.data.least; }
  get hasMoved() { return this.shift !== 0 || this.alone !== 0; }
  /** The two words' positions. */
  get positions() {
    const [asking, asked] = this.data.pair;
    return [asking + this.shift + this.alone, asked + this.shift];
  }
  /** @override */
  get asker() { return this.data.pair[0]; }
  /** @override */
  get chosen() { return this.data.pair[this.role === "word" ? 0 : 1]; }

  /** @override @param {Record<string, import("../hero.js").Choice>} some */
  choose(some) {
    this.pause();
    super.choose(some);
  }

  /** What is under the finger, or on its way, is shown at once. @param {Record<string, number>} some */
  follow(some) {
    this.root.classList.add("at-once");
    super.choose(some);
    this.root.classList.remove("at-once");
  }

  // Play.

  play() {
    const from = this.shift >= FAR ? 0 : this.shift, began = performance.now();
    this.riding = true;
    this.says.setAttribute("aria-live", "off");
    this.place();
    const ride = (/** @type {number} */ shift) => {
      if (!this.riding || !this.root.isConnected) return;
      const now = Math.min(FAR, shift), whole = Math.round(now);
      if (whole !== this.shift) this.follow({ shift: whole });
      this.tween.aim({ drawing: [[now, ...this.goal().drawing[0].slice(1)]] }, true); // on their way between two positions
      if (shift >= FAR) this.pause();
      else if (isStill()) this.clock = window.setTimeout(() => ride(shift + STRIDE), STEP);
      else this.clock = requestAnimationFrame(() => ride(from + ((performance.now() - began) / RIDE) * FAR));
    };
    ride(from);
  }

  pause() {
    if (!this.riding) return;
    this.riding = false;
    cancelAnimationFrame(this.clock);
    clearTimeout(this.clock);
    this.says.setAttribute("aria-live", "polite");
    this.place();
    this.tween.aim(this.goal(), true);
  }

  // What is seen.

  /** @override @param {boolean} isFirst */
  renew(isFirst) {
    const isNew = super.renew(isFirst);
    return this.scene.isOther(this.data.pair) || isNew;
  }

  /** @override */
  measure() {
    this.places = layOutDials(this.stage, this.data.tokens);
    this.stage.resize(this.stage.room, this.places.height);
  }

  /** What both scores are compared with: those before anything moved, or if nothing has, those after both have moved far. */
  get compared() { return this.scores(-this.data.least, this.hasMoved ? 0 : FAR).slice(PAIRS); }

  /** The parts of the score with RoPE, that score, and the one with added positions. @param {number} at @param {number} shift */
  scores(at, shift) {
    const { parts, rotary, added } = this.data;
    return [...parts[at][shift], rotary[at][shift], added[at][shift]];
  }

  /** The lowest and the highest end of a bar, wherever both words are moved. */
  get scale() {
    const { data, at, compared } = this;
    const sums = data.parts[at].flatMap((parts) => parts.map((_part, n) => sum(parts.slice(0, n + 1))));
    const all = [0, ...compared, ...sums, ...data.added[at]];
    return [Math.min(...all), Math.max(...all)];
  }

  /** Where hands point, from which score to which bars go, and how high a score stands. @param {ArrayLike<number>} numbers on their way */
  look({ 0: moved, 1: alone, 2: lowest, 3: highest }) {
    const { data: { least, key, query }, places: { bars: { top, height } } } = this;
    const shift = Math.max(0, Math.min(FAR, moved)), at = Math.max(0, Math.min(MOST - least, alone - least));
    let end = 0;
    const bars = between((row) => between((column) => this.scores(row, column), shift), at).map((score, n) => {
      const start = n < PAIRS ? end : 0;
      end = start + score;
      return [start, end];
    });
    const up = (/** @type {number} */ score) => top + (height * (highest - score)) / (highest - lowest || 1);
    return { shift, alone, key: turned(key, shift), query: turned(query, shift + at), bars, up };
  }

  /** One mark's numbers are on their way for all; with each frame, the others draw what it makes of them. @override @returns {Mark[]} */
  marks() {
    const { roles, role, places: { words, legend }, data: { tokens, pair: [asking, asked] } } = this, isWord = role === "word";
    return [
      { key: "drawing", tag: "svg:g", numbers: [this.shift, this.alone, ...this.scale], draw: (_node, now) => { this.now = this.look(now); } },
      ...this.markRuler(), ...this.markDials(), ...this.markBars(), ...this.markNames(),
      {
        ...this.markWords((place) => ({
          name: [tokens[place], place === asking ? _("query") : "", place === asked ? _("key") : ""].filter(Boolean).join(", "),
          is: { asked: place === asked }, at: [words.at[place].x, words.at[place].y, words.size],
        })),
        attributes: { "aria-label": isWord ? _("The word whose query is used") : _("The word whose key is used") },
      },
      {
        key: legend ? "roles" : "roles below", node: roles.root, in: legend ? undefined : this.below, is: { "dials-roles": legend },
        style: { transform: legend ? `translate(${legend.left}px, ${legend.top}px)` : "" },
        fill: () => {
          [_("query of {word}", { word: tokens[asking] }), _("key of {word}", { word: tokens[asked] })].forEach((name, n) => { roles.buttons[n].textContent = name; });
          roles.show(role);
        },
      },
      ...this.markControls(),
    ];
  }

  /** A ruler of positions, and on it the two words, each with its name and its position. @returns {Mark[]} */
  markRuler() {
    const { stage: { room }, data: { tokens, pair: [asking, asked] }, positions, places: { isPhone, ruler: { left, right, y } } } = this;
    const last = Math.max(asking + FAR + MOST, asked + FAR), each = isPhone ? 20 : 10;
    const across = (/** @type {number} */ position) => left + ((right - left) * position) / last;
    const tens = Array.from({ length: TENS }, (_one, ten) => 10 * ten), line = tens.filter((ten) => ten <= last).map((ten) => `M${across(ten)} ${y}v6`);
    const names = [`${tokens[asked]} ${positions[1]}`, `${tokens[asking]} ${positions[0]}`], wide = this.stage.widths(names, LETTERS, 700);
    const stand = () => [asked, asking + this.now.alone].map((position) => across(position + this.now.shift));
    // Names stand beside their dots, and where there is no room, beside each other.
    const begin = () => {
      const at = stand(), [one, other] = at[1] >= at[0] ? [0, 1] : [1, 0], from = Math.max(0, at[one] - GAP / 2 - wide[one]);
      const to = Math.min(room - wide[other], Math.max(at[other] + GAP / 2, from + wide[one] + GAP)), both = [Math.min(from, to - GAP - wide[one]), to];
      return [both[one], both[other]];
    };
    return [
      { key: "ruler", tag: "svg:path", class: "dials-ruler", attributes: { d: `M${left} ${y}H${right}${line.join("")}` } },
      ...tens.map((ten) => /** @type {Mark} */ ({
        key: `tick ${ten}`, class: "text quiet", text: String(ten), at: [across(ten), y + 15, 14], opacity: ten <= last && ten % each === 0 ? 1 : 0,
      })),
      ...["key", "query"].flatMap((role, n) => /** @type {Mark[]} */ ([
        { key: `dot ${role}`, tag: "svg:circle", class: `dials-dot ${role}`, attributes: { cy: y, r: n ? 5 : 7 }, numbers: [], draw: (dot) => dot.setAttribute("cx", stand()[n].toFixed(1)) },
        { key: `flag ${role}`, class: `text dials-flag ${role}`, text: names[n], numbers: [], draw: (flag) => this.stage.write(flag, begin()[n], y - 17, LETTERS, 1, 0, "left") },
      ])),
    ];
  }

  /** @returns {Mark[]} */
  markDials() {
    const { data, at, shift, places: { dials: { centres, radius, width, head } } } = this;
    return centres.flatMap(({ x, y }, n) => {
      const name = `dial ${n}`;
      const path = (/** @type {string} */ part, /** @type {() => string} */ d) => markPath(`${part} ${n}`, name, part === "wedge" ? "dial-wedge" : `dial-hand ${part}`, d);
      return /** @type {Mark[]} */ ([
        { key: name, in: "drawing", tag: "svg:g", class: "dial", parts: [{ tag: "svg:circle", class: "dial-face", attributes: { cx: x, cy: y, r: radius } }] },
        { ...path("wedge", () => writeWedgePath(x, y, radius * 0.5, this.now.key[n], this.now.query[n])), is: { minus: data.parts[at][shift][n] < 0 } },
        path("key", () => writeHandPath(x, y, radius * 0.74, this.now.key[n], 5)),
        path("query", () => writeHandPath(x, y, radius - 5, this.now.query[n], 5)),
        {
          key: `head ${n}`, class: "dials-head", box: [x - width / 2, y - radius - head - 3, width, head],
          parts: [{ tag: "b", text: data.heads[n] ?? _("Pair {number}", { number: String(n + 1) }) }, { text: _("a turn in {positions} positions", { positions: data.turns[n] }) }],
        },
        { key: `angle ${n}`, class: "text dials-angle", text: _("angle {degrees}°", { degrees: String(data.between[at][shift][n]) }), at: [x, y + radius + 14, 15] },
      ]);
    });
  }

  /** The parts as steps to the score, zero, and what both scores are compared with. @returns {Mark[]} */
  markBars() {
    const { compared, places: { isPhone, bars: { columns, width, top } } } = this, half = width / 2 + (width > 40 ? 12 : 4);
    const up = (/** @type {number} */ score) => this.now.up(score).toFixed(1);
    const path = (/** @type {string} */ name, /** @type {() => string} */ d) => markPath(name, "drawing", `dials-${name.split(" ")[0]}`, d);
    return [
      path("base", () => `M${columns[0] - width} ${up(0)}H${columns[5] + width}`),
      path("steps", () => this.now.bars.slice(0, PAIRS).map(([, end], n) => `M${columns[n] + width / 2} ${up(end)}H${columns[n + 1] - width / 2}`).join("")),
      ...this.scores(this.at, this.shift).flatMap((score, n) => {
        const isPart = n < PAIRS, x = columns[n], wide = n === 5 ? width / 2 : width, high = () => Math.min(...this.now.bars[n].map(this.now.up));
        return /** @type {Mark[]} */ ([
          {
            key: `bar ${n}`, in: "drawing", tag: "svg:rect", class: `dials-bar ${isPart ? "part" : n === PAIRS ? "rotary" : "added"}`, numbers: [],
            attributes: { x: (x - wide / 2).toFixed(2), width: wide.toFixed(2) },
            draw: (bar) => {
              const { bars: { [n]: [start, end] }, up } = this.now;
              bar.setAttribute("y", high().toFixed(2));
              bar.setAttribute("height", Math.max(1.5, Math.abs(up(start) - up(end))).toFixed(2));
              bar.classList.toggle("minus", end < start);
            },
          },
          {
            key: `number ${n}`, class: `text dials-number ${isPart ? "" : "total"}`.trim(), text: digits(score), numbers: [],
            draw: (number) => this.stage.write(number, x, isPart && isPhone ? high() - 10 : top - 22, isPhone ? (isPart ? 14 : 18) : isPart ? 18 : 26),
          },
        ]);
      }),
      ...compared.map((score, n) => path(`ghost ${n}`, () => `M${columns[PAIRS + n] - half} ${up(score)}H${columns[PAIRS + n] + half}`)),
    ];
  }

  /** What stands between the bars, and above and below them. @returns {Mark[]} */
  markNames() {
    const { places: { isPhone, bars: { columns, top }, dials, before: { x, y } } } = this, step = columns[5] - columns[4], high = isPhone ? 34 : 54;
    const names = isPhone ? [_("RoPE"), _("positions added")] : [_("score with RoPE"), _("score if positions were added")];
    return /** @type {Mark[]} */ ([
      ...["+", "+", "+", "="].map((text, n) => ({
        key: `sign ${n}`, class: "text quiet", text, at: [n === 3 ? dials.width * PAIRS : (columns[n] + columns[n + 1]) / 2, top - 22, 20], opacity: isPhone ? 0 : 1,
      })),
      ...names.map((text, n) => ({ key: `name ${n}`, class: "dials-name", text, box: [columns[PAIRS + n] - step / 2, top - 38 - high, step, high] })),
      { key: "before", class: "text dials-before", text: this.hasMoved ? _("before they moved") : `${_("Move both words by")}: ${FAR}`, at: [x, y, 14], hold: "right" },
    ]);
  }

  /** @returns {Mark[]} */
  markControls() {
    const { controls, slides, riding, shift, alone, data: { tokens, pair, least } } = this;
    const told = [shift, alone].map((count) => _("{count} positions", { count: String(count) }));
    return [
      {
        key: "play", in: controls, tag: "button", class: "play", click: () => (this.riding ? this.pause() : this.play()),
        parts: [markSign(riding ? PAUSE : PLAY, 18), { text: riding ? _("Pause") : _("Play") }],
      },
      { key: "both", in: controls, node: slides[0].root, fill: () => slides[0].show(_("Move both words by"), 0, FAR, shift, told[0]) },
      { key: "alone", in: controls, node: slides[1].root, fill: () => slides[1].show(_("Move only {word} by", { word: tokens[pair[0]] }), least, MOST, alone, told[1]) },
    ];
  }

  // In words.

  /** @override @returns {Sentence} */
  sentence() {
    const { data, at, shift, alone } = this, [asking, asked] = data.pair, [query, key] = this.positions, start = -data.least;
    const values = {
      asking: data.tokens[asking], asked: data.tokens[asked], asking_at: String(query), asked_at: String(key), start: String(asking),
      score: digits(data.rotary[at][shift]), before: digits(data.rotary[start][0]), added_score: digits(data.added[at][shift]),
      shift: String(shift), apart: String(alone).replace("-", "−"), rotary: data.roundings[at],
      added: digits(Math.abs(data.added[at][shift] - data.added[at][0])), added_before: digits(data.added[at][0]),
      far: String(FAR), far_added: digits(data.added[start][FAR]),
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

/** A path that each frame draws anew. @param {string} key @param {string} inside @param {string} name @param {() => string} d @returns {Mark} */
function markPath(key, inside, name, d) {
  return { key, in: inside, tag: "svg:path", class: name, numbers: [], draw: (path) => path.setAttribute("d", d()) };
}

// Where the words, the ruler, the four dials and the bars of their parts stand, and how hands are drawn, also between two neighbouring frames.

/** Words on as many lines as they need. @param {Stage} stage @param {string[]} words @param {number} largest */
function wrapWords(stage, words, largest) {
  const total = stage.widths(words, 1).reduce((sum, one) => sum + one + 0.6, 0);
  const size = Math.max(Math.min(largest, 18), Math.min(largest, Math.floor(stage.room / total)));
  const widths = stage.widths(words, size), gap = size * 0.6, pitch = Math.round(size * 1.75);
  const placed = flow(widths, words.map(() => gap), stage.room), ends = placed.map(({ x }, place) => x + widths[place]);
  const at = placed.map(({ x, line }, place) => {
    const long = ends[placed.findLastIndex((one) => one.line === line)];
    return { x: (stage.room - long + widths[place]) / 2 + x, y: pitch * (line + 0.5) };
  });
  return { size, at, height: pitch * (placed[placed.length - 1].line + 1) };
}

/** @param {Stage} stage @param {string[]} words */
function layOutDials(stage, words) {
  const { room } = stage, isPhone = room < 560;
  const sizes = isPhone ? [20, 18, 16] : [25], lines = sizes.map((size) => wrapWords(stage, words, size));
  const line = lines.find(({ at }) => at.every(({ y }) => y === at[0].y)) ?? lines[0];
  const ruler = { left: 14, right: room - 14, y: line.height + (isPhone ? 30 : 24) }, top = ruler.y + (isPhone ? 30 : 34);
  const width = room * (isPhone ? 0.5 : 0.187), radius = isPhone ? 40 : Math.min(72, width / 2 - 8);
  const head = isPhone ? 20 : width < 160 ? 56 : 38; // as high as the names above the dials
  const middle = top + head + (isPhone ? 3 : 4) + radius, block = 2 * radius + head + 34, right = width * PAIRS;
  const centres = Array.from({ length: PAIRS }, (_one, n) => (isPhone ? { x: width * ((n % 2) + 0.5), y: middle + Math.floor(n / 2) * block } : { x: width * (n + 0.5), y: middle }));
  // The last two columns are the scores.
  const bars = isPhone
    ? { columns: columns(6, room, 0), width: 30, top: top + 2 * block + 58, height: 60 }
    : { columns: [...centres.map(({ x }) => x), ...columns(2, room - right, right)], width: 52, top: middle + radius + 60, height: 64 };
  const before = { x: room, y: bars.top + bars.height + (isPhone ? 14 : 12) }; // what the dashed lines are
  const legend = isPhone ? null : { left: right + (room < 760 ? 4 : 14), top: top - 2 }; // on the stage, if there is room
  return { isPhone, words: line, ruler, dials: { centres, radius, width, head }, bars, legend, before, height: before.y + (isPhone ? 10 : 8) };
}

/** The middles of columns beside each other. @param {number} count @param {number} room @param {number} left */
function columns(count, room, left) {
  return Array.from({ length: count }, (_one, n) => left + (room / count) * (n + 0.5));
}

/** Numbers between two neighbouring frames. @param {(at: number) => number[]} frame @param {number} at @param {(step: number) => number} [way] */
function between(frame, at, way = (step) => step) {
  const lower = Math.floor(at), share = at - lower, one = frame(lower), next = share ? frame(lower + 1) : one;
  return one.map((value, n) => value + share * way(next[n] - value));
}

/** @param {number} angle */
const shortWay = (angle) => angle - TURN * Math.round(angle / TURN);

/** Directions between two neighbouring frames, the short way around. @param {number[][]} frames @param {number} at */
const turned = (frames, at) => between((frame) => frames[frame], at, shortWay);

/** An arrow from a middle. @param {number} x @param {number} y @param {number} long @param {number} angle @param {number} thick */
function writeHandPath(x, y, long, angle, thick) {
  const [across, up] = [Math.cos(angle), -Math.sin(angle)], half = thick / 2, head = thick * 1.7;
  const point = (/** @type {number} */ along, /** @type {number} */ aside) => `${(x + along * across - aside * up).toFixed(1)} ${(y + along * up + aside * across).toFixed(1)}`;
  const neck = long - 2 * head;
  return `M${point(0, half)}L${point(neck, half)}L${point(neck, head)}L${point(long, 0)}L${point(neck, -head)}L${point(neck, -half)}L${point(0, -half)}Z`;
}

/** What lies between two hands. @param {number} x @param {number} y @param {number} radius @param {number} from @param {number} to */
function writeWedgePath(x, y, radius, from, to) {
  const [start, end] = [from, to].map((angle) => `${(x + radius * Math.cos(angle)).toFixed(1)} ${(y - radius * Math.sin(angle)).toFixed(1)}`);
  return `M${x} ${y}L${start}A${radius} ${radius} 0 0 ${shortWay(to - from) > 0 ? 0 : 1} ${end}Z`;
}
