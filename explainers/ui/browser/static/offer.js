// The picture on a page of the app as a file of its own: the server sends a file without numbers, and the
// browser puts those in that the picture was sent.

import { locate } from "../common/component.js";

/** @typedef {import("../picture/hero.js").HeroData & Record<string, any>} Data */
/** @typedef {import("../picture/hero.js").Choice} Choice */

/**
 * @param {Data} data that the picture was sent @param {Record<string, Choice>} choices as they are
 * @returns {Promise<import("../common/component.js").Offer>}
 */
export async function writeOffer(data, choices) {
  const lang = document.documentElement.lang || "en", asked = new URLSearchParams({ kind: data.kind, lang });
  const answer = await fetch(locate(`/embed?${asked}`));
  if (!answer.ok) throw new Error(`${answer.status}`);
  const { page, line } = await answer.json(), place = location.pathname.split("/").filter(Boolean).pop() ?? "start";
  const name = `${place}.html`, title = document.title, live = location.href.replace(/\/?([?#].*)?$/, "");
  const file = page.replace('"live":""', () => `"live":${embed(live)}`).replace(/(id="numbers">)null(?=<)/, (/** @type {string} */ _all, /** @type {string} */ tag) => tag + embed({ "": describe(data, choices, title) }));
  return { name, file: new Blob([file], { type: "text/html" }), line: fill(line, { address: name, title }) };
}

/** What the file may be asked for: what only a server draws, it has not. @param {Data} data @param {Record<string, Choice>} choices @param {string} title */
function describe(data, choices, title) {
  const { elsewhere, usual } = data;
  const isHere = (/** @type {{ choices: Record<string, Choice> }} */ one) => elsewhere.every((key) => !(key in one.choices) || one.choices[key] === choices[key]);
  const experiments = data.experiments.filter(isHere);
  const values = Object.fromEntries(Object.keys(choices).map((key) => [key, [...new Set([choices[key], usual[key], ...experiments.map((one) => one.choices[key])])].filter((one) => one !== undefined)]));
  const allowed = Object.fromEntries(Object.entries(values).map(([key, all]) => [key, all.join(", ")]));
  const ahead = typeof data.ahead === "string" ? { ahead: "" } : {};
  return { data: { ...data, ...ahead, choices, experiments, link: {} }, opens: usual, far: {}, values, drawn: [], most_drawn: 0, lists: [], allowed, title };
}

/** JSON that ends no script. @param {unknown} what */
function embed(what) {
  return JSON.stringify(what).replace(/[<>&\u2028\u2029]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** HTML with texts in its slots. @param {string} line @param {Record<string, string>} slots */
function fill(line, slots) {
  return line.replace(/\{(\w+)\}/g, (_all, slot) => slots[slot].replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`));
}
