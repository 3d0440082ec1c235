// Which parts of a page are a screen: an idea begins with a heading or a question; of each picture
// first the picture, then the code, then what is said of it.

const A_SCREENFUL = 560; // letters that a class reads at once
const PICTURE = "[data-testid=stBidiComponentIsolated], [data-testid=stVegaLiteChart], [data-testid=stImage], [data-testid=stSkeleton]";

function screensOf(main) {
  const screens = [];
  let page = null, head = null, unit = newUnit();
  const add = (kind, parts) => screens.push(new Screen(kind, parts.filter(Boolean)));
  const flush = (keeps = []) => {
    const { picture, controls, notices, badges, after, codes, texts } = unit;
    for (const piece of picture ? piecesOf(picture.node) : [])
      add("picture", [head, ...controls, ...notices, { ...picture, piece }, ...badges, ...after]);
    const said = picture ? [] : notices;
    const remarks = screenfuls(texts).map((some) => () => add("text", [head, ...said.splice(0), ...some, ...(picture ? [] : controls)]));
    const sources = codes.map((code) => () => add("code", [head, code]));
    for (const put of picture ? [...sources, ...remarks] : [...remarks, ...sources]) put();
    unit = newUnit(picture ? after.filter((part) => part.kind === "controls") : controls, said, keeps);
  };
  const join = (kind, part) => {
    const open = screens.at(-1);
    // A box is a screen of its own; what is asked may have been put together from several.
    const isSame = open?.kind === kind && (kind === "ask" || open.parts.at(-1).box === part.box);
    if (isSame && !unit.isBegun) return open.parts.push(part);
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
    if (["ask", "reveal", "box", "choose"].includes(part.kind)) { join(part.kind, part); continue; }
    unit.isBegun = true;
    if (part.kind === "text" && head?.kind === "title" && !screens.length) {
      add("title", [head, part]);
      unit.isBegun = false;
    } else if (part.kind === "text" && screens.at(-1)?.kind === "title" && screens.at(-1).parts.at(-1).leaf === part.leaf) {
      screens.at(-1).parts.push(part);
    } else if (part.kind === "text") (unit.picture ? unit.later : unit.texts).push(part);
    else if (part.kind === "picture") {
      if (unit.picture) flush(unit.later.splice(0));
      unit.picture = part;
    } else if (part.kind === "controls" && unit.picture) unit.after.push(part);
    else if (part.kind === "badge" && !unit.picture) unit.notices.push(part);
    else unit[{ controls: "controls", notice: "notices", badge: "badges", code: "codes" }[part.kind]].push(part);
    if (part.kind === "code") unit.texts.push(...unit.later.splice(0));
  }
  unit.texts.push(...unit.later.splice(0));
  flush();
  return screens.map((screen, place) => screen.named(screens.slice(0, place)));
}

function newUnit(controls = [], notices = [], texts = []) {
  return { picture: null, controls: [...controls], notices: [...notices], badges: [], after: [], codes: [], texts, later: [], isBegun: texts.length > 0 };
}

class Screen {
  constructor(kind, parts) {
    Object.assign(this, { kind, parts });
  }

  // A name by which it is found again when the page has been drawn anew.
  named(before) {
    const own = this.parts.findLast(({ kind }) => kind === this.kind) ?? this.parts.at(-1);
    const unnamed = this.kind === "picture" ? this.title() : own.node.textContent; // a chart's words change with its data
    const name = `${this.kind} ${own.name ?? unnamed.slice(0, 60)} ${this.piece ?? ""}`;
    this.id = `${name} ${before.filter((other) => other.kind === this.kind && other.id.startsWith(name)).length}`;
    return this;
  }

  get piece() {
    return this.parts.find(({ kind }) => kind === "picture")?.piece;
  }

  title() {
    const { node } = this.parts.find(({ kind }) => kind === "title" || kind === "head") ?? this.parts[0];
    return node.textContent.slice(0, 120);
  }
}

// As many as a class reads at once; one that is longer stands alone.
function screenfuls(texts) {
  const screens = [];
  let room = 0;
  for (const text of texts) {
    const length = text.node.textContent.length;
    if (length > room || !screens.length) {
      screens.push([]);
      room = A_SCREENFUL;
    }
    screens.at(-1).push(text);
    room -= length;
  }
  return screens;
}

// What is on the page, in the order in which it is read.
function partsOf(main) {
  const parts = [];
  const walk = (node, above, around) => {
    for (const child of node.children) {
      const own = hookOf(child), hook = own ?? above, box = own ? child : around;
      const kind = kindOf(child, hook);
      if (kind === "inside") walk(child, hook, box);
      else if (kind === "words") parts.push(...blocksOf(child, hook).map((part) => ({ ...part, box })));
      else parts.push({ node: child, kind, hook, box, name: nameOf(child) });
    }
  };
  walk(main, null, null);
  return parts.filter(({ kind }) => kind !== "nothing");
}

function kindOf(node, hook) {
  const { testid } = node.dataset;
  const has = (what) => node.querySelector(what);
  if (hook === "nothing" || node.matches(".st-key-tour")) return "nothing";
  if (testid === "stLayoutWrapper") {
    if (["code", "controls"].includes(hook)) return hook;
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

// A remark is as many parts as it has paragraphs and points of a list.
function blocksOf(leaf, hook) {
  const found = [];
  for (const node of leaf.querySelector("[data-testid=stMarkdownContainer]")?.children ?? []) {
    if (node.matches("h2") || node.querySelector("h2")) found.push({ node, leaf, kind: "head", hook });
    else if ((!hook || hook === "page") && node.matches("ul, ol") && node.textContent.length > A_SCREENFUL)
      found.push(...[...node.children].map((point) => ({ node: point, leaf, list: node, kind: "text" })));
    else found.push({ node, leaf, kind: !hook || hook === "page" ? "text" : hook, hook });
  }
  return found;
}

// "ask" of a container whose key begins with "lecture ask".
function hookOf(node) {
  return [...node.classList].find((name) => name.startsWith("st-key-lecture-"))?.split("-")[3];
}

function nameOf(node) {
  const own = node.matches("[class*=st-key-]") ? node : node.querySelector("[class*=st-key-]");
  return own && [...own.classList].find((name) => name.startsWith("st-key-"));
}
