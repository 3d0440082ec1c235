// @ts-check
// Which parts of a page are a screen: an idea begins with a heading or a question; of each picture
// first the picture, then the code, then what is said of it.

import { listPieces } from "./pieces.js";

const A_SCREENFUL = 560; // letters that a class reads at once
const PICTURE = "[data-testid=stBidiComponentIsolated], [data-testid=stVegaLiteChart], [data-testid=stImage], [data-testid=stSkeleton]";

/** @typedef {"title" | "ask" | "reveal" | "text" | "box" | "end" | "choose" | "code" | "picture"} Kind  of a screen; ui/lecture/screens.py */
/**
 * @typedef {object} Part something on the page
 * @property {HTMLElement} node
 * @property {string} kind
 * @property {string | null} hook the kind that the server gave it, or what holds it
 * @property {HTMLElement | null} box what the server gave that kind
 * @property {string} [name]
 * @property {HTMLElement} [leaf] the remark that it is a paragraph of
 * @property {HTMLElement} [list] the list that it is a point of
 * @property {string} [piece] of a picture: what of it is not shown
 */
/**
 * @typedef {object} Unit a picture and what belongs to it
 * @property {Part | null} picture
 * @property {Part[]} controls
 * @property {Part[]} notices
 * @property {Part[]} badges
 * @property {Part[]} after
 * @property {Part[]} codes
 * @property {Part[]} texts
 * @property {Part[]} later
 * @property {boolean} isBegun
 */

/**
 * All screens of a page, in the order in which it is read.
 * @param {HTMLElement} main
 */
export function listScreens(main) {
  /** @type {Screen[]} */
  const screens = [];
  /** @type {Part | null} */
  let page = null;
  /** @type {Part | null} */
  let head = null;
  let unit = newUnit();
  const add = (/** @type {Kind} */ kind, /** @type {(Part | null)[]} */ parts) =>
    screens.push(new Screen(kind, parts.filter((part) => part !== null)));
  const flush = (/** @type {Part[]} */ keeps = []) => {
    const { picture, controls, notices, badges, after, codes, texts } = unit;
    for (const part of picture ? listPieces(picture.node).map((piece) => ({ ...picture, piece })) : [])
      add("picture", [head, ...controls, ...notices, part, ...badges, ...after]);
    const said = picture ? [] : notices;
    const remarks = screenfuls(texts).map((some) => () => add("text", [head, ...said.splice(0), ...some, ...(picture ? [] : controls)]));
    const sources = codes.map((code) => () => add("code", [head, code]));
    for (const put of picture ? [...sources, ...remarks] : [...remarks, ...sources]) put();
    unit = newUnit(picture ? after.filter((part) => part.kind === "controls") : controls, said, keeps);
  };
  const join = (/** @type {Kind} */ kind, /** @type {Part} */ part) => {
    const open = screens.at(-1);
    // A box is a screen of its own; what is asked may have been put together from several.
    const isSame = open?.kind === kind && (kind === "ask" || open.parts.at(-1)?.box === part.box);
    if (isSame && !unit.isBegun) { open.parts.push(part); return; }
    flush();
    add(kind, kind === "reveal" || kind === "box" ? [head, part] : [part]);
  };
  for (const part of partsOf(main)) {
    if (part.kind === "title") { flush(); head = page = part; continue; }
    if (part.hook === "page" && head !== page) {
      flush();
      head = page;
    }
    if (part.kind === "head") {
      if (part.hook === "ask") join("ask", part);
      else flush();
      head = part;
      continue;
    }
    if (isAlone(part.kind)) { join(part.kind, part); continue; }
    unit.isBegun = true;
    const before = screens.at(-1);
    if (part.kind === "text" && head?.kind === "title" && !before) {
      add("title", [head, part]);
      unit.isBegun = false;
    } else if (part.kind === "text" && before?.kind === "title" && before.parts.at(-1)?.leaf === part.leaf) {
      before.parts.push(part);
    } else if (part.kind === "text") (unit.picture ? unit.later : unit.texts).push(part);
    else if (part.kind === "picture") {
      if (unit.picture) flush(unit.later.splice(0));
      unit.picture = part;
    } else if (part.kind === "controls" && unit.picture) unit.after.push(part);
    else if (part.kind === "badge" && !unit.picture) unit.notices.push(part);
    else unit[GATHERED[part.kind]].push(part);
    if (part.kind === "code") unit.texts.push(...unit.later.splice(0));
  }
  unit.texts.push(...unit.later.splice(0));
  flush();
  return screens.map((screen, place) => screen.named(screens.slice(0, place)));
}

/** @type {Record<string, "controls" | "notices" | "badges" | "codes">} */
const GATHERED = { controls: "controls", notice: "notices", badge: "badges", code: "codes" };

/**
 * Is such a part a screen of its own?
 * @param {string} kind
 * @returns {kind is "ask" | "reveal" | "box" | "end" | "choose"}
 */
function isAlone(kind) {
  return ["ask", "reveal", "box", "end", "choose"].includes(kind);
}

/**
 * @param {Part[]} controls
 * @param {Part[]} notices
 * @param {Part[]} texts
 * @returns {Unit}
 */
function newUnit(controls = [], notices = [], texts = []) {
  return { picture: null, controls: [...controls], notices: [...notices], badges: [], after: [], codes: [], texts, later: [], isBegun: texts.length > 0 };
}

export class Screen {
  /**
   * @param {Kind} kind
   * @param {Part[]} parts
   */
  constructor(kind, parts) {
    this.kind = kind;
    this.parts = parts;
    this.id = "";
  }

  /**
   * Give it a name by which it is found again when the page has been drawn anew.
   * @param {Screen[]} before
   */
  named(before) {
    const own = this.parts.findLast(({ kind }) => kind === this.kind) ?? this.parts[this.parts.length - 1];
    const unnamed = this.kind === "picture" ? this.title() : textOf(own.node); // a chart's words change with its data
    const name = `${this.kind} ${own.name ?? unnamed.slice(0, 60)} ${this.piece ?? ""}`;
    this.id = `${name} ${before.filter((other) => other.kind === this.kind && other.id.startsWith(name)).length}`;
    return this;
  }

  get piece() {
    return this.parts.find(({ kind }) => kind === "picture")?.piece;
  }

  title() {
    const { node } = this.parts.find(({ kind }) => kind === "title" || kind === "head") ?? this.parts[0];
    return textOf(node).slice(0, 120);
  }
}

/** @param {Node} node */
function textOf(node) {
  return node.textContent ?? "";
}

/**
 * As many as a class reads at once; one that is longer stands alone.
 * @param {Part[]} texts
 */
function screenfuls(texts) {
  /** @type {Part[][]} */
  const screens = [];
  let room = 0;
  for (const text of texts) {
    const { length } = textOf(text.node);
    if (length > room || !screens.length) {
      screens.push([]);
      room = A_SCREENFUL;
    }
    screens.at(-1)?.push(text);
    room -= length;
  }
  return screens;
}

/**
 * What is on the page, in the order in which it is read.
 * @param {HTMLElement} main
 */
function partsOf(main) {
  /** @type {Part[]} */
  const parts = [];
  const walk = (/** @type {HTMLElement} */ node, /** @type {string | null} */ above, /** @type {HTMLElement | null} */ around) => {
    for (const child of listChildren(node)) {
      const own = findHook(child), hook = own ?? above, box = own ? child : around;
      const kind = readKind(child, hook);
      if (kind === "inside") walk(child, hook, box);
      else if (kind === "words") parts.push(...blocksOf(child, hook, box));
      else parts.push({ node: child, kind, hook, box, name: nameOf(child) });
    }
  };
  walk(main, null, null);
  return parts.filter(({ kind }) => kind !== "nothing");
}

/**
 * What an element holds.
 * @param {HTMLElement} node
 */
export function listChildren(node) {
  return /** @type {HTMLElement[]} */ ([...node.children]);
}

/**
 * What something on the page is: of a kind, some "words", "nothing", or "inside" it is more.
 * @param {HTMLElement} node
 * @param {string | null} hook
 */
export function readKind(node, hook) {
  const { testid } = node.dataset;
  const has = (/** @type {string} */ what) => node.querySelector(what);
  if (hook === "nothing") return "nothing";
  if (testid === "stLayoutWrapper") {
    if (hook === "code" || hook === "controls") return hook;
    const row = node.querySelector(":scope > [data-testid=stHorizontalBlock]");
    if (has(":scope > [data-testid=stExpander]")) return hook ?? "controls"; // for those who want more
    if (has(":scope > [data-testid=stPopover], :scope > [data-testid=stForm]")) return hook ?? "controls";
    if (!row || has(":scope > * > [data-testid=stColumn]") || has(PICTURE)) return "inside";
    return has("[class*=st-key-files-]") ? "badge" : hook ?? "controls";
  }
  if (testid !== "stElementContainer") return node.matches("style, svg") ? "nothing" : "inside";
  if (has("h1")) return "title";
  if (has(PICTURE)) return "picture";
  if (has("[data-testid=stAlert], [data-testid=stCaptionContainer]")) return hook ?? "notice";
  if (has("[data-testid=stMarkdown], [data-testid=stHeading]")) return "words";
  if (has("[data-testid=stCode]")) return hook ?? "text";
  if (has("[data-testid=stPageLink]") || !node.innerText?.trim()) return "nothing";
  return hook ?? "controls";
}

/**
 * A remark is as many parts as it has paragraphs and points of a list.
 * @param {HTMLElement} leaf
 * @param {string | null} hook
 * @param {HTMLElement | null} box
 */
function blocksOf(leaf, hook, box) {
  /** @type {Part[]} */
  const found = [];
  const text = /** @type {HTMLElement | null} */ (leaf.querySelector("[data-testid=stMarkdownContainer]"));
  for (const node of text ? listChildren(text) : []) {
    if (node.matches("h2") || node.querySelector("h2")) found.push({ node, leaf, kind: "head", hook, box });
    else if ((!hook || hook === "page") && node.matches("ul, ol") && textOf(node).length > A_SCREENFUL)
      found.push(...listChildren(node).map((point) => ({ node: point, leaf, list: node, kind: "text", hook: null, box })));
    else found.push({ node, leaf, kind: !hook || hook === "page" ? "text" : hook, hook, box });
  }
  return found;
}

/**
 * "ask" of a container whose key begins with "lecture ask".
 * @param {Element} node
 */
export function findHook(node) {
  return [...node.classList].find((name) => name.startsWith("st-key-lecture-"))?.split("-")[3] ?? null;
}

/** @param {Element} node */
function nameOf(node) {
  const own = node.matches("[class*=st-key-]") ? node : node.querySelector("[class*=st-key-]");
  return own ? [...own.classList].find((name) => name.startsWith("st-key-")) : undefined;
}
