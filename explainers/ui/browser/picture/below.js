// @ts-check
// What stands below a picture and shows its choices: it is asked for when it is about to be seen, and files
// of the page when one is taken.

import { isAsked, listUnheard } from "../common/address.js";
import { ANSWER_WITHIN } from "../common/component.js";

const FOLLOWS = "st-key-follows-", OF = "-of-", ANY = "any"; // as `follows` in ui/figure/hero.py names them
const FILES = ".st-key-takeaway button"; // they are of all that the page shows
const LINKS = "[data-testid=stSidebarNavLink]"; // Streamlit sends them before what is told in the same turn
const LOOK_EVERY = 50; // milliseconds
const AHEAD = "50%"; // of the window: by then it is drawn
export const LEFT = "attention-left"; // of the window: a link is clicked; cancelled by who is still telling
export const WANTED = "attention-wanted"; // of the window: the page is to be drawn with all that is chosen

export class Below {
  /** @param {HTMLElement} root the picture @param {() => void} ask for what shows choices */
  constructor(root, ask) {
    this.root = root;
    this.ask = ask;
    /** @type {{ disconnect: () => void }[]} */
    this.watches = [];
  }

  /** Ask as soon as something is near the window that shows one of these choices. @param {string[]} names that no run has taken up */
  expect(names) {
    this.rest();
    if (!names.length) return;
    const { host } = /** @type {Partial<ShadowRoot>} */ (this.root.getRootNode());
    const near = { root: findScroller(host ?? this.root), rootMargin: `${AHEAD} 0px` };
    const sight = new IntersectionObserver((seen) => {
      if (seen.some((one) => one.isIntersecting)) this.ask();
    }, near);
    const look = () => listFollowing(names).forEach((part) => sight.observe(part));
    const growth = new MutationObserver(look); // a card may come that was asked for before the choice
    growth.observe(document.body, { childList: true, subtree: true });
    look();
    this.watches = [sight, growth];
  }

  rest() {
    for (const watch of this.watches.splice(0)) watch.disconnect();
  }
}

/** @param {string[]} names of choices */
function listFollowing(names) {
  return [...document.querySelectorAll(`[class*="${FOLLOWS}"]`)].filter(({ classList }) => {
    const name = [...classList].find((one) => one.startsWith(FOLLOWS)) ?? "";
    const shown = name.slice(name.lastIndexOf(OF) + OF.length).split("-");
    return shown.some((one) => one === ANY || names.includes(one));
  });
}

/** What is scrolled, if it is not the window: a margin counts around it alone. @param {Element} part */
function findScroller(part) {
  for (let box = part.parentElement; box; box = box.parentElement) {
    if (/auto|scroll/.test(getComputedStyle(box).overflowY)) return box;
  }
  return null;
}

let isLetThrough = false; // a click on a file, or on a link

/** A click on a file of the page waits until the page has been drawn with what was chosen. @param {MouseEvent} event */
async function hold(event) {
  const button = event.target instanceof Element && event.target.closest(FILES);
  if (!button || isLetThrough || isDrawn()) return;
  event.stopImmediatePropagation();
  dispatchEvent(new Event(WANTED));
  await untilDrawn();
  letThrough(button);
}

/** A click on a link to another page follows what is being told. @param {MouseEvent} event */
function followTold(event) {
  const link = event.target instanceof Element && event.target.closest(LINKS);
  if (!link || isLetThrough || event.ctrlKey || event.metaKey || event.shiftKey) return;
  if (dispatchEvent(new Event(LEFT, { cancelable: true }))) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  setTimeout(() => letThrough(link)); // what is told has its turn before
}

/** @param {Element} button that was clicked */
function letThrough(button) {
  isLetThrough = true;
  /** @type {HTMLElement} */ (button).click();
  isLetThrough = false;
}

/** As long as the server is at work, and a while longer: what it refuses stays unheard. */
async function untilDrawn() {
  for (let rested = performance.now(); !isDrawn() && performance.now() - rested < ANSWER_WITHIN;) {
    await new Promise((goOn) => setTimeout(goOn, LOOK_EVERY)); // a hidden tab has no frames
    if (isAtWork()) rested = performance.now();
  }
}

/** Has the page ended its run with all that was chosen? */
function isDrawn() {
  return !listUnheard().size && !isAtWork();
}

/** Is a run asked for, or under way, or nobody there to ask? */
function isAtWork() {
  return isAsked() || !isConnected() || readApp().testScriptState !== "notRunning";
}

/** Does somebody hear what is told? A picture in a file is told nothing but what its host hears. */
export function isConnected() {
  return (readApp().testConnectionState ?? "CONNECTED") === "CONNECTED";
}

/** What the app's element says of itself. @returns {DOMStringMap} */
function readApp() {
  return /** @type {HTMLElement | null} */ (document.querySelector("[data-testid=stApp]"))?.dataset ?? {};
}

addEventListener("click", hold, { capture: true }); // a file is no part of any picture
addEventListener("click", followTold, { capture: true });
