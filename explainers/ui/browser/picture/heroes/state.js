// A memory of fixed size: pairs of words are written into it one by one, and a word asks what came after it.
// Beside it the rows of keys and values that attention would store instead.

/** @import { HeroData, Mark, Sentence, Stage } from "../kit.js" */

import { _, Acts, ChoosingFilm, digits, element, Hero, isStill, largest, markPixels, markStrip, percent, Words } from "../kit.js";

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

const SOFTMAX = "softmax", FADE = "fade", SIDES = 8; // rows and columns of the memory
const HEADING = 18, FULL_TAGS = 140, NUMBER = 46; // pixels: of a title, the room beside which a pair is named in full, and that for a number behind its bar
const FLIES = 460, GLOWS = 900; // milliseconds in which a pair comes to the memory, and is seen in it

/** @extends {Hero<HeroData & Numbers>} */
export class State extends Hero {
  writtenShown = NaN;
  limit = 1;
  acts = new Acts();
  words = new Words(this.stage, { label: _("The word that is asked for"), choose: (row) => this.ask(row), peek: () => {} });
  note = this.stage.root.appendChild(element("div", "state-note moves"));
  film = new ChoosingFilm(this, this.bar, _("pairs written"), (frame) => ({ pairs: frame }));

  // What is chosen.

  get rule() { return String(this.choices.writing); }
  get isRows() { return this.rule === SOFTMAX; }
  /** How many pairs have been written. */
  get count() { return Math.max(0, Math.min(this.data.pairs.length, Number(this.choices.pairs))); }
  get asking() { return Number(this.choices.question); }
  get name() { return this.data.asked[this.asking]; }
  get kind() { return this.data.memories[String(this.choices.keys)]; }
  get memory() { return this.kind[this.rule]; }
  /** Keys and values of all names. */
  get vectors() { return this.data.vectors[String(this.choices.keys)]; }
  /** The memory's numbers; attention has none. */
  get state() { return (this.memory.states ?? this.kind.overwrite.states ?? [])[this.count]; }
  /** What the last pair writes. */
  get written() { return this.memory.written?.[Math.max(0, this.count - 1)] ?? this.vectors[1][this.last[1]]; }
  get last() { return this.data.pairs[Math.max(0, this.count - 1)]; }
  /** @returns {[number, number][]} what has been written */
  get said() { return this.data.pairs.slice(0, this.count); }
  /** What followed the word that is asked for, first to last. */
  get followers() { return this.said.filter(([key]) => key === this.name).map(([, value]) => value); }

  /** @param {number} row */
  ask(row) {
    this.film.pause();
    this.choose({ question: this.data.asked.indexOf(this.data.pairs[row][0]) });
  }

  /** @override @returns {Element[]} */
  get besides() { return [this.film.root]; }

  /** @override */
  update() {
    const isForward = this.count === this.writtenShown + 1 && !isStill() && !document.hidden;
    this.root.classList.toggle("quick", this.film.isPlaying);
    if (this.count !== this.writtenShown) this.acts.stop();
    this.film.show(this.count, true);
    super.update();
    if (isForward && this.places) this.fly(this.places);
    this.writtenShown = this.count;
  }

  /** @override */
  renew() {
    const { rows, memories } = this.data;
    if (!this.scene.isOther(rows)) return false;
    this.writtenShown = NaN;
    this.words.renew(rows.map(([word]) => word));
    this.film.offer([...rows, 0].map((_row, written) => _("{count} of {all}", { count: String(written), all: String(rows.length) })));
    this.limit = largest(Object.values(memories).flatMap((rules) => Object.values(rules)).flatMap(({ states }) => states?.flat() ?? []));
    return true;
  }

  // What is seen.

  /** @override */
  marks() {
    const { data } = this, places = this.places = placeState(this.stage, data.rows, data.breaks);
    this.root.classList.toggle("stacked", places.isStacked);
    const below = [...this.markTitles(places), this.markWords(places), ...this.markNearest(places), this.markLegend(places), ...this.markRows(places)];
    return [...below, ...this.markMemory(places)]; // pairs come flying over the rows
  }

  /** @param {Places} places @returns {Mark[]} */
  markTitles({ titles, isStacked, isTight }) {
    const { data, count, isRows, stage } = this, word = data.names[this.name], after = _("After {word}?", { word }), last = data.rows[count - 1];
    const written = last ? _("written last: {word} → {following}", { word: last[0], following: last[1] }) : _("nothing is written yet");
    const isLong = isTight || stage.width(after, HEADING, 700) > titles[2][2], stored = String(2 * SIDES * count), rows = String(count);
    const texts = [
      isRows ? [_("{count} rows stored", { count: rows }), _("{count} numbers: a row more with each pair", { count: stored })]
        : [_("{count} pairs read", { count: rows }), _("attention would store {count} numbers", { count: stored })],
      isRows ? [_("No memory"), _("attention reads the rows")] : [_("Memory: always {count} numbers", { count: String(SIDES * SIDES) }), written],
      [isLong ? `${word} → ?` : after, _("nearest words")],
    ];
    return texts.map(([title, more], at) => /** @type {Mark} */ ({
      key: `title ${at}`, class: "state-title", box: [...titles[at], isStacked ? 22 : 42], parts: [{ tag: "b", text: title }, { text: more }],
    }));
  }

  /** The words that can be asked for, each before its row. @param {Places} places @returns {Mark} */
  markWords({ rows: { font, key, middles } }) {
    const { words, data: { rows, pairs }, count, name } = this;
    return words.mark(pairs.findIndex(([one]) => one === name), -1, (at) => ({
      name: _("{word}, then {following}", { word: rows[at][0], following: rows[at][1] }), isHidden: at >= count, is: { asks: pairs[at][0] === name }, at: [key, middles[at], font], hold: "right",
    }));
  }

  /**
   * @param {string} key @param {"key" | "value" | "query"} role @param {string} name that it is told as @param {number[]} numbers
   * @param {{ box: [number, number, number, number], opacity?: number, limit?: number, still?: boolean, isColumn?: boolean }} place
   */
  markVector(key, role, name, numbers, { box, opacity, limit = 0.8, still = true, isColumn }) {
    return markStrip(key, { role, name, numbers, limit, still, isColumn, hasDigits: false, box }, { opacity });
  }

  /** What a word's key is told as. @param {number} name */
  keyOf(name) { return _("key of {word}", { word: this.data.names[name] }); }

  /** The memory with what is asked of it, and its answer; and the last key and what it writes. @param {Places} places @returns {Mark[]} */
  markMemory({ isTight, grid: { x, y, side, thick, gap } }) {
    const { count, isRows, limit, state, memory, name, written, last, vectors: [keys] } = this;
    const end = y + side + gap, label = y + side + 12, left = x - gap, right = x + side + gap;
    const product = written.map((value) => keys[last[0]].map((one) => value * one)), numbers = state.map((row) => row.map((one) => digits(one)).join(" ")).join("; ");
    const said = isRows ? _("not used") : _("the memory, row by row: {numbers}", { numbers }), answers = Number(count > 0), writes = Number(!isRows && count > 0);
    return [
      markPixels("grid", { role: "input", name: said, rows: state, limit, box: [x, y, side, side] }, {
        is: { "state-grid": true }, opacity: isRows ? 0.1 : 1,
        made: (node) => { node.onpointermove = (/** @type {PointerEvent} */ event) => this.point(event); node.onpointerleave = () => this.point(null); },
      }),
      markPixels("flash", { role: "input", name: "", rows: product, limit: limit / 2, still: true, box: [x, y, side, side] }, { is: { "state-flash": true }, opacity: 0 }),
      this.markVector("query", "query", this.keyOf(name), keys[name], { box: [x, end, side, thick] }),
      this.markVector("answer", "value", _("answer"), memory.answers[count][this.asking], { box: [right, y, thick, side], opacity: answers, isColumn: true, limit: 1, still: false }),
      { key: "question", class: "text state-question", text: this.keyOf(name), at: [x + side / 2, end + thick + 12, 14] },
      { key: "name written", class: "text state-label value", text: _("just written"), at: [left, label, 13], opacity: isTight ? 0 : writes, hold: "right" },
      { key: "name answer", class: "text state-label value", text: _("answer"), at: [right, label, 13], opacity: isTight ? 0 : answers, hold: "left" },
      this.markVector("key", "key", this.keyOf(last[0]), keys[last[0]], { box: [x, y - gap - thick, side, thick], opacity: writes }),
      this.markVector("written", "value", _("just written"), written, { box: [left - thick, y, thick, side], opacity: writes, isColumn: true }),
    ];
  }

  /** The words whose values are nearest to the answer, and how many words find the right one. @param {Places} places @returns {Mark[]} */
  markNearest({ bars: { x, width, y, pitch, font }, found: box }) {
    const { data, memory, count, followers } = this, newest = followers.at(-1), older = followers.find((name) => name !== newest), opacity = count ? 1 : 0;
    /** @type {[number, number][]} */
    const nearest = [...memory.nearest[count][this.asking]];
    // What was overwritten is named as well: it is what the rules differ in.
    if (older !== undefined && nearest.every(([name]) => name !== older)) nearest.splice(-1, 1, [older, memory.older[count][this.asking]]);
    const pairs = width < FULL_TAGS ? [_("newest"), _("older")] : [_("newest pair"), _("older pair")];
    const tag = (/** @type {number} */ name) => (older === undefined ? "" : name === newest ? pairs[0] : name === older ? pairs[1] : "");
    const most = Math.max(1, ...memory.nearest.flat(2).map(([, like]) => like)), high = Math.min(13, pitch - font - 8);
    const all = new Set(this.said.map(([key]) => key)).size, ties = memory.ties[count].length;
    const found = all ? _("{count} of {all}", { count: String(memory.found[count]), all: String(all) }) : "";
    const means = !all ? "" : ties ? _("words find their newest pair; ties: {ties}", { ties: String(ties) }) : _("words find their newest pair");
    return /** @type {Mark[]} */ ([
      ...nearest.flatMap(([name, like], at) => {
        const top = y + pitch * at, below = top + font + 4, long = Math.max(2, ((width - NUMBER) * Math.max(0, like)) / most), is = { right: name === newest };
        return [
          { key: `name ${at}`, class: "text state-name", is, text: data.names[name], at: [x, top + font / 2, font], opacity, hold: "left", parts: [{ text: tag(name) }] },
          { key: `bar ${at}`, class: "state-bar", is, box: [x, below, long, high], opacity },
          { key: `like ${at}`, class: "text state-number", text: digits(like), at: [x + long + 6, below + high / 2, 15], opacity, hold: "left" },
        ];
      }),
      { key: "found", class: "state-found", box, opacity, parts: [{ tag: "b", text: found }, { text: means }] },
    ]);
  }

  /** One line below everything: what signs and colours mean, as far as they are seen. @param {Places} places @returns {Mark} */
  markLegend({ legend }) {
    const items = this.isRows ? [["", "·", _("less than 0.5 %")]] : [["swatch minus", "", _("below 0")], ["swatch plus", "", _("above 0")]];
    return /** @type {Mark} */ ({ key: "legend", class: "state-legend", box: legend, parts: items.map(([name, sign, means]) => ({
      key: `legend ${means}`, made: (/** @type {Element} */ item) => item.append(element("i", name, sign), means),
    })) });
  }

  /** What follows each word. Attention keeps its key and value and reads a share of them; a memory keeps neither. @param {Places} places @returns {Mark[]} */
  markRows({ rows: { font, arrow, value, strips, strip, mark, high, middles } }) {
    const { data, count, isRows, memory, vectors: [keys, values] } = this;
    const heads = [["key", _("key")], ["value", _("value")]].map(([name, text], at) => /** @type {Mark} */ ({
      key: `name ${name}`, class: `text state-label ${name}`, text, at: [strips[at] + strip / 2, 11, 13], opacity: isRows && count ? 1 : 0,
    }));
    return [...heads, ...data.pairs.flatMap(([one, following], at) => {
      const y = middles[at], top = y - high / 2, isWritten = at < count, opacity = isWritten ? 1 : 0.45, seen = isRows && isWritten ? 1 : 0;
      const weight = memory.weights?.[count][this.asking][at] ?? 0, share = !isRows || !isWritten ? "" : weight < 0.005 ? "·" : percent(weight);
      return /** @type {Mark[]} */ ([
        { key: `arrow ${at}`, class: "text quiet", text: "→", at: [arrow, y, font], opacity },
        { key: `following ${at}`, class: "text state-value", text: data.names[following], at: [value, y, font], opacity, hold: "left" },
        this.markVector(`key ${at}`, "key", this.keyOf(one), keys[one], { box: [strips[0], top, strip, high], opacity: seen }),
        this.markVector(`value ${at}`, "value", _("value of {word}", { word: data.names[following] }), values[following], { box: [strips[1], top, strip, high], opacity: seen }),
        { key: `mark ${at}`, class: "text share", is: { low: weight < 0.005 }, text: share, at: [mark, y, 15], hold: "left" },
      ]);
    })];
  }

  /** The last pair comes from its row, and what it writes is seen as a product of both. @param {Places} places */
  fly({ rows: { strips, strip, high, middles }, grid: { x, y, side, thick, gap } }) {
    const at = this.count - 1, from = middles[at] - high / 2;
    const node = (/** @type {string} */ key) => /** @type {Element} */ (this.scene.node(key));
    const box = (/** @type {number[]} */ ...[left, top, width, height]) => ({ transform: `translate(${left}px, ${top}px)`, width: `${width}px`, height: `${height}px`, opacity: 1 });
    if (this.isRows) return [`key ${at}`, `value ${at}`].forEach((key) => this.acts.act(node(key), [{ opacity: 0 }, { opacity: 1 }], FLIES));
    this.acts.act(node("key"), [box(strips[0], from, strip, high), box(x, y - gap - thick, side, thick)], FLIES);
    this.acts.act(node("written"), [box(strips[1], from, strip, high), box(x - gap - thick, y, thick, side)], FLIES);
    this.acts.act(node("flash"), [{ opacity: 0 }, { opacity: 1, offset: 0.4 }, { opacity: 0 }], GLOWS, FLIES * 0.6);
  }

  /** A number of the memory, while a mouse or a finger is on it. @param {PointerEvent | null} event */
  point(event) {
    if (!event || !this.places || this.isRows) return this.note.classList.remove("shown");
    const { x, y, cell } = this.places.grid, { left, top } = this.stage.root.getBoundingClientRect();
    const [column, row] = [event.clientX - left - x, event.clientY - top - y].map((at) => Math.max(0, Math.min(SIDES - 1, Math.floor(at / cell))));
    this.note.textContent = _("row {row}, column {column}: {value}", { row: String(row + 1), column: String(column + 1), value: digits(this.state[row][column]) });
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
      found: String(memory.found[count]), ties: String(memory.ties[count].length), rival: data.names[first[0] === newest ? second[0] : first[0]],
      words: String(new Set(this.said.map(([key]) => key)).size), without: String(kind.overwrite.found[count]), keep: data.keep, size: String(SIDES * SIDES),
      first_share: share(first[0]), newest_share: share(newest), before: data.names[followers[0] ?? newest], before_share: share(followers[0] ?? newest),
    };
    const classes = { word: "query", first: "value", first_share: "weight", newest_share: "weight", before_share: "weight" };
    return { name: this.nameSentence(first[0], second[0], others), values, classes };
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
    const { data: { asked, names }, memory, count } = this;
    const answers = (/** @type {number} */ at) => memory.nearest[count][at].map(([one, like]) => `${names[one]} ${digits(like)}`).join(", ");
    return asked.map((name, at) => _("{word}: {answers}", { word: names[name], answers: answers(at) })).join("; ");
  }
}

// Where pairs, memory and answer are: beside each other, or on a phone the pairs above.

/** @typedef {ReturnType<typeof placeState>} Places in its rows keys end where `key` is, and values begin where `value` is */

const STACKED = 640, TIGHT = 780, SPACIOUS = 900; // pixels: where there is less, the pairs are above, everything is smaller, or only the strips are
const TITLE = [46, 26], APART = 8; // on a wide screen and on a phone
const MOST_CELL = 30, LEAST_CELL = 15, LEAST_BARS = [146, 104], MOST_BARS = 230, MOST_STRIP = 78;
const LEGEND = 21; // pixels: its one line

/** @param {Stage} stage @param {[string, string][]} pairs @param {number} breaks how many of them belong to the first sentence */
function placeState(stage, pairs, breaks) {
  const { room } = stage, isStacked = room < STACKED, isTight = room < TIGHT, title = TITLE[isStacked ? 1 : 0];
  const font = isStacked ? 14 : Math.max(14, Math.min(17, room / 56)), thick = isStacked ? 17 : 22, mark = isTight ? 40 : 46;
  const [keys, values] = [0, 1].map((side) => Math.max(...stage.widths(pairs.map((pair) => pair[side]), font)) + 4);
  const words = keys + values + 30, least = isStacked ? 0 : isTight ? 12 : 30;
  const strip = Math.floor(Math.max(36, Math.min(MOST_STRIP, isStacked ? (room - words - mark - 24) / 2 : isTight ? 0 : room * (room < SPACIOUS ? 0.05 : 0.078))));
  const list = words + 2 * strip + 22 + mark, left = isStacked ? 0 : list + least, around = 2 * (thick + APART) + 18;
  const cell = Math.max(LEAST_CELL, Math.min(MOST_CELL, Math.floor((room - left - around - LEAST_BARS[isTight ? 1 : 0]) / SIDES))), side = SIDES * cell;
  const bars = Math.min(MOST_BARS, room - left - around - side), spare = Math.max(0, room - left - around - side - bars) / 2;
  const pitch = isStacked ? 18.5 : (thick * 2 + APART * 2 + side + 18 - 10) / pairs.length;
  const middles = pairs.map((_pair, at) => title + pitch * (at + 0.5) + (at >= breaks ? 8 : 0));
  const top = isStacked ? title + pitch * pairs.length + 24 : 0, x = left + spare + thick + APART, y = top + title + thick + APART;
  const barsX = x + side + APART + thick + 18, barPitch = Math.min(54, side / 3.6);
  const bottom = Math.ceil(y + side + APART + thick + 28);
  stage.resize(room, bottom + LEGEND);
  return {
    isStacked,
    isTight, // there is no room for all words
    legend: [0, bottom, room, LEGEND],
    titles: [[0, 0, isStacked ? room : list], [x - thick - APART, top, side + thick + 40], [barsX, top, room - barsX]], // of the three parts: how wide each may be
    rows: { font, key: keys, arrow: keys + 15, value: keys + 30, strips: [words + 10, words + 16 + strip], strip, mark: words + 22 + 2 * strip, high: Math.min(17, pitch * 0.68), middles },
    grid: { x, y, side, cell, thick, gap: APART }, // strips around it are so thick and so far away
    bars: { x: barsX, width: bars, y, pitch: barPitch, font: isTight ? 15 : 18 },
    found: [barsX, y + 3 * barPitch + 6, room - barsX, side - 3 * barPitch - 6 + (isTight ? thick + APART : 0)],
  };
}
