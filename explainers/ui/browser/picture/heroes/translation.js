// Two sentences: one is read, the other is written. A bundle of lines joins each syllable that is
// written to the words that the translator looks at for it.

/** @import { HeroData, Mark, Sentence, Tell } from "../kit.js" */
/** @import { Before, Places } from "./translation_lines.js" */

import { _, ChoosingFilm, element, Hero, isStill, percent, Words } from "../kit.js";
import { beginLines, bundle, findBefore, markLines, placeSentences, putBack } from "./translation_lines.js";

/**
 * @typedef {object} Numbers
 * @property {string[]} source the words that are read; the last one is the end
 * @property {string[]} target the syllables that are written
 * @property {Record<string, number[][]>[]} weights of each layer, by the names of heads: rows × words;
 *   row t decides syllable t, and reads syllable t − 1
 * @property {[number, number][] | null} gold syllable and word that belong together, where that is known
 * @property {number} complete what `written` is when all syllables are written
 */
/** @typedef {{ isColumn: boolean, place: number }} Focus one syllable and its row, or one word and its column */

const READS = "reads", TABLE = "table";
const SEEN = 0.01; // smaller weights are not written beside their words
const STRONG = 0.05; // words with more are coloured
const NAMED = 4; // syllables that the sentence about a word names at most

/** @extends {Hero<HeroData & Numbers>} */
export class Translation extends Hero {
  textShown = "";
  wasTable = false;
  /** @type {Mark[]} of the table, since it was shown */
  cells = [];
  /** @type {Focus | null} what the pointer is on */
  pointed = null;
  /** @type {number | null} a word that was chosen, whose column is shown */
  pinned = null;
  words = new Words(this.stage, {
    label: _("Words that are read"), choose: (place) => this.pin(place), peek: (place) => this.peek(place === null ? null : { isColumn: true, place }),
  });
  syllables = new Words(this.stage, { label: _("Syllables that are written"), choose: (place) => this.ask(place), peek: (place) => this.peekAt(place) });
  film = new ChoosingFilm(this, this.below, _("syllables written"), (frame) => this.wind(frame));
  legend = element("button", "translation-legend", _("correct word"), { role: "switch", onclick: () => this.choose({ gold: !this.hasGold }) });

  // What is chosen.

  get isTable() { return this.choices.cross_view === TABLE; }
  get isRead() { return this.choices.cross_rows === READS; }
  get hasGold() { return Boolean(this.choices.gold); }
  get count() { return this.data.target.length; }
  get written() { return Math.min(Number(this.choices.written), this.count); }
  get isComplete() { return this.written === this.count; }
  get asker() { return Math.min(Number(this.choices.syllable), this.count - 1); }
  get end() { return this.data.source.length - 1; }

  /** @returns {Focus} */
  get focus() {
    if (this.pointed) return this.pointed;
    if (this.pinned !== null && this.isComplete) return { isColumn: true, place: this.pinned };
    return { isColumn: false, place: this.isComplete ? this.asker : this.written - 1 };
  }

  /** A row for each syllable: the one that decides it, or the one that reads it. */
  get rows() {
    const layer = this.data.weights[Number(this.choices.cross_layer) - 1], first = this.isRead ? 1 : 0;
    return layer[String(this.choices.cross_head)].slice(first, first + this.count);
  }

  /** What a frame of the film chooses; nothing is looked at alone any more. @param {number} frame */
  wind(frame) {
    this.pinned = this.pointed = null;
    return { written: frame + 1 >= this.count ? this.data.complete : frame + 1 };
  }

  /** @param {Focus | null} focus */
  peek(focus) {
    if (this.film.isPlaying || JSON.stringify(focus) === JSON.stringify(this.pointed)) return;
    this.pointed = focus;
    this.update();
  }

  /** @param {number | null} asker a syllable, which may not be written yet */
  peekAt(asker) { this.peek(asker === null || asker >= this.written ? null : { isColumn: false, place: asker }); }

  /** A syllable's row. @param {number} place */
  ask(place) {
    this.film.pause();
    this.pointed = this.pinned = null;
    this.choose(this.isComplete ? { syllable: place } : { syllable: place, written: place + 1 });
  }

  /** A word's column. @param {number} place */
  pin(place) {
    this.film.pause();
    this.pointed = null;
    this.pinned = place;
    if (this.isComplete) this.update();
    else this.choose({ written: this.data.complete });
  }

  /** @override */
  get keysBelow() { return ["cross_view"]; }
  /** @override */
  get besides() { return [this.legend]; }

  /** @override */
  update() {
    this.legend.hidden = !this.data.gold;
    const rows = this.chips.get("cross_rows");
    if (rows) rows.root.hidden = !this.isRead; // a way back, where rows are those of a published picture
    this.legend.setAttribute("aria-checked", String(this.hasGold));
    this.root.classList.toggle("as-table", this.isTable);
    this.film.show(this.written - 1, true);
    super.update();
  }

  // Another sentence.

  /** @override @param {boolean} isFirst */
  renew(isFirst) {
    const { source: words, target: syllables } = this.data, shown = JSON.stringify([words, syllables]);
    if (!isFirst && shown === this.textShown) return false;
    Object.assign(this, { textShown: shown, pointed: null, pinned: null, wasTable: false, cells: [] });
    if (this.film.isPlaying) this.choices.written = this.data.choices.written;
    this.film.stop();
    this.film.offer(syllables.map((_syllable, at) => _("{n} of {all}", { n: String(at + 1), all: String(syllables.length) })));
    this.words.renew(words);
    this.syllables.renew(syllables);
    return true;
  }

  /** It begins where the last one was. @override @param {HeroData & Numbers} data @param {Tell} tell */
  show(data, tell) {
    const { textShown: shown, tween, words, syllables } = this, isSeen = tween.blocks.faint && !isStill() && !this.isTable;
    const before = isSeen ? { words: words.buttons, syllables: syllables.buttons, lines: [...tween.row("faint", 0)] } : null;
    super.show(data, tell);
    if (before && shown !== this.textShown) this.glide(before);
  }

  /** @param {Before} before */
  glide(before) {
    const goal = this.goal(), { faint: [lines], strong: [own] } = goal, { words: { buttons: words }, syllables: { buttons: syllables } } = this;
    const wordsWere = findBefore(before.words, words), syllablesWere = findBefore(before.syllables, syllables);
    this.root.classList.add("still");
    const arrive = [putBack(words, wordsWere), putBack(syllables, syllablesWere)];
    this.tween.aim({ faint: [beginLines(lines, before, wordsWere, syllablesWere)], strong: [own.map((number, at) => (at % 3 === 2 ? 0 : number))] }, true);
    void this.root.offsetWidth; // a style that is set before is not animated
    this.root.classList.remove("still");
    for (const go of arrive) go();
    this.tween.aim(goal);
  }

  // What is seen.

  /** @override */
  place() {
    if (this.isTable && !this.wasTable) {
      super.place();
      void this.root.offsetWidth; // from here on cells grow
      this.wasTable = true;
    }
    super.place();
    this.wasTable = this.isTable;
  }

  /** @override */
  marks() {
    const { data, rows, focus: { isColumn, place }, written, isTable, stage, asker } = this, places = placeSentences(stage, { words: data.source, syllables: data.target }, isTable);
    const lines = bundle(rows, places, written), gold = this.hasGold ? (data.gold ?? []).filter(([syllable]) => syllable < written) : [];
    const row = isColumn ? data.source.map(() => 0) : rows[place], column = data.target.map((_syllable, at) => (isColumn && at < written ? rows[at][place] : 0));
    this.root.classList.toggle("down", places.isDown);
    stage.lines.style.opacity = isTable ? "0" : "1";
    // Out of sight they stay where they are.
    if (isTable || this.wasTable) this.cells = markCells(this, places, lines, isTable && this.wasTable);
    return [
      ...markLines(lines, places, this.focus, gold),
      { key: "caret", class: "translation-caret", box: places.carets[Math.min(written, this.count - 1)], opacity: this.isComplete ? 0 : 1 },
      { ...this.markLine("words", places, row, {
        chosen: isColumn ? place : row.indexOf(Math.max(...row)), shown: isColumn ? place : -1, tell: (seen) => this.tellWord(seen),
        is: (seen) => ({ correct: !isColumn && this.isGold(place, seen), end: seen === this.end }),
      }), is: { "translation-read": true } },
      { ...this.markLine("syllables", places, column, {
        chosen: isColumn ? asker : place, shown: isColumn ? -1 : place, tell: (at) => this.tellSyllable(at), isThere: (at) => at < written,
        is: (at) => ({ astray: this.hasGold && Boolean(data.gold?.length) && !this.isRight(at) }),
      }), attributes: { lang: "vi" } },
      ...this.cells,
      ...this.markShares("words", places, row),
      ...this.markShares("syllables", places, column),
    ];
  }

  /**
   * @param {"words" | "syllables"} line @param {Places} places @param {number[]} weights
   * @param {{ chosen: number, shown: number, tell: (place: number) => string, is: (place: number) => Record<string, boolean>, isThere?: (place: number) => boolean }} told
   * @returns {Mark}
   */
  markLine(line, places, weights, { chosen, shown, tell, is, isThere = () => true }) {
    this[line].buttons.forEach((button, place) => { button.inert = !isThere(place); });
    return this[line].mark(chosen, shown, (place) => ({
      name: tell(place), is: { gets: weights[place] >= STRONG, ...is(place) }, ...places[line][place], opacity: isThere(place) ? 1 : 0,
    }), line);
  }

  /** @param {"words" | "syllables"} line @param {Places} places @param {number[]} weights @returns {Mark[]} */
  markShares(line, { shares, isDown }, weights) {
    return weights.map((weight, place) => {
      const isSeen = !this.isTable && weight >= SEEN, isLow = weight < STRONG;
      return {
        key: `${line} share ${place}`, class: "text share", is: { low: isLow }, text: isSeen ? percent(weight) : undefined,
        at: [...shares[line][place], isLow ? 13 : isDown ? 15 : 18], hold: isDown ? "right" : "middle", opacity: isSeen ? 1 : 0,
      };
    });
  }

  // Words.

  /** @param {number} asker @param {number} seen */
  isGold(asker, seen) {
    return this.hasGold && Boolean(this.data.gold?.some(([syllable, word]) => syllable === asker && word === seen));
  }

  /** Is the word with the largest weight the correct one? The end is no word. @param {number} asker */
  isRight(asker) {
    const row = this.rows[asker].slice(0, this.end), peak = row.indexOf(Math.max(...row));
    return Boolean(this.data.gold?.some(([syllable, word]) => syllable === asker && word === peak));
  }

  /** @override @returns {Sentence} */
  sentence() {
    const { data, focus, rows, written, count } = this, classes = { syllable: "query", word: "weight", share: "weight" };
    if (focus.isColumn) {
      const asked = rows.slice(0, written).map((row, asker) => ({ asker, weight: row[focus.place] })).filter(({ weight }) => weight >= STRONG);
      const named = asked.sort((a, b) => b.weight - a.weight).slice(0, NAMED).map(({ asker, weight }) => `${data.target[asker]} ${percent(weight)}`);
      return { name: named.length ? "hero_word" : "hero_word_none", values: { word: data.source[focus.place], list: named.join(", ") }, classes };
    }
    const row = rows[focus.place], weight = Math.max(...row), peak = row.indexOf(weight);
    const correct = (data.gold ?? []).filter(([asker]) => asker === focus.place).map(([, word]) => data.source[word]);
    const values = {
      syllable: data.target[focus.place], word: data.source[peak], share: percent(weight), correct: correct.join(", "),
      written: String(written), count: String(count), right: String(data.target.filter((_syllable, asker) => this.isRight(asker)).length),
    };
    return { name: this.sentenceName(focus.place, peak), values, classes };
  }

  /** @param {number} asker @param {number} peak */
  sentenceName(asker, peak) {
    if (this.isRead) return this.data.gold ? "hero_read" : "hero_read_unknown";
    if (!this.isComplete) return peak === this.end ? "hero_writing_end" : "hero_writing";
    if (!this.data.gold) return peak === this.end ? "hero_end_unknown" : "hero_unknown";
    if (peak === this.end) return "hero_end";
    return this.isRight(asker) ? "hero_right" : "hero_wrong";
  }

  /** @param {number} asker */
  tellSyllable(asker) {
    const row = this.rows[asker].map((weight, seen) => ({ weight, seen })).filter(({ weight }) => weight >= SEEN).sort((a, b) => b.weight - a.weight);
    return `${this.data.target[asker]}: ${row.map(({ weight, seen }) => `${this.data.source[seen]} ${percent(weight)}`).join(", ")}`;
  }

  /** @param {number} seen */
  tellWord(seen) {
    const asked = this.rows.slice(0, this.written).map((row, asker) => ({ asker, weight: row[seen] })).filter(({ weight }) => weight >= STRONG);
    return `${this.data.source[seen]}: ${asked.map(({ asker, weight }) => `${this.data.target[asker]} ${percent(weight)}`).join(", ")}`;
  }

  /** @override */
  describe() { return this.data.target.slice(0, this.written).map((_syllable, asker) => this.tellSyllable(asker)).join(". "); }
}

// The same weights as a table: each cell waits in the middle of its line, and grows into its row.

const LEAST_FOR_DIGITS = 14.5; // pixels of a row
const LEAST_TOLD = 0.005; // smaller weights are a dot
const DEEP = 0.5; // a weight from which digits are light on dark

/**
 * @param {Translation} hero @param {Places} places @param {number[][]} lines syllable by syllable
 * @param {boolean} isShown @returns {Mark[]}
 */
function markCells(hero, { table: { gutter, head, side, columns }, from, to, isDown }, lines, isShown) {
  const { rows, written, stage: { room }, focus: { isColumn, place } } = hero, depth = (from + to) / 2;
  return [
    {
      key: "frame", class: "row-frame", is: { column: isColumn }, opacity: isShown ? 1 : 0,
      box: isColumn ? [columns[place][0] - 1, head - 2, columns[place][1] + 1, side * written + 3] : [gutter - 2, head + place * side - 1, room - gutter + 2, side + 1],
    },
    ...rows.flatMap((row, asker) => row.map((weight, seen) => {
      const [start, end] = lines[asker * row.length + seen], along = (start + end) / 2, [x, y] = isDown ? [depth, along] : [along, depth];
      const [left, width] = columns[seen], wide = Math.max(1, weight * 22);
      return /** @type {Mark} */ ({
        key: `cell ${asker} ${seen}`, class: "cell translation-cell", is: { deep: weight >= DEEP, low: weight < LEAST_TOLD, correct: hero.isGold(asker, seen) },
        attributes: { "aria-hidden": "true" }, style: { "--share": `${(100 * weight).toFixed(1)}%` }, // the words tell the same
        text: isShown && side >= LEAST_FOR_DIGITS ? tell(weight, isDown) : "", opacity: isShown && asker < written ? 1 : 0,
        box: isShown ? [left + 1, head + asker * side + 1, width - 2, side - 2] : [x - wide / 2, y - 9, wide, 18],
        click: () => hero.ask(asker),
        made: (cell) => {
          cell.onpointerenter = (/** @type {PointerEvent} */ { pointerType }) => pointerType === "mouse" && hero.peekAt(asker);
          cell.onpointerleave = () => hero.peek(null);
        },
      });
    })),
  ];
}

/** @param {number} weight @param {boolean} isNarrow */
function tell(weight, isNarrow) {
  if (weight < LEAST_TOLD) return "·";
  return isNarrow ? String(Math.round(100 * weight)) : percent(weight);
}
