// A show of hands on telephones: letters to vote by, and bars for the lecturer. Only numbers of options
// travel: no text of the audience is ever shown.

/** @import { Follower } from "./follower.js" */
/** @import { Leader } from "./leader.js" */

import { element } from "../common/elements.js";
import { _ } from "../common/words.js";
import { makeSideButton } from "../lecture/tools.js";
import { findLecture } from "./place.js";
import { post } from "./stream.js";

const LETTERS = "ABCDEF";
const ASKED = /^st-key-(?:lecture|screen)-(?:ask|reveal|answer)-(.+)$/;

/** @typedef {{ name: string, isOpen: boolean, options: number, right: number }} Question  `right`: less than 0 where it is not shown yet */

/**
 * The question on the screen, before its answer and with it.
 * @param {string} place of the page @returns {Question | null}
 */
function findQuestion(place) {
  const kind = document.documentElement.dataset.lectureKind ?? "";
  if (!findLecture() || !["ask", "reveal", "answer"].includes(kind)) return null;
  const boxes = /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[class*=-ask-], [class*=-reveal-], [class*=-answer-]"));
  const named = [...boxes].map((box) => ({ box, name: [...box.classList].map((one) => ASKED.exec(one)?.[1]).find(Boolean) ?? "" })).filter(({ name }) => name);
  const name = named.find(({ box }) => isSeen(box))?.name;
  const its = named.filter((one) => one.name === name).map(({ box }) => box);
  const radios = its.flatMap((box) => [...box.querySelectorAll("[role=radiogroup] input")]);
  if (!name || radios.length < 2) return null;
  const right = its.flatMap((box) => [...box.querySelectorAll("[class*=st-key-right-]")]).map(({ className }) => /st-key-right-(\d+)/.exec(className)?.[1]);
  const isOpen = kind === "ask";
  return { name: `${place || "start"}-${name}`.toLowerCase().replaceAll(/[^a-z0-9_-]/g, "-").slice(0, 70), isOpen, options: Math.min(radios.length, LETTERS.length), right: isOpen ? -1 : Number(right[0] ?? -1) };
}

/** @param {HTMLElement} box */
function isSeen(box) {
  const { width, height } = box.getBoundingClientRect();
  return width > 0 && height > 0 && box.checkVisibility({ visibilityProperty: true });
}

/** The letters on a follower's telephone. */
export class Ballot {
  /** @param {Follower} follower */
  constructor(follower) {
    this.follower = follower;
    this.name = ""; // of the open stream
    /** @type {[string, number] | null} */
    this.waiting = null; // a vote that came before the stream was open
    /** @type {Map<string, number>} */
    this.chosen = new Map();
    this.drawn = "";
    this.root = document.body.appendChild(element("div", "follow-ballot", "", { hidden: "", role: "group" }));
  }

  draw() {
    const { data, isFollowing, said } = this.follower, question = isFollowing && said ? findQuestion(data.place) : null;
    const name = question?.isOpen && said ? `${question.name}-${said.round}` : "";
    const title = _("Your vote"), state = `${name} ${this.chosen.get(name) ?? ""} ${title}`;
    if (state === this.drawn) return;
    this.drawn = state;
    this.root.hidden = !name;
    this.root.setAttribute("aria-label", title);
    const buttons = [...LETTERS.slice(0, question?.options ?? 0)].map((letter, option) => (
      element("button", "", letter, { "aria-pressed": this.chosen.get(name) === option, onclick: () => this.vote(name, option) })
    ));
    this.root.replaceChildren(element("span", "", title), ...buttons);
  }

  /** @param {string} name @param {number} option */
  async vote(name, option) {
    const { code } = this.follower;
    const { status } = await post(`/vote/${code}/${name}`, { ballot: this.name, option });
    if (status === 200) this.chosen.set(name, option);
    if (status === 403 && !this.waiting) {
      this.waiting = [name, option];
      this.follower.stream.renew();
    } else this.waiting = null;
    this.draw();
  }

  /** The stream is open, and votes count. @param {string} name */
  is(name) {
    this.name = name;
    if (this.waiting) this.vote(...this.waiting);
  }

  close() {
    this.root.remove();
  }
}

/** What the lecturer sees of the votes: how many there are, and when it is asked for, for what. */
export class Bars {
  /** @param {Leader} leader */
  constructor(leader) {
    this.leader = leader;
    /** @type {Record<string, number[]>} */
    this.votes = {};
    this.isOpen = false;
    this.asked = "";
    this.drawn = "";
    this.root = document.body.appendChild(element("div", "follow-votes", "", { hidden: "" }));
  }

  forget() {
    this.votes = {};
    this.draw();
  }

  turn() {
    this.isOpen = !this.isOpen;
    this.draw();
  }

  /** @param {Record<string, number[]>} [votes] */
  draw(votes) {
    if (votes) this.votes = votes;
    const { data, room, round } = this.leader, question = room ? findQuestion(data.place) : null;
    if (question && question.name !== this.asked) {
      this.asked = question.name;
      this.isOpen = false; // the next question is hidden again
    }
    const counts = question ? (this.votes[`${question.name}-${round}`] ?? []).slice(0, question.options) : [];
    const state = JSON.stringify([question, counts, this.isOpen, _("Vote again"), round]);
    if (state === this.drawn) return;
    this.drawn = state;
    this.root.hidden = !question;
    if (!question) return;
    const all = counts.reduce((sum, count) => sum + count, 0), foot = element("div"), head = makeSideButton(_("Votes: {count} (V)", { count: all }), () => this.turn());
    head.setAttribute("aria-expanded", String(this.isOpen));
    foot.append(makeSideButton(_("Vote again"), () => this.again()), makeSideButton(_("Votes, CSV"), () => this.save()));
    this.root.replaceChildren(head, ...(this.isOpen ? [...this.makeBars(question, counts), foot] : []));
  }

  /** @param {Question} question @param {number[]} counts */
  makeBars({ options, right }, counts) {
    const most = Math.max(1, ...counts);
    return [...LETTERS.slice(0, options)].map((letter, option) => {
      const row = element("p", option === right ? "right" : ""), bar = element("i"), count = counts[option] ?? 0;
      bar.style.width = `${(100 * count) / most}%`;
      const track = element("span");
      track.append(bar);
      row.append(element("b", "", option === right ? `${letter} ✓` : letter), track, element("output", "", String(count)));
      return row;
    });
  }

  /** The same question once more, for instance with other numbers. */
  again() {
    this.leader.round = (this.leader.round + 1) % 10;
    this.isOpen = false;
    this.leader.look();
    this.draw();
  }

  /** All counts of this room, as a table. */
  save() {
    const rows = Object.entries(this.votes).flatMap(([name, counts]) => counts.map((count, option) => {
      const [, question, round] = /^(.*)-(\d)$/.exec(name) ?? ["", name, "0"];
      return [question, Number(round) + 1, LETTERS[option], count].join(",");
    }));
    const text = ["question,vote,option,votes", ...rows, ""].join("\n");
    const href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
    element("a", "", "", { href, download: "votes.csv" }).click();
    URL.revokeObjectURL(href);
  }
}
