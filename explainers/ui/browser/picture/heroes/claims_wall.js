// A wall of sentences that people write, one of them open to be judged; a stamp turns when it was.

/** @import { HeroData, Mark, Sentence } from "../kit.js" */

import { _, AROUND, Chips, element, Hero, take, writeSentence } from "../kit.js";

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

/** @typedef {{ box: NonNullable<Mark["box"]>, size: number }} Slot of a card: its place, and the size of its letters */

const DESK = 86, SIDE = 16, GAP = 10;
/** Of each verdict the class that has its colour, and a sign: colours alone are not told apart by all. @type {Record<string, { kind: string, sign: string }>} */
const LOOKS = {
  "": { kind: "down", sign: "" }, "holds": { kind: "holds", sign: "✓" }, "holds with a condition": { kind: "condition", sign: "±" },
  "does not hold": { kind: "fails", sign: "✗" }, "not reproducible": { kind: "lost", sign: "∅" },
};

/** @extends {Hero<HeroData & Numbers>} */
export class ClaimsWall extends Hero {
  topics = this.stage.root.appendChild(element("div", "claims-topics"));
  /** @type {Chips | undefined} */
  filter;

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
    this.scene.node("next")?.focus({ preventScroll: true });
  }

  /** @param {KeyboardEvent} event */
  walk(event) {
    const from = /** @type {Element} */ (event.target), by = this.topics.contains(from) ? undefined : take(event, AROUND);
    if (!by) return;
    this.step(by);
    if (!from.closest(".claims-desk") || from.closest(".claims-answers")) this.scene.node(`text ${this.at}`)?.focus({ preventScroll: true });
  }

  /** @override */
  renew() {
    const { topics } = this.data;
    if (!this.scene.isOther(topics)) return false;
    this.stage.root.onkeydown = (event) => this.walk(event);
    this.topics.replaceChildren();
    const options = Object.entries(topics).map(([value, label]) => ({ value, label }));
    this.filter = new Chips(this.topics, { label: "", name: _("Claims about"), options, choose: (about) => this.openTopic(about) });
    for (const button of this.filter.buttons) button.append(" ", element("b"));
    return true;
  }

  /** A topic's first card that is still face down, or its first. @param {string} about */
  openTopic(about) {
    const own = this.data.cards.filter((card) => card.about === about);
    const { id } = own.find((card) => !this.seenOf(card)) ?? own[0];
    this.choose({ about, claim: id });
  }

  // What is seen.

  /** @override @returns {Mark[]} */
  marks() {
    this.showTopics();
    const { stage, open, at: chosen } = this, top = Math.ceil(this.topics.offsetHeight) + 8, others = this.othersInSight();
    const { large, slots, bottom } = placeCards(stage.room, top, others.length, open.text.length, Boolean(this.seenOf(open))), [x, y, width, height] = large.box;
    /** @type {Slot} */
    const unseen = { box: [0, top, width, 86], size: 14 };
    const desk = stage.room < 560 ? DESK + 50 : stage.room < 860 ? DESK + 22 : DESK;
    stage.resize(stage.room, bottom + 2);
    return [
      { key: "topics", node: this.topics },
      ...this.data.cards.map((card, at) => this.markCard(card, at, at === chosen ? large : slots[others.indexOf(at)] ?? unseen, at === chosen || others.includes(at))),
      this.markDesk([x + SIDE, y + height - desk - 10, width - 2 * SIDE, desk]), // over the card that is open
    ];
  }

  /** How many claims of each topic were judged. */
  showTopics() {
    this.filter?.show(this.open.about);
    for (const button of this.filter?.buttons ?? []) {
      const own = this.data.cards.filter(({ about }) => about === button.value), count = button.querySelector("b");
      if (count) count.textContent = `${own.filter((card) => this.saidOf(card)).length}/${own.length}`;
    }
  }

  /** A sentence, and a stamp with two sides of which one is seen. @param {CardData} card @param {number} at @param {Slot} slot @param {boolean} isSeen @returns {Mark} */
  markCard(card, at, { box, size }, isSeen) {
    const { id, about, text } = card, verdict = this.seenOf(card), isOpen = at === this.at;
    const words = {
      key: `words ${at} ${id}`, made: (/** @type {Element} */ node) => node.append(...text.split("`").map((part, odd) => (odd % 2 ? element("code", "", part) : document.createTextNode(part)))),
    };
    const button = {
      key: `text ${at}`, tag: "button", class: "claims-text", style: { "--size": `${size}px` }, click: () => this.choose({ claim: id, about }), parts: [words], attributes: {
        "aria-label": verdict ? `${text} ${this.data.verdicts[verdict].label}` : text, "aria-current": String(isOpen), tabindex: isOpen ? 0 : -1, title: isOpen ? "" : text,
      },
    };
    const front = { tag: "i", class: "front", text: LOOKS[verdict].sign || undefined }; // it keeps its sign while it turns back
    const stamp = { class: "claims-stamp", is: { turned: verdict }, attributes: { "aria-hidden": "true" }, parts: [{ tag: "i", class: "back", text: "?" }, front] };
    return {
      key: `card ${at}`, class: "claims-card", is: { open: isOpen }, attributes: { "data-verdict": LOOKS[verdict].kind }, box, opacity: isSeen ? 1 : 0, parts: [button, stamp],
    };
  }

  /** Where the open card is judged, or what came of it. @param {Slot["box"]} box @returns {Mark} */
  markDesk(box) {
    const { open, data: { texts, verdicts, skip } } = this, verdict = this.seenOf(open), said = this.saidOf(open), guess = verdicts[said]?.label ?? "";
    const told = guess ? writeSentence(texts[said === this.verdictOf(open) ? "card_right" : "card_wrong"], { guess }) : "", hidden = Boolean(verdict);
    const answers = [...Object.entries(verdicts), /** @type {const} */ ([skip.key, { label: skip.label, means: "" }])];
    const ask = { tag: "p", class: "claims-ask", text: texts.card_ask, attributes: { hidden }, parts: [{ tag: "small", text: texts.card_means }] };
    const seal = { tag: "b", class: "claims-seal", text: verdict ? `${LOOKS[verdict].sign} ${verdicts[verdict].label}` : "" };
    const result = { tag: "p", class: "claims-result", attributes: { hidden: !hidden }, parts: [seal, { text: told }] };
    const onward = [
      { key: "back", tag: "button", text: "←", attributes: { "aria-label": _("The claim before") }, click: () => this.step(-1) },
      { key: "next", tag: "button", text: "→", attributes: { "aria-label": _("The next claim") }, click: () => this.step(1) },
    ];
    const offered = answers.map(([answer, { label, means }]) => ({
      tag: "button", class: LOOKS[answer === skip.key ? "" : answer].kind, text: label, attributes: { title: means || undefined }, click: () => this.judge(answer),
    }));
    return { key: "desk", class: "claims-desk", attributes: { "data-verdict": LOOKS[verdict].kind }, box, parts: [
      { tag: "div", class: "claims-line", parts: [ask, result, { tag: "div", class: "claims-onward", parts: onward }] },
      { tag: "div", class: "claims-answers", attributes: { role: "group", "aria-label": texts.card_ask, hidden }, parts: offered },
    ] };
  }

  /** The topic's other cards; on a phone the next two, so that the numbers below are not far. */
  othersInSight() {
    const { cards } = this.data, { open, at: chosen } = this;
    const own = cards.flatMap(({ about }, at) => (about === open.about ? [at] : [])), from = own.indexOf(chosen);
    if (this.stage.room >= 560) return own.filter((at) => at !== chosen);
    return [...own.slice(from + 1), ...own.slice(0, from)].slice(0, 2);
  }

  // What it says.

  /** @override @returns {Sentence} */
  sentence() {
    const { cards, verdicts, is_open: isOpen } = this.data, judged = cards.filter((card) => this.saidOf(card) in verdicts);
    const count = (/** @type {number} */ kind) => String(cards.filter(({ verdict }) => verdict === kind).length), all = String(cards.length);
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

/**
 * Places of the open card and of so many others, in rows below and beside it.
 * @param {number} room @param {number} top @param {number} others @param {number} letters of the open sentence
 * @param {boolean} isJudged then there is nothing to click on it any more
 */
function placeCards(room, top, others, letters, isJudged) {
  const isPhone = room < 560, columns = isPhone ? 2 : 3, tall = isPhone ? 98 : room < 860 ? (isJudged ? 94 : 122) : 86;
  const wide = (room - GAP * (columns - 1)) / columns, beside = columns - 2;
  const most = isPhone ? 18 : room < 860 ? 19 : 22, size = Math.max(16, most - (letters > 70 ? 2 : 0) - (letters > 100 ? 2 : 0));
  const deep = isPhone ? (isJudged ? 156 : 286) : 2 * tall + GAP;
  /** @type {Slot} */
  const large = { box: [0, top, 2 * wide + GAP, deep], size };
  const slots = Array.from({ length: others }, /** @returns {Slot} */ (_one, at) => {
    const isBeside = at < 2 * beside, below = at - 2 * beside;
    const row = isBeside ? at : Math.floor(below / columns), column = isBeside ? 2 : below % columns;
    const y = isBeside ? top + row * (tall + GAP) : top + deep + GAP + row * (tall + GAP);
    return { box: [column * (wide + GAP), y, wide, tall], size: isPhone ? 13 : 14 };
  });
  return { large, slots, bottom: Math.max(top + deep, ...slots.slice(-1).map(({ box: [, y] }) => y + tall)) };
}
