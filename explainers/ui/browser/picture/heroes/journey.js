// One word's journey: whom a word looks at, and how that comes about, in one picture.
// A step changes places, which CSS moves; another word changes numbers, which the tween moves. So what
// a step does not show waits unseen where it comes from, or has gone where it became something else.

/** @import { HeroData, Mark, Sentence } from "../kit.js" */
/** @import { Box } from "./journey_steps.js" */

import { _, ALONG, digits, Film, grouped, isStill, largest, markArcs, markMixture, markStrip, percent, Player, setText, sum, take, WordHero, writeRibbonPath } from "../kit.js";
import { COLUMN_NAMES, DELAYS, DWELL, LOOK, MASK, NUMBERS, OUTPUT, PER_WORD, Places, SCORES, VIEWS, WEIGHTS } from "./journey_steps.js";

/** @typedef {number[][]} Matrix */
/** @typedef {{ allowed: boolean[][], weights: Matrix, output: Matrix, film: Matrix[] }} Masked */
/**
 * @typedef {object} Numbers
 * @property {string[]} tokens
 * @property {Matrix} x
 * @property {Matrix} query
 * @property {Matrix} key
 * @property {Matrix} value
 * @property {Matrix} scores
 * @property {Record<string, Masked>} masks by their names
 * @property {number[]} batches of the film; none of a real model's training
 * @property {string[]} losses
 */
/** @type {Record<string, string>} */
const ROLES = { x: "input", query: "query", asked: "query", key: "key", value: "value", product: "head0", weighted: "value", output: "value" };
const MOST_DIGITS = 10, TURNS = 0.5; // words: with more, a cell has no room for a number; a weight from which digits are light
const OWN = ["x", "value", "key", "asked", "product", "weighted"]; // each word has these, and the word that asks its query and its output

/** @extends {WordHero<HeroData & Numbers>} */
export class Journey extends WordHero {
  step = LOOK;
  all = false;
  isForward = false;
  /** @type {"" | "seeds" | "grows"} of all words */
  growth = "";
  places = /** @type {Places} */ (/** @type {unknown} */ (null));
  player = new Player(this.below, {
    names: [_("Look"), _("Numbers"), _("Query, key, value"), _("Scores"), _("Mask"), _("Weights"), _("Output")],
    dwell: DWELL, go: (step) => this.go(step), said: () => this.says.textContent,
    skips: (step) => step === MASK && this.data.tokens.every((_token, place) => !this.isHidden(place)),
  });
  views = this.player.addViews([_("one word"), _("all words")], (view) => this.see(view === 1));
  film = new Film(this.below, _("batches learned"), (frame) => this.wind(frame));

  // What is chosen.

  get count() { return this.data.tokens.length; }
  get rule() { return this.data.masks[String(this.choices.mask)]; }
  get lastFrame() { return this.data.batches.length - 1; }
  get frame() {
    const at = this.data.batches.indexOf(Number(this.choices.batches));
    return at < 0 ? this.lastFrame : at;
  }
  get isPoster() { return this.step === LOOK && !this.all; }
  get weights() { return this.frame < this.lastFrame ? this.rule.film[this.frame] : this.rule.weights; }
  /** @param {number} place @param {number} [asker] */
  isHidden(place, asker = this.asker) { return !this.rule.allowed[asker][place]; }

  /** @override @param {number | null} place */
  peek(place) {
    this.root.classList.add("quick");
    super.peek(place);
  }

  /** @param {number} step */
  go(step) {
    if (step === this.step && !this.all) return;
    this.isForward = step === this.step + 1 && !this.all;
    this.root.classList.toggle("quick", !this.isForward && step !== LOOK);
    Object.assign(this, { step, all: false, pointed: null });
    if (step !== LOOK && this.frame < this.lastFrame) this.choose({ batches: this.data.batches[this.lastFrame] });
    else this.update();
    this.isForward = false;
  }

  /** @param {boolean} all */
  see(all) {
    this.player.pause();
    this.root.classList.remove("quick");
    const isGrowing = all && !this.all;
    this.all = all;
    if (isGrowing) {
      this.growth = "seeds";
      this.place();
      void this.stage.root.offsetWidth; // where its cells set out from
      this.growth = "grows";
    }
    this.update();
    this.growth = "";
  }

  /** @param {number} frame */
  wind(frame) {
    if (this.step !== LOOK) this.player.to(LOOK);
    this.root.classList.add("quick");
    this.choose({ batches: this.data.batches[frame] });
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const on = /** @type {HTMLElement} */ (event.target), by = on.matches("input, [role=radio]") ? undefined : take(event, ALONG);
    if (!by) return;
    this.player.pause();
    this.player.to(this.step + by, true);
  }

  // What is seen.

  /** @override @param {boolean} isFirst */
  renew(isFirst) {
    this.root.onkeydown = (event) => this.key(event);
    this.film.offer(this.data.batches.map(grouped));
    return super.renew(isFirst);
  }

  /** @override */
  measure() {
    this.places = new Places(this.stage, this.data.tokens);
    this.root.classList.toggle("upright", this.places.isUpright);
  }

  get wordDepth() { return this.isPoster ? 0.66 * this.places.height : 84 * this.places.by; }

  /** @param {string} kind @param {number} [place] milliseconds that it waits when the step was entered from the one before */
  delay(kind, place = this.asker) {
    if (!this.isForward || isStill()) return 0;
    const own = ["asked", "product", "score"].includes(kind) ? PER_WORD * Math.abs(place - this.asker) : 0;
    return (DELAYS[this.step][kind] ?? 0) + own;
  }

  /** @override */
  place() {
    this.root.classList.toggle("poster", this.isPoster);
    super.place();
    if (this.words) this.words.canPeek = this.isPoster || this.all;
    this.player.show(this.step);
    this.views(this.all ? 1 : 0);
    this.film.show(this.frame, this.isPoster && this.lastFrame > 0);
  }

  /** @override @returns {Mark[]} */
  marks() {
    const { places, data: { tokens }, step, all } = this, { isUpright, left, height } = places;
    const [bars] = places.depth(WEIGHTS, "bar"), ground = /** @type {Box} */ (isUpright ? [left + bars - 1, 36, 1.5, height - 80] : [left, bars, places.room, 1.5]);
    return [
      { key: "baseline", class: "baseline", box: ground, opacity: step === WEIGHTS && !all ? 1 : 0 },
      this.markSentence(),
      ...this.markLabels(),
      ...this.markNumbers(),
      ...tokens.flatMap((_word, place) => this.markLane(place)),
      ...this.markRibbons(),
      ...this.markLooks(),
      ...this.markMixture(),
      ...this.markAllWords(),
    ];
  }

  markSentence() {
    const { places: { line, large, posterLeft, isUpright }, data: { tokens, scores }, asker, isPoster } = this, { centres, widths, size } = isPoster ? large : line;
    return this.markWords((place) => ({
      name: _("{word}, {share}, score {score}", {
        word: tokens[place], share: percent(this.weights[asker][place]), score: this.isHidden(place) ? "−∞" : digits(scores[asker][place]),
      }),
      isHidden: this.isHidden(place) && (this.step >= MASK || isPoster || this.all),
      at: isUpright ? [isPoster ? posterLeft : 0, centres[place], size] : [centres[place] - widths[place] / 2, this.wordDepth, size], hold: "left",
    }));
  }

  /** What the strips of a step are. @returns {Mark[]} */
  markLabels() {
    const { step, stage, data, places: { table, left, isUpright } } = this, of = (/** @type {number} */ one) => step === one;
    const [count, size] = [data.x[0].length, data.key[0].length];
    /** @type {Record<string, [string, string] | false>} */
    const said = {
      x: [NUMBERS, VIEWS].includes(step) && ["x", of(NUMBERS) ? _("{count} numbers", { count }) : ""],
      query: of(VIEWS) ? [_("query"), _("what it looks for")] : of(SCORES) && [_("query"), ""],
      key: of(VIEWS) ? [_("key"), _("what it is found by")] : of(SCORES) && [`× ${_("key")}`, ""],
      value: of(VIEWS) ? [_("value"), _("what it passes on")] : of(OUTPUT) && [_("value"), ""],
      product: of(SCORES) && ["=", _("products")],
      score: of(SCORES) ? [_("score"), _("add up, ÷ √{count}", { count: size })] : [MASK, WEIGHTS].includes(step) && [_("score"), ""],
      bar: of(WEIGHTS) && [_("weight"), _("together 100 %")],
      weighted: of(OUTPUT) && [_("× weight"), ""],
      output: of(OUTPUT) && [_("output"), _("the sum")],
    };
    return Object.entries(said).map(([kind, told]) => {
      const text = !this.all && told, [at, extent] = table[step][kind === "query" && of(SCORES) ? "asked" : kind] ?? table[NUMBERS].x ?? [0, 0];
      const middle = kind === "score" ? at : kind === "bar" ? at + (isUpright ? extent / 2 : -extent * 0.45) : at + extent / 2;
      return /** @type {Mark} */ ({
        key: `label ${kind}`, class: "label", style: { "--role": `var(--${ROLES[kind] ?? "st-text-color"})` }, opacity: text ? 1 : 0,
        ...(isUpright ? { at: [Math.min(stage.room - 34, left + middle), 17, 12] } : { at: [left - 12, middle, 13], hold: "right" }),
        parts: ["b", "span"].map((tag, nth) => ({ tag, text: text ? text[nth] : undefined })), // what fades keeps its text
      });
    });
  }

  /** The strips of all words, and of the word that asks. @returns {Mark[]} */
  markNumbers() {
    const { data, asker, step, places } = this, { query, key, value, x } = data, weights = this.weights[asker];
    const product = key.map((row) => row.map((number, d) => number * query[asker][d])), weighted = value.map((row, place) => row.map((number) => number * weights[place]));
    /** @type {Record<string, Matrix>} */
    const rows = { x, value, key, asked: key.map(() => query[asker]), product, weighted };
    /** @type {Record<string, number>} by the roles of numbers */
    const limits = { input: 0.8 * largest(x), query: largest(query), key: largest(key), value: largest(value), head0: largest(product) };
    const mark = (/** @type {string} */ name, /** @type {string} */ kind, /** @type {number[]} */ numbers, /** @type {number} */ place, share = 1, own = -1) => {
      const { box, opacity } = places.spot(step, kind, place, asker), isColumn = kind === "x" && !places.isUpright;
      return markStrip(name, {
        role: ROLES[kind], numbers, isColumn, box, limit: limits[ROLES[kind]],
        hasDigits: !places.isUpright, length: isColumn ? places.depth(NUMBERS, "x")[1] : places.strip, // on a phone there is no room for digits
      }, { opacity: this.all ? 0 : opacity * share, delay: this.delay(kind, place), own });
    };
    return [
      mark("query", "query", query[asker], asker),
      mark("output", "output", this.rule.output[asker], asker),
      ...data.tokens.flatMap((_word, place) => OWN.map((kind) =>
        mark(`${kind} ${place}`, kind, rows[kind][place], place, step >= MASK && kind !== "x" && this.isHidden(place) ? 0.25 : 1, place))),
    ];
  }

  /** What else a word has in its lane: a shutter where it is hidden, the bar of its weight, and its score. @param {number} place @returns {Mark[]} */
  markLane(place) {
    const { places, step, asker } = this, { isUpright, room, by, strip, table } = places, weight = this.weights[asker][place];
    const isShut = this.isHidden(place), shown = this.all ? 0 : 1, seen = step === MASK ? shown : 0, length = isShut ? 1 : 0.08;
    const score = table[step].score, at = score ?? (step > SCORES ? table[WEIGHTS].score : undefined), [x, y, width, height] = places.spot(step, "key", place, asker).box;
    const middle = at ? places.point(place, at[0]) : [x + width / 2, y + height / 2];
    return [
      {
        key: `shutter ${place}`, class: "shutter", is: { rolled: !isShut }, opacity: seen * (isShut ? 0.85 : 1), delay: this.delay("shutter"), own: place,
        box: isUpright ? places.box(place, 4, (room - 8) * length, 32) : places.box(place, 150 * by, 124 * by * length),
      },
      { key: `bar ${place}`, class: "bar-of-weight", box: this.barOf(place), opacity: table[step].bar ? shown : 0, delay: this.delay("bar"), own: place },
      {
        key: `score ${place}`, class: "text score", is: { best: !isShut && weight >= 0.2 }, delay: this.delay("score", place), own: place,
        at: [middle[0], middle[1], isUpright ? (step === MASK ? 18 : 13) : Math.min(strip / 3, score?.[1] ?? 13)],
        opacity: score ? score[2] * shown * (step >= MASK && isShut ? 0.5 : 1) : 0, numbers: [this.data.scores[asker][place]],
        draw: (node, [now]) => setText(node, step >= MASK && isShut ? "−∞" : digits(now)),
      },
      {
        key: `may ${place}`, class: "text may", text: isShut ? _("hidden") : _("allowed"), opacity: seen, delay: this.delay("shutter"), own: place,
        at: [...places.point(place, isUpright ? 0.75 * room : 250 * by), 15],
      },
    ];
  }

  /** @param {number} place @returns {Box} */
  barOf(place) {
    const { places, step } = this, { isUpright, strip } = places, now = places.table[step].bar, weight = this.weights[this.asker][place];
    const [at, extent] = now ?? places.depth(WEIGHTS, "bar"), length = now ? Math.max(weight > 0 ? 1.5 : 0, weight * extent) : 0;
    return isUpright ? places.box(place, at, length) : places.box(place, at - length, length, Math.min(64, strip * 0.7));
  }

  /** As wide as the share of a strip; together exactly as wide as the output. @returns {Mark[]} */
  markRibbons() {
    const { places, step, asker } = this, { isUpright, strip, line: { centres } } = places, weights = this.weights[asker];
    const [x, y, width, height] = places.output(asker), [at, extent] = places.depth(OUTPUT, "weighted");
    const start = (isUpright ? places.left : 0) + at + extent + 3, [end, from, full] = isUpright ? [x - 3, y, height] : [y - 3, x, width];
    return [
      { key: "ribbons", tag: "svg:g", class: "ribbons", style: { opacity: step === OUTPUT && !this.all ? 1 : 0, "transition-delay": `${this.delay("ribbon")}ms` } },
      ...weights.map((weight, place) => /** @type {Mark} */ ({
        key: `ribbon ${place}`, in: "ribbons", tag: "svg:path", class: "ribbon", own: place, numbers: [weight, sum(weights.slice(0, place))],
        draw: (node, [now, before]) => {
          const half = (strip * now) / 2, centre = centres[place], to = from + full * before;
          node.setAttribute("d", writeRibbonPath({ across: !isUpright, start, end, from: [centre - half, centre + half], to: [to, to + full * now] }));
          node.style.opacity = now < 0.002 ? "0" : (0.25 + 0.4 * now).toFixed(3);
        },
      })),
    ];
  }

  /** Where the word looks: arcs, and percentages. @returns {Mark[]} */
  markLooks() {
    const { stage, places, step, all, asker, isPoster } = this, { isUpright, large, line, posterLeft, by } = places, isTall = all || step < WEIGHTS;
    const ground = this.wordDepth - large.size * 1.32, isCompared = step >= WEIGHTS || isPoster || all;
    return markArcs("look", stage, {
      weights: this.weights[asker], centres: (isPoster ? large : line).centres, asker, isUpright, scale: isPoster ? 1 : 0.55, even: isCompared ? 0 : 1,
      base: isUpright ? posterLeft - 8 : isPoster ? ground : (isTall ? 64 : 44) * by,
      high: isUpright ? posterLeft - 26 : isPoster ? ground - 16 : (isTall ? 52 : 34) * by,
      opacity: isPoster || (!isUpright && (step >= SCORES || all)) ? 1 : 0,
      isSeen: (place) => step === SCORES || !this.isHidden(place),
      share: (place) => this.placeShare(place),
    });
  }

  /** The percentage: below the arc, on the bar, or beside the value. @param {number} place @returns {Pick<Mark, "at" | "hold" | "opacity" | "delay">} */
  placeShare(place) {
    const { step, isPoster, places: { isUpright, line, large, left, room, posterLeft, by } } = this, isLow = this.weights[this.asker][place] < 0.05, centre = line.centres[place];
    const opacity = !this.all && [LOOK, WEIGHTS, OUTPUT].includes(step) && (step === LOOK || !this.isHidden(place)) ? 1 : 0;
    if (isPoster && isUpright) return { at: [posterLeft + Math.max(...large.widths) + 14, large.centres[place], isLow ? 14 : 19], hold: "left", opacity };
    if (isPoster) return { at: [large.centres[place], this.wordDepth - large.size * 0.94, isLow ? 15 : Math.max(17, large.size * 0.58)], opacity };
    if (step === OUTPUT && isUpright) return { at: [left + 0.18 * room, centre, 14], hold: "right", opacity };
    if (step === OUTPUT) return { at: [centre, 54 * by, isLow ? 13 : 17], opacity };
    const [x, y, width] = this.barOf(place), delay = this.delay("bar");
    return isUpright ? { at: [x + width + 8, centre, isLow ? 13 : 17], hold: "left", opacity, delay } : { at: [centre, y - 14, isLow ? 15 : 22], opacity, delay };
  }

  /** @returns {Mark[]} */
  markMixture() {
    const { stage, places: { isUpright, large: { centres, widths } }, data: { tokens } } = this, last = this.count - 1;
    const first = centres[0] - widths[0] / 2, end = centres[last] + widths[last] / 2;
    return markMixture(stage, {
      label: _("What the new vector is made of"), words: tokens, weights: this.weights[this.asker], opacity: this.isPoster ? 1 : 0,
      box: isUpright ? [4, stage.height - 32, stage.room - 8, 28] : [first, stage.height - 46, end - first, 34],
    });
  }

  /** All words at once: the weights of each as a row of cells, below the words or, on a phone, below words on end. @returns {Mark[]} */
  markAllWords() {
    const { stage, places: { left, isUpright, grid: { top, side, starts, widths } }, data: { tokens }, asker, growth } = this, opacity = growth === "seeds" ? 0 : 1;
    /** @type {Mark} */
    const frame = { key: "row frame", class: "row-frame", box: [left - 1, top + asker * side, stage.room - left + 1, side], opacity: this.all ? 1 : 0 };
    if (!this.all) return [frame];
    return [frame, ...tokens.flatMap((text, row) => /** @type {Mark[]} */ ([
      isUpright
        ? { key: `column ${row}`, class: "text column-name", text, at: [starts[row] + widths[row] / 2, top - 8, COLUMN_NAMES], hold: "left", turn: -90, opacity, fades: true, own: row }
        : { key: `row ${row}`, class: "text row-name", is: { asks: row === asker }, text, at: [left - 14, top + (row + 0.5) * side, 15], hold: "right", opacity, fades: true, own: row },
      ...tokens.map((_word, place) => {
        const weight = this.weights[row][place], isHidden = this.isHidden(place, row);
        return {
          key: `cell ${row} ${place}`, class: "cell", is: { deep: weight > TURNS, low: weight < 0.05, forbidden: isHidden }, style: { "--share": `${(100 * weight).toFixed(1)}%` },
          text: tokens.length > MOST_DIGITS || isHidden ? "" : weight < 0.005 ? "0" : isUpright ? `${Math.round(100 * weight)}` : percent(weight),
          box: growth === "seeds" ? this.places.seed(this.step, place) : [starts[place] + 2, top + row * side + 2, widths[place] - 4, side - 4],
          delay: growth === "grows" && row !== asker ? 400 + 110 * Math.abs(row - asker) : 0,
          own: this.ownPositions.includes(row) ? row : place, fades: true, opacity, click: () => this.choose({ word: row }),
        };
      }),
    ]))];
  }

  // Words.

  /** @override */
  divided() { return [this.weights[this.asker]]; }

  /** @override @returns {Sentence} */
  sentence() {
    const { data, asker, step } = this, { tokens } = data;
    const scores = data.scores[asker].map((score, place) => (!this.seen.includes(place) || (this.isHidden(place) && step !== SCORES) ? -Infinity : score)), best = Math.max(...scores);
    const values = {
      ...this.tellMost(this.weights[asker]), word: tokens[asker], words: String(tokens.length), hidden: String(tokens.filter((_t, place) => this.isHidden(place)).length),
      d_model: String(data.x[0].length), d_k: String(data.key[0].length),
      batch: grouped(Number(this.choices.batches)), batches: grouped(data.batches.at(-1) ?? 0), loss: data.losses[this.frame] ?? "", first_loss: data.losses[0] ?? "",
    };
    if (step === SCORES) Object.assign(values, { first: tokens[scores.indexOf(best)], score: digits(best) });
    const classes = { word: "query", first: "weight", first_share: "weight", second: "weight", second_share: "weight" };
    return { name: this.sentenceName(), values, classes };
  }

  sentenceName() {
    const { step } = this;
    if (this.all) return "hero_all";
    if (step !== LOOK) {
      const name = ["", this.ownPositions.length ? "step_numbers_own" : "step_numbers", "step_qkv", "step_scores", "step_mask", "step_weights", "step_output"][step];
      return step === MASK && this.rule.allowed[this.asker].every(Boolean) ? "step_mask_full" : name;
    }
    if (this.frame < this.lastFrame) return this.frame === 0 ? "film_start" : "film_seen";
    if (this.hidesOwn) return "hero_hidden";
    if (this.rule.allowed[this.asker].filter(Boolean).length === 1) return "hero_only";
    const weights = this.weights[this.asker], name = this.nameMost(weights), [{ place }] = this.rank(weights);
    return name === "hero_one" && this.ownPositions.includes(place) ? (place ? "hero_nothing_end" : "hero_nothing") : name;
  }

  /** @override */
  describe() { return this.tellGiven(this.weights); }
}
