// Matrices of one computation, linked: pointing at a token lights its row and column in all of them,
// a click (or Enter) picks a number, and the rows and columns that number came from are framed.
// Text from readers is only ever written with textContent.
// This file is joined with paint.js, card.js, table.js and image.js before it is served.

const OF_TWO = ["syllable", "word"]; // charts/theme.py names these axes
const NO_STEPPING_IN = "input, textarea, select, [contenteditable=true], [role=slider], [role=grid], [role=radiogroup], [role=tablist]";

export default function (component) {
  const { parentElement, setTriggerValue } = component;
  const data = component.data?.[0];
  const root = parentElement.querySelector(".figure");
  if (!root || !data) return;
  const view = (root.view ??= new Figure(root));
  view.tell = setTriggerValue;
  view.show(data);
}

class Figure {
  constructor(root) {
    this.root = root;
    this.panels = new Map();
    this.clicks = [];
    this.sent = 0; // what was told the server, counted; what it answers to less is out of date
    this.lights = root.appendChild(document.createElement("style"));
    this.steps = root.appendChild(element("div", "steps"));
    this.stage = root.appendChild(element("div", "stage"));
    this.card = new Card(this);
    this.legend = root.appendChild(element("div", "legend"));
    this.readout = root.appendChild(element("div", "readout"));
    this.readout.setAttribute("aria-live", "polite");
    new ResizeObserver(([entry]) => this.fit(Math.floor(entry.contentRect.width))).observe(root);
    root.addEventListener("transitionend", (event) => this.dressed(event));
    this.listener = (event) => this.key(event);
    document.addEventListener("keydown", this.listener);
  }

  show(data) {
    spoken = data.words;
    const structure = JSON.stringify([say("Play"), data.stepper, data.slider?.labels, data.panels.map((p) => [p.id, p.operator, p.heading, p.remark])]);
    this.data = data;
    this.root.style.setProperty("--highlight", data.highlight);
    if (structure !== this.structure) this.build(structure);
    else this.renew();
    const upToDate = data.echo >= this.sent;
    const held = this.dragging || !upToDate; // the finger, or a newer choice, goes before the server
    this.legend.replaceChildren(...legend(data));
    this.turnTo(held && this.range ? Number(this.range.value) : data.slider?.index ?? 0);
    if (!upToDate) return;
    this.frame(data.selected);
    if (data.working && (data.stepper || this.clicked)) this.card.show(data.working, this.clicked);
  }

  build(structure) {
    this.structure = structure;
    this.stop();
    this.range = null;
    this.card.hide();
    this.root.setAttribute("role", "group");
    this.root.setAttribute("aria-label", this.data.alt);
    this.panels.clear();
    this.stage.replaceChildren();
    this.steps.replaceChildren();
    this.room ??= this.root.clientWidth;
    for (const panel of this.data.panels) {
      // What no operator parts stays together when lines are broken: Q, K and V.
      if (panel.heading) this.stage.append(element("div", "heading", panel.heading));
      if (panel.remark) this.stage.append(element("div", "remark", panel.remark));
      const place = panel.operator || panel.heading || !this.stage.lastChild ? element("div", "place") : this.stage.lastChild;
      if (panel.operator) place.append(element("div", "operator", panel.operator));
      this.draw(panel, (box) => place.append(box));
      this.stage.append(place);
    }
    if (this.data.stepper) this.addStepper();
    if (this.data.slider) this.addSlider();
  }

  draw(panel, put) {
    const drawn = new (DRAWINGS[panel.kind] ?? (panel.image ? Picture : Table))(this, panel);
    drawn.labels = labelsOf(panel);
    this.panels.set(panel.id, drawn);
    put(drawn.box);
    drawn.fit(this.room);
  }

  // A matrix keeps its cells while its labels stay, because laying out tables is what takes time.
  renew() {
    for (const panel of this.data.panels) {
      const old = this.panels.get(panel.id);
      if (old.labels === labelsOf(panel)) continue;
      if (this.clicked && old.box.contains(this.clicked)) this.card.hide();
      this.draw(panel, (box) => old.box.replaceWith(box));
    }
  }

  addStepper() {
    this.addButtons(say("cell"), (by) => this.step(by));
    this.steps.append(element("span", "hint", say("or the keys ← →, or click a cell")));
  }

  addButtons(what, advance) {
    const buttons = [
      [`◀ ${what}`, say("Previous {what}", { what }), () => advance(-1)],
      [`${what} ▶`, say("Next {what}", { what }), () => advance(1)],
      [say("Play"), say("Play or pause"), () => this.play(advance)],
    ].map(([text, label, action]) => {
      const button = element("button", "step", text);
      button.setAttribute("aria-label", label);
      button.onclick = action;
      return button;
    });
    this.playButton = buttons[2];
    this.steps.append(...buttons);
  }

  addSlider() {
    const { labels, label } = this.data.slider;
    const line = element("label", "slider");
    this.range = element("input", "");
    Object.assign(this.range, { type: "range", min: 0, max: labels.length - 1, step: 1 });
    this.shown = element("output", "");
    line.append(element("span", "", label), this.range, this.shown);
    this.range.oninput = () => { this.stop(); this.dragging = true; this.card.hide(); this.turnTo(Number(this.range.value)); };
    this.range.onchange = () => { this.dragging = false; this.send("frame", { frame: Number(this.range.value) }); };
    this.steps.append(line);
    this.steps.classList.toggle("held", this.data.slider.plays); // in sight of all that it moves
    if (this.data.slider.plays) this.addButtons(say("step"), (by) => this.slide(by));
  }

  // One frame on or back. While frames are played the server hears nothing, and then of the last.
  slide(by) {
    const last = Number(this.range.max), here = Number(this.range.value);
    const frame = Math.max(0, Math.min(last, here + by));
    this.card.hide();
    this.turnTo(frame);
    if (!this.timer) this.send("frame", { frame });
    else if (frame === last) this.pause();
  }

  // Every frame was computed on the server; the browser only shows another one.
  turnTo(frame) {
    for (const panel of this.data.panels) {
      const values = panel.grows ? grown(panel, frame) : panel.frames?.[frame] ?? panel.values;
      this.panels.get(panel.id).paint({ ...panel, values }, this.data.ramps[panel.kind]);
    }
    if (!this.data.slider) return;
    this.range.value = frame;
    this.shown.textContent = this.data.slider.labels[frame];
    this.range.setAttribute("aria-valuetext", this.data.slider.labels[frame]);
  }

  // The reader chose another theme; only the server knows its colours.
  dressed(event) {
    if (event.target !== this.root || event.propertyName !== "background-color") return;
    const seen = getComputedStyle(this.root).backgroundColor;
    if (seen !== `rgb(${this.data.background.join(", ")})`) this.tell("theme", true);
  }

  send(name, what) {
    this.tell(name, { ...what, count: this.counted() });
  }

  counted() {
    return (this.sent = Math.max(this.sent, this.data.echo) + 1);
  }

  select(panel, row, column) {
    if (!this.data.pickable) return;
    this.frame({ panel, row, column });
    // All clicks that the server has not answered: of several quick ones it may hear the last only.
    this.clicks = this.clicks.filter((click) => click.count > this.data.echo);
    this.clicks.push({ panel, row, column, count: this.counted() });
    this.tell("cell", this.clicks);
  }

  click(panel, row, column, cell) {
    if (this.range) this.pause(); // the server has to know which frame it is
    this.card.hide();
    this.clicked = this.data.stepper ? null : cell;
    this.select(panel, row, column);
  }

  frame(selected) {
    this.selected = selected;
    for (const panel of this.panels.values()) panel.frame(null, null);
    if (!selected || !this.panels.has(selected.panel)) return;
    const { panel, row, column } = selected;
    this.panels.get(panel).frame(row, column);
    const at = { row, column };
    for (const source of this.panels.get(panel).data.sources)
      this.panels.get(source.panel)?.frame(at[source.row] ?? null, at[source.column] ?? null);
  }

  step(by) {
    const panel = this.panels.get(this.data.stepper);
    const { rows, columns } = panel.data;
    const here = this.selected?.panel === this.data.stepper
      ? this.selected.row * columns.length + this.selected.column : -Math.sign(by);
    const cells = rows.length * columns.length;
    const next = (here + by + cells) % cells;
    this.select(this.data.stepper, Math.floor(next / columns.length), next % columns.length);
  }

  play(advance) {
    if (this.timer) return this.pause();
    this.playButton.textContent = say("Pause");
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
    this.timer = null;
    this.dragging = false;
    if (this.playButton) this.playButton.textContent = say("Play");
  }

  key(event) {
    if (!this.root.isConnected) return document.removeEventListener("keydown", this.listener);
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by || !this.data?.stepper) return;
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (event.composedPath().some((node) => node.matches?.(NO_STEPPING_IN))) return;
    event.preventDefault();
    this.step(by);
  }

  light(token, panel, row, column) {
    this.lights.textContent = token === null ? "" :
      `[data-row-token="${token}"], [data-column-token="${token}"] { background-image: linear-gradient(var(--lit), var(--lit)); }
       th[data-row-token="${token}"], th[data-column-token="${token}"] { font-weight: 700; }`;
    for (const drawn of this.panels.values()) drawn.light?.(token);
    this.readout.textContent = panel === undefined ? "" : panel.describe(row, column);
  }

  fit(room) {
    if (room === this.room) return;
    this.room = room;
    for (const panel of this.panels.values()) panel.fit(room);
  }
}

// The rows up to this frame; where axes are exchanged they are columns.
function grown({ values, flipped }, frame) {
  return values.map((line, i) => line.map((value, j) => (flipped ? j : i) > frame ? null : value));
}

// Inside one sequence a token has one name on every axis; of two sequences each has its own names.
function tokenName(axis, place) {
  return OF_TWO.includes(axis) ? `${axis}-${place}` : place;
}

function labelsOf(p) {
  return JSON.stringify([p.has_page, p.rows, p.columns, p.row_axis, p.column_axis, p.image]);
}
