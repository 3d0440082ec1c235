// A picture as a list of marks: what is seen now. Each mark's node is made, moved, painted and taken away
// here, found again by its key; so a hero says only what stands where.

import { element, shape } from "../common/elements.js";

/** @import { Stage } from "./stage.js" */
/** @typedef {HTMLElement | SVGElement} Drawn */
/** @typedef {Float64Array} Now  a mark's numbers, on their way to those of the mark */
/**
 * @typedef {object} Mark
 * @property {string} key by which it is the same mark in the next picture
 * @property {string} [tag] "div" if there is none; "svg:path" for a drawing
 * @property {HTMLElement} [node] that is there already, and has its own classes besides those of `is`
 * @property {string | HTMLElement} [in] the key of the mark that it stands in, or what is there already, if it does not stand on the stage
 * @property {string} [class]
 * @property {Record<string, unknown>} [is] further classes, where something is true
 * @property {string} [text] before the marks that stand in it
 * @property {Partial<Mark>[]} [parts] these, in their order: spans, if they say nothing else
 * @property {[x: number, y: number, size: number]} [at] of a text, held at its middle
 * @property {"left" | "middle" | "right"} [hold] where it is held instead
 * @property {number} [turn] of a text, in degrees
 * @property {[x: number, y: number, width: number, height: number]} [box] of anything else
 * @property {number} [opacity] of what has a place
 * @property {number} [delay] milliseconds until it sets out for its place
 * @property {Record<string, string | number | boolean | undefined>} [attributes] false and undefined are taken away
 * @property {Record<string, string | number | undefined>} [style]
 * @property {number[]} [numbers] that glide to their new values; none of its own: []
 * @property {(node: any, now: Now) => void} [draw] and what each frame makes of them
 * @property {(node: any) => void} [fill] what is done with it at once, at every change, when all marks are there
 * @property {boolean} [fades] it fades away where it stands, with all that stands in it
 * @property {string | number} [value] of an input, whatever its reader has made of it
 * @property {() => void} [click]
 * @property {(node: any) => void} [made] what a new node needs besides
 * @property {number} [own] the token that it belongs to: a model's own may be hidden
 * @property {number} [share] the token whose part of 100 % it is: hatched where that token is hidden
 */

export class Scene {
  /** @param {Stage} stage */
  constructor(stage) {
    this.stage = stage;
    /** @type {Map<string, { node: Drawn, mark: Mark, classes: string }>} */
    this.drawn = new Map();
    this.things = "";
    /** @type {number[]} tokens that are a model's own */
    this.own = [];
  }

  /** The node of a mark that is shown. @param {string} key */
  node(key) { return this.drawn.get(key)?.node; }

  /** Is it a picture of other things than when this was asked last? @param {unknown} things */
  isOther(things) {
    const told = JSON.stringify(things), isOther = told !== this.things;
    this.things = told;
    return isOther;
  }

  /** @param {Mark[]} marks the lowest first; those that are shown already keep their order, and the very same marks are left as they are */
  show(marks) {
    marks = marks.flatMap(unfold);
    this.leave(new Set(marks.map(({ key }) => key)));
    /** @type {Map<Element, ChildNode>} of each parent, the child that was placed last */
    const last = new Map([[this.stage.root, this.stage.lines]]);
    for (const mark of marks) {
      const known = this.drawn.get(mark.key), node = known?.node ?? make(mark), parent = known ? /** @type {Element} */ (node.parentNode) : this.parentOf(mark);
      if (!known) {
        const before = last.get(parent) ?? textOf(parent);
        if (before) before.after(node);
        else parent.prepend(node);
        mark.made?.(node);
      }
      last.set(parent, node);
      if (known?.mark === mark) continue; // the very same: nothing of it has changed
      const classes = this.classesOf(mark);
      if (mark.node) for (const [name, isSo] of Object.entries(mark.is ?? {})) node.classList.toggle(name, Boolean(isSo));
      else if (known?.classes !== classes) node.setAttribute("class", classes);
      this.dress(node, mark, known?.mark);
      this.drawn.set(mark.key, { node, mark, classes });
    }
    for (const { key, fill } of marks) fill?.(this.node(key));
  }

  /** What is no longer seen is taken away, or fades and is hidden until it comes again. @param {Set<string>} keys that stay */
  leave(keys) {
    const fading = new Set(), isStill = this.stage.root.closest(".still") !== null;
    for (const [key, { node, mark, classes }] of this.drawn) {
      if (keys.has(key)) continue;
      if (!isStill && !(node instanceof SVGElement) && (mark.fades || fading.has(mark.in))) {
        fading.add(key);
        const faded = { ...mark, opacity: 0, delay: 0 };
        this.place(node, faded);
        this.drawn.set(key, { node, mark: faded, classes });
        continue;
      }
      this.drawn.delete(key);
      node.remove();
    }
  }

  /** @param {Mark} mark @returns {Element} */
  parentOf({ tag, in: inside }) {
    const parent = typeof inside === "string" ? this.node(inside) : inside;
    return parent ?? (tag?.startsWith("svg:") ? this.stage.lines : this.stage.root);
  }

  /** @param {Mark} mark */
  classesOf({ class: name = "", is = {}, at, box, own = -1, share = -1 }) {
    /** @type {Record<string, unknown>} */
    const all = { moves: at ?? box, ...is, "models-own": this.own.includes(own), "models-share": this.own.includes(share) };
    let classes = name;
    for (const one in all) if (all[one]) classes += ` ${one}`;
    return classes.trim();
  }

  /** @param {Drawn} node @param {Mark} mark @param {Mark} [was] */
  dress(node, mark, was) {
    const { attributes = {}, style = {}, text, value, click } = mark;
    for (const name in was?.attributes) if (!(name in attributes)) node.removeAttribute(name);
    for (const name in attributes) { // asked of the node: keys move where Tab arrives
      const value = attributes[name];
      if (value === false || value === undefined) node.removeAttribute(name);
      else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, String(value));
    }
    for (const name in style) if (!was || was.style?.[name] !== style[name]) node.style.setProperty(name, String(style[name] ?? ""));
    if (text !== undefined && was?.text !== text) {
      const old = textOf(node);
      if (old) old.nodeValue = text;
      else node.prepend(text);
    }
    if (value !== undefined) Object.assign(node, { value });
    if (click || was?.click) node.onclick = click ?? null;
    this.place(node, mark);
  }

  /** @param {Drawn} node @param {Mark} mark */
  place(node, { at, hold, turn, box, opacity, delay }) {
    if (node instanceof SVGElement) return;
    if (at) this.stage.write(node, ...at, opacity, delay, hold, turn);
    if (box) this.stage.put(node, { x: box[0], y: box[1], width: box[2], height: box[3] }, opacity, delay);
  }

  /** Where all numbers are going. @returns {Record<string, number[][]>} */
  goal() {
    return Object.fromEntries([...this.drawn.values()].flatMap(({ mark: { key, numbers } }) => (numbers ? [[key, [numbers]]] : [])));
  }

  /** @param {import("./motion.js").Tween} tween */
  paint(tween) {
    for (const { node, mark: { key, draw } } of this.drawn.values()) if (draw && tween.blocks[key]) draw(node, tween.row(key, 0));
  }
}

/** A mark, and behind it the marks that stand in it. @param {Mark} mark @returns {Mark[]} */
function unfold(mark) {
  if (!mark.parts) return [mark];
  return [mark, ...mark.parts.flatMap((part, at) => unfold({ key: `${mark.key} > ${at}`, tag: "span", ...part, in: mark.key }))];
}

/** A sign in a square of so many pixels. @param {string} path @param {number} side @param {string} [name] its class @returns {Partial<Mark>} */
export function markSign(path, side, name) {
  return { tag: "svg:svg", class: name, attributes: { viewBox: `0 0 ${side} ${side}`, "aria-hidden": "true" }, parts: [{ tag: "svg:path", attributes: { d: path } }] };
}

/** @param {Mark} mark @returns {Drawn} */
function make({ tag = "div", node }) {
  if (node) return node;
  return tag.startsWith("svg:") ? shape(tag.slice(4), {}) : element(/** @type {"div"} */ (tag));
}

/** What is written in front of the marks that stand in a node. @param {Element} node */
function textOf({ firstChild }) {
  return firstChild?.nodeName === "#text" ? firstChild : null;
}
