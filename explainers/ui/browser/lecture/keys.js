// What a presenter's remote control sends, and a few letters.

/** @import { Lecture } from "./lecture.js" */

/** @type {Record<string, (lecture: Lecture) => void>} */
export const KEYS = {
  ArrowRight: (lecture) => lecture.turn(1),
  PageDown: (lecture) => lecture.turn(1),
  " ": (lecture) => lecture.turn(1),
  ArrowLeft: (lecture) => lecture.turn(-1),
  PageUp: (lecture) => lecture.turn(-1),
  Enter: (lecture) => lecture.enter(),
  c: (lecture) => lecture.turnControls(),
  k: (lecture) => lecture.turnCode(),
  o: (lecture) => lecture.overview.turn(),
  b: (lecture) => lecture.blank.turn(),
  s: (lecture) => lecture.spotlight.turn(),
  p: (lecture) => lecture.presenter.turn(),
  h: (lecture) => lecture.handout.print(),
  "+": (lecture) => lecture.resize(1.12),
  "=": (lecture) => lecture.resize(1.12),
  "-": (lecture) => lecture.resize(1 / 1.12),
  "?": (lecture) => lecture.help.turn(),
  q: (lecture) => lecture.share.turn(),
  l: (lecture) => lecture.leave(),
  Escape: (lecture) => lecture.escape(),
};
export const TURNS = ["PageDown", "PageUp"]; // a remote control has no other keys: these always turn screens
// Where keys are letters, and mean nothing else.
const TYPED_IN = "input:not([type=checkbox], [type=radio], [type=range]), textarea, select, [contenteditable=true], [role=combobox]";
const MOVED_IN = "input, [role=slider], [role=grid], [role=radiogroup], [role=tablist]";
const PRESSED = "button, a, summary, [role=button], [role=switch]";
const OPEN = "[data-baseweb=popover], [role=listbox], [role=menu], .follow-panel:not([hidden])";

/** Is a key a letter of a text? @param {KeyboardEvent} event */
export function isTyped(event) {
  return isAmong(event, TYPED_IN);
}

/**
 * A key belongs to what is typed in, to a list that is open, and to what was reached by Tab; who
 * clicked a number and then takes up the remote control means the screen.
 * @param {KeyboardEvent} event @param {boolean} isReached
 */
export function isMeantFor(event, isReached) {
  if (TURNS.includes(event.key)) return false;
  if (isTyped(event) || (event.key === "Escape" && document.querySelector(OPEN))) return true;
  if (event.key === " " || event.key === "Enter") return isReached && (isAmong(event, PRESSED) || isAmong(event, MOVED_IN));
  return isReached && /^Arrow/.test(event.key) && isAmong(event, MOVED_IN);
}

/** After Enter a line of text is left, so that the next key is a key. @param {KeyboardEvent} event */
export function leaveField(event) {
  const field = event.composedPath()[0];
  if (event.key === "Enter" && field instanceof HTMLInputElement && isTyped(event)) setTimeout(() => field.blur());
}

/** @param {KeyboardEvent} event @param {string} kind */
function isAmong(event, kind) {
  return event.composedPath().some((node) => node instanceof Element && node.matches(kind));
}
