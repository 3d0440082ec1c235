// @ts-check
// All heads of a model on a text, one of them enlarged: a picture for notebooks, in a file of its own.
// Text from readers is only ever written with textContent.

/** @import { LookData, Role } from "./data.js" */
/** @import { Dress } from "../picture/palette.js" */

import { channels, gradient } from "../common/colours.js";
import { element } from "../common/elements.js";
import { makeSentenceNodes } from "../common/filled_text.js";
import { _, speak } from "../common/words.js";
import { dress } from "../picture/palette.js";
import { percent } from "../picture/sentence.js";
import { Heads, makePixels } from "./heads.js";
import { LargeHead } from "./large.js";
import { HeadMosaic } from "./mosaic.js";
import { TokenText, writeToken } from "./tokens.js";

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
    this.query = query;
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
    const actions = { choose: (/** @type {number} */ query) => this.ask(query), peek: (/** @type {number | null} */ query) => this.peekQuery(query) };
    this.large = new LargeHead(right, heads, actions);
    this.says = row.appendChild(element("p", "says"));
    this.says.setAttribute("aria-live", "polite");
    this.text = new TokenText(row, data.tokens, actions);
    this.offerRoles();
    this.lay();
    this.text.reveal(query);
    new ResizeObserver(() => this.lay()).observe(root);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { this.dress = dress(root, data.looks); this.lay(true); });
    root.classList.add("painted"); // tests wait for it
  }

  get shown() { return this.peekedHead ?? /** @type {[number, number]} */ ([this.layer, this.head]); }
  get asker() { return this.peekedQuery ?? this.query; }

  /** @param {HTMLElement} header */
  writeHeader(header) {
    const { model, layers, tokens, pieces, kind } = this.data, count = layers.reduce((sum, { heads }) => sum + heads, 0).toLocaleString();
    header.append(element("h1", "", model));
    const sizes = { count, layers: layers.length, tokens: pieces.toLocaleString() };
    const what = kind === "encoder" ? _("{count} heads in {layers} layers of the encoder, {tokens} tokens", sizes) : _("{count} heads in {layers} layers, {tokens} tokens", sizes);
    const merged = _("merged into {words} words", { words: tokens.length.toLocaleString() });
    header.append(element("p", "", tokens.length < pieces ? `${what}, ${merged}` : what));
  }

  offerRoles() {
    const { roles, unnamed, telling } = this.data;
    const add = (/** @type {string} */ name, /** @type {() => void} */ act) => {
      const button = this.roles.appendChild(element("button", "", name));
      button.onclick = act;
      return button;
    };
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
    Object.assign(this, { layer, head, query });
    this.show();
    this.text.reveal(query);
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

  /** @param {number} query */
  ask(query) {
    Object.assign(this, { query, peekedQuery: null });
    this.show();
    this.text.reveal(query);
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
    this.title.textContent = _("layer {layer}, head {head}", { layer: this.data.names[layer], head });
    const own = this.data.roles.flatMap((role) => role.heads.filter((one) => one[0] === layer && one[1] === head).map((one) => _("{name} {score} (by chance {chance})", { name: _(role.name), score: one[2].toFixed(2), chance: role.chance.toFixed(2) })));
    own.push(_("on the first token {share}", { share: percent(this.data.layers[layer].first[head]) }));
    this.named.textContent = own.join(" · ");
    this.large.show(layer, head, this.asker);
    this.point();
  }

  /** What belongs to the row that is pointed at. */
  point() {
    const [layer, head] = this.shown, query = this.asker, { tokens, full, side, names } = this.data;
    this.large.query = query;
    this.large.point();
    this.text.root.hidden = this.text.keys.hidden = !this.heads.isInFull(layer);
    if (!this.heads.isInFull(layer)) {
      const block = Math.ceil(tokens.length / side), there = Object.keys(full).map((place) => names[Number(place)]).join(", ");
      const template = _("Of this layer the file has the largest weight of each block of {block} × {block} tokens. In full: layer {there}. For this one: **layers=[{layer}]**.", { block, there, layer });
      this.says.replaceChildren(...makeSentenceNodes(template, {}));
      return;
    }
    const weights = tokens.map((_token, key) => this.heads.weight(layer, head, query, key)), sum = weights.map((weight) => weight ?? 0), most = sum.indexOf(Math.max(...sum));
    const template = _("**{query}** gives {share} of its attention to **{key}**.", { query: "{{query}}", share: percent(sum[most]), key: "{{key}}" });
    const nodes = makeSentenceNodes(template, { query: writeToken(tokens[query]), key: writeToken(tokens[most]) }, { query: "query", key: "key" });
    this.says.replaceChildren(...nodes);
    this.text.show(query, weights, this.dress);
  }
}
