// @ts-check
// A wall of sentences that people write, one of them open to be judged; a stamp turns when it was.

/** @import { HeroData, Sentence } from "../hero.js" */

import { element } from "../../common/elements.js";
import { writeSentence } from "../../common/filled_text.js";
import { _ } from "../../common/words.js";
import { Chips } from "../chips.js";
import { Hero } from "../hero.js";
import { Card, kindOf, placeCards, signOf } from "./claims_cards.js";

/**
 * @typedef {object} CardData
 * @property {string} id its name in the link
 * @property {string} about its topic
 * @property {string} guess the choice that keeps what the reader said
 * @property {string} text
 * @property {number} verdict its place among the verdicts
 */
/**
 * @typedef {object} Numbers
 * @property {CardData[]} cards
 * @property {Record<string, { label: string, means: string }>} verdicts
 * @property {{ key: string, label: string }} skip
 * @property {Record<string, string>} topics
 * @property {boolean} is_open all stamps are seen, as the reader wants to be asked nothing
 */

const DESK = 86, SIDE = 16;

/** @extends {Hero<HeroData & Numbers>} */
export class ClaimsWall extends Hero {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    root.classList.add("claims");
    this.shownFor = "";
    this.topics = this.stage.root.appendChild(element("div", "claims-topics"));
    /** @type {Chips | null} */
    this.filter = null;
    /** @type {Card[]} */
    this.cards = [];
    this.desk = this.stage.add("div", "claims-desk");
    const line = this.desk.appendChild(element("div", "claims-line"));
    this.ask = line.appendChild(element("p", "claims-ask"));
    this.result = line.appendChild(element("p", "claims-result"));
    this.seal = this.result.appendChild(element("b", "claims-seal"));
    this.verdictOnReader = this.result.appendChild(element("span"));
    const onward = line.appendChild(element("div", "claims-onward"));
    this.back = onward.appendChild(element("button", "", "←"));
    this.next = onward.appendChild(element("button", "", "→"));
    this.answers = this.desk.appendChild(element("div", "claims-answers"));
    this.answers.setAttribute("role", "group");
    this.back.onclick = () => this.step(-1);
    this.next.onclick = () => this.step(1);
    this.stage.root.addEventListener("keydown", (event) => this.walk(event));
  }

  // What is chosen.

  get at() { return Math.max(0, this.data.cards.findIndex(({ id }) => id === this.choices.claim)); }
  get open() { return this.data.cards[this.at]; }

  /** What the reader said of a card; nothing while it is face down. @param {CardData} card */
  saidOf(card) { return String(this.choices[card.guess] ?? ""); }

  /** The verdict, where it may be seen. @param {CardData} card */
  seenOf(card) { return this.data.is_open || this.saidOf(card) ? this.verdictOf(card) : ""; }

  /** @param {CardData} card */
  verdictOf(card) { return Object.keys(this.data.verdicts)[card.verdict]; }

  /** The card that comes so many places later, of whatever topic. @param {number} by */
  step(by) {
    const { cards } = this.data, { id, about } = cards[(this.at + by + cards.length) % cards.length];
    this.choose({ claim: id, about });
  }

  /** @param {string} answer */
  judge(answer) {
    this.choose({ [this.open.guess]: answer });
    this.next.focus({ preventScroll: true });
  }

  /** @param {KeyboardEvent} event */
  walk(event) {
    const by = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
    const from = /** @type {Element} */ (event.target);
    if (!by || event.altKey || event.ctrlKey || event.metaKey || this.topics.contains(from)) return;
    event.preventDefault();
    event.stopPropagation();
    this.step(by);
    if (!this.desk.contains(from) || from.closest(".claims-answers")) this.cards[this.at].button.focus({ preventScroll: true });
  }

  // Nodes.

  /** @override @param {boolean} isFirst */
  renew(isFirst) {
    const { cards, topics, verdicts, skip } = this.data;
    const shown = JSON.stringify([cards.map(({ text }) => text), topics, verdicts]);
    if (!isFirst && shown === this.shownFor) return false;
    this.shownFor = shown;
    for (const card of this.cards) card.root.remove();
    this.cards = cards.map(({ text, id, about }) => new Card(this.stage, text, () => this.choose({ claim: id, about })));
    this.stage.root.append(this.desk); // over the card that is open
    this.ask.replaceChildren(this.data.texts.card_ask, element("small", "", this.data.texts.card_means));
    this.answers.setAttribute("aria-label", this.data.texts.card_ask);
    this.answers.replaceChildren(...Object.entries(verdicts).map(([verdict, { label, means }]) => this.makeAnswer(verdict, label, means)));
    this.answers.append(this.makeAnswer(skip.key, skip.label, ""));
    this.back.setAttribute("aria-label", _("The claim before"));
    this.next.setAttribute("aria-label", _("The next claim"));
    this.renewTopics();
    return true;
  }

  /** @param {string} answer @param {string} label @param {string} means */
  makeAnswer(answer, label, means) {
    const button = element("button", kindOf(answer), label);
    if (means) button.title = means;
    button.onclick = () => this.judge(answer);
    return button;
  }

  renewTopics() {
    const { topics } = this.data;
    this.topics.replaceChildren();
    const options = Object.entries(topics).map(([value, label]) => ({ value, label }));
    this.filter = new Chips(this.topics, { label: "", options, choose: (about) => this.openTopic(about) });
    this.topics.firstElementChild?.lastElementChild?.setAttribute("aria-label", _("Claims about"));
    for (const button of this.filter.buttons) button.append(" ", element("b"));
  }

  /** A topic's first card that is still face down, or its first. @param {string} about */
  openTopic(about) {
    const own = this.data.cards.filter((card) => card.about === about);
    const { id } = own.find((card) => !this.seenOf(card)) ?? own[0];
    this.choose({ about, claim: id });
  }

  // Places.

  /** @override */
  update() {
    const { cards } = this.data;
    this.filter?.show(this.open.about);
    for (const button of this.filter?.buttons ?? []) {
      const own = cards.filter(({ about }) => about === button.value), seen = own.filter((card) => this.saidOf(card)).length;
      const count = button.querySelector("b");
      if (count) count.textContent = `${seen}/${own.length}`;
    }
    super.update();
  }

  /** @override */
  measure() { this.filter?.show(this.open.about); }

  /** @override */
  place() {
    const { cards, verdicts } = this.data, { stage, open, at: chosen } = this;
    const top = Math.ceil(this.topics.offsetHeight) + 8, others = this.othersInSight();
    const { open: large, slots, bottom } = placeCards(stage.room, top, others.length, open.text.length, Boolean(this.seenOf(open)));
    this.cards.forEach((card, at) => {
      const verdict = this.seenOf(cards[at]), isOpen = at === chosen, place = others.indexOf(at), isSeen = isOpen || place >= 0;
      const slot = isOpen ? large : slots[place] ?? { box: { x: 0, y: top, width: large.box.width, height: 86 }, size: 14 };
      card.place(slot, { verdict, told: verdict ? verdicts[verdict].label : "", isOpen, isSeen });
    });
    const { x, y, width, height } = large.box, desk = stage.room < 560 ? DESK + 50 : stage.room < 860 ? DESK + 22 : DESK;
    stage.put(this.desk, { x: x + SIDE, y: y + height - desk - 10, width: width - 2 * SIDE, height: desk });
    this.placeDesk();
    stage.resize(stage.room, bottom + 2);
  }

  /** The topic's other cards; on a phone the next two, so that the numbers below are not far. */
  othersInSight() {
    const { cards } = this.data, { open, at: chosen } = this;
    const own = cards.flatMap(({ about }, at) => (about === open.about ? [at] : [])), from = own.indexOf(chosen);
    if (this.stage.room >= 560) return own.filter((at) => at !== chosen);
    return [...own.slice(from + 1), ...own.slice(0, from)].slice(0, 2);
  }

  placeDesk() {
    const { open, data } = this, verdict = this.seenOf(open), said = this.saidOf(open), isRight = said === this.verdictOf(open);
    this.desk.dataset.verdict = kindOf(verdict);
    this.ask.hidden = this.answers.hidden = Boolean(verdict);
    this.result.hidden = !verdict;
    this.seal.textContent = verdict ? `${signOf(verdict)} ${data.verdicts[verdict].label}` : "";
    const guess = data.verdicts[said]?.label ?? "", told = guess && (isRight ? "card_right" : "card_wrong");
    this.verdictOnReader.textContent = told ? writeSentence(data.texts[told], { guess }) : "";
  }

  // What it says.

  /** @override @returns {Sentence} */
  sentence() {
    const { cards, verdicts, is_open: isOpen } = this.data, judged = cards.filter((card) => this.saidOf(card) in verdicts);
    const count = (/** @type {number} */ kind) => String(cards.filter(({ verdict }) => verdict === kind).length);
    const all = String(cards.length);
    if (isOpen) return { name: "hero_open", values: { all, holds: count(0), condition: count(1), fails: count(2), lost: count(3) } };
    const right = String(judged.filter((card) => this.saidOf(card) === this.verdictOf(card)).length);
    const left = String(cards.filter((card) => !this.saidOf(card)).length);
    return { name: judged.length ? "hero_tally" : "hero_start", values: { all, right, seen: String(judged.length), left } };
  }

  /** @override */
  describe() {
    const { cards, verdicts } = this.data;
    return cards.filter((card) => this.seenOf(card)).map((card) => `${card.text} ${verdicts[this.verdictOf(card)].label}`).join("; ");
  }
}
