// The host of a first picture where there is no server: it hands the picture its numbers, answers its choices
// with what was computed beforehand, and keeps them in links. What only the app can compute it offers there.

import { element } from "../common/elements.js";
import { Answers } from "./answers.js";

/** @typedef {import("./answers.js").Choices} Choices */
/** @typedef {import("../common/component.js").Host} Host */
/**
 * @typedef {object} Words
 * @property {string} needs why a choice is not made here
 * @property {string} open a link to the app
 * @property {string} below said where something stands below that does not follow the picture
 * @property {string} bad what is said of a link that asks for what cannot be
 */
/**
 * @typedef {object} Around  what is around a picture
 * @property {Words} words
 * @property {string} live the page's address in the app
 * @property {URLSearchParams} link what is chosen as it opens
 * @property {(link: string) => void} chosen its choices have changed
 * @property {(card: string) => boolean} [open] a card below it; is there such a one?
 * @property {Host["embed"]} [embed]
 */

/** @type {{ need: (name: string) => any, lazy: (name: string) => Promise<any>, fetched: (address: string) => Promise<any> }} */
export const attention = /** @type {any} */ (globalThis).attention;

/** A root for a picture, in a part of the page where no other style holds. @param {Element} place @param {string} name of its class */
export function makeRoot(place, name) {
  const shadow = place.shadowRoot ?? place.attachShadow({ mode: "open" }), root = element("div", name);
  shadow.replaceChildren(root);
  return root;
}

export class FirstPicture {
  /** @param {HTMLElement} place @param {import("./answers.js").Sent} sent @param {Around} around */
  constructor(place, sent, around) {
    this.place = place;
    this.around = around;
    this.answers = new Answers(sent);
    this.notice = element("p", "needs-app", "", { role: "status", hidden: "" });
    place.after(this.notice);
    this.root = makeRoot(place, "hero");
    /** @type {Choices} those that are shown */
    this.choices = { ...sent.data.choices };
    this.asked = 0;
  }

  /** Draw what a link asks for, as far as it can be. @param {URLSearchParams} link */
  async open(link) {
    const { choices, refused, left } = this.answers.read(link), first = this.answers.base.choices;
    const told = refused.map((one) => this.around.words.bad.replace(/\{(\w+)\}/g, (_all, slot) => String(one[/** @type {keyof typeof one} */ (slot)])));
    const isHere = await this.draw(choices);
    if (!isHere) await this.draw({ ...choices, ...Object.fromEntries(this.answers.base.elsewhere.map((name) => [name, first[name]])) });
    if (!isHere || Object.keys(left).length) this.offerApp({ ...choices, ...left });
    else if (told.length) this.say(told.join(" "));
    this.around.chosen(this.link);
  }

  get link() { return this.answers.write(this.choices); }

  /** Are the numbers for these choices here? Then they are drawn. @param {Choices} choices */
  async draw(choices) {
    const turn = ++this.asked;
    let data = this.answers.find(choices);
    if (typeof data === "string") data = this.answers.find(choices, await attention.fetched(data));
    if (turn !== this.asked) return true; // something else is asked for meanwhile
    if (!data || typeof data === "string") return false;
    const { mount } = await attention.lazy("picture/picture.js");
    this.choices = data.choices;
    this.hero = await mount(this.root, data, this.host);
    return true;
  }

  /** @returns {Host} */
  get host() {
    const { live, embed } = this.around;
    return {
      tell: (name, value) => { if (name === "choices") this.hear(/** @type {Choices} */ (value)); },
      address: () => `${live}${this.link}`.replace(/^\w+:\/\//, ""),
      ...(embed && { embed }),
    };
  }

  /** What the reader has chosen. @param {Choices} told */
  async hear({ deep = "", ...told }) {
    if (deep && this.around.open?.(String(deep))) return;
    this.notice.hidden = true;
    const asked = { ...this.choices, ...told };
    if (!deep && await this.draw(asked)) return this.around.chosen(this.link);
    this.hero?.refuse();
    this.offerApp(deep ? { ...asked, deep } : asked);
  }

  /** @param {Choices} choices */
  offerApp(choices) {
    const { words, live } = this.around, href = `${live}${this.answers.write(choices)}`;
    this.say(`${words.needs} `, element("a", "", words.open, { href, target: "_blank", rel: "noopener" }));
  }

  /** @param {(string | Node)[]} parts */
  say(...parts) {
    this.notice.replaceChildren(...parts);
    this.notice.hidden = false;
  }
}
