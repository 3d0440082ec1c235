// A picture and who shows it: the app's server, by way of Streamlit; a page without one; a file in somebody's frame.
//
// A host knows `mount(root, data, host)` of a picture, which draws it or changes what is drawn there:
// picture/picture.js, figure/figure.js and tiles/tiles.js have one. A picture knows of its host what stands
// below. Its words come with the data (`data.words`), its colours are variables of an element around it (`--st-…`).

import { speak } from "./words.js";

/**
 * @template Data
 * @typedef {object} Component what Streamlit hands over each time that it is drawn
 * @property {Sent<Data> | null | undefined} data
 * @property {HTMLElement | ShadowRoot} parentElement
 * @property {Tell} setTriggerValue
 */
/** @typedef {(name: string, value: unknown) => void} Tell  a message to the server */
/**
 * @template Data
 * @typedef {Uint8Array & {of?: Data}} Sent  JSON in bytes, see the Python side
 */

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

/** Milliseconds that the server's answer to a choice is waited for; what was refused is not, any longer. */
export const ANSWER_WITHIN = 5000;

const decoder = new TextDecoder();

/**
 * What Streamlit calls to have a picture drawn: the app's server is its host.
 * @template Data
 * @param {string} selector of the picture's root in its component @param {Mount<Data>} mount
 * @returns {(component: Component<Data>) => Promise<unknown>}
 */
export function served(selector, mount) {
  return async ({ parentElement, data: sent, setTriggerValue: tell }) => {
    const data = unpack(sent), root = /** @type {HTMLElement | null} */ (parentElement.querySelector(selector));
    /** @type {Host} */
    const host = { tell, address: () => `${location.host}${location.pathname}${readable(location.search)}` };
    if (root && data) await mount(root, data, host);
  };
}

/** An address with its letters; one that was written wrongly stays as it is. @param {string} address */
export function readable(address) {
  try {
    return decodeURI(address);
  } catch {
    return address;
  }
}

/**
 * What was sent, or nothing where a component has none yet.
 * @template Data
 * @param {Sent<Data> | null | undefined} sent @returns {Data | null}
 */
export function unpack(sent) {
  return sent ? JSON.parse(decoder.decode(sent)) : null;
}

/**
 * Fetch a stylesheet. It is worn before anything is drawn, because sizes cannot be measured before,
 * and by all pictures of a kind: a link in each would be fetched for each.
 * @param {URL} address
 */
export async function loadStyle(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${address}: ${answer.status}`);
  return new CSSStyleSheet().replace(await answer.text());
}

/**
 * The address of a path of this server. Only the browser knows what stands before it: the server's own
 * base, and what a proxy takes away; so this file's own address tells it.
 * @param {string} path
 */
export function locate(path, script = import.meta.url) {
  return new URL(script.split("/_stcore/")[0] + path);
}

/** Let the stylesheet hold for this part of the page. @param {Node} part @param {CSSStyleSheet} sheet */
export function wear(part, sheet) {
  const root = part instanceof ShadowRoot ? part : document;
  if (!root.adoptedStyleSheets.includes(sheet)) root.adoptedStyleSheets.push(sheet);
}

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
