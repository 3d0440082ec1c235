// @ts-check
// The address of the page, which has every choice. Pictures write theirs and ask for no run. Whatever asks
// for one takes the address along: Streamlit's own script would send the query that the server said last.
// A choice replaces the address, another page is a new entry of the history: so Back leads from page to page.

/** @typedef {string | number | boolean} Choice */
/**
 * @typedef {object} Way how an address has a choice
 * @property {string[]} usual what is left out
 * @property {string[]} [said] in the address with which the server was asked last
 * @property {"grouped" | "apart"} [form] thousands apart, or a name for each letter
 */
/**
 * @typedef {object} Unheard a choice with which the server has not drawn its picture
 * @property {Choice} value
 * @property {string[]} texts
 * @property {boolean} [isSent] a message has it
 */
/**
 * @typedef {object} Address
 * @property {Map<string, Unheard>} unheard
 * @property {string} here as it was written last
 * @property {string} left that of the page before, as a message has it, with what nobody has heard of
 * @property {string} before as it was when the last message was sent, if the server has changed it since
 * @property {string} only the one page that may be written, while one goes back to it
 * @property {boolean} isKept
 * @property {WebSocket} [socket] that sent the last message
 * @property {number} asked when it was sent, if the server has said nothing since; else 0
 */

// A message that asks for a run, and in it what is known of the browser, and in that the address: these are
// numbers of fields. What is appended to a message counts, and not what it had in the same field before.
const RERUN = 0x5a, CONTEXT = 0x42, URL_FIELD = 0x22, WHOLE = "whole"; // what stands behind its #, and then the names of `unheard`
const encoder = new TextEncoder();
export const FORGOTTEN = "attention-forgotten"; // of the window: what nobody has heard of is not chosen any more
export const CONNECTED = "attention-connected"; // of the window: there is a server to ask; its detail: is it after another connection?
const SILENCE = 60_000; // milliseconds after which no answer comes any more
const DIGITS = 6; // of a number that is not whole, as Python's `g` writes it
// One for the tab: each component has its own copy of this file.
const holder = /** @type {{ attentionAddress?: Address }} */ (globalThis);
const address = (holder.attentionAddress ??= { unheard: new Map(), here: bare(location.href), left: "", before: "", only: "", isKept: false, asked: 0 });

/** In the app, from here on; Streamlit itself would add an entry for each choice. A file has a host that writes its link. */
export function keepAddress(fresh = address) {
  if (fresh.isKept) return;
  fresh.isKept = true;
  const { pushState, replaceState } = History.prototype;
  history.pushState = (state, unused, url) => {
    const link = new URL(url || location.href, location.href);
    if (link.pathname === location.pathname) {
      fresh.before ||= location.href;
      return history.replaceState(state, unused, link);
    }
    if (fresh.only && link.pathname !== fresh.only) return;
    // The address of the page that comes is written before its path: Back would find it at the page that is left.
    if (fresh.before) replaceState.call(history, history.state, "", fresh.before);
    fresh.before = "";
    fresh.unheard.clear(); // they are of the page before
    pushState.call(history, state, unused, link);
    fresh.here = bare(link.href);
  };
  history.replaceState = (state, unused, url) => {
    const link = new URL(url || location.href, location.href);
    if (link.pathname === location.pathname) fill(link, fresh.unheard); // what the server says is older
    try {
      replaceState.call(history, state, unused, link);
    } catch { // Safari refuses what comes too often; the next one has all, and no message waits for it
      return;
    }
    fresh.here = bare(link.href);
  };
  addEventListener("pagehide", () => write(fresh));
  addEventListener("popstate", () => arrive(fresh), { capture: true });
  // Only here is the address that of the moment in which a run is asked for. A component's value would itself
  // ask for one, and the message by which a host may set Streamlit's query is heard later, from a few origins.
  const { send } = WebSocket.prototype;
  WebSocket.prototype.send = function (/** @type {Parameters<typeof send>[0]} */ data) {
    if (!(data instanceof Uint8Array && data[0] === RERUN)) return send.call(this, data);
    send.call(this, addAddress(data, fresh));
    listen(this, fresh);
  };
}

/** To what the server answers. @param {WebSocket} socket that has just asked @param {Address} fresh */
function listen(socket, fresh) {
  fresh.asked = performance.now();
  if (fresh.socket === socket) return;
  const detail = Boolean(fresh.socket);
  fresh.socket = socket;
  socket.addEventListener("message", () => { fresh.asked = 0; });
  dispatchEvent(new CustomEvent(CONNECTED, { detail }));
}

/** Was the server asked for a run, and has not begun with it? */
export function isAsked({ asked } = address) {
  return asked > 0 && performance.now() - asked < SILENCE;
}

/** Without the place on the page. @param {string} link */
function bare(link) {
  return link.split("#")[0];
}

/** The browser's Back or Forward: the address that comes counts. @param {Address} fresh */
function arrive(fresh) {
  if (bare(location.href) === fresh.here) return;
  const was = new URL(fresh.here), isLate = fresh.unheard.size > 0;
  if (isLate && was.pathname !== location.pathname) fresh.left = whole(was, fresh.unheard);
  fresh.unheard.clear();
  fresh.here = bare(location.href);
  if (isLate) dispatchEvent(new Event(FORGOTTEN)); // the server may have nothing new to say to a picture
}

/** @param {Uint8Array} message @param {Address} fresh */
function addAddress(message, fresh) {
  arrive(fresh); // Streamlit's script may have heard of it first
  write(fresh);
  const url = fresh.left || whole(new URL(location.href), fresh.unheard);
  for (const one of fresh.unheard.values()) one.isSent = true;
  fresh.left = fresh.before = "";
  return new Uint8Array([...message, ...field(RERUN, field(CONTEXT, field(URL_FIELD, encoder.encode(url))))]);
}

/** An address with what nobody has heard of, and with the names of that. @param {URL} link @param {Map<string, Unheard>} unheard */
function whole(link, unheard) {
  fill(link, unheard);
  link.hash = [WHOLE, ...unheard.keys()].join("&");
  return link.href;
}

/** A field of a message: its number, how long it is, what it has. @param {number} number @param {Iterable<number>} content */
function field(number, content) {
  const bytes = [...content], size = [];
  for (let left = bytes.length; left || !size.length; left >>= 7) size.push((left & 127) | (left > 127 ? 128 : 0));
  return [number, ...size, ...bytes];
}

/** The address with what nobody has heard of. @param {string} here @param {Map<string, Unheard>} unheard */
function filled(here, unheard) {
  const link = new URL(here);
  fill(link, unheard);
  return link;
}

/** @param {URL} link @param {Map<string, Unheard>} unheard */
function fill(link, unheard) {
  const said = link.searchParams;
  for (const [name, { texts }] of unheard) {
    if (same(said.getAll(name), texts)) continue;
    said.delete(name);
    for (const text of texts) said.append(name, text);
  }
}

/** @param {string[]} one @param {string[]} other */
export function same(one, other) {
  return one.length === other.length && one.every((text, at) => text === other[at]);
}

/** How an address has a value: nothing where it is the usual one. @param {Choice} value @param {Way} way */
export function spell(value, { usual, form }) {
  const isPart = typeof value === "number" && !Number.isInteger(value);
  const plain = String(isPart ? Number(value.toPrecision(DIGITS)) : typeof value === "boolean" ? Number(value) : value);
  const texts = form === "apart" ? [...(plain || [""])] : [form === "grouped" ? Number(value).toLocaleString("en-US") : plain];
  return same(texts, usual) ? [] : texts;
}

/** A choice that is to be in the address soon: a slider that is dragged has many. @param {string} name @param {Unheard} one */
export function note(name, one) {
  keepAddress();
  address.unheard.set(name, one);
}

/** All choices to the address. */
export function write({ unheard } = address) {
  replace(filled(location.href, unheard));
}

/** @param {URL} link */
function replace(link) {
  if (link.href !== location.href) history.replaceState(history.state, "", link);
}

/** The server has taken it up, and says what is chosen now. @param {string} name @param {string[]} texts */
export function heard(name, texts) {
  const now = { value: "", texts };
  address.unheard.delete(name);
  replace(filled(location.href, new Map([[name, now], ...address.unheard])));
}

/** What no picture was drawn with, by name. */
export function listUnheard() {
  return address.unheard;
}

/** Another entry of the history for the same page. @param {URL} link */
export function step(link) {
  History.prototype.pushState.call(history, history.state, "", link);
  address.here = bare(link.href);
}

/** Somewhere else, as Back and Forward go there: one run of the page, nothing is loaded again. @param {URL} link */
export function visit(link) {
  History.prototype.replaceState.call(history, history.state, "", link); // so that Back leaves the lecture
  dispatchEvent(new PopStateEvent("popstate", { state: history.state }));
}

/**
 * After Back to another page, runs that have not ended may still write their address, as a new entry;
 * then the next Back would return to it.
 * @param {string} pathname of the page that comes; "" when it has come, or another one is asked for
 */
export function keepPage(pathname) {
  address.only = pathname;
}
