// @ts-check
// The ribbon itself: bars, and lines of marks, on one canvas; its words are nodes above it.

/** @import { Stage } from "../stage.js" */
/** @import { Look } from "../palette.js" */
/** @import { Tween } from "../motion.js" */

import { element } from "../../common/elements.js";
import { _ } from "../../common/words.js";
import { percent } from "../sentence.js";

/** @typedef {{ name: string, keys: number[], share: string, loss: string, isChosen: boolean }} Line */
/**
 * @typedef {object} Shown
 * @property {string[]} tokens
 * @property {number} query
 * @property {number[]} weights
 * @property {number} seen keys
 * @property {string} title
 * @property {string} short the title where there is little room
 * @property {string} full
 * @property {string} asks
 * @property {Line[]} lines
 */

const QUOTE = 34, HEAD = 24, BAND = 30, GAP = 8, MARKS = 9; // pixels: the quotation, a line's words, its bars and marks
const LABELS = 5, NOTED = 0.02; // bars with a word above them, and the smallest weight that gets one
const MOST_BEFORE = 9, SEEN = 3; // tokens in front of the query that are quoted; pixels of a bar that is to be seen

export class Ribbon {
  /**
   * @param {Stage} stage
   * @param {{ ask: (token: number) => void, pick: (policy: string) => void }} told
   */
  constructor(stage, { ask, pick }) {
    this.stage = stage;
    this.ask = ask;
    this.pick = pick;
    this.canvas = stage.root.appendChild(element("canvas", "reading-canvas"));
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "slider");
    this.canvas.setAttribute("aria-label", _("The token that asks"));
    this.pen = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d"));
    this.canvas.onclick = (event) => { const token = this.tokenAt(event); if (token !== null) this.ask(token); };
    this.canvas.onpointermove = (event) => this.point(this.tokenAt(event));
    this.canvas.onpointerleave = () => this.point(null);
    this.canvas.onkeydown = (event) => this.press(event);
    this.asks = stage.add("div", "text quiet");
    this.quote = stage.add("div", "text reading-quote");
    this.before = this.quote.appendChild(element("span"));
    this.word = this.quote.appendChild(element("b", "reading-word"));
    this.title = stage.add("div", "text reading-name");
    this.heads = [_("weight kept"), _("loss")].map((text) => stage.add("div", "text quiet", text));
    this.whole = [0, 1].map(() => stage.add("div", "text"));
    this.pointed = stage.add("div", "text reading-pointed");
    this.labels = Array.from({ length: LABELS }, () => stage.add("div", "text reading-label"));
    /** @type {{ name: HTMLButtonElement, share: HTMLElement, loss: HTMLElement }[]} */
    this.lines = [];
    /** @type {Shown | null} */
    this.shown = null;
    this.colours = { bar: "", missed: "", query: "", quiet: "", track: "" };
  }

  get isPhone() { return this.stage.room < 560; }
  get tall() { return this.isPhone ? 84 : 104; }
  /** Pixels of a token. */
  get step() { return this.stage.room / Math.max(1, this.shown?.tokens.length ?? 1); }
  get top() { return QUOTE + HEAD; }
  /** Where a line's bars begin. @param {number} line */
  bandOf(line) { return this.top + this.tall + 26 + line * (HEAD + BAND + GAP) + HEAD; }

  /** @param {string[]} policies */
  renew(policies) {
    if (this.lines.length === policies.length) return;
    this.lines = policies.map((policy) => {
      const name = this.stage.add("button", "reading-name");
      name.onclick = () => this.pick(policy);
      return { name, share: this.stage.add("div", "text reading-share"), loss: this.stage.add("div", "text reading-loss") };
    });
  }

  /** @param {HTMLElement} root @param {Look} look */
  wear(root, look) {
    const style = getComputedStyle(root), ink = style.color;
    this.colours = { bar: look.heads[0], missed: look.wrong, query: look.query, quiet: ink, track: ink };
  }

  /** @param {Shown} shown */
  place(shown) {
    this.shown = shown;
    const { stage, isPhone, top, tall, step } = this, { room } = stage, size = isPhone ? 14 : 15;
    const columns = [room - (isPhone ? 52 : 96), room - 2];
    this.placeQuote(shown, isPhone);
    this.title.textContent = isPhone ? shown.short : shown.title;
    stage.write(this.title, 0, QUOTE + HEAD / 2, size, 1, 0, "left");
    this.heads.forEach((node, at) => stage.write(node, columns[at], QUOTE - 12, isPhone ? 13 : 14, 1, 0, "right"));
    [percent(1), shown.full].forEach((text, at) => {
      this.whole[at].textContent = text;
      stage.write(this.whole[at], columns[at], QUOTE + HEAD / 2, size, 1, 0, "right");
    });
    this.placeLabels(shown, step, top, tall);
    shown.lines.forEach((line, at) => {
      const { name, share, loss } = this.lines[at], y = this.bandOf(at) - HEAD / 2;
      name.textContent = line.name;
      name.setAttribute("aria-pressed", String(line.isChosen));
      stage.write(name, 0, y, size, 1, 0, "left");
      for (const [node, text, x] of /** @type {const} */ ([[share, line.share, columns[0]], [loss, line.loss, columns[1]]])) {
        node.textContent = text;
        node.classList.toggle("chosen", line.isChosen);
        stage.write(node, x, y, line.isChosen ? size + 2 : size, 1, 0, "right");
      }
    });
    stage.resize(room, this.bandOf(shown.lines.length - 1) + BAND + 4);
    this.point(null);
    this.canvas.setAttribute("aria-valuenow", String(shown.query));
    this.canvas.setAttribute("aria-valuemin", "0");
    this.canvas.setAttribute("aria-valuemax", String(shown.tokens.length - 1));
    this.canvas.setAttribute("aria-valuetext", shown.tokens[shown.query].trim());
  }

  /** The words in front of the query, and the query. @param {Shown} shown @param {boolean} isPhone */
  placeQuote({ tokens, query, asks }, isPhone) {
    const { stage } = this, size = isPhone ? 15 : 19, head = stage.widths([this.heads[0].textContent ?? ""], 14, 400)[0];
    const room = stage.room - (isPhone ? 52 : 96) - head - 12;
    /** @param {number} count */
    const cut = (count) => `${query > count ? "… " : ""}${tokens.slice(Math.max(0, query - count), query).join("").replace(/\s+/g, " ").trim()} `;
    const word = tokens[query].trim() || "↵", left = isPhone ? 0 : stage.widths([asks], 14, 400)[0] + 14;
    const isWhole = (/** @type {number} */ count) => /^\s/.test(tokens[query - count] ?? " ");
    const fits = (/** @type {number} */ count) => left + stage.widths([cut(count) + word], size, 600)[0] <= room;
    const counts = Array.from({ length: Math.min(MOST_BEFORE, query) }, (_one, at) => at + 1).filter((count) => isWhole(count) && fits(count));
    this.before.textContent = cut(Math.max(0, ...counts));
    this.word.textContent = word;
    this.asks.textContent = isPhone ? "" : asks;
    stage.write(this.asks, 0, 15, 14, 1, 0, "left");
    stage.write(this.quote, left, 14, size, 1, 0, "left");
  }

  /** The words of the highest bars, as far as they do not cover each other. @param {Shown} shown @param {number} step @param {number} top @param {number} tall */
  placeLabels({ tokens, weights }, step, top, tall) {
    const { stage } = this, most = Math.max(...weights), size = 14;
    const order = weights.map((_weight, key) => key).sort((one, other) => weights[other] - weights[one]).slice(0, 3 * LABELS);
    /** @type {[number, number][]} */
    const taken = [];
    let used = 0;
    for (const key of order) {
      if (used === LABELS || weights[key] < NOTED) break;
      const text = `${tokens[key].trim() || "↵"} ${percent(weights[key])}`, wide = stage.widths([text], size, 600)[0];
      const x = Math.min(stage.room - wide / 2, Math.max(wide / 2, (key + 0.5) * step));
      if (taken.some(([from, to]) => x + wide / 2 + 8 > from && x - wide / 2 - 8 < to)) continue;
      taken.push([x - wide / 2, x + wide / 2]);
      this.labels[used].textContent = text;
      stage.write(this.labels[used++], x, top + (tall - 20) * (1 - weights[key] / most) + 9, size);
    }
    this.labels.slice(used).forEach((node) => stage.write(node, 0, top, size, 0));
  }

  /** Bars, and the marks as far as they have walked. @param {Tween} tween */
  paint(tween) {
    const { shown, pen, canvas, stage, colours, step, top, tall } = this;
    if (!shown || !stage.room) return;
    const ratio = Math.max(1, devicePixelRatio), width = Math.round(stage.room * ratio), height = Math.round(stage.height * ratio);
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    canvas.style.height = `${stage.height}px`;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, stage.room, stage.height);
    const weights = tween.row("weights", 0), most = Math.max(...shown.weights, 1e-6), wide = Math.max(1, step - 0.25);
    const base = top + tall;
    this.fill(colours.track, 0.07, 0, base, stage.room, 1.5);
    this.drawBars((key) => (weights[key] ?? 0) / most, base, tall - 20, () => colours.bar, wide);
    this.drawQuery(shown, base - tall + 8, base);
    shown.lines.forEach((line, at) => {
      const band = this.bandOf(at), kept = new Set(line.keys), bottom = band + BAND - MARKS - 2;
      this.fill(colours.track, 0.07, 0, band + BAND - MARKS, (shown.query + 1) * step, MARKS);
      this.drawBars((key) => (weights[key] ?? 0) / most, bottom, BAND - MARKS - 2, (key) => (kept.has(key) ? colours.bar : colours.missed), wide);
      const row = tween.row(`line${at}`, 0);
      for (let mark = 0; mark < row.length; mark++) this.fill(colours.bar, line.isChosen ? 1 : 0.75, row[mark] * step, band + BAND - MARKS, wide, MARKS);
      this.drawQuery(shown, band, band + BAND);
    });
  }

  /** @param {(key: number) => number} share @param {number} base @param {number} tall @param {(key: number) => string} colour @param {number} wide */
  drawBars(share, base, tall, colour, wide) {
    const { shown, step } = this;
    for (let key = 0; key < (shown?.seen ?? 0); key++) {
      const high = tall * share(key);
      const thick = high > 2 ? Math.max(wide, SEEN) : wide;
      if (high >= 0.4) this.fill(colour(key), 1, (key + 0.5) * step - thick / 2, base - high, thick, high);
    }
  }

  /** The query's place, and the tokens behind it, which it does not see. @param {Shown} shown @param {number} from @param {number} to */
  drawQuery({ query, tokens }, from, to) {
    const { colours, step, pen, stage } = this, x = (query + 0.5) * step;
    this.fill(colours.query, 1, x - 1, from, 2, to - from);
    if (query + 1 >= tokens.length) return;
    pen.save();
    pen.beginPath();
    pen.rect((query + 1) * step + 1, from, stage.room, to - from);
    pen.clip();
    pen.globalAlpha = 0.22;
    pen.strokeStyle = colours.quiet;
    for (let at = (query + 1) * step - (to - from); at < stage.room; at += 6) {
      pen.beginPath();
      pen.moveTo(at, to);
      pen.lineTo(at + to - from, from);
      pen.stroke();
    }
    pen.restore();
  }

  /** @param {string} colour @param {number} strength @param {number} x @param {number} y @param {number} wide @param {number} high */
  fill(colour, strength, x, y, wide, high) {
    this.pen.globalAlpha = strength;
    this.pen.fillStyle = colour;
    this.pen.fillRect(x, y, wide, high);
  }

  /** The token below a pointer. @param {MouseEvent} event */
  tokenAt(event) {
    const { left, width } = this.canvas.getBoundingClientRect(), count = this.shown?.tokens.length ?? 0;
    const token = Math.floor(((event.clientX - left) / Math.max(1, width)) * count);
    return token >= 0 && token < count ? token : null;
  }

  /** Name a token below the ribbon; none, and it says what one can do. @param {number | null} token */
  point(token) {
    const { shown, stage, top, tall } = this;
    if (!shown) return;
    const { tokens, weights } = shown, weight = token === null ? undefined : weights[token];
    const slots = { place: (token ?? 0) + 1, token: token === null ? "" : tokens[token].trim() || "↵" };
    const told = weight === undefined ? _("token {place}: {token}", slots) : _("token {place}: {token}, {share}", { ...slots, share: percent(weight) });
    this.pointed.textContent = token === null ? "" : told;
    const wide = stage.widths([this.pointed.textContent], 13, 400)[0], x = ((token ?? 0) + 0.5) * this.step;
    stage.write(this.pointed, Math.min(stage.room - wide / 2, Math.max(wide / 2, x)), top + tall + 13, 13, token === null ? 0 : 1);
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    const by = { ArrowLeft: -1, ArrowRight: 1, PageUp: 10, PageDown: -10 }[event.key];
    if (!by || !this.shown) return;
    event.preventDefault();
    event.stopPropagation();
    this.ask(Math.max(0, Math.min(this.shown.tokens.length - 1, this.shown.query + by)));
  }
}
