// What a presenter's remote control sends, and a few letters.

const KEYS = {
  ArrowRight: (lecture) => lecture.turn(1),
  PageDown: (lecture) => lecture.turn(1),
  " ": (lecture) => lecture.turn(1),
  ArrowLeft: (lecture) => lecture.turn(-1),
  PageUp: (lecture) => lecture.turn(-1),
  c: (lecture) => lecture.turnControls(),
  q: (lecture) => lecture.share.turn(),
  l: (lecture) => lecture.leave(),
  Escape: (lecture) => lecture.share.isOpen() ? lecture.share.close() : lecture.leave(),
};
const MOVED_IN = "input, [role=slider], [role=grid], [role=radiogroup], [role=tablist]";
const PRESSED = "button, a, summary, [role=button], [role=switch]";
const OPEN = "[data-baseweb=popover], [role=listbox], [role=menu]";

// A key belongs to what is typed in, to a list that is open, and to what was reached by Tab; who
// clicked a number and then takes up the remote control means the screen.
function isMeantFor(event, isReached) {
  const path = event.composedPath(), among = (kind) => path.some((node) => node.matches?.(kind));
  if (among(TYPED_IN) || (event.key === "Escape" && document.querySelector(OPEN))) return true;
  if (event.key === " ") return isReached && (among(PRESSED) || among(MOVED_IN));
  return isReached && /^(Arrow|Page)/.test(event.key) && among(MOVED_IN);
}
