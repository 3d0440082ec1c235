// The page on one sheet of paper: its question, the picture with its sentence, the prediction, the
// code, what to remember, and a code that opens the page. The browser's own print makes the PDF.

/** @import { Shared } from "./data.js" */
/** @import { Lecture } from "./lecture.js" */

import { element } from "../common/elements.js";
import { _ } from "../common/words.js";
import { isPicture, prepare } from "./screens.js";
import { drawCode } from "./share.js";

const PRINTED = ["question", "hero", "ask", "end"]; // and the first of the code
const WIDTH = 640; // CSS pixels of the picture on paper

export class Handout {
  /** @param {Lecture} lecture */
  constructor(lecture) {
    this.lecture = lecture;
    this.link = ""; // that the server was asked for
    this.root = element("header", "lecture-handout");
    document.body.prepend(this.root);
    const { signal } = lecture.over;
    addEventListener("beforeprint", () => this.mark(), { signal });
    addEventListener("afterprint", () => lecture.show(lecture.at, lecture.step), { signal });
  }

  /** Ask for the code, and print when it has come. */
  print() {
    const link = new URL(location.href);
    for (const name of ["lecture", "screen", "mine", "set", "lesson"]) link.searchParams.delete(name);
    this.link = link.href;
    this.lecture.tell("share", this.link);
  }

  /** @param {Shared | null} shared */
  show(shared) {
    if (!this.link || shared?.asked !== this.link) return;
    this.link = "";
    const { path, side = 0, links = [] } = shared;
    this.root.replaceChildren(element("h1", "", this.lecture.page ?? ""));
    if (path) this.root.append(drawCode(path, side, _("A code to scan: the link to this screen")));
    this.root.append(element("p", "", links[0] ?? ""));
    this.mark();
    print();
  }

  /** What is printed, and how much smaller the picture is on paper than it is laid out. */
  mark() {
    const { all, page } = this.lecture;
    if (!this.root.firstChild) this.root.append(element("h1", "", page ?? ""));
    for (const old of document.querySelectorAll("[data-lecture-printed]")) old.removeAttribute("data-lecture-printed");
    const parts = all.flatMap(({ steps }) => steps[0]).filter(({ kind }) => PRINTED.includes(kind));
    for (const { node } of [...parts, ...all.flatMap(({ codes }) => codes).slice(0, 1)]) node.setAttribute("data-lecture-printed", "");
    for (const part of parts) if (isPicture(part)) prepare(part, true); // as it is before any experiment
    const room = parts.find(isPicture)?.node.clientWidth || WIDTH, { style } = document.documentElement;
    style.setProperty("--lecture-room", `${room}px`);
    style.setProperty("--lecture-print", (WIDTH / room).toFixed(3));
  }
}
