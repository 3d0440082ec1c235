// Letters, the tokens that cover them, and a vector below each token. Merges are learned one by one:
// two tokens beside each other become one.

/** @import { HeroData, Mark, Sentence } from "../kit.js" */

import { _, Film, Hero, largest, markStrip, sum } from "../kit.js";

/** @typedef {[string, string, number, number]} Cut label, id, and from where to where a token reaches, in letters */
/**
 * @typedef {object} Numbers
 * @property {string[]} letters
 * @property {number[]} bytes of each letter
 * @property {Record<string, [string, number]>} vocabulary label and number of bytes, by the ids of byte pairs
 * @property {[number, number[]][]} stages how many merges were learned, and the ids from then on
 * @property {[string, string, number][]} merges what each joins, and how often these were neighbours
 * @property {Record<string, Cut[]>} cuts by the names of units and models
 * @property {Record<string, number[]>} rows what a token's vector says of itself, by its label
 * @property {Record<string, Own>} own vectors of models, by their names
 * @property {number[][]} positions what a vector says of a position
 */
/** @typedef {{ width: number, rows: Record<string, number[]> }} Own how long vectors are, and the beginning of each, by ids */

const PAIRS = "byte pairs", MODEL = "model tokens";
const HUES = 7; // besides the first, which stands for weights
const ID_NEEDS = 24; // pixels of a token: ids of single letters are seen in all of them or in none
const SMALLEST = 9.5; // pixels: a text that would have to be smaller is left out
const NUMBER = 14; // pixels: the size of ids and positions
const DIGITS_NEED = 34, SIGN_NEEDS = 8; // pixels of a strip in which "−1.2" can be read, and of one more digit

/** @extends {Hero<HeroData & Numbers>} */
export class Tokens extends Hero {
  film = new Film(this.below, _("merges learned"), (frame) => this.choose({ merges: frame }));

  // What is chosen.

  get unit() { return String(this.choices.unit); }
  get merges() { return Number(this.choices.merges); }
  get isPairs() { return this.unit === PAIRS; }
  get model() { return String(this.choices.tokenizer); }

  /** The last stage that has been reached. */
  get stageShown() {
    return this.data.stages.filter(([learned]) => learned <= this.merges).at(-1) ?? this.data.stages[0];
  }

  /** @returns {Cut[]} */
  get cut() {
    if (!this.isPairs) return this.data.cuts[this.unit === MODEL ? this.model : this.unit];
    let at = 0;
    return this.stageShown[1].map((id) => {
      const [label, length] = this.data.vocabulary[id], start = this.letterAt(at);
      at += length;
      return [label, String(id), start, this.letterAt(at)];
    });
  }

  /** Its vectors, where a model has cut the text. @returns {Own | undefined} */
  get own() { return this.unit === MODEL ? this.data.own[this.model] : undefined; }

  /** What the strongest colour stands for. */
  get limit() { return 0.8 * largest(Object.values(this.own?.rows ?? this.data.rows)); }

  /** A model's own vector says nothing of the position; one that is not here is empty. @param {string} label @param {string} id @param {number} place */
  vector(label, id, place) {
    const { own, data } = this;
    return own ? own.rows[id] ?? [] : data.rows[label].map((number, d) => number + data.positions[place][d]);
  }

  /** The letter that a byte belongs to, with a fraction inside it. @param {number} byte */
  letterAt(byte) {
    const { bytes } = this.data;
    let letter = 0;
    for (; letter < bytes.length && byte >= bytes[letter]; letter++) byte -= bytes[letter];
    return letter + (byte ? byte / bytes[letter] : 0);
  }

  /** @override */
  update() {
    const model = this.chips.get("tokenizer");
    if (model) model.root.hidden = this.unit !== MODEL;
    this.film.root.hidden = !this.isPairs;
    if (!this.isPairs) this.film.pause();
    this.film.show(this.merges, this.isPairs);
    this.root.classList.toggle("quick", this.film.isPlaying);
    super.update();
  }

  /** Another text is at its places at once. @override */
  renew() {
    const { data } = this;
    if (!this.scene.isOther([data.letters, data.rows, data.stages.length])) return false;
    this.film.pause();
    this.film.offer(Array.from({ length: data.merges.length + 1 }, (_frame, at) => String(at)), data.stages.map(([learned]) => learned));
    return true;
  }

  // What is seen.

  /** @override */
  marks() {
    const { stage, data: { letters }, cut, limit } = this, plan = placeTokens(stage.room, letters, cut), { rows, letter, top } = plan;
    stage.resize(stage.room, plan.height);
    /** @type {[string, number][]} */
    const names = [
      [_("characters"), rows.letters], [_("tokens"), rows.chips + plan.chip / 2], [_("ids"), rows.ids],
      [_("vectors"), rows.strips + plan.strip / 2], [_("positions"), rows.positions],
    ];
    return [
      ...(plan.hasNames ? names : []).map(([text, below], row) => /** @type {Mark} */ ({ key: `name ${row}`, class: "text quiet", text, at: [0, top + below, 15], hold: "left" })),
      ...letters.map((text, at) => {
        const { x, top: above } = plan.letterAt(at);
        return /** @type {Mark} */ ({ key: `letter ${at}`, class: "text tokens-letter", text, at: [x, above + rows.letters, letter] });
      }),
      ...cut.flatMap((one, place) => this.markToken(plan, one, place, limit)),
    ];
  }

  /** @param {ReturnType<typeof placeTokens>} plan @param {Cut} one @param {number} place @param {number} limit what the strongest colour stands for @returns {Mark[]} */
  markToken(plan, one, place, limit) {
    const { stage } = this, [label, id, start, end] = one, { x, top, width } = plan.tokenAt(one), { rows } = plan;
    const key = start === end ? `bare ${place}` : start, row = this.vector(label, id, place), known = id || "?";
    const text = label.replace(/ /g, "␣"), most = Math.min(22, plan.letter), fits = (most * (width - 2)) / stage.width(text, most);
    const [wide, long] = stage.widths([known, String(place)], NUMBER, 400), isNarrow = width < ID_NEEDS || wide > width + 2;
    const isTight = long > (place % 5 ? 0.7 : 2) * width; // of many every fifth
    const signs = text.split(/(␣)/).filter(Boolean).map((part) => ({ class: part === "␣" ? "space" : "", text: part }));
    return [
      {
        key: `token ${key}`, class: "tokens-chip", is: { part: fits < SMALLEST, joined: this.isPairs && Number(id) === 255 + this.merges },
        box: [x, top + rows.chips, width, plan.chip], fades: true,
        style: { "--hue": `var(--head${1 + hash(label) % HUES})` }, attributes: { title: _("token {place}: “{label}”, id {id}", { place, label, id: id || "–" }) },
        parts: [{ style: { "font-size": `${Math.max(13, Math.min(most, fits)).toFixed(1)}px` }, parts: signs }],
      },
      markStrip(`vector ${key}`, {
        role: "input", name: _("vector of {token}", { token: label }), numbers: row, limit, still: true, isColumn: true, box: [x, top + rows.strips, width, plan.strip],
        places: this.own ? 2 : 1, hasDigits: width >= DIGITS_NEED + (this.own ? SIGN_NEEDS : 0), // a model's own numbers are small
      }, { fades: true, attributes: { hidden: row.length === 0 } }),
      { key: `id ${key}`, class: "text quiet", text: known, at: [x + width / 2, top + rows.ids, NUMBER], opacity: isNarrow ? 0 : 1, fades: true },
      { key: `position ${key}`, class: "text quiet", text: String(place), at: [x + width / 2, top + rows.positions, NUMBER], opacity: isTight ? 0 : 1, fades: true },
    ];
  }

  // Words.

  /** @override @returns {Sentence} */
  sentence() {
    const { data, cut, merges } = this, [a = "", b = "", times = 0] = data.merges[merges - 1] ?? [];
    const values = {
      characters: String(data.letters.length), n: String(cut.length), bytes: String(sum(data.bytes)),
      a, b, times: times.toLocaleString("en"), merges: String(merges), model: this.model,
      unknown: String(cut.filter(([, id]) => !id).length),
      shown: String(this.own ? Object.values(this.own.rows)[0]?.length ?? 0 : 0), width: String(this.own?.width ?? 0),
    };
    return { name: this.sentenceName(), values };
  }

  sentenceName() {
    if (this.unit === MODEL) return this.own?.width ? "hero_model" : "hero_model_bare";
    if (this.unit === "characters") return "hero_characters";
    if (this.unit === "words") return this.cut.every(([, id]) => id) ? "hero_words" : "hero_unknown";
    if (this.merges === 0) return "hero_bytes";
    return this.stageShown[0] === this.merges ? "hero_joined" : "hero_merged";
  }

  /** @override */
  describe() {
    return this.cut.map(([label, id], place) => `${place} “${label}” ${id}`).join(", ");
  }
}

/** The same text, the same colour. @param {string} text */
function hash(text) {
  let sum = 7;
  for (const letter of text) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) % 9973;
  return sum;
}

// Where letters and tokens stand: each letter has a slot of its own in every way to cut, so that cutting moves none.

const LEAST = 14, LEAST_ON_PHONE = 12, MOST = 38; // pixels of a slot
const BLANKS = 3; // slots for a token that covers no letter
const ABOVE = 12; // room above the letters
const NAMES = 92; // room for the names of the rows
const ID = 20, POSITION = 17;

/** Slots of each line, none longer than this; a space goes with the word behind it. @param {string[]} letters @param {number} most @returns {[number, number][]} */
function breakLines(letters, most) {
  /** @type {[number, number][]} */
  const lines = [];
  let start = 0, end = 0;
  for (const next of [...letters.keys(), letters.length].filter((at) => at === letters.length || (at > 0 && /^\s/u.test(letters[at])))) {
    if (next - start > most && end > start) { lines.push([start, end]); start = end; }
    while (next - start > most) { lines.push([start, start + most]); start += most; }
    end = next;
  }
  return [...lines, [start, end]];
}

/** As few lines as there is room for, about equally long. @param {string[]} letters @param {number} most @returns {[number, number][]} */
function balanceLines(letters, most) {
  const fewest = breakLines(letters, most).length;
  let limit = Math.ceil(letters.length / fewest);
  while (limit < most && breakLines(letters, limit).length > fewest) limit++;
  return breakLines(letters, limit);
}

/** @param {number} room @param {string[]} letters @param {Cut[]} cut */
function placeTokens(room, letters, cut) {
  // What covers no letter stands in slots of its own, before all letters or behind them.
  const bare = cut.filter(([, , start, end]) => start === end), ahead = bare.filter(([, , start]) => start === 0), before = ahead.length * BLANKS;
  const slots = [...Array(before).fill("x"), ...letters, ...Array((bare.length - ahead.length) * BLANKS).fill("x")];
  const hasNames = room >= 760, left = hasNames ? NAMES : 0, across = room - left;
  const broken = balanceLines(slots, Math.max(4, Math.floor(across / (room < 560 ? LEAST_ON_PHONE : LEAST))));
  const count = broken.length, slot = Math.min(MOST, across / Math.max(...broken.map(([start, end]) => end - start)));
  const letter = Math.max(14, Math.min(26, Math.floor(0.97 * slot))), chip = count === 1 ? 40 : 30;
  const strip = count === 1 ? 192 : count === 2 ? (hasNames ? 88 : 104) : count === 3 ? 48 : 32;
  const ids = letter + 10 + chip, strips = ids + ID, step = strips + strip + POSITION + 16;
  const spot = (/** @type {number} */ at) => {
    const found = broken.findIndex(([, end]) => at < end), line = found < 0 ? count - 1 : found, [start, end] = broken[line];
    return { x: left + (at - start) * slot, top: ABOVE + line * step, most: left + (end - start) * slot };
  };
  return {
    letter, chip, strip, hasNames, top: ABOVE, height: ABOVE + count * step - 10,
    /** below a line's top: the middles of letters, ids and positions, the tops of tokens and vectors */
    rows: { letters: letter / 2 + 2, chips: letter + 10, ids: ids + ID / 2 + 1, strips, positions: strips + strip + POSITION / 2 + 1 },
    /** The middle of a letter. @param {number} at */
    letterAt: (at) => spot(at + before + 0.5),
    /** A token reaches to the end of its line at most. @param {Cut} one */
    tokenAt(one) {
      const [, , start, end] = one, isBare = start === end;
      const from = isBare ? (start ? before + letters.length - ahead.length * BLANKS : 0) + bare.indexOf(one) * BLANKS : start + before;
      const { x, top, most } = spot(from), to = isBare ? from + BLANKS : end + before;
      return { x: x + 1.5, top, width: Math.max(2, Math.min(x + (to - from) * slot, most) - x - 3) };
    },
  };
}
