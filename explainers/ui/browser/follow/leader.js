// The lecturer: a room is opened, its code is shown, and every step is told to those who follow.

/** @import { Count, FollowData, Led } from "./data.js" */

import { locate } from "../common/component.js";
import { element, setText } from "../common/elements.js";
import { _ } from "../common/words.js";
import { isTyped } from "../lecture/keys.js";
import { drawCode } from "../lecture/share.js";
import { makeSideButton } from "../lecture/tools.js";
import { makeHandover, tellDevice } from "./handover.js";
import { findLecture, findPlace, readChoices, ROOM } from "./place.js";
import { drawSecret, explain, post, Stream } from "./stream.js";
import { Bars } from "./votes.js";

const WATCH = 200; // milliseconds: choices are in the address without a word
const PAUSE = 110; // between two messages: the server takes ten in a second
const AGAIN = 1000; // after a message that was not taken
const SETTLED = 300; // a new page says where it is before its first screen does
const SECRET = "attention lecture", LED = "attention led"; // what the browser calls it, for this tab alone
const LOCAL = ["localhost", "127.0.0.1", "[::1]", "0.0.0.0"];

const tellTitle = () => _("Follow on your own screen");

export class Leader {
  /**
   * @param {FollowData} data @param {(room: string) => void} stepDown  another device leads
   * @param {Led} [led] what was handed over to this one
   */
  constructor(data, stepDown, led) {
    this.data = data;
    this.stepDown = stepDown;
    this.secret = led?.secret ?? sessionStorage.getItem(SECRET) ?? "";
    this.led = led?.room ?? sessionStorage.getItem(LED) ?? "";
    this.room = "";
    this.code = "";
    this.round = 0;
    this.number = 0;
    this.since = 0; // when the page has become another one
    this.wanted = "";
    this.said = "";
    this.isSaying = false;
    this.followers = 0;
    this.problem = "";
    this.isUnheard = false;
    this.stream = new Stream((kind, text) => this.hear(kind, text));
    this.bars = new Bars(this);
    this.panel = document.body.appendChild(element("div", "follow-panel", "", { hidden: "", role: "dialog", onclick: () => this.turnPanel(false) }));
    this.button = makeSideButton("", () => this.press(), "follow-lead");
    this.retired = new AbortController();
    const { signal } = this.retired;
    addEventListener("keydown", (event) => this.key(event), { capture: true, signal });
    globalThis.navigation?.addEventListener("currententrychange", () => this.look(), { signal }); // where the browser tells it at once
    this.watch = setInterval(() => this.look(), WATCH);
    this.draw(data);
    if (led) this.keep();
    if (this.secret) this.open();
  }

  /** The page has run. @param {FollowData} data */
  draw(data) {
    if (data.place !== this.data.place) this.since = performance.now();
    this.data = data;
    this.write();
    this.look();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || isTyped(event)) return;
    const key = event.key.toLowerCase();
    if (key === "escape" && !this.panel.hidden) this.turnPanel(false);
    else if (key === "f" && findLecture()) this.press();
    else if (key === "v" && findLecture() && this.room) this.bars.turn();
    else return;
    event.preventDefault();
    event.stopImmediatePropagation(); // what Escape has closed need not be ended as well
  }

  /** Keep what leads, so that the page may be loaded again. */
  keep() {
    sessionStorage.setItem(SECRET, this.secret);
    if (this.led) sessionStorage.setItem(LED, this.led);
  }

  async press() {
    if (this.room) return this.turnPanel(Boolean(this.panel.hidden));
    this.secret ||= drawSecret();
    this.keep();
    if (!(await this.open())) this.panel.replaceChildren(element("h2", "", tellTitle()), element("p"));
    this.turnPanel(true);
    this.write();
  }

  /** Open the room, or find it open. */
  async open() {
    const address = locate("/"), led = this.led ? { room: this.led } : {};
    const { status, answer } = await post("/lead", { address: address.href, ...led }, this.secret);
    if (status === 404) this.forget(); // what was handed over cannot be opened again
    if (status !== 200) return this.tell(answer.error);
    this.tell("");
    const isNew = this.room !== answer.room;
    Object.assign(this, { room: answer.room, code: answer.code });
    const handover = makeHandover(drawCode(answer.lead[0], answer.lead[1], tellDevice()), (code) => this.handOver(code));
    const offer = this.makeButton(_("Lead from another device"), () => this.panel.toggleAttribute("data-hands"));
    this.panel.replaceChildren(
      element("h2", "", tellTitle()), drawCode(answer.join[0], answer.join[1], _("A code to scan: the link to this lecture")),
      element("strong", "", `${address.host}${address.pathname}?${ROOM}=${answer.code}`), element("output"), element("p"),
      handover, offer, this.makeButton(_("End it for everybody"), () => this.end()),
    );
    this.said = ""; // so that it is told, also again
    if (isNew) this.stream.open(`/follow/${this.room}?lecturer`);
    this.write();
    this.look();
    return true;
  }

  /** @param {string} text @param {() => void} act */
  makeButton(text, act) {
    return element("button", "", text, { onclick: (event) => { event.stopPropagation(); act(); } });
  }

  /** Let the device with this code lead; everybody hears of it, and this one follows then. @param {string} code */
  async handOver(code) {
    const { status, answer } = await post(`/lead/${this.room}/heir`, { code }, this.secret);
    if (status === 200) return "";
    return explain(status === 400 ? "no device" : answer.error);
  }

  /** This one leads no more. */
  retire() {
    this.forget();
    this.retired.abort();
    clearInterval(this.watch);
    for (const part of [this.panel, this.button, this.bars.root]) part.remove();
  }

  /** Everybody is told that the lecture is over, and the server forgets it. */
  async end() {
    const { room, secret } = this;
    this.forget();
    await post(`/lead/${room}`, null, secret);
  }

  forget() {
    this.stream.close();
    for (const name of [SECRET, LED]) sessionStorage.removeItem(name);
    Object.assign(this, { secret: "", led: "", room: "", code: "", said: "", followers: 0, round: 0, problem: "", isUnheard: false });
    this.bars.forget();
    this.turnPanel(false);
    this.write();
  }

  /** @param {string} kind @param {string} text */
  hear(kind, text) {
    if (kind === "over") return this.forget();
    if (kind === "handed") return this.stepDown(this.room);
    if (kind === "lost" || (kind === "refused" && JSON.parse(text) === "unknown")) this.open(); // the server has forgotten
    if (kind === "away") {
      this.isUnheard = true; // also where the server takes what is said
      return this.write();
    }
    if (kind === "room") { // the stream is new, or the board is back: what was said may have been lost
      this.isUnheard = false;
      this.said = "";
      this.tell("");
    }
    if (kind === "count") {
      /** @type {Count} */
      const { followers, votes } = JSON.parse(text);
      this.followers = followers;
      this.bars.draw(votes);
      this.write();
    }
    this.look();
  }

  /** Where is the lecturer now? If it has changed, it is told. */
  look() {
    this.write();
    const { data } = this, lecture = findLecture();
    if (!this.room || findPlace() !== data.place || performance.now() - this.since < SETTLED) return;
    if (lecture && (lecture.at < 0 || lecture.wanted !== null)) return;
    const screen = lecture ? lecture.at + 1 : 0, step = lecture?.step ?? 0;
    this.wanted = JSON.stringify({ page: data.place, query: readChoices(location.search), screen, step, round: this.round });
    this.bars.draw();
    if (this.wanted !== this.said) this.say();
  }

  /** Say what is wanted now, until it has been said; what came in between need not be. */
  async say() {
    if (this.isSaying) return;
    this.isSaying = true;
    while (this.room && this.wanted !== this.said) {
      const { wanted } = this;
      this.number = Math.max(this.number + 1, Date.now());
      const place = { ...JSON.parse(wanted), number: this.number };
      const { status, answer } = await post(`/lead/${this.room}`, place, this.secret);
      if (status === 200) this.said = wanted;
      else if (status === 404) await this.open();
      else if (status === 403) return this.stepDown(this.room); // it was handed over, unheard
      else if (status === 409) this.number += 60_000; // a clock that was set back
      this.tell(status === 200 || status === 404 || status === 409 ? "" : answer.error);
      await new Promise((done) => setTimeout(done, status === 200 ? PAUSE : AGAIN));
    }
    this.isSaying = false;
  }

  /** @param {string} reason */
  tell(reason) {
    this.problem = reason && explain(reason);
    this.write();
    return false;
  }

  /** @param {boolean} isOpen */
  turnPanel(isOpen) {
    this.panel.hidden = !isOpen;
    this.panel.removeAttribute("data-hands");
  }

  /** The button stands in the lecture's bar, wherever that is now; a lecture looks at its page anew after each change. */
  write() {
    const lead = _("Let the audience follow (F)"), bar = document.querySelector(".lecture-bar");
    if (bar && this.button.parentElement !== bar) bar.insertBefore(this.button, bar.querySelector("button:last-of-type"));
    if (!bar) this.panel.hidden = true;
    const problem = this.isUnheard ? explain("unheard") : this.problem;
    setText(this.button, problem ? "◉ !" : this.room ? `◉ ${this.followers}` : "◎");
    this.button.title = problem || lead;
    this.button.setAttribute("aria-label", problem ? `${lead}: ${problem}` : this.room ? `${lead}: ${this.followers}` : lead);
    this.panel.setAttribute("aria-label", tellTitle());
    const count = this.panel.querySelector("output"), note = this.panel.querySelector(":scope > p");
    if (count) setText(count, _("Followers: {count}", { count: this.followers }));
    if (note) setText(note, problem || (LOCAL.includes(location.hostname) ? this.data.local.replace("{host}", location.hostname) : ""));
  }
}
