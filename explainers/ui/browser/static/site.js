// A page of the course as a file: its pictures, its questions, its look, and what its reader has done.

/** @import { Host } from "../common/component.js" */
/** @typedef {import("./host.js").Words} Words */
/** @typedef {{ page: string, live: string, line: string, said: string, words: Words, pictures: string }} Around */

import { element } from "../common/elements.js";
import { merge } from "./answers.js";
import { attention, FirstPicture, makeRoot } from "./host.js";

const DONE = "attention-done", THEME = "attention-theme"; // what a reader's browser keeps
const html = document.documentElement;
const night = matchMedia("(prefers-color-scheme: dark)");
/** @type {Set<Drawn>} */
const drawn = new Set();

export async function start() {
  /** @type {Around} */
  const around = JSON.parse(document.getElementById("around")?.textContent ?? "");
  wearTheme();
  judgeAnswers(around);
  const next = /** @type {HTMLElement | null} */ (document.querySelector(".ways [rel=next]"));
  if (!document.querySelector("[data-recall]")) next?.addEventListener("click", () => tick(around.page));
  mark();
  const words = around.pictures ? await attention.fetched(around.pictures) : {};
  for (const place of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-mount]"))) {
    const sent = JSON.parse(place.querySelector("script")?.textContent ?? "");
    sent.data.words = words;
    if ("first" in place.dataset) await openFirst(place, sent, around);
    else whenSeen(place, () => drawn.add(new Drawn(place, sent, around)));
  }
  html.dataset.ready = "";
}

/** @param {HTMLElement} place @param {import("./answers.js").Sent} sent @param {Around} around */
async function openFirst(place, sent, { page, live, line, words }) {
  const stale = element("p", "stale", "", { hidden: "" });
  stale.append(`${words.below} `, element("a", "", words.open, { href: live, "data-live": "" }));
  const read = () => new URLSearchParams(location.search || location.hash.slice(1));
  /** @type {FirstPicture} */
  const picture = new FirstPicture(place, sent, {
    words, live, link: read(),
    chosen: (chosen) => {
      keepLink(chosen);
      stale.hidden = !chosen;
    },
    open: (name) => {
      const card = /** @type {HTMLDetailsElement | null} */ (document.querySelector(`details[data-card="${CSS.escape(name)}"]`));
      if (card) card.open = true;
      card?.scrollIntoView({ block: "start" });
      return card !== null;
    },
    embed: async () => {
      const file = `../embed/${page}.html`, isServed = location.protocol.startsWith("http");
      const address = isServed ? new URL(file, location.href).href + picture.link : `${page}.html${picture.link}`;
      return { name: `${page}.html`, file, line: line.replace("{address}", address.replaceAll("&", "&amp;")) };
    },
  });
  picture.notice.after(stale);
  addEventListener("popstate", () => picture.open(read()));
  await picture.open(read());
}

/** The choices in the address, and in the links that lead to the same picture elsewhere. @param {string} link */
function keepLink(link) {
  const rest = location.hash.includes("=") ? "" : location.hash;
  history.replaceState(history.state, "", `${location.pathname}${link}${rest}`);
  for (const a of /** @type {NodeListOf<HTMLAnchorElement>} */ (document.querySelectorAll("a[data-live]"))) a.href = a.href.replace(/\?.*|$/, link);
}

/** A card's pictures are drawn when it is opened. @param {HTMLElement} place @param {() => void} draw */
function whenSeen(place, draw) {
  const card = place.closest("details");
  if (!card || card.open) draw();
  else card.addEventListener("toggle", draw, { once: true });
}

/** A picture further down, which answers nothing but a click on a number. */
class Drawn {
  /** @param {HTMLElement} place @param {any} sent @param {Around} around */
  constructor(place, sent, around) {
    const { mount = "", root = "" } = place.dataset;
    this.module = `${mount}/${mount}.js`;
    this.sent = sent;
    this.more = {}; // since it was drawn first
    this.root = makeRoot(place, root);
    /** @type {Host} */
    this.host = { tell: (name, what) => this.hear(name, what), address: () => around.live.replace(/^\w+:\/\//, "") };
    this.draw();
  }

  async draw() {
    const { data, dark = {} } = this.sent, worn = isDark() ? merge(data, dark) : data;
    (await attention.lazy(this.module)).mount(this.root, { ...worn, words: data.words, ...this.more }, this.host);
  }

  /** @param {string} name @param {any} what */
  hear(name, what) {
    if (name === "theme") return this.draw();
    if (name !== "cell") return;
    const { panel, row, column, count } = what[what.length - 1], working = this.sent.arithmetic?.[panel]?.[row]?.[column] ?? null;
    this.more = { selected: { panel, row, column }, working, echo: count };
    this.draw();
  }
}

function isDark() {
  return (html.dataset.theme ?? (night.matches ? "dark" : "light")) === "dark";
}

/** By day or by night, as the browser prefers or its reader has chosen. */
function wearTheme() {
  const button = /** @type {HTMLElement} */ (document.querySelector("button.theme")), kept = recall(THEME);
  const wear = () => { for (const one of drawn) one.draw(); };
  if (kept === "light" || kept === "dark") html.dataset.theme = kept;
  button.onclick = () => {
    html.dataset.theme = isDark() ? "light" : "dark";
    keep(THEME, html.dataset.theme);
    wear();
  };
  night.addEventListener("change", wear);
  let worn = html.dataset.theme; // paper is white
  const dress = (/** @type {string | undefined} */ theme) => {
    if (theme) html.dataset.theme = theme;
    else delete html.dataset.theme;
    wear();
  };
  addEventListener("beforeprint", () => { worn = html.dataset.theme; dress("light"); });
  addEventListener("afterprint", () => dress(worn));
}

/** Questions and hidden numbers. @param {Around} around */
function judgeAnswers({ page, said: slot }) {
  const forms = /** @type {NodeListOf<HTMLFormElement>} */ (document.querySelectorAll("form.question"));
  const unanswered = new Set([...forms].filter((form) => "recall" in form.dataset));
  const isAsked = unanswered.size > 0;
  for (const form of forms) {
    const typed = form.querySelector("input");
    const judge = (/** @type {string} */ said) => {
      const isRight = typed ? isNear(said, typed) : said === form.dataset.answer;
      const verdict = /** @type {HTMLElement} */ (form.querySelector(".verdict")), because = /** @type {HTMLElement} */ (form.querySelector(".because"));
      const template = /** @type {HTMLTemplateElement} */ (form.querySelector(`[data-verdict=${isRight ? "right" : "wrong"}]`));
      verdict.replaceChildren(template.content.cloneNode(true));
      for (const part of verdict.querySelectorAll("strong")) if (part.textContent === slot) part.textContent = said;
      because.hidden = false;
      unanswered.delete(form);
      if (isAsked && !unanswered.size) tick(page);
    };
    form.onsubmit = (event) => {
      event.preventDefault();
      if (typed?.value.trim()) judge(typed.value.trim());
    };
    for (const button of /** @type {NodeListOf<HTMLButtonElement>} */ (form.querySelectorAll("button[type=button]"))) button.onclick = () => judge(button.value);
  }
  for (const tile of /** @type {NodeListOf<HTMLButtonElement>} */ (document.querySelectorAll("button.veil"))) {
    tile.onclick = () => {
      const because = tile.closest(".veiled")?.lastElementChild;
      tile.replaceWith(element("mark", "", tile.dataset.answer));
      because?.removeAttribute("hidden");
    };
  }
}

/** Is a typed number near enough, read as any that it can mean? @param {string} said @param {HTMLInputElement} asked */
function isNear(said, { dataset: { number, off } }) {
  const text = said.replace("−", "-").replace(/\s/g, ""), right = Number(number);
  const read = [text, text.replace(",", "."), text.replaceAll(",", ""), text.replaceAll(".", "")].map(parseFloat);
  const shares = read.map((one) => one / 100);
  return [...read, ...(Math.abs(right) < 1 ? shares : [])].some((one) => Math.abs(one - right) <= Number(off) + 1e-9);
}

/** This page is done. @param {string} page */
function tick(page) {
  keep(DONE, [...new Set([...readDone(), page])].join("."));
  mark();
}

/** Which pages of the learning path are done. */
function mark() {
  const done = readDone();
  for (const item of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-page]"))) item.classList.toggle("done", done.includes(item.dataset.page ?? ""));
}

function readDone() { return (recall(DONE) ?? "").split(".").filter(Boolean); }

/** A browser may keep nothing for files, or for nobody. @param {string} name */
function recall(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

/** @param {string} name @param {string} value */
function keep(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch { /* then it holds for this page */ }
}
