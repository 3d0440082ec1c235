// All heads of a model on a text, one of them enlarged: a picture for notebooks, in a file of its own.
// Text from readers is only ever written with textContent.

/** @import { LookData, Role } from "./data.js" */
/** @import { Dress } from "../picture/palette.js" */

import { channels, gradient } from "../common/colours.js";
import { element, makeSentenceNodes } from "../common/elements.js";
import { _, speak } from "../common/words.js";
import { dress } from "../picture/palette.js";
import { percent } from "../common/numbers.js";
import { Heads, makePixels } from "./heads.js";
import { KeptHeads } from "./kept.js";
import { LargeHead } from "./large.js";
import { HeadMosaic } from "./mosaic.js";
import { listKeys, TokenText, writeToken } from "./tokens.js";

/** Draw what stands in the document as JSON. */
export async function start() {
  const root = /** @type {HTMLElement} */ (document.querySelector(".look"));
  const data = JSON.parse(document.querySelector('script[type="application/json"]')?.textContent ?? "");
  speak(data.words);
  const heads = new Heads(data);
  await heads.unpack();
  new LookPicture(root, data, heads);
}

class LookPicture {
  /** @param {HTMLElement} root @param {LookData} data @param {Heads} heads */
  constructor(root, data, heads) {
    this.root = root;
    this.data = data;
    this.heads = heads;
    const [layer, head, query] = data.telling[0];
    this.layer = layer;
    this.head = head;
    this.queries = [query]; // whose rows are shown
    this.isSum = false; // added up, not averaged
    this.laid = ""; // for which sizes it was drawn
    /** @type {[number, number] | null} */
    this.peekedHead = null;
    /** @type {number | null} */
    this.peekedQuery = null;
    /** @type {Role | null} */
    this.role = null;
    /** @type {Dress} */
    this.dress = dress(root, data.looks);
    const header = root.appendChild(element("header")), left = root.appendChild(element("section", "all")), right = root.appendChild(element("section", "one")), row = root.appendChild(element("section", "row"));
    this.writeHeader(header);
    this.roles = left.appendChild(element("div", "roles"));
    this.meaning = left.appendChild(element("p", "meaning"));
    this.mosaic = new HeadMosaic(left, heads, {
      choose: (layer, head) => this.choose(layer, head),
      peek: (place) => this.peekHead(place),
    });
    this.legend = left.appendChild(element("div", "legend"));
    this.title = right.appendChild(element("h2"));
    this.named = right.appendChild(element("p", "named"));
    this.buttons = right.appendChild(element("div", "roles"));
    const peek = (/** @type {number | null} */ query) => this.peekQuery(query);
    this.large = new LargeHead(right, heads, { choose: (query, isMore) => this.ask([query], isMore), peek });
    this.kept = new KeptHeads(right, heads, (layer, head) => this.choose(layer, head));
    this.says = row.appendChild(element("p", "says", "", { "aria-live": "polite" }));
    this.sum = row.appendChild(element("button", "whole sum", "", { onclick: () => { this.isSum = !this.isSum; this.point(); } }));
    this.keys = row.appendChild(element("div", "keys"));
    const shift = data.queries ? 0 : data.offset; // the place of the first query in the text that asks
    const asks = {
      choose: (/** @type {number[]} */ places, /** @type {boolean} */ isMore) => this.ask(places.map((place) => place - shift).filter((one) => one >= 0), isMore),
      peek: (/** @type {number | null} */ place) => peek(place === null || place < shift ? null : place - shift),
    };
    this.asking = data.queries ? new TokenText(row, data.queries, [], asks) : null;
    this.text = new TokenText(row, data.tokens, data.parts, this.asking ? { choose: () => {}, peek: () => {} } : asks);
    this.offerViews();
    this.offerRoles();
    this.lay();
    this.reveal();
    new ResizeObserver(() => this.lay()).observe(root);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { this.dress = dress(root, data.looks); this.lay(true); });
    root.classList.add("painted"); // tests wait for it
  }

  get shown() { return this.peekedHead ?? /** @type {[number, number]} */ ([this.layer, this.head]); }
  get askers() { return this.peekedQuery === null ? this.queries : [this.peekedQuery]; }

  /** Scroll to the query that was chosen last. */
  reveal() {
    const { queries, offset } = this.data, last = this.queries[this.queries.length - 1];
    (this.asking ?? this.text).reveal(queries ? last : last + offset);
  }

  /** Buttons: to keep a head, and to see how one part of the text looks at another. */
  offerViews() {
    const { heads, data } = this, { parts, offset } = data;
    const add = (/** @type {string} */ name, /** @type {() => void} */ onclick) => this.buttons.append(element("button", "", name, { onclick }));
    add(_("Keep this head beside others"), () => { this.kept.add(...this.shown); this.point(); });
    const ends = [...parts.slice(1).map(([, start]) => start), data.tokens.length], { rows, side, allowed } = heads.layers[0].mask;
    const spans = parts.map(([, start], place) => /** @type {[number, number]} */ ([start, ends[place]]));
    for (const [from, query] of spans.entries()) for (const [to, key] of spans.entries()) {
      const block = (/** @type {number} */ place, /** @type {number} */ blocks, /** @type {number} */ count) => Math.floor((place * blocks) / count);
      const isSeen = allowed.low[block(query[1] - 1 - offset, rows, heads.queries.length) * side + block(key[0], side, heads.keys.length)];
      if (isSeen) add(`${_(parts[from][0])} → ${_(parts[to][0])}`, () => this.large.zoom({ query: [query[0] - offset, query[1] - offset], key }));
    }
  }

  /** @param {HTMLElement} header */
  writeHeader(header) {
    const { model, layers, tokens, pieces, kind } = this.data, count = layers.reduce((sum, { heads }) => sum + heads, 0).toLocaleString();
    header.append(element("h1", "", model));
    const sizes = { count, layers: layers.length, tokens: pieces.toLocaleString(), queries: this.heads.queries.length.toLocaleString() };
    const what = this.data.queries || this.data.offset ? _("{count} heads in {layers} layers, {queries} queries on {tokens} tokens", sizes) : kind === "encoder" ? _("{count} heads in {layers} layers of the encoder, {tokens} tokens", sizes) : _("{count} heads in {layers} layers, {tokens} tokens", sizes);
    const merged = _("merged into {words} words", { words: tokens.length.toLocaleString() });
    header.append(element("p", "", tokens.length < pieces ? `${what}, ${merged}` : what));
  }

  offerRoles() {
    const { roles, unnamed, telling } = this.data;
    const add = (/** @type {string} */ name, /** @type {() => void} */ onclick) => this.roles.appendChild(element("button", "", name, { onclick }));
    if (telling.length > 1) add(_("Another telling head"), () => this.step()).className = "next";
    for (const role of roles) add(`${_(role.name)} ${role.heads.length}`, () => this.light(role)).dataset.role = role.name;
    this.meaning.textContent = roles.length ? "" : _(unnamed);
    this.explain();
  }

  /** Only the heads of a role stay strong; the best of them is shown. @param {Role} role */
  light(role) {
    this.role = this.role === role ? null : role;
    this.mosaic.light(this.role && new Set(role.heads.map(([layer, head]) => `${layer} ${head}`)), this.dress);
    for (const button of this.roles.querySelectorAll("button")) button.setAttribute("aria-pressed", String(button.dataset.role === this.role?.name));
    this.explain();
    if (this.role) this.choose(role.heads[0][0], role.heads[0][1]);
  }

  explain() {
    const { role, data } = this;
    if (role) {
      this.meaning.textContent = _("{name}: {meaning}. A head has this name above {threshold}; shuffled heads reach {chance}.", {
        name: _(role.name), meaning: _(role.meaning), threshold: role.threshold, chance: role.chance.toFixed(2),
      });
    } else if (data.roles.length) this.meaning.textContent = _("One square is one head. Point at it, or choose a name to see which heads have it.");
  }

  /** The next of the heads that are worth a look. */
  step() {
    const { telling } = this.data, at = telling.findIndex(([layer, head]) => layer === this.layer && head === this.head);
    const [layer, head, query] = telling[(at + 1) % telling.length];
    Object.assign(this, { layer, head, queries: [query] });
    this.show();
    this.reveal();
  }

  /** @param {number} layer @param {number} head */
  choose(layer, head) {
    Object.assign(this, { layer, head, peekedHead: null });
    this.show();
  }

  /** @param {[number, number] | null} place */
  peekHead(place) {
    if (String(place) === String(this.peekedHead)) return;
    this.peekedHead = place;
    this.show();
  }

  /** Choose rows, or, with `isMore`, take them to those that are chosen, or away again. @param {number[]} queries */
  ask(queries, isMore = false) {
    const rest = this.queries.filter((query) => !queries.includes(query)), isNew = queries.some((query) => !this.queries.includes(query));
    const chosen = isMore ? [...rest, ...(isNew ? queries : [])] : queries;
    Object.assign(this, { queries: chosen.length ? chosen : this.queries, peekedQuery: null });
    this.show();
    this.reveal();
  }

  /** @param {number | null} query */
  peekQuery(query) {
    if (query === this.peekedQuery) return;
    this.peekedQuery = query;
    this.point();
  }

  /** Sizes and colours, where they have changed. */
  lay(isDressed = false) {
    const all = this.mosaic.root.clientWidth, one = this.large.root.clientWidth, laid = `${all} ${one} ${devicePixelRatio}`;
    if (!all || (laid === this.laid && !isDressed)) return;
    this.laid = laid;
    const { background, look } = this.dress, colours = makePixels(background, channels(look.deep));
    this.mosaic.paint(all, this.dress, colours);
    this.large.fit(one, colours);
    this.writeLegend();
    this.show();
  }

  writeLegend() {
    const bar = element("span", "ramp"), { background, look } = this.dress;
    bar.style.background = gradient([background, channels(look.deep)]);
    const half = bar.appendChild(element("i")); // the middle of the colours is a quarter
    half.title = "0.25";
    this.legend.replaceChildren(element("span", "", _("weight 0")), bar, element("span", "", "1"), element("small", "", _("8 bits; colour by the root of the weight")));
  }

  show() {
    const [layer, head] = this.shown;
    this.mosaic.mark(this.layer, this.head);
    this.title.textContent = this.heads.name(layer, head);
    const own = this.data.roles.flatMap((role) => role.heads.filter((one) => one[0] === layer && one[1] === head).map((one) => _("{name} {score} (by chance {chance})", { name: _(role.name), score: one[2].toFixed(2), chance: role.chance.toFixed(2) })));
    own.push(_("on the first token {share}", { share: percent(this.data.layers[layer].first[head]) }));
    this.named.textContent = own.join(" · ");
    this.large.show(layer, head, this.askers);
    this.point();
  }

  /** What belongs to the row that is pointed at. */
  point() {
    const [layer, head] = this.shown, queries = this.askers, { tokens, full, side, names, offset } = this.data, isInFull = this.heads.isInFull(layer, head);
    this.large.queries = queries;
    this.large.point();
    this.kept.show(queries, this.isSum, this.dress);
    this.text.root.hidden = this.keys.hidden = !isInFull;
    this.sum.hidden = this.queries.length < 2;
    this.says.classList.toggle("long", this.queries.length > 1); // its height stays while rows are pointed at
    if (!isInFull) {
      const block = Math.ceil(tokens.length / side), there = Object.keys(full).map((place) => names[Number(place)]).join(", "), isPart = full[layer];
      const template = isPart ? _("Of this head the file has the largest weight of each block of {block} × {block} tokens. For all of it: **layers=[({layer}, {head})]**.", { block, layer, head }) : _("Of this layer the file has the largest weight of each block of {block} × {block} tokens. In full: layer {there}. For this one: **layers=[{layer}]**.", { block, there, layer });
      this.says.replaceChildren(...makeSentenceNodes(template, {}));
      return;
    }
    const weights = this.heads.row(layer, head, queries, this.isSum), given = weights.map((weight) => weight ?? 0), most = given.indexOf(Math.max(...given));
    const slots = { query: "{{query}}", key: "{{key}}", share: percent(given[most]), count: queries.length };
    const template = queries.length < 2 ? _("**{query}** gives {share} of its attention to **{key}**.", slots) : this.isSum ? _("The rows of {count} queries **added up** (**{query}**) give {share} to **{key}**.", slots) : _("The **mean** of the rows of {count} queries (**{query}**) gives {share} to **{key}**.", slots);
    this.sum.textContent = this.isSum ? _("Average the rows") : _("Add the rows up");
    const asked = queries.map((query) => writeToken(this.heads.queries[query])).join(" ");
    this.says.replaceChildren(...makeSentenceNodes(template, { query: asked, key: writeToken(tokens[most]) }, { query: "query", key: "key" }));
    listKeys(this.keys, tokens, weights);
    this.asking?.show(queries, [], this.dress);
    this.text.show(this.asking ? [] : queries.map((query) => query + offset), weights, this.dress);
  }
}
