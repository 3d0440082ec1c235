// "Try it": buttons that change the picture, say what happened, and take it back.

import { element, makeSentenceNodes } from "../common/elements.js";
import { hostOf } from "../common/component.js";
import { photograph, save } from "../common/snapshot.js";
import { _ } from "../common/words.js";

/** @typedef {import("./hero.js").Experiment} Experiment */
/** @typedef {import("./hero.js").Choice} Choice */

export class Experiments {
  /**
   * @param {HTMLElement} root @param {(some: Record<string, Choice>) => void} choose
   * @param {() => Record<string, Choice>} choices as they are
   */
  constructor(root, choose, choices) {
    this.hero = root;
    this.root = root.appendChild(element("section", "experiments"));
    this.choose = choose;
    this.choices = choices;
    /** @type {Record<string, Choice>} what an experiment has changed, as it was before */
    this.before = {};
    /** @type {Record<string, Choice>} what the picture shows where nothing was chosen */
    this.usual = {};
    /** @type {Map<Experiment, HTMLElement>} */
    this.cards = new Map();
  }

  /** @param {Experiment[]} experiments @param {Record<string, Choice>} usual choices */
  offer(experiments, usual) {
    this.usual = usual;
    this.root.hidden = experiments.length === 0;
    this.back = element("button", "back", _("Reset"), { onclick: () => this.reset() });
    const head = element("header"), grid = element("div", "grid"), { embed } = hostOf(this.hero);
    head.append(element("h2", "", _("Try it")), this.back, ...(embed ? [addEmbedButton(embed)] : []), addCopyButton(this.hero));
    this.cards = new Map(experiments.map((experiment) => [experiment, this.card(experiment)]));
    grid.append(...this.cards.values());
    this.root.replaceChildren(head, grid);
    this.mark();
  }

  /** @param {Experiment} experiment */
  card(experiment) {
    const card = element("div", "card"), turn = () => (this.isOn(experiment) ? this.reset(experiment) : this.set(experiment));
    card.append(element("button", "", experiment.title, { onclick: turn }), element("p", "", "", { "aria-live": "polite" }));
    return card;
  }

  /** As it is with what is chosen now. @param {Experiment} experiment */
  now(experiment) {
    return experiment.each?.[String(this.choices()[experiment.by ?? ""])] ?? experiment;
  }

  /** @param {Experiment} experiment */
  isOn(experiment) {
    const now = this.choices(), { choices } = this.now(experiment);
    return Object.entries(choices).every(([key, value]) => String(now[key]) === String(value));
  }

  /** One experiment begins where the reader was, not where the last one ended. @param {Experiment} experiment */
  set(experiment) {
    const { choices } = this.now(experiment);
    const was = { ...this.choices(), ...this.before }, changed = { ...this.before, ...choices };
    this.before = Object.fromEntries(Object.keys(changed).map((key) => [key, was[key]]));
    this.choose({ ...this.before, ...choices });
    this.root.parentElement?.scrollIntoView({ block: "start", behavior: "smooth" });
  }

  /** Back to where the reader was; from an experiment that came with the link, to the usual picture. @param {Experiment} [experiment] */
  reset(experiment) {
    const usual = Object.keys(experiment ? this.now(experiment).choices : {}).map((key) => [key, this.usual[key]]);
    const back = { ...Object.fromEntries(usual), ...this.before };
    this.before = {};
    this.choose(back);
  }

  /** Which one is shown, and what is said of it. */
  mark() {
    for (const [experiment, card] of this.cards) {
      const isOn = this.isOn(experiment), { title, text: remark } = this.now(experiment), button = card.firstElementChild;
      if (button && button.textContent !== title) button.textContent = title;
      card.classList.toggle("on", isOn);
      button?.setAttribute("aria-pressed", String(isOn));
      const said = /** @type {HTMLElement} */ (card.lastElementChild), text = isOn ? remark : "";
      if (said.dataset.text === text) continue;
      said.dataset.text = text;
      said.replaceChildren(...makeSentenceNodes(text, {}));
    }
    if (this.back) this.back.hidden = Object.keys(this.before).length === 0;
  }
}

// A button that copies the picture it stands in.

const SAID_FOR = 2500; // milliseconds

/** @param {HTMLElement} hero */
function addCopyButton(hero) {
  const button = element("button", "copy", _("Copy as picture"));
  button.onclick = async () => {
    button.disabled = true;
    button.textContent = await copy(hero).catch(() => _("It could not be copied"));
    button.disabled = false;
    setTimeout(() => { button.textContent = _("Copy as picture"); }, SAID_FOR);
  };
  return button;
}

/** To the clipboard, or where a browser forbids that, to a file; says which. @param {HTMLElement} hero */
async function copy(hero) {
  const picture = photograph(hero, "png");
  try {
    await navigator.clipboard.write([new ClipboardItem({ "image/png": picture })]);
    return _("Copied");
  } catch {
    save(await picture, "attention.png");
    return _("Saved as a file");
  }
}

/** The picture for another page: a file, and the line that shows it. @param {() => Promise<import("../common/component.js").Offer>} offer */
function addEmbedButton(offer) {
  const box = element("div", "offer", "", { hidden: "" });
  return element("button", "copy embed", _("Embed"), { "aria-expanded": "false", onclick: async ({ currentTarget: button }) => {
    if (!box.isConnected) button.parentElement?.after(box);
    box.hidden = !box.hidden;
    button.setAttribute("aria-expanded", String(!box.hidden));
    if (!box.hidden) box.replaceChildren(...await describeOffer(offer).catch(() => [_("It could not be saved")]));
  } });
}

/** @param {() => Promise<import("../common/component.js").Offer>} offer */
async function describeOffer(offer) {
  const { name, file, line } = await offer(), href = typeof file === "string" ? file : URL.createObjectURL(file);
  const text = element("textarea", "line", line, { readonly: "", rows: 3, "aria-label": _("HTML for your page"), onfocus: () => text.select() });
  const button = element("button", "copy", _("Copy this line"), { onclick: async () => {
    const isCopied = await navigator.clipboard.writeText(line).then(() => true, () => false);
    if (isCopied) button.textContent = _("Copied");
    else text.select();
  } });
  return [element("a", "copy", _("Save {name}", { name }), { download: name, href }), button, text];
}
