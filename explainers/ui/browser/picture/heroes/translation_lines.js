// Bundles of lines from syllables to words. All lines of a syllable together are always equally wide.

/** @import { Focus } from "./translation.js" */
/** @import { Places } from "./translation_places.js" */
/** @import { Mark, Now } from "../scene.js" */
/** @typedef {{ words: HTMLElement[], syllables: HTMLElement[], lines: number[] }} Before what was shown of another sentence */

const LEAST = 0.008; // a share below this has no line

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
  const paths = (/** @type {string} */ parent, /** @type {unknown[]} */ of) => of.map((_line, at) => ({ key: `${parent} ${at}`, in: parent, tag: "svg:path" }));
  return [
    {
      key: "glow", tag: "svg:linearGradient",
      attributes: { id: "glow-lines", gradientUnits: "userSpaceOnUse", ...(isDown ? { x1: from, y1: 0, x2: to, y2: 0 } : { x1: 0, y1: from, x2: 0, y2: to }) },
    },
    ...[[0.02, "--query"], [0.55, "--head0"]].map(([offset, of]) => (
      { key: `glow ${of}`, in: "glow", tag: "svg:stop", attributes: { offset }, style: { "stop-color": `var(${of})` } }
    )),
    { key: "faint", tag: "svg:g", class: "translation-faint", numbers: lines.flat(), draw: (group, now) => drawLines(group, now, places, correct) },
    ...paths("faint", lines),
    { key: "dots", tag: "svg:g", class: "translation-dots" },
    ...paths("dots", correct),
    {
      key: "strong", tag: "svg:g", class: "translation-strong", style: { "--glow": "url(#glow-lines)" },
      numbers: own.flat(), draw: (group, now) => drawLines(group, now, places, ringed, 2),
    },
    ...paths("strong", own),
    { key: "rings", tag: "svg:g", class: "translation-rings" },
    ...ringed.flatMap((_line, at) => ["outer", "inner"].map((name) => ({ key: `${name} ${at}`, in: "rings", tag: "svg:path", class: name }))),
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
