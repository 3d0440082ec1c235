// Two shelves: a text is read word by word with a KV cache and without one. With it nothing moves but
// the new row; without it every row is computed again.

/** @import { HeroData, Mark, Sentence } from "../kit.js" */

import { _, Acts, ChoosingFilm, digits, element, grouped, isStill, largest, markStrip, tellNumbers, WordHero, Words } from "../kit.js";

/** @typedef {number[][]} Rows */
/** @typedef {Record<"query" | "key" | "value", Rows>} Stored what a layer computed for each word as it was read */
/**
 * @typedef {{ key: Rows, value: Rows, wrong: number[], difference: number }} Again what a layer computes at a step
 *   if every word sees later words; stored rows that are other rows now, and the largest difference of a stored number
 */
/**
 * @typedef {object} Numbers
 * @property {string[]} tokens
 * @property {Stored[]} layers
 * @property {{ computed: [number, number], read: number, bytes: number, difference: number }[]} steps
 *   of one layer; with the cache and without it
 * @property {Again[][]} again of each layer, at each step
 */

const FULL = "full";
const KINDS = /** @type {const} */ (["key", "value"]);
const STEP = 1150; // milliseconds in which all of a step is seen
const FALLS = 380; // milliseconds until a step's ticks fall
const SETTLES = 300; // milliseconds that ticks fall before their number counts
const GAPS = 4; // pixels of a row in the bar that can be told from the next one
const WIPE = [{ clipPath: "inset(-6px 100% -6px -6px)", opacity: 0 }, { clipPath: "inset(-6px -6px -6px -6px)", opacity: 1 }];
const FLASH = [{ backgroundColor: "var(--wrong)", opacity: 0.1 }, { backgroundColor: "var(--wrong)", opacity: 0.6, offset: 0.35 }, { opacity: 1 }];

/** @extends {WordHero<HeroData & Numbers>} */
export class Shelves extends WordHero {
  stepShown = NaN;
  isForward = false;
  acts = new Acts();
  counts = this.root.insertBefore(element("div", "shelves-counts"), this.says);
  film = new ChoosingFilm(this, this.bar, _("Step"), (frame) => ({ words_read: this.told(frame) }));

  /** @override */
  addWords() {
    return new Words(this.stage, {
      label: _("The word that is read"),
      choose: (place) => { this.film.pause(); this.choose({ words_read: this.told(place) }); },
      peek: () => {},
    });
  }

  // What is chosen.

  get count() { return this.data.tokens.length; }
  /** The last word that was read, from 0. */
  get step() { return Math.max(1, Math.min(this.count, Number(this.choices.words_read))) - 1; }
  /** @override */
  get chosen() { return this.step; }
  get layer() { return Number(this.choices.cache_layer) - 1; }
  get isFull() { return this.choices.cache_mask === FULL; }
  get stored() { return this.data.layers[this.layer]; }
  get again() { return this.data.again[this.layer][this.step]; }
  /** How much of its time a step has. */
  get pace() { return this.film.isPlaying ? Math.min(1, this.film.dwell / STEP) : 1; }
  /** Milliseconds until new ticks fall into the bar; 0 if nothing moves. */
  get falls() { return this.isForward ? FALLS * this.pace : 0; }

  /** How many rows a side has computed so far. @param {number} side */
  sum(side) { return this.data.steps.slice(0, this.step + 1).reduce((sum, { computed }) => sum + computed[side], 0); }

  /** How the server hears of a step: of the last one as in a text of any length. @param {number} step */
  told(step) { return step === this.count - 1 ? this.data.usual.words_read : step + 1; }

  /** @override */
  offer() {
    super.offer();
    if (this.film.root.parentElement !== this.bar) this.bar.prepend(this.film.root);
  }

  /** @override */
  update() {
    this.isForward = this.step === this.stepShown + 1 && !isStill() && !document.hidden;
    this.root.classList.toggle("quick", !this.isForward);
    if (!this.isForward && this.step !== this.stepShown) this.acts.stop();
    this.film.show(this.step, true);
    super.update();
    if (this.isForward && this.plan) this.perform(this.plan);
    this.isForward = false;
    this.stepShown = this.step;
  }

  /** @override @param {boolean} isFirst */
  renew(isFirst) {
    if (!super.renew(isFirst)) return false;
    const { tokens } = this.data;
    this.stepShown = NaN;
    this.acts.stop();
    if (!isFirst) this.film.stop();
    this.film.offer(tokens.map((_token, place) => _("{step} of {all}", { step: place + 1, all: tokens.length })));
    return true;
  }

  // What is seen.

  /** @override */
  measure() {
    const { stage, data } = this, rows = data.steps.reduce((sum, { computed }) => sum + computed[1], 0);
    this.plan = placeShelves(stage, data.tokens, rows);
    stage.resize(stage.room, this.plan.height);
    this.root.classList.toggle("dense", this.plan.pitch < 18);
  }

  /** @override @returns {Mark[]} */
  marks() {
    const plan = /** @type {ShelfPlace} */ (this.plan), { stage, step, stored: { query }, data: { tokens } } = this, [x, y] = plan.corners[0];
    const top = (/** @type {number} */ row) => y + plan.top + plan.pitch * row;
    this.writeCounts();
    return [
      ...this.markDrawing(plan, 0), ...this.markDrawing(plan, 1), ...this.markLines(plan),
      ...this.markNames(plan, 0), ...this.markNames(plan, 1),
      { key: "asking", class: "text shelves-asking", text: _("query"), at: [x + plan.key - 10, y + 42, 15], opacity: plan.isStacked ? 0 : 1, hold: "right" },
      this.markWords((row) => ({
        name: _("word {place}: {word}", { place: row + 1, word: tokens[row] }), isHidden: row > step, at: [x + plan.words, top(row) + plan.high / 2, plan.size], hold: "right",
      })),
      ...this.markRows(plan, 0), ...this.markBar(plan, 0), ...this.markRows(plan, 1), ...this.markBar(plan, 1),
      // When nothing moves the query has been used, and is not there; it flies over the rows.
      markStrip("query", {
        role: "query", name: "", numbers: query[step], still: true, hasDigits: false, limit: this.limitOf("query"), box: [x + plan.key, top(step), plan.strip, plan.high],
      }, { class: "shelves-query", opacity: 0 }),
    ];
  }

  /** Boards, and a tick for each row that was computed, in the column of its step. @param {ShelfPlace} plan @param {number} side @returns {Mark[]} */
  markDrawing(plan, side) {
    const { data: { steps }, step, count } = this, { pitch, air } = plan, [x, y] = plan.corners[side], right = x + plan.value + plan.strip + 5, left = x + plan.key - 5;
    const boards = steps.map((_step, row) => `M${left} ${(y + plan.top + pitch * (row + 1) - air).toFixed(1)}H${right}`);
    const sides = [left, right].map((at) => `M${at} ${y + plan.top - air}V${(y + plan.top + pitch * count - air).toFixed(1)}`);
    const wide = Math.max(0.8, plan.tick - 2), ticks = ["", ""];
    for (let at = 0; at <= step; at++) for (let row = at - steps[at].computed[side] + 1; row <= at; row++) {
      const from = x + plan.ticks + plan.tick * at + 1, top = y + plan.top + pitch * row;
      ticks[at === step ? 1 : 0] += `M${from.toFixed(1)} ${top.toFixed(1)}h${wide.toFixed(1)}v${plan.high.toFixed(1)}h${(-wide).toFixed(1)}z`;
    }
    return [
      { key: `boards ${side}`, tag: "svg:path", class: "shelves-boards", attributes: { d: side ? "" : [...boards, ...sides].join("") } },
      { key: `ticks ${side}`, tag: "svg:path", class: "shelves-ticks", is: { again: side }, attributes: { d: ticks[0] } },
      { key: `ticks ${side} now`, tag: "svg:path", class: "shelves-ticks now", is: { again: side }, attributes: { d: ticks[1] } },
    ];
  }

  /** A dotted line to every stored row that the query reads. @param {ShelfPlace} plan @returns {Mark[]} */
  markLines(plan) {
    const [x, y] = plan.corners[0], at = x + plan.key - 8, { step, count, data: { tokens } } = this;
    const middle = (/** @type {number} */ row) => y + plan.top + plan.pitch * row + plan.high / 2, from = middle(step);
    return [{ key: "lines", tag: "svg:g", class: "shelves-lines" }, ...tokens.map((_token, row) => {
      const far = (step - row) / Math.max(1, count - 1), out = at - (plan.gutter - 12) * (0.34 + 0.66 * far) * 1.333;
      const d = `M${at} ${from}C${out} ${from} ${out} ${middle(row)} ${at} ${middle(row)}`;
      return { key: `line ${row}`, in: "lines", tag: "svg:path", class: "shelves-line", attributes: { d }, style: { opacity: row < step ? 1 : 0 } };
    })];
  }

  /** What stands around the rows of a side. @param {ShelfPlace} plan @param {number} side @returns {Mark[]} */
  markNames(plan, side) {
    const { stage, count, falls } = this, { isStacked, width } = plan, [x, y] = plan.corners[side], above = y + (isStacked ? 4 : 32), high = 20, sum = this.sum(side);
    const free = width - plan.value - plan.strip / 2 - stage.width(_("value V"), 15, 700) / 2 - 12;
    const steps = [_("computed at step →"), _("step →")].find((text) => stage.width(text, 13, 400) <= free) ?? "";
    const name = (/** @type {string} */ kind, /** @type {string} */ bold, /** @type {string} */ quiet, /** @type {Mark["box"]} */ box, opacity = 1) => ({
      key: `${kind} ${side}`, class: `shelves-${kind}`, is: { again: side }, box, opacity, parts: [{ tag: "b", text: bold }, { text: quiet }],
    });
    const title = side ? [_("Without a cache"), _("computed again each step")] : [_("With a cache"), _("computed once, then stored")];
    return [
      name("title", title[0], title[1], [x, y, isStacked ? plan.key + 20 : width, high]),
      name("name key", _("key K"), "", [x + plan.key, above, plan.strip, high]),
      name("name value", _("value V"), "", [x + plan.value, above, plan.strip, high]),
      name("label", _("rows computed"), _("so far"), [x, y + plan.bar - 5, plan.key - 12, plan.thick + 10]),
      name("name steps", "", steps, [x + width - free, above, free, high], isStacked ? 0 : 1),
      { key: `trough ${side}`, class: "shelves-trough", box: [x + plan.key, y + plan.bar, Math.min(width - plan.key - 12, plan.unit * count * (count + 1) / 2), plan.thick] },
      {
        key: `total ${side}`, class: "shelves-total", is: { again: side }, delay: falls, hold: "left",
        at: [x + plan.key + plan.unit * sum + 8, y + plan.bar + plan.thick / 2, isStacked ? 20 : 28],
        fill: (node) => {
          const write = () => { node.textContent = grouped(sum); };
          clearTimeout(node.landing);
          if (falls) node.landing = setTimeout(write, falls + SETTLES); else write();
        },
      },
    ];
  }

  /** A row of K and of V for each word. @param {ShelfPlace} plan @param {number} side @returns {Mark[]} */
  markRows(plan, side) {
    const { stage, data: { tokens, steps }, step } = this, [x, y] = plan.corners[side], isAgain = side === 1, wrong = this.isFull && !isAgain ? this.again.wrong : [];
    const kinds = KINDS.map((kind) => ({ kind, limit: this.limitOf(kind), told: kind === "key" ? _("key K") : _("value V") }));
    return tokens.flatMap((token, row) => {
      const isThere = row <= step, isNew = isThere && row > step - steps[step].computed[side], top = y + plan.top + plan.pitch * row, isWrong = wrong.includes(row);
      return /** @type {Mark[]} */ ([
        {
          key: `band ${side} ${row}`, class: "shelves-band", is: { again: isAgain, wrong: isWrong }, opacity: isThere && (isAgain || isWrong) ? 1 : 0,
          box: [x + plan.key - 5, top - plan.air, plan.value + plan.strip - plan.key + 10, plan.pitch],
        },
        ...kinds.map(({ kind, limit, told }) => {
          const stored = this.stored[kind][row], numbers = isAgain && this.isFull ? this.again[kind][row] ?? stored : stored, name = `${told}, ${token}`;
          return markStrip(`${kind} ${side} ${row}`, { role: kind, name, numbers, hasDigits: false, limit, box: [x + plan[kind], top, plan.strip, plan.high] }, {
            is: { new: isNew && !isAgain, again: isThere && isAgain }, opacity: isThere ? 1 : 0, attributes: { title: tellNumbers(name, numbers) },
          });
        }),
        ...(isAgain ? [{
          key: `word ${row}`, class: "text shelves-word", is: { asks: row === step, later: !isThere }, text: token, at: [x + plan.words, top + plan.high / 2, plan.size], hold: "right",
        }] : []),
      ]);
    });
  }

  /** The bar in which all ticks are added up: those of a new step fall into it. @param {ShelfPlace} plan @param {number} side @returns {Mark[]} */
  markBar(plan, side) {
    const { data: { steps }, step, falls } = this, { unit, pitch, tick } = plan, [x, y] = plan.corners[side], isFine = unit < GAPS;
    let sum = 0;
    return steps.map(({ computed: { [side]: rows } }, at) => {
      const isThere = at <= step, from = x + plan.key + unit * sum, width = Math.max(0.5, unit * rows - (isFine ? 0 : 1.5));
      if (isThere) sum += rows;
      return {
        key: `part ${side} ${at}`, class: "shelves-part", is: { again: side, fine: isFine, now: at === step }, style: { "--unit": `${unit.toFixed(3)}px` },
        box: isThere ? [from, y + plan.bar, width, plan.thick] : [x + plan.ticks + tick * at, y + plan.top + pitch * (at - rows + 1), tick, pitch * rows],
        opacity: isThere ? 1 : 0, delay: at === step ? falls : 0,
      };
    });
  }

  /** What happens once at a step: a row is written, all others again, and one query reads and is gone. @param {ShelfPlace} plan */
  perform(plan) {
    const { acts, step, pace } = this, node = (/** @type {string} */ key) => /** @type {Element} */ (this.scene.node(key));
    acts.stop();
    const write = (/** @type {number} */ side, /** @type {number} */ row, delay = 0) => {
      acts.act(node(`key ${side} ${row}`), WIPE, 420 * pace, delay);
      acts.act(node(`value ${side} ${row}`), WIPE, 420 * pace, delay + 120 * pace);
    };
    write(0, step);
    for (let row = 0; row <= step; row++) {
      const delay = Math.min(45, 320 / (step + 1)) * row * pace;
      write(1, row, delay);
      acts.act(node(`band 1 ${row}`), FLASH, 900 * pace, delay);
    }
    for (const side of [0, 1]) acts.act(node(`ticks ${side} now`), [{ opacity: 0 }, { opacity: 1 }], 300 * pace, 200 * pace);
    const [x, y] = plan.corners[0], delay = 300 * pace, duration = 780 * pace;
    const at = (/** @type {number} */ left, /** @type {number} */ row) =>
      `translate(${(x + plan.key + left).toFixed(1)}px, ${(y + plan.top + plan.pitch * row).toFixed(1)}px)`;
    acts.act(node("query"), [
      { transform: at(-plan.gutter - 10, step), opacity: 0 }, { transform: at(-10, step), opacity: 1, offset: 0.22 },
      { transform: at(-10, 0), opacity: 1, offset: 0.86 }, { transform: at(-10, -1), opacity: 0 },
    ], duration, delay);
    for (let row = 0; row < step; row++) {
      const passes = duration * (0.22 + (0.64 * (step - row)) / Math.max(1, step));
      acts.act(node(`line ${row}`), [{ opacity: 0 }, { opacity: 1 }], 160 * pace, delay + passes);
    }
  }

  /** The number of a kind with the strongest colour. @param {"query" | "key" | "value"} kind */
  limitOf(kind) { return largest(this.stored[kind]) * 0.9; }

  writeCounts() {
    const { computed: [kept, all], read, bytes } = this.data.steps[this.step];
    const counts = [
      [_("rows computed in this step"), grouped(kept), grouped(all)], [_("stored rows read"), grouped(read), grouped(0)],
      [_("bytes stored"), grouped(bytes), grouped(0)], [_("largest difference between both"), this.difference, ""],
    ];
    this.counts.replaceChildren(...counts.map(([name, yes, no]) => {
      const count = element("div"), line = count.appendChild(element("div"));
      line.append(element("b", "", yes), element("span", "", no && _("with")), element("b", "again", no), element("span", "", no && _("without")));
      count.append(element("span", "", name));
      return count;
    }));
  }

  /** Of what is stored from what is computed again, so far. */
  get difference() {
    const most = this.isFull ? this.again.difference : Math.max(...this.data.steps.slice(0, this.step + 1).map((one) => one.difference));
    return most === 0 ? "0" : this.isFull ? digits(most) : most.toExponential(0);
  }

  // In words.

  /** @param {number} count */
  rows(count) { return count === 1 ? _("1 row") : _("{count} rows", { count: count.toLocaleString("en") }); }

  /** @override @returns {Sentence} */
  sentence() {
    const { data, step, count } = this, { computed: [kept, all], read } = data.steps[step];
    const values = {
      step: `${step + 1}`, word: data.tokens[step], words: `${count}`, layer: `${this.layer + 1}`,
      new_rows: this.rows(kept), kept_rows: this.rows(read), again_rows: this.rows(all), rows: this.sum(0).toLocaleString("en"), rows_again: this.sum(1).toLocaleString("en"),
      stored: this.rows(step + 1), wrong: `${this.again.wrong.length}`, difference: this.difference,
    };
    return { name: this.nameSentence(), values, classes: { word: "query", again_rows: "wrong", rows_again: "wrong", wrong: "wrong" } };
  }

  nameSentence() {
    if (this.step === 0) return "hero_first";
    if (this.isFull) return this.again.wrong.length ? "hero_wrong" : "hero_right";
    if (this.step < this.count - 1) return "hero_seen";
    return this.difference === "0" ? "hero_last" : "hero_close";
  }

  /** @override */
  describe() {
    return this.data.steps.map(({ computed: [kept, all] }, place) => _("{place} {word}: {kept} with the cache, {all} without", {
      place: place + 1, word: this.data.tokens[place], kept: this.rows(kept), all: this.rows(all),
    })).join("; ");
  }
}

// Where everything on the two shelves is: beside each other, or below each other on a phone.

/** @typedef {ReturnType<typeof placeShelves>} ShelfPlace */

const MOST_PITCH = 36, PITCH_ON_PHONE = 20, LEAST_PITCH = 14; // pixels
const ROWS = 252, ROWS_ON_PHONE = 140; // room for all rows, while it is enough
const NAMES = 88; // the name of the bar needs this beside it

/** @param {import("../stage.js").Stage} stage @param {string[]} tokens @param {number} rows the most that a side computes */
function placeShelves(stage, tokens, rows) {
  const { room } = stage, count = tokens.length, isStacked = room < 560;
  const apart = isStacked ? 18 : room < 760 ? 24 : 44, width = isStacked ? room : Math.floor((room - apart) / 2); // of a side
  const most = isStacked ? PITCH_ON_PHONE : MOST_PITCH;
  const pitch = Math.max(LEAST_PITCH, Math.min(most, (isStacked ? ROWS_ON_PHONE : ROWS) / count)), high = pitch * 0.74; // of a row
  const size = Math.min(22, Math.max(pitch * 0.62, Math.min(15, pitch * 0.84)), width * 0.052); // of the words
  const gutter = Math.max(34, Math.min(54, width * 0.115)); // room for the lines between words and rows
  const words = Math.max(NAMES - gutter / 2, Math.min(width * 0.3, Math.max(...stage.widths(tokens, size)) + 4)); // where they end
  const tick = Math.min(10, (width * 0.17) / count), between = isStacked ? 7 : 12;
  const strip = Math.floor((width - words - gutter - tick * count - 2 * between) / 2); // as wide as a key, or a value
  const top = isStacked ? 25 : 56, thick = isStacked ? 16 : 24, bar = top + pitch * count + (isStacked ? 4 : 8);
  const tall = bar + thick + 3, key = words + gutter, number = (isStacked ? 13 : 17) * String(rows).length + 12;
  return {
    /** @type {[number, number][]} */
    corners: isStacked ? [[0, 0], [0, tall + apart]] : [[0, 0], [width + apart, 0]],
    width, height: isStacked ? 2 * tall + apart : tall, isStacked, pitch, high, size, top, words, gutter,
    key, value: key + strip + between, strip, ticks: width - tick * count, tick, bar, thick,
    unit: (width - key - number) / Math.max(1, rows), // length of one row in the bar
    air: (pitch - high) / 2,
  };
}
