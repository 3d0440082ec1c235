// Where somebody is in the app: a page and its choices, as the address says.

/** @import { LectureOnScreen } from "./data.js" */

import { locate } from "../common/component.js";

export const ROOM = "follow", SCREEN = "screen"; // what the address calls a room, and where in the lecture
const OWN = [ROOM, SCREEN, "pages_done", "embed", "embed_options"]; // of each visitor

/** The lecture that is on the screen, if one is held. */
export function findLecture() {
  const { attentionLecture } = /** @type {{ attentionLecture?: LectureOnScreen }} */ (globalThis);
  return attentionLecture?.isHeld ? attentionLecture : null;
}

/** The choices in a query, always in the same order. @param {string} query */
export function readChoices(query) {
  const choices = new URLSearchParams(query);
  for (const name of OWN) choices.delete(name);
  choices.sort();
  return choices.toString();
}

/** The page, as the address of this tab names it. */
export function findPlace() {
  return location.pathname.slice(locate("/").pathname.length - 1).replaceAll("/", "");
}

/** The address of a page with these choices; one's own go along. @param {string} page @param {string} query */
export function makeLink(page, query) {
  const link = locate(`/${page}`), here = new URLSearchParams(location.search);
  link.search = readChoices(query);
  for (const name of OWN) if (here.has(name) && name !== SCREEN) link.searchParams.set(name, here.get(name) ?? "");
  return link;
}
