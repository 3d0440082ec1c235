// @ts-check
// Parts of one picture, linked: pointing at a token lights its row and column in all of them, a
// click (or Enter) picks a number, and the rows and columns that number came from are framed.
// Each kind of part is a class in the folder panels, and stands in the table KINDS.
// Text from readers is only ever written with textContent.

/** @import { Component, Tell } from "../common/component.js" */
/** @import { Value, Values } from "../common/numbers.js" */
/** @import { Cell, FigureData, PanelData } from "./data.js" */
/** @import { Panel, Token } from "./panels/panel.js" */

import { loadStyle, wear } from "../common/component.js";
import { element } from "../common/elements.js";
import { _, speak } from "../common/words.js";
import { Card } from "./card.js";
import { legend } from "./legend.js";
import { Cone } from "./panels/cone.js";
import { Dials } from "./panels/dials.js";
import { Picture } from "./panels/image.js";
import { Links } from "./panels/links.js";
import { labelsOf } from "./panels/panel.js";
import { Table } from "./panels/table.js";
import { Ties } from "./panels/ties.js";
// What only those need is named as well: all files are asked for at once, and not one after the other.
import "../common/colours.js";
import "../common/numbers.js";
import "./panels/drawing.js";

/** @type {Record<string, typeof Panel>} */
const KINDS = { arrows: Dials, cone: Cone, links: Links, ties: Ties }; // any other kind is a matrix of numbers

const NO_STEPPING_IN = "input, textarea, select, [contenteditable=true], [role=slider], [role=grid], [role=radiogroup], [role=tablist]";

const style = loadStyle(new URL("style.css", import.meta.url));
/** @type {WeakMap<Element, Figure>} */
const figures = new WeakMap();

/**
 * Draw what the server sent, or change what was drawn of it before.
 * @param {Component<FigureData>} component
 */
export default async function ({ parentElement, data: sent, setTriggerValue }) {
  wear(parentElement, await style);
  const data = sent?.[0];
  const root = /** @type {HTMLElement | null} */ (parentElement.querySelector(".figure"));
  if (!root || !data) return;
  speak(data.words);
  const figure = figures.get(root) ?? new Figure(root, data, setTriggerValue);
  figures.set(root, figure);
  figure.tell = setTriggerValue;
  figure.show(data);
}

export class Figure {
  /**
   * @param {HTMLElement} root
   * @param {FigureData} data
   * @param {Tell} tell
   */
  constructor(root, data, tell) {
    this.root = root;
    this.data = data;
    this.tell = tell;
    /** @type {Map<string, Panel>} */
    this.panels = new Map();
    /** @type {(Cell & { count: number })[]} */
    this.clicks = [];
    this.sent = 0; // what was told the server, counted; what it answers to less is out of date
    /** @type {Cell | null} */
    this.selected = null;
    /** @type {HTMLElement | null} */
    this.clicked = null; // where the card stands
    this.structure = "";
    this.named = ""; // what the names of rows were put for
    this.room = 0;
    /** @type {HTMLInputElement | null} */
    this.range = null;
    this.shown = element("output", "");
    /** @type {HTMLButtonElement | null} */
    this.playButton = null;
    this.dragging = false;
    this.timer = 0; // of frames that are played, or 0
    this.lights = root.appendChild(document.createElement("style"));
    this.steps = root.appendChild(element("div", "steps"));
    this.stage = root.appendChild(element("div", "stage"));
    this.card = new Card(this);
    this.legend = root.appendChild(element("div", "legend"));
    this.readout = root.appendChild(element("div", "readout"));
    this.readout.setAttribute("aria-live", "polite");
    new ResizeObserver(([entry]) => this.fit(Math.floor(entry.contentRect.width))).observe(root);
    root.addEventListener("transitionend", (event) => this.dressed(event));
    this.listener = (/** @type {KeyboardEvent} */ event) => this.key(event);
    document.addEventListener("keydown", this.listener);
  }

  /** @param {FigureData} data */
  show(data) {
    const structure = JSON.stringify([_("Play"), data.stepper, data.slider?.labels, data.panels.map((p) => [p.id, p.operator, p.heading, p.remark])]);
    this.data = data;
    this.root.style.setProperty("--highlight", data.highlight);
    if (structure !== this.structure) this.build(structure);
    else this.renew();
    const upToDate = data.echo >= this.sent;
    const held = this.dragging || !upToDate; // the finger, or a newer choice, goes before the server
    this.legend.replaceChildren(...legend(data));
    this.turnTo(held && this.range ? Number(this.range.value) : data.slider?.index ?? 0);
    this.nameRows();
    if (!upToDate) return;
    this.frame(data.selected);
    if (data.working && (data.stepper || this.clicked)) this.card.show(data.working, this.clicked, Boolean(data.stepper));
  }

  /** @param {string} structure */
  build(structure) {
    this.structure = structure;
    this.named = "";
    this.stop();
    this.range = null;
    this.card.hide();
    this.root.setAttribute("role", "group");
    this.root.setAttribute("aria-label", this.data.alt);
    this.panels.clear();
    this.stage.replaceChildren();
    this.steps.replaceChildren();
    this.room ||= this.root.clientWidth;
    for (const panel of this.data.panels) {
      // What no operator parts stays together when lines are broken: Q, K and V.
      if (panel.heading) this.stage.append(element("div", "heading", panel.heading));
      if (panel.remark) this.stage.append(element("div", "remark", panel.remark));
      const last = panel.operator || panel.heading ? null : this.stage.lastElementChild;
      const place = last ?? element("div", "place");
      if (panel.operator) place.append(element("div", "operator", panel.operator));
      this.draw(panel, (box) => place.append(box));
      this.stage.append(place);
    }
    if (this.data.stepper) this.addStepper();
    if (this.data.slider) this.addSlider(this.data.slider);
  }

  /**
   * @param {PanelData} data
   * @param {(box: HTMLElement) => void} put
   */
  draw(data, put) {
    const panel = new (KINDS[data.kind] ?? (data.image ? Picture : Table))(this, data);
    this.panels.set(data.id, panel);
    put(panel.box);
    panel.fit(this.room);
  }

  // A matrix keeps its cells while its labels stay, because laying out tables is what takes time.
  renew() {
    for (const data of this.data.panels) {
      const old = this.panels.get(data.id);
      if (!old || old.labels === labelsOf(data)) continue;
      if (this.clicked && old.box.contains(this.clicked)) this.card.hide();
      this.draw(data, (box) => old.box.replaceWith(box));
    }
  }

  // Matrices side by side with the same rows have them named once, on the left: so two lines hold seven.
  nameRows() {
    const looks = JSON.stringify([this.room, this.data.panels.map((panel) => [labelsOf(panel), panel.name, panel.formula])]);
    if (looks === this.named) return;
    this.named = looks;
    const tables = [...this.panels.values()].map((panel) => panel instanceof Table ? panel : null);
    tables.forEach((table, i) => table?.nameRows(!table.continues(tables[i - 1])));
    tables.forEach((table, i) => {
      const before = tables[i - 1];
      if (table?.continues(before) && !table.isBeside(before)) table.nameRows(true);
    });
  }

  addStepper() {
    this.addButtons(_("cell"), (by) => this.step(by));
    this.steps.append(element("span", "hint", _("or the keys ← →, or click a cell")));
  }

  /**
   * @param {string} what
   * @param {(by: number) => void} advance
   */
  addButtons(what, advance) {
    const button = (/** @type {string} */ text, /** @type {string} */ label, /** @type {() => void} */ action) => {
      const made = this.steps.appendChild(element("button", "step", text));
      made.setAttribute("aria-label", label);
      made.onclick = action;
      return made;
    };
    button(`◀ ${what}`, _("Previous {what}", { what }), () => advance(-1));
    button(`${what} ▶`, _("Next {what}", { what }), () => advance(1));
    this.playButton = button(_("Play"), _("Play or pause"), () => this.play(advance));
  }

  /** @param {NonNullable<FigureData["slider"]>} slider */
  addSlider({ labels, label, plays }) {
    const line = element("label", "slider");
    const range = this.range = element("input", "");
    Object.assign(range, { type: "range", min: 0, max: labels.length - 1, step: 1 });
    this.shown = element("output", "");
    line.append(element("span", "", label), range, this.shown);
    range.oninput = () => { this.stop(); this.dragging = true; this.card.hide(); this.turnTo(Number(range.value)); };
    range.onchange = () => { this.dragging = false; this.send("frame", { frame: Number(range.value) }); };
    this.steps.append(line);
    this.steps.classList.toggle("held", plays); // in sight of all that it moves
    if (plays) this.addButtons(_("step"), (by) => this.slide(range, by));
  }

  /**
   * One frame on or back. While frames are played the server hears nothing, and then of the last.
   * @param {HTMLInputElement} range
   * @param {number} by
   */
  slide(range, by) {
    const last = Number(range.max), here = Number(range.value);
    const frame = Math.max(0, Math.min(last, here + by));
    this.card.hide();
    this.turnTo(frame);
    if (!this.timer) this.send("frame", { frame });
    else if (frame === last) this.pause();
  }

  /**
   * Every frame was computed on the server; the browser only shows another one.
   * @param {number} frame
   */
  turnTo(frame) {
    for (const data of this.data.panels) {
      const values = data.grows ? grown(data, frame) : data.frames?.[frame] ?? data.values;
      this.panels.get(data.id)?.paint({ ...data, values }, this.data.ramps[data.kind]);
    }
    if (!this.data.slider || !this.range) return;
    const label = this.data.slider.labels[frame];
    this.range.value = String(frame);
    this.shown.textContent = label;
    this.range.setAttribute("aria-valuetext", label);
  }

  /**
   * The reader chose another theme; only the server knows its colours.
   * @param {TransitionEvent} event
   */
  dressed(event) {
    if (event.target !== this.root || event.propertyName !== "background-color") return;
    const seen = getComputedStyle(this.root).backgroundColor;
    if (seen !== `rgb(${this.data.background.join(", ")})`) this.tell("theme", true);
  }

  /**
   * @param {string} name
   * @param {object} what
   */
  send(name, what) {
    this.tell(name, { ...what, count: this.counted() });
  }

  counted() {
    return (this.sent = Math.max(this.sent, this.data.echo) + 1);
  }

  /** @param {Cell} cell */
  select(cell) {
    if (!this.data.pickable) return;
    this.frame(cell);
    // All clicks that the server has not answered: of several quick ones it may hear the last only.
    this.clicks = this.clicks.filter((click) => click.count > this.data.echo);
    this.clicks.push({ ...cell, count: this.counted() });
    this.tell("cell", this.clicks);
  }

  /**
   * @param {string} panel
   * @param {number} row
   * @param {number} column
   * @param {HTMLElement} box
   */
  click(panel, row, column, box) {
    if (this.range) this.pause(); // the server has to know which frame it is
    this.card.hide();
    this.clicked = this.data.stepper ? null : box;
    this.select({ panel, row, column });
  }

  /** @param {Cell | null} selected */
  frame(selected) {
    this.selected = selected;
    for (const panel of this.panels.values()) panel.frame(null, null);
    const panel = selected && this.panels.get(selected.panel);
    if (!panel) return;
    panel.frame(selected.row, selected.column);
    for (const source of panel.data.sources)
      this.panels.get(source.panel)?.frame(source.row && selected[source.row], source.column && selected[source.column]);
  }

  /** @param {number} by */
  step(by) {
    const panel = this.data.stepper;
    const data = this.panels.get(panel)?.data;
    if (!data) return;
    const width = data.columns.length;
    const here = this.selected?.panel === panel ? this.selected.row * width + this.selected.column : -Math.sign(by);
    const cells = data.rows.length * width;
    const next = (here + by + cells) % cells;
    this.select({ panel, row: Math.floor(next / width), column: next % width });
  }

  /** @param {(by: number) => void} advance */
  play(advance) {
    if (this.timer) return this.pause();
    if (this.playButton) this.playButton.textContent = _("Pause");
    if (this.range && this.range.value === this.range.max) this.turnTo(0);
    this.dragging = Boolean(this.range);
    this.timer = setInterval(() => this.root.isConnected ? advance(1) : this.pause(), 700);
  }

  pause() {
    const isPlaying = this.timer;
    this.stop();
    if (isPlaying && this.range && this.root.isConnected) this.send("frame", { frame: Number(this.range.value) });
  }

  stop() {
    clearInterval(this.timer);
    this.timer = 0;
    this.dragging = false;
    if (this.playButton) this.playButton.textContent = _("Play");
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (!this.root.isConnected) return document.removeEventListener("keydown", this.listener);
    const by = event.key === "ArrowLeft" ? -1 : event.key === "ArrowRight" ? 1 : 0;
    if (!by || !this.data.stepper) return;
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (event.composedPath().some((node) => node instanceof Element && node.matches(NO_STEPPING_IN))) return;
    event.preventDefault();
    this.step(by);
  }

  /**
   * Light a token in all parts, and say in words what is pointed at.
   * @param {Token} token
   */
  light(token, words = "") {
    this.lights.textContent = token === null ? "" :
      `[data-row-token="${token}"] { --above: var(--line); }
       [data-column-token="${token}"] { --beside: var(--line); }
       :is(th, .band)[data-row-token="${token}"], :is(th, .band)[data-column-token="${token}"] { --tint: var(--lit); }`;
    for (const panel of this.panels.values()) panel.light(token);
    this.readout.textContent = words;
  }

  /** @param {number} room */
  fit(room) {
    if (room === this.room) return;
    this.room = room;
    for (const panel of this.panels.values()) panel.fit(room);
    this.nameRows();
  }
}

/**
 * The rows up to this frame; where axes are exchanged they are columns.
 * @param {PanelData} data
 * @param {number} frame
 * @returns {Values}
 */
function grown({ values, flipped }, frame) {
  const rows = /** @type {Values} */ (values); // none that grows is an image
  return rows.map((line, i) => line.map((value, j) => (flipped ? j : i) > frame ? null : value));
}
