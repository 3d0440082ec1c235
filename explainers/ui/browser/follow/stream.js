// What a room's board tells, as it comes, and messages to it. A browser opens only some six connections
// to a host: of its tabs that want the same stream one listens, and tells the others. A telephone that
// slept, or changed its network, holds a dead connection and never hears of it: after some silence a
// stream is opened anew.

import { locate } from "../common/component.js";
import { _ } from "../common/words.js";

const KINDS = ["room", "ballot", "at", "count", "still", "lost", "away", "handed", "over", "refused"];
const KEPT = ["room", "ballot", "at", "count"]; // what a tab that comes later is told
const BALLOT = "attention ballot"; // what the browser calls it: who comes back shall not vote twice
const SILENCE = 40_000; // milliseconds; the server says something every 15 seconds
const DOUBTFUL = 20_000; // of silence, where the page was away meanwhile
const SHORTEST_WAIT = 1000, LONGEST_WAIT = 30_000;
const ANSWER = 300; // in which another tab says that it listens

/** @typedef {(kind: string, text: string) => void} Hear */
/** @typedef {{ kind: string, text?: string, claim?: number }} Told  between tabs: an event, or "mine", "who", "free" */

/** Why something is refused, or not heard. @param {string} reason */
export function explain(reason) {
  const away = _("The server cannot be reached. Trying again …");
  return /** @type {Record<string, string>} */ ({
    unknown: _("No lecture has this code now."),
    "no device": _("No device shows this code now."),
    full: _("The room is full."),
    unheard: _("The audience does not hear you at the moment. Trying again …"),
    "too fast": _("That was too fast. Trying again …"),
    "not yours": _("Another device leads this room."),
    "many rooms": _("The server has no room left. Try again later."),
    "many rooms here": _("Too many rooms were opened from your network. Try again later."),
    wrong: _("This link is too long for the audience. Take a shorter sentence."),
  })[reason] ?? away;
}

export class Stream {
  /** @param {Hear} hear */
  constructor(hear) {
    this.hear = hear;
    this.address = "";
    /** @type {EventSource | null} of this tab, if it is the one that listens */
    this.source = null;
    /** @type {BroadcastChannel | null} to the tabs that want the same */
    this.tabs = null;
    this.claim = 0; // of the tab that listens: the highest one does
    /** @type {Map<string, string>} */
    this.kept = new Map();
    this.heard = 0;
    this.wait = SHORTEST_WAIT;
    this.timer = 0;
    for (const name of ["pageshow", "online"]) addEventListener(name, () => this.wake());
    document.addEventListener("visibilitychange", () => document.hidden || this.wake());
    addEventListener("pagehide", () => this.release());
  }

  /** @param {string} address a path of this server */
  open(address) {
    this.close();
    this.address = address;
    this.tabs = new BroadcastChannel(`attention ${address}`);
    this.tabs.onmessage = ({ data }) => this.heed(data);
    if (document.hidden) this.ask();
    else this.take();
  }

  close() {
    this.release();
    clearTimeout(this.timer);
    this.tabs?.close();
    this.tabs = null;
    this.kept.clear();
    this.address = "";
  }

  /** Does another tab listen? If none says so, this one does. */
  ask() {
    this.tabs?.postMessage({ kind: "who" });
    this.later(ANSWER, () => this.take());
  }

  /** Listen, in place of any other tab: what is seen is awake. */
  take() {
    this.claim = Math.max(Date.now() + Math.random(), this.claim + 1);
    this.tabs?.postMessage({ kind: "mine", claim: this.claim });
    this.connect();
  }

  /** Another tab may listen. */
  release() {
    if (!this.source) return;
    this.source.close();
    this.source = null;
    this.tabs?.postMessage({ kind: "free" });
  }

  connect() {
    this.source?.close();
    const ballot = localStorage.getItem(BALLOT), isLecturer = this.address.includes("?");
    const shown = ballot && !isLecturer ? `?ballot=${encodeURIComponent(ballot)}` : "";
    const source = this.source = new EventSource(locate(this.address + shown));
    this.alive();
    for (const kind of KINDS) source.addEventListener(kind, ({ data }) => source === this.source && this.listen(kind, data));
    source.onerror = () => { // after a break the browser comes back by itself, but not after an error
      if (source === this.source && source.readyState === EventSource.CLOSED) this.again();
    };
  }

  /** What another tab tells. @param {Told} told */
  heed({ kind, text = "", claim = 0 }) {
    if (kind === "who") {
      if (!this.source) return;
      this.tabs?.postMessage({ kind: "mine", claim: this.claim });
      for (const [name, last] of this.kept) this.tabs?.postMessage({ kind: name, text: last });
    } else if (kind === "mine" && this.source && claim < this.claim) {
      this.tabs?.postMessage({ kind: "mine", claim: this.claim });
    } else if (kind === "mine") {
      this.claim = Math.max(claim, this.claim);
      this.source?.close();
      this.source = null;
      this.alive();
    } else if (this.source) return;
    else if (kind === "free") this.later(document.hidden ? ANSWER : 0, () => this.take());
    else this.listen(kind, text);
  }

  /** @param {string} kind @param {string} text */
  listen(kind, text) {
    if (this.source) this.tabs?.postMessage({ kind, text });
    if (kind === "ballot") localStorage.setItem(BALLOT, text);
    if (KEPT.includes(kind)) this.kept.set(kind, text);
    if (kind === "refused" && this.source) {
      this.source.close();
      this.again();
    } else {
      this.wait = SHORTEST_WAIT;
      this.alive();
    }
    if (kind === "over") localStorage.removeItem(BALLOT);
    if (kind === "over") this.close();
    this.hear(kind, text);
  }

  alive() {
    this.heard = performance.now();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.source ? this.connect() : this.ask(), SILENCE);
  }

  /** The server knows nothing of this one. */
  renew() {
    if (this.source) this.connect();
    else this.ask();
  }

  /** Try again, each time later. */
  again() {
    this.wait = Math.min(LONGEST_WAIT, 2 * this.wait);
    this.later(this.wait, () => this.connect());
  }

  /** Not all at the same moment. @param {number} milliseconds @param {() => void} act */
  later(milliseconds, act) {
    clearTimeout(this.timer);
    this.timer = setTimeout(act, milliseconds * (0.5 + Math.random()));
  }

  wake() {
    if (!this.address) return;
    if (!this.source) return document.hidden ? this.ask() : this.take();
    const isClosed = this.source.readyState === EventSource.CLOSED;
    if (isClosed || performance.now() - this.heard > DOUBTFUL) this.connect();
  }
}

/**
 * Say something to the server; status 0 is one that is not there.
 * @param {string} path @param {object | null} said
 * @param {string} [secret] goes into a header, which no log and no other site sees
 * @returns {Promise<{ status: number, answer: any }>}
 */
export async function post(path, said, secret) {
  /** @type {Record<string, string>} */
  const headers = { "Content-Type": "application/json" };
  if (secret) headers.Authorization = `Bearer ${secret}`;
  const body = said ? JSON.stringify(said) : undefined;
  try {
    const response = await fetch(locate(path), { method: said ? "POST" : "DELETE", headers, body, credentials: "omit" });
    return { status: response.status, answer: await response.json() };
  } catch {
    return { status: 0, answer: { error: "away" } };
  }
}

/** Letters that nobody guesses. */
export function drawSecret() {
  const bytes = crypto.getRandomValues(new Uint8Array(24));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
