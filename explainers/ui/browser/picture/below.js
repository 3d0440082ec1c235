// @ts-check
// What stands below a picture and shows its choices: it is asked for when it is about to be seen.

const FOLLOWS = "st-key-follows-", OF = "-of-", ANY = "any"; // as `follows` in ui/figure/hero.py names them
const FILES = ".st-key-takeaway"; // they are of all that the page shows
const AHEAD = "50%"; // of the window: by then it is drawn

export class Below {
  /** @param {HTMLElement} root the picture @param {(isForAll: boolean) => void} ask the page, or what shows choices */
  constructor(root, ask) {
    this.root = root;
    this.ask = ask;
    /** @type {IntersectionObserver | null} */
    this.watch = null;
  }

  /**
   * Ask as soon as something is near the window that shows one of these choices, and for files of any of them.
   * @param {string[]} names that no run has taken up @param {boolean} isAny are there others, with which the page was not drawn?
   */
  expect(names, isAny) {
    this.rest();
    const { host } = /** @type {Partial<ShadowRoot>} */ (this.root.getRootNode());
    const near = { root: findScroller(host ?? this.root), rootMargin: `${AHEAD} 0px` };
    this.watch = new IntersectionObserver((seen) => {
      const wanted = seen.filter((one) => one.isIntersecting).map((one) => one.target);
      if (wanted.length) this.ask(wanted.some((one) => one.matches(FILES)));
    }, near);
    const files = isAny ? [...document.querySelectorAll(FILES)] : [];
    for (const part of [...listFollowing(names), ...files]) this.watch.observe(part);
  }

  rest() {
    this.watch?.disconnect();
    this.watch = null;
  }
}

/** @param {string[]} names of choices */
function listFollowing(names) {
  return [...document.querySelectorAll(`[class*="${FOLLOWS}"]`)].filter(({ classList }) => {
    const name = [...classList].find((one) => one.startsWith(FOLLOWS)) ?? "";
    const shown = name.slice(name.lastIndexOf(OF) + OF.length).split("-");
    return names.length > 0 && shown.some((one) => one === ANY || names.includes(one));
  });
}

/** What is scrolled, if it is not the window: a margin counts around it alone. @param {Element} part */
function findScroller(part) {
  for (let box = part.parentElement; box; box = box.parentElement) {
    if (/auto|scroll/.test(getComputedStyle(box).overflowY)) return box;
  }
  return null;
}
