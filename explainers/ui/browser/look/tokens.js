// The text, each token as dark as the weight that it gets; and the tokens that get most.

/** @import { Dress } from "../picture/palette.js" */

import { channels, chooseInk, mix } from "../common/colours.js";
import { element } from "../common/elements.js";
import { _ } from "../common/words.js";
import { percent } from "../common/numbers.js";

const MOST_KEYS = 5, PALE = 0.35; // up to this the colour of the text is read well

/** A token as it is printed: what could not be seen has a sign. @param {string} token */
export function writeToken(token) {
  return token.trim() || (token.includes("\n") ? "↵" : "␣");
}

export class TokenText {
  /**
   * @param {HTMLElement} parent @param {string[]} tokens @param {[string, number][]} parts their names, and where they begin
   * @param {{ choose: (places: number[], isMore: boolean) => void, peek: (place: number | null) => void }} actions
   */
  constructor(parent, tokens, parts, { choose, peek }) {
    this.tokens = tokens;
    const told = { role: "group", "aria-label": _("The text, each token as dark as the weight that it gets") };
    this.root = parent.appendChild(element("div", "text", "", { ...told, tabindex: 0 })); // it may scroll, and keys must be able to
    this.root.classList.toggle("spaced", !tokens.some((token) => /\s/.test(token)));
    this.nodes = tokens.map((token) => this.root.appendChild(element("span", "token", token.replaceAll("\n", "↵\n") || "␣")));
    for (const [name, start] of parts) this.nodes[start]?.before(element("b", "part", _(name)));
    const placeOf = (/** @type {Event} */ { target }) => {
      const place = this.nodes.indexOf(/** @type {HTMLElement} */ (target));
      return place < 0 ? null : place;
    };
    this.root.onpointerover = (event) => { if (event.pointerType === "mouse") peek(placeOf(event)); };
    this.root.onpointerleave = () => peek(null);
    this.root.onclick = (event) => {
      const place = placeOf(event), marked = getSelection(), isMore = event.ctrlKey || event.metaKey; // Shift marks words, as anywhere
      const places = marked?.isCollapsed === false ? this.nodes.map((_node, at) => at).filter((at) => marked.containsNode(this.nodes[at], true)) : [];
      if (places.length > 1) marked?.removeAllRanges();
      if (places.length > 1) choose(places, isMore);
      else if (place !== null) choose([place], isMore);
    };
  }

  /** What is given to each token, null to those that may not be seen, and which ones ask. @param {number[]} asking @param {(number | null)[]} weights @param {Dress} dress */
  show(asking, weights, dress) {
    const ends = [dress.background, channels(dress.look.deep)];
    this.nodes.forEach((node, place) => {
      const weight = weights[place], colour = mix(ends, Math.sqrt(weight ?? 0));
      node.style.background = weight ? `rgb(${colour})` : "";
      node.style.color = Math.sqrt(weight ?? 0) > PALE ? chooseInk(colour) : "";
      node.classList.toggle("masked", weight === null);
      node.classList.toggle("asks", asking.includes(place));
    });
  }

  /** Scroll to a token. @param {number} place */
  reveal(place) {
    const { offsetTop } = this.nodes[place], { clientHeight, scrollTop } = this.root;
    if (offsetTop < scrollTop || offsetTop > scrollTop + clientHeight - 30) this.root.scrollTop = offsetTop - clientHeight / 2;
  }
}

/** The tokens that get most, in bars. @param {HTMLElement} root @param {string[]} tokens @param {(number | null)[]} weights */
export function listKeys(root, tokens, weights) {
  const order = weights.map((_weight, place) => place).filter((place) => weights[place]).sort((a, b) => (weights[b] ?? 0) - (weights[a] ?? 0));
  const shown = order.slice(0, MOST_KEYS), rest = order.slice(MOST_KEYS), sum = rest.reduce((total, place) => total + (weights[place] ?? 0), 0);
  root.replaceChildren(...shown.map((place) => makeBar(`${writeToken(tokens[place])}`, String(place), weights[place] ?? 0)));
  if (rest.length) root.append(makeBar(_("{count} others", { count: rest.length }), "", sum));
}

/** @param {string} name @param {string} position @param {number} weight */
function makeBar(name, position, weight) {
  const row = element("div", "key-row"), bar = element("span", "key-bar");
  const label = row.appendChild(element("span", "key-name", name));
  label.append(element("small", "", position));
  row.append(bar, element("span", "key-share", percent(weight)));
  bar.appendChild(element("i")).style.width = `${Math.min(100, 100 * weight).toFixed(1)}%`;
  return row;
}
