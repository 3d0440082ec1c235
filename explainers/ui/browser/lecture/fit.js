// How large a screen is: letters as large as there is room, and the picture in what they leave.

/** @import { Part } from "./screens.js" */

import { findPicture, findShadow, isPicture } from "./screens.js";
import { findBlock, isIdle } from "./streamlit.js";

const LETTERS = 24; // pixels, in a window of 1024 × 768
const USUAL = 16; // of Streamlit's letters
const LEAST_LETTERS = 15, LEAST_WORDS = 1.3; // pixels beside a picture, and zoom without one: a phone is held in the hand
const LEAST_DIGITS = 16; // pixels on screen, at any size of the window
const LEAST_WIDTH = 560; // of a picture before it is enlarged: below, it has the form for a phone; its style may say another
const LEAST_CHART = 640; // of a chart: below, what it writes into its cells has no room
const STEP = 0.93, NEARER = 2; // from one size that is tried to the next; and how often one between is tried
const TEXT_SIZES = { ask: 2.3, answer: 2.3, end: 2.8, model: 1.7, slow: 1.8, how: 2.1, deeper: 1.25, code: 1.35 };

/** How large things are in this window, where 1 is a projector of 1024 × 768. */
export function windowScale() {
  return Math.max(0.36, Math.min(innerWidth / 1024, innerHeight / 768));
}

/** Pixels of what is written beside a picture. */
export function findLetters() {
  return Math.max(LEAST_LETTERS, LETTERS * windowScale());
}

/** @typedef {{ text: number, picture: number, high: number, isCalm: boolean }} Size zooms; how high the picture was then, unzoomed; was the page complete? */

/** Tries sizes until everything that is shown fits. */
export class Fit {
  /** @param {(size: Size) => void} wear */
  constructor(wear) {
    this.wear = wear;
    this.size = { text: 1.5, picture: 1, high: 0, isCalm: false };
    this.turn = 0;
  }

  stop() { this.turn += 1; }

  /**
   * @param {Part[]} parts @param {string} kind @returns {Promise<Size | null>} null if another screen came in between
   */
  async screen(parts, kind) {
    const turn = ++this.turn, scale = windowScale(), picture = parts.find(isPicture);
    const isCurrent = () => turn === this.turn;
    if (!picture) this.fitText(Math.max(LEAST_WORDS, (TEXT_SIZES[/** @type {keyof TEXT_SIZES} */ (kind)] ?? 1.6) * scale), kind === "deeper" || kind === "code" ? scale : 0.6 * scale);
    else if (!(await this.fitPicture(picture, findLetters() / USUAL, isCurrent))) return null;
    await frames(2); // as it stays
    if (!isCurrent()) return null;
    Object.assign(this.size, { high: measure(picture), isCalm: isIdle() });
    return { ...this.size };
  }

  /** A picture may have become higher, or lower. @param {Part[]} parts @param {Size} size */
  stillFits(parts, size) {
    return (size.isCalm || !isIdle()) && this.room() >= 0 && Math.abs(measure(parts.find(isPicture)) - size.high) < 4;
  }

  /** @param {Partial<Size>} size */
  put(size) {
    this.size = { ...this.size, ...size };
    this.wear(this.size);
  }

  /** The largest letters with which all of it is seen. @param {number} most @param {number} least */
  fitText(most, least) {
    for (let text = most; ; text *= STEP) {
      this.put({ text: Math.max(text, least) });
      if (text <= least || this.room() >= 0) return;
    }
  }

  /** Pixels that are left below everything; fewer than 0 if it is too high. */
  room() {
    const block = findBlock();
    if (!block) return 0;
    const wide = block.scrollWidth > block.clientWidth + 1 ? -1 : 0;
    return wide || block.clientHeight - block.scrollHeight + 1;
  }

  /** @param {Part} part @param {number} text @param {() => boolean} isCurrent @returns {Promise<boolean>} */
  async fitPicture(part, text, isCurrent) {
    const width = findBlock()?.clientWidth ?? innerWidth, scale = windowScale();
    const drawn = findPicture(part), isHero = part.kind === "hero" || drawn?.matches(".hero");
    const own = Number(drawn && getComputedStyle(drawn).getPropertyValue("--least-room"));
    const isPhone = width < LEAST_WIDTH; // there the picture has its form for a phone, if that is not too high
    const least = isHero ? isPhone ? width : own || LEAST_WIDTH : findShadow(part) ? 1 : LEAST_CHART;
    const most = Math.min((0.955 * width) / least, (isHero ? 3.2 : 2.2) * scale);
    const fits = async (/** @type {number} */ picture) => {
      this.put({ text, picture });
      await frames(2); // pictures see their new width in the next frame
      return isCurrent() && this.room() >= 0 && (isHero || !isTooWide(part));
    };
    let picture = most;
    while (picture > 0.5 && isCurrent() && !(await fits(picture))) picture *= STEP;
    for (let n = 0, high = Math.min(most, picture / STEP); n < NEARER && isCurrent() && high > picture * 1.01; n++) {
      const between = (picture + high) / 2;
      if (await fits(between)) picture = between;
      else high = between;
    }
    if (!isCurrent()) return false;
    this.put({ text, picture });
    const figure = findPicture(part);
    if (!isHero && figure?.matches(".figure") && !figure.hasAttribute("data-lecture-row") && LEAST_DIGITS > USUAL * 0.8125 * this.size.picture) {
      figure.setAttribute("data-lecture-row", "");
      return this.fitPicture(part, text, isCurrent);
    }
    return true;
  }
}

/** @param {Part | undefined} part */
function measure(part) {
  return part?.node.clientHeight ?? 0;
}

/** @param {Part} part */
function isTooWide(part) {
  const held = [...findShadow(part)?.querySelectorAll(".stage, .panel") ?? []];
  return held.some(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1);
}

/** @param {number} count */
async function frames(count) {
  for (let n = 0; n < count; n++) await new Promise(requestAnimationFrame);
}
