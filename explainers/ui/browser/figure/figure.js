// Parts of one picture, linked: pointing at a token lights its row and column in all of them, a
// click (or Enter) picks a number, and the rows and columns that number came from are framed.
// Each kind of part is a class in the folder panels, and stands in the table KINDS.
// Text from readers is only ever written with textContent.

/** @import { Tell } from "../common/component.js" */
/** @import { Cell, FigureData, PanelData, SliderData } from "./data.js" */
/** @import { Panel, Token } from "./panels/panel.js" */

import { watchTheme } from "../common/colours.js";
import { loadStyle, mounting, served } from "../common/component.js";
import { element, makeSentenceNodes, writeSentence } from "../common/elements.js";
import { _ } from "../common/words.js";
import { Card } from "./card.js";
import { legend } from "./legend.js";
import { Bars } from "./panels/bars.js";
import { Cone } from "./panels/cone.js";
import { Dials } from "./panels/dials.js";
import { Picture } from "./panels/image.js";
import { Lines } from "./panels/lines.js";
import { readLabels } from "./panels/panel.js";
import { Table } from "./panels/table.js";
import { Ties } from "./panels/ties.js";
import { Range } from "./range.js";
// What only those need is named as well: all files are asked for at once, and not one after the other.
import "../common/keys.js";
import "../common/numbers.js";
import "../common/sizes.js";

/** @type {Record<string, typeof Panel>} */
const KINDS = { arrows: Dials, bars: Bars, cone: Cone, lines: Lines, ties: Ties }; // any other kind is a matrix of numbers

const NO_STEPPING_IN = "input, textarea, select, [contenteditable=true], [role=slider], [role=grid], [role=radiogroup], [role=tablist]";

// What is pointed at is lined; a cell keeps its colour, which is its number. Cells that are not lit
// go without: to have all these in every cell of a picture doubles the time that it takes to draw it.
const LINED = `
  background-image: ${["above", "above", "beside", "beside", "tint"].map((line) => `linear-gradient(var(--${line}, transparent) 0 0)`).join(", ")};
  background-position: top, bottom, left, right, center; background-repeat: no-repeat;
  background-size: 100% 2px, 100% 2px, 2px 100%, 2px 100%, 100% 100%;`;

/** @type {Set<Figure>} */
const shown = new Set(); // those that may be on the page

export class Figure {
  /** @param {HTMLElement} root @param {FigureData} data */
  constructor(root, data) {
    this.root = root;
    this.sent = data; // by the server; with a view of it, it becomes the data that are drawn
    this.data = data;
    /** @type {Tell} */
    this.tell = () => {};
    /** @type {Map<string, Panel>} */
    this.panels = new Map();
    /** @type {(Cell & { count: number })[]} */
    this.clicks = [];
    this.told = 0; // what was told the server, counted; what it answers to less is out of date
    /** @type {Cell | null} */
    this.selected = null;
    /** @type {HTMLElement | null} */
    this.clicked = null; // where the card stands
    this.structure = this.controls = ""; // what the panels and what the controls were built for
    this.said = ""; // the page's words below the panels
    this.named = ""; // what the names of rows were put for
    /** @type {Map<string, boolean[]>} */
    this.nameless = new Map(); // which tables can do without them, for what was measured before
    this.room = 0;
    /** @type {Range | null} */
    this.frames = null;
    /** @type {Range | null} */
    this.views = null;
    /** @type {HTMLButtonElement | null} */
    this.playButton = null;
    this.dragging = false;
    this.timer = 0; // of frames that are played, or 0
    this.lights = root.appendChild(document.createElement("style"));
    this.steps = root.appendChild(element("div", "steps"));
    this.stage = root.appendChild(element("div", "stage"));
    this.card = new Card(this);
    this.legend = root.appendChild(element("div", "legend"));
    this.readout = root.appendChild(element("div", "readout", "", { "aria-live": "polite" }));
    this.says = root.appendChild(element("div", "says", "", { "aria-live": "polite" }));
    new ResizeObserver(([entry]) => this.fit(Math.floor(entry.contentRect.width))).observe(root);
    watchTheme(root, () => this.data.background, () => this.tell("theme", true));
    this.listener = (/** @type {KeyboardEvent} */ event) => this.key(event);
    document.addEventListener("keydown", this.listener);
  }

  /** @param {FigureData} data */
  show(data) {
    shown.add(this);
    this.sent = data;
    this.root.style.setProperty("--highlight", data.highlight);
    this.control();
    this.views?.put(this.placeOf(this.views, data.view_slider));
    this.frames?.put(this.placeOf(this.frames, data.slider));
    this.turnView();
    if (data.echo >= this.told) this.explain();
  }

  /** Does the finger, or a newer choice, go before the server? */
  get isAhead() { return this.dragging || this.sent.echo < this.told; }

  /**
   * Where a slider is to stand: where the server has it, if no reader has moved it, or one of its name, since.
   * @param {Range} range @param {SliderData | null} slider
   */
  placeOf(range, slider) {
    const leader = [range, ...rangesLike(range)].find(({ figure }) => figure.isAhead);
    return leader?.place ?? slider?.index ?? 0;
  }

  /** Show the view at which its slider stands; of a picture without one, what the server sent. */
  turnView() {
    this.data = this.sent;
    const view = this.views && this.sent.views[this.views.place];
    if (view) {
      const own = new Map(this.sent.panels.map((panel) => [panel.id, panel]));
      const panels = view.panels.map((panel) => /** @type {PanelData} */ ({ ...own.get(panel.id), ...panel }));
      this.data = { ...this.sent, ...view, panels };
    }
    const structure = JSON.stringify([_("Play"), this.data.panels.map((p) => [p.id, p.operator, p.heading])]);
    if (structure !== this.structure) this.build(structure);
    else this.renew();
    this.legend.replaceChildren(...legend(this.data));
    this.turnFrame();
    this.nameRows();
  }

  /** Show the frame at which its slider stands: every one was computed on the server. */
  turnFrame() {
    for (const data of this.data.panels) this.paint(data);
    this.say();
  }

  /** The page's words about what is shown now, with its numbers. */
  say() {
    const { template, named } = this.data, values = named[this.frames?.place ?? 0] ?? named[0] ?? {};
    const said = writeSentence(template, values);
    if (said === this.said) return;
    this.said = said;
    this.says.replaceChildren(...template.split("\n\n").map((paragraph) => {
      const node = element("p", "");
      node.append(...makeSentenceNodes(paragraph, values));
      return node;
    }));
  }

  /** @param {PanelData} data */
  paint(data) {
    const frame = this.frames?.place ?? 0;
    const values = data.frames?.[frame] ?? data.values;
    this.panels.get(data.id)?.paint({ ...data, values }, this.data.ramps[data.kind]);
  }

  /** Frame the number that is looked at, and show its arithmetic, if the reader wants it. */
  explain() {
    const { selected, working, stepper } = this.data;
    this.frame(selected);
    this.card.box.classList.remove("late");
    if (working && (stepper || this.clicked)) this.card.show(working, this.clicked, Boolean(stepper));
  }

  /** The reader moves a slider. @param {Range} range */
  drag(range) {
    this.stop();
    this.dragging = true;
    this.turn(range, range.place);
  }

  /** The reader has moved it, and the server hears of it. @param {"frame" | "view"} kind @param {Range} range */
  drop(kind, range) {
    this.dragging = false;
    this.send(kind, { place: range.place });
  }

  /** Turn a slider, and all that follow it. @param {Range} range @param {number} place */
  turn(range, place) {
    for (const one of [range, ...rangesLike(range)]) {
      one.put(place);
      one.figure.follow(one);
    }
  }

  /** Show where a slider stands now; for a view that was not sent the server is waited for. @param {Range} range */
  follow(range) {
    if (range !== this.views) {
      this.card.hide();
      return this.turnFrame();
    }
    if (range.place !== this.sent.view_slider?.index && !(range.place in this.sent.views)) return;
    const { clicked } = this;
    this.turnView();
    const { selected, working } = this.data;
    const isSeen = Boolean(clicked && selected && working);
    this.clicked = isSeen && selected ? this.panels.get(selected.panel)?.boxOf(selected.row, selected.column) ?? null : null;
    this.explain();
    if (!this.clicked && !this.data.stepper) this.card.hide();
  }

  /** @param {string} structure */
  build(structure) {
    this.structure = structure;
    this.named = "";
    this.nameless.clear();
    this.card.hide();
    this.root.setAttribute("role", "group");
    this.root.setAttribute("aria-label", this.data.alt);
    this.panels.clear();
    this.stage.replaceChildren();
    this.room ||= this.root.clientWidth;
    for (const panel of this.data.panels) {
      // What no operator parts stays together when lines are broken: Q, K and V.
      if (panel.heading) this.stage.append(element("div", "heading", panel.heading));
      const last = panel.operator || panel.heading ? null : this.stage.lastElementChild;
      const place = last ?? element("div", "place");
      if (panel.operator) place.append(element("div", "operator", panel.operator));
      this.draw(panel, (box) => place.append(box));
      this.stage.append(place);
    }
  }

  /** What stands above the panels. */
  control() {
    const { stepper, slider, view_slider: views } = this.sent;
    const controls = JSON.stringify([_("Play"), stepper, ...[slider, views].map((one) => [one?.label, one?.labels])]);
    if (controls === this.controls) return;
    this.controls = controls;
    this.stop();
    this.steps.replaceChildren();
    if (stepper) {
      this.addButtons(_("cell"), (by) => this.step(by));
      this.steps.append(element("span", "hint", _("or the keys ← →, or click a cell")));
    }
    this.views = views && new Range(this, "view", views);
    if (views && this.views && !views.hidden) this.steps.append(this.views.line);
    const frames = this.frames = slider && new Range(this, "frame", slider);
    if (!frames) return;
    if (!slider.hidden) this.steps.append(frames.line);
    this.steps.classList.toggle("held", slider.plays); // in sight of all that it moves
    if (slider.plays) this.addButtons(_("step"), (by) => this.slide(frames, by));
  }

  /** @param {PanelData} data @param {(box: HTMLElement) => void} put */
  draw(data, put) {
    const panel = new (KINDS[data.kind] ?? (data.image ? Picture : Table))(this, data);
    this.panels.set(data.id, panel);
    this.paint(data); // on the page it would have to be laid out again
    put(panel.box);
    panel.fit(this.room);
  }

  // A matrix keeps its cells while its labels stay, because laying out tables is what takes time.
  renew() {
    for (const data of this.data.panels) {
      const old = this.panels.get(data.id);
      if (!old || old.labels === readLabels(data)) continue;
      if (this.clicked && old.box.contains(this.clicked)) this.card.hide();
      this.draw(data, (box) => old.box.replaceWith(box));
    }
  }

  // Matrices side by side with the same rows have them named once, on the left: so two lines hold seven.
  nameRows() {
    const looks = JSON.stringify([this.room, this.data.panels.map((panel) => [readLabels(panel), panel.name, panel.formula])]);
    if (looks === this.named) return;
    this.named = looks;
    const tables = [...this.panels.values()].map((panel) => panel instanceof Table ? panel : null);
    const known = this.nameless.get(looks);
    tables.forEach((table, i) => table?.nameRows(known ? !known[i] : !table.continues(tables[i - 1])));
    if (known) return;
    // All are measured before one is changed, as often as that moves others: to lay them out takes long.
    for (let moved = true; moved;) {
      const places = tables.map((table) => table?.table.getBoundingClientRect());
      const apart = tables.filter((table, i) => table?.isNameless && !areBeside(places[i], places[i - 1]));
      apart.forEach((table) => table?.nameRows(true));
      moved = apart.length > 0;
    }
    this.nameless.set(looks, tables.map((table) => Boolean(table?.isNameless)));
  }

  /** @param {string} what @param {(by: number) => void} advance */
  addButtons(what, advance) {
    const button = (/** @type {string} */ text, /** @type {string} */ label, /** @type {() => void} */ onclick) =>
      this.steps.appendChild(element("button", "step", text, { "aria-label": label, onclick }));
    button(`◀ ${what}`, _("Previous {what}", { what }), () => advance(-1));
    button(`${what} ▶`, _("Next {what}", { what }), () => advance(1));
    this.playButton = button(_("Play"), _("Play or pause"), () => this.play(advance));
  }

  /**
   * One frame on or back. While frames are played the server hears nothing, and then of the last.
   * @param {Range} range @param {number} by
   */
  slide(range, by) {
    const place = Math.max(0, Math.min(range.last, range.place + by));
    this.turn(range, place);
    if (!this.timer) this.send("frame", { place });
    else if (place === range.last) this.pause();
  }

  /** @param {string} name @param {object} what */
  send(name, what) {
    this.tell(name, { ...what, count: this.counted() });
  }

  counted() {
    return (this.told = Math.max(this.told, this.sent.echo) + 1);
  }

  /** @param {Cell} cell */
  select(cell) {
    if (!this.data.pickable) return;
    this.frame(cell);
    this.card.box.classList.add("late"); // until the server has explained this cell
    // All clicks that the server has not answered: of several quick ones it may hear the last only.
    this.clicks = this.clicks.filter((click) => click.count > this.sent.echo);
    this.clicks.push({ ...cell, count: this.counted() });
    this.tell("cell", this.clicks);
  }

  /** @param {string} panel @param {number} row @param {number} column @param {HTMLElement} box */
  click(panel, row, column, box) {
    if (this.frames) this.pause(); // the server has to know which frame it is
    this.card.hide();
    this.clicked = this.data.stepper ? null : box;
    this.select({ panel, row, column });
  }

  /** @param {Cell | null} selected */
  frame(selected) {
    this.selected = selected;
    const panel = selected && this.panels.get(selected.panel);
    /** @type {Map<string, [number | null, number | null]>} */
    const framed = new Map();
    if (selected && panel) {
      framed.set(selected.panel, [selected.row, selected.column]);
      for (const source of panel.data.sources)
        framed.set(source.panel, [source.row && selected[source.row], source.column && selected[source.column]]);
    }
    // Each once: a frame that is taken away and put back would be painted anew.
    for (const [id, one] of this.panels) one.frame(...framed.get(id) ?? /** @type {const} */ ([null, null]));
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
    if (this.timer && next === cells - 1) this.pause(); // it comes to rest, and asks the server for no more
  }

  /** @param {(by: number) => void} advance */
  play(advance) {
    if (this.timer) return this.pause();
    if (this.playButton) this.playButton.textContent = _("Pause");
    if (this.frames && this.frames.place === this.frames.last) this.turn(this.frames, 0);
    this.dragging = Boolean(this.frames);
    this.timer = setInterval(() => this.root.isConnected && !document.hidden ? advance(1) : this.pause(), 700);
  }

  pause() {
    const isPlaying = this.timer;
    this.stop();
    if (isPlaying && this.frames && this.root.isConnected) this.send("frame", { place: this.frames.place });
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
   * Light a token in all parts, and say in words what is pointed at. Of a cell its row is one token, its column another.
   * @param {Token} token @param {string} [words] @param {Token} [across] the token of the columns
   */
  light(token, words = "", across = token) {
    const [row, column] = [`[data-row-token="${token}"]`, `[data-column-token="${across}"]`];
    this.lights.textContent = token === null ? "" :
      `${row} { --above: var(--line); } ${column} { --beside: var(--line); }
       :is(th, .band):is(${row}, ${column}) { --tint: var(--lit); }
       :is(td.cell, th):is(${row}, ${column}) { ${LINED} }`;
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

export const mount = mounting(loadStyle(new URL("style.css", import.meta.url)), Figure);
export default served(".figure", mount);

/** Do the rows of two tables stand at the same height? @param {DOMRect | undefined} here @param {DOMRect | undefined} there */
function areBeside(here, there) {
  return here && there && here.width > 0 && Math.abs(here.bottom - there.bottom) < 1;
}

/** The sliders of other pictures that have this one's name. @param {Range} range */
function rangesLike(range) {
  for (const figure of shown) if (!figure.root.isConnected) shown.delete(figure);
  const { name } = range.slider;
  return [...shown].flatMap(({ frames, views }) => [frames ?? [], views ?? []].flat())
    .filter((other) => other !== range && name !== "" && other.slider.name === name);
}

