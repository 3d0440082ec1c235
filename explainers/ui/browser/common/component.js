// What Streamlit hands to a component each time that it is drawn.

/**
 * @template Data
 * @typedef {object} Component
 * @property {Sent<Data> | null | undefined} data
 * @property {HTMLElement | ShadowRoot} parentElement
 * @property {Tell} setTriggerValue
 */
/** @typedef {(name: string, value: unknown) => void} Tell  a message to the server */
/**
 * @template Data
 * @typedef {Uint8Array & {of?: Data}} Sent  JSON in bytes, see the Python side
 */

/** Milliseconds that the server's answer to a choice is waited for; what was refused is not, any longer. */
export const ANSWER_WITHIN = 5000;

/** @import { Host, Mount } from "./host.js" */

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
