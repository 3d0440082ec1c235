// What a server would answer to a picture's choices, from what was computed beforehand: export/embed.py.

/** @typedef {import("../picture/hero.js").Choice} Choice */
/** @typedef {Record<string, Choice>} Choices */
/** @typedef {import("../picture/hero.js").HeroData & Record<string, any>} Data */
/** @typedef {Record<string, any>} Changes  parts of the data that are others */
/**
 * @typedef {object} Sent
 * @property {Data} data as the page opens
 * @property {Choices} [opens] what the app's page opens with, if that is something else
 * @property {Record<string, Changes | string>} far by the values of what only a server draws: changes, or the file that has them
 * @property {Record<string, Choice[] | { from: number, to: number }>} values that may be chosen
 * @property {Record<string, Record<string, { opens: Choices } & Pick<Sent, "values" | "allowed">>>} [led] by a choice and its value: what
 *   others are where nobody chose them, and may be, where that is something else
 * @property {string[]} drawn choices whose values are drawings of a mask
 * @property {number} most_drawn words of such a drawing
 * @property {string[]} lists choices whose values are lists of letters: a link repeats their names
 * @property {Record<string, string>} allowed values in words
 */
/** @typedef {{ name: string, wanted: string, allowed: string, value: string }} Refused */

const LONGEST = 400; // letters of a text
const OF_PAGES = ["text", "weights", "seed", "queries"]; // what a link says to all pages, though not to all pictures

export class Answers {
  /** @param {Sent} sent */
  constructor(sent) {
    this.sent = sent;
    this.base = sent.data;
  }

  /**
   * The data for these choices, or the file that has them, or nothing: only the app can compute it.
   * @param {Choices} choices @param {Changes} [fetched] from that file @returns {Data | string | null}
   */
  find(choices, fetched) {
    const { elsewhere, choices: first } = this.base, key = `[${elsewhere.map((name) => JSON.stringify(choices[name])).join(", ")}]`; // as Python writes a list: files are named by it
    const isBase = elsewhere.every((name) => choices[name] === first[name]);
    const changes = isBase ? {} : fetched ?? this.sent.far[key];
    if (!changes || typeof changes === "string") return changes ?? null;
    const chosen = Object.fromEntries(Object.entries(choices).filter(([name, value]) => value !== first[name] || elsewhere.includes(name)));
    return { ...this.base, ...changes, choices: { ...first, ...changes.choices, ...chosen } };
  }

  /**
   * Choices that a link makes, those that it may not, and those that only the app reads.
   * @param {URLSearchParams} link @returns {{ choices: Choices, refused: Refused[], left: Choices }}
   */
  read(link) {
    const choices = { ...this.base.choices }, /** @type {Refused[]} */ refused = [], { led = {} } = this.sent;
    let { values, allowed } = this.sent;
    const left = Object.fromEntries(OF_PAGES.filter((name) => link.has(name) && !(name in choices)).map((name) => [name, link.get(name) ?? ""]));
    for (const name of Object.keys(choices)) {
      const asked = link.getAll(name), wanted = this.sent.lists.includes(name) ? asked.join("") : asked[asked.length - 1];
      const value = asked.length ? this.take(name, wanted, values[name]) : choices[name];
      if (value !== undefined) choices[name] = value;
      else {
        const here = values[name], isTooMuch = Array.isArray(here) && this.take(name, wanted, this.sent.values[name]) !== undefined;
        if (isTooMuch) choices[name] = here[here.length - 1];
        refused.push({ name, wanted: wanted.slice(0, 60), allowed: allowed[name], value: String(choices[name]) });
      }
      const follow = led[name]?.[String(choices[name])];
      if (!follow) continue;
      Object.assign(choices, follow.opens);
      values = { ...values, ...follow.values };
      allowed = { ...allowed, ...follow.allowed };
    }
    return { choices, refused, left };
  }

  /** What a text of a link chooses. @param {string} name @param {string} text @param {Sent["values"][string]} [offered] @returns {Choice | undefined} */
  take(name, text, offered) {
    const { drawn, lists, most_drawn: most } = this.sent;
    if (drawn.includes(name)) return /^(full|causal|[0-9a-f]{1,7}(\.[0-9a-f]{1,7})*)$/.test(text) && text.split(".").length <= most ? text : undefined;
    if (!offered) return text.length <= LONGEST ? text : undefined; // a sentence: the app's to read
    if ("from" in offered) {
      const number = /^-?\d{1,9}$/.test(text) ? Number(text) : NaN;
      return number >= offered.from && number <= offered.to ? number : undefined;
    }
    if (lists.includes(name)) return offered.find((one) => sorted(String(one)) === sorted(text));
    return offered.find((one) => isValue(text, one));
  }

  /** The choices that are others than as the page opens, as a link. @param {Choices} choices */
  write(choices) {
    const link = new URLSearchParams(), opens = { ...(this.sent.opens ?? this.base.choices) };
    for (const [name, value] of Object.entries(choices)) {
      if (value !== opens[name] && value !== null) for (const one of this.sent.lists.includes(name) ? String(value) || [""] : [value]) link.append(name, String(one));
      Object.assign(opens, this.sent.led?.[name]?.[String(value)]?.opens);
    }
    return link.size ? `?${link}` : "";
  }
}

/** What one language has with what is other in another one. @param {any} base @param {any} changes @returns {any} */
export function merge(base, changes) {
  const isPlain = (/** @type {any} */ one) => one !== null && typeof one === "object" && !Array.isArray(one);
  if (!isPlain(base) || !isPlain(changes)) return changes;
  const both = { ...base };
  for (const [name, value] of Object.entries(changes)) both[name] = Object.hasOwn(base, name) ? merge(base[name], value) : value;
  return both;
}

/** @param {string} letters */
function sorted(letters) { return [...letters].sort().join(""); }

/** @param {string} text of a link @param {Choice} value */
function isValue(text, value) {
  if (typeof value === "boolean") return (value ? ["true", "1"] : ["false", "0"]).includes(text.toLowerCase());
  if (typeof value === "number") return text.trim() !== "" && Math.abs(Number(text) - value) <= 1e-9 * Math.abs(value);
  return text === value;
}
