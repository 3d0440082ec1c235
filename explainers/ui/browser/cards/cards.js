// @ts-check
// Links with thumbnails: a wall of all pages, or a few doors. A click keeps the reader's choices.

/** @import { Component, Tell } from "../common/component.js" */
/** @import { Card, CardsData } from "./data.js" */

import { loadStyle, locate, unpack, wear } from "../common/component.js";
import { readTheme } from "../common/colours.js";
import { element } from "../common/elements.js";

const style = loadStyle(new URL("style.css", import.meta.url));
const WIDTH = 240, HEIGHT = 150; // of a thumbnail

/** Every thumbnail in the colours of the theme. @param {HTMLElement} root @param {string} files */
function dress(root, files) {
  const theme = readTheme(root);
  for (const image of root.querySelectorAll("img")) {
    const address = new URL(`../../${files}/${image.dataset.thumbnail}-${theme}.webp`, import.meta.url).href;
    if (image.src !== address) image.src = address;
  }
}

/** A card's page with the choices as they are now; what the card itself asks for goes before them. @param {Card} card */
function addressOf({ address }) {
  const page = locate(`/${address}`);
  for (const [key, value] of new URLSearchParams(location.search)) if (!page.searchParams.has(key)) page.searchParams.append(key, value);
  return page.href;
}

/** @param {Card} card @param {string} group @param {Tell} tell */
function draw(card, group, tell) {
  const item = element("li");
  const label = element("span", "group", group);
  label.ariaHidden = "true"; // the list says it
  const link = element("a", "card"), image = element("img"), text = element("span", "text");
  Object.assign(image, { alt: card.alt, width: WIDTH, height: HEIGHT, loading: "lazy", decoding: "async" });
  image.dataset.thumbnail = card.thumbnail;
  const title = element("span", "title");
  title.append(element("span", "note", card.note), " ", element("b", "", card.title));
  text.append(title, " ", element("span", "line", card.line));
  link.append(image, text);
  const aim = () => { link.href = addressOf(card); };
  aim();
  for (const kind of ["pointerenter", "focus"]) link.addEventListener(kind, aim);
  link.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return; // a new tab
    event.preventDefault();
    document.querySelector("[data-testid=stMain]")?.scrollTo(0, 0);
    tell("opened", card.id);
  });
  item.append(label, link);
  return item;
}

/** @param {Component<CardsData>} component */
export default async function ({ parentElement, data: sent, setTriggerValue }) {
  const data = unpack(sent);
  const root = /** @type {HTMLElement | null} */ (parentElement.querySelector(".cards"));
  if (!root || !data) return;
  wear(parentElement, await style);
  const drawn = JSON.stringify(data);
  if (root.dataset.drawn !== drawn) {
    root.dataset.drawn = drawn;
    root.classList.add(data.kind);
    root.role = "region";
    root.ariaLabel = data.name;
    root.replaceChildren(...data.groups.map(({ title, cards }) => {
      const list = element("ul");
      if (title) list.ariaLabel = title;
      list.append(...cards.map((card, at) => draw(card, at ? "" : title, setTriggerValue)));
      return list;
    }));
    root.ontransitionend = ({ target, propertyName }) => {
      if (target === root && propertyName === "background-color") dress(root, data.files);
    };
  }
  dress(root, data.files);
}
