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

import { wear } from "./component.js";
import { speak } from "./words.js";

/** @type {WeakMap<Element, Host>} */
const hosts = new WeakMap();

/** From now on this is the host of what is drawn there. @param {Element} root @param {Host} host */
export function settle(root, host) {
  hosts.set(root, host);
}

/**
 * How a kind of picture is drawn: made for its root once, and then shown whatever is sent.
 * @template {{ words: import("./words.js").Translations }} Data
 * @param {Promise<CSSStyleSheet>} style @param {new (root: HTMLElement, data: Data) => { tell: Tell, show: (data: Data) => unknown }} Kind
 * @returns {Mount<Data>}
 */
export function mounting(style, Kind) {
  /** @type {WeakMap<Element, InstanceType<typeof Kind>>} */
  const drawn = new WeakMap();
  return async (root, data, host) => {
    wear(root.getRootNode(), await style);
    speak(data.words);
    settle(root, host);
    const one = drawn.get(root) ?? new Kind(root, data);
    drawn.set(root, one);
    one.tell = host.tell;
    await one.show(data);
  };
}

/** @param {Element} root of a picture @returns {Partial<Host>} */
export function hostOf(root) {
  return hosts.get(root) ?? {};
}
