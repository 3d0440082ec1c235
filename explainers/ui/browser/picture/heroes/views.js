// Queries, keys, values: three matrices make three strips of a word's numbers, and its query is
// compared with the keys of all words.

/** @import { HeroData, Mark, Sentence, Stage } from "../kit.js" */

import { _, ALONG, chooseArcOpacity, digits, largest, markPixels, markStrip, seenPercent, setText, sum, take, WordHero } from "../kit.js";

/** @typedef {number[][]} Matrix */
/** @typedef {Record<"x" | View | "scores" | "weights", Matrix> & { matrices: Record<View, Matrix> }} Head what one pair of choices computes; matrices by what they make */
/**
 * @typedef {object} Numbers
 * @property {string[]} tokens
 * @property {Record<string, Head>} heads by what the weights learned
 */
/** @typedef {"query" | "key" | "value"} View */

const VIEWS = /** @type {View[]} */ (["query", "key", "value"]);
const MATRICES = { query: "W_Q", key: "W_K", value: "W_V" };
const WIDEST = 32; // pixels that all lines are wide together

/** @extends {WordHero<HeroData & Numbers>} */
export class Views extends WordHero {
  /** @type {{ view: View, column: number } | null} */
  cell = null;

  // What is chosen.

  get head() { return this.data.heads[String(this.choices.weights)]; }

  /** Pointing at a number of a strip, or walking through them with the arrow keys. @param {HTMLElement} node @param {View} view */
  listen(node, view) {
    const count = () => this.head[view][0].length, pointed = () => (this.cell?.view === view ? this.cell.column : undefined);
    node.onpointermove = (event) => {
      const { left, width } = node.getBoundingClientRect();
      this.look(view, Math.max(0, Math.min(count() - 1, Math.floor((count() * (event.clientX - left)) / width))));
    };
    node.onpointerleave = node.onblur = () => this.look(view, null);
    node.onfocus = () => { if (node.matches(":focus-visible")) this.look(view, pointed() ?? 0); };
    node.onkeydown = (event) => {
      const by = take(event, ALONG);
      if (by) this.look(view, ((pointed() ?? -by) + by + count()) % count());
    };
  }

  /** @param {View} view @param {number | null} column */
  look(view, column) {
    const cell = column === null ? null : { view, column };
    if (cell?.view === this.cell?.view && cell?.column === this.cell?.column) return;
    this.cell = cell;
    this.place();
    this.paint(); // the numbers stay on their way
    this.speak();
  }

  // What is seen.

  /** @override @returns {Mark[]} */
  marks() {
    const { stage, data: { tokens }, head, asker } = this, count = head.x[0].length, own = head.query[0].length;
    const places = (stage.room < 560 ? standBelow : standBeside)(stage, tokens, Math.min(count, ENTRIES), Math.min(own, OWN));
    const { isUpright, isColumn, blocks, rows } = places, word = tokens[asker];
    stage.resize(stage.room, places.height);
    return [
      ...this.markLines(places),
      { key: "asker", class: "text views-asker", text: word, at: places.asker, hold: isColumn ? "left" : "middle" },
      {
        key: "name of x", class: "text quiet views-note", text: isUpright || isColumn ? "x" : _("x: {count} numbers", { count }),
        at: [...places.xName, 14], hold: isUpright ? "left" : "middle",
      },
      markStrip("x", { role: "input", name: _("x of {word}", { word }), numbers: head.x[asker], isColumn, box: places.x, limit: 0.8 * largest(head.x) }),
      ...VIEWS.flatMap((view, nth) => this.markBlock(view, blocks[nth])),
      { key: "title", class: "text views-name", style: { "--role": "var(--key)" }, text: _("keys of all words"), at: [...places.title, 15], hold: "left" },
      this.markWords((place) => ({
        name: _("{word}, {share}, score {score}", { word: tokens[place], share: seenPercent(head.weights[asker][place]), score: digits(head.scores[asker][place]) }),
        at: [...rows[place].word, places.size], hold: "left",
      })),
      ...rows.map(({ key }, place) => markStrip(`key of ${place}`, {
        role: "key", name: _("key of {word}", { word: tokens[place] }), numbers: head.key[place], box: key, limit: largest(head.key),
      }, { class: "views-key", is: { own: place === asker }, own: place, click: () => this.choose({ word: place }) })),
      ...rows.map(({ share }, place) => /** @type {Mark} */ ({
        key: `share ${place}`, class: "text share", at: [...share, head.weights[asker][place] < 0.05 ? 15 : places.shareSize], hold: "right", own: place,
        numbers: [head.weights[asker][place]],
        draw: (node, [weight]) => {
          setText(node, seenPercent(weight));
          node.classList.toggle("low", weight < 0.05);
        },
      })),
    ];
  }

  /** The arrows, and the lines from the query to all keys. @param {Places} places @returns {Mark[]} */
  markLines({ x, blocks, rows, isUpright }) {
    const weights = this.head.weights[this.asker], query = blocks[0].strip, full = Math.min(WIDEST, query[3]);
    const arrows = blocks.flatMap(({ matrix, strip }) => [writeArrowPath(x, matrix, isUpright), writeArrowPath(matrix, strip, isUpright)]);
    return [
      { key: "arrows", tag: "svg:g", class: "views-arrows", parts: arrows.map((d) => ({ tag: "svg:path", class: "views-arrow", attributes: { d } })) },
      { key: "own", tag: "svg:path", class: "views-own", attributes: { d: writeLinePath(blocks[1].strip, rows[this.asker].key, 0, isUpright) } },
      { key: "lines", tag: "svg:g", class: "views-lines" },
      ...weights.map((weight, place) => /** @type {Mark} */ ({
        key: `line ${place}`, in: "lines", tag: "svg:path", class: "views-line", own: place, numbers: [weight, sum(weights.slice(0, place))],
        draw: (node, [now, before]) => {
          const offset = full * (before + now / 2 - 0.5);
          // On a phone the lines turn to the right: those to the last words start at the left.
          node.setAttribute("d", writeLinePath(query, rows[place].key, isUpright ? -offset : offset, isUpright));
          Object.assign(node.style, { strokeWidth: Math.max(1.2, full * now).toFixed(2), opacity: chooseArcOpacity(now).toFixed(3) });
        },
      })),
    ];
  }

  /** A matrix and the strip that it makes. @param {View} view @param {Block} block @returns {Mark[]} */
  markBlock(view, { matrix, strip, matrixName, name, meaning }) {
    const { head, asker, cell } = this, word = this.data.tokens[asker], limit = largest(head[view]), numbers = head[view][asker], count = numbers.length;
    const [title, means, told] = {
      query: [_("query"), _("what it looks for"), _("query of {word}", { word })],
      key: [_("key"), _("what it is found by"), _("key of {word}", { word })],
      value: [_("value"), _("what it passes on"), _("value of {word}", { word })],
    }[view];
    const pointed = cell?.view === view ? cell.column : undefined, style = { "--role": `var(--${view})` }, rows = head.matrices[view];
    return [
      markPixels(`matrix ${view}`, {
        role: view, rows, box: matrix, limit: largest(rows), pointed,
        name: _("{name}: {rows} rows, {columns} columns", { name: MATRICES[view], rows: head.x[0].length, columns: count }), // of a large one, means of rows are drawn
      }),
      markStrip(view, { role: view, name: told, numbers, places: limit < 9.95 ? 1 : 0, box: strip, limit, pointed }, {
        attributes: {
          role: "slider", tabindex: 0, "aria-valuemin": 0, "aria-valuemax": count - 1, "aria-valuenow": pointed ?? 0, "aria-valuetext": digits(numbers[pointed ?? 0]),
        },
        made: (node) => this.listen(node, view),
      }),
      { key: `name of matrix ${view}`, class: "text views-name", style, text: MATRICES[view], at: [...matrixName, 15] },
      { key: `name of ${view}`, class: "text views-name", style, text: title, at: [...name, 16] },
      ...(meaning ? [/** @type {Mark} */ ({ key: `meaning of ${view}`, class: "text quiet views-note", text: means, at: [...meaning, 14] })] : []),
    ];
  }

  // Words.

  /** @override */
  divided() { return [this.head.weights[this.asker]]; }

  /** @override @returns {Sentence} */
  sentence() {
    const { data, head, asker, cell } = this, weights = head.weights[asker];
    const values = {
      ...this.tellMost(weights), word: data.tokens[asker], score: digits(head.scores[asker][this.rank(weights)[0].place]), count: String(head.x[0].length),
      matrix: cell ? MATRICES[cell.view] : "", column: String(cell?.column ?? ""), value: cell ? digits(head[cell.view][asker][cell.column]) : "",
    };
    const classes = { word: "query", first: "weight", first_share: "weight", second: "weight", second_share: "weight", matrix: cell?.view ?? "", value: cell?.view ?? "" };
    const name = cell ? "hero_cell" : this.hidesOwn ? "hero_hidden" : this.choices.weights === "untrained" ? "hero_untrained" : this.nameMost(weights);
    return { name, values, classes };
  }

  /** @override */
  describe() { return this.tellGiven(this.head.weights, seenPercent); }
}

// Where everything stands in the picture of queries, keys and values: beside each other, or on a phone
// below each other.

/** @typedef {[x: number, y: number]} Point */
/** @typedef {[x: number, y: number, width: number, height: number]} Box */
/** @typedef {{ matrix: Box, strip: Box, matrixName: Point, name: Point, meaning?: Point }} Block a matrix and the strip that it makes, with its meaning where there is room */
/** @typedef {{ key: Box, word: Point, share: Point }} Row what stands on the line of one word */
/** @typedef {Record<"height" | "size" | "shareSize", number> & Record<"isColumn" | "isUpright", boolean>} Form `size` of the words beside their keys; do the word's numbers, do all things stand below each other? */
/** @typedef {Form & { x: Box, asker: [x: number, y: number, size: number], xName: Point, blocks: Block[], title: Point, rows: Row[] }} Places */

const HEIGHT = 412, MOST_PITCH = 54, LEAST_PITCH = 30;
const ENTRIES = 8, OWN = 4; // so many numbers of a word, of its query, have room for their digits; more share it

/** @param {Stage} stage @param {string[]} tokens @param {number} entries @param {number} own @returns {Places} */
function standBeside(stage, tokens, entries, own) {
  const { room } = stage, isNarrow = room < 860, count = tokens.length, size = count > 11 || isNarrow ? 18 : 22;
  const word = Math.min(room * 0.2, Math.max(...stage.widths(tokens, size)));
  const height = Math.max(HEIGHT, 40 + LEAST_PITCH * count), middle = height / 2 + 8, step = Math.min(136, (height - 40) / 3);
  /** @type {Box} */
  const x = isNarrow ? [4, middle - 13 * entries, 52, 26 * entries] : [2, middle - 17, 28 * entries, 34], [left, top, width, high] = x, half = left + width / 2;
  const matrix = left + width + (isNarrow ? 46 : 54), wide = 20 * own, deep = 12 * entries, strip = matrix + wide + 26, cells = (isNarrow ? 32 : 36) * own;
  const keys = (isNarrow ? 29 : 32) * own, keyLeft = room - (isNarrow ? 46 : 56) - word - 12 - keys;
  const pitch = Math.min(MOST_PITCH, (height - 38) / count), first = 32 + (height - 38 - pitch * count) / 2;
  return {
    height, size, isColumn: isNarrow, isUpright: false, x, shareSize: isNarrow ? 16 : 19,
    asker: [isNarrow ? 2 : half, top - (isNarrow ? 26 : 30), Math.min(30, (30 * (isNarrow ? 84 : 240)) / Math.max(1, ...stage.widths(tokens, 30)))],
    xName: [half, top + (isNarrow ? high + 14 : 52)],
    blocks: [middle - step, middle, middle + step].map((centre) => ({
      matrix: [matrix, centre - deep / 2, wide, deep], matrixName: [matrix + wide / 2, centre - deep / 2 - 11],
      strip: [strip, centre - 17, cells, 34], name: [strip + cells / 2, centre - 31], meaning: [strip + cells / 2, centre + 30],
    })),
    title: [keyLeft, 14],
    rows: tokens.map((_token, place) => {
      const centre = first + pitch * (place + 0.5), tall = Math.min(28, pitch - 6);
      return { key: [keyLeft, centre - tall / 2, keys, tall], word: [keyLeft + keys + 12, centre], share: [room - 2, centre] };
    }),
  };
}

/** @param {Stage} stage @param {string[]} tokens @param {number} entries @param {number} own @returns {Places} */
function standBelow(stage, tokens, entries, own) {
  const { room } = stage, third = (room - 24) / 3, pitch = LEAST_PITCH, keyLeft = room * 0.22, keys = 26 * own, first = 262;
  const longest = Math.max(...stage.widths(tokens, 18)), free = room - keyLeft - keys - 8 - 50;
  return {
    height: first + pitch * tokens.length + 2, size: Math.min(18, Math.floor((18 * free) / longest)), shareSize: 16, isColumn: false, isUpright: true,
    x: [2, 36, room - 4, 28], asker: [room / 2, 16, 24], xName: [2, 16],
    blocks: [0, 1, 2].map((nth) => {
      const left = 2 + nth * (third + 10), centre = left + third / 2;
      return { matrix: [centre - 8 * own, 106, 16 * own, 7 * entries], strip: [left, 202, third, 28], matrixName: [centre, 96], name: [centre, 190] };
    }),
    title: [keyLeft, 248],
    rows: tokens.map((_token, place) => {
      const centre = first + pitch * (place + 0.5);
      return { key: [keyLeft, centre - 12, keys, 24], word: [keyLeft + keys + 8, centre], share: [room - 2, centre] };
    }),
  };
}

/**
 * The line from a query to a key, as wide as the weight; all of them together are as wide as the query.
 * @param {Box} query @param {Box} key @param {number} offset of its middle from the query's @param {boolean} isUpright
 */
function writeLinePath([x, y, width, height], key, offset, isUpright) {
  const right = key[0] - 3, end = key[1] + key[3] / 2;
  if (isUpright) {
    const start = x + width / 2 + offset;
    return `M${start} ${y + height + 2}C${start} ${end} ${start} ${end} ${right} ${end}`;
  }
  const left = x + width + 3, start = y + height / 2 + offset, bend = (right + 3 - left) * 0.55;
  return `M${left} ${start}C${left + bend} ${start} ${right - bend} ${end} ${right} ${end}`;
}

/** The arrow from one box to the next, and its head; on a phone a name stands above that. @param {Box} from @param {Box} to @param {boolean} isUpright */
function writeArrowPath([x, y, width, height], to, isUpright) {
  if (isUpright) {
    const middle = to[0] + to[2] / 2, end = to[1] - 22, at = Math.max(x + 6, Math.min(x + width - 6, middle));
    return `M${at} ${y + height + 3}L${middle} ${end}M${middle - 4} ${end - 5}L${middle} ${end}L${middle + 4} ${end - 5}`;
  }
  const left = x + width + 3, right = to[0] - 5, end = to[1] + to[3] / 2, start = Math.max(y + 6, Math.min(y + height - 6, end)), bend = (right - left) / 2;
  return `M${left} ${start}C${left + bend} ${start} ${right - bend} ${end} ${right} ${end}M${right - 6} ${end - 4}L${right} ${end}L${right - 6} ${end + 4}`;
}
