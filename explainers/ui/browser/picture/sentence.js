// @ts-check
// A sentence made of a picture's numbers: a whole translated template, filled, never glued together.

import { element } from "../common/elements.js";

/**
 * A template of the page's text as nodes: {{slots}} filled, **bold** and *word* told apart.
 * @param {string} template
 * @param {Record<string, string>} values
 * @param {Record<string, string>} [classes] of slots that have a colour in the picture
 * @returns {Node[]}
 */
export function makeSentenceNodes(template, values, classes = {}) {
  return template.split(/(\*\*.+?\*\*|\*.+?\*)/).filter(Boolean).map((part) => {
    const mark = part.match(/^\*+/)?.[0].length ?? 0;
    const inner = mark ? part.slice(mark, -mark) : part;
    const text = inner.replace(/\*/g, "").replace(/\{\{(\w+)\}\}/g, (_, slot) => values[slot] ?? "");
    if (!mark) return document.createTextNode(text);
    const node = element(mark === 1 ? "em" : "strong", "", text);
    const slot = inner.match(/\{\{(\w+)\}\}/)?.[1];
    if (slot && classes[slot]) node.className = classes[slot];
    return node;
  });
}

/** The same as plain text. @param {string} template @param {Record<string, string>} values */
export function writeSentence(template, values) {
  return makeSentenceNodes(template, values).map((node) => node.textContent).join("");
}

/**
 * Keep the first whole sentences, as many as have together no more than so many words.
 * @param {HTMLElement} node
 * @param {number} most
 */
export function cutSentences(node, most) {
  const text = node.textContent ?? "", language = document.documentElement.lang || "en";
  let end = 0;
  for (const { segment, index } of new Intl.Segmenter(language, { granularity: "sentence" }).segment(text)) {
    const here = index + segment.length;
    if (end && text.slice(0, here).trim().split(/\s+/).length > most) break;
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
