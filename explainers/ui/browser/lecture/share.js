// The link to what is on screen, for the audience: as a picture to photograph, and to type.
// The server is asked only when it is wanted.

/** @import { Shared } from "./data.js" */
/** @import { Lecture } from "./lecture.js" */

import { element, shape } from "../common/elements.js";
import { _ } from "../common/words.js";
import { Above } from "./tools.js";

export const tellShare = () => _("Link to this screen (Q)");

export class Share extends Above {
  /** @param {Lecture} lecture */
  constructor(lecture) {
    super("lecture-share");
    this.lecture = lecture;
    this.link = ""; // what was asked for
    /** @type {Shared | null} */
    this.shared = null; // what came last
    this.root.setAttribute("role", "dialog");
    this.root.onclick = () => this.close();
  }

  /** @override */
  open() {
    this.link = location.href;
    // What is the same as the last time does not come again.
    this.draw(this.shared?.asked === this.link ? this.shared : {});
    super.open();
    this.lecture.tell("share", this.link);
  }

  /** @param {Shared | null} shared */
  show(shared) {
    this.shared = shared;
    if (shared?.asked === this.link && this.isOpen()) this.draw(shared);
  }

  /** @param {Shared} shared */
  draw({ side = 0, path, links = [], notes = [] }) {
    this.root.setAttribute("aria-label", tellShare());
    this.root.replaceChildren();
    if (path) this.root.append(drawCode(path, side, _("A code to scan: the link to this screen")));
    for (const link of links) this.root.append(element("strong", "", link));
    for (const note of notes) this.root.append(element("p", "", note));
  }
}

/**
 * Dark on light in any theme, with the empty rim that readers of such codes want.
 * @param {string} path @param {number} side @param {string} label
 */
export function drawCode(path, side, label) {
  const picture = shape("svg", {
    viewBox: `0 0 ${side} ${side}`, role: "img", "aria-label": label, "shape-rendering": "crispEdges",
  });
  picture.append(shape("path", { d: path }));
  return picture;
}
