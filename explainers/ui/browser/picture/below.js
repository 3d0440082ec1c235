// @ts-check
// What stands below a picture and shows its choices: it is asked for when it is about to be seen.

const FOLLOWS = "st-key-follows-", OF = "-of-", ANY = "any"; // as `follows` in ui/figure/hero.py names it
const ALWAYS = ".st-key-takeaway"; // files are of what is chosen
const AHEAD = "50%"; // of the window: by then it is drawn

export class Below {
  /** @param {HTMLElement} root the picture @param {() => void} ask */
  constructor(root, ask) {
    this.root = root;
    this.ask = ask;
    /** @type {IntersectionObserver | null} */
    this.watch = null;
  }

  /** Ask as soon as something is near the window that shows one of these choices. @param {string[]} names */
  expect(names) {
    this.rest();
    const { host } = /** @type {Partial<ShadowRoot>} */ (this.root.getRootNode());
    const near = { root: findScroller(host ?? this.root), rootMargin: `${AHEAD} 0px` };
    this.watch = new IntersectionObserver((seen) => seen.some((one) => one.isIntersecting) && this.ask(), near);
    for (const part of listFollowing(names)) this.watch.observe(part);
  }

  rest() {
    this.watch?.disconnect();
    this.watch = null;
  }
}

/** @param {string[]} names of choices */
function listFollowing(names) {
  return [...document.querySelectorAll(`[class*="${FOLLOWS}"], ${ALWAYS}`)].filter(({ classList }) => {
    const name = [...classList].find((one) => one.startsWith(FOLLOWS));
    const shown = name?.slice(name.lastIndexOf(OF) + OF.length).split("-") ?? [ANY];
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
