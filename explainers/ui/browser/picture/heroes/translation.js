// @ts-check
// Two sentences: one is read, the other is written. A bundle of lines joins each syllable that is
// written to the words that the translator looks at for it.

/** @import { Choice, HeroData, Sentence, Tell } from "../hero.js" */
/** @import { Before } from "./translation_glide.js" */

import { element } from "../../common/elements.js";
import { _ } from "../../common/words.js";
import { Hero } from "../hero.js";
import { isStill } from "../motion.js";
import { Film } from "../player.js";
import { percent } from "../sentence.js";
import { Words } from "../words.js";
import { beginLines, findBefore, putBack, rememberLine } from "./translation_glide.js";
import { TranslationGrid } from "./translation_grid.js";
import { bundle, Lines, NO_LINE } from "./translation_lines.js";
import { placeSentences } from "./translation_places.js";

/**
 * @typedef {object} Numbers
 * @property {string[]} source the words that are read; the last one is the end
 * @property {string[]} target the syllables that are written
 * @property {Record<string, number[][]>[]} weights of each layer, by the names of heads: rows × words;
 *   row t decides syllable t, and reads syllable t − 1
 * @property {[number, number][] | null} gold syllable and word that belong together, where that is known
 * @property {number} complete what `written` is when all syllables are written
 */
/**
 * @typedef {object} Focus one syllable and its row, or one word and its column
 * @property {boolean} isColumn
 * @property {number} place
 */

const READS = "reads", TABLE = "table";
const SEEN = 0.01; // smaller weights are not written beside their words
const STRONG = 0.05; // words with more are coloured
const NAMED = 4; // syllables that the sentence about a word names at most

/** @extends {Hero<HeroData & Numbers>} */
export class Translation extends Hero {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    root.classList.add("translation");
    this.textShown = "";
    this.measuredAs = false;
    this.toldOf = "";
    /** @type {{ words: string[], syllables: string[] }} what each word and syllable is told as */
    this.told = { words: [], syllables: [] };
    /** @type {Focus | null} what the pointer is on */
    this.pointed = null;
    /** @type {number | null} a word that was chosen, whose column is shown */
    this.pinned = null;
    this.lines = new Lines(this.stage);
    this.caret = this.stage.add("div", "translation-caret");
    this.grid = new TranslationGrid(this.stage, {
      peek: (row) => this.peek(row === null || row >= this.written ? null : { isColumn: false, place: row }),
      choose: (row) => this.ask(row),
    });
    this.words = new Words(this.stage, {
      label: _("Words that are read"),
      choose: (place) => this.pin(place),
      peek: (place) => this.peek(place === null ? null : { isColumn: true, place }),
    });
    this.words.root.classList.add("translation-read");
    this.syllables = new Words(this.stage, {
      label: _("Syllables that are written"),
      choose: (place) => this.ask(place),
      peek: (place) => this.peek(place === null || place >= this.written ? null : { isColumn: false, place }),
    });
    /** @type {{ words: HTMLElement[], syllables: HTMLElement[] }} */
    this.shares = { words: [], syllables: [] };
    this.film = new Film(this.below, _("syllables written"), (frame) => this.wind(frame), { play: _("Play"), pause: _("Pause") });
    this.film.paused = () => { if (this.data) this.choose({ written: this.choices.written }); };
    this.legend = element("button", "translation-legend", _("correct word"));
    this.legend.setAttribute("role", "switch");
    this.legend.onclick = () => this.choose({ gold: !this.hasGold });
  }

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
    const layer = this.data.weights[Number(this.choices.cross_layer) - 1], rows = layer[String(this.choices.cross_head)];
    const first = this.isRead ? 1 : 0;
    return rows.slice(first, first + this.count);
  }

  /** A frame of the film; the server hears of the last one. @param {number} frame */
  wind(frame) {
    this.pinned = this.pointed = null;
    const written = frame + 1 >= this.count ? this.data.complete : frame + 1;
    if (!this.film.isPlaying) return this.choose({ written });
    this.choices.written = written;
    this.update();
  }

  /** While it plays, the film knows best where it is. @override @param {Record<string, Choice>} choices */
  obey(choices) {
    const { written } = this.choices;
    super.obey(choices);
    if (this.film.isPlaying) this.choices.written = written;
  }

  /** @param {Focus | null} focus */
  peek(focus) {
    if (this.film.isPlaying || JSON.stringify(focus) === JSON.stringify(this.pointed)) return;
    this.pointed = focus;
    this.update();
  }

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
  offer() {
    super.offer();
    if (this.legend.parentElement !== this.bar) this.bar.append(this.legend);
  }

  /** @override */
  update() {
    this.legend.hidden = !this.data.gold;
    const rows = this.chips.get("cross_rows");
    if (rows) rows.root.hidden = !this.isRead; // a way back, where rows are those of a published picture
    this.legend.setAttribute("aria-checked", String(this.hasGold));
    this.root.classList.toggle("as-table", this.isTable);
    this.says.setAttribute("aria-live", this.film.isPlaying ? "off" : "polite");
    this.film.show(this.written - 1, true);
    super.update();
  }

  // Nodes.

  /** @override @param {boolean} isFirst */
  renew(isFirst) {
    const { source: words, target: syllables } = this.data, shown = JSON.stringify([words, syllables]);
    if (!isFirst && shown === this.textShown) return false;
    this.textShown = shown;
    this.pointed = this.pinned = null;
    if (this.film.isPlaying) this.choices.written = this.data.choices.written;
    this.film.stop();
    this.film.offer(syllables.map((_syllable, at) => _("{n} of {all}", { n: String(at + 1), all: String(syllables.length) })));
    this.lines.renew(words.length, syllables.length);
    this.grid.renew(words.length, syllables.length);
    this.words.renew(words);
    this.syllables.renew(syllables);
    this.syllables.root.lang = "vi";
    for (const share of [...this.shares.words, ...this.shares.syllables]) share.remove();
    const shares = (/** @type {string[]} */ line) => line.map(() => this.stage.add("div", "text share"));
    this.shares = { words: shares(words), syllables: shares(syllables) };
    return true;
  }

  /** Another sentence begins where the last one was. @override @param {HeroData & Numbers} data @param {Tell} tell */
  show(data, tell) {
    const shown = this.textShown, before = this.remember();
    super.show(data, tell);
    if (before && shown !== this.textShown) this.glide(before);
  }

  /** @returns {Before | null} */
  remember() {
    const { tween } = this;
    if (!tween.blocks.all || isStill() || this.isTable) return null;
    const lines = Array.from({ length: tween.blocks.all.count }, (_line, at) => [...tween.row("all", at)]);
    return { words: rememberLine(this.words.buttons), syllables: rememberLine(this.syllables.buttons), lines };
  }

  /** @param {Before} before */
  glide(before) {
    const { source, target } = this.data, goal = this.goal();
    const words = findBefore(before.words.texts, source), syllables = findBefore(before.syllables.texts, target);
    this.root.classList.add("still");
    const arrive = [putBack(this.words.buttons, before.words, words), putBack(this.syllables.buttons, before.syllables, syllables)];
    this.tween.aim({ all: beginLines(goal.all, before, words, syllables), own: goal.own.map(([from, to]) => [from, to, 0]) }, true);
    void this.root.offsetWidth; // a style that is set before is not animated
    this.root.classList.remove("still");
    for (const go of arrive) go();
    this.tween.aim(goal);
  }

  // Places.

  /** @override */
  measure() {
    this.measuredAs = this.isTable;
    this.plan = placeSentences(this.stage, this.data.source, this.data.target, this.isTable);
    this.root.classList.toggle("down", this.plan.isDown);
    this.lines.aim(this.plan);
  }

  /** @override */
  place() {
    if (this.measuredAs !== this.isTable) this.measure();
    const { rows, focus, written, isTable } = this, lines = bundle(rows, this.layout(), written);
    this.stage.lines.style.opacity = isTable ? "0" : "1";
    this.tellAll();
    this.placeWords();
    this.placeSyllables();
    this.placeCaret();
    this.grid.place({ rows, lines, places: this.layout(), written, isShown: isTable, focus, isCorrect: (asker, seen) => this.isGold(asker, seen) });
  }

  placeWords() {
    const { stage, data, focus, rows, isTable } = this, { table, depth, size, isDown, words } = this.layout();
    const row = focus.isColumn ? null : rows[focus.place], peak = row ? row.indexOf(Math.max(...row)) : focus.place;
    this.words.show({ chosen: peak, shown: focus.isColumn ? focus.place : -1, names: this.told.words, hidden: data.source.map(() => false) });
    this.words.buttons.forEach((button, place) => {
      const weight = row ? row[place] : 0, share = this.shares.words[place];
      button.classList.toggle("gets", weight >= STRONG);
      button.classList.toggle("correct", !focus.isColumn && this.isGold(focus.place, place));
      button.classList.toggle("end", place === this.end);
      const [left, width] = table.columns[place];
      if (isTable) stage.write(button, left + width / 2, isDown ? table.head - 6 : 13, table.above, 1, 0, isDown ? "left" : "middle", isDown ? -90 : 0);
      else if (isDown) stage.write(button, depth.words, words[place], size, 1, 0, "right");
      else stage.write(button, words[place], depth.words, size);
      this.placeShare(share, weight, !isTable, isDown ? [depth.wordShare, words[place]] : [words[place], depth.wordShare]);
    });
  }

  placeSyllables() {
    const { stage, data, focus, rows, isTable, written } = this, { table, depth, size, isDown, syllables } = this.layout();
    this.syllables.show({ chosen: focus.isColumn ? this.asker : focus.place, shown: focus.isColumn ? -1 : focus.place, names: this.told.syllables, hidden: data.target.map(() => false) });
    this.syllables.buttons.forEach((button, place) => {
      const isWritten = place < written, weight = focus.isColumn && isWritten ? rows[place][focus.place] : 0, shown = isWritten ? 1 : 0;
      button.classList.toggle("gets", weight >= STRONG);
      button.classList.toggle("astray", this.hasGold && Boolean(this.data.gold?.length) && !this.isRight(place));
      button.inert = !isWritten;
      if (isTable) stage.write(button, table.gutter - 10, table.head + (place + 0.5) * table.side, Math.min(table.beside, table.side - 3), shown, 0, "right");
      else if (isDown) stage.write(button, depth.syllables, syllables[place], size, shown, 0, "left");
      else stage.write(button, syllables[place], depth.syllables, size, shown);
      this.placeShare(this.shares.syllables[place], weight, !isTable, isDown ? [depth.syllableShare, syllables[place]] : [syllables[place], depth.syllableShare]);
    });
  }

  /** @param {HTMLElement} share @param {number} weight @param {boolean} isShown @param {[number, number]} place */
  placeShare(share, weight, isShown, [x, y]) {
    const { isDown } = this.layout(), isSeen = isShown && weight >= SEEN;
    if (isSeen) share.textContent = percent(weight);
    share.classList.toggle("low", weight < STRONG);
    this.stage.write(share, x, y, weight < STRONG ? 13 : isDown ? 15 : 18, isSeen ? 1 : 0, 0, isDown ? "right" : "middle");
  }

  placeCaret() {
    const { table, depth, size, isDown, syllables } = this.layout(), next = Math.min(this.written, this.count - 1), shown = this.isComplete ? 0 : 1;
    const box = this.isTable
      ? { x: table.gutter - 22, y: table.head + (next + 0.12) * table.side, width: 9, height: table.side * 0.76 }
      : isDown
        ? { x: depth.syllables, y: syllables[next] - size / 2, width: 9, height: size }
        : { x: syllables[next] - 5, y: depth.syllables - size * 0.52, width: 10, height: size * 1.04 };
    this.stage.put(this.caret, box, shown);
  }

  layout() { return /** @type {NonNullable<typeof this.plan>} */ (this.plan); }

  /** @override @returns {Record<string, number[][]>} */
  goal() {
    if (!this.plan) return {};
    const { rows, focus, written } = this, { source: words, target: syllables } = this.data, all = bundle(rows, this.plan, written);
    const most = Math.max(words.length, syllables.length), asked = { isColumn: focus.isColumn, length: focus.isColumn ? syllables.length : words.length };
    // The lines of what is asked for, drawn once more over the others.
    const own = Array.from({ length: most }, (_line, at) => {
      const isThere = at < asked.length, other = Math.min(at, asked.length - 1);
      const [asker, seen] = focus.isColumn ? [other, focus.place] : [focus.place, other], [from, to, wide] = all[asker * words.length + seen];
      return [from, to, isThere ? wide : 0];
    });
    return { all, own };
  }

  /** @override */
  paint() {
    const { tween, plan, lines, focus, written } = this, { source: words } = this.data;
    if (!plan || !tween.blocks.all) return;
    lines.paths.all.forEach((path, at) => lines.draw(path, tween.row("all", at), plan));
    lines.paths.own.forEach((path, at) => lines.draw(path, tween.row("own", at), plan));
    const gold = this.hasGold ? (this.data.gold ?? []).filter(([asker]) => asker < written) : [];
    lines.paths.marks.forEach((path, at) => {
      const [asker, seen] = gold[at] ?? [];
      if (asker === undefined) lines.draw(path, NO_LINE, plan);
      else lines.draw(path, tween.row("all", asker * words.length + seen), plan, true);
    });
    const own = gold.filter(([asker, seen]) => (focus.isColumn ? seen : asker) === focus.place);
    lines.paths.ringed.forEach((path, at) => {
      const [asker, seen] = own[at >> 1] ?? [];
      path.setAttribute("class", at % 2 ? "inner" : "outer");
      if (asker === undefined) lines.draw(path, NO_LINE, plan);
      else lines.draw(path, tween.row("own", focus.isColumn ? asker : seen), plan, true);
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

  /** Once for the same weights, however often somebody points at a word. */
  tellAll() {
    const { cross_layer: layer, cross_head: head, cross_rows: rows } = this.choices, of = JSON.stringify([layer, head, rows, this.written, this.textShown]);
    if (of === this.toldOf) return;
    this.toldOf = of;
    this.told = { words: this.data.source.map((_word, seen) => this.tellWord(seen)), syllables: this.data.target.map((_syllable, asker) => this.tellSyllable(asker)) };
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
  describe() { return this.told.syllables.slice(0, this.written).join(". "); }
}
