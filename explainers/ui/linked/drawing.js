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

const DRAWINGS = { arrows: Dials, links: Links };
