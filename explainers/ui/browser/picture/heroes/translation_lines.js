// Two sentences as two lines of words, as two columns, or as the sides of a table; and the bundles of lines between
// them. All lines of a syllable together are always equally wide.

/** @import { Focus } from "./translation.js" */
/** @import { Mark, Now, Stage } from "../kit.js" */

import { sum } from "../kit.js";

/** @typedef {{ words: string[], syllables: string[] }} Texts */
/** @typedef {Required<Pick<Mark, "at" | "hold">> & { turn?: number }} Spot of a word */
/**
 * @typedef {Record<"words" | "syllables", Spot[]>} Spots
 * @typedef {{ carets: [x: number, y: number, width: number, height: number][] }} Carets before each syllable
 * @typedef {{ along: Record<keyof Spots, number[]>, shares: Record<keyof Spots, [x: number, y: number][]> }} Beside along their line, and of the shares beside the words
 * @typedef {{ full: number, feet: number[], from: number, to: number }} Bundles how wide all lines of a syllable are, and may be together at a word; where they leave and end
 * @typedef {Spots & Carets & Beside & Bundles} Lines
 */
/** @typedef {ReturnType<typeof placeSentences>} Places */
/** @typedef {{ words: HTMLElement[], syllables: HTMLElement[], lines: number[] }} Before what was shown of another sentence */

const LARGEST = 24, SMALLEST = 14, PHONE = 560, INSET = 8;
const LEAST_ROW = 17; // of the table: its digits can be read
const LEAST = 0.008; // a share below this has no line

/** @param {unknown[]} list @param {number} length */
const evenly = (list, length) => list.map((_one, at) => 6 + ((length - 12) * (at + 0.5)) / list.length);

/** Words with equal gaps, not wider apart than reads well. @param {number[]} widths @param {number} room @param {number} most */
function spread(widths, room, most) {
  const inner = room - 2 * INSET, gap = Math.min(most, (inner - sum(widths)) / Math.max(1, widths.length - 1));
  const first = INSET + (inner - sum(widths) - gap * (widths.length - 1)) / 2;
  return widths.map((width, at) => first + sum(widths.slice(0, at)) + gap * at + width / 2);
}

/** @param {Stage} stage @param {Texts} texts @param {boolean} isTable */
export function placeSentences(stage, texts, isTable) {
  const { room } = stage, lines = [texts.words, texts.syllables], [words, syllables] = lines.map(({ length }) => length);
  const needs = (/** @type {number} */ size) => Math.max(...lines.map((line) => sum(stage.widths(line, size)) + (line.length - 1) * size * 0.5));
  let size = LARGEST;
  while (size > SMALLEST && needs(size) > room - 2 * INSET) size--;
  const isDown = room < PHONE || needs(size) > room - 2 * INSET, most = Math.max(words, syllables);
  const height = isDown
    ? Math.max(12 + Math.max(24, Math.min(29, 400 / most)) * most, 80 + 20 * syllables) + (isTable && room >= PHONE ? 28 : 0)
    : isTable ? Math.max(300, 30 + LEAST_ROW * syllables) : 264;
  stage.resize(room, height);
  const places = isDown ? placeColumns(stage, texts) : placeLines(stage, texts, size), table = placeTable(stage, texts, isDown);
  return { ...places, ...(isTable ? placeBeside(table, texts, isDown) : {}), isDown, table };
}

/** @param {Stage} stage @param {Texts} texts @param {number} size @returns {Lines} */
function placeLines(stage, texts, size) {
  const widths = stage.widths(texts.words, size), words = spread(widths, stage.room, size * 3.2), depth = { words: 40, syllables: 228 };
  const syllables = spread(stage.widths(texts.syllables, size), stage.room, size * 2);
  return {
    full: 16, along: { words, syllables }, feet: widths.map((width) => Math.max(width, 30) + 6),
    // Below: room for the marks above Vietnamese letters.
    to: depth.words + size * 0.5 + 8, from: depth.syllables - size * 0.5 - 11,
    words: words.map((x) => ({ at: [x, depth.words, size], hold: "middle" })), syllables: syllables.map((x) => ({ at: [x, depth.syllables, size], hold: "middle" })),
    shares: { words: words.map((x) => [x, 11]), syllables: syllables.map((x) => [x, 254]) },
    carets: syllables.map((x) => [x - 5, depth.syllables - size * 0.52, 10, size * 1.04]),
  };
}

/** @param {Stage} stage @param {Texts} texts @returns {Lines} */
function placeColumns(stage, texts) {
  const { room, height } = stage, size = room < PHONE ? 17 : 18, words = evenly(texts.words, height), syllables = evenly(texts.syllables, height);
  const wide = [texts.words, texts.syllables].map((line) => Math.max(...stage.widths(line, size)));
  const total = Math.min(room, wide[0] + wide[1] + 330), left = (room - total) / 2, share = stage.width("100\u00a0%", 15, 700) + 8;
  const depth = { words: left + share + wide[0], syllables: left + total - share - wide[1] };
  return {
    full: 12, along: { words, syllables }, feet: words.map(() => ((height - 12) / words.length) * 0.7 + 6),
    to: depth.words + 8, from: depth.syllables - 8,
    words: words.map((y) => ({ at: [depth.words, y, size], hold: "right" })), syllables: syllables.map((y) => ({ at: [depth.syllables, y, size], hold: "left" })),
    shares: { words: words.map((y) => [left + share - 8, y]), syllables: syllables.map((y) => [left + total, y]) },
    carets: syllables.map((y) => [depth.syllables, y - size / 2, 9, size]),
  };
}

/** Where rows and columns are: each begins, and is so wide. @param {Stage} stage @param {Texts} texts @param {boolean} isDown */
function placeTable(stage, { words, syllables }, isDown) {
  const { room, height } = stage, beside = isDown ? 14 : 15, head = isDown ? 78 : 28, side = (height - head - 2) / syllables.length;
  const gutter = Math.max(...stage.widths(syllables, beside)) + 14; // room for the syllables at the left
  const widths = isDown ? words.map(() => 1) : stage.widths(words, 17).map((width) => width + 30), scale = (room - gutter) / sum(widths);
  const columns = widths.map((width, at) => [gutter + sum(widths.slice(0, at)) * scale, width * scale]);
  const unit = stage.widths(words, 1), fits = Math.min(17, ...columns.map(([, width], column) => (width - 5) / unit[column]));
  return { gutter, head, columns, side, above: isDown ? 13 : Math.max(10.5, fits), beside: Math.min(beside, side - 3) };
}

/** Words above the table, and syllables beside it. @param {ReturnType<typeof placeTable>} table @param {Texts} texts @param {boolean} isDown @returns {Spots & Carets} */
function placeBeside({ gutter, head, columns, side, above, beside }, { syllables }, isDown) {
  return {
    words: columns.map(([left, width]) => ({ at: [left + width / 2, isDown ? head - 6 : 13, above], hold: isDown ? "left" : "middle", turn: isDown ? -90 : 0 })),
    syllables: syllables.map((_text, at) => ({ at: [gutter - 10, head + (at + 0.5) * side, beside], hold: "right" })),
    carets: syllables.map((_text, at) => [gutter - 22, head + (at + 0.12) * side, 9, side * 0.76]),
  };
}

// The lines.

/**
 * The lines of all syllables, side by side where they leave a syllable, and where they reach a word: from where
 * along the syllables, to where along the words, how wide.
 * @param {number[][]} rows the weights of each syllable @param {Places} places @param {number} written
 */
export function bundle(rows, { along: { words, syllables }, feet, full }, written) {
  const totals = words.map((_word, seen) => rows.reduce((sum, row) => sum + row[seen], 0) * full), used = totals.map((total) => -total / 2);
  return rows.flatMap((row, asker) => {
    let left = -full / 2;
    return row.map((weight, seen) => {
      const wide = weight * full, squeeze = Math.min(1, feet[seen] / Math.max(totals[seen], 1));
      const line = [syllables[asker] + left + wide / 2, words[seen] + (used[seen] + wide / 2) * squeeze, asker < written ? wide : 0];
      left += wide;
      used[seen] += wide;
      return line;
    });
  });
}

/**
 * All lines, those that are asked for once more over them, and along which of them a correct word lies.
 * @param {number[][]} lines @param {Places} places @param {Focus} focus @param {[number, number][]} gold @returns {Mark[]}
 */
export function markLines(lines, places, { isColumn, place }, gold) {
  const { isDown, from, to, along } = places, count = along.words.length, length = isColumn ? along.syllables.length : count;
  const own = Array.from({ length: Math.max(count, along.syllables.length) }, (_line, at) => {
    const other = Math.min(at, length - 1), [start, end, wide] = lines[isColumn ? other * count + place : place * count + other];
    return [start, end, at < length ? wide : 0];
  });
  const correct = gold.map(([asker, seen]) => asker * count + seen), ringed = gold.filter((pair) => pair[isColumn ? 1 : 0] === place).map((pair) => pair[isColumn ? 0 : 1]);
  const paths = (/** @type {unknown[]} */ of) => of.map(() => ({ tag: "svg:path" }));
  return [
    {
      key: "glow", tag: "svg:linearGradient",
      attributes: { id: "glow-lines", gradientUnits: "userSpaceOnUse", ...(isDown ? { x1: from, y1: 0, x2: to, y2: 0 } : { x1: 0, y1: from, x2: 0, y2: to }) },
      parts: [[0.02, "--query"], [0.55, "--head0"]].map(([offset, of]) => ({ tag: "svg:stop", attributes: { offset }, style: { "stop-color": `var(${of})` } })),
    },
    { key: "faint", tag: "svg:g", class: "translation-faint", numbers: lines.flat(), draw: (group, now) => drawLines(group, now, places, correct), parts: paths(lines) },
    { key: "dots", tag: "svg:g", class: "translation-dots", parts: paths(correct) },
    {
      key: "strong", tag: "svg:g", class: "translation-strong", style: { "--glow": "url(#glow-lines)" },
      numbers: own.flat(), draw: (group, now) => drawLines(group, now, places, ringed, 2), parts: paths(own),
    },
    { key: "rings", tag: "svg:g", class: "translation-rings", parts: ringed.flatMap(() => ["outer", "inner"].map((name) => ({ tag: "svg:path", class: name }))) },
  ];
}

/**
 * Lines, and in the group over them those that are correct, each so many times.
 * @param {SVGElement} group @param {Now} now @param {Places} places @param {number[]} correct @param {number} [times]
 */
function drawLines({ children, nextElementSibling: over }, now, places, correct, times = 1) {
  const line = (/** @type {number} */ at) => now.subarray(3 * at, 3 * at + 3);
  [...children].forEach((path, at) => drawLine(/** @type {SVGElement} */ (path), line(at), places));
  [...over?.children ?? []].forEach((path, at) => drawLine(/** @type {SVGElement} */ (path), line(correct[Math.floor(at / times)]), places, true));
}

/** @param {SVGElement} path @param {Now} line @param {Places} places @param {boolean} [isBare] seen however narrow it is */
function drawLine(path, [along, reached, wide], { isDown, from, to, full }, isBare = false) {
  const isSeen = isBare || wide > full * LEAST;
  path.style.display = isSeen ? "" : "none";
  if (!isSeen) return;
  const [a, b, start, middle, end] = [along, reached, from, (from + to) / 2, to].map((number) => number.toFixed(1));
  const way = isDown ? `M${start} ${a}C${middle} ${a} ${middle} ${b} ${end} ${b}` : `M${a} ${start}C${a} ${middle} ${b} ${middle} ${b} ${end}`;
  if (path.getAttribute("d") !== way) path.setAttribute("d", way);
  if (!isBare) path.style.strokeWidth = Math.max(0.6, wide).toFixed(2);
}

// From one sentence to another: words that stay glide to their new places, and their lines with them.

/** What each word was before; each is taken once. @param {HTMLElement[]} before @param {HTMLElement[]} now */
export function findBefore(before, now) {
  const left = new Set(before), spell = (/** @type {HTMLElement} */ node) => node.textContent?.toLowerCase();
  return now.map((node) => {
    const found = [...left].find((one) => spell(one) === spell(node));
    if (found) left.delete(found);
    return found;
  });
}

/**
 * With which lines the way to these lines begins: of words that were there, where they were; of others, without a width.
 * @param {number[]} lines @param {Before} before @param {(HTMLElement | undefined)[]} words what each was @param {(HTMLElement | undefined)[]} syllables
 */
export function beginLines(lines, before, words, syllables) {
  return syllables.flatMap((syllable, asker) => words.flatMap((word, seen) => {
    const at = 3 * (asker * words.length + seen);
    if (!syllable || !word) return [lines[at], lines[at + 1], 0];
    const was = 3 * (before.syllables.indexOf(syllable) * before.words.length + before.words.indexOf(word));
    return before.lines.slice(was, was + 3);
  }));
}

/** Words to where they were, new ones out of sight; gives what brings them to their places. @param {HTMLElement[]} nodes @param {(HTMLElement | undefined)[]} were */
export function putBack(nodes, were) {
  const ends = nodes.map(({ style: { transform, fontSize, opacity } }) => ({ transform, fontSize, opacity }));
  nodes.forEach(({ style }, at) => {
    const was = were[at]?.style;
    Object.assign(style, was ? { transform: was.transform, fontSize: was.fontSize } : { opacity: "0" });
  });
  return () => nodes.forEach((node, at) => Object.assign(node.style, ends[at]));
}
