// Both prompts, their shared blocks drawn once, and a square for each layer and token of prompt 2.

/** @import { Sentence } from "../hero.js" */
/** @import { Mark } from "../scene.js" */
/** @import { Stage } from "../stage.js" */

import { ALONG, take } from "../../common/keys.js";
import { sum } from "../../common/numbers.js";
import { _ } from "../../common/words.js";
import { markLegend, takePen, View } from "./serving_parts.js";

const CHIP = 27, LEGEND = 30, LAST_WAVE = 0.85; // the last column follows after this share of the time
const SAME = 0, AGAIN = 1, DIFFERS = 2; // a square: reused; as it was, but computed again; another row

export class PrefixView extends View {
  /** @type {{ of: string, before: number[][], after: number[][] }} of some texts: what each layer's squares were, and what they become */
  squares = { of: "", before: [], after: [] };

  get texts() {
    const { data, changed } = this.hero, [first, second] = data.tokens;
    return { first, second: second.map((token, place) => (place === changed ? data.others[place] : token)) };
  }

  /** Tokens that prompt 2 takes over: those of whole blocks, but never all of its own. */
  get reused() {
    const { data, change } = this.hero;
    return Math.min(change.blocks * data.block, data.tokens[1].length - 1);
  }

  /** @returns {Mark[]} */
  marks() {
    const { hero: { stage, data, change }, texts: { first, second } } = this, { room } = stage, { block } = data;
    const layers = change.moved.length, fork = Math.floor(this.reused / block) * block, beginning = data.others.length;
    const columns = second.map((token, place) => (place < beginning ? [token, first[place]] : [token]));
    const places = layOutPrompts(stage, columns, first, { block, fork, layers, beginning }), bottom = places.lines[places.lines.length - 1].end;
    stage.resize(room, bottom + 8 + (room < 560 ? 5 * 24 : room < 960 ? 2 * 24 : LEGEND));
    this.settle();
    return [
      { key: "fork", tag: "svg:path", class: "serving-fork", attributes: { d: places.fork } },
      ...this.markBlocks(places, fork),
      ...this.markNames(places, fork),
      ...this.markWords(places, fork),
      ...this.markSquares(places),
      markLegend("legend", [0, bottom + 8, room, LEGEND], [
        ["same", _("row of K reused")], ["again", _("the same row, but computed again")], ["differs", _("another row: computed")],
        ["note", _("Layer 1: the same token at the same position has the same row.")],
      ]),
    ];
  }

  /** A frame around each block of either prompt; those of shared blocks lie over each other. @param {Prompts} places @param {number} fork @returns {Mark[]} */
  markBlocks({ columns, first, lines }, fork) {
    const { block } = this.hero.data;
    return [
      { key: "blocks", class: "serving-blocks" },
      ...[first, columns].flatMap((own, prompt) => own.flatMap((start, from) => {
        const end = own[Math.min(from + block, own.length) - 1], isShared = from < fork, y = lines[start.line].lanes[isShared ? 1 : 2 * prompt];
        return from % block ? [] : [/** @type {Mark} */ ({
          key: `block ${prompt} ${from}`, in: "blocks", class: "moves serving-block", is: { shared: isShared },
          box: [start.x - 2, y - CHIP / 2, end.x + end.width - start.x + 4, CHIP], opacity: isShared && !prompt ? 0 : 1,
        })];
      })),
    ];
  }

  /** What each line of words and of squares is, at its left. @param {Prompts} places @param {number} fork */
  markNames({ lines, gutter }, fork) {
    const isShort = gutter < 40, layers = this.hero.change.moved.length, marks = /** @type {Mark[]} */ ([{ key: "names", class: "serving-names" }]);
    const add = (/** @type {string} */ text, /** @type {number} */ y, strong = true) =>
      marks.push({ key: `name ${marks.length}`, in: "names", class: "text serving-name", is: { strong }, text, at: [0, y, 13], hold: "left" });
    for (const { lanes, grid, end, isSplit, from } of lines) {
      if (isSplit) [_("prompt 1"), _("prompt 2")].forEach((name, prompt) => add(isShort ? String(prompt + 1) : name, lanes[2 * prompt]));
      if (isShort) continue;
      if (from < fork) add(_("both"), lanes[1]);
      add(_("layer {number}", { number: 1 }), grid + 7, false);
      add(String(layers), end - 7, false);
    }
    return marks;
  }

  /** @param {Prompts} places @param {number} fork @returns {Mark[]} */
  markWords({ columns, first, lines, size }, fork) {
    const { hero, texts } = this, { data: { tokens, others }, changed } = hero;
    /** @param {Column} column @param {number} lane @returns {[number, number, number]} */
    const place = ({ x, width, line }, lane) => [x + width / 2, lines[line].lanes[lane], size];
    return [
      {
        key: "words", class: "serving-words", attributes: { role: "group", "aria-label": _("Words of prompt 2: click one to change it") },
        made: (node) => node.addEventListener("keydown", walk),
      },
      ...texts.first.map((text, at) => ({
        key: `first ${at}`, in: "words", class: "text moves serving-token", text, at: place(first[at], at < fork ? 1 : 0), opacity: at < fork ? 0 : 1,
      })),
      ...texts.second.map((text, at) => ({
        key: `second ${at}`, in: "words", tag: "button", class: "text moves serving-token", is: { changed: at === changed }, text, at: place(columns[at], at < fork ? 1 : 2),
        attributes: {
          disabled: at < others.length ? false : "", tabindex: at === Math.max(0, changed) ? 0 : -1, "aria-pressed": String(at === changed),
          "aria-label": at < others.length ? _("{word}, change it to {other}", { word: tokens[1][at], other: others[at] }) : text,
        },
        click: () => hero.choose({ changed: at === hero.changed ? -1 : at }),
      })),
    ];
  }

  /** What all squares become. */
  settle() {
    const { hero: { change: { moved }, data: { tokens }, texts: of }, reused, squares } = this, was = squares.of === of ? squares.after : [];
    const after = moved.map((row) => tokens[1].map((_token, at) => (at >= tokens[0].length || row[at] === "1" ? DIFFERS : at < reused ? SAME : AGAIN)));
    if (JSON.stringify(after) !== JSON.stringify(was)) this.squares = { of, before: was.length === after.length ? was : after, after };
  }

  /** A canvas for each line: a wave runs over them to the right. @param {Prompts} places @returns {Mark[]} */
  markSquares({ columns, lines }) {
    const { hero, squares: { before, after } } = this, start = Math.max(0, hero.changed), way = LAST_WAVE / Math.max(1, columns.length - start);
    return [
      { key: "grids", class: "serving-grids" },
      ...lines.map(({ from, to, grid, unit, end }, nth) => {
        const left = columns[from].x, width = columns[to - 1].x + columns[to - 1].width - left;
        const paint = (/** @type {HTMLCanvasElement} */ canvas) => {
          const pen = takePen(canvas, width, end - grid), style = getComputedStyle(canvas), { run } = hero;
          const colours = ["--key", "--key", "--wrong"].map((name) => style.getPropertyValue(name)); // of SAME, AGAIN, DIFFERS
          columns.slice(from, to).forEach((column, at) => (run > way * Math.max(0, from + at - start) ? after : before).forEach((row, layer) => {
            pen.globalAlpha = row[from + at] === AGAIN ? 0.32 : 1;
            pen.fillStyle = colours[row[from + at]];
            pen.fillRect(column.x - left, layer * unit, column.width - 1, unit - (unit >= 4 ? 1 : 0.5));
          }));
        };
        return /** @type {Mark} */ ({ key: `grid ${nth}`, in: "grids", tag: "canvas", box: [left, grid, width, end - grid], numbers: [], draw: paint });
      }),
    ];
  }

  /** @returns {Sentence} */
  sentence() {
    const { data, changed, change } = this.hero, { second } = this.texts, beginning = data.others.length;
    const count = (/** @type {string} */ row) => String([...row.slice(0, beginning)].filter((one) => one === "1").length);
    const values = {
      shared: String(change.shared), tokens: String(second.length), block: String(data.block), blocks: String(change.blocks), reused: String(this.reused), computed: String(second.length - this.reused),
      gap: change.gap, next: change.next, beginning: String(beginning), first: count(change.moved[0]), later: count(change.moved[change.moved.length - 1]),
      old: data.tokens[1][changed] ?? "", new: data.others[changed] ?? "",
    };
    const classes = { shared: "key", reused: "key", blocks: "key", later: "wrong", new: "wrong" };
    if (changed < 0) return { name: change.kind === "real" ? "hero_shared_real" : change.isSame ? "hero_shared" : "hero_shared_other", values, classes };
    return { name: changed === 0 && values.new.startsWith("␣") ? "hero_blank" : "hero_changed", values, classes };
  }

  describe() {
    const { change } = this.hero, { first, second } = this.texts;
    const differing = second.map((token, at) => `${token} ${change.moved.filter((row) => row[at] === "1").length}`);
    const told = _("Layers in which the row of K differs: {counts}", { counts: differing.join(", ") });
    return `1: ${first.join(" ")}. 2: ${second.join(" ")}. ${told}`;
  }
}

/** From word to word. @param {KeyboardEvent} event */
function walk(event) {
  const group = /** @type {HTMLElement} */ (event.currentTarget), words = [.../** @type {NodeListOf<HTMLElement>} */ (group.querySelectorAll("button:enabled"))];
  const at = words.findIndex((word) => word === event.target), by = at < 0 ? undefined : take(event, ALONG);
  if (!by) return;
  const next = words[Math.max(0, Math.min(words.length - 1, at + by))];
  words[at].tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

// Where the tokens of two prompts lie: in columns as wide as their words, on as many lines as they need.

/** @typedef {{ x: number, width: number, line: number }} Column */
/** @typedef {ReturnType<typeof layOutPrompts>} Prompts */

const LANE = 33, SIZES = [16, 15, 14.5, 14, 13.5, 13], FORK = 28, PAD = 2.5, GAP = 8, NEXT_LINE = 14;

/**
 * @param {Stage} stage @param {string[][]} columns all words that a token may be @param {string[]} first prompt 1
 * @param {{ block: number, fork: number, layers: number, beginning: number }} form where prompt 2 leaves prompt 1, and how long both are alike if nothing is changed
 */
function layOutPrompts(stage, columns, first, { block, fork, layers, beginning }) {
  const isPhone = stage.room < 560, gutter = isPhone ? 16 : 64, room = stage.room - gutter;
  const measure = (/** @type {number} */ size) => columns.map((words) => Math.max(...stage.widths(words, size)) + 2 * PAD);
  const size = SIZES.find((one) => sum(measure(one)) + GAP * Math.ceil(columns.length / block) + FORK <= room) ?? (isPhone ? 13 : 15);
  const widths = measure(size), own = stage.widths(first, size).map((width) => width + 2 * PAD);
  /** @type {Column[]} */
  const placed = [];
  let x = gutter, x1 = gutter, line = 0; // prompt 1 goes on where the beginning ends, in columns of its own
  for (let from = 0; from < widths.length; from += block) {
    const inside = widths.slice(from, from + block), wide1 = sum(inside.map((width, at) => from + at < beginning ? width : own[from + at] ?? 0));
    const before = from === fork && fork > 0 ? FORK - GAP : 0;
    if (x > gutter && Math.max(x + sum(inside), x1 + wide1) + before > stage.room) { x = x1 = gutter; line++; }
    x += before;
    x1 += before + wide1 + GAP;
    for (const width of inside) { placed.push({ x, width, line }); x += width; }
    x += GAP;
  }
  const unit = [7, 2.8][line] ?? 1.3; // height of a square
  let top = 0;
  const lines = Array.from({ length: line + 1 }, (_line, nth) => {
    const from = placed.findIndex((one) => one.line === nth), to = placed.findLastIndex((one) => one.line === nth) + 1;
    const isSplit = to > fork, places = !isSplit ? [0, 0, 0] : from < fork ? [0, 1, 2] : [0, 0.5, 1];
    const lanes = places.map((place) => top + (place + 0.5) * LANE); // middles of prompt 1, of both, and of prompt 2
    const grid = lanes[2] + LANE / 2 + 6, end = grid + layers * unit;
    top = end + NEXT_LINE;
    return { from, to, lanes, isSplit, grid, unit, end };
  });
  return { columns: placed, first: placeFirst(placed, own, { block, beginning }), lines, size, gutter, fork: drawFork(placed, lines, fork) };
}

/**
 * Prompt 1 goes on in columns of its own where the beginning ends: its words are others.
 * @param {Column[]} columns of prompt 2 @param {number[]} widths @param {{ block: number, beginning: number }} form
 * @returns {Column[]}
 */
function placeFirst(columns, widths, { block, beginning }) {
  /** @type {Column[]} */
  const placed = [];
  widths.forEach((width, at) => {
    const above = columns[at], before = placed[at - 1];
    const isNewLine = !before || (above ? above.line !== before.line : false);
    if (at < beginning || isNewLine) placed.push(above ? { ...above, width: at < beginning ? above.width : width } : { x: 0, width, line: 0 });
    else placed.push({ x: before.x + before.width + (at % block ? 0 : GAP), width, line: before.line });
  });
  return placed;
}

/** Two curves from what is shared to what is not. @param {Column[]} columns @param {{ lanes: number[] }[]} lines @param {number} fork */
function drawFork(columns, lines, fork) {
  const own = columns[fork];
  if (!fork || !own) return "";
  const { lanes } = lines[own.line], left = own.x - FORK + 6, right = own.x - 4, middle = (left + right) / 2, y = lanes[1];
  return [lanes[0], lanes[2]].map((end) => `M${left} ${y}C${middle} ${y} ${middle} ${end} ${right} ${end}`).join("");
}
