// New elements, and texts of the page whose numbers the browser fills in: whole translated templates, never glued together.
// Text from readers is only ever written with textContent.

import { localNumbers } from "./words.js";

/**
 * An element of the page, with its class, its text, other attributes and what it listens to.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag @param {string} [name] @param {string} [text]
 * @param {Record<string, string | number | boolean | ((event: any) => void)>} [besides] @returns {HTMLElementTagNameMap[Tag]}
 */
export function element(tag, name, text, besides = {}) {
  const made = document.createElement(tag);
  if (name) made.className = name;
  if (text) made.textContent = text;
  for (const [key, value] of Object.entries(besides)) {
    if (typeof value === "function") Object.assign(made, { [key]: value });
    else made.setAttribute(key, String(value));
  }
  return made;
}

/** What draws on a canvas. @param {HTMLCanvasElement} canvas */
export const penOf = (canvas) => /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));

/** Another text, where it is another: it would be laid out anew. @param {Element} node @param {string} text */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

// The name of SVG's elements looks like an address; asked for here, it need not be written.
const SVG = new DOMParser().parseFromString("<svg></svg>", "text/html").body.firstElementChild?.namespaceURI ?? null;

/**
 * An element of a drawing, with its attributes and its text.
 * @param {string} tag @param {Record<string, string | number>} attributes @param {string} [text]
 */
export function shape(tag, attributes, text) {
  const made = /** @type {SVGElement} */ (document.createElementNS(SVG, tag));
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  if (text !== undefined) made.textContent = text;
  return made;
}

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
