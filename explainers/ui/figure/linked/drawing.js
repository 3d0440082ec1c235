// Small drawings of matrices that say more as lines: which heads share, and vectors that turn.

// The name of SVG's elements looks like an address; asked for here, it need not be written.
const SVG = new DOMParser().parseFromString("<svg></svg>", "text/html").body.firstChild.namespaceURI;

function shape(tag, attributes, text) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

class Drawing extends Panel {
  constructor(figure, data) {
    super(figure, data);
    this.box.querySelector(".shape").remove(); // how many numbers it is made of is not its subject
    this.stage = this.box.appendChild(element("div", "drawings"));
  }

  drawn(box, label, shapes) {
    const made = shape("svg", { viewBox: box.join(" "), width: box[2], height: box[3], role: "img", "aria-label": label });
    made.append(...shapes);
    return made;
  }

  frame() {}

  fit() {}
}

// A row is a vector, two columns of it are an arrow in a plane of their own.
class Dials extends Drawing {
  paint(data) {
    this.take(data);
    const legend = element("div", "legend");
    data.rows.forEach((row, i) => {
      const name = legend.appendChild(element("span", "", `→ ${row}`));
      name.style.color = data.roles[i];
    });
    const planes = data.columns.flatMap((column, j) => j % 2 ? [] : [this.dial(data, column, j)]);
    this.stage.replaceChildren(...planes, legend);
  }

  dial(data, column, j) {
    const [reach, room] = [48, 56];
    const shapes = [
      shape("circle", { r: reach, class: "rim" }),
      shape("path", { d: `M${-reach} 0H${reach}M0 ${-reach}V${reach}`, class: "rim" }),
    ];
    data.values.forEach((line, i) => {
      const [x, y] = [line[j], -line[j + 1]].map((value) => value / data.high * reach);
      const angle = Math.atan2(y, x);
      const wing = (turn) => `L${x - 9 * Math.cos(angle + turn)} ${y - 9 * Math.sin(angle + turn)}`;
      const d = `M0 0L${x} ${y}${wing(0.45)}M${x} ${y}${wing(-0.45)}`;
      shapes.push(shape("path", { d, class: "arrow", stroke: data.roles[i] }));
    });
    const figure = element("figure", "");
    const label = data.rows.map((row, i) => `${row}: ${digits(data.values[i][j])}, ${digits(data.values[i][j + 1])}`);
    const made = this.drawn([-room, -room, 2 * room, 2 * room], `${column}: ${label.join("; ")}`, shapes);
    figure.append(made, element("figcaption", "", column));
    return figure;
  }
}

// Columns stand above, rows below; a line joins those whose cell is not 0.
class Links extends Drawing {
  paint(data) {
    this.take(data);
    const [step, top, bottom] = [44, 18, 100];
    const shapes = [], above = (j) => step * (j + 0.5);
    data.rows.forEach((row, i) => {
      const joined = data.columns.map((_, j) => j).filter((j) => data.values[i][j]);
      const x = joined.reduce((sum, j) => sum + above(j), 0) / joined.length;
      shapes.push(...joined.map((j) => shape("path", { d: `M${above(j)} ${top}L${x} ${bottom}`, class: "link" })));
      shapes.push(...this.head("rect", { x: x - 14, y: bottom - 14, width: 28, height: 28, rx: 4 }, data.roles[1], x, bottom, row));
    });
    data.columns.forEach((column, j) =>
      shapes.push(...this.head("circle", { cx: above(j), cy: top, r: 14 }, data.roles[0], above(j), top, column)));
    const label = `${data.name}: ${data.formula}`;
    this.stage.replaceChildren(this.drawn([0, 0, step * data.columns.length, bottom + 18], label, shapes));
  }

  head(tag, place, colour, x, y, name) {
    return [
      shape(tag, { ...place, class: "head", stroke: colour }),
      shape("text", { x, y, class: "head", fill: colour }, name),
    ];
  }
}

const FAINT = 0.04; // a smaller weight has no line

// Words of the source on the left, syllables on the right, in the order of reading; a line is as
// thick as its weight, a dotted one is what gold says. Rows that are not written yet are left out.
class Ties extends Drawing {
  paint(data) {
    this.take(data);
    const turned = data.flipped; // then the rows are words
    const weights = turned ? data.values[0].map((_, j) => data.values.map((line) => line[j])) : data.values;
    const [targets, sources] = turned ? [data.columns, data.rows] : [data.rows, data.columns];
    const [targetAxis, sourceAxis] = turned ? [data.column_axis, data.row_axis] : [data.row_axis, data.column_axis];
    const rings = turned ? data.ringed.map(([i, j]) => [j, i]) : data.ringed;
    const [step, left, right, wide] = [26, 116, 264, 380];
    const height = step * Math.max(targets.length, sources.length);
    const at = (place, count) => (place + 0.5) * height / count;
    const line = (i, j, attributes) => shape("line", {
      x1: left, y1: at(j, sources.length), x2: right, y2: at(i, targets.length), ...attributes,
      "data-names": `${tokenName(targetAxis, i)} ${tokenName(sourceAxis, j)}`,
    });
    const written = weights.filter((row) => row[0] !== null).length, shapes = [], said = [];
    weights.slice(0, written).forEach((row, i) => {
      row.forEach((weight, j) => weight >= FAINT && shapes.push(line(i, j, { class: "tie", "stroke-width": 10 * weight, opacity: 0.35 + 0.65 * weight })));
      said.push(`${targets[i]}: ${sources[row.indexOf(Math.max(...row))]}`);
    });
    shapes.push(...rings.filter(([i]) => i < written).map(([i, j]) => line(i, j, { class: "gold" })));
    const word = (name, place, count, x, anchor, token, mark) => {
      const made = shape("text", { x, y: at(place, count), "text-anchor": anchor, class: `word ${mark}`, "data-names": token }, name);
      made.onpointerenter = () => this.figure.light(token);
      made.onpointerleave = () => this.figure.light(null);
      return made;
    };
    shapes.push(...sources.map((name, j) => word(name, j, sources.length, left - 8, "end", tokenName(sourceAxis, j), "")));
    shapes.push(...targets.slice(0, written).map((name, i) =>
      word(name, i, targets.length, right + 8, "start", tokenName(targetAxis, i), i === written - 1 ? "last" : "")));
    this.stage.classList.add("ties");
    this.stage.style.setProperty("--tie", `rgb(${this.figure.data.ramps.weights.at(-1)})`);
    this.stage.replaceChildren(this.drawn([0, 0, wide, height], `${data.name}: ${said.join("; ")}`, shapes));
  }

  light(token) {
    for (const made of this.stage.querySelectorAll("line"))
      made.classList.toggle("aside", token !== null && !made.dataset.names.split(" ").includes(String(token)));
  }
}

const DRAWINGS = { arrows: Dials, links: Links, ties: Ties };
