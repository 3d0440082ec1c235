// New elements. Text from readers is only ever written with textContent.

/**
 * An element of the page, with its class and its text.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag @param {string} [name] @param {string} [text] @returns {HTMLElementTagNameMap[Tag]}
 */
export function element(tag, name, text) {
  const made = document.createElement(tag);
  if (name) made.className = name;
  if (text !== undefined) made.textContent = text;
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
