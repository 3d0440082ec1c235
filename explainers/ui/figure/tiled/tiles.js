// Many square matrices at once, each a small picture: point for a number, click to choose, drag to
// look closer. The numbers come packed, two bytes each, and are unpacked by the browser itself.
// Text from readers is only ever written with textContent.
// This file is joined with linked/paint.js before it is served.

const HIDDEN = 65535; // what stands for a blank, and in how many steps a weight is told: ui/tiles.py
const STEPS = 10000;
const A_CLICK = 4; // pixels that a finger moves which does not drag

export default function (component) {
  const { parentElement, setTriggerValue } = component;
  const data = component.data?.[0];
  const root = parentElement.querySelector(".tiles");
  if (!root || !data) return;
  const view = (root.view ??= new Tiles(root));
  view.tell = setTriggerValue;
  view.show(data);
}

class Tiles {
  constructor(root) {
    this.root = root;
    this.whole = root.appendChild(element("button", "whole"));
    this.whole.onclick = () => this.look(null);
    this.stage = root.appendChild(element("div", "stage"));
    this.stage.tabIndex = 0; // it may scroll, and keys must be able to
    this.stage.setAttribute("role", "group");
    this.key = root.appendChild(element("div", "key"));
    this.readout = root.appendChild(element("div", "readout"));
    this.readout.setAttribute("aria-live", "polite");
    new ResizeObserver(() => this.paint()).observe(root);
    root.addEventListener("transitionend", (event) => this.dressed(event));
  }

  async show(data) {
    const isNew = data.digest !== this.built;
    this.data = data;
    spoken = data.words;
    this.whole.textContent = say("Show the whole text");
    this.stage.setAttribute("aria-label", data.alt);
    const steps = isNew ? await unpacked(data.planes) : this.steps;
    if (this.data !== data) return; // another one has come meanwhile, and builds it
    this.steps = steps;
    if (isNew) this.build();
    this.built = data.digest;
    this.colours = ramp(data);
    this.words = words(this.colours);
    for (const tile of this.all) tile.image = null;
    this.mark();
    this.legend();
    this.look(isNew ? null : this.window);
    this.root.classList.add("panel"); // tests wait for it
  }

  build() {
    const { across, down, remarks, group_size: group, enlarges } = this.data;
    const side = this.data.tokens.length, cells = side * side;
    this.all = [];
    this.stage.replaceChildren();
    this.stage.classList.toggle("enlarges", enlarges);
    this.stage.style.setProperty("--columns", across.length);
    if (!enlarges) {
      this.stage.append(element("span", "corner", say("head ↓ layer →")));
      across.forEach((name, column) => {
        const label = this.stage.appendChild(element("span", remarks[column] ? "across near" : "across", name));
        if (remarks[column]) label.title = remarks[column];
      });
    }
    down.forEach((name, row) => {
      const first = row && row % group === 0 && group > 1 ? " family" : "";
      if (!enlarges) this.stage.append(element("span", `down${first}`, name));
      across.forEach((_, column) => {
        const box = this.stage.appendChild(element("div", `tile${first}`));
        if (enlarges) box.append(element("span", "name", name));
        const canvas = box.appendChild(element("canvas", ""));
        const tile = { row, column, box, canvas, at: cells * (column * down.length + row) };
        canvas.setAttribute("aria-hidden", "true");
        canvas.onpointerdown = (event) => this.press(tile, event);
        canvas.onpointermove = (event) => this.point(tile, event);
        canvas.onpointerup = (event) => this.release(tile, event);
        canvas.onpointerleave = () => { this.readout.textContent = ""; };
        this.all.push(tile);
      });
    });
  }

  mark() {
    const [row, column] = this.data.selected ?? [];
    for (const tile of this.all) tile.box.classList.toggle("marked", tile.row === row && tile.column === column);
    this.root.style.setProperty("--frame", this.data.highlight);
  }

  legend() {
    const bar = element("span", "bar");
    const stops = [0, 0.25, 0.5, 0.75, 1].map((share) => this.colours[Math.round(share * STEPS)]);
    bar.style.background = `linear-gradient(to right, ${stops.map((rgb) => `rgb(${rgb})`).join(", ")})`;
    const said = this.data.rooted ? say("1, colour by the root of the weight, so that small ones are seen") : "1";
    this.key.replaceChildren(element("span", "", say("weight 0")), bar, element("span", "", said));
  }

  // Which part of the text is looked at, in all tiles alike; null is all of it.
  look(window) {
    const side = this.data.tokens.length;
    this.window = window;
    this.whole.hidden = !window;
    this.seen = window ?? { query: [0, side], key: [0, side] };
    this.paint();
  }

  paint() {
    if (!this.all?.length || !this.seen) return;
    const { query, key } = this.seen, rows = query[1] - query[0], columns = key[1] - key[0];
    for (const tile of this.all) tile.size = tile.canvas.clientWidth;
    for (const tile of this.all) {
      tile.image ??= this.drawn(tile.at);
      const side = Math.max(1, Math.round(tile.size * devicePixelRatio));
      Object.assign(tile.canvas, { width: side, height: side });
      const context = tile.canvas.getContext("2d");
      context.imageSmoothingEnabled = rows > side;
      context.drawImage(tile.image, key[0], query[0], columns, rows, 0, 0, side, side);
    }
  }

  drawn(at) {
    const side = this.data.tokens.length;
    const canvas = Object.assign(document.createElement("canvas"), { width: side, height: side });
    const context = canvas.getContext("2d");
    const image = context.createImageData(side, side), { low, high } = this.steps;
    const pixels = new Uint32Array(image.data.buffer), { words } = this;
    for (let k = 0; k < pixels.length; k++) pixels[k] = words[low[at + k] | (high[at + k] << 8)];
    context.putImageData(image, 0, 0);
    return canvas;
  }

  place(event) {
    const area = event.currentTarget.getBoundingClientRect(), { query, key } = this.seen;
    const within = ([low, high], offset, size) => low + Math.max(0, Math.min(high - low - 1, Math.floor(offset / size * (high - low))));
    return [within(query, event.clientY - area.top, area.height), within(key, event.clientX - area.left, area.width)];
  }

  point(tile, event) {
    const [query, key] = this.place(event), { tokens, across, down } = this.data;
    const place = tile.at + query * tokens.length + key;
    const step = this.steps.low[place] | (this.steps.high[place] << 8);
    const value = step === HIDDEN ? say("masked or dimmed") : (step / STEPS).toFixed(4);
    const named = (place) => `“${tokens[place]}” (${place})`;
    this.readout.textContent = say("layer {layer}, {head}: {query} → {key} = {value}",
      { layer: across[tile.column], head: down[tile.row], query: named(query), key: named(key), value });
  }

  press(tile, event) {
    this.start = { place: this.place(event), x: event.clientX, y: event.clientY };
    if (this.data.enlarges) tile.canvas.setPointerCapture(event.pointerId);
  }

  release(tile, event) {
    const { start } = this;
    this.start = null;
    if (!start) return;
    const moved = Math.hypot(event.clientX - start.x, event.clientY - start.y);
    if (moved <= A_CLICK || !this.data.enlarges) return this.choose(tile);
    const end = this.place(event);
    const [query, key] = [0, 1].map((axis) => [Math.min(start.place[axis], end[axis]), Math.max(start.place[axis], end[axis]) + 1]);
    this.look({ query, key });
  }

  choose(tile) {
    if (this.data.enlarges) {
      tile.box.classList.toggle("wide");
      return this.paint();
    }
    this.data.selected = [tile.row, tile.column];
    this.mark();
    this.tell("tile", { row: tile.row, column: tile.column });
  }

  // The reader chose another theme; only the server knows its colours.
  dressed(event) {
    if (event.target !== this.root || event.propertyName !== "background-color" || !this.data) return;
    const seen = getComputedStyle(this.root).backgroundColor;
    if (seen !== `rgb(${this.data.background.join(", ")})`) this.tell("theme", true);
  }
}

function ramp({ ramp: ends, rooted }) {
  return Array.from({ length: STEPS + 1 }, (_, step) => mix(ends, rooted ? Math.sqrt(step / STEPS) : step / STEPS));
}

// A whole pixel for every number of two bytes, because a million of them are painted per head; what
// is no step of a weight is left out (0 is transparent).
function words(colours) {
  const bytes = new Uint8ClampedArray(4 * (HIDDEN + 1));
  colours.forEach((rgb, step) => bytes.set([...rgb, 255], 4 * step));
  return new Uint32Array(bytes.buffer);
}

// All low bytes, then all high ones: so they are packed better.
async function unpacked(planes) {
  const letters = atob(planes), packed = new Uint8Array(letters.length);
  for (let k = 0; k < letters.length; k++) packed[k] = letters.charCodeAt(k); // `from` takes ten times as long
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const half = bytes.length / 2;
  return { low: bytes.subarray(0, half), high: bytes.subarray(half) };
}
