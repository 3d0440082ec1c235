// A large matrix: one canvas, a pixel per cell.

const FEW_ROWS = 20; // as many as have room for a label each

const HIDDEN = -32768; // what stands for a blank; the same in packed.py

// 16 bits a number; `told` is how many places of it are certain.
function unpacked(data) {
  const { unit, steps } = data.values;
  const bytes = new DataView(Uint8Array.from(atob(steps), (letter) => letter.charCodeAt(0)).buffer);
  const at = (place) => bytes.getInt16(2 * place, true);
  const values = data.rows.map((_, row) => data.columns.map((_, column) => {
    const step = at(row * data.columns.length + column);
    return step === HIDDEN ? null : step * unit;
  }));
  const told = data.places && Math.max(0, Math.min(4, Math.floor(-Math.log10(unit))));
  return { ...data, values, told };
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
    grid.append(labels("rows", this.hasRowLabels ? data.rows : []), this.frameBox);
    this.box.append(grid);
  }

  get hasRowLabels() { return this.data.row_tokens || this.data.rows.length <= FEW_ROWS; }

  place(event) {
    const area = this.canvas.getBoundingClientRect();
    const within = (offset, size, count) => Math.max(0, Math.min(count - 1, Math.floor(offset / size * count)));
    return [within(event.clientY - area.top, area.height, this.data.rows.length),
            within(event.clientX - area.left, area.width, this.data.columns.length)];
  }

  paint(data, ramp) {
    this.take(unpacked(data));
    const [height, width] = [data.rows.length, data.columns.length];
    Object.assign(this.canvas, { width, height });
    const context = this.canvas.getContext("2d");
    const image = context.createImageData(width, height);
    this.data.values.flat().forEach((value, k) => {
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
    const wide = room - (this.hasRowLabels ? LABELS : 0) - 40;
    const [each, high] = this.data.small ? [1, 13] : [4, 20]; // of a miniature three stand side by side
    this.frameBox.style.width = `${Math.min(wide, Math.max(columns * each, this.data.column_tokens ? columns * 20 : 50 * each))}px`;
    this.frameBox.style.height = `${Math.round(rows * Math.min(high, 400 / rows))}px`;
  }
}
