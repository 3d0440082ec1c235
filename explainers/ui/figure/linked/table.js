// A small matrix: a table that screen readers and arrow keys can walk through.

const LABELS = 78, BESIDE = 38, DIGITS_NEED = 28, LABEL_NEEDS = 14;
const NARROW = 480, GAP = 14, CHARACTER = 7; // a phone; between two panels; of a label
const SMALL = { cells: 126, names: 78, label: 14 }, SMALL_ON_A_PHONE = { names: 54, label: 11 };
const widest = (room) => room < 700 ? 30 : room < 1000 ? 31 : 40; // of 7 words two at 1024, three at 1280

class Panel {
  constructor(figure, data) {
    this.figure = figure;
    this.data = data;
    this.box = element("div", "panel");
    this.box.setAttribute("role", "group"); // a section would be a landmark, a dozen on a page
    const title = element("div", "title");
    const name = element(data.has_page ? "button" : "span", "name");
    if (data.has_page) {
      name.setAttribute("aria-label", say("{name}: read about it", { name: data.name }));
      name.onclick = () => figure.tell("open", data.id);
    }
    title.append(name, element("span", "shape", ` ${data.rows.length} × ${data.columns.length}`));
    [this.name, this.formula] = [name, element("div", "formula")];
    this.box.append(title, this.formula);
  }

  take(data) {
    this.data = data;
    this.name.textContent = data.name;
    this.box.setAttribute("aria-label", data.name);
    this.formula.textContent = data.formula;
    const spoken = say("{name}, {formula}: {rows} rows, {columns} columns",
      { name: data.name, formula: data.formula, rows: data.rows.length, columns: data.columns.length });
    (this.table ?? this.canvas)?.setAttribute("aria-label", spoken);
    this.box.style.setProperty("--role", data.colour);
    for (const state of ["small", "marked", "muted"]) this.box.classList.toggle(state, Boolean(data[state]));
    this.box.setAttribute("aria-current", Boolean(data.marked));
  }

  describe(row, column) {
    const value = this.data.values[row]?.[column];
    const shown = value === null ? say("masked") : value?.toFixed(this.data.told ?? (this.data.places && 4));
    return `${this.data.name} [${this.data.rows[row]}, ${this.data.columns[column]}] = ${shown}`;
  }

  tokenAt(row, column) {
    if (this.data.row_tokens) return tokenName(this.data.row_axis, row);
    return this.data.column_tokens ? tokenName(this.data.column_axis, column) : null;
  }
}

class Table extends Panel {
  constructor(figure, data) {
    super(figure, data);
    const table = element("table", "");
    table.setAttribute("role", "grid");
    table.classList.toggle("pickable", figure.data.pickable);
    const head = table.createTHead().insertRow();
    head.append(element("td", "corner", [[data.row_axis, "↓"], [data.column_axis, "→"]]
      .filter(([axis]) => axis).map(([axis, arrow]) => `${say(axis)} ${arrow}`).join(" ")));
    data.columns.forEach((label, column) => head.append(this.label(label, "column", column, data.column_tokens)));
    const body = table.createTBody();
    this.cells = data.rows.map((label, row) => {
      const line = body.insertRow();
      line.append(this.label(label, "row", row, data.row_tokens));
      return data.columns.map((_, column) => line.appendChild(this.cell(row, column)));
    });
    this.cells[0][0].tabIndex = 0;
    table.addEventListener("pointerover", (event) => this.point(event.target));
    table.addEventListener("focusin", (event) => this.enter(event.target));
    table.addEventListener("pointerleave", () => figure.light(null));
    table.addEventListener("click", (event) => this.choose(event.target));
    table.addEventListener("keydown", (event) => this.move(event));
    this.box.append(table);
    this.table = table;
  }

  label(text, kind, index, isToken) {
    const label = element("th", kind);
    label.scope = kind === "row" ? "row" : "col";
    label.append(element("span", kind === "column" && text.length > (this.data.small ? 1 : 3) ? "turned" : "", text));
    label.title = text;
    label.dir = "auto";
    if (isToken) label.dataset[`${kind}Token`] = tokenName(this.data[`${kind}_axis`], index);
    return label;
  }

  cell(row, column) {
    const cell = element("td", "cell");
    cell.tabIndex = -1;
    cell.place = [row, column];
    cell.setAttribute("role", "gridcell");
    if (this.data.row_tokens) cell.dataset.rowToken = tokenName(this.data.row_axis, row);
    if (this.data.column_tokens) cell.dataset.columnToken = tokenName(this.data.column_axis, column);
    return cell;
  }

  paint(data, ramp) {
    this.take(data);
    const dye = JSON.stringify([data.low, data.high, ramp]);
    data.values.forEach((line, row) => line.forEach((value, column) => {
      const cell = this.cells[row][column];
      if (cell.value === value && cell.dye === dye) return;
      [cell.value, cell.dye] = [value, dye];
      cell.textContent = value === null ? data.blank : digits(value, data.places);
      const colour = value === null ? null : mix(ramp, (value - data.low) / (data.high - data.low));
      cell.style.backgroundColor = colour ? `rgb(${colour})` : "";
      cell.style.color = !colour ? "" : luminance(colour) > INK_TURNS ? "#000" : "#fff";
      cell.classList.toggle("masked", value === null);
    }));
    const rings = new Set(data.ringed.map(String));
    this.cells.forEach((line, i) => line.forEach((cell, j) => cell.classList.toggle("ringed", rings.has(`${i},${j}`))));
    this.follow(data.followed, data.flipped);
  }

  follow(query, isColumn) {
    const place = query === null ? null : `${isColumn} ${query}`;
    if (place === (this.followed ?? null)) return;
    this.followed = place;
    this.cells.forEach((line, i) => {
      line[0].parentElement.classList.toggle("followed", !isColumn && i === query);
      line.forEach((cell, j) => cell.classList.toggle("followed", isColumn && j === query));
    });
  }

  point(target) {
    const cell = target.closest("td.cell, th");
    if (!cell) return;
    if (cell.place) return this.figure.light(this.tokenAt(...cell.place), this, ...cell.place);
    this.figure.light(cell.dataset.rowToken ?? cell.dataset.columnToken ?? null);
  }

  enter(target) { // one cell of a table is in the tab order: the last one that had the focus
    const cell = target.closest("td.cell");
    if (cell) {
      (this.home ?? this.cells[0][0]).tabIndex = -1;
      this.home = cell;
      cell.tabIndex = 0;
    }
    this.point(target);
  }

  choose(target) {
    const cell = target.closest("td.cell");
    if (cell) this.figure.click(this.data.id, ...cell.place, cell);
  }

  move(event) {
    const cell = event.target.closest("td.cell");
    if (!cell) return;
    if (event.key === "Enter" || event.key === " ") { event.preventDefault(); return this.choose(cell); }
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by && this.figure.data.stepper === this.data.id) { event.preventDefault(); return this.figure.step(by); }
    const [down, right] = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key] ?? [0, 0];
    const next = this.cells[cell.place[0] + down]?.[cell.place[1] + right];
    if (!next || next === cell) return;
    event.preventDefault();
    next.focus();
  }

  frame(row, column) {
    this.cells.forEach((line, i) => line.forEach((cell, j) => cell.classList.toggle("framed",
      (row !== null || column !== null) && (row ?? i) === i && (column ?? j) === j)));
  }

  fit(room) {
    const { columns, small } = this.data;
    const beside = this.box.parentElement.querySelector(".operator") ? BESIDE : 0;
    const miniature = room < NARROW ? SMALL_ON_A_PHONE : SMALL;
    // On a phone two miniatures stand side by side.
    const share = !small ? room : room < NARROW ? Math.floor((room - GAP) / 2) : SMALL.names + SMALL.cells;
    const space = Math.min(share, room) - beside - (small ? miniature.names : LABELS);
    const side = Math.max(4, Math.min(small ? 18 : widest(room), Math.floor(space / columns.length) - 1));
    const longest = Math.max(...columns.map((label) => label.length).filter((length) => length <= 3));
    this.box.style.maxWidth = small ? `${share}px` : "";
    this.table.style.setProperty("--side", `${side}px`);
    this.table.classList.toggle("no-digits", side < DIGITS_NEED);
    const isTight = side < (small ? miniature.label : LABEL_NEEDS); // then only every fourth is shown
    this.table.classList.toggle("crowded", !isTight && side < CHARACTER * longest);
    this.table.classList.toggle("tight", isTight);
  }
}
