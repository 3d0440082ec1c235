// Matrices of one computation, linked: pointing at a token lights its row and column in all of them,
// a click (or Enter) picks a number, and the rows and columns that number came from are framed.
// Text from readers is only ever written with textContent.

const LABELS = 78, DIGITS_NEED = 28;
const widest = (room) => room < 700 ? 30 : room < 1000 ? 36 : 40; // two panels of 7 side by side at 1024
const NO_STEPPING_IN = "input, textarea, select, [contenteditable=true], [role=slider], [role=grid], [role=radiogroup], [role=tablist]";

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const root = parentElement.querySelector(".figure");
  if (!root || !data) return;
  const view = (root.view ??= new Figure(root));
  view.pick = (panel, row, column) => setTriggerValue("cell", { panel, row, column });
  view.open = (page) => setTriggerValue("open", page);
  view.turn = (frame) => setTriggerValue("frame", frame);
  view.show(data);
}

class Figure {
  constructor(root) {
    this.root = root;
    this.panels = new Map();
    this.waiting = []; // picks sent to the server and not yet echoed: older echoes must not jump back
    this.lights = root.appendChild(document.createElement("style"));
    this.steps = root.appendChild(element("div", "steps"));
    this.stage = root.appendChild(element("div", "stage"));
    this.card = new Card(root);
    this.readout = root.appendChild(element("div", "readout"));
    this.readout.setAttribute("aria-live", "polite");
    new ResizeObserver(() => this.fit()).observe(root);
    this.listener = (event) => this.key(event);
    document.addEventListener("keydown", this.listener);
  }

  show(data) {
    const structure = JSON.stringify([data.stepper, data.slider?.labels, data.panels.map((p) => [
      p.id, p.name, p.formula, p.operator, p.link, p.rows, p.columns, p.image])]);
    this.data = data;
    this.root.style.setProperty("--highlight", data.highlight);
    if (structure !== this.structure) this.build(structure);
    this.turnTo(this.dragging ? Number(this.range.value) : data.slider?.index ?? 0);
    this.adopt(data.selected);
    this.card.show(this.clicked && data.working, this.clicked);
  }

  build(structure) {
    this.structure = structure;
    this.panels.clear();
    this.stage.replaceChildren();
    this.steps.replaceChildren();
    for (const panel of this.data.panels) {
      const drawn = panel.image ? new Picture(this, panel) : new Table(this, panel);
      this.panels.set(panel.id, drawn);
      const place = element("div", "place");
      if (panel.operator) place.append(element("div", "operator", panel.operator));
      place.append(drawn.box);
      this.stage.append(place);
    }
    if (this.data.stepper) this.addStepper();
    if (this.data.slider) this.addSlider();
    this.fit();
  }

  addStepper() {
    const buttons = [
      ["◀", "Previous cell", () => this.step(-1)],
      ["▶", "Next cell", () => this.step(1)],
      ["Play", "Play or pause", () => this.play()],
    ].map(([text, label, action]) => {
      const button = element("button", "step", text);
      button.setAttribute("aria-label", label);
      button.onclick = action;
      return button;
    });
    this.playButton = buttons[2];
    this.steps.append(...buttons, element("span", "hint", "or the keys ← →, or click a cell"));
  }

  addSlider() {
    const { labels, label } = this.data.slider;
    const line = element("label", "slider");
    this.range = element("input", "");
    Object.assign(this.range, { type: "range", min: 0, max: labels.length - 1, step: 1 });
    this.shown = element("output", "");
    line.append(element("span", "", label), this.range, this.shown);
    this.range.oninput = () => { this.dragging = true; this.turnTo(Number(this.range.value)); };
    this.range.onchange = () => { this.dragging = false; this.turn(Number(this.range.value)); };
    this.steps.append(line);
  }

  // Every frame was computed on the server; the browser only shows another one.
  turnTo(frame) {
    for (const panel of this.data.panels) {
      const values = panel.frames?.[frame] ?? panel.values;
      this.panels.get(panel.id).paint({ ...panel, values }, this.data.ramps[panel.kind]);
    }
    if (!this.data.slider) return;
    this.range.value = frame;
    this.shown.textContent = this.data.slider.labels[frame];
    this.range.setAttribute("aria-valuetext", this.data.slider.labels[frame]);
  }

  adopt(selected) {
    if (!selected) return this.frame(null);
    const at = JSON.stringify(selected);
    const echo = this.waiting.indexOf(at);
    if (echo >= 0) this.waiting.splice(0, echo + 1);
    if (!this.waiting.length) this.frame(selected);
  }

  select(panel, row, column) {
    const selected = { panel, row, column };
    this.frame(selected);
    this.waiting.push(JSON.stringify(selected));
    this.pick(panel, row, column);
  }

  click(panel, row, column, cell) {
    this.clicked = this.data.stepper ? null : cell;
    this.card.hide();
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

  play() {
    if (this.timer) return this.pause();
    this.playButton.textContent = "Pause";
    this.timer = setInterval(() => this.root.isConnected ? this.step(1) : this.pause(), 700);
  }

  pause() {
    clearInterval(this.timer);
    this.timer = null;
    if (this.playButton) this.playButton.textContent = "Play";
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

  fit() {
    const room = this.root.clientWidth;
    for (const panel of this.panels.values()) panel.fit(room);
  }
}

// The arithmetic of the clicked number, next to it: below a tall picture nobody would see it.
class Card {
  constructor(root) {
    this.root = root;
    this.box = root.appendChild(element("div", "card"));
    this.box.setAttribute("role", "status");
    this.box.hidden = true;
    const close = element("button", "close", "×");
    close.setAttribute("aria-label", "Close the arithmetic");
    close.onclick = () => this.hide();
    this.title = element("strong", "");
    [this.lines, this.snippet] = [element("pre", "lines"), element("pre", "snippet")];
    for (const text of [this.lines, this.snippet]) text.tabIndex = 0;
    this.box.append(close, this.title, this.lines, this.snippet);
    root.addEventListener("keydown", (event) => event.key === "Escape" && this.hide());
  }

  hide() { this.box.hidden = true; }

  show(working, cell) {
    if (!working) return;
    this.title.textContent = working.title;
    this.lines.textContent = working.lines.join("\n");
    this.snippet.textContent = working.snippet;
    this.box.hidden = false;
    const [area, at] = [this.root.getBoundingClientRect(), cell.getBoundingClientRect()];
    const left = Math.min(at.left - area.left, area.width - this.box.offsetWidth);
    this.box.style.left = `${Math.max(0, left)}px`;
    this.box.style.top = `${at.bottom - area.top + 6}px`;
  }
}

class Panel {
  constructor(figure, data) {
    this.figure = figure;
    this.data = data;
    this.box = element("section", "panel");
    this.box.setAttribute("aria-label", data.name);
        const title = element("div", "title");
    const name = element(data.link ? "button" : "span", "name", data.name);
    if (data.link) {
      name.setAttribute("aria-label", `${data.name}: open its page`);
      name.onclick = () => figure.open(data.link);
    }
    title.append(name, element("span", "shape", ` ${data.rows.length} × ${data.columns.length}`));
    this.box.append(title, element("div", "formula", data.formula));
  }

  take(data) {
    this.data = data;
    this.box.style.setProperty("--role", data.colour);
  }

  describe(row, column) {
    const value = this.data.values[row]?.[column];
    const shown = value === null ? "masked" : value?.toFixed(4);
    return `${this.data.name} [${this.data.rows[row]}, ${this.data.columns[column]}] = ${shown}`;
  }

  tokenAt(row, column) {
    if (this.data.row_tokens) return row;
    return this.data.column_tokens ? column : null;
  }
}

class Table extends Panel {
  constructor(figure, data) {
    super(figure, data);
    const table = element("table", "");
    table.setAttribute("role", "grid");
    table.setAttribute("aria-label", `${data.name}, ${data.formula}: ${data.rows.length} rows, ${data.columns.length} columns`);
    const head = table.createTHead().insertRow();
    head.append(element("td", "corner", `${data.row_axis} ↓ ${data.column_axis} →`));
    data.columns.forEach((label, column) => head.append(this.label(label, "column", column, data.column_tokens)));
    const body = table.createTBody();
    this.cells = data.rows.map((label, row) => {
      const line = body.insertRow();
      line.append(this.label(label, "row", row, data.row_tokens));
      return data.columns.map((_, column) => line.appendChild(this.cell(row, column)));
    });
    this.cells[0][0].tabIndex = 0;
    table.addEventListener("pointerover", (event) => this.point(event.target));
    table.addEventListener("focusin", (event) => this.point(event.target));
    table.addEventListener("pointerleave", () => figure.light(null));
    table.addEventListener("click", (event) => this.choose(event.target));
    table.addEventListener("keydown", (event) => this.move(event));
    this.box.append(table);
    this.table = table;
  }

  label(text, kind, index, isToken) {
    const label = element("th", kind);
    label.scope = kind === "row" ? "row" : "col";
    label.append(element("span", kind === "column" && text.length > 3 ? "turned" : "", text));
    label.title = text;
    label.dir = "auto";
    if (isToken) label.dataset[`${kind}Token`] = index;
    return label;
  }

  cell(row, column) {
    const cell = element("td", "cell");
    cell.tabIndex = -1;
    cell.place = [row, column];
    cell.setAttribute("role", "gridcell");
    if (this.data.row_tokens) cell.dataset.rowToken = row;
    if (this.data.column_tokens) cell.dataset.columnToken = column;
    return cell;
  }

  paint(data, ramp) {
    this.take(data);
    data.values.forEach((line, row) => line.forEach((value, column) => {
      const cell = this.cells[row][column];
      if (cell.value === value && cell.low === data.low && cell.high === data.high) return;
      [cell.value, cell.low, cell.high] = [value, data.low, data.high];
      cell.textContent = value === null ? "" : digits(value);
      const colour = value === null ? null : mix(ramp, (value - data.low) / (data.high - data.low));
      cell.style.backgroundColor = colour ? `rgb(${colour})` : "";
      cell.style.color = colour && luminance(colour) > 0.179 ? "#000" : "#fff";
      cell.classList.toggle("masked", value === null);
    }));
  }

  point(target) {
    const cell = target.closest("td.cell, th");
    if (!cell) return;
    if (cell.place) return this.figure.light(this.tokenAt(...cell.place), this, ...cell.place);
    this.figure.light(cell.dataset.rowToken ?? cell.dataset.columnToken ?? null);
  }

  choose(target) {
    const cell = target.closest("td.cell");
    if (cell) this.figure.click(this.data.id, ...cell.place, cell);
  }

  move(event) {
    const cell = event.target.closest("td.cell");
    if (!cell) return;
    if (event.key === "Enter" || event.key === " ") { event.preventDefault(); return this.choose(cell); }
    const [down, right] = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key] ?? [0, 0];
    const next = this.cells[cell.place[0] + down]?.[cell.place[1] + right];
    if (!next || next === cell) return;
    event.preventDefault();
    cell.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  }

  frame(row, column) {
    this.cells.forEach((line, i) => line.forEach((cell, j) => cell.classList.toggle("framed",
      (row !== null || column !== null) && (row ?? i) === i && (column ?? j) === j)));
  }

  fit(room) {
    const side = Math.max(4, Math.min(widest(room), Math.floor((room - LABELS) / this.data.columns.length) - 1));
    this.table.style.setProperty("--side", `${side}px`);
    this.table.classList.toggle("no-digits", side < DIGITS_NEED || this.data.columns.length > 16);
  }
}

class Picture extends Panel {
  constructor(figure, data) {
    super(figure, data);
    this.frameBox = element("div", "picture");
    const labels = (kind, texts) => {
      const line = element("div", `labels ${kind}`);
      line.append(...texts.map((text) => element("span", "", text)));
      return line;
    };
    this.canvas = element("canvas", "");
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", `${data.name}, ${data.formula}: ${data.rows.length} rows, ${data.columns.length} columns`);
    this.bands = ["row", "column", "lit"].map((kind) => element("div", `band ${kind}`));
    this.frameBox.append(this.canvas, ...this.bands);
    this.canvas.addEventListener("pointermove", (event) => {
      const [row, column] = this.place(event);
      figure.light(this.tokenAt(row, column), this, row, column);
    });
    this.canvas.addEventListener("pointerleave", () => figure.light(null));
    this.canvas.addEventListener("click", (event) => figure.click(data.id, ...this.place(event), this.frameBox));
    const grid = element("div", "imaged");
    grid.append(labels("columns", data.column_tokens ? data.columns : []));
    grid.append(labels("rows", data.row_tokens ? data.rows : []), this.frameBox);
    this.box.append(grid);
  }

  place(event) {
    const area = this.canvas.getBoundingClientRect();
    const within = (offset, size, count) => Math.max(0, Math.min(count - 1, Math.floor(offset / size * count)));
    return [within(event.clientY - area.top, area.height, this.data.rows.length),
            within(event.clientX - area.left, area.width, this.data.columns.length)];
  }

  paint(data, ramp) {
    this.take(data);
    const [height, width] = [data.rows.length, data.columns.length];
    Object.assign(this.canvas, { width, height });
    const context = this.canvas.getContext("2d");
    const image = context.createImageData(width, height);
    data.values.flat().forEach((value, k) => {
      if (value === null) return;
      image.data.set([...mix(ramp, (value - data.low) / (data.high - data.low)), 255], 4 * k);
    });
    context.putImageData(image, 0, 0);
  }

  frame(row, column) { this.band(0, row, "row"); this.band(1, column, "column"); }

  light(token) { this.band(2, this.data.row_tokens || this.data.column_tokens ? token : null, this.data.row_tokens ? "row" : "column"); }

  band(index, at, kind) {
    const style = this.bands[index].style;
    style.display = at === null || at === undefined ? "none" : "block";
    const [start, size, count] = kind === "row"
      ? ["top", "height", this.data.rows.length] : ["left", "width", this.data.columns.length];
    Object.assign(style, { top: "0", left: "0", width: "100%", height: "100%" });
    style[start] = `${100 * at / count}%`;
    style[size] = `${100 / count}%`;
  }

  fit(room) {
    const [rows, columns] = [this.data.rows.length, this.data.columns.length];
    const wide = room - (this.data.row_tokens ? LABELS : 0) - 40;
    this.frameBox.style.width = `${Math.min(wide, Math.max(columns * 4, this.data.column_tokens ? columns * 20 : 200))}px`;
    this.frameBox.style.height = `${Math.round(rows * Math.min(20, 400 / rows))}px`;
  }
}

function element(tag, name, text) {
  const made = document.createElement(tag);
  if (name) made.className = name;
  if (text !== undefined) made.textContent = text;
  return made;
}

function digits(value) {
  const text = Math.abs(value) < 99.995 ? value.toFixed(2) : value.toPrecision(3);
  return text === "-0.00" ? "0.00" : text.replace("-", "−");
}

function mix(ramp, share) {
  const place = Math.min(1, Math.max(0, share)) * (ramp.length - 1);
  const step = Math.min(ramp.length - 2, Math.floor(place));
  return ramp[step].map((low, channel) => Math.round(low + (ramp[step + 1][channel] - low) * (place - step)));
}

function luminance(rgb) {
  const [r, g, b] = rgb.map((c) => c <= 10 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
