// Who shows a picture: the app's server, a page without one, a file in somebody's frame.
//
// A host knows `mount(root, data, host)` of a picture, which draws it or changes what is drawn there:
// picture/picture.js, figure/figure.js and tiles/tiles.js have one. A picture knows of its host what stands
// below. Its words come with the data (`data.words`), its colours are variables of an element around it (`--st-…`).

/** @typedef {import("./component.js").Tell} Tell */
/**
 * @typedef {object} Host
 * @property {Tell} tell what a reader has done: "choices" of a first picture, "cell" of a figure. Other numbers
 *   come by `mount`, or none do
 * @property {() => string} address where the picture is, for those who get a copy of it
 * @property {() => Promise<Offer>} [embed] the picture for another page; without it, none is offered
 */
/**
 * @typedef {object} Offer
 * @property {string} name of the file
 * @property {Blob | string} file itself, or where it is
 * @property {string} line of HTML that shows it
 */
/**
 * @template Data
 * @typedef {(root: HTMLElement, data: Data, host: Host) => Promise<unknown>} Mount
 */

/** @type {WeakMap<Element, Host>} */
const hosts = new WeakMap();

/** From now on this is the host of what is drawn there. @param {Element} root @param {Host} host */
export function settle(root, host) {
  hosts.set(root, host);
}

/** @param {Element} root of a picture @returns {Partial<Host>} */
export function hostOf(root) {
  return hosts.get(root) ?? {};
}
