// @ts-check
// A second window for the lecturer: what is shown, what comes next, what to say, and the minutes.
// It has no script of its own: the lecture writes into it, always with textContent.

/** @import { Lecture } from "./lecture.js" */
/** @import { Screen } from "./screens.js" */

import { element } from "../common/elements.js";

const EVERY = 1000; // milliseconds between two looks at the clock
const STYLE = `body { margin: 0; padding: 24px; font: 20px/1.45 "Source Sans", system-ui, sans-serif; color: #eee; background: #16181d; display: grid; gap: 16px 32px; grid-template-columns: 3fr 2fr; align-content: start; }
header { grid-column: 1 / -1; display: flex; gap: 32px; font-size: 26px; font-variant-numeric: tabular-nums; } header b { margin-right: auto; }
h1 { margin: 0 0 8px; font-size: 26px; } section p { margin: 0 0 10px; max-width: 40em; white-space: pre-line; } small { color: #aaa; font-size: 16px; } .late { color: #ff8a80; }`;

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
  }

  isOpen() { return Boolean(this.window && !this.window.closed); }

  turn() {
    if (this.isOpen()) return this.close();
    this.window = window.open("", "attention-presenter", "popup,width=960,height=640");
    if (!this.window) return this.lecture.bar.say(this.lecture.words.noWindow);
    const { document: sheet } = this.window;
    sheet.title = this.lecture.words.presenter;
    sheet.head.replaceChildren(Object.assign(sheet.createElement("style"), { textContent: STYLE }));
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
    const { words, screens, at, step, page } = this.lecture;
    if (page !== this.page) Object.assign(this, { page, turned: Date.now() });
    const now = screens[at], next = screens[at + 1], isAsked = now && step < now.last;
    const header = element("header");
    header.append(element("b", "", `${page ?? ""} · ${at + 1} / ${screens.length}`), ...this.clocks());
    this.window.document.body.replaceChildren(
      header,
      tell(words.now, now, step),
      isAsked ? tell(words.answer, now, step + 1) : next ? tell(words.next, next, 0) : element("section"),
    );
  }

  /** Minutes on this page, and of the lesson: gone, or left where the link says how many there are. */
  clocks() {
    const { words } = this.lecture, lesson = readLesson();
    const here = element("span", "", words.here.replace("{minutes}", minutes(Date.now() - this.turned)));
    const gone = Date.now() - this.begun, left = lesson * 60_000 - gone;
    const all = element("span", lesson && left < 0 ? "late" : "", (lesson ? words.left : words.gone).replace("{minutes}", minutes(lesson ? left : gone)));
    return [here, all];
  }
}

/** "lesson=45" in the link; 0 where it says nothing that makes sense. */
export function readLesson() {
  const text = new URLSearchParams(location.search).get("lesson") ?? "";
  return /^[1-9]\d{0,2}$/.test(text) ? Number(text) : 0;
}

/** @param {number} milliseconds */
function minutes(milliseconds) {
  const seconds = Math.round(Math.abs(milliseconds) / 1000);
  return `${milliseconds < 0 ? "−" : ""}${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

/**
 * A screen with what to say of it: its own words, and what the page says beside them.
 * @param {string} name
 * @param {Screen | undefined} screen
 * @param {number} step
 */
function tell(name, screen, step) {
  const section = element("section");
  section.append(element("small", "", name), element("h1", "", screen?.title(step) ?? ""));
  for (const text of screen?.notes(step) ?? []) section.append(element("p", "", text));
  return section;
}
