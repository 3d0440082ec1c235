// What GPUs hold, as one stack to scale; a map of what fits on how many; and what limits there.

/** @import { Choice, HeroData, Mark, Sentence, Tell } from "../kit.js" */

import { ANSWER_WITHIN, locate } from "../../common/component.js";
import { _, Film, grouped, Hero, localNumber, writeSentence } from "../kit.js";
import { formatSize, formatThree, formatTime } from "../../common/sizes.js";
import { MemoryMap } from "./memory_map.js";

/**
 * @typedef {object} Plan one number of GPUs: bytes that all of them hold, seconds that each needs in a step
 * @property {string} number
 * @property {number} memory
 * @property {number} usable
 * @property {number} overhead
 * @property {number | null} weights null where their number is not published
 * @property {number[]} caches of one text of each length
 * @property {boolean[]} isCopied for each length: is a part of the cache on several GPUs?
 * @property {(number | null)[]} users texts of each length that fit; null if they take no memory
 * @property {(number | null)[]} [reach] the same at each sample, as if texts could be divided
 * @property {(number | null)[]} [turns] from how many texts on computing takes longer
 * @property {number} [readWeights]
 * @property {number[]} [readCaches] of one text of each length
 * @property {number} [computing] for one text
 */
/**
 * @typedef {object} Numbers
 * @property {string} model
 * @property {string} gpu
 * @property {string} copied which sentence says why GPUs keep copies
 * @property {number} leftOut layers that keep what is not known
 * @property {boolean} writes whether the model generates text
 * @property {number[]} lengths tokens of a text
 * @property {string[]} lengthNames
 * @property {number[]} samples lengths at which the contours are known
 * @property {number[]} counts texts at once
 * @property {number[]} once bytes of one text of each length, without copies
 * @property {Plan[]} plans
 * @property {string} ahead where the numbers of another model or GPU can be asked for; "" for nowhere
 */

const BAR = { top: 48, height: 36 }, LEGEND = 30, GAP = 18;
const STRIPES = 3; // pixels of a text in the stack: narrower ones are not told apart
const SIDE = 236;

/** @extends {Hero<HeroData & Numbers>} */
export class Memory extends Hero {
  map = new MemoryMap(this.stage, (row, column) => this.move(row, column));
  names = ""; // of all that can be chosen
  chosen = 0; // pixels that the choice of a number takes beside the name
  film = new Film(this.below, _("tokens in each text"), (frame) => this.move(this.row, frame));
  readers = new Film(this.below, _("texts at once"), (frame) => this.move(frame, this.column));
  drawn = ""; // the numbers that are drawn
  /** @type {Record<string, Choice> | null} what was asked for ahead of the run */
  asked = null;
  ahead = { model: "", gpu: "", at: -Infinity }; // what is shown ahead of it

  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    const shown = new WeakRef(this);
    addEventListener("chosen", (event) => shown.deref()?.lookAhead(/** @type {CustomEvent<Record<string, Choice>>} */ (event).detail));
  }

  /** @override @param {HeroData & Numbers} data @param {Tell} tell */
  show(data, tell) {
    const { model, gpu, at } = this.ahead, isFresh = performance.now() - at < ANSWER_WITHIN;
    const { asked } = this, { choices } = data;
    this.tell = tell;
    if (isFresh && (choices.model !== model || choices.gpu !== gpu)) return; // the answer to an earlier choice
    this.ahead.at = -Infinity;
    if (asked && choices.model === asked.model && choices.gpu === asked.gpu) this.asked = null;
    super.show(data, tell);
  }

  /** @override @param {Record<string, Choice>} some */
  choose(some) {
    this.lookAhead(some);
    super.choose(some);
  }

  /** Another model or GPU: ask for its numbers, which the run of the page brings later. @param {Record<string, Choice>} some */
  async lookAhead(some) {
    const { data, root, choices: before } = this;
    if (!data?.ahead || !root.isConnected) return;
    if (!data.elsewhere.some((key) => key in some && some[key] !== before[key])) return;
    const choices = { ...before, ...some }, asked = (this.asked = choices);
    const link = new URLSearchParams(Object.entries(choices).map(([key, value]) => [key, String(value)]));
    const answer = await fetch(locate(`${data.ahead}?${link}`)).catch(() => null);
    const numbers = answer?.status === 200 ? await answer.json() : null;
    if (!numbers || this.asked !== asked) return; // the run was faster, or another choice was made
    const options = numbers.plans.map((/** @type {Plan} */ { number }) => ({ value: number, label: number }));
    const controls = this.data.controls.map((one) => (one.key === "gpus" ? { ...one, options } : one));
    this.asked = null;
    super.show({ ...this.data, ...numbers, controls, choices }, this.tell);
    this.ahead = { model: String(choices.model), gpu: String(choices.gpu), at: performance.now() };
  }

  /** @override */
  get caption() { return super.caption.replace("{{most}}", this.data.plans.at(-1)?.number ?? ""); }
  get plan() { return this.data.plans.find(({ number }) => number === this.choices.gpus) ?? this.data.plans[0]; }
  get column() { return Math.max(0, this.data.lengths.indexOf(Number(this.choices.tokens))); }
  get row() { return Math.max(0, this.data.counts.indexOf(Number(this.choices.texts))); }
  get texts() { return this.data.counts[this.row]; }
  get cache() { return this.texts * this.plan.caches[this.column]; }
  get users() { return this.plan.users[this.column]; }
  get gpus() { return this.nameGpus(this.plan.number); }
  get lengthNames() { return this.data.lengthNames.map(localNumber); }

  /** @param {string} number */
  nameGpus(number) { return `${number}\u00a0×\u00a0${this.data.gpu}`; }

  /** @param {number} row @param {number} column */
  move(row, column) {
    this.choose({ tokens: this.data.lengths[column], texts: this.data.counts[row] });
  }

  /** @override */
  update() {
    this.film.show(this.column, true);
    this.readers.show(this.row, true);
    this.root.classList.toggle("quick", this.film.isPlaying || this.readers.isPlaying);
    super.update();
  }

  /** @override @param {boolean} isFirst */
  renew(isFirst) {
    const { counts, plans } = this.data, { lengthNames } = this, names = JSON.stringify([lengthNames, counts, plans.map(({ number }) => number)]);
    const isOther = names !== this.names, drawn = JSON.stringify([this.data.gpu, plans, names]);
    if (drawn === this.drawn) return isFirst; // the run brings what was drawn ahead of it
    this.drawn = drawn;
    this.names = names;
    if (isOther) {
      this.film.offer(lengthNames);
      this.readers.offer(counts.map(grouped));
    }
    this.map.renew(lengthNames, this.data);
    if (isOther && !isFirst) this.measure(); // what it shows moves to its new place with the numbers
    return isFirst;
  }

  /** @override */
  measure() { this.chosen = this.stage.room < 560 || !this.bar.offsetWidth ? 0 : this.bar.offsetWidth + 14; }

  /** @override @returns {Mark[]} */
  marks() {
    const { stage } = this, isPhone = stage.room < 560, side = isPhone ? 0 : SIDE + 26, stack = this.markStack(isPhone);
    const map = this.map.mark(stack.end, stage.room - side, { row: this.row, column: this.column, number: this.plan.number, told: this.tellPoint() });
    stage.resize(stage.room, map.end);
    return [
      ...stack.marks, ...map.marks,
      // On a phone the sentence says what limits; there is no room for both.
      { key: "side", class: "memory-limits", box: [isPhone ? 0 : stage.room - SIDE, stack.end + 20, SIDE, map.end - stack.end - 62], opacity: isPhone ? 0 : 1 },
      ...this.markLimits(), ...map.names,
    ];
  }

  /** Weights, overhead and caches in the memory, and where that ends. @param {boolean} isPhone @returns {{ marks: Mark[], end: number }} */
  markStack(isPhone) {
    const { stage, plan, cache, chosen } = this, { height } = BAR, top = isPhone ? BAR.top - 22 : BAR.top, high = isPhone ? 3 * LEGEND - 6 : LEGEND;
    const weights = plan.weights ?? 0, { memory, usable, overhead } = plan, start = weights + overhead, inside = Math.max(0, Math.min(cache, usable - start));
    const scale = stage.room / Math.max(memory, start + cache), step = plan.caches[this.column] * scale, size = formatSize(memory);
    const least = chosen + stage.width(this.gpus, 17) + stage.width(size, 15) + 20;
    const part = (/** @type {string} */ name, /** @type {number} */ from, /** @type {number} */ long, isEach = false) => /** @type {Mark} */ ({
      key: name, class: `memory-part ${name}`, is: { each: isEach && this.texts > 1 && step >= STRIPES }, style: isEach ? { "--step": `${step.toFixed(2)}px` } : {},
      box: [from * scale, top, long * scale, height], opacity: long > 0 ? 1 : 0,
    });
    return {
      end: top + height + 9 + high + GAP - 8,
      marks: [
        { key: "name", class: "text", text: this.gpus, at: [chosen, isPhone ? 9 : 20, isPhone ? 15 : 17], hold: "left" },
        { key: "limit", class: "text quiet", text: size, at: [Math.max(memory * scale, least), isPhone ? 10 : 21, 15], hold: "right" },
        { key: "card", class: "memory-card", box: [0, top - 5, memory * scale, height + 10] },
        { key: "reserve", class: "memory-reserve", box: [usable * scale, top, (memory - usable) * scale, height] },
        part("weights", 0, weights), part("overhead", weights, overhead), part("cache", start, inside, true), part("over", start + inside, cache - inside, true),
        { key: "line", class: "memory-line", box: [memory * scale - 3, top - 8, 3, height + 16] },
        { key: "legend", class: "memory-legend", box: [0, top + height + 9, stage.room, high], parts: this.listParts() },
      ],
    };
  }

  /** What the memory is divided into. @returns {Partial<Mark>[]} */
  listParts() {
    const { plan } = this;
    const told = [
      ["weights", _("weights"), plan.weights === null ? "?" : formatSize(plan.weights)],
      ["overhead", _("overhead, estimated"), formatSize(plan.overhead)],
      ["cache", _("cache"), formatSize(this.cache)],
      ["reserve", _("left unused"), ""],
    ];
    return told.map(([name, label, size]) => ({ class: `memory-item ${name}`, text: `${label} `, parts: [{ tag: "b", text: size }] }));
  }

  /** How full the memory is, and how long a step reads and computes. @returns {Mark[]} */
  markLimits() {
    const { plan: { usable, weights } } = this, { name: limit, held, reading, ofCaches, computing, speed } = this.findLimits();
    const titles = /** @type {Record<string, string>} */ ({ memory: _("Memory limits here"), bandwidth: _("Bandwidth limits here"), compute: _("Computing limits here"), none: "" });
    const isKnown = reading > 0 && limit !== "memory", longest = Math.max(reading, computing) || 1, time = (/** @type {number} */ seconds) => (isKnown ? formatTime(seconds) : "–");
    const filled = held > usable ? _("{size} too much", { size: formatSize(held - usable) }) : `${Math.round((100 * held) / usable)}\u00a0%`;
    const meter = (/** @type {string} */ name, /** @type {string} */ label, /** @type {string} */ number, /** @type {number} */ share, part = 0) => {
      const filled = [{ tag: "i", style: { width: `${Math.min(100, 100 * share)}%` } }, { tag: "i", class: "part", style: { width: part ? `${100 * part}%` : "0" } }];
      return {
        key: name, in: "side", class: `memory-meter ${name}`, is: { chosen: name === limit }, attributes: { hidden: name !== "memory" && limit === "none" },
        parts: [{ class: "what", text: label }, { tag: "b", text: number }, { tag: "div", class: "gauge", parts: filled }],
      };
    };
    return [
      { key: "limit title", in: "side", class: "memory-limit-title", text: titles[limit], attributes: { "data-limit": limit } },
      meter("memory", weights !== null ? _("filled of what is usable") : _("filled of what is usable, without weights"), filled, held / usable),
      meter("bandwidth", _("reading memory, each step"), time(reading), isKnown ? reading / longest : 0, isKnown ? ofCaches / longest : 0),
      meter("compute", _("computing with weights"), time(computing), isKnown ? computing / longest : 0),
      { key: "speed", in: "side", class: "memory-speed", text: isKnown && limit !== "none" ? _("at most {speed} tokens a second", { speed: formatThree(speed) }) : "" },
    ];
  }

  /** What limits here, room or the slower half of a step: bytes of all GPUs together, seconds of one step, tokens a second of all texts. */
  findLimits() {
    const { plan, texts, column, data } = this, held = (plan.weights ?? 0) + plan.overhead + this.cache;
    const ofCaches = texts * (plan.readCaches?.[column] ?? 0), reading = (plan.readWeights ?? 0) + ofCaches; // part of which is for caches
    const computing = texts * (plan.computing ?? 0), speed = texts / Math.max(reading, computing);
    const isFull = plan.weights !== null && (held > plan.usable || (this.users !== null && texts > this.users));
    const name = isFull ? "memory" : plan.weights === null || !data.writes ? "none" : computing > reading ? "compute" : "bandwidth";
    return { name, held, reading, ofCaches, computing, speed };
  }

  /** @override @returns {Sentence} */
  sentence() {
    const { data, column, users, plan, gpus } = this, free = plan.usable - (plan.weights ?? 0) - plan.overhead;
    const values = {
      model: data.model, gpus, tokens: data.lengths[column].toLocaleString("en"), texts: this.texts.toLocaleString("en"),
      cache: formatSize(data.once[column]), all: formatSize(this.texts * data.once[column]), users: (users ?? 0).toLocaleString("en"),
      weights: formatSize(plan.weights ?? 0), free: formatSize(Math.max(0, free)),
      copies: this.tellCopies(), limit: this.tellLimit(), fewest: this.tellFewest(),
    };
    return { name: this.sentenceName(), values, classes: { cache: "value", all: "value" } };
  }

  /** What is left out, and why all GPUs together hold more than one cache of each text; nothing where neither is. */
  tellCopies() {
    const { data, column, plan } = this;
    const rest = data.leftOut ? ` ${writeSentence(data.texts.hero_left_out, { layers: String(data.leftOut) })}` : "";
    if (!plan.isCopied[column]) return rest;
    const total = formatSize(this.texts * plan.caches[column]);
    return `${rest} ${writeSentence(data.texts[data.copied], { number: plan.number, total })}`;
  }

  /** What limits the speed, with the numbers behind it. */
  tellLimit() {
    const { name, reading, computing, speed } = this.findLimits();
    if (name !== "bandwidth" && name !== "compute") return "";
    const values = { reading: formatTime(reading), computing: formatTime(computing), speed: formatThree(speed) };
    return ` ${writeSentence(this.data.texts[`hero_${name}`], values)}`;
  }

  /** How many of these GPUs hold what the chosen ones do not. */
  tellFewest() {
    const { data, texts, column } = this, { plans } = data;
    const enough = plans.find(({ users }) => users[column] === null || (users[column] ?? 0) >= texts);
    if (enough) return ` ${writeSentence(data.texts.hero_fewest, { gpus: this.nameGpus(enough.number) })}`;
    return ` ${writeSentence(data.texts.hero_none, { gpus: this.nameGpus(plans[plans.length - 1].number) })}`;
  }

  sentenceName() {
    const { plan, users, texts } = this;
    if (plan.caches[this.column] === 0) return "hero_no_cache";
    if (plan.weights === null) return "hero_unknown";
    if (plan.weights + plan.overhead > plan.usable) return "hero_no_room";
    if (!users && texts === 1) return "hero_no_text";
    if (!users || texts > users) return "hero_too_many";
    if (texts > 1) return "hero_many";
    return users === 1 ? "hero_one" : "hero_fits";
  }

  /** The point in words, for who does not see it. */
  tellPoint() {
    const { data, row, column, users } = this;
    const told = this.plan.weights === null ? "?" : users === null || this.texts <= users ? _("fits") : _("does not fit");
    return `${grouped(data.counts[row])} × ${this.lengthNames[column]}: ${formatSize(this.cache)}, ${told}`;
  }

  /** @override */
  describe() {
    const { data, lengthNames } = this, { lengths, once, plans } = data;
    return lengths.flatMap((length, place) => {
      if (!Number.isInteger(Math.log2(length))) return [];
      const fits = plans.map(({ number, users }) => `${this.nameGpus(number)}: ${users[place] ?? "∞"}`).join(", ");
      return [`${lengthNames[place]}: ${formatSize(once[place])}; ${fits}`];
    }).join(". ");
  }
}
