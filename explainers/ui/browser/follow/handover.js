// Another device shall lead. It shows a code, and the lecturer types it: so nothing that the audience
// can see or scan is of any use to it, and each code holds for minutes and once. The secret that leads
// from then on was drawn by the other device, and the old one is worthless.

import { element } from "../common/elements.js";
import { _ } from "../common/words.js";
import { drawSecret, post } from "./stream.js";

const WISH = "#lead"; // behind the link of a room, which is for everybody
const RENEW = 270_000, MOST_TIMES = 4; // milliseconds: the server forgets a code after five minutes
const LETTERS = 6;

export const tellDevice = () => _("Scan this with the other device, and type the code that it shows.");

/** Was the page opened by a device that shall lead? */
export function wishesToLead() {
  return location.hash === WISH;
}

/** A device that waits to be accepted. */
export class Heir {
  /** @param {() => void} changed */
  constructor(changed) {
    this.secret = drawSecret();
    this.changed = changed;
    this.code = "";
    this.times = 0;
    this.timer = 0;
  }

  /** @param {string} room @param {string} ballot of the open stream */
  async ask(room, ballot) {
    clearTimeout(this.timer);
    const { status, answer } = await post(`/lead/${room}/ask`, { ballot }, this.secret);
    this.code = status === 200 ? answer.code : "";
    if (++this.times < MOST_TIMES) this.timer = setTimeout(() => this.ask(room, ballot), RENEW);
    this.changed();
  }

  close() {
    clearTimeout(this.timer);
    this.code = "";
  }
}

/**
 * Where the lecturer types the code of the other device.
 * @param {SVGElement} picture leads the other device here
 * @param {(code: string) => Promise<string>} accept  answers what went wrong
 */
export function makeHandover(picture, accept) {
  const form = element("form", "follow-handover", "", { onclick: (event) => event.stopPropagation() }), button = element("button", "", _("Hand over")); // the panel stays
  const problem = element("p", "", "", { role: "status" });
  const field = element("input", "", "", {
    maxlength: LETTERS + 2, autocomplete: "off", spellcheck: false, placeholder: "abc def", "aria-label": tellDevice(), oninput: () => { problem.textContent = ""; },
  });
  form.onsubmit = async (event) => {
    event.preventDefault();
    problem.textContent = await accept(field.value.toLowerCase().replaceAll(/[^a-z2-7]/g, ""));
  };
  const line = element("div");
  line.append(field, button);
  form.append(picture, element("p", "", tellDevice()), line, problem);
  return form;
}
