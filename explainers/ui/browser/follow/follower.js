// One of the audience: the page goes where the lecturer's goes, until a control is touched. Then it is
// the follower's own, and a quiet bar leads back.

/** @import { FollowData, Led, Place } from "./data.js" */

import { visit } from "../common/address.js";
import { element, setText } from "../common/elements.js";
import { _ } from "../common/words.js";
import { Heir, wishesToLead } from "./handover.js";
import { findLecture, makeLink, readChoices, ROOM, SCREEN } from "./place.js";
import { explain, Stream } from "./stream.js";
import { Ballot } from "./votes.js";

const SPREAD = 1500; // milliseconds: not everybody asks for a new page at once
const TRIES = 3; // after which a page is loaded as from a link
const FIRST_WAIT = 4000; // before a wish is said again: it falls to the ground where the connection breaks
const REST_AFTER = 3000, REST_SPREAD = 9000; // milliseconds: then the rest of the page is asked for, by one after the other
const WATCH = 200;
const CONTROLS = "a, button, input, textarea, select, label, summary, td.cell, [role=slider], [role=button], [role=radio], [role=option], [role=tab], [role=switch], [tabindex='0']";
const OWN_KEYS = ["ArrowLeft", "ArrowRight", "PageUp", "PageDown", " ", "Enter", "Escape", "l", "o", "c", "k"];

export class Follower {
  /**
   * @param {string} code @param {FollowData} data @param {() => void} askForRest  of a page that was drawn in part
   * @param {(led?: Led) => void} ended  perhaps to lead instead
   */
  constructor(code, data, askForRest, ended) {
    this.code = code;
    this.data = data;
    this.askForRest = askForRest;
    this.rest = 0; // a timer, until the rest of the page is asked for
    this.ended = ended;
    /** @type {Heir | null} */
    this.heir = wishesToLead() ? new Heir(() => this.write()) : null;
    this.isFollowing = true;
    this.isChanged = false; // by the follower, since the page was where the lecturer was
    this.tries = 0;
    this.later = 0;
    /** @type {Place | null} */
    this.said = null; // by the lecturer, last
    this.problem = "";
    this.bar = document.body.appendChild(element("div", "follow-bar", "", { role: "status" }));
    this.back = this.bar.appendChild(element("button", "", "", { onclick: () => this.followAgain() }));
    this.leave = this.bar.appendChild(element("button", "follow-leave", "✕", { onclick: () => this.end() }));
    this.stream = new Stream((kind, text) => this.hear(kind, text));
    this.stream.open(`/follow/${code}`);
    this.ballot = new Ballot(this);
    this.watch = setInterval(() => this.hold(), WATCH);
    this.over = new AbortController();
    for (const name of ["click", "input", "keydown"]) addEventListener(name, (event) => this.touch(event), { capture: true, signal: this.over.signal });
    this.write();
  }

  /** The page has run. @param {FollowData} data */
  draw(data) {
    this.data = data;
    this.write();
    this.expectRest();
    this.hold();
    const link = new URL(location.href);
    if (link.searchParams.get(ROOM) === this.code) return;
    link.searchParams.set(ROOM, this.code); // whoever loads the page again follows on
    history.replaceState(history.state, "", link);
  }

  /** @param {string} kind @param {string} text */
  hear(kind, text) {
    if (kind === "room") this.code = text;
    if (kind === "ballot") this.ballotIs(text);
    if (kind === "handed" && this.heir?.code && this.heir.code === JSON.parse(text)) return this.end({ secret: this.heir.secret, room: this.code });
    if (kind === "refused") this.problem = explain(JSON.parse(text));
    else if (kind === "away") this.problem = explain("away"); // until something else is heard than a sign of life
    else if (kind === "over") this.problem = _("The lecture is over.");
    else if (kind !== "still") this.problem = "";
    if (kind === "at") {
      /** @type {Place} */
      const said = JSON.parse(text), before = this.said;
      if (!this.data.places.includes(said.page)) return; // this server has no such page
      if (!before || said.number > before.number) {
        this.said = said;
        if (this.isFollowing) this.obey(before ? SPREAD : 0);
      }
    }
    this.write();
  }

  /** What the open stream is called, by which votes and wishes count. @param {string} name */
  ballotIs(name) {
    this.ballot.is(name);
    if (!this.heir?.code) this.heir?.ask(this.code, name);
  }

  /** Is the page where the lecturer is? The run itself must have been asked for it. */
  isThere() {
    const { said, data } = this;
    return said && !this.isChanged && data.place === said.page && readChoices(data.query) === readChoices(said.query);
  }

  /** What the lecturer does not show yet can wait until everybody has the lecturer's screen. */
  expectRest() {
    clearTimeout(this.rest);
    this.rest = this.data.isShort ? setTimeout(() => this.fetchRest(), REST_AFTER + Math.random() * REST_SPREAD) : 0;
  }

  fetchRest() {
    if (!this.rest) return;
    clearTimeout(this.rest);
    this.rest = 0;
    this.askForRest();
  }

  /** @param {number} spread */
  obey(spread) {
    clearTimeout(this.later);
    this.tries = 0;
    if (this.isThere()) return this.hold();
    this.later = setTimeout(() => this.go(), Math.random() * spread);
  }

  go() {
    const { said } = this;
    if (!said || !this.isFollowing || (this.tries && this.isThere())) return;
    const link = makeLink(said.page, said.query);
    if (said.screen) link.searchParams.set(SCREEN, `${said.screen}${said.step ? ".2" : ""}`); // which is drawn first
    this.isChanged = false;
    this.tries += 1;
    if (this.tries > TRIES) return this.tries === TRIES + 1 ? location.assign(link) : undefined;
    visit(link);
    this.later = setTimeout(() => this.go(), FIRST_WAIT * 2 ** (this.tries - 1));
  }

  /** Show the lecturer's screen, also where it comes late. */
  hold() {
    const { said } = this, lecture = findLecture();
    this.ballot.draw();
    if (lecture) lecture.isShort = this.data.isShort;
    if (!said?.screen || !this.isFollowing || !this.isThere() || !lecture) return;
    if (said.screen > lecture.screens.length && lecture.isDrawn()) this.fetchRest();
    if (lecture.at < 0 || lecture.wanted !== null) return;
    if (said.screen > lecture.screens.length && !lecture.isComplete()) return;
    const at = Math.min(said.screen, lecture.screens.length) - 1, step = Math.min(said.step, lecture.screens[at]?.last ?? 0);
    if (lecture.at !== at || (lecture.step ?? 0) !== step) lecture.show(at, step);
    this.ballot.draw();
  }

  /** Whoever touches a control looks for themselves. @param {Event} event */
  touch(event) {
    if (!event.isTrusted || !this.isFollowing) return;
    const path = event.composedPath();
    if (path.some((node) => node instanceof Element && node.matches(".follow-bar, .follow-ballot"))) return;
    if (event instanceof KeyboardEvent ? !OWN_KEYS.includes(event.key) : !path.some((node) => node instanceof Element && node.matches(CONTROLS))) return;
    this.isFollowing = false;
    this.isChanged = true;
    this.fetchRest();
    clearTimeout(this.later);
    this.write();
  }

  followAgain() {
    if (this.isFollowing) return;
    this.isFollowing = true;
    this.write();
    this.obey(0);
  }

  /** From now on this is a page like any other, or it leads. @param {Led} [led] */
  end(led) {
    this.heir?.close();
    this.fetchRest();
    clearTimeout(this.later);
    clearInterval(this.watch);
    this.stream.close();
    this.ballot.close();
    this.bar.remove();
    this.over.abort();
    const link = new URL(location.href);
    link.searchParams.delete(ROOM);
    link.hash = "";
    history.replaceState(history.state, "", link);
    this.ended(led);
  }

  write() {
    const { places } = this.data, { said } = this, leave = _("Stop following");
    const number = said ? String(places.indexOf(said.page) + 1).padStart(2, "0") : "";
    const wish = this.heir?.code ? _("To lead from here, type this code on the lecturer’s screen: {code}", { code: this.heir.code.replace(/^.../, "$& ") }) : "";
    const text = this.problem || wish || (!said ? _("Waiting for the lecturer") : this.isFollowing ? _("Following the lecturer") : _("The lecturer is at {number} · follow again", { number }));
    setText(this.back, text);
    this.back.disabled = this.isFollowing || !said;
    this.bar.classList.toggle("quiet", this.isFollowing && !this.problem && !wish);
    this.leave.title = leave;
    this.leave.setAttribute("aria-label", leave);
  }
}
