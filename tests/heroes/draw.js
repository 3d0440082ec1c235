// Draw pictures without a browser, and say what is in them.
//
// Reads { advances, rooms, pictures } as JSON: how wide letters are, in hundredths of their size; the
// widths that a picture has in windows; and [what a page sends for its picture, whether to click].
// Prints for each picture and room { picture, room, clicked, told, waits, says, height, nodes }: see
// `list` for a node. `clicked` is the button, `told` what is chosen after it, in the address or told at once.

import { DOMParser, parseHTML } from "npm:linkedom@0.18.12";

const BROWSER = new URL("../../explainers/ui/browser/", import.meta.url);
const DARK = 14; // of a picture's background: shown by night
const told = JSON.parse(await new Response(Deno.stdin.readable).text());

const later = setTimeout;
/** @type {(() => void)[]} what pictures want done in a while */
const due = [];
standIn();
const { default: draw } = await import(new URL("picture/picture.js", BROWSER).href);
for (const [picture, [sent, isClicked]] of told.pictures.entries()) {
  for (const room of told.rooms) await print(picture, sent, room);
  for (let place = 0; isClicked && await print(picture, sent, told.rooms[0], place); place++);
}

/** Draw a picture, click one of its buttons, and print; is there such a button? */
async function print(picture, sent, room, place) {
  const heard = [], root = await open(sent, room, (_name, choices) => heard.push(choices));
  const button = place === undefined ? null : chooseButtons(root)[place];
  if (button === undefined) return false;
  const clicked = button && `${button.parentElement.className} ${button.className}: ${button.textContent || button.getAttribute("aria-label")}`;
  button?.click();
  const waits = root.classList.contains("waiting"); // for the server, which alone has the numbers
  if (button) due.splice(0).forEach((done) => done());
  const height = parseFloat(readStyle(root.querySelector(".stage")).height ?? "0");
  const says = root.querySelector(".says").textContent;
  for (const [name, { value }] of attentionAddress.unheard) heard[0] = { ...heard[0], [name]: value };
  console.log(JSON.stringify({ picture, room, clicked, told: heard, waits, says, height, nodes: [...list(root)] }));
  return true;
}

/** A picture in a room of this many pixels, after it has come to rest. */
async function open(sent, room, setTriggerValue) {
  document.body.innerHTML = '<div><div class="hero"></div></div>';
  globalThis.attentionAddress?.unheard.clear();
  const [parent] = document.body.children, [root] = parent.children;
  Object.defineProperty(root, "clientWidth", { value: room });
  const data = new TextEncoder().encode(JSON.stringify(sent));
  await draw({ parentElement: parent, data, setTriggerValue });
  // What was begun goes on: numbers that are unpacked, say.
  for (let turns = 0; turns < 50 && !root.querySelector(".says").textContent; turns++) await new Promise((done) => later(done, 0));
  due.length = 0;
  return root;
}

/** All that is offered as choices and experiments, and two of each other kind of button. */
function chooseButtons(root) {
  const kinds = new Map();
  for (const button of root.querySelectorAll("button:not([hidden]):not(.copy)")) {
    const isOffered = button.closest(".chips, .experiments"), kind = isOffered ? button : button.className;
    kinds.set(kind, [...(kinds.get(kind) ?? []), button].slice(0, 2));
  }
  return [...kinds.values()].flat();
}

/** What is seen: [its parents' names, its name, text, style, other attributes, what a pen drew on it]. */
function* list(node, way = "") {
  for (const one of node.children) {
    const style = readStyle(one);
    if (style.opacity === "0" || style.visibility === "hidden" || one.hasAttribute("hidden")) continue;
    const name = `${one.tagName.toLowerCase()}.${(one.getAttribute("class") ?? "").trim().split(/\s+/).join(".")}`;
    const own = [...one.childNodes].filter((part) => part.nodeType === 3).map((part) => part.textContent).join("");
    const text = style["font-size"] ? one.textContent : own;
    const others = [...one.attributes].filter(({ name: key }) => !["class", "style", "id"].includes(key));
    const attributes = Object.fromEntries(others.map(({ name: key, value }) => [key, rounded(value)]));
    yield [way, name, text, style, attributes, one.strokes ?? null];
    yield* list(one, `${way} ${name}`.trim());
  }
}

/** Numbers to a tenth of a pixel; marks that are named by chance have one name. */
function rounded(text) {
  return text.replace(/-?\d+\.\d+/g, (number) => String(+(+number).toFixed(1))).replace(/#glow-\w+/g, "#glow");
}

function readStyle(node) {
  const parts = (node.getAttribute("style") ?? "").split(";").map((part) => part.split(/:(.*)/s));
  const named = parts.map(([key, value]) => [key.trim(), rounded((value ?? "").trim())]);
  return Object.fromEntries(named.filter(([key, value]) => value && !["transition-delay", "--fading"].includes(key)));
}

/** What pictures ask a browser for, where linkedom has none: nothing moves, nobody waits. */
function standIn() {
  const page = parseHTML("<html><body></body></html>"), { document, HTMLElement, SVGElement } = page;
  const never = () => 0;
  Object.assign(globalThis, {
    window: globalThis, DOMParser, HTMLElement, SVGElement, document, Event: page.Event, CustomEvent: page.CustomEvent, Node: page.Node,
    ShadowRoot: class {}, devicePixelRatio: 1, innerWidth: Math.max(...told.rooms),
    location: new URL("http://app/"), History: class { pushState() {} replaceState() {} },
    matchMedia: () => ({ matches: true, addEventListener: never }),
    ResizeObserver: class { observe() {} disconnect() {} },
    IntersectionObserver: class { observe() {} disconnect() {} },
    MutationObserver: class { observe() {} disconnect() {} },
    requestAnimationFrame: never, cancelAnimationFrame: never, setTimeout: (done) => due.push(done), clearTimeout: never,
    getComputedStyle: () => ({
      fontFamily: "sans-serif", color: "rgb(230, 230, 230)", getPropertyValue: (name) => name.includes("background") ? `rgb(${DARK}, ${DARK}, ${DARK})` : "",
    }),
    CSSStyleSheet: class { replace() { return Promise.resolve(this); } },
    fetch: () => Promise.resolve({ ok: true, text: () => "" }),
    ImageData: class { constructor(data, width) { Object.assign(this, { data, width }); } },
  });
  globalThis.history = new History();
  document.fonts = { ready: new Promise(() => {}), status: "loaded" };
  document.adoptedStyleSheets = [];
  const create = document.createElement.bind(document);
  document.createElement = (tag) => tag === "canvas" ? giveAPen(create(tag)) : create(tag);
  for (const { prototype } of [HTMLElement, SVGElement]) {
    mirror(prototype, ["ariaLabel", "ariaChecked", "ariaPressed", "ariaExpanded", "ariaSelected", "ariaCurrent", "ariaValueText", "ariaHidden", "ariaDisabled"]);
    for (const key of ["offsetWidth", "offsetHeight", "clientHeight", "scrollWidth"]) Object.defineProperty(prototype, key, { configurable: true, value: 0 });
    for (const key of ["scrollIntoView", "focus", "setPointerCapture"]) prototype[key] = () => {};
    prototype.animate = () => ({ finished: Promise.resolve(), cancel() {}, finish() {} });
    prototype.getBoundingClientRect = () => ({ left: 0, top: 0, right: 0, bottom: 0, width: 0, height: 0 });
    prototype.getTotalLength = () => 0;
  }
}

/** Properties that are attributes. */
function mirror(prototype, keys) {
  for (const key of keys) {
    const name = key.toLowerCase().replace("aria", "aria-");
    Object.defineProperty(prototype, key, {
      configurable: true,
      get() { return this.getAttribute(name); },
      set(value) { value === null ? this.removeAttribute(name) : this.setAttribute(name, value); },
    });
  }
}

/** A canvas whose pen knows how wide letters are, and remembers as one number what it drew. */
function giveAPen(canvas) {
  const pen = {
    measureText: (text) => ({ width: measure(text, pen.font) }),
    createImageData: (width, height) => new ImageData(new Uint8ClampedArray(4 * width * height), width),
    getImageData: (_x, _y, width, height) => new ImageData(new Uint8ClampedArray(4 * width * height), width),
  };
  const state = {};
  const remember = (...what) => { canvas.strokes = digest(what, canvas.strokes ?? 0); };
  canvas.getContext = () => new Proxy(pen, {
    get: (_pen, key) => pen[key] ?? state[key] ?? ((...all) => { if (key === "clearRect") canvas.strokes = 0; else remember(key, ...all); }),
    set: (_pen, key, value) => { state[key] = value; if (key === "font") pen.font = value; else remember(key, value); return true; },
  });
  return canvas;
}

/** FNV-1a over everything that was drawn, numbers to a hundredth. */
function digest(what, so) {
  let sum = so || 0x811c9dc5;
  const add = (byte) => { sum = Math.imul(sum ^ byte, 0x01000193) >>> 0; };
  const take = (one) => {
    if (one instanceof ImageData) one.data.forEach(add);
    else if (ArrayBuffer.isView(one)) one.forEach(add);
    else for (const letter of typeof one === "number" ? one.toFixed(2) : String(one?.constructor === Object ? JSON.stringify(one) : one)) add(letter.codePointAt(0));
  };
  what.forEach(take);
  return sum;
}

function measure(text, font = "600 100px") {
  const [, size] = /([\d.]+)px/.exec(font) ?? [0, "100"];
  return [...text].reduce((wide, letter) => wide + (told.advances[letter] ?? 50), 0) * (Number(size) / 100);
}
