// Sentences made of a picture's numbers: as long as a class reads, and weights as readers see them.

/** Keep the first whole sentences, as many as have together no more than so many words. @param {HTMLElement} node @param {number} most */
export function cutSentences(node, most) {
  const text = node.textContent ?? "", language = document.documentElement.lang || "en";
  let end = 0;
  for (const { segment, index } of new Intl.Segmenter(language, { granularity: "sentence" }).segment(text)) {
    const here = index + segment.length;
    if (here < text.length && !/\s$/.test(segment)) continue; // the point of a name, as in L13.H8
    if (end && text.slice(0, here).trim().split(/[ \n]+/).length > most) break;
    end = here;
  }
  for (const child of [...node.childNodes]) {
    const long = child.textContent?.length ?? 0;
    if (end <= 0) child.remove();
    else if (end < long) child.textContent = child.textContent?.slice(0, end) ?? "";
    end -= long;
  }
}

/** A weight as readers see it: whole percent, the smallest told apart from nothing. @param {number} weight */
export function percent(weight) {
  if (weight === 0) return "0\u00a0%";
  return weight < 0.005 ? "<\u00a01\u00a0%" : `${Math.round(100 * weight)}\u00a0%`;
}

/** The weight of a word that may be seen: softmax leaves it some, though it is sent as 0. @param {number} weight */
export const seenPercent = (weight) => percent(weight === 0 ? Number.MIN_VALUE : weight);

/** A token as it is read, blanks and breaks as signs. @param {string} token */
export const readable = (token) => token.trim() || token.replaceAll(" ", "␣").replaceAll("\n", "↵");

/** Has it a letter or a digit, as marks have not? @param {string} token */
export const isWord = (token) => /[\p{L}\p{N}]/u.test(token);
