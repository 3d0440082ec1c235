// @ts-check
// From one sentence to another: words that stay glide to their new places, and their lines with them.

/** @typedef {{ transform: string, fontSize: string }} Place */
/**
 * @typedef {object} Line of words, as it was
 * @property {string[]} texts
 * @property {Place[]} places
 */
/**
 * @typedef {object} Before what was shown
 * @property {Line} words
 * @property {Line} syllables
 * @property {number[][]} lines of each syllable and word
 */

/** @param {HTMLElement[]} nodes @returns {Line} */
export function rememberLine(nodes) {
  return {
    texts: nodes.map((node) => node.textContent ?? ""),
    places: nodes.map(({ style: { transform, fontSize } }) => ({ transform, fontSize })),
  };
}

/** Where each text was before, or −1; each place is taken once. @param {string[]} before @param {string[]} now */
export function findBefore(before, now) {
  const left = new Set(before.keys());
  return now.map((text) => {
    const place = [...left].find((one) => before[one].toLowerCase() === text.toLowerCase()) ?? -1;
    left.delete(place);
    return place;
  });
}

/**
 * The lines with which the way to these lines begins: of words that were there, where they were; of
 * others, without a width.
 * @param {number[][]} lines @param {Before} before @param {number[]} words where each was @param {number[]} syllables
 */
export function beginLines(lines, before, words, syllables) {
  const width = before.words.texts.length;
  return lines.map(([from, to], at) => {
    const syllable = syllables[Math.floor(at / words.length)], word = words[at % words.length];
    return syllable < 0 || word < 0 ? [from, to, 0] : before.lines[syllable * width + word];
  });
}

/**
 * Nodes to where they were, those that are new out of sight; gives what brings them to their places.
 * @param {HTMLElement[]} nodes @param {Line} before @param {number[]} places where each was
 */
export function putBack(nodes, before, places) {
  const ends = nodes.map(({ style: { transform, fontSize, opacity } }) => ({ transform, fontSize, opacity }));
  nodes.forEach((node, at) => Object.assign(node.style, before.places[places[at]] ?? { opacity: "0" }));
  return () => nodes.forEach((node, at) => Object.assign(node.style, ends[at]));
}
