// @ts-check
// What a room's board tells, as it comes, and messages to it. A telephone that slept, or changed its
// network, holds a dead connection and never hears of it: after some silence a stream is opened anew.

const KINDS = ["room", "at", "count", "still", "lost", "over", "refused"];
const SILENCE = 40_000; // milliseconds; the server says something every 15 seconds
const DOUBTFUL = 20_000; // of silence, where the page was away meanwhile
const SHORTEST_WAIT = 1000, LONGEST_WAIT = 30_000;

/** @typedef {(kind: string, text: string) => void} Hear */

export class Stream {
  /** @param {Hear} hear */
  constructor(hear) {
    this.hear = hear;
    this.address = "";
    /** @type {EventSource | null} */
    this.source = null;
    this.heard = 0;
    this.wait = SHORTEST_WAIT;
    this.timer = 0;
    for (const name of ["pageshow", "online"]) addEventListener(name, () => this.wake());
    document.addEventListener("visibilitychange", () => document.hidden || this.wake());
  }

  /** @param {string} address */
  open(address) {
    this.address = address;
    this.source?.close();
    const source = this.source = new EventSource(address);
    this.alive();
    for (const kind of KINDS) source.addEventListener(kind, ({ data }) => this.listen(source, kind, data));
    source.onerror = () => { // after a break the browser comes back by itself, but not after an error
      if (source === this.source && source.readyState === EventSource.CLOSED) this.later();
    };
  }

  close() {
    clearTimeout(this.timer);
    this.source?.close();
    this.source = null;
    this.address = "";
  }

  /**
   * @param {EventSource} source
   * @param {string} kind
   * @param {string} text
   */
  listen(source, kind, text) {
    if (source !== this.source) return;
    if (kind === "refused") {
      source.close();
      this.later();
    } else {
      this.wait = SHORTEST_WAIT;
      this.alive();
    }
    if (kind === "over") this.close();
    this.hear(kind, text);
  }

  alive() {
    this.heard = performance.now();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.open(this.address), SILENCE);
  }

  /** Try again, each time later, and not all of a class at once. */
  later() {
    this.wait = Math.min(LONGEST_WAIT, 2 * this.wait);
    clearTimeout(this.timer);
    const address = this.address;
    this.timer = setTimeout(() => this.open(address), this.wait * (0.5 + Math.random()));
  }

  wake() {
    if (!this.address) return;
    const isClosed = this.source?.readyState === EventSource.CLOSED;
    if (isClosed || performance.now() - this.heard > DOUBTFUL) this.open(this.address);
  }
}

/**
 * Say something to the server; status 0 is one that is not there.
 * @param {string} address
 * @param {object | null} said
 * @param {string} [secret] goes into a header, which no log and no other site sees
 * @returns {Promise<{ status: number, answer: any }>}
 */
export async function post(address, said, secret) {
  /** @type {Record<string, string>} */
  const headers = { "Content-Type": "application/json" };
  if (secret) headers.Authorization = `Bearer ${secret}`;
  const body = said ? JSON.stringify(said) : undefined;
  try {
    const response = await fetch(address, { method: said ? "POST" : "DELETE", headers, body, credentials: "omit" });
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
