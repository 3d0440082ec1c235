// A text of the page whose numbers the browser fills in: a whole translated template, never glued together.

import { element } from "./elements.js";
import { localNumbers } from "./words.js";

/**
 * A template of the page's text as nodes: {{slots}} filled, **bold** and *word* told apart.
 * @param {string} template @param {Record<string, string>} values
 * @param {Record<string, string>} [classes] of slots that have a colour in the picture @returns {Node[]}
 */
export function makeSentenceNodes(template, values, classes = {}) {
  return template.split(/(\*\*.+?\*\*|\*.+?\*)/).filter(Boolean).map((part) => {
    const mark = part.match(/^\*+/)?.[0].length ?? 0;
    const inner = mark ? part.slice(mark, -mark) : part;
    const text = inner.replace(/\*/g, "").replace(/\{\{(\w+)\}\}/g, (_, slot) => localNumbers(values[slot] ?? ""));
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
