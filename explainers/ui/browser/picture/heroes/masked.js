// What a mask does: the weights of all words under it, and how one word's attention is shared out
// again among the words that it may still look at.

/** @import { HeroData, Mark, Now, Sentence } from "../kit.js" */

import { _, ACROSS, chooseArcWidth, element, isUnseen, makeRange, markArcs, MARKS, percent, poster, seenPercent, setText, softmax, take, WordHero, writeArcPath, writeRibbonPath, yields } from "../kit.js";
import { CAUSAL, FULL, readCells, readRow, writeCells } from "./masked_drawing.js";

/** @typedef {number[][]} Matrix */
/**
 * @typedef {object} Frame a mask with one value of its number
 * @property {number[]} allowed of each row, a bit for each word that it may look at, the lowest for the first
 * @property {Matrix} weights
 */
/**
 * @typedef {object} Mask a row of the table of masks: attention/masks.py
 * @property {string} name
 * @property {string} subject what a sentence calls it
 * @property {string} parameter the name of its number in words; "" if it has none
 * @property {number} least
 * @property {Frame[]} frames one for each value of its number, from the least on
 */
/**
 * @typedef {object} Numbers
 * @property {string[]} tokens
 * @property {Matrix} scores that all masks begin with
 * @property {Matrix} full the weights without a mask
 * @property {Mask[]} masks
 * @property {string} own what the mask that the reader draws is called among the choices
 * @property {string} ownSubject
 */
/** @typedef {ReturnType<Masked["apply"]>} Shown */
/** @typedef {ReturnType<Masked["plan"]>} Plan */

const HEIGHT = 424, HEAD = 64, LARGEST = 56, BESIDE = 600, NUMBERS = 122; // pixels; below BESIDE the strip is below the cells
const LEAST_FOR_DIGITS = 28, LEAST_FOR_PERCENT = 42, AIR = 10; // pixels: of a cell; beside a word in its part
const SAME = 0.005, LITTLE = 0.005; // of a weight: what is written alike, and what as less than 1 %

/** @extends {WordHero<HeroData & Numbers>} */
export class Masked extends WordHero {
  /** @type {number | null} */
  column = null;
  /** @type {Shown} what is seen now */
  shown = { subject: "", allowed: [], weights: [] };
  at = [0, 0]; // the cell at which Tab arrives
  // What stands in the bar beside the choices, not in the picture.
  slide = element("label", "masked-slide");
  slideName = this.slide.appendChild(element("span"));
  slider = this.slide.appendChild(makeRange((value) => this.choose({ [this.mask?.name ?? ""]: value })));
  slideValue = this.slide.appendChild(element("output"));
  starts = element("div", "masked-starts");

  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    const starts = [[FULL, _("allow all")], [CAUSAL, _("only earlier words")]].map(([cells, name]) => element("button", "", name, { onclick: () => this.choose({ cells }) }));
    this.starts.append(element("span", "", _("Click a cell to forbid or allow it.")), ...starts);
  }

  // What is chosen.

  get count() { return this.data.tokens.length; }
  get isOwn() { return String(this.choices.rule) === this.data.own; }
  get mask() { return this.data.masks.find(({ name }) => name === String(this.choices.rule)); }
  /** The mask's number, or the largest that differs in this text. @param {Mask} mask */
  number({ name, least, frames }) { return Math.min(Number(this.choices[name] ?? least), least + frames.length - 1); }

  /** The mask, and what it leaves. */
  apply() {
    const { data: { scores, ownSubject }, mask, count } = this;
    if (!mask) {
      const allowed = readCells(String(this.choices.cells), count);
      return { subject: ownSubject, allowed, weights: scores.map((row, i) => softmax(row, 1, allowed[i])) };
    }
    const frame = mask.frames[this.number(mask) - mask.least];
    return { subject: mask.subject, allowed: frame.allowed.map((bits) => readRow(bits, count)), weights: frame.weights };
  }

  /** @override @param {number | null} row @param {number | null} [column] */
  peek(row, column = null) {
    if (row === this.pointed && column === this.column) return;
    Object.assign(this, { pointed: row, column });
    this.root.classList.add("quick");
    this.update();
  }

  /** A cell of one's own mask is turned; of another, its row is chosen. @param {number} row @param {number} column */
  click(row, column) {
    this.pointed = null;
    if (!this.isOwn || column < 0) return this.choose({ word: row });
    const cells = readCells(String(this.choices.cells), this.count);
    cells[row][column] = !cells[row][column];
    this.choose({ word: row, cells: writeCells(cells) });
  }

  /** The arrow keys go from cell to cell. @param {KeyboardEvent} event */
  walk(event) {
    const from = placeOf(event), by = from && from[1] >= 0 ? take(event, ACROSS) : undefined, { count } = this;
    if (!from || !by) return;
    const next = [...from], cell = () => /** @type {HTMLElement} */ (this.scene.node(`cell ${next.join(" ")}`));
    do next.forEach((at, axis) => { next[axis] = (at + by[1 - axis] + count) % count; }); while (isUnseen(cell()));
    this.at = next;
    /** @type {HTMLElement} */ (event.target).tabIndex = -1;
    cell().tabIndex = 0;
    cell().focus();
  }

  /** @override */
  get keysBelow() { return ["weights", MARKS]; }
  /** @override */
  get besides() { return [this.slide, this.starts]; }

  /** @override @param {boolean} isFirst */
  renew(isFirst) {
    const isNew = super.renew(isFirst);
    if (isNew) Object.assign(this, { column: null, at: [0, 0] });
    return isNew;
  }

  // Places.

  plan() {
    const { stage } = this, { tokens } = this.data, isBeside = stage.room >= BESIDE;
    const names = Math.max(...stage.widths(tokens, 15), stage.width(_("looks at →"), 13, 400)) + 14;
    const left = Math.min(names, stage.room * 0.3), angle = isBeside ? -40 : -90; // of the words above the cells
    const longest = Math.max(...stage.widths(tokens, 14)), head = isBeside ? Math.min(HEAD, longest * 0.65 + 22) : Math.min(130, longest + 14);
    const wide = isBeside ? stage.room * 0.455 - left : stage.room - left - 4;
    const side = Math.floor(Math.min(LARGEST, wide / tokens.length, (isBeside ? HEIGHT - head : 245) / tokens.length));
    const below = head + side * tokens.length, start = isBeside ? left + side * tokens.length + 44 : 0, width = stage.room - start, top = isBeside ? 0 : below + 22;
    const line = poster(stage, tokens, isBeside ? 26 : 22, [start - 12, -12]); // its own air is not needed here
    const strip = line ? { width, base: top + (isBeside ? 186 : 108), high: isBeside ? 150 : 82, line, isUpright: false } : this.placeBelow(start, top, isBeside ? HEIGHT - 40 : 300);
    const bars = Math.max(...stage.widths([_("before"), _("after")], 14, 400)) + 12;
    const shares = line && isBeside ? { left: start + bars, width: width - bars - 2, top: Math.max(strip.base + 106, below - 104), thick: 30, gap: 44 } : null;
    const foot = shares ? shares.top + 2 * shares.thick + shares.gap + 4 : line ? strip.base + 88 : Math.max(...strip.line.centres) + 20;
    stage.resize(stage.room, Math.max(below + 4, foot));
    return { grid: { left, top: head, side, angle }, strip, shares };
  }

  /** Words below each other, where a line is too short for them. @param {number} start @param {number} top @param {number} tall */
  placeBelow(start, top, tall) {
    const { stage, data: { tokens } } = this, width = stage.room - start, pitch = Math.max(17, Math.min(48, tall / tokens.length));
    const size = Math.min(20, Math.floor(pitch * 0.72)), widths = stage.widths(tokens, size), base = Math.max(50, width - Math.max(...widths) - NUMBERS);
    return { width, base: start + base, high: base * 0.72, line: { size, widths, centres: tokens.map((_word, place) => top + 16 + pitch * (place + 0.5)) }, isUpright: true };
  }

  // What is seen.

  /** @override */
  marks() {
    const plan = this.plan(), shown = (this.shown = this.apply());
    this.placeChoices();
    return [...this.markGhosts(plan, shown), ...this.markGrid(plan, shown), ...this.markStrip(plan, shown), ...this.markShares(plan, shown)];
  }

  /** The arcs that the word had before. @param {Plan} plan @param {Shown} shown @returns {Mark[]} */
  markGhosts({ strip: { width, base, high, line: { centres }, isUpright } }, { allowed }) {
    const { asker } = this, hides = allowed[asker].includes(false), span = isUpright ? this.stage.height : width * 0.82;
    return [{ key: "ghosts", tag: "svg:g", class: "masked-ghosts" }, ...this.data.full[asker].map((weight, place) => /** @type {Mark} */ ({
      key: `ghost ${place}`, in: "ghosts", tag: "svg:path", class: "masked-ghost", own: place, numbers: [centres[asker], weight],
      draw: (node, [from, now]) => {
        node.setAttribute("d", writeArcPath({ from, to: centres[place], base: base - 4, high, span, isUpright }));
        node.style.strokeWidth = (chooseArcWidth(now, isUpright ? 19 : 27) * 0.8).toFixed(2);
        node.style.opacity = hides && now >= 0.01 ? "1" : "0";
      },
    }))];
  }

  /** All words' weights as cells, hatched where the mask forbids a pair; one row is framed. @param {Plan} plan @param {Shown} shown @returns {Mark[]} */
  markGrid({ grid: { left, top, side, angle } }, { allowed, weights }) {
    const { data: { tokens }, asker, column, count } = this, small = side < 20 ? 11 : 15, wide = count * side;
    this.at = [asker, this.at[1] % count];
    if (this.hidesOwn && this.at.some((place) => this.ownPositions.includes(place))) this.at = [asker, asker];
    return [
      {
        key: "grid", class: "masked-grid", is: { drawing: this.isOwn }, attributes: { role: "grid", "aria-label": _("Weights of all words under the mask") }, made: (node) => this.listen(node),
      },
      ...tokens.flatMap((word, row) => /** @type {Mark[]} */ ([
        { key: `line ${row}`, in: "grid", attributes: { role: "row" }, numbers: weights[row], draw: (node, now) => paintCells(node, now, allowed[row], side) },
        {
          key: `name ${row}`, in: `line ${row}`, class: "text row-name masked-name", is: { asks: row === asker }, text: word, own: row,
          attributes: { role: "rowheader", "data-cell": `${row} -1` }, at: [left - 10, top + (row + 0.5) * side, small], hold: "right",
        },
        ...tokens.map((other, place) => {
          const isAllowed = allowed[row][place], isEmpty = !allowed[row].includes(true), told = isEmpty ? "nan" : isAllowed ? seenPercent(weights[row][place]) : _("forbidden");
          return /** @type {Mark} */ ({
            key: `cell ${row} ${place}`, in: `line ${row}`, tag: "button", class: "cell masked-cell", is: { forbidden: !isAllowed, nan: isEmpty }, own: this.ownPositions.includes(row) ? row : place,
            attributes: { role: "gridcell", "data-cell": `${row} ${place}`, tabindex: row === this.at[0] && place === this.at[1] ? 0 : -1, "aria-label": `${word} → ${other}: ${told}` },
            box: [left + place * side + 1, top + row * side + 1, side - 2, side - 2],
          });
        }),
      ])),
      { key: "corner", class: "text quiet", text: _("looks at →"), at: [left - 10, top - 14, 13], hold: "right", opacity: side < 20 ? 0 : 1 },
      { key: "column frame", class: "masked-column-frame", box: [left + (column ?? asker) * side - 1, top - 1, side + 2, wide + 2], opacity: column === null || column < 0 ? 0 : 1 },
      { key: "row frame", class: "row-frame", box: [1, top + asker * side - 1, left + wide, side + 2] },
      ...tokens.flatMap((word, place) => /** @type {Mark[]} */ ([
        { key: `head ${place}`, class: "text masked-head", is: { asks: place === column }, own: place, at: [left + (place + 0.5) * side, top - 7, Math.min(small, 14)], hold: "left" },
        { key: `head word ${place}`, in: `head ${place}`, tag: "span", text: word, style: { rotate: `${angle}deg` } }, // the box is put in its place, the word in it is turned
      ])),
    ];
  }

  /** @param {HTMLElement} grid */
  listen(grid) {
    grid.addEventListener("pointerover", (event) => {
      const cell = placeOf(event);
      if (event.pointerType === "mouse" && cell) this.peek(...cell);
    });
    grid.addEventListener("pointerleave", () => this.peek(null, null));
    grid.addEventListener("click", (event) => {
      const cell = placeOf(event);
      if (cell) { this.at = cell; this.click(...cell); }
    });
    grid.addEventListener("keydown", (event) => this.walk(event));
  }

  /** The words, their arcs, and both percentages of each. @param {Plan} plan @param {Shown} shown @returns {Mark[]} */
  markStrip({ strip }, { allowed: all, weights: rows }) {
    const { tokens, full } = this.data, { asker, stage } = this, allowed = all[asker], weights = rows[asker], before = full[asker];
    const { line: { size, centres, widths }, base, isUpright } = strip, hold = isUpright ? "left" : "middle", isTiny = size < 16;
    const far = Math.max(...widths), sizes = this.fitShares(strip, allowed, weights), wide = stage.widths(before.map(seenPercent), isTiny ? 13 : 15);
    /** @returns {[number, number, number]} */
    const word = (/** @type {number} */ place) => (isUpright ? [base + 12 + widths[place] / 2, centres[place], size] : [centres[place], base + size * 0.5 + 10, size]);
    const after = (/** @type {number} */ place) => (isUpright ? [base + far + 26, centres[place]] : [centres[place], base + size * 1.24 + 26]);
    return [
      this.markWords((place) => ({
        name: `${tokens[place]}, ${allowed[place] ? seenPercent(weights[place]) : _("forbidden")}`, isHidden: !allowed[place] && place !== asker, at: word(place),
      })),
      ...tokens.flatMap((_word, place) => {
        const [x, y] = word(place), [right, low] = after(place), isOther = Math.abs(weights[place] - before[place]) >= SAME || !allowed[place];
        return /** @type {Mark[]} */ ([
          { key: `shutter ${place}`, class: "masked-shutter", own: place, box: [x - widths[place] / 2 - 5, y - size * 0.74, widths[place] + 10, size * 1.48], opacity: allowed[place] ? 0 : 1 },
          {
            key: `before ${place}`, class: "text masked-before", text: seenPercent(before[place]), own: place, hold,
            at: isUpright ? [right + 52, low, isTiny ? 13 : 15] : [right, low + 22, isTiny ? 13 : 15], opacity: isOther && (isUpright || !yields(place, before, centres, wide, 3)) ? 1 : 0,
          },
        ]);
      }),
      ...markArcs("arcs", stage, {
        weights, centres, asker, base: base - 4, high: strip.high, scale: 0.8, isUpright, isSeen: (place) => allowed[place],
        share: (place) => ({ at: /** @type {[number, number, number]} */ ([...after(place), sizes[place]]), hold, opacity: allowed[place] && sizes[place] ? 1 : 0 }),
      }),
    ];
  }

  /** The row's 100 % before the mask, and below them the same 100 % after it. @param {Plan} plan @param {Shown} shown @returns {Mark[]} */
  markShares({ shares }, { allowed: all, weights }) {
    if (!shares) return [];
    const { left, width, top, thick, gap } = shares, { data: { tokens, full }, asker, stage } = this, allowed = all[asker], wide = stage.widths(tokens, 14), tops = [top, top + thick + gap];
    const edges = [full[asker], weights[asker]].map((row) => {
      let end = left;
      return row.map((weight) => [end, (end += weight * width)]);
    });
    return [
      ...[_("before"), _("after")].map((text, bar) => /** @type {Mark} */ ({ key: `shares ${bar}`, class: "text quiet", text, at: [left - 10, tops[bar] + thick / 2, 14], hold: "right" })),
      { key: "ribbons", tag: "svg:g", class: "masked-ribbons" },
      ...tokens.flatMap((word, place) => /** @type {Mark[]} */ ([
        ...["before", "after"].flatMap((when, bar) => [
          {
            key: `part ${when} ${place}`, class: `masked-part ${when}`, is: { forbidden: bar === 0 && !allowed[place] }, share: place, numbers: edges[bar][place],
            draw: (/** @type {HTMLElement} */ node, /** @type {Now} */ [start, end]) => {
              Object.assign(node.style, { transform: `translate(${start.toFixed(1)}px, ${tops[bar]}px)`, width: `${Math.max(0, end - start).toFixed(1)}px`, height: `${thick}px` });
              /** @type {HTMLElement} */ (node.firstElementChild).style.visibility = end - start < wide[place] + AIR ? "hidden" : "";
            },
          },
          { key: `word ${when} ${place}`, in: `part ${when} ${place}`, tag: "span", text: word },
        ]),
        {
          key: `ribbon ${place}`, in: "ribbons", tag: "svg:path", class: "masked-ribbon", own: place, numbers: [...edges[0][place], ...edges[1][place]],
          draw: (node, [a, b, c, d]) => node.setAttribute("d", allowed[place] && b - a + d - c > 1 ? writeRibbonPath({ across: true, start: top + thick, end: tops[1], from: [a, b], to: [c, d] }) : ""),
        },
      ])),
    ];
  }

  /**
   * How large shares are written: where words are short, a small one gives way to its neighbour.
   * @param {Plan["strip"]} strip @param {boolean[]} allowed @param {ArrayLike<number>} now
   */
  fitShares({ line, isUpright }, allowed, now) {
    const sizes = line.centres.map((_centre, place) => Number(line.size < 16 ? 13 : now[place] < 0.05 ? 15 : 19));
    const widths = this.stage.widths(sizes.map((_size, place) => seenPercent(now[place])), 1);
    for (let place = 1; place < sizes.length && !isUpright; place++) {
      if (!allowed[place] || !allowed[place - 1]) continue;
      const need = (widths[place] * sizes[place] + widths[place - 1] * sizes[place - 1]) / 2 + 5;
      const fits = (line.centres[place] - line.centres[place - 1]) / need, pair = [place - 1, place], small = pair.filter((at) => now[at] < 0.05);
      if (fits < 1) for (const at of small.length ? small : pair) sizes[at] = small.length ? 0 : Math.max(13, Math.floor(sizes[at] * fits));
    }
    return sizes;
  }

  /** The choice that belongs to this mask: its number, or where a drawing starts. */
  placeChoices() {
    const { mask } = this, hasNumber = Boolean(mask?.parameter);
    this.slide.hidden = !hasNumber;
    this.starts.hidden = !this.isOwn;
    if (!mask || !hasNumber) return;
    const number = String(this.number(mask));
    this.slideName.textContent = mask.parameter;
    this.slider.min = String(mask.least);
    this.slider.max = String(mask.least + mask.frames.length - 1);
    if (this.slider.value !== number) this.slider.value = number;
    this.slideValue.textContent = number;
  }

  // In words.

  /** @override */
  divided() { return [this.shown.weights[this.asker]]; }

  /** @override @returns {Sentence} */
  sentence() {
    const { tokens, full } = this.data, { subject, allowed, weights } = this.shown, { asker } = this;
    const was = full[asker], now = weights[asker], left = allowed[asker].filter(Boolean).length;
    const lost = was.reduce((sum, weight, place) => sum + (allowed[asker][place] ? 0 : weight), 0);
    const gains = now.map((weight, place) => (allowed[asker][place] ? weight - was[place] : -Infinity));
    const largest = (/** @type {number[]} */ row) => this.seen.reduce((best, place) => (row[place] > row[best] ? place : best));
    const most = left === tokens.length || lost < LITTLE ? largest(now) : largest(gains);
    const values = {
      mask: subject, word: tokens[asker], hidden: `${tokens.length - left}`, words: `${tokens.length}`, lost: percent(lost),
      first: tokens[most], before: seenPercent(was[most]), after: percent(now[most]),
    };
    const name = nameSentence(allowed, asker, lost);
    const classes = { word: "query", lost: "weight", before: "weight", after: "weight", first: "weight" };
    return { name: name === "hero_nothing" && this.hidesOwn ? "hero_hidden" : name, values, classes };
  }

  /** @override */
  describe() {
    const { tokens } = this.data, { allowed, weights } = this.shown;
    return this.seen.map((row) => {
      const seen = this.seen.map((place) => (allowed[row][place] ? `${tokens[place]} ${seenPercent(weights[row][place])}` : "")).filter(Boolean);
      return `${tokens[row]}: ${seen.join(", ")}`;
    }).join("; ");
  }
}

/** Which sentence is true of a row. @param {boolean[][]} allowed @param {number} asker @param {number} lost */
function nameSentence(allowed, asker, lost) {
  const row = allowed[asker], left = row.filter(Boolean).length;
  if (!left) return "hero_refused";
  if (left === row.length) return "hero_nothing";
  if (left === 1 && row[asker]) return "hero_itself";
  return lost < LITTLE ? "hero_little" : "hero_shared";
}

/** The cell that an event happened to; the name of a row is its column −1. @param {Event} event @returns {[number, number] | null} */
function placeOf({ target }) {
  const cell = /** @type {HTMLElement} */ (target).dataset.cell;
  return cell === undefined ? null : /** @type {[number, number]} */ (cell.split(" ").map(Number));
}

/** Digits and colours of a row, on their way. @param {HTMLElement} line @param {ArrayLike<number>} now @param {boolean[]} allowed @param {number} side */
function paintCells(line, now, allowed, side) {
  const isEmpty = !allowed.includes(true);
  [...line.children].slice(1).forEach((node, place) => {
    const cell = /** @type {HTMLElement} */ (node), weight = now[place], text = isEmpty ? "nan" : allowed[place] ? write(weight, side) : "";
    const shown = side < LEAST_FOR_DIGITS ? "" : text, share = `${(100 * weight).toFixed(1)}%`;
    setText(cell, shown);
    if (cell.style.getPropertyValue("--share") !== share) cell.style.setProperty("--share", share);
    cell.classList.toggle("deep", weight > 0.5);
    cell.classList.toggle("low", weight < 0.05);
  });
}

/** @param {number} weight @param {number} side */
const write = (weight, side) => (weight < 0.005 ? "<\u20091" : side < LEAST_FOR_PERCENT ? `${Math.round(100 * weight)}` : percent(weight));
