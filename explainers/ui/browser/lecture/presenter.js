// A second window for the lecturer: what is shown, what comes next, what to say, and the minutes.
// It has no script of its own: the lecture writes into it, always with textContent.

/** @import { Lecture } from "./lecture.js" */
/** @import { Screen } from "./screens.js" */

import { element } from "../common/elements.js";
import { _ } from "../common/words.js";
import { copyStyles, fitMiniature, makeMiniature } from "./miniature.js";
import { tellKind } from "./overview.js";
import { isIdle, SMALL } from "./streamlit.js";

const EVERY = 1000; // milliseconds between two looks at the clock
const STYLE = `html { color-scheme: dark; } body { margin: 0; padding: 20px 24px; box-sizing: border-box; height: 100vh; overflow: hidden; font: 20px/1.4 "Source Sans", system-ui, sans-serif; color: #eee; background: #16181d; display: grid; gap: 14px 28px; grid-template: auto 1fr / 1fr 1fr; }
header { grid-column: 1 / -1; display: flex; gap: 32px; font-size: 26px; font-variant-numeric: tabular-nums; } header b { margin-right: auto; }
section { min-height: 0; display: flex; flex-direction: column; } .said { min-height: 0; overflow: auto; } section > h1 { margin: 8px 0; padding: 0; font-size: 24px; line-height: 1.25; color: inherit; } .said p { margin: 0 0 10px; font-size: 20px; white-space: pre-line; } section ~ section .said p { font-size: 17px; color: #ccc; }
section > small { display: block; margin-bottom: 6px; color: #aaa; font-size: 16px; } .late { color: #ff8a80; }
.miniature { position: relative; flex: none; width: min(100%, 42vh * var(--ratio)); aspect-ratio: var(--ratio); overflow: hidden; border-radius: 6px; background: var(--lecture-paper); }
.miniature-page { position: absolute; top: 0; transform-origin: top left; box-sizing: border-box; padding: 12px 0; display: flex; flex-direction: column; align-items: center; justify-content: center; gap: var(--lecture-gap); font-size: 16px; line-height: 1.6; color: var(--lecture-ink); background: var(--lecture-paper); }
.miniature-page * { animation: none !important; transition: none !important; } .miniature-page > * { flex: none; box-sizing: border-box; width: 95.5%; visibility: visible !important; }`;

export class Presenter {
  /** @param {Lecture} lecture */
  constructor(lecture) {
    this.lecture = lecture;
    /** @type {Window | null} */
    this.window = null;
    this.begun = Date.now();
    this.turned = Date.now(); // to this page
    this.page = "";
    this.timer = 0;
    this.shown = ""; // which screens stand there, and in which state
  }

  isOpen() { return Boolean(this.window && !this.window.closed); }

  turn() {
    if (this.isOpen()) return this.close();
    this.window = window.open("", "attention-presenter", "popup,width=960,height=640");
    if (!this.window) return this.lecture.bar.say(_("The browser did not allow a second window."));
    const { document: sheet } = this.window;
    sheet.title = _("Presenter view");
    sheet.head.replaceChildren(copyStyles(this.lecture), element("style", "", SMALL + STYLE));
    this.shown = "";
    this.window.addEventListener("resize", () => this.fit());
    this.window.addEventListener("keydown", (event) => this.lecture.key(/** @type {KeyboardEvent} */ (event)));
    this.timer = window.setInterval(() => this.draw(), EVERY);
    this.draw();
  }

  close() {
    clearInterval(this.timer);
    this.window?.close();
    this.window = null;
  }

  draw() {
    if (!this.window || this.window.closed) return this.close();
    const { screens, at, step, page, root } = this.lecture, { body, documentElement } = this.window.document;
    if (page !== this.page) Object.assign(this, { page, turned: Date.now() });
    const now = screens[at], next = screens[at + 1], isAsked = now && step < now.last;
    const header = element("header");
    header.append(element("b", "", `${page ?? ""} · ${at + 1} / ${screens.length}`), ...this.clocks());
    const state = JSON.stringify([page, now?.id, step, next?.id, this.lecture.sizes.has(this.lecture.sizeName()), isIdle()]); // what waits for a run is pale
    if (state === this.shown) return body.firstChild?.replaceWith(header);
    this.shown = state;
    for (const [name, value] of Object.entries(root.dataset)) documentElement.dataset[name] = value;
    documentElement.style.cssText = root.style.cssText;
    body.replaceChildren(
      header,
      this.tell(_("This screen"), now, step),
      isAsked ? this.tell(_("Then: what comes out"), now, step + 1) : this.tell(_("Next screen"), next, 0),
    );
    this.fit();
  }

  fit() {
    for (const box of this.window?.document.querySelectorAll(".miniature") ?? []) fitMiniature(box);
  }

  /**
   * A screen: how it looks, its own words, and what the page says beside them.
   * @param {string} name @param {Screen | undefined} screen @param {number} step
   */
  tell(name, screen, step) {
    const section = element("section");
    if (!screen) return section;
    const box = makeMiniature(this.lecture, screen, step);
    box.style.setProperty("--ratio", String(innerWidth / innerHeight));
    const kind = screen.kindAt(step) === "answer" ? [] : [tellKind(screen.kindAt(step))].filter(Boolean), title = screen.title(step), said = element("div", "said");
    for (const text of screen.notes(step)) said.append(element("p", "", (text.startsWith(title) ? text.slice(title.length) : text).trim().replaceAll(/\n{2,}/g, "\n")));
    section.append(element("small", "", [name, ...kind].join(" · ")), box, element("h1", "", title), said);
    return section;
  }

  /** Minutes on this page, and of the lesson: gone, or left where the link says how many there are. */
  clocks() {
    const lesson = readLesson() || (this.lecture.choice.followed?.minutes ?? 0);
    const here = element("span", "", _("{minutes} on this page", { minutes: minutes(Date.now() - this.turned) }));
    const gone = Date.now() - this.begun, left = lesson * 60_000 - gone;
    const all = element("span", lesson && left < 0 ? "late" : "", lesson ? _("{minutes} left", { minutes: minutes(left) }) : _("{minutes} since the beginning", { minutes: minutes(gone) }));
    return [here, all];
  }
}

/** "lesson=45" in the link; 0 where it says nothing that makes sense. */
function readLesson() {
  const text = new URLSearchParams(location.search).get("lesson") ?? "";
  return /^[1-9]\d{0,2}$/.test(text) ? Number(text) : 0;
}

/** @param {number} milliseconds */
function minutes(milliseconds) {
  const seconds = Math.round(Math.abs(milliseconds) / 1000);
  return `${milliseconds < 0 ? "−" : ""}${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
