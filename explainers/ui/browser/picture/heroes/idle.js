// A head that often wants nothing: where a letter's weight goes when there is nothing to look for.

/** @import { Tell } from "../../common/component.js" */
/** @import { Choice, HeroData, Mark, Sentence } from "../kit.js" */

import { _, chooseTold, digits, element, Film, markArcs, percent, sum, WordHero, Words, writeArcPath } from "../kit.js";

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
 * @property {string[]} tokens the same, as they are written
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
/** @typedef {"useful" | "first" | "itself" | "nowhere" | "elsewhere"} Kind */
/** @typedef {Record<Kind, number>} Shares */

/** @type {Kind[]} */
const KINDS = ["useful", "first", "itself", "nowhere", "elsewhere"];
const AIR = 10, SMALLEST = 0.02; // beside a share in its part; a smaller one has no number there
const NAMES = 116, GATE = 124; // how wide the rows' names are, and what is told of gates
const SEEN = 0.05, LEAST = 0.03; // smaller weights are not written, and not drawn
const SHARE_ROOM = 34; // pixels that a share takes

/** @extends {WordHero<HeroData & Numbers>} */
export class Idle extends WordHero {
  toggles = element("div", "idle-toggles");
  film = new Film(this.below, _("batches learned"), (frame) => this.choose({ learned: this.stages[frame].batches }), true);

  /** A space is to be seen. @override @param {HeroData & Numbers} data @param {Tell} tell */
  show(data, tell) {
    super.show({ ...data, tokens: data.letters.map((letter) => (letter === " " ? "␣" : letter)) }, tell);
  }

  /** @override */
  addWords() {
    return new Words(this.stage, {
      label: _("The letter whose query is used"),
      choose: (place) => { if (place > 0) { this.pointed = null; this.choose({ letter: place - 1 }); } },
      peek: (place) => this.peek(place || null),
    });
  }

  // What is chosen.

  get setting() { return String(this.choices.given); }
  get switches() { return this.setting === this.data.nothing ? [] : this.setting.split("-"); }
  get hasFirst() { return this.switches.includes(this.data.first); }
  get hasSink() { return this.switches.includes(this.data.sink); }
  get hasGate() { return this.switches.includes(this.data.gate); }
  /** @override */
  get chosen() { return Math.min(Number(this.choices.letter) + 1, this.data.letters.length - 1); }
  /** What learned here with these switches, if that is looked at. */
  get trained() { return this.data.trained?.setting === this.setting && this.data.trained.run === Number(this.choices.run) ? this.data.trained : null; }
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
  /** It gathers weight and can only look at itself. */
  get firstPlace() { return this.hasFirst ? 0 : 1; }

  /** @param {Kind} kind */
  nameOf(kind) {
    const first = this.hasFirst ? this.data.letters[0] : _("first letter");
    return { useful: _("useful"), first, itself: _("itself"), nowhere: _("nowhere"), elsewhere: _("elsewhere") }[kind];
  }

  /** @param {string} name */
  turn(name) {
    const on = this.data.switches.map((one) => one.name).filter((one) => this.switches.includes(one) !== (one === name));
    this.choose({ given: on.join("-") || this.data.nothing });
  }

  /** With other switches, what comes with the app is shown. @override @param {Record<string, Choice>} some */
  choose(some) {
    super.choose("given" in some && Number(this.choices.run) ? { run: 0, ...some } : some);
  }

  // What is seen.

  /** @override */
  get besides() { return [this.toggles]; }

  /** @override @returns {Mark[]} */
  marks() {
    const { stage, data, asker, shown, hasFirst } = this, { room } = stage, isPhone = room < 560;
    const left = isPhone ? 14 : 26, right = isPhone ? 4 : room < 760 ? 202 : 232, base = isPhone ? 138 : 196, high = isPhone ? 92 : 138; // facts stand at the right
    const pitch = (room - left - right) / (data.letters.length - 0.5), centres = data.letters.map((_letter, place) => left + pitch * (place && place + 0.35));
    const weights = this.weightsOf(asker), told = chooseTold(weights, centres, SHARE_ROOM, SEEN), gate = this.gateOf(asker);
    stage.resize(room, isPhone ? 474 : 386);
    return [
      ...this.markSwitches(),
      ...this.markTraining(),
      ...this.markAll(centres, base, high),
      { key: "baseline", class: "baseline", box: [left - 8, base, centres[centres.length - 1] - left + 16, 1] },
      this.markWords((place) => ({
        name: this.tellLetter(place), isHidden: place === 0 && !hasFirst, is: { wanted: data.wanted.includes(place) },
        at: [centres[place], base + (isPhone ? 20 : 26), Math.min(28, Math.max(14, pitch * 0.86))], opacity: place === 0 && !hasFirst ? 0.25 : 1,
      })),
      ...this.markBars(isPhone),
      ...this.markFacts(room, isPhone),
      ...markArcs("letter", stage, {
        weights, centres, asker, base, high, scale: isPhone ? 0.26 : 0.38, opacity: !shown ? 0 : this.hasGate && gate < 0.99 ? 0.25 + 0.75 * gate : 1,
        isSeen: (place) => place <= asker && (place > 0 || hasFirst), share: (place) => ({ at: [centres[place], base + (isPhone ? 43 : 52), 14], opacity: told.has(place) ? 1 : 0 }),
      }),
    ];
  }

  /** @returns {Mark[]} */
  markSwitches() {
    return [
      { key: "has", in: this.toggles, tag: "span", class: "label", text: _("The head has:") },
      ...this.data.switches.map(({ name, label }) => ({
        key: `switch ${name}`, in: this.toggles, tag: "button", class: "idle-toggle", text: label,
        attributes: { role: "switch", "aria-checked": String(this.switches.includes(name)) }, click: () => this.turn(name),
      })),
    ];
  }

  /** Below the picture: the batches, and training here. @returns {Mark[]} */
  markTraining() {
    const { film, stages, isTraining } = this;
    film.offer(stages.map(({ batches }) => String(batches)));
    film.show(Math.max(0, this.frame), stages.length > 1);
    return [
      { key: "film", node: film.root, in: this.below },
      {
        key: "training", in: this.below, class: "idle-training", parts: [
          {
            tag: "button", class: "idle-train", is: { on: isTraining }, text: isTraining ? _("Cancel") : _("Train it now"),
            click: () => this.choose({ run: this.isTraining ? 0 : Number(this.choices.run) + 1 }),
          },
          { class: "quiet", attributes: { role: "status" }, text: this.trained?.told ?? (stages.length ? "" : _("not trained yet with these switches")) },
        ],
      },
    ];
  }

  /** The arcs of all letters at once, thin: where idle letters look is seen without pointing at one. @param {number[]} centres @param {number} base @param {number} high @returns {Mark[]} */
  markAll(centres, base, high) {
    const { data: { letters, wanted }, stage: { room }, firstPlace: first } = this;
    return [
      { key: "all arcs", tag: "svg:g", class: "idle-arcs" },
      ...letters.flatMap((_letter, from) => this.weightsOf(from).slice(0, from + 1).map((weight, to) => /** @type {Mark} */ ({
        key: `all ${from} ${to}`, in: "all arcs", tag: "svg:path", class: "idle-arc", is: { useful: wanted.includes(from) && to === from - 1, first: to === first && from !== first },
        attributes: { d: writeArcPath({ from: centres[from], to: centres[to], base, high, span: room * 0.82, isUpright: false }) },
        numbers: [from === first ? 0 : weight],
        draw: (node, [now]) => Object.assign(node.style, { opacity: now < LEAST ? "0" : (0.15 + 0.6 * now).toFixed(3), strokeWidth: (0.6 + 2.2 * now).toFixed(2) }),
      }))),
    ];
  }

  /** Two bars of 100 %: where one letter's weight goes, and that of all letters that need nothing. @param {boolean} isPhone @returns {Mark[]} */
  markBars(isPhone) {
    const { stage, data, shown, asker, hasGate } = this, opacity = shown ? 1 : 0, left = isPhone ? 0 : NAMES, right = stage.room - 2;
    const width = right - left - (shown && hasGate && !isPhone ? GATE : 0), gates = [this.gateOf(asker), this.meanGate()], shares = [this.split(asker), this.splitIdle()];
    const kinds = KINDS.filter((kind) => kind !== "nowhere" || this.hasSink), widths = stage.widths(kinds.map((kind) => this.nameOf(kind)), 14, 400);
    let x = isPhone ? 2 : left, y = isPhone ? 342 : 374;
    return [
      ...[data.tokens[asker], _("idle letters")].flatMap((text, row) => {
        const top = isPhone ? 222 + 62 * row : 274 + 44 * row, told = top + (isPhone ? -13 : 16);
        let end = left;
        return /** @type {Mark[]} */ ([
          { key: `bar ${row}`, class: "text idle-name", is: { asks: row === 0 }, text, at: [0, told, row === 0 ? 18 : 15], hold: "left", opacity },
          ...KINDS.map((kind) => {
            const share = shown ? shares[row][kind] : 0, long = width * share, text = percent(share);
            const fits = [`${this.nameOf(kind)} ${text}`, text].find((one) => share >= SMALLEST && stage.width(one, 14) + AIR <= long);
            end += long;
            return { key: `part ${row} ${kind}`, class: `idle-part ${kind}`, text: fits ?? "", box: [end - long, top, long, 32], opacity };
          }),
          {
            key: `gate ${row}`, class: "text idle-gate", text: shown && hasGate ? _("gate {share} open", { share: percent(gates[row]) }) : "",
            at: [right, told, 14], hold: "right", opacity: hasGate ? opacity : 0,
          },
        ]);
      }),
      ...kinds.map((kind, at) => {
        if (x + widths[at] + 20 > stage.room) { x = isPhone ? 2 : left; y += 22; }
        const start = x, parts = [{ class: `idle-part ${kind}` }, { class: "name", text: this.nameOf(kind) }];
        x += widths[at] + 44;
        return /** @type {Mark} */ ({ key: `legend ${kind}`, class: "text quiet idle-key", at: [start, y, 14], hold: "left", opacity, parts });
      }),
    ];
  }

  /** @param {number} room @param {boolean} isPhone @returns {Mark[]} */
  markFacts(room, isPhone) {
    const { shown, data } = this, lengths = this.lengths();
    const opacity = shown ? 1 : 0, first = digits(lengths.first, 1), others = digits(lengths.others, 1), told = [
      [digits(shown?.largest ?? 0, 1), _("largest |score|")],
      [digits(shown?.loss ?? 0), _("loss")],
      this.hasFirst ? [`${first} | ${others}`, _("value length: {letter} | others", { letter: data.letters[0] })] : [others, _("mean length of a value")],
    ];
    return told.flatMap(([number, name], at) => /** @type {Mark[]} */ ([
      { key: `fact ${at}`, class: "text idle-number", text: shown ? number : undefined, at: isPhone ? [room - 2, 392 + 28 * at, 17] : [room - 2, 26 + 74 * at, 24], hold: "right", opacity },
      {
        key: `fact name ${at}`, class: "text quiet", text: shown ? name : undefined,
        at: isPhone ? [2, 392 + 28 * at, 14] : [room - 2, 50 + 74 * at, 14], hold: isPhone ? "left" : "right", opacity,
      },
    ]));
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
    const row = this.weightsOf(place), all = sum(row);
    const useful = this.data.wanted.includes(place) ? row[place - 1] : 0, first = row[this.firstPlace], itself = place === this.firstPlace ? 0 : row[place];
    return { useful, first, itself, nowhere: this.hasSink ? Math.max(0, 1 - all) : 0, elsewhere: Math.max(0, all - useful - first - itself) };
  }

  /** How far a place's gate is open. @param {number} place */
  gateOf(place) { return this.shown?.gates[this.at(place)] ?? 1; }

  // The same, averaged over the letters that need nothing.

  /** @param {(place: number) => number} numberOf */
  mean(numberOf) { return this.data.idle.reduce((sum, place) => sum + numberOf(place), 0) / this.data.idle.length; }
  meanGate() { return this.mean((place) => this.gateOf(place)); }
  splitIdle() { return /** @type {Shares} */ (Object.fromEntries(KINDS.map((kind) => [kind, this.mean((place) => this.split(place)[kind])]))); }

  /** Of the values: the first place's, and the others' on average. */
  lengths() {
    const all = this.shown?.lengths ?? [], [first = 0] = all, others = this.hasFirst ? all.slice(1) : all;
    return { first, others: sum(others) / Math.max(1, others.length) };
  }

  // Words.

  /** @override @returns {Sentence} */
  sentence() {
    const { data, asker, shown } = this;
    if (!shown) return { name: "hero_untrained", values: {} };
    const own = this.split(asker), idle = this.splitIdle(), lengths = this.lengths();
    const values = {
      letter: data.tokens[asker], target: data.tokens[asker - 1] ?? "", token: data.letters[0], ...write("own_", own), ...write("", idle),
      length: digits(lengths.first, 1), others: digits(lengths.others, 1), ratio: percent(lengths.first / (lengths.others || 1)),
      gate: percent(this.meanGate()), own_gate: percent(this.gateOf(asker)),
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
    const idle = shares ? KINDS.map((kind) => `${this.nameOf(kind)} ${shares[kind]}`).join(", ") : "";
    return [...this.data.letters.map((_letter, place) => this.tellLetter(place)), `${_("idle letters")}: ${idle}`].join(". ");
  }
}

/** Shares as a sentence has them. @param {string} before @param {Shares} shares @returns {Record<string, string>} */
const write = (before, shares) => Object.fromEntries(Object.entries(shares).map(([kind, share]) => [before + kind, percent(share)]));
